/* cli/verify/operands.h — the files that `belljar verify` is given: names, patterns and
 * directories. Runs in: main. */
#pragma once

#include "cli/verify/check.h"

/* Adds the checks of a file, of the files that a pattern names, or of the Markdown files below a
 * directory. A file that cannot be read is an error. */
[[nodiscard]] int operand_read(struct checks *all, const char *operand, struct err *e);

/* HOST:NAME of each regular file below the current directory, for a command that needs all of them.
 * Names that begin with a dot, node_modules and __pycache__ are left out if they are directories.
 * Links are left out. */
[[nodiscard]] int operand_files_here(char ***ret, struct err *e);
