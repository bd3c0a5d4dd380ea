/* examiner/tests.h — the tests that the output of a runner names, each failed one with its
 * diagnosis. Runs in: reader. */
#pragma once

#include <jansson.h>

#include "examiner/question.h"

/* g NULL: without diagnoses. *ret_explained: a test failed, and so explains the end of the run. NULL
 * if memory ran out. */
json_t *tests_find(struct diagnoser *g, const struct question *q, bool *ret_explained);
