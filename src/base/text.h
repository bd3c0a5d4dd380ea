/* base/text.h — text from strangers: validity, display, encoding. Runs in: keeper, CLI.
 * Pure functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* strdup(), and NULL for NULL. */
char *text_copy(const char *text);
/* Cuts off the blanks at both ends, in place. */
char *text_trim(char *text);

/* True for well-formed UTF-8 (no overlong forms, surrogates, or code points past U+10FFFF). */
bool text_is_utf8(const char *bytes, size_t n);

/* The number of characters (code points) of UTF-8. */
size_t text_characters(const char *bytes, size_t n);

/* The number of bytes left when an incomplete sequence at their end is cut off. */
size_t text_whole(const char *bytes, size_t n);
/* The same for a text that snprintf() may have cut, in place. */
void text_end_whole(char *text);

/* Appends bytes with every ill-formed sequence replaced by U+FFFD. */
[[nodiscard]] int text_add_utf8(struct buf *b, const char *bytes, size_t n, struct err *e);

[[nodiscard]] int text_add_base64(struct buf *b, const void *bytes, size_t n, struct err *e);
/* Appends the decoded bytes. Strict RFC 4648: padded, no line breaks, no loose bits at the end. */
[[nodiscard]] int text_base64_decode(const char *text, size_t n, struct buf *out, struct err *e);

/* The length of the first character if it may go to a terminal unchanged; else 0. Such a character
 * is well-formed and controls neither the terminal (C0, DEL, C1) nor the direction of the text
 * after it (bidirectional overrides). */
size_t text_printable(const char *bytes, size_t n);

enum { TEXT_DISTANCE_MAX = 64 };
/* The number of letters to change, add or remove between a and b; TEXT_DISTANCE_MAX when b is too
 * long. */
size_t text_distance(const char *a, const char *b);

/* A value for a one-line message: control characters and quotes escaped, cut with "..." at 80. */
const char *text_quote(const char *s, char *out, size_t out_size);
/* The same, for an argument of printf: the text lives as long as the block it stands in. */
#define QUOTED(s) text_quote((s), (char[96]){ 0 }, 96)

/* A message without the paths of this machine, for people who must not learn about its files: each
 * absolute path becomes "PATH", except paths of the jar and of the API. Cut if it does not fit. */
const char *text_hide_paths(const char *s, char *out, size_t out_size);
