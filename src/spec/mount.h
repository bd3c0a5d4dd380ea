/* spec/mount.h — a directory of the host that a jar shows read-only, at /mnt/NAME. Pure.
 * Runs in: main and keeper, which ask; warden, which checks again; init, which mounts.
 *
 * MOUNT-1 A mount is beneath a root that the warden got at its start, from the operator, or from the
 *         caller of a command. Its path has no ".." and no empty part. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { MOUNTS_MAX = 8, MOUNT_ROOTS_MAX = 16, MOUNT_NAME_MAX = 64, MOUNT_STRINGS = 3 };
#define MOUNT_PLACE "/mnt"

struct mount_view {
    unsigned root;    /* number of the root */
    bool secrets;     /* files that look like secrets are shown, too */
    const char *from; /* absolute path of the host */
    const char *name; /* in MOUNT_PLACE */
};

/* A job has its mounts as a list of strings, MOUNT_STRINGS for each. Adds one to a list on the
 * heap. */
[[nodiscard]] int mount_add(char ***list, const struct mount_view *m, struct err *e);
size_t mount_count(char *const *list); /* NULL: none */
/* The i-th mount, whose texts belong to the list. */
[[nodiscard]] int mount_at(char *const *list, size_t i, struct mount_view *ret, struct err *e);
/* Checks the whole list, against the number of roots. */
[[nodiscard]] int mounts_check(char *const *list, size_t n_roots, struct err *e);

[[nodiscard]] int mount_name_check(const char *name, struct err *e);
/* An absolute path below "/", without "." and "..", an empty part or a slash at its end. */
[[nodiscard]] int mount_path_check(const char *path, struct err *e);
/* The rest of the path behind the root: "" for the root itself; NULL: it is not beneath. */
const char *mount_beneath(const char *root, const char *path);
/* The innermost root that the path is beneath. roots NULL: there is none. False: beneath none. */
bool mount_find_root(char *const *roots, const char *path, unsigned *ret);
