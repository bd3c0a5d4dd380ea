/* service/service_keeper.h — the process that serves: HTTP, the queue of runs, the history. Runs
 * in: a child of the supervisor. It has no privilege and, if root started the service, its own uid.
 *
 * Invariants
 * KEEPER-1 It inherits everything that it can reach: listening sockets, the wire to the warden, its
 *          data directory, the workspace.
 * KEEPER-2 It accepts no client before the history of its predecessor is settled.
 * KEEPER-3 It ends with its supervisor. */
#pragma once

#include <sys/types.h>

#include "runtime/version.h"
#include "service/listen.h"
#include "settings/settings.h"

struct service_keeper_setup {
    const struct settings *settings;
    const struct listener *listeners;
    size_t n_listeners;
    const char *state_dir;
    const char (*versions)[VERSION_SIZE]; /* in the order of languages[]; "": not known */
    /* descriptors on which the other versions arrive, see version_probe; -1: not installed */
    const int *answers;
    const struct isolation *isolation;
    int wire_fd;      /* -1: the supervisor will send a warden */
    int control_fd;   /* the hello goes out, the supervisor's messages come in */
    int workspace_fd; /* -1: none */
    int key_fd;       /* of images.key_file; -1: none */
    int porter_fd;    /* -1: there is no porter, or the supervisor will send one */
    uint32_t porter_number;
    pid_t supervisor;
    uid_t uid; /* the keeper's */
};

/* Sends a hello to the supervisor, with the reason if it cannot serve. Serves until the supervisor
 * ends it. */
_Noreturn void service_keeper_main(const struct service_keeper_setup *setup);
