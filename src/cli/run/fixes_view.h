/* cli/run/fixes_view.h — the tried suggestions of a result, as people read them. Runs in: the process
 * that reads the answer of a service. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "base/err.h"

/* The candidate that cures the error, or NULL. Borrowed. */
const json_t *fixes_best(const json_t *result);
/* Each candidate with its difference and its outcome. */
[[nodiscard]] int fixes_view_print(const json_t *result, FILE *out, struct err *e);
