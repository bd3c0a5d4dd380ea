/* api/runs/diff.h — what an approver changed, line by line. Runs in: keeper. Pure functions. */
#pragma once

#include <jansson.h>

enum { DIFF_LINES_MAX = 2000, DIFF_BYTES_MAX = 256 << 10 };

/* [" same", "-gone", "+new", ...]; JSON null when a text has more than DIFF_LINES_MAX lines or DIFF_BYTES_MAX bytes,
 * which would take the loop too long, or memory ran out. */
json_t *diff_lines(const char *before, const char *after);
