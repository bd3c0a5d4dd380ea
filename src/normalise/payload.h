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
#include "runtime/language.h"

enum { FENCE_LANGUAGE_SIZE = 32 };

struct payload {
    struct buf code;
    char language
        [FENCE_LANGUAGE_SIZE]; /* what the fence named, or the dict, in lower case; "" for none */
    const struct language
        *told; /* what blocks that name none look like, or a session is of; may be NULL */
    unsigned blocks,
        taken; /* how many fenced blocks there are, and how many of them are the code */
    bool dict; /* it was in one */
};
void payload_done(struct payload *p);

/* {'generated_code': '...'} as Python or JSON writes it; Markdown fences (normalise/document.h); sessions with an interpreter;
 * what was escaped for a page of HTML. given: the language that is wanted, or NULL. */
[[nodiscard]] int payload_unwrap(const char *text, size_t len, const struct language *given,
                                 struct payload *ret, struct err *e);

/* The value of "generated_code" in a dict literal, and of "language", if there is one. False when the text is not one, whole and
 * well-formed. */
bool payload_dict(const char *text, size_t len, struct buf *ret_code,
                  char ret_language[FENCE_LANGUAGE_SIZE]);

/* How many bytes at the start are marks that nobody sees: of byte order, or of no width. */
size_t payload_mark(const char *text, size_t len);

/* No line of it looks like one of a program that opens a string. */
bool payload_is_prose(const char *text, size_t len);

/* Text that was escaped for HTML as a whole, as it was before; nothing is added to any other. */
[[nodiscard]] int entities_decode(const char *text, size_t len, struct buf *ret, struct err *e);

/* One fenced block. Offsets are into the text. */
struct fence {
    size_t open;      /* start of the line that opens it */
    size_t body, end; /* what is between the two lines */
    size_t after;     /* behind the line that closes it */
    size_t indent;    /* spaces before the opening fence: as many are taken off each line */
    bool closed;      /* else it goes on to the end of the text */
    bool quoted;      /* in a quotation: its ">" are taken off as well */
    bool crlf;        /* the document's lines end with \r\n, and so do not the program's */
    char language[FENCE_LANGUAGE_SIZE];
};
/* The next block from `from` on; false when there is none. */
bool fence_next(const char *text, size_t len, size_t from, struct fence *ret);
/* Appends what is in it. */
[[nodiscard]] int fence_add_body(struct buf *b, const char *text, const struct fence *f,
                                 struct err *e);
