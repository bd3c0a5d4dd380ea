/* run/reports.h — the report of our own programs in a jar: a profiler, an SQL shell, displays.
 * Runs in: keeper; report_read() in a reader.
 *
 * The program leaves a file in /sandbox, which is collected like any output. The guest could have
 * written it instead, so it is bounded and checked like a request, and it never decides a
 * verdict. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "runtime/language.h"
#include "spec/run_options.h"

#define REPORT_FILE ".belljar-report.json" /* one JSON object; keys: tables, profile, displays */
enum {
    REPORT_MAX_BYTES = 3 << 20, /* a reader parses it */
    REPORT_TABLES_MAX = 100,
    REPORT_ROWS_MAX = 1000, /* of a table */
    REPORT_COLUMNS_MAX = 1000,
    REPORT_NAME_MAX = 256,
    REPORT_DISPLAYS_MAX = 256,
    REPORT_MIME_TYPES_MAX = 32, /* of a display */
};

/* Whether a run of this language with these options leaves a report. */
bool report_expected(const struct language *l, const struct run_options *options);

/* The outputs to collect: those of the caller, and the report if one is expected. Only the list is
 * on the heap. NULL if memory ran out. */
char **report_outputs(const struct language *l, const struct run_options *options,
                      char *const *outputs);

struct report_found {
    json_t *tables, *profile, *displays; /* new references; NULL: none */
    size_t running;                      /* the byte of the main file where a statement ran */
    bool runs;                           /* `running` is known */
};
/* Removes the report from a bundle of outputs. *ret gets its bytes, or stays empty. */
[[nodiscard]] int report_cut(struct buf *bundle, struct buf *ret, struct err *e);
/* The same with the file that says where a program was before its end (spec/job.h). */
[[nodiscard]] int whereabouts_cut(struct buf *bundle, struct buf *ret, struct err *e);
/* Reads the bytes of the file. A malformed or large report is ignored. */
struct report_found report_read(const char *bytes, size_t n);
/* Whether it is a list of tables, within the bounds above. */
bool report_tables_valid(const json_t *tables);
/* Whether it is a list of displays: {data: {MIME type: value}, display_id?, metadata?, cut?}. */
bool report_displays_valid(const json_t *displays);
