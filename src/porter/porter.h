/* porter/porter.h — the process that connects jars to the outside, by name.
 * Runs in: a child of the supervisor, or of `belljar run` without a service. It has no privilege and,
 * if root started it, its own uid; no file system, and the network of the machine.
 *
 * Invariants
 * PORTER-1 A guest reaches only the hosts and ports of its policy. The porter makes each connection
 *          itself, to an address that it has checked.
 * PORTER-2 A name that no policy has is never asked for outside.
 * PORTER-3 The socket of the supervisor carries the sockets of keepers, and the policies come from
 *          these. Neither can widen the maximum that the porter was started with.
 * PORTER-4 When a keeper is gone, its jars lose their network. When the supervisor is gone, the porter
 *          ends. */
#pragma once

#include <sys/types.h>

#include "base/err.h"
#include "injector/start.h"
#include "network/address.h"
#include "network/policy.h"

struct porter_setup {
    const struct address_set *private_ranges; /* that the operator opened; NULL: none */
    const struct address_endpoint *listeners; /* of the service */
    size_t n_listeners;
    const struct network_policy *max; /* NULL: there is none */
    bool match_sni;
    uid_t uid;                             /* its own, or that of the caller */
    const struct injector_setup *injector; /* NULL: no run gets a secret */
    int injector_fd;                       /* set by porter_start() */
};

struct porter_process {
    pid_t pid; /* 0: none */
    int fd;    /* wire_new_keeper() gives it the socket of a keeper; -1: none */
    struct injector_process injector; /* it ends with the porter */
};
#define PORTER_PROCESS_INIT          \
    {                                \
        .fd = -1, .injector.fd = -1, \
    }

/* Forks the porter. It ends when fd is closed, or with its parent. Its error, if it cannot start, is
 * that of the first use: fd is closed then. */
[[nodiscard]] int porter_start(const struct porter_setup *setup, struct porter_process *ret,
                               struct err *e);
/* Ends it, and waits for that. */
void porter_stop(struct porter_process *p);
