/* network/punycode.h — one label of an international name as ASCII (RFC 3492). Runs in: keeper, main,
 * supervisor. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Writes "xn--..." with a NUL, or returns -1 when it does not fit. At most 63 code points. */
[[nodiscard]] int punycode_label(const uint32_t *points, size_t n, char *out, size_t size);
