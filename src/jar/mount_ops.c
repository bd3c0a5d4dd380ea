#include "jar/mount_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/descend.h"

/* A new file system that is not attached: invisible until move_mount. */
int mount_new(const char *type, const struct mount_option *options, size_t n, unsigned attributes,
              int *ret_fd, struct err *e)
{
    autoclose int fs = fsopen(type, FSOPEN_CLOEXEC);
    if (fs < 0)
        return err_set(e, ERR_KERNEL, errno, "open the file system %s", type);
    for (size_t i = 0; i < n; i++)
        if (fsconfig(fs, FSCONFIG_SET_STRING, options[i].key, options[i].value, 0) < 0)
            return err_set(e, ERR_KERNEL, errno, "set %s=%s on %s", options[i].key,
                           options[i].value, type);
    if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a file system %s", type);
    int fd = fsmount(fs, FSMOUNT_CLOEXEC, attributes);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "mount a file system %s", type);
    *ret_fd = fd;
    return 0;
}

int mount_attach(int mount_fd, int at_fd, const char *path, struct err *e)
{
    if (move_mount(mount_fd, "", at_fd, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return err_set(e, ERR_KERNEL, errno, "attach a mount at %s", path);
    return 0;
}

/* Follows no symbolic link. */
int mount_open_plain(int at_fd, const char *path, int *ret_fd, struct err *e)
{
    int fd = descend_open(at_fd, path, O_PATH, 0);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "open %s", path);
    *ret_fd = fd;
    return 0;
}

/* A detached copy of the tree at an open directory. */
int mount_copy_opened(int fd, const char *what, int *ret_fd, struct err *e)
{
    int tree = open_tree(fd, "",
                         OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
    if (tree < 0)
        return err_set(e, ERR_KERNEL, errno, "copy the mounts at %s", what);
    *ret_fd = tree;
    return 0;
}

int mount_copy(int at_fd, const char *path, int *ret_fd, struct err *e)
{
    autoclose int fd = -1;
    return mount_open_plain(at_fd, path, &fd, e) || mount_copy_opened(fd, path, ret_fd, e) ? -1 : 0;
}

int mount_seal(int mount_fd, uint64_t attributes, const char *what, struct err *e)
{
    struct mount_attr attr = { .attr_set = attributes };
    if (mount_setattr(mount_fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr) < 0)
        return err_set(e, ERR_KERNEL, errno, "make %s read-only", what);
    return 0;
}
