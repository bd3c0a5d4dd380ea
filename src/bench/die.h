/* bench/die.h — the end of a benchmark that cannot measure. Runs in: the process that measures, which leaves nothing to
 * clean up: whoever started it does that (bench/guard.h, bench/run). */
#pragma once

#include "base/err.h"

/* "bench: what: why" on stderr, and exit status BENCH_FAILED. `e` may be NULL: then errno says why. */
[[gnu::noreturn, gnu::cold]] void bench_die(const char *what, const struct err *e);
/* The same with words of one's own. */
[[gnu::noreturn, gnu::cold, gnu::format(printf, 1, 2)]] void bench_dief(const char *fmt, ...);

enum {
    BENCH_MISSED = 1,
    BENCH_FAILED = 2
}; /* exit statuses: a budget was missed; nothing to judge */
