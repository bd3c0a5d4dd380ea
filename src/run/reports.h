/* run/reports.h — what a program of ours in the jar (a profiler, an SQL shell) found out about the run.
 * Runs in: keeper.
 *
 * It leaves a file in /sandbox, which is brought back like any output. The guest could have written it instead: it is data,
 * bounded and checked like a request's, and never a verdict. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "runtime/language.h"
#include "spec/run_options.h"

#define REPORT_FILE ".belljar-report.json" /* one JSON object; keys: tables, profile */
enum {
    REPORT_MAX_BYTES = 3 << 20, /* all of it is taken apart on the keeper's loop */
    REPORT_TABLES_MAX = 100,
    REPORT_ROWS_MAX = 1000, /* of a table */
    REPORT_COLUMNS_MAX = 1000,
    REPORT_NAME_MAX = 256,
};

/* Whether a run of this language, with these options, leaves one. */
bool report_expected(const struct language *l, const struct run_options *w);

/* The outputs to ask for: the caller's, and the report where one is expected. The list alone is on the heap; NULL when memory
 * ran out. */
char **report_outputs(const struct language *l, const struct run_options *w, char *const *outputs);

struct report_found {
    json_t *tables, *profile; /* NULL where there are none; whoever called owns the references */
};
/* Takes it out of a bundle of outputs. What is malformed or too large is none. */
struct report_found report_take(struct buf *bundle);
/* The same of the file's bytes. */
struct report_found report_read(const char *bytes, size_t n);
