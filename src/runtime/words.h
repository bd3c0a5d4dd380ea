/* runtime/words.h — a line as words, the way a shell splits it: blanks, '...', "...", \x. Nothing is expanded.
 * Runs in: main, supervisor. Pure functions. */
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* A NULL-terminated list, for words_free(). What is wrong with the line is *ret_wrong, else NULL: e is of memory. */
[[nodiscard]] int words_split(const char *line, size_t max, char ***ret, const char **ret_wrong,
                              struct err *e);
void words_free(char **words);
/* Appends the word so that it is read back as itself. */
[[nodiscard]] int words_quote(const char *word, struct buf *b, struct err *e);
