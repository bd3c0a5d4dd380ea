/* cli/verify/pool.h — runs the checks, several at a time, each as one `belljar run --json`. So a
 * check goes to the service if there is one, and the rules for files, limits and isolation are those
 * of `belljar run`. Runs in: main, which reads no byte of the results. */
#pragma once

#include <stdbool.h>

#include "cli/verify/check.h"

struct pool_options {
    unsigned jobs;             /* at the same time */
    bool local;                /* do not use a running service */
    char **files;              /* HOST[:NAME] beside every program; NULL-terminated */
    char *limits[LIMIT_COUNT]; /* as they were given; NULL: the default */
    char **command;            /* of CHECK_COMMAND; NULL-terminated */
    const char *directory;     /* a private one, for programs */
};

/* Called when the run of a check is over, with the texts that it printed on stdout and stderr. */
enum { POOL_STREAMS = 2 };
typedef int pool_on_end(void *arg, size_t check, const struct buf texts[POOL_STREAMS],
                        struct err *e);

/* Runs each check whose outcome is OUTCOME_PENDING. A signal ends it early: no run is left, and
 * `on_end` is not called for the rest. */
[[nodiscard]] int pool_run(const struct checks *all, const struct pool_options *o,
                           pool_on_end *on_end, void *arg, struct err *e);
