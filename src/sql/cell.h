/* sql/cell.h — one value of a result, as it goes to the screen and into the report. Pure data. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

enum cell_kind {
    CELL_NULL,
    CELL_BOOL,    /* "t" or "f" */
    CELL_INTEGER, /* decimal digits */
    CELL_REAL,    /* a number as JSON has it, or Inf, NaN and the like */
    CELL_DECIMAL, /* digits that a double would not keep: in JSON it is text */
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

/* As JSON: null, true, a number where no digit is lost on the way (up to 2^53), else text; {"base64": "…"} for bytes. */
[[nodiscard]] int cell_add_json(struct buf *b, const struct cell *c, struct err *e);
/* A JSON string with its quotes; what is no UTF-8 becomes U+FFFD. */
[[nodiscard]] int cell_add_json_text(struct buf *b, const char *text, size_t n, struct err *e);
/* As people read it: blobs as x'0AFF', NULL as NULL, control characters as \x1b, a tab as \t; lines are kept. */
[[nodiscard]] int cell_add_shown(struct buf *b, const struct cell *c, struct err *e);

/* Columns that a terminal needs for a line of UTF-8; a control character counts as one. */
size_t text_columns(const char *text, size_t n);
