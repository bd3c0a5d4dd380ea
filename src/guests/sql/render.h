/* guests/sql/render.h — results as text, row by row. Runs in: a jar.
 *
 * Invariant: memory is bounded for any number of rows. For aligned columns the first
 * RENDER_WAITING_ROWS rows or RENDER_WAITING_BYTES bytes wait. They set the widths; a wider value
 * in a later row sticks out. */
#pragma once

#include <stdio.h>

#include "guests/sql/cell.h"
#include "spec/run_options.h"

enum { RENDER_WAITING_ROWS = 1000, RENDER_WAITING_BYTES = 1 << 20, RENDER_WIDTH_MAX = 120 };

struct render;

/* NULL if memory ran out. */
struct render *render_new(enum table_format format, FILE *out);
void render_free(struct render *r);

/* A result is begin, rows, end. Column names are copied. */
[[nodiscard]] int render_begin(struct render *r, const struct column *columns, size_t n,
                               struct err *e);
[[nodiscard]] int render_row(struct render *r, const struct cell *cells, struct err *e);
[[nodiscard]] int render_end(struct render *r, struct err *e);
/* A statement without rows, "INSERT 3"; formats for programs leave it out. */
void render_tag(struct render *r, const char *tag);
