/* api/execute/workspace.h — the directory that calls of /execute share: packed into a jar before a run, brought up to date after.
 * Runs in: keeper, in a thread of libuv's pool: everything here waits for the disk.
 *
 * Invariants
 * W1 Whatever the directory and the guest's names hold, nothing outside the directory is read, written or removed: names
 *    are checked, walked one part at a time, and no symbolic link is followed.
 * W2 Only what a run changed is written, only what it was given and did away with is removed: runs that overlap spoil
 *    nothing of each other's they did not touch; of a file that both wrote the later one stays.
 * W3 A file is there whole, old or new: it is written beside and renamed.
 * W4 What is written fits into the jar of the next run, whatever runs at the same time: no run can make the directory one
 *    that no run is given. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { WORKSPACE_HASH_BYTES = 32, WORKSPACE_DEPTH_MAX = 32 };

/* What a run was given. */
struct workspace_file {
    char *name;
    uint8_t hash[WORKSPACE_HASH_BYTES];
    bool seen; /* it came back */
};
struct workspace_list {
    struct workspace_file *files; /* sorted by name */
    size_t n, max;
    uint64_t bytes;
    uint64_t max_bytes; /* of the directory: what workspace_pack() was told */
};
void workspace_list_done(struct workspace_list *l);

/* Adds every regular file to the bundle, but one of the program's own name. More than max_bytes, or than a bundle holds, is
 * ERR_TOO_LARGE. Symbolic links and devices are passed over. */
[[nodiscard]] int workspace_pack(int dir_fd, const char *program, uint64_t max_bytes,
                                 struct buf *bundle, struct workspace_list *given, struct err *e);

/* Brings the directory up to date with the files that came back. may_remove: the list of them is known to be whole.
 * The rest is done also when one file cannot be; each such is a line in `problems`. */
[[nodiscard]] int workspace_update(int dir_fd, const char *program, const struct buf *files,
                                   bool may_remove, struct workspace_list *given,
                                   struct buf *problems, struct err *e);
