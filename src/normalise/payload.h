/* normalise/payload.h — code as models hand it over: bare, inside a dict literal, or fenced in Markdown. Runs in: keeper, main.
 * Pure functions.
 *
 * Invariants
 * P1 What is not surely a wrapping stays as it is, byte for byte.
 * P2 Time and memory are linear in the text; nesting is bounded. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

enum { FENCE_LANGUAGE_SIZE = 32 };

struct payload {
    struct buf code;
    char language[FENCE_LANGUAGE_SIZE]; /* what the fence named, in lower case; "" for none */
};
void payload_done(struct payload *p);

/* {'generated_code': '...'} as Python or JSON writes it, then Markdown fences. Of several blocks, all of the first one's
 * language, one after the other. */
[[nodiscard]] int payload_unwrap(const char *text, size_t len, struct payload *ret, struct err *e);

/* The value of "generated_code" in a dict literal. False when the text is not one, whole and well-formed. */
bool payload_dict(const char *text, size_t len, struct buf *ret_code);

/* How many bytes at the start are a byte order mark: 3, or 0. */
size_t payload_mark(const char *text, size_t len);

/* One fenced block. Offsets are into the text. */
struct fence {
    size_t open;      /* start of the line that opens it */
    size_t body, end; /* what is between the two lines */
    size_t after;     /* behind the line that closes it */
    size_t indent;    /* spaces before the opening fence: as many are taken off each line */
    bool closed;      /* else it goes on to the end of the text */
    bool crlf;        /* the document's lines end with \r\n, and so do not the program's */
    char language[FENCE_LANGUAGE_SIZE];
};
/* The next block from `from` on; false when there is none. */
bool fence_next(const char *text, size_t len, size_t from, struct fence *ret);
/* Appends what is in it. */
[[nodiscard]] int fence_add_body(struct buf *b, const char *text, const struct fence *f,
                                 struct err *e);
/* Blocks of this one's language from it on, one after the other. */
[[nodiscard]] int payload_join(const char *text, size_t len, const struct fence *first,
                               struct payload *p, struct err *e);
