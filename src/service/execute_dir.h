/* service/execute_dir.h — the directory of /execute. Runs in: supervisor. */
#pragma once

#include <sys/types.h>

#include "base/err.h"

/* Opens `path` as a directory in which the uid `keeper` can write. Missing parts are created, the
 * last one for the keeper alone (0750). An empty directory of ours is given to the keeper, and so is
 * one whose keeper is gone. Any other directory that the keeper cannot write is refused, with the
 * command that makes it usable. */
[[nodiscard]] int execute_dir_open(const char *path, uid_t keeper, int *ret_fd, struct err *e);
