/* base/descend.h — opening a file beneath a directory, through no symbolic link.
 * Runs in: warden, and its children that read the files of a guest.
 *
 * Invariants
 * DESCEND-1 openat2(2) and the steps that replace it refuse the same links, mounts and ways out. The
 *    steps also refuse every `..`. A kernel that cannot tell mounts apart is refused, not trusted. */
#pragma once

#include <stdint.h>

/* Like openat2(2) with RESOLVE_NO_SYMLINKS and RESOLVE_NO_MAGICLINKS, and of its other flags
 * RESOLVE_BENEATH and RESOLVE_NO_XDEV. `flags` are those of openat(2), and create nothing. A filter on
 * system calls cannot see the flags of openat2, so some (RestrictSUIDSGID= of systemd) answer it with
 * ENOSYS: then the path is walked in steps. -1 with errno. */
[[nodiscard]] int descend_open(int dir_fd, const char *path, int flags, uint64_t resolve);

/* The steps alone, for a test of both ways. */
[[nodiscard]] int descend_in_steps(int dir_fd, const char *path, int flags, uint64_t resolve);
