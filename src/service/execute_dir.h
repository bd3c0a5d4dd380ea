/* service/execute_dir.h — the directory that the programs of /execute share. Runs in:
 * supervisor. */
#pragma once

#include <sys/types.h>

#include "base/err.h"

/* Opens `path`; creates it for `keeper` if it is missing. An existing directory keeps its owner,
 * and the keeper may not be able to write there, so *ret_owner reports the owner. */
[[nodiscard]] int execute_dir_open(const char *path, uid_t keeper, int *ret_fd, uid_t *ret_owner,
                                   struct err *e);
