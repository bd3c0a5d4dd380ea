/* A tree may be 100,000 levels deep, so neither recursion nor path names can be used. Instead the
 * tree is flattened: each subdirectory found is renamed to the top under a number, until every
 * directory at the top holds only files. Every directory is visited once. */
#include "base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"

struct flatten {
    int top_fd;
    unsigned long next; /* number for the next directory moved to the top */
};

/* A directory without r, w and x for us can neither be listed, emptied nor moved. */
static void make_accessible(int parent_fd, const char *name)
{
    struct stat st;
    if (fstatat(parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode) ||
        (st.st_mode & 0700) == 0700)
        return;
    autoclose int fd = openat(parent_fd, name, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
    char self[40];
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    if (fd >= 0)
        (void)chmod(self, 0700);
}

/* Under the next number that is free: an earlier removal may have been interrupted. */
static int move_to_top(struct flatten *f, int parent_fd, const char *name)
{
    for (;;) {
        char number[24];
        (void)snprintf(number, sizeof number, "%lu", f->next++);
        if (renameat2(parent_fd, name, f->top_fd, number, RENAME_NOREPLACE) == 0)
            return 0;
        if (errno != EEXIST)
            return -1;
    }
}

static int empty_one(struct flatten *f, int parent_fd, const char *name, struct err *e)
{
    make_accessible(parent_fd, name);
    int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "open a directory to remove");
    autodir DIR *d = fdopendir(fd);
    if (!d) {
        int saved = errno;
        (void)close(fd);
        return err_set(e, ERR_KERNEL, saved, "list a directory to remove");
    }
    for (struct dirent *entry; (entry = readdir(d));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, entry->d_name, 0) == 0)
            continue;
        if (errno != EISDIR && errno != EPERM)
            return err_set(e, ERR_KERNEL, errno, "remove a file");
        make_accessible(fd, entry->d_name);
        if (unlinkat(fd, entry->d_name, AT_REMOVEDIR) == 0)
            continue;
        if (move_to_top(f, fd, entry->d_name) < 0)
            return err_set(e, ERR_KERNEL, errno, "move a directory to be removed");
    }
    return 0;
}

/* The name of any entry of the directory; false when it is empty. */
static bool first_entry(int dir_fd, char *out, size_t size)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    autodir DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d)
        fd_close(&fd);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            (void)snprintf(out, size, "%s", entry->d_name);
            return true;
        }
    }
    return false;
}

int tree_remove(int dir_fd, const char *name, struct err *e)
{
    char attic[80], entry[256];
    if (unlinkat(dir_fd, name, 0) == 0) /* no tree at all, but a file or a link */
        return 0;
    /* A sibling directory collects the numbered ones: the tree itself may hold names that are
     * numbers. */
    (void)snprintf(attic, sizeof attic, "%.60s.removing", name);
    if (mkdirat(dir_fd, attic, 0700) < 0 && errno != EEXIST)
        return err_set(e, ERR_KERNEL, errno, "make %s", attic);
    autoclose int top = openat(dir_fd, attic, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (top < 0)
        return err_set(e, ERR_KERNEL, errno, "open %s", attic);
    struct flatten f = { .top_fd = top };
    make_accessible(dir_fd, name);
    if (move_to_top(&f, dir_fd, name) < 0 && errno != ENOENT)
        return err_set(e, ERR_KERNEL, errno, "move %s", name);
    while (first_entry(top, entry, sizeof entry)) {
        if (empty_one(&f, top, entry, e))
            return err_wrap(e, "remove %s", name);
        if (unlinkat(top, entry, AT_REMOVEDIR) < 0)
            return err_set(e, ERR_KERNEL, errno, "remove %s: remove a directory", name);
    }
    if (unlinkat(dir_fd, attic, AT_REMOVEDIR) < 0)
        return err_set(e, ERR_KERNEL, errno, "remove %s", attic);
    return 0;
}
