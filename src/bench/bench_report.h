/* bench/bench_report.h — the table for people, printed as it grows, and the same as JSON. Runs in:
 * the process that measures. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "bench/budget.h"
#include "bench/series.h"

struct bench_report;
struct bench_report *report_new(bool quick);
void report_free(struct bench_report *r);

/* Begins a section of the table. */
void report_section(struct bench_report *r, const char *title);
/* Adds a row. If `against` is NULL there is no ratio. */
void report_series(struct bench_report *r, const char *name, const struct series *s,
                   const struct series *against);

/* Begins a section without rows, only with facts. */
void report_facts(struct bench_report *r, const char *title);
/* Begins a section whose rows are rates. */
void report_rates(struct bench_report *r, const char *title);
struct report_rate {
    size_t runs;
    double per_second, over; /* over: ratio to the rate of the compared row */
    double p50_ms, p99_ms;   /* 0: unknown */
    double cpu_ms;           /* of one run */
};
void report_rate(struct bench_report *r, const char *name, const struct report_rate *rate);

/* A single number. */
void report_fact(struct bench_report *r, const char *name, double value, const char *unit);
/* A number with an upper bound. */
void report_must(struct bench_report *r, const char *name, double value, double bound,
                 const char *unit);
/* The reason why a section is missing. */
void report_skip(struct bench_report *r, const char *why);
/* The measured value of a budget (bench/budget.h), by its key. */
void report_metric(struct bench_report *r, const char *key, double value);
/* A bar of the plot (bench/svg.h). Bars with the same title form one chart; `ours` have another
 * colour. */
void report_bar(struct bench_report *r, const char *title, const char *unit, const char *label,
                double value, bool ours);

/* Prints the bounds and their results. Returns the number of missed bounds. */
int report_verdict(const struct bench_report *r);
/* The same for every budget of the table, measured or not. */
int report_budgets(struct bench_report *r, const struct budget *budgets, size_t n);
void report_save(const struct bench_report *r, const char *path);
const json_t *report_charts(const struct bench_report *r);
