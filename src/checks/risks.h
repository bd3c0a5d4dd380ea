/* checks/risks.h — words in a program that its approver should look at. Runs in: keeper.
 * Pure functions. They direct the eye and are no defence: code can do any harm without these words.
 * The jar is the defence. */
#pragma once

#include <jansson.h>
#include <stddef.h>

enum { RISKS_MAX = 50, RISK_EXCERPT_MAX = 120, RISK_SCAN_MAX = 1 << 20 };

/* [{kind, line, column, excerpt, why}] in the order of the text; language is a name of
 * runtime/language.h. Only RISK_SCAN_MAX bytes are scanned; if there are more, the last entry says
 * so (kind "not_looked_at"). NULL if memory ran out. */
json_t *risks_find(const char *language, const char *code, size_t len);
