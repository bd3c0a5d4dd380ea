/* cli/batch/figures.h — the spread of measured values. Pure functions. */
#pragma once

#include <stddef.h>

struct figures {
    size_t n;
    double min, median, max, mean, deviation; /* the deviation of the sample; 0 for one value */
};

/* Sorts the values. All figures are 0 if there is none. */
struct figures figures_of(double *values, size_t n);
