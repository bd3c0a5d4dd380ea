#include "service/hand_over.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"

/* A guest decides how deep the directory of /execute is; each level holds two descriptors. */
enum { DEPTH_MAX = 64 };

struct walk {
    uid_t from, to;
    dev_t device;
    size_t left;
};

static int hand_over_below(struct walk *w, int dir_fd, unsigned depth, struct err *e);

static int give(const struct walk *w, int fd, struct err *e)
{
    if (fchownat(fd, "", w->to, w->to, AT_EMPTY_PATH) < 0)
        return err_set(e, ERR_KERNEL, errno, "give a file to uid %u", w->to);
    return 0;
}

/* `fd` names the inode itself, so that nobody can put another file in its place between the look and
 * the change. */
static int hand_over_entry(struct walk *w, int fd, unsigned depth, struct err *e)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "look at a file");
    bool is_dir = S_ISDIR(st.st_mode);
    bool theirs = st.st_uid == w->from || st.st_uid == w->to;
    if (!theirs || st.st_dev != w->device || (!is_dir && st.st_nlink != 1) || depth > DEPTH_MAX) {
        w->left++;
        return 0;
    }
    if (is_dir) {
        autoclose int dir_fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir_fd < 0)
            return err_set(e, ERR_KERNEL, errno, "open a directory");
        if (hand_over_below(w, dir_fd, depth, e))
            return -1;
    }
    return st.st_uid == w->to ? 0 : give(w, fd, e);
}

static int hand_over_below(struct walk *w, int dir_fd, unsigned depth, struct err *e)
{
    autoclose int copy = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    if (!dir)
        return err_set(e, ERR_KERNEL, errno, "read a directory");
    (void)fd_take(&copy); /* closedir() closes it */
    int rc = 0;
    for (struct dirent *d; rc == 0 && (d = readdir(dir));) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        autoclose int fd = openat(dirfd(dir), d->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0)
            rc = hand_over_entry(w, fd, depth + 1, e);
        else if (errno != ENOENT)
            rc = err_set(e, ERR_KERNEL, errno, "open a file");
    }
    (void)closedir(dir);
    return rc;
}

int hand_over(int dir_fd, uid_t from, uid_t to, size_t *ret_left, struct err *e)
{
    struct stat st;
    if (fstat(dir_fd, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "look at a directory");
    struct walk w = { .from = from, .to = to, .device = st.st_dev };
    if (hand_over_below(&w, dir_fd, 0, e) || give(&w, dir_fd, e))
        return -1;
    *ret_left = w.left;
    return 0;
}
