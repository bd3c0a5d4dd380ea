/* cli/run/remote_keeper.h — the unprivileged half of a run by the service. It speaks HTTP, writes
 * the output of the program as it comes, and feeds its stdin.
 * Runs in: a child of the command, with a uid of its own if root started it.
 * One poll() loop, in which nothing blocks. While stdout accepts no bytes, it reads none from the
 * service. */
#pragma once

#include <sys/types.h>

#include "cli/run/inputs.h"
#include "cli/run/run_arguments.h"
#include "client/client.h"

struct remote_job {
    const struct run_arguments *options;
    const struct inputs *inputs;
    const char *path;      /* of the socket; NULL: the service has a URL, and no socket here */
    struct client *events; /* connected: the run and its events */
    struct client *side;   /* connected: stdin and cancelling. A uid of its own may not connect */
    uid_t uid;             /* the keeper's */
    pid_t parent;          /* the keeper dies with it */
    int handover_fd;       /* the bundle of output files goes here */
    int nobody_fd;         /* an eventfd: the service closed before it answered a byte */
};

/* Returns the exit status of the command. */
int remote_keeper_run(const struct remote_job *job);
