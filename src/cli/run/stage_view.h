/* cli/run/stage_view.h — the table of the stages of a run, on stderr. Runs in: the keeper of `belljar
 * run`. */
#pragma once

#include <jansson.h>

#include "base/err.h"

/* The stage that did not pass and is the last one that began; NULL: all passed, or none began. */
const json_t *stage_view_failed(const json_t *result);
/* Prints nothing for a result without stages. */
[[nodiscard]] int stage_view_print(const json_t *result, struct err *e);
