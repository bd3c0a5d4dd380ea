/* cli/commands/top_view.h — the state of a service as lines of text. Runs in: the command, after it gave
 * up the rights of root. */
#pragma once

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"

struct top_state {
    const json_t *stats, *running, *recent, *sessions; /* answers of the service */
    double runs_per_second;                            /* below 0: not known yet */
};

[[nodiscard]] int top_add(struct buf *b, const struct top_state *t, struct err *e);

/* At most so many rows of so many columns; 0: all of them. Each row ends with `end`. */
[[nodiscard]] int top_clip(struct buf *b, const char *text, size_t rows, size_t columns,
                           const char *end, struct err *e);
