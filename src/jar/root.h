/* jar/root.h — the file systems a jar sees.
 * Runs in: warden, once (root_host_enter); the jar's init, once a jar (root_enter). Never logs.
 *
 * Theory of operation. The warden moves into a mount namespace of its own that holds very little:
 *     /proc      for the warden's pid namespace
 *     /scratch   an empty directory
 *     /jar       the model root: a read-only tmpfs with /usr bound into it, a small /etc and a small
 * /dev A new jar's mount namespace is a copy of that, so it costs little and no host mount is ever
 * in it. The jar's init puts a fresh tmpfs at /scratch, binds its parts over the model root's
 * /sandbox, /tmp and /dev/shm, mounts a /proc of its own, and pivots into /jar.
 *
 * Invariants
 * ROOT-1 Host directories are opened without following symbolic links and mounted from the
 *    descriptor.
 * ROOT-2 Every mount is nosuid. Every mount except the five device nodes and /dev/pts is nodev. Only
 *    scratch is writable. Directories of the host that a job names are shown by mounts.h.
 * ROOT-3 No mount point is a path that a guest could have shaped: all mounts exist before it runs.
 * ROOT-4 A jar has pseudo-terminals only if it is that of a session and the operator serves clients
 *    that need them (jar_host.terminals). They are in no other jar and not on the host, and their
 *    number is bounded: the kernel charges nobody for their buffers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "jar/mounts.h"

/* In a fresh mount and pid namespace: builds the model root and leaves the host's file systems
 * behind. mount_roots: directories of the host for mounts.h; NULL: none. */
[[nodiscard]] int root_host_enter(char *const *mount_roots, struct err *e);

/* In a mount namespace of a zygote's own: the model root becomes its root, with a /proc, and a /tmp
 * (*ret_tmp_fd) that only this zygote sees. */
[[nodiscard]] int root_zygote_enter(int *ret_tmp_fd, struct err *e);

/* A new tmpfs for one jar, owned by uid, not attached anywhere yet. Our own directories in it, and
 * those of a writable root, do not count against the guest. noexec: no file there can be executed
 * or mapped as code. */
[[nodiscard]] int root_scratch_new(uint64_t bytes, uint64_t inodes, bool writable_root, bool noexec,
                                   uint32_t uid, int *ret_fd, struct err *e);

/* A new tmpfs for files of ours that a jar shall see, not attached anywhere yet. */
[[nodiscard]] int root_small_new(uint64_t bytes, int *ret_fd, struct err *e);

/* Changes the size of a tmpfs in use. */
[[nodiscard]] int root_scratch_resize(int scratch_fd, uint64_t bytes, uint64_t inodes,
                                      struct err *e);

/* In the jar's namespaces, as its user, with all capabilities there: builds its root and enters
 * it. */
enum root_options {
    ROOT_WRITABLE = 1,
    ROOT_NOEXEC = 2,    /* /usr/share and /etc are only data, like scratch with noexec */
    ROOT_TERMINALS = 4, /* /dev/pts is a file system of its own, for TERMINALS_MAX terminals */
};
[[nodiscard]] int root_enter(int scratch_fd, unsigned options, const struct mounts_request *mounts,
                             struct err *e);
