/* cli/repl/alone.h — a private service for one command, if none runs. Runs in: main. It is an
 * ordinary `belljar serve` in a new directory, with a unix socket that only the caller can reach.
 *
 * ALONE-1 Nothing is left, also if main is killed: a guard, which is a process of its own, holds the
 *         other end of a pipe. When main is gone, it ends the service and removes the directory. */
#pragma once

#include <sys/types.h>

#include "base/err.h"

struct alone {
    char directory[128]; /* empty: there is no private service */
    char state[160];
    pid_t guard;
    int life_fd;
};
#define ALONE_INIT    \
    {                 \
        .life_fd = -1 \
    }

/* Starts the service and waits until it listens. */
[[nodiscard]] int alone_start(struct alone *a, struct err *e);
/* Ends it and waits for its end. */
void alone_done(struct alone *a);
