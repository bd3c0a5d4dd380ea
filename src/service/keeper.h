/* service/keeper.h — the process that serves: HTTP, the queue of runs, the history.
 * Runs in: a child of the supervisor, with a uid of its own when root started it, and no privilege.
 *
 * Invariants
 * K1 Everything it can reach it inherited: listening sockets, the wire to the warden, its data directory, the workspace.
 * K2 It accepts nobody before the history of its predecessor is settled.
 * K3 It ends with its supervisor. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "runtime/version.h"
#include "service/listen.h"
#include "settings/settings.h"

struct keeper_setup {
    const struct settings *settings;
    const struct listener *listeners;
    size_t n_listeners;
    const char *state_dir;
    const char (*versions)[VERSION_SIZE]; /* in the order of languages[]; "": not known */
    const int *
        answers; /* where the versions of others will be told, see version_probe; -1: not installed */
    const struct isolation *isolation;
    int wire_fd;      /* -1: a warden will be sent */
    int control_fd;   /* hello goes out, the supervisor's messages come in */
    int workspace_fd; /* -1: none */
    pid_t supervisor;
    bool own_uid;
};

/* Says hello to the supervisor, with the reason if it cannot serve; ends when told to. */
_Noreturn void keeper_main(const struct keeper_setup *setup);
