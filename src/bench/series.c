#include "bench/series.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "bench/die.h"

void series_add(struct series *s, double ms)
{
    if (s->n == s->room) {
        s->room = s->room ? 2 * s->room : 256;
        s->ms = reallocarray(s->ms, s->room, sizeof *s->ms);
        if (!s->ms)
            bench_die("memory", NULL);
    }
    s->ms[s->n++] = ms;
}

void series_done(struct series *s)
{
    free(s->ms);
    *s = (struct series){ 0 };
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double *sorted(const double *ms, size_t n)
{
    double *copy = calloc(n ? n : 1, sizeof *copy);
    if (!copy)
        bench_die("memory", NULL);
    if (n > 0)
        memcpy(copy, ms, n * sizeof *copy);
    qsort(copy, n, sizeof *copy, by_value);
    return copy;
}

static double quantile(const double *in_order, size_t n, double q)
{
    return n ? in_order[(size_t)((double)(n - 1) * q + 0.5)] : 0;
}

struct stats series_stats(const struct series *s)
{
    autofree double *ms = sorted(s->ms, s->n);
    return (struct stats){ .n = s->n,
                           .p10 = quantile(ms, s->n, 0.1),
                           .p50 = quantile(ms, s->n, 0.5),
                           .p90 = quantile(ms, s->n, 0.9),
                           .p95 = quantile(ms, s->n, 0.95),
                           .p99 = quantile(ms, s->n, 0.99),
                           .max = quantile(ms, s->n, 1) };
}

double series_median(const struct series *s, size_t from, size_t n)
{
    if (from >= s->n)
        return 0;
    n = n < s->n - from ? n : s->n - from;
    autofree double *ms = sorted(s->ms + from, n);
    return quantile(ms, n, 0.5);
}

struct ratio series_ratio(const struct series *a, const struct series *b)
{
    size_t block_a = a->n / SERIES_BLOCKS, block_b = b->n / SERIES_BLOCKS;
    double all = series_median(a, 0, a->n) / series_median(b, 0, b->n);
    struct ratio r = { all, all, all };
    for (size_t i = 0; i < SERIES_BLOCKS && block_a > 0 && block_b > 0; i++) {
        double one = series_median(a, i * block_a, block_a) /
                     series_median(b, i * block_b, block_b);
        r.low = one < r.low ? one : r.low;
        r.high = one > r.high ? one : r.high;
    }
    return r;
}
