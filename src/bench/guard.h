/* bench/guard.h — the process around the one that measures. It makes the directory. When the other
 * one has ended, for any reason, it ends all remaining processes and removes all files. Runs in:
 * the command's main process. */
#pragma once

#include <signal.h>

#include "base/err.h"
#include "bench/bench.h"

/* Returns the exit status of the benchmark, or 128 + the signal that ended it. -1 if it could not
 * begin. */
[[nodiscard]] int guard_run(const struct bench_options *o, const sigset_t *ending, struct err *e);
