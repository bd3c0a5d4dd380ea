/* cli/run/run_keeper.h — the unprivileged half of `belljar run`: it alone meets what the program writes.
 * Runs in: a child of the command, with a uid of its own when root started it.
 * What it hands back to its parent is an exit status and a bundle of files, both believed by nobody. */
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
    pid_t parent;    /* whose end is ours */
    int version_fd;  /* reads what the language's version command prints; -1: nothing */
    int handover_fd; /* takes the bundle of output files */
};

/* Returns the exit status of the command. */
int run_keeper_run(const struct run_keeper_job *job);
