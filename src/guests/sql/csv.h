/* guests/sql/csv.h — CSV of RFC 4180 in memory, row by row, and the types of its columns. Pure
 * functions. An empty field without quotes is NULL, "" is an empty text. Lines end with \n or \r\n;
 * empty lines are skipped. */
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
    size_t line; /* first line of the next row, from 1 */
    /* the current row */
    size_t row_line;
    struct buf text;
    struct csv_field *fields;
    size_t n_fields, cap_fields;
};

/* Skips a byte order mark. */
void csv_init(struct csv *c, const char *bytes, size_t n);
void csv_done(struct csv *c);
/* 1: a row, 0: the end, -1: not CSV (the error has the reason, csv.row_line the line) or out of
 * memory. */
[[nodiscard]] int csv_next(struct csv *c, struct err *e);

const char *csv_text(const struct csv *c, size_t field);
bool csv_is_null(const struct csv *c, size_t field);

/* The common type of all values of a column. A later type includes the earlier ones. */
enum csv_type { CSV_NOTHING, CSV_INTEGER, CSV_BIGINT, CSV_NUMBER, CSV_TEXT, CSV_TYPE_COUNT_ };
/* The type of one value. 007 and +1 are text, because a number would not give them back. */
enum csv_type csv_type_of(const char *text, size_t n);
