#include "cli/batch/figures.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

struct figures figures_of(double *values, size_t n)
{
    double sum = 0, squares = 0;
    if (n == 0)
        return (struct figures){ 0 };
    qsort(values, n, sizeof *values, by_value);
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return (struct figures){ .n = n,
                             .min = values[0],
                             .max = values[n - 1],
                             .median = n % 2 ? values[n / 2]
                                             : (values[n / 2 - 1] + values[n / 2]) / 2,
                             .mean = mean,
                             .deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : 0 };
}
