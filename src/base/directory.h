/* base/directory.h — directories of the host that a jar may show. Runs in: every process of ours. */
#pragma once

#include <stdint.h>

#include "base/err.h"

/* Opens a directory (O_PATH) through no symbolic link, and refuses file systems of the kernel and of
 * programs (proc, sysfs, cgroup, FUSE and the like). `resolve` has more flags of openat2(2). `shown`
 * is its name in errors. */
[[nodiscard]] int directory_open(int at_fd, const char *path, uint64_t resolve, const char *shown,
                                 int *ret_fd, struct err *e);
/* The path of an open directory, absolute and without links. Refuses "/". */
[[nodiscard]] int directory_path(int fd, char *out, size_t size, struct err *e);
