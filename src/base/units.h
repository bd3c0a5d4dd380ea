/* base/units.h — sizes and durations as people write them. Runs in: every process.
 * Invalid text (empty, sign, NaN, overflow, trailing characters) is refused, never rounded to
 * "no limit". */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum unit_kind {
    UNIT_COUNT, /* 64 */
    UNIT_BYTES, /* 65536, 64k, 512m, 1.5g, 1t; powers of 1024; an optional b or ib follows */
    UNIT_MS,    /* 500ms, 2.5s, 1m, 1h, 30d; a bare number is seconds */
};

/* 0, or -1 when the text is not a number of that kind that fits. */
[[nodiscard]] int unit_parse(enum unit_kind kind, const char *text, uint64_t *ret_value);

/* "a size such as 65536, 64k, 512m or 1g" — the words for an error message. */
const char *unit_accepted(enum unit_kind kind);

/* Writes the shortest exact form into out and returns it: 268435456 -> "256m", 10000 ms ->
 * "10s". */
const char *unit_format(enum unit_kind kind, uint64_t value, char *out, size_t out_size);
