/* examiner/checks.h — the report of a check, each problem with its diagnosis, and the risks of the
 * code. Runs in: reader. */
#pragma once

#include <jansson.h>

#include "examiner/question.h"

/* The object of check_valid(). g NULL: without diagnoses. NULL if memory ran out. */
json_t *checks_find(struct diagnoser *g, const struct question *q);
