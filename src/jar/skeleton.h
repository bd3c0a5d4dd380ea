/* jar/skeleton.h — the directories, links and small files every root begins with.
 * Runs in: warden (template), the jar's init (writable root). */
#pragma once

#include "base/err.h"

/* Builds it in the empty directory dst_fd; links such as /bin -> usr/bin are taken from src_root_fd. */
[[nodiscard]] int skeleton_build(int src_root_fd, int dst_fd, struct err *e);

/* Directories of the host that appear read-only inside, relative to the root; NULL-terminated. Those that the
 * host lacks, or has as symbolic links, are not bound. */
extern const char *const skeleton_binds[];
