/* base/text.h — text that strangers wrote: validity, display, encoding. Runs in: keeper, CLI.
 * Pure functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* True for well-formed UTF-8 (no overlong forms, surrogates, or code points past U+10FFFF). */
bool text_is_utf8(const char *bytes, size_t n);

/* Appends bytes with every ill-formed sequence replaced by U+FFFD. */
[[nodiscard]] int text_add_utf8(struct buf *b, const char *bytes, size_t n, struct err *e);

[[nodiscard]] int text_add_base64(struct buf *b, const void *bytes, size_t n, struct err *e);

/* A value for a one-line message: control characters and quotes escaped, cut with "..." at 80. */
const char *text_quote(const char *s, char *out, size_t out_size);
