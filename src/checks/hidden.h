/* checks/hidden.h — characters that a person does not see, or that change the order in which
 * a line is shown. Runs in: keeper. Pure functions. */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* Findings in one text, and in all texts of a run: other risks need room too. */
enum { HIDDEN_MAX = 10, HIDDEN_ALL_MAX = 30 };

/* Appends {kind "hidden_character", line, column, excerpt: "U+202E", why} for each to the list; file
 * or where (either may be NULL) says which text it is. Of a text with a NUL only the first one is
 * told: it is no text. */
void hidden_find(json_t *list, const char *text, size_t n, json_t *file, const char *where);
