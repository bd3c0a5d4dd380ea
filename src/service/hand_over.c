#include "service/hand_over.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/caps.h"
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

static int hand_over_here(int dir_fd, uid_t from, uid_t to, size_t *ret_left, struct err *e)
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

/* ---- without the right to change owners ---- */

/* A process has every capability over the files of the uids in its own user namespace, and none over
 * others. So a child makes one with these two uids alone, which takes CAP_SETUID and CAP_SETGID. */

struct answer {
    int rc;
    size_t left;
    struct err err;
};

_Noreturn static void child_main(int dir_fd, uid_t from, uid_t to, int in_fd, int out_fd)
{
    struct answer a = { 0 };
    char go;
    int error = unshare(CLONE_NEWUSER) < 0 ? errno : 0;
    if (fd_write_all(out_fd, &error, sizeof error) || fd_read_full(in_fd, &go, 1) != 1)
        _exit(1);
    a.rc = hand_over_here(dir_fd, from, to, &a.left, &a.err);
    _exit(fd_write_all(out_fd, &a, sizeof a) ? 1 : 0);
}

static int map_ids(pid_t child, uid_t from, uid_t to, struct err *e)
{
    static const char *const files[] = { "setgroups", "uid_map", "gid_map" };
    char path[64], map[96];
    (void)snprintf(map, sizeof map, "%u %u 1\n%u %u 1\n", from, from, to, to);
    for (int i = 0; i < 3; i++) {
        (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)child, files[i]);
        if (fd_write_file(AT_FDCWD, path, i == 0 ? "deny" : map, e))
            return -1;
    }
    return 0;
}

/* Closes `to_child` in any case: a child that waits ends then. */
static int converse(pid_t child, int from_child, int *to_child, uid_t from, uid_t to,
                    struct answer *ret, struct err *e)
{
    int error = 0, rc = 0;
    if (fd_read_full(from_child, &error, sizeof error) != (ssize_t)sizeof error || error)
        rc = err_set(e, ERR_KERNEL, error, "make a user namespace to change owners in");
    if (rc == 0)
        rc = map_ids(child, from, to, e);
    if (rc == 0 && fd_write_all(*to_child, "", 1))
        rc = err_set(e, ERR_KERNEL, errno, "tell a child to go on");
    fd_close(to_child);
    if (rc == 0 && fd_read_full(from_child, ret, sizeof *ret) != (ssize_t)sizeof *ret)
        rc = err_set(e, ERR_KERNEL, 0, "a child that changes owners died");
    return rc;
}

static int hand_over_in_namespace(int dir_fd, uid_t from, uid_t to, size_t *ret_left, struct err *e)
{
    int ask[2], tell[2];
    struct answer a = { 0 };
    if (fd_pipe(ask, e))
        return -1;
    autoclose int in = ask[0], go = ask[1];
    if (fd_pipe(tell, e))
        return -1;
    autoclose int answers = tell[0], out = tell[1];
    pid_t child = fork();
    if (child < 0)
        return err_set(e, ERR_KERNEL, errno, "fork");
    if (child == 0) {
        fd_close(&go); /* otherwise we would wait for ourselves */
        child_main(dir_fd, from, to, in, out);
    }
    fd_close(&out);
    int rc = converse(child, answers, &go, from, to, &a, e);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    if (rc == 0 && a.rc) {
        a.err.text[sizeof a.err.text - 1] = '\0';
        *e = a.err;
    }
    *ret_left = a.left;
    return rc || a.rc ? -1 : 0;
}

int hand_over(int dir_fd, uid_t from, uid_t to, size_t *ret_left, struct err *e)
{
    /* Only CAP_SETFCAP puts root into such a namespace. */
    bool can = caps_has(CAP_CHOWN) || from == 0 || to == 0;
    return (can ? hand_over_here : hand_over_in_namespace)(dir_fd, from, to, ret_left, e);
}
