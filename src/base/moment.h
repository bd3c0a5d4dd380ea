/* base/moment.h — moments as text, in UTC. Runs in: every process. Pure functions. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { MOMENT_SIZE = 32 };

/* "2026-01-31T12:00:00.123Z" */
const char *moment_format(int64_t unix_ms, char out[MOMENT_SIZE]);

#define MOMENT_ACCEPTED \
    "2026-01-31T12:00:00Z, 2026-01-31, Unix milliseconds, or how long ago (90s, 2h)"
/* Accepts the forms that MOMENT_ACCEPTED lists. Seconds may have a fraction; seconds and Z are
 * optional. 0, or -1. */
[[nodiscard]] int moment_parse(const char *text, int64_t now_ms, int64_t *ret_ms);
