/* runtime/declaration.h — a language's declaration as text: what `belljar languages show` prints, and what a file NAME.lang
 * holds. Runs in: main, supervisor. Pure functions.
 *
 *     # lines of "key = value"; a value of several words is split as a shell would, by blanks, with ' and " and \
 *     name = ruby
 *     extensions = .rb
 *     command = /usr/bin/ruby {file}
 *
 * Invariants
 * D1 What is printed is read back as the same declaration: all of it but the kinds of zygotes, which are code of ours.
 * D2 Nothing is guessed: a key that is unknown, missing or there twice, or a value that is not accepted, is an error that
 *    names file, line, value and what is accepted. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "runtime/language.h"

enum { DECLARATION_MAX_BYTES = 64 << 10, DECLARATION_MAX_WORDS = 256 };

/* On failure *ret is untouched. file: for messages. */
[[nodiscard]] int declaration_parse(const char *file, const char *text, size_t len,
                                    struct language **ret, struct err *e);
/* One that was parsed. */
void declaration_free(struct language *l);

[[nodiscard]] int declaration_print(const struct language *l, struct buf *b, struct err *e);
/* Whether D1 holds for two of them. */
bool declaration_equal(const struct language *a, const struct language *b);
/* "  command  words  argv of the run" lines: one for each key. */
[[nodiscard]] int declaration_help(struct buf *b, struct err *e);
