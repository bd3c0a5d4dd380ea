/* bench/series.h — samples in milliseconds and their statistics. Runs in: the process that
 * measures. */
#pragma once

#include <stddef.h>

enum { SERIES_BLOCKS = 5 };

/* In the order of measurement. */
struct series {
    double *ms;
    size_t n, room;
};
void series_add(struct series *s, double ms);
void series_done(struct series *s);

struct stats {
    size_t n;
    double p10, p50, p90, p95, p99, max;
};
struct stats series_stats(const struct series *s);
/* The median of the samples [from, from + n). */
double series_median(const struct series *s, size_t from, size_t n);

/* The ratio of the medians of a and b, and the lowest and highest ratio in any fifth of the run. */
struct ratio {
    double all, low, high;
};
struct ratio series_ratio(const struct series *a, const struct series *b);
