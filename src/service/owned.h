/* service/owned.h — files of the keeper, for a supervisor without rights over the files of others.
 * Runs in: supervisor, and commands that make a state directory.
 *
 * The unit of systemd leaves root neither CAP_CHOWN nor CAP_DAC_OVERRIDE nor CAP_FOWNER. The supervisor
 * may become the keeper, so it makes and opens the keeper's files with the keeper's uid for files.
 *
 * Invariants
 * OWNED-1 That uid holds for single system calls, never for a name that comes from the keeper. */
#pragma once

#include <sys/types.h>

#include "base/err.h"

/* Makes a directory of this owner in a directory of ours. 1 if the name exists. The name is shown in
 * errors. */
[[nodiscard]] int owned_make(int dir_fd, const char *name, mode_t mode, uid_t owner, struct err *e);

/* Opens a directory for reading, with the rights of its owner where ours are not enough. `flags` may
 * have O_NOFOLLOW. -1 with errno. */
[[nodiscard]] int owned_open_dir(int dir_fd, const char *name, int flags);
/* fchmod(2) by the owner. */
[[nodiscard]] int owned_chmod(int fd, mode_t mode);
