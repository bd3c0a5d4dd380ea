/* runtime/declaration.h — a language's declaration as text: the output of `belljar languages show`
 * and the content of a file NAME.lang. Runs in: main, supervisor. Pure functions.
 *
 *     # lines of "key = value"; a value of several words is split as a shell does it, with ' and " and \
 *     name = ruby
 *     extensions = .rb
 *     command = /usr/bin/ruby {file}
 *
 * Invariants
 * DECLARATION-1 A printed declaration is read back as the same declaration, except for the kinds of
 *               zygotes, which are code of ours.
 * DECLARATION-2 Nothing is guessed. A key that is unknown, missing or repeated, or a value that is
 *               not accepted, is an error. It names the file, the line, the value and the accepted
 *               values. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "runtime/language.h"

enum { DECLARATION_MAX_BYTES = 64 << 10, DECLARATION_MAX_WORDS = 256 };

/* On failure *ret is untouched. file: for messages. */
[[nodiscard]] int declaration_parse(const char *file, const char *text, size_t len,
                                    struct language **ret, struct err *e);
/* Frees the result of declaration_parse(). */
void declaration_free(struct language *l);

[[nodiscard]] int declaration_print(const struct language *l, struct buf *b, struct err *e);
/* The equality of DECLARATION-1. */
bool declaration_equal(const struct language *a, const struct language *b);
/* A key of a declaration as --help shows it. */
struct declaration_key {
    const char *name, *kind, *help;
    bool required;
};
/* The i-th key; false past the last one. */
bool declaration_describe(size_t i, struct declaration_key *ret);
