/* run/check_json.h — the answer of a check as JSON. Made by: reader (examiner/checks.c). Checked in:
 * keeper.
 *
 * CHECKJSON-1 It is the word of programs that read hostile code, and says so: "source": "guest". The
 *             verdict of the run comes from outside the jar. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "spec/verdict.h"

#define CHECK_SOURCE "guest"
enum { CHECK_MESSAGE_MAX = 1024, CHECK_TYPE_MAX = 128, CHECK_RISKS_MAX = 500 };

#define CHECK_OUTCOME_TABLE(X)    \
    X(CHECK_PASSED,   "passed")   \
    X(CHECK_BAD,      "failed")   \
    X(CHECK_STOPPED,  "stopped")  /* by a limit, a cancellation or a failure of ours */ \
    X(CHECK_OPEN,     "unknown")  /* a file could not be checked */

/* The word for the whole. "passed" needs a complete report in which the syntax of each file is
 * right, and nothing else is wrong. check: check_valid(), or NULL. */
const char *check_outcome(enum verdict verdict, const json_t *check);
/* Whether it is {source, complete, cut, languages: [{language, syntax, types, imports}], risks},
 * where each of the three is {state, tool, install, problems: [{file, line, column, type, message,
 * name, diagnosis}]}. It may have come from anywhere. */
bool check_valid(const json_t *check);
