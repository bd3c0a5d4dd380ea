/* bench/series.h — samples in milliseconds, and what they say. Runs in: the process that measures. */
#pragma once

#include <stddef.h>

enum { SERIES_BLOCKS = 5 };

/* In the order they were taken. */
struct series {
    double *ms;
    size_t n, room;
};
void series_add(struct series *s, double ms);
void series_done(struct series *s);

struct stats {
    size_t n;
    double p10, p50, p90, p99, max;
};
struct stats series_stats(const struct series *s);
/* The median of some samples from the middle: [from, from + n). */
double series_median(const struct series *s, size_t from, size_t n);

/* a's median over b's; and the same in each fifth of the run, of which the lowest and the highest. */
struct ratio {
    double all, low, high;
};
struct ratio series_ratio(const struct series *a, const struct series *b);
