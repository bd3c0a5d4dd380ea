/* api/execute/workspace.h — the directory of a caller of /execute. It is packed into a jar before a
 * run, and updated with the changes after it.
 * Runs in: keeper, in a thread of libuv's pool, because every function here waits for the disk.
 *
 * Invariants
 * WORKSPACE-1 No file outside the directory is read, written or removed, for any content of the
 *             directory and any names of a guest: names are checked and walked one part at a time,
 *             and no symbolic link is followed.
 * WORKSPACE-2 Only files that the run changed are written, and only files that it was given and
 *             deleted are removed. So overlapping runs keep each other's other files; of a file
 *             that both wrote, the later version stays.
 * WORKSPACE-3 A file is always complete, old or new: the new one is written beside it and renamed.
 * WORKSPACE-4 The directory always fits into the jar of the next run, even if runs overlap: no run
 *             can fill it so that later runs are refused.
 * WORKSPACE-5 A key has a directory of its own, named after its id. No program of another key gets
 *             a file of it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { WORKSPACE_HASH_BYTES = 32, WORKSPACE_DEPTH_MAX = 32 };

/* A file, or a directory without a file, that a run was given. */
struct workspace_file {
    char *name;
    uint32_t mode; /* with S_IFDIR for a directory */
    uint8_t hash[WORKSPACE_HASH_BYTES];
    bool seen; /* the run returned it */
};
struct workspace_list {
    struct workspace_file *files; /* sorted by name */
    size_t n, max;
    uint64_t bytes;
    uint64_t max_bytes; /* that the directory may keep; 0: as much as was packed at most */
};
void workspace_list_done(struct workspace_list *l);

/* Opens the directory of a key below the directory of /execute, and makes it (0750) if it is
 * missing. name NULL: the directory of callers without a key, which is the top. */
[[nodiscard]] int workspace_open(int top_fd, const char *name, int *ret_fd, struct err *e);

/* Adds every regular file, and every directory without one, to the bundle, except one with the name
 * of the program. ERR_TOO_LARGE if
 * the files exceed max_bytes or the bounds of a bundle. Symbolic links and devices are skipped. */
[[nodiscard]] int workspace_pack(int dir_fd, const char *program, uint64_t max_bytes,
                                 struct buf *bundle, struct workspace_list *given, struct err *e);

/* Updates the directory with the files of a run. may_remove: the list of files is complete. If a
 * file cannot be written, it becomes a line in `problems` and the others are still written. */
[[nodiscard]] int workspace_update(int dir_fd, const char *program, const struct buf *files,
                                   bool may_remove, struct workspace_list *given,
                                   struct buf *problems, struct err *e);
