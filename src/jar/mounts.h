/* jar/mounts.h — directories of the host that a jar shows read-only, at /mnt/NAME (spec/mount.h).
 * Runs in: warden, once (the roots); the jar's init (the mounts of a job). Never logs.
 *
 * Theory of operation. The warden keeps a copy of each root in its almost empty mount namespace, at
 * /roots/N. The mount namespace of a new jar begins as a copy of that. Its init opens the directory
 * beneath the root and makes an overlay file system of two layers: the directory, and above it a small
 * tmpfs with a whiteout for every file that looks like a secret. The roots stay behind with the old
 * root of the namespace.
 *
 * Invariants
 * MOUNTS-1 The directory is opened beneath its root, through no symbolic link and into no other
 *          mount, by a process that has the uid of the jar: a guest reads a file only if its mode
 *          lets that uid read it.
 * MOUNTS-2 A mount is read-only, nosuid and nodev; with a list of commands also noexec. Landlock allows
 *          no write beneath /mnt either.
 * MOUNTS-3 A socket or FIFO of the directory leads nowhere: the overlay has inodes of its own, so it is
 *          not the socket or FIFO that a process of the host has.
 * MOUNTS-4 A directory with another mount beneath it is refused.
 * MOUNTS-5 Files that look like secrets when the job starts have no name in the jar, unless the job
 *          asks for them. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "spec/mount.h"

struct mounts_roots {
    int fds[MOUNT_ROOTS_MAX]; /* 0: there is no root of this number */
};
/* While the files of the host are visible. A root that cannot be opened is left out: a job that names
 * it fails, and no other. paths NULL: none. */
void mounts_open_roots(struct mounts_roots *r, char *const *paths);
/* In the directory that becomes the root of the warden. */
[[nodiscard]] int mounts_attach_roots(const struct mounts_roots *r, struct err *e);
void mounts_roots_done(struct mounts_roots *r);

struct mounts_request {
    char *const *roots; /* their paths */
    char *const *list;  /* of the job; NULL: none */
};
/* In the jar's init, which stands in the new root, before it leaves the old one. */
[[nodiscard]] int mounts_show(const struct mounts_request *q, bool noexec, struct err *e);

/* Whether the name of a file, or the end of its path, looks like a secret. */
bool mounts_is_secret(const char *path);
