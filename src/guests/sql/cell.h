/* guests/sql/cell.h — one value of a result, for the screen and for the report. Pure data. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

enum cell_kind {
    CELL_NULL,
    CELL_BOOL,    /* "t" or "f" */
    CELL_INTEGER, /* decimal digits */
    CELL_REAL,    /* a number in JSON's syntax, or Inf, NaN and the like */
    CELL_DECIMAL, /* digits that a double would lose: text in JSON */
    CELL_TEXT,
    CELL_BLOB, /* the bytes themselves */
};

struct cell {
    enum cell_kind kind;
    const char *bytes;
    size_t n;
};

static inline bool cell_is_number(const struct cell *c)
{
    return c->kind == CELL_INTEGER || c->kind == CELL_REAL || c->kind == CELL_DECIMAL;
}

struct column {
    const char *name, *type;
};

/* As JSON: null, true, a number if no digit is lost (up to 2^53), otherwise text; {"base64": "…"}
 * for bytes. */
[[nodiscard]] int cell_add_json(struct buf *b, const struct cell *c, struct err *e);
/* Appends a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. */
[[nodiscard]] int cell_add_json_text(struct buf *b, const char *text, size_t n, struct err *e);
/* For people: blobs as x'0AFF', NULL as NULL, control characters as \x1b, a tab as \t; line ends
 * stay. */
[[nodiscard]] int cell_add_shown(struct buf *b, const struct cell *c, struct err *e);

/* Terminal columns of a line of UTF-8; a control character takes one. */
size_t text_columns(const char *text, size_t n);
