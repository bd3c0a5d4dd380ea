/* normalise/document.h — which of the fenced blocks of a document are its program, and what somebody typed in a session with an
 * interpreter. Runs in: keeper, main. Pure functions.
 *
 * Every block is of a language: of the one it names; of the one whose prompt it begins with; if it names none, and no other
 * block does, of the one it looks like. A block that names something else (json, output, diff) or looks like nothing is no
 * program. The program is all blocks of one language, one after the other: the one that is wanted, else the one with the most
 * lines, and of two with as many the first. Shells come last: beside another language they install it and start it. Where no
 * block names a language that there is, and none looks like one, it is the first block, and those that name the same. */
#pragma once

#include "normalise/payload.h"

[[nodiscard]] int document_take(const char *text, size_t len, const struct language *given,
                                struct payload *p, struct err *e);
/* Whether a document has a block of the language, or of any if it is NULL; one that names none counts. */
bool document_has(const char *text, size_t len, const struct language *given);

/* Words behind a fence that say no more than that it is a block. */
bool document_says_nothing(const char *word);

/* The language whose prompt the text begins with; NULL: it is no session. known: its language, or NULL when that is not told. */
const struct language *session_language(const char *text, size_t len, const struct language *known);
/* Appends what was typed, if it is a session, and says in which language; else all of it. */
[[nodiscard]] int session_add(struct buf *b, const char *text, size_t len,
                              const struct language *known, const struct language **ret_language,
                              struct err *e);
