/* jar/mount_ops.h — mounts by descriptor: nothing is attached by a path that could change. Runs in:
 * warden, and the init of a jar. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct mount_option {
    const char *key, *value;
};

/* A new file system that is not attached: invisible until mount_attach(). */
[[nodiscard]] int mount_new(const char *type, const struct mount_option *options, size_t n,
                            unsigned attributes, int *ret_fd, struct err *e);
[[nodiscard]] int mount_attach(int mount_fd, int at_fd, const char *path, struct err *e);
/* Follows no symbolic link. */
[[nodiscard]] int mount_open_plain(int at_fd, const char *path, int *ret_fd, struct err *e);
/* A detached copy of the tree of mounts at an open directory; at a path. */
[[nodiscard]] int mount_copy_opened(int fd, const char *what, int *ret_fd, struct err *e);
[[nodiscard]] int mount_copy(int at_fd, const char *path, int *ret_fd, struct err *e);
/* Sets attributes of a whole tree of mounts. */
[[nodiscard]] int mount_seal(int mount_fd, uint64_t attributes, const char *what, struct err *e);
