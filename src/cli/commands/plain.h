/* cli/commands/plain.h — texts of strangers on a terminal. Runs in: the command. Characters that
 * control the terminal, that nobody sees, or that change the order of a line are written as <U+202E>. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

[[nodiscard]] int plain_add(struct buf *b, const char *text, size_t n, struct err *e);
/* A column of a table: blanks follow up to the width, and at least one if it has a width. NULL: "-". */
[[nodiscard]] int plain_add_column(struct buf *b, const char *text, int width, struct err *e);
/* Each line of a text with its number. */
[[nodiscard]] int plain_add_line(struct buf *b, size_t number, const char *line, size_t n,
                                 struct err *e);
