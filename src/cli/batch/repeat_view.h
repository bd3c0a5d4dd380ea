/* cli/batch/repeat_view.h — results of one or two programs side by side. Runs in: a process without rights;
 * texts of programs go through plain.h. */
#pragma once

#include <jansson.h>

#include "cli/batch/repeat.h"

/* Results of each program, as GET /v1/runs/{id} has them. Prints, and returns the exit status or -1. */
[[nodiscard]] int repeat_show(const struct repeat *r, json_t *const results[REPEAT_PROGRAMS],
                              struct err *e);
