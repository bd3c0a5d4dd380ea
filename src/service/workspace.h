/* service/workspace.h — the directory that the programs of /execute share. Runs in: supervisor. */
#pragma once

#include <sys/types.h>

#include "base/err.h"

/* Opens `path`; made for `keeper` when it is missing. The owner is told, since one that was
 * there before stays whose it is, and the keeper may not be able to write there. */
[[nodiscard]] int workspace_open(const char *path, uid_t keeper, int *ret_fd, uid_t *ret_owner,
                                 struct err *e);
