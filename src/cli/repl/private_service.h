/* cli/repl/private_service.h — a service for one command, if none runs. Runs in: main. It is an ordinary
 * `belljar serve` in a new directory, with a unix socket that only the caller can reach.
 *
 * PRIVATE_SERVICE-1 Nothing is left, also if main is killed: a guard, which is a process of its own,
 *                   holds the other end of a pipe. When main is gone, the guard ends the service and
 *                   removes the directory. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

enum { PRIVATE_SET_MAX = 16 }; /* further settings */

struct private_service {
    char directory[128]; /* empty: there is no private service */
    char state[160];
    pid_t guard;
    int life_fd;
    bool network;           /* its sessions may have any network list: the caller is the operator */
    bool mcp;               /* it has the door of MCP */
    const char *const *set; /* further settings, KEY=VALUE; NULL-terminated; NULL: none */
};
#define PRIVATE_SERVICE_INIT \
    {                        \
        .life_fd = -1        \
    }

/* Starts the service and waits until it listens. */
[[nodiscard]] int private_service_start(struct private_service *p, struct err *e);
/* Ends it and waits for its end. */
void private_service_done(struct private_service *p);
