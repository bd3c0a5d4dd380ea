/* jar/skeleton.h — the directories, links and small files of every root.
 * Runs in: warden (model root), the jar's init (writable root). */
#pragma once

#include <stddef.h>

#include "base/err.h"

/* Builds it in the empty directory dst_fd; links such as /bin -> usr/bin are taken from
 * src_root_fd. */
[[nodiscard]] int skeleton_build(int src_root_fd, int dst_fd, struct err *e);

/* Directories of the host that appear read-only inside. */
enum { SKELETON_BINDS_MAX = 32, SKELETON_PATH_SIZE = 64 };
struct skeleton_binds {
    char paths[SKELETON_BINDS_MAX][SKELETON_PATH_SIZE]; /* relative to the root */
    size_t n;
};
/* The ones that are directories of this root, not symbolic links. */
void skeleton_find_binds(int root_fd, struct skeleton_binds *ret);
