/* bench/die.h — ends a benchmark that cannot measure. Runs in: the process that measures. It leaves
 * the clean-up to the process that started it (bench/guard.h, bench/run). */
#pragma once

#include "base/err.h"

/* Prints "bench: ACTION: REASON" on stderr and exits with BENCH_FAILED. If `e` is NULL, errno is
 * the reason. */
[[gnu::noreturn, gnu::cold]] void bench_die(const char *what, const struct err *e);
/* The same with a formatted message. */
[[gnu::noreturn, gnu::cold, gnu::format(printf, 1, 2)]] void bench_dief(const char *fmt, ...);

enum {
    BENCH_MISSED = 1,
    BENCH_FAILED = 2
}; /* exit statuses: a budget was missed; nothing to judge */
