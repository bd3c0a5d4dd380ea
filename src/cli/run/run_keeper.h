/* cli/run/run_keeper.h — the unprivileged half of `belljar run`, the only one that reads the output
 * of the program. Runs in: a child of the command, with a uid of its own if root started it. It
 * hands an exit status and a bundle of files to its parent, which trusts neither. */
#pragma once

#include <sys/types.h>

#include "cli/run/inputs.h"
#include "cli/run/program_cache.h"
#include "cli/run/run_arguments.h"
#include "run/level.h"

struct run_keeper_job {
    const struct run_arguments *options;
    const struct inputs *inputs;
    const struct warden *warden;
    struct program_cache *cache;
    const char *id;
    uid_t uid;       /* the keeper's */
    pid_t parent;    /* the keeper dies with it */
    int version_fd;  /* the output of the version command of the language; -1: none */
    int handover_fd; /* the bundle of output files goes here */
    int porter_fd;   /* to the porter; -1: the run has no network */
};

/* Returns the exit status of the command. */
int run_keeper_run(const struct run_keeper_job *job);
