/* run/diff.h — the difference of two texts, line by line. Runs in: keeper, CLI. Pure functions. */
#pragma once

#include <jansson.h>

enum { DIFF_LINES_MAX = 2000, DIFF_BYTES_MAX = 256 << 10 };

/* [" same", "-gone", "+new", ...]. JSON null if memory ran out, or if a text has more than
 * DIFF_LINES_MAX lines or DIFF_BYTES_MAX bytes, which would block the loop for too long. */
json_t *diff_lines(const char *before, const char *after);
