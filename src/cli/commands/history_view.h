/* cli/commands/history_view.h — runs of the history as text. The objects are those of GET /v1/runs,
 * whether they come from the database or from a service. Runs in: the command, without the rights of
 * root: callers and programs chose these texts, so control characters are replaced. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { HISTORY_SHOWN = 4096 }; /* bytes of a stream, if not all of it is wanted */

/* A table with a header. */
void history_print_list(const json_t *runs);
/* One run with its "code", "stdout" and "stderr". */
[[nodiscard]] int history_print_one(const json_t *run, bool all, struct err *e);
