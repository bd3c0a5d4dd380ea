/* bench/report.h — the table for people, printed as it grows, and the same as JSON. */
#pragma once

#include <stdbool.h>

#include "series.h"

struct report;
struct report *report_new(bool quick);
void report_free(struct report *r);

/* Begins a part of the table. */
void report_section(struct report *r, const char *title);
/* A row. `against` may be NULL: then there is no ratio. */
void report_series(struct report *r, const char *name, const struct series *s,
                   const struct series *against);
/* A number that is no series. */
void report_fact(struct report *r, const char *name, double value, const char *unit);
/* A number that must not be above its bound. */
void report_must(struct report *r, const char *name, double value, double bound, const char *unit);
/* Why a part of the table is missing. */
void report_skip(struct report *r, const char *why);

/* Prints what had to be reached and whether it was; the number of those that were not. */
int report_verdict(const struct report *r);
void report_save(const struct report *r, const char *path);
