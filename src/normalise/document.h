/* normalise/document.h — finds the program among the fenced blocks of a document, and the typed
 * lines of a session with an interpreter. Runs in: keeper, main. Pure functions.
 *
 * The language of a block is the one that it names, or the one whose prompt it begins with. If no
 * block of the document names a language, it is the one that the block looks like. A block that
 * names something else (json, output, diff) or looks like no language is not a program. The program
 * is the concatenation of all blocks of one language: the requested one, otherwise the one with the
 * most lines; of two with equally many, the first. Shells come last, because beside another
 * language they install and start it. If no block has a known language, the program is the first
 * block and all blocks with the same name. */
#pragma once

#include "normalise/payload.h"

[[nodiscard]] int document_take(const char *text, size_t len, const struct language *given,
                                struct payload *p, struct err *e);
/* True if the document has a block of the language, or of any language for NULL. An unnamed block
 * counts. */
bool document_has(const char *text, size_t len, const struct language *given);

/* True for words after a fence that name no language, such as "text". */
bool document_says_nothing(const char *word);

/* The language whose prompt the text begins with; NULL: not a session. known: the language if it is
 * known. */
const struct language *session_language(const char *text, size_t len, const struct language *known);
/* If the text is a session: appends the typed lines and sets the language. Otherwise appends all of
 * it. */
[[nodiscard]] int session_add(struct buf *b, const char *text, size_t len,
                              const struct language *known, const struct language **ret_language,
                              struct err *e);
