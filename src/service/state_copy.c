#include "service/state_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"

/* A guest decides how deep the directory of /execute is; each level holds two descriptors. */
enum { DEPTH_MAX = 64 };

static int failed(struct err *e, const char *what, const char *name)
{
    bool missing = errno == ENOENT;
    return err_set(e, missing ? ERR_NOT_FOUND : ERR_KERNEL, errno, "%s '%s'", what, QUOTED(name));
}

/* O_NONBLOCK: a fifo in the place of a file is not waited for. */
int copy_file(int from_dir, const char *name, int to_dir, struct copied *sum, struct err *e)
{
    struct stat st;
    autoclose int from = openat(from_dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (from < 0 || fstat(from, &st) < 0)
        return failed(e, "open", name);
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_CONFLICT, 0, "'%s' is not a regular file", QUOTED(name));
    autoclose int to = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                              0600);
    if (to < 0 || fd_copy(from, to) || fchmod(to, (st.st_mode & 0700) | 0400) < 0 || fsync(to) < 0)
        return err_set(e, ERR_KERNEL, errno, "write a copy of '%s'", QUOTED(name));
    sum->files++;
    sum->bytes += (uint64_t)st.st_size;
    return 0;
}

static int copy_below(int from_dir, const char *name, int to_dir, struct copied *sum,
                      unsigned depth, struct err *e);

static int copy_entry(int from_dir, const char *name, int to_dir, struct copied *sum,
                      unsigned depth, struct err *e)
{
    struct stat st;
    int rc = 0;
    if (fstatat(from_dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        rc = failed(e, "look at", name);
    else if (S_ISDIR(st.st_mode))
        rc = copy_below(from_dir, name, to_dir, sum, depth + 1, e);
    else if (S_ISREG(st.st_mode))
        rc = copy_file(from_dir, name, to_dir, sum, e);
    return rc && e->code == ERR_NOT_FOUND ? 0 : rc; /* it went meanwhile */
}

static int copy_below(int from_dir, const char *name, int to_dir, struct copied *sum,
                      unsigned depth, struct err *e)
{
    if (depth > DEPTH_MAX)
        return err_set(e, ERR_TOO_LARGE, 0, "'%s' is more than %d directories deep", QUOTED(name),
                       DEPTH_MAX);
    int fd = openat(from_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    autodir DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        (void)failed(e, "open the directory", name);
        fd_close(&fd);
        return -1;
    }
    if (mkdirat(to_dir, name, 0700) < 0)
        return err_set(e, ERR_KERNEL, errno, "make the directory '%s'", QUOTED(name));
    autoclose int to = openat(to_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (to < 0)
        return err_set(e, ERR_KERNEL, errno, "open the directory '%s'", QUOTED(name));
    int rc = 0;
    for (struct dirent *at; rc == 0 && (at = readdir(d));)
        if (strcmp(at->d_name, ".") != 0 && strcmp(at->d_name, "..") != 0)
            rc = copy_entry(dirfd(d), at->d_name, to, sum, depth, e);
    return rc || fsync(to) == 0
               ? rc
               : err_set(e, ERR_KERNEL, errno, "write the directory '%s'", QUOTED(name));
}

int copy_tree(int from_dir, const char *name, int to_dir, struct copied *sum, struct err *e)
{
    return copy_below(from_dir, name, to_dir, sum, 0, e);
}
