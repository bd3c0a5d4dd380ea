/* cli/manual/completion.h — scripts that make shells complete command lines of belljar, from the
 * tables of the commands. Runs in: main. */
#pragma once

#include "base/err.h"

extern const char *const completion_shells[]; /* NULL-terminated */

/* Prints the script for a shell on stdout. */
[[nodiscard]] int completion_print(const char *shell, struct err *e);
