/* api/approvals/shell_line.h — a line of bash that is one simple command, as words. Runs in: keeper.
 * Pure functions.
 *
 * Invariant
 * SHELL-1 A line that is accepted starts one command, whose words are exactly the ones returned:
 *         bash would neither expand a word nor start anything else. When in doubt the line is
 *         refused. */
#pragma once

#include <stddef.h>

#include "base/err.h"

/* *ret_words: NULL-terminated, at least one; free it with strv_free(). ERR_BAD_REQUEST says why the
 * text is not such a line. */
[[nodiscard]] int shell_line_words(const char *text, size_t n, char ***ret_words, struct err *e);
