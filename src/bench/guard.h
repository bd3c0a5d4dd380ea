/* bench/guard.h — the process around the one that measures: it makes the directory, and when the other ended, however it
 * did, it sees to it that every process it left ends and nothing stays on disk.
 * Runs in: the command's main process. */
#pragma once

#include <signal.h>

#include "base/err.h"
#include "bench/bench.h"

/* The exit status of the benchmark; 128 + the signal that ended it. -1 when it could not begin. */
[[nodiscard]] int guard_run(const struct bench_options *o, const sigset_t *ending, struct err *e);
