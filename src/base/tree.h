/* base/tree.h — removal of directory trees that a guest shaped. Runs in: a collector, or
 * the warden if that failed (level `process` only; the others drop a whole file system instead). */
#pragma once

#include "base/err.h"

/* Removes dir_fd/name and everything below. Follows no symbolic link, and uses a constant number of
 * descriptors at any depth. Names and modes do not matter. A missing tree is success. */
[[nodiscard]] int tree_remove(int dir_fd, const char *name, struct err *e);
