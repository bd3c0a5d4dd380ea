/* sql/csv.h — CSV as RFC 4180 has it, in memory, row by row; and what its columns hold. Pure functions.
 * A field without quotes and letters is NULL, "" is text. Lines end with \n or \r\n; lines without anything are skipped. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"

struct csv_field {
    size_t at, n; /* in csv.text */
    bool quoted;
};

struct csv {
    const char *bytes;
    size_t n, at;
    size_t line; /* where the next row begins, from 1 */
    /* the row that was read last */
    size_t row_line;
    struct buf text;
    struct csv_field *fields;
    size_t n_fields, cap_fields;
};

/* A byte order mark is passed over. */
void csv_init(struct csv *c, const char *bytes, size_t n);
void csv_done(struct csv *c);
/* 1 with a row, 0 at the end, -1 when it is no CSV (the error names what; csv.row_line where) or memory ran out. */
[[nodiscard]] int csv_next(struct csv *c, struct err *e);

const char *csv_text(const struct csv *c, size_t field);
bool csv_is_null(const struct csv *c, size_t field);

/* What all values of a column are; the later ones hold the earlier ones. */
enum csv_type { CSV_NOTHING, CSV_INTEGER, CSV_BIGINT, CSV_NUMBER, CSV_TEXT, CSV_TYPE_COUNT_ };
/* Of one value: 007 and +1 are text, for a number would not give them back. */
enum csv_type csv_type_of(const char *text, size_t n);
