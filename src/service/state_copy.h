/* service/state_copy.h — copies of files of a state directory. Runs in: commands.
 * The bytes are copied and never interpreted. No symbolic link is followed; only regular files and
 * directories are copied. A copy belongs to this process, and nobody else can read it. */
#pragma once

#include <stdint.h>

#include "base/err.h"

struct copied {
    uint64_t files, bytes;
};

/* Copies from_dir/name to a new file to_dir/name, on the disk. ERR_NOT_FOUND: there is no such file. */
[[nodiscard]] int copy_file(int from_dir, const char *name, int to_dir, struct copied *sum,
                            struct err *e);
/* Copies everything below the directory from_dir/name to a new directory to_dir/name. A file that
 * goes meanwhile is left out. ERR_NOT_FOUND: there is no such directory. */
[[nodiscard]] int copy_tree(int from_dir, const char *name, int to_dir, struct copied *sum,
                            struct err *e);
