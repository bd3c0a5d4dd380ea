/* api/approvals/risks.h — words in a program that whoever approves it should look at. Runs in: keeper. Pure functions.
 * A help for the eye, not a defence: code can do anything without one of these words. The jar is the defence. */
#pragma once

#include <jansson.h>
#include <stddef.h>

enum { RISKS_MAX = 50, RISK_EXCERPT_MAX = 120, RISK_SCAN_MAX = 1 << 20 };

/* [{kind, line, column, excerpt, why}] in the order of the text; language is a name of runtime/language.h. Where the code
 * goes on past RISK_SCAN_MAX bytes, which nobody looked at, the last one says so (kind "not_looked_at"). NULL when memory
 * ran out. */
json_t *risks_find(const char *language, const char *code, size_t len);
