/* cli/verify/report.h — the outcomes for people, for programs (JSON) and for CI systems (JUnit
 * XML). Runs in: main. Text of programs is shown without characters that control a terminal, and is
 * cut. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "cli/verify/check.h"

struct totals {
    size_t n[OUTCOME_COUNT_];
};
struct totals totals_of(const struct checks *all);
bool totals_are_good(const struct totals *t);

struct text_report {
    const struct checks *all;
    bool verbose, colour;
};
/* One line for a check, and the reason of a failure below it. */
void report_check(const struct text_report *r, const struct check *c);
/* "12 passed, 1 failed, 2 skipped in 1.2 s" */
void report_totals(const struct text_report *r, uint64_t took_ms);
/* The lines of `--list`. */
void report_list(const struct checks *all);

/* {checks: [...], passed, failed, error, skipped, time_ms} */
json_t *report_json(const struct checks *all, uint64_t took_ms);

/* The diagnosis of a failure, or the end of the error output; nothing for a check that is good. */
[[nodiscard]] int report_details(const struct checks *all, const struct check *c, struct buf *out,
                                 struct err *e);

/* Appends the text without characters that control a terminal. */
[[nodiscard]] int report_add_printable(struct buf *b, const char *text, size_t len, struct err *e);
/* Appends the last lines of a stream of a result. */
[[nodiscard]] int report_add_tail(const json_t *stream, struct buf *out, struct err *e);
void report_print_indented(const struct buf *b);

/* A document as Jenkins, GitLab, Azure and the like read it: one test suite for each file. */
[[nodiscard]] int junit_make(const struct checks *all, uint64_t took_ms, struct buf *out,
                             struct err *e);
