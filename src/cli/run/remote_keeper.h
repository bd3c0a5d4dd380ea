/* cli/run/remote_keeper.h — the unprivileged half of a run by the service: speaks HTTP, writes the program's output as it comes,
 * feeds its stdin. Runs in: a child of the command, with a uid of its own when root started it.
 * One poll() loop, in which nothing blocks: while stdout takes nothing, nothing more is read from the service. */
#pragma once

#include <sys/types.h>

#include "cli/run/inputs.h"
#include "cli/run/run_arguments.h"
#include "client/client.h"

struct remote_job {
    const struct run_arguments *options;
    const struct inputs *inputs;
    const char *path;      /* of the socket */
    struct client *events; /* connected: the run and what comes of it */
    struct client *
        side; /* connected: stdin and cancelling; a keeper with a uid of its own could not connect */
    pid_t parent;    /* whose end is ours */
    int handover_fd; /* takes the bundle of output files */
    int nobody_fd;   /* an eventfd: the service closed before it answered a byte */
};

/* Returns the exit status of the command. */
int remote_keeper_run(const struct remote_job *job);
