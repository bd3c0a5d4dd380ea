/* bench/report.h — the table for people, printed as it grows, and the same as JSON. Runs in: the process that measures. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "bench/budget.h"
#include "bench/series.h"

struct report;
struct report *report_new(bool quick);
void report_free(struct report *r);

/* Begins a part of the table. */
void report_section(struct report *r, const char *title);
/* A row. `against` may be NULL: then there is no ratio. */
void report_series(struct report *r, const char *name, const struct series *s,
                   const struct series *against);

/* Begins a part of the table that has no rows, only facts. */
void report_facts(struct report *r, const char *title);
/* Begins a part of the table whose rows are rates. */
void report_rates(struct report *r, const char *title);
struct report_rate {
    size_t runs;
    double per_second, over; /* over: times the rate of what it is compared with */
    double p50_ms, p99_ms;   /* 0: not known */
    double cpu_ms;           /* a run */
};
void report_rate(struct report *r, const char *name, const struct report_rate *rate);

/* A number that is no series. */
void report_fact(struct report *r, const char *name, double value, const char *unit);
/* A number that must not be above its bound. */
void report_must(struct report *r, const char *name, double value, double bound, const char *unit);
/* Why a part of the table is missing. */
void report_skip(struct report *r, const char *why);
/* What was measured of a budget (bench/budget.h), by its key. */
void report_metric(struct report *r, const char *key, double value);
/* A bar of the plot (bench/svg.h). Those of one title make one chart; `ours` are drawn in another colour. */
void report_bar(struct report *r, const char *title, const char *unit, const char *label,
                double value, bool ours);

/* Prints what had to be reached and whether it was; the number of those that were not. */
int report_verdict(const struct report *r);
/* The same for every budget of the table, measured or not. */
int report_budgets(struct report *r, const struct budget *budgets, size_t n);
void report_save(const struct report *r, const char *path);
const json_t *report_charts(const struct report *r);
