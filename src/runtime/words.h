/* runtime/words.h — splits a line into words as a shell does: blanks, '...', "...", \x. Nothing is
 * expanded. Runs in: main, supervisor. Pure functions. */
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Returns a NULL-terminated list for strv_free(). If the line itself is not accepted,
 * *ret_expected describes an accepted word; otherwise it is NULL and e reports missing memory. */
[[nodiscard]] int words_split(const char *line, size_t max, char ***ret, const char **ret_expected,
                              struct err *e);
/* Appends the word, quoted so that it is read back unchanged. */
[[nodiscard]] int words_quote(const char *word, struct buf *b, struct err *e);
