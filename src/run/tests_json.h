/* run/tests_json.h — the tests of a run as JSON. Runs in: reader (out), keeper (checked).
 *
 * TESTS-1 `tests` is the guest's word, and says so: "source": "guest". The verdict of the run comes
 *         from outside the jar. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "spec/verdict.h"
#include "suite/suite.h"

/* {runner, language, source, total, passed, failed, error, skipped, cut, cases: [{name, outcome,
 * duration_ms, message, file, line, details, diagnosis}]}. diagnoses: one for each case, or NULL. NULL if
 * memory ran out. */
json_t *tests_json(const struct suite_runner *runner, const struct suite_report *r,
                   json_t *const *diagnoses);
#define TESTS_OUTCOME_TABLE(X)      \
    X(TESTS_PASSED,   "passed")     \
    X(TESTS_FAILED,   "failed")     \
    X(TESTS_NONE,     "no_tests")   \
    X(TESTS_STOPPED,  "stopped") /* by a limit, a cancellation or a failure of ours */ \
    X(TESTS_UNKNOWN,  "unknown") /* the report could not be read */

/* The word for the whole. "passed" needs a good verdict, and a report with tests of which none
 * failed. tests: tests_json(), or NULL. */
const char *tests_outcome(enum verdict verdict, int exit_code, enum test_runner runner,
                          const json_t *tests);
/* Whether it is such an object, within the bounds of suite.h. It may have come from anywhere. */
bool tests_valid(const json_t *tests);
