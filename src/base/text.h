/* base/text.h — text that strangers wrote: validity, display, encoding. Runs in: keeper, CLI.
 * Pure functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* strdup(), and NULL for NULL. */
char *text_copy(const char *text);
/* Without the blanks at both ends. Cuts the text in place. */
char *text_trim(char *text);

/* True for well-formed UTF-8 (no overlong forms, surrogates, or code points past U+10FFFF). */
bool text_is_utf8(const char *bytes, size_t n);

/* How many of the bytes are left when a sequence that has only begun at their end is cut off. */
size_t text_whole(const char *bytes, size_t n);

/* Appends bytes with every ill-formed sequence replaced by U+FFFD. */
[[nodiscard]] int text_add_utf8(struct buf *b, const char *bytes, size_t n, struct err *e);

[[nodiscard]] int text_add_base64(struct buf *b, const void *bytes, size_t n, struct err *e);
/* Appends what the text stands for. RFC 4648 to the letter: padded, no line breaks, no loose bits at the end. */
[[nodiscard]] int text_base64_decode(const char *text, size_t n, struct buf *out, struct err *e);

/* Bytes of the character at the beginning that may go to a terminal as they are: it is well-formed, and controls nothing, neither
 * the terminal (C0, DEL, C1) nor the order in which what follows is shown (bidirectional overrides). 0: none is there. */
size_t text_printable(const char *bytes, size_t n);

enum { TEXT_DISTANCE_MAX = 64 };
/* Letters to change, add or leave out to get from one to the other; TEXT_DISTANCE_MAX when b is as long as that. */
size_t text_distance(const char *a, const char *b);

/* A value for a one-line message: control characters and quotes escaped, cut with "..." at 80. */
const char *text_quote(const char *s, char *out, size_t out_size);
/* The same, for an argument of printf: the text lives as long as the block it stands in. */
#define QUOTED(s) text_quote((s), (char[96]){ 0 }, 96)
