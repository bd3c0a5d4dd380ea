#include "base/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/descend.h"
#include "base/text.h"

enum { FUSE_MAGIC = 0x65735546, CONFIGFS = 0x62656570, MQUEUE = 0x19800202, BINFMT = 0x42494e4d };

/* Not files of a project: their content is state of the kernel or of a program, which can also let a
 * reader wait for ever. */
static const struct {
    unsigned long magic;
    const char *name;
} refused[] = {
    { PROC_SUPER_MAGIC, "proc" },       { SYSFS_MAGIC, "sysfs" },
    { CGROUP_SUPER_MAGIC, "cgroup" },   { CGROUP2_SUPER_MAGIC, "cgroup2" },
    { DEBUGFS_MAGIC, "debugfs" },       { TRACEFS_MAGIC, "tracefs" },
    { SECURITYFS_MAGIC, "securityfs" }, { BPF_FS_MAGIC, "bpf" },
    { DEVPTS_SUPER_MAGIC, "devpts" },   { NSFS_MAGIC, "nsfs" },
    { AUTOFS_SUPER_MAGIC, "autofs" },   { FUSE_MAGIC, "fuse" },
    { CONFIGFS, "configfs" },           { MQUEUE, "mqueue" },
    { BINFMT, "binfmt_misc" },
};

static int check_kind(int fd, const char *quoted, struct err *e)
{
    struct statfs fs;
    if (fstatfs(fd, &fs) < 0)
        return err_set(e, ERR_KERNEL, errno, "look at '%s'", quoted);
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if ((unsigned long)fs.f_type == refused[i].magic)
            return err_set(
                e, ERR_BAD_REQUEST, 0,
                "'%s' is on the file system '%s', which is not mounted: name a directory "
                "of files",
                quoted, refused[i].name);
    return 0;
}

static int explain(int error, const char *quoted, struct err *e)
{
    switch (error) {
    case ELOOP:
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' leads through a symbolic link: name the directory itself", quoted);
    case ENOTDIR:
        return err_set(e, ERR_BAD_REQUEST, 0, "'%s' is not a directory", quoted);
    case EXDEV:
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' leads out of its root, or to another file system: name a directory "
                       "beneath the root",
                       quoted);
    case ENOENT:
        return err_set(e, ERR_BAD_REQUEST, 0, "there is no directory '%s'", quoted);
    case EACCES:
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the directory '%s' may not be opened: its readers need the right to it",
                       quoted);
    default:
        return err_set(e, ERR_KERNEL, error, "open the directory '%s'", quoted);
    }
}

int directory_open(int at_fd, const char *path, uint64_t resolve, const char *shown, int *ret_fd,
                   struct err *e)
{
    char quoted[96];
    (void)text_quote(shown, quoted, sizeof quoted);
    autoclose int fd = descend_open(at_fd, path, O_PATH | O_DIRECTORY, resolve);
    if (fd < 0)
        return explain(errno, quoted, e);
    if (check_kind(fd, quoted, e))
        return -1;
    *ret_fd = fd_take(&fd);
    return 0;
}

int directory_path(int fd, char *out, size_t size, struct err *e)
{
    char link[48];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, out, size - 1);
    if (n <= 0 || (size_t)n >= size - 1 || out[0] != '/')
        return err_set(e, ERR_KERNEL, n < 0 ? errno : ENAMETOOLONG, "find the path of a directory");
    out[n] = '\0';
    if (strcmp(out, "/") == 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'/' is not mounted as a whole: name a directory below it");
    return 0;
}
