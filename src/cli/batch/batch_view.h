/* cli/batch/batch_view.h — the results of a batch as a table. On a terminal its rows fill while the batch
 * runs; otherwise each row is printed when the rows before it are. Runs in: a process without rights. Texts
 * of programs go through plain.h. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "cli/progress.h"

struct batch_view {
    const json_t *inputs; /* borrowed; their names are the first column */
    json_t *results;      /* in order; null: not yet */
    size_t n, told;       /* rows; rows that are printed */
    size_t n_over;
    int name_width;
    unsigned rows, columns; /* of the terminal; 0: there is none */
    bool in_place;          /* all rows fit on the terminal, and are redrawn */
    struct progress progress;
};
void batch_view_done(struct batch_view *v);

/* Looks at the terminal, so it is called before the rights are given up. */
[[nodiscard]] int batch_view_init(struct batch_view *v, const json_t *inputs, struct err *e);
[[nodiscard]] int batch_view_begin(struct batch_view *v, struct err *e);
[[nodiscard]] int batch_view_result(struct batch_view *v, size_t i, json_t *result, struct err *e);
/* "5 of 6 passed". */
void batch_view_summary(struct batch_view *v, const json_t *summary);
