/* cli/run/run_mounts.h — --mount of `belljar run` and `belljar repl`: directories of the caller, opened
 * with the rights of the caller. Runs in: main. */
#pragma once

#include "cli/run/run_arguments.h"

/* DIR[:NAME]: adds the path of the directory, and its name in /mnt. */
[[nodiscard]] int run_mount_read(const struct arg_row *row, const char *value, char ***dirs,
                                 char ***names, struct err *e);
int run_mounts_add(void *arguments, const struct arg_row *row, const char *value, struct err *e);
/* After all options. */
[[nodiscard]] int run_mounts_check(struct run_arguments *o, struct err *e);
