/* normalise/payload.h — code as language models submit it: bare, inside a dict literal, or fenced
 * in Markdown. Runs in: keeper, main. Pure functions.
 *
 * Invariants
 * PAYLOAD-1 A text that is not certainly wrapped stays as it is, byte for byte.
 * PAYLOAD-2 Time and memory are linear in the text; nesting is bounded. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "runtime/language.h"

enum { FENCE_LANGUAGE_SIZE = 32 };

struct payload {
    struct buf code;
    /* named by the fence or the dict, in lower case; "" for none */
    char language[FENCE_LANGUAGE_SIZE];
    const struct language *inferred; /* of a session, or inferred for unnamed blocks; may be NULL */
    unsigned blocks, used;           /* number of fenced blocks, and number of them in the code */
    bool dict;                       /* the code was in a dict literal */
};
void payload_done(struct payload *p);

/* Unwraps {'generated_code': '...'} in the syntax of Python or JSON, Markdown fences
 * (normalise/document.h), sessions with an interpreter, and HTML escapes. given: the requested
 * language, or NULL. */
[[nodiscard]] int payload_unwrap(const char *text, size_t len, const struct language *given,
                                 struct payload *ret, struct err *e);

/* The value of "generated_code" in a dict literal, and of "language", if present. False unless the
 * whole text is one well-formed literal. */
bool payload_dict(const char *text, size_t len, struct buf *ret_code,
                  char ret_language[FENCE_LANGUAGE_SIZE]);

/* The length of invisible marks at the start: byte order marks, zero-width characters. */
size_t payload_mark(const char *text, size_t len);

/* True if no line looks like a line of a program that opens a string. */
bool payload_is_prose(const char *text, size_t len);

/* Appends the original of a text that was escaped for HTML as a whole. Appends nothing for any
 * other text. */
[[nodiscard]] int entities_decode(const char *text, size_t len, struct buf *ret, struct err *e);

/* One fenced block. Offsets are into the text. */
struct fence {
    size_t open;      /* start of the opening line */
    size_t body, end; /* the content between the two lines */
    size_t after;     /* position after the closing line */
    size_t indent;    /* spaces before the opening fence, which are removed from each line */
    bool closed;      /* false: it extends to the end of the text */
    bool quoted;      /* in a quotation: its ">" are removed too */
    bool crlf;        /* the document has \r\n, which becomes \n in the program */
    char language[FENCE_LANGUAGE_SIZE];
};
/* Finds the next block from `from` on; false if there is none. */
bool fence_next(const char *text, size_t len, size_t from, struct fence *ret);
/* Appends the content of the block. */
[[nodiscard]] int fence_add_body(struct buf *b, const char *text, const struct fence *f,
                                 struct err *e);
