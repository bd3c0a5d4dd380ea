/* sql/render.h — results as text, row by row. Runs in: a jar.
 *
 * Invariant: memory is bounded however many rows there are. Where columns are to be aligned, the first rows wait until
 * RENDER_HELD_ROWS or RENDER_HELD_BYTES of them are there; widths are theirs, and whatever is wider later sticks out. */
#pragma once

#include <stdio.h>

#include "spec/run_options.h"
#include "sql/cell.h"

enum { RENDER_HELD_ROWS = 1000, RENDER_HELD_BYTES = 1 << 20, RENDER_WIDTH_MAX = 120 };

struct render;

/* NULL when memory ran out. */
struct render *render_new(enum table_format format, FILE *out);
void render_free(struct render *r);

/* A result: begin, rows, end. Column names are copied. */
[[nodiscard]] int render_begin(struct render *r, const struct column *columns, size_t n,
                               struct err *e);
[[nodiscard]] int render_row(struct render *r, const struct cell *cells, struct err *e);
[[nodiscard]] int render_end(struct render *r, struct err *e);
/* A statement that had no rows to show, "INSERT 3"; formats for programs leave it out. */
void render_tag(struct render *r, const char *tag);
