#include "jar/live_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/descend.h"
#include "base/fdio.h"
#include "spec/bundle.h"

enum { PENDING_MAX = 4 << 20 }; /* bytes of the names of directories that are still to list */

struct work {
    int top_fd, body_fd, out_fd;
    const char *path;
    uint64_t sent;                /* bytes of the payload */
    struct live_file_record last; /* without its size */
    bool broken;                  /* the reader is gone */
};

/* O_NONBLOCK: a FIFO must not block the open; fstat tells it from a file. The kernel accepts it not
 * with O_PATH, which opens nothing. */
static int open_beneath(int dir_fd, const char *path, int flags)
{
    int calm = flags & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY;
    return descend_open(dir_fd, path, O_NOFOLLOW | calm | flags, RESOLVE_BENEATH | RESOLVE_NO_XDEV);
}

static enum live_file_status status_of(int error)
{
    static const struct {
        int error;
        enum live_file_status status;
    } rows[] = {
        { ENOENT, LIVE_MISSING },      { ENOTDIR, LIVE_NOT_DIRECTORY },
        { ELOOP, LIVE_NOT_A_FILE },    { ENXIO, LIVE_NOT_A_FILE },
        { EXDEV, LIVE_NOT_A_FILE },    { EISDIR, LIVE_IS_DIRECTORY },
        { ENOTEMPTY, LIVE_NOT_EMPTY }, { EEXIST, LIVE_NOT_EMPTY },
        { ENOSPC, LIVE_NO_DISK },      { EDQUOT, LIVE_NO_DISK },
        { ENOMEM, LIVE_NO_MEMORY },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].error == error)
            return rows[i].status;
    return LIVE_REFUSED;
}

static bool send_bytes(struct work *w, const void *bytes, size_t n)
{
    if (!w->broken && fd_write_all(w->out_fd, bytes, n))
        w->broken = true;
    w->sent += n;
    return !w->broken;
}

static int64_t mtime_ms(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
}

/* ---- one file ---- */

/* Up to the size that it has now: a file that grows does not make the answer grow, and of one that
 * shrinks the rest is missing. */
static enum live_file_status read_file(struct work *w)
{
    char block[1 << 16];
    struct stat st;
    autoclose int fd = open_beneath(w->top_fd, w->path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) < 0)
        return status_of(errno);
    if (!S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? LIVE_IS_DIRECTORY : LIVE_NOT_A_FILE;
    if (st.st_size > LIVE_FILE_BYTES_MAX)
        return LIVE_TOO_LARGE;
    for (size_t left = (size_t)st.st_size; left > 0;) {
        ssize_t n = fd_read_full(fd, block, left < sizeof block ? left : sizeof block);
        if (n <= 0)
            break;
        if (!send_bytes(w, block, (size_t)n))
            break;
        left -= (size_t)n;
    }
    w->last.mode = st.st_mode;
    w->last.mtime_ms = mtime_ms(&st);
    return LIVE_DONE;
}

/* The directory that holds the file, and the last part of the path. With `make`, directories that
 * are missing are made. -1 with errno set. */
static int open_parent(struct work *w, bool make, const char **ret_name)
{
    char part[BUNDLE_PART_MAX + 1];
    const char *at = w->path, *slash;
    autoclose int dir = open_beneath(w->top_fd, ".", O_PATH | O_DIRECTORY);
    while (dir >= 0 && (slash = strchr(at, '/'))) {
        (void)snprintf(part, sizeof part, "%.*s", (int)(slash - at), at);
        if (make && mkdirat(dir, part, 0755) < 0 && errno != EEXIST)
            return -1;
        int next = open_beneath(dir, part, O_PATH | O_DIRECTORY);
        int error = errno;
        fd_close(&dir);
        errno = error;
        dir = next;
        at = slash + 1;
    }
    *ret_name = at;
    return fd_take(&dir);
}

static int copy_body(struct work *w, int fd)
{
    char block[1 << 16];
    off_t at = 0;
    for (;;) {
        ssize_t n = pread(w->body_fd, block, sizeof block, at);
        if (n <= 0)
            return n < 0 ? -1 : 0;
        if (fd_write_all(fd, block, (size_t)n))
            return -1;
        at += n;
    }
}

/* The kernel has one error for two limits. A file system without a limit of files says 0 of 0. */
static enum live_file_status status_of_change(const struct work *w, int error)
{
    struct statvfs fs;
    bool no_files = error == ENOSPC && fstatvfs(w->top_fd, &fs) == 0 && fs.f_files > 0 &&
                    fs.f_ffree == 0;
    return no_files ? LIVE_NO_FILES : status_of(error);
}

/* Gives a file without a name the name of another one, or a new name. */
static int put_in_place(int fd, int dir_fd, const char *name)
{
    char temporary[64], self[64];
    uint64_t random = 0; /* a guest guesses no name, and learns no pid of the host */
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return -1;
    (void)snprintf(temporary, sizeof temporary, ".belljar-write-%016" PRIx64, random);
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, self, dir_fd, temporary, AT_SYMLINK_FOLLOW) < 0)
        return -1;
    if (renameat(dir_fd, temporary, dir_fd, name) == 0)
        return 0;
    int error = errno;
    (void)unlinkat(dir_fd, temporary, 0);
    errno = error;
    return -1;
}

/* A new file takes the place of the old one as a whole: a program never reads half of it, and
 * without room the old one stays. It has no name before: if memory runs out and the kernel kills the
 * clerk, the bytes are freed with it. */
static enum live_file_status write_file(struct work *w)
{
    const char *name;
    struct stat st = { .st_mode = S_IFREG | 0644 };
    autoclose int dir = open_parent(w, true, &name);
    if (dir < 0)
        return status_of_change(w, errno);
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? LIVE_IS_DIRECTORY : LIVE_NOT_A_FILE;
    autoclose int fd = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0 || copy_body(w, fd) || fchmod(fd, st.st_mode & 0777) < 0 ||
        put_in_place(fd, dir, name))
        return status_of_change(w, errno);
    return LIVE_DONE;
}

/* A symbolic link is removed, not followed. A directory must be empty. */
static enum live_file_status remove_file(struct work *w)
{
    const char *name;
    autoclose int dir = open_parent(w, false, &name);
    if (dir < 0)
        return status_of(errno);
    if (unlinkat(dir, name, 0) == 0)
        return LIVE_DONE;
    bool is_directory = errno == EISDIR || errno == EPERM;
    return is_directory && unlinkat(dir, name, AT_REMOVEDIR) == 0 ? LIVE_DONE : status_of(errno);
}

/* ---- the list ---- */

struct listing {
    struct buf pending; /* paths of directories, each with its NUL; "" is the first */
    size_t at;          /* of the current one */
    unsigned listed;
    bool cut;
};

static void listing_done(struct listing *l)
{
    buf_done(&l->pending);
}

/* One file more was found than a list may have. */
static bool is_full(const struct listing *l)
{
    return l->cut && l->listed == LIVE_FILES_LISTED_MAX;
}

static void list_entry(struct work *w, struct listing *l, int dir_fd, const char *parent,
                       const char *name)
{
    char full[BUNDLE_NAME_MAX + BUNDLE_PART_MAX + 2];
    struct stat st;
    struct err ignored;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return; /* it was removed meanwhile */
    int n = snprintf(full, sizeof full, "%s%s%s", parent, parent[0] ? "/" : "", name);
    if (n > BUNDLE_NAME_MAX || l->listed == LIVE_FILES_LISTED_MAX) {
        l->cut = true;
        return;
    }
    struct live_file_record r = { .name_len = (uint32_t)n,
                                  .mode = st.st_mode,
                                  .size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0,
                                  .mtime_ms = mtime_ms(&st) };
    l->listed++;
    if (!send_bytes(w, &r, sizeof r) || !send_bytes(w, full, (size_t)n))
        return;
    if (S_ISDIR(st.st_mode) && (l->pending.len - l->at > PENDING_MAX ||
                                buf_add(&l->pending, full, (size_t)n + 1, &ignored)))
        l->cut = true;
}

/* Every directory is opened by its path from the top: one descriptor at any depth. */
static int list_directory(struct work *w, struct listing *l, const char *path)
{
    int fd = open_beneath(w->top_fd, path[0] ? path : ".", O_RDONLY | O_DIRECTORY);
    autodir DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        int error = errno;
        fd_close(&fd);
        errno = error;
        return -1;
    }
    for (const struct dirent *entry; !w->broken && !is_full(l) && (entry = readdir(d));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            list_entry(w, l, fd, path, entry->d_name);
    return 0;
}

static enum live_file_status list_files(struct work *w)
{
    char path[BUNDLE_NAME_MAX + 1];
    struct err ignored;
    scoped(listing) l = { 0 };
    if (buf_add(&l.pending, w->path, strlen(w->path) + 1, &ignored))
        return LIVE_NO_MEMORY;
    while (l.at < l.pending.len && !w->broken && !is_full(&l)) {
        /* A copy: the list of directories grows, and moves, meanwhile. */
        l.at += (size_t)snprintf(path, sizeof path, "%s", l.pending.data + l.at) + 1;
        if (list_directory(w, &l, path) && strcmp(path, w->path) == 0)
            return errno == ENOTDIR ? LIVE_NOT_DIRECTORY : status_of(errno);
    }
    return l.cut ? LIVE_CUT : LIVE_DONE;
}

static int send_last(struct work *w, struct err *e)
{
    w->last.is_last = 1;
    w->last.size = w->sent;
    if (!send_bytes(w, &w->last, sizeof w->last))
        return err_set(e, ERR_KERNEL, errno, "send an answer about files");
    return 0;
}

int live_files_refuse(enum live_file_status status, int out_fd, struct err *e)
{
    struct work w = { .out_fd = out_fd, .last.status = (uint16_t)status };
    return send_last(&w, e);
}

int live_files_do(int dir_fd, enum live_file_operation operation, const char *path, int body_fd,
                  int out_fd, struct err *e)
{
    static enum live_file_status (*const operations[])(struct work *) = {
        [LIVE_LIST] = list_files,
        [LIVE_READ] = read_file,
        [LIVE_WRITE] = write_file,
        [LIVE_REMOVE] = remove_file,
    };
    struct work w = { .top_fd = dir_fd, .body_fd = body_fd, .out_fd = out_fd, .path = path };
    w.last.status = (uint16_t)operations[operation](&w);
    return send_last(&w, e);
}
