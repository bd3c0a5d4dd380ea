/* diagnose/tools/tools.h — findings of tools, and reports of test runners. Runs in: keeper. Private
 * to this room. */
#pragma once

#include "diagnose/core/grammar.h"

/* The language of the file, or of the tool, of an error that the grammar of tools read; "" when
 * neither is known. */
const char *tools_language(const struct diagnosis *d);

/* The language of the test runner whose report the text is; NULL for other text. */
const char *failed_tests_language(struct diagnoser *g, const struct diagnose_input *in);
/* The first failed test in the report of a test runner becomes the diagnosis. The language of the
 * runner; NULL when the text has no such report, and nothing was filled in. */
const char *failed_tests_read(struct diagnoser *g, const struct diagnose_input *in,
                              struct diagnosis *d);
/* Adds the failed tests of a report to an error that a grammar read. */
void failed_tests_add(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);
