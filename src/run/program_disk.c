#include "run/program_disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/id.h"

enum { BLOCK = 4096 };
/* The name of an unfinished file begins so, and an id follows. Its writer holds a lock on it. */
#define UNFINISHED ".new_"

void program_disk_init(struct program_disk *d, int dir_fd, uint64_t max_bytes)
{
    *d = (struct program_disk){ .dir_fd = dir_fd, .max = max_bytes };
    (void)pthread_mutex_init(&d->lock, NULL);
}

void program_disk_done(struct program_disk *d)
{
    fd_close(&d->dir_fd);
    (void)pthread_mutex_destroy(&d->lock);
}

/* ---- reading ---- */

/* A user who can write to a file can also make its hash fit. */
static bool is_ours(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
           (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

int program_disk_open(const struct program_disk *d, const char *key)
{
    autoclose int fd = openat(d->dir_fd, key, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || !is_ours(fd))
        return -1;
    (void)futimens(fd, NULL);
    return fd_take(&fd);
}

bool program_disk_load(struct program_disk *d, const char *key, struct program_file *ret)
{
    autoclose int fd = program_disk_open(d, key);
    if (fd < 0 || program_file_read(fd, key, ret))
        return fd >= 0;
    (void)unlinkat(d->dir_fd, key, 0);
    return false;
}

void program_disk_touch(struct program_disk *d, const char *key)
{
    (void)utimensat(d->dir_fd, key, NULL, AT_SYMLINK_NOFOLLOW);
}

/* ---- removing ---- */

struct disk_entry {
    struct timespec used;
    uint64_t bytes;
    char key[PROGRAM_KEY_SIZE];
};

static int oldest_first(const void *a, const void *b)
{
    const struct disk_entry *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

/* The space that a file takes: at least one block. */
static uint64_t space_of(uint64_t bytes)
{
    return (bytes / BLOCK + 1) * BLOCK;
}

static bool is_key(const char *name)
{
    return strlen(name) == PROGRAM_KEY_SIZE - 1 &&
           strspn(name, "0123456789abcdef") == PROGRAM_KEY_SIZE - 1;
}

/* A writer holds a lock on its file, which the kernel drops with the process. A writer whose file
 * is removed before it has the lock does not keep that program; that is harmless. */
static void remove_unfinished(int dir_fd, const char *name)
{
    autoclose int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        (void)unlinkat(dir_fd, name, 0);
}

/* Files with other names are not ours: they are neither counted nor removed. */
static uint64_t list_programs(struct program_disk *d, struct buf *list)
{
    uint64_t all = 0;
    struct err e;
    int fd = openat(d->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    autodir DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir)
        fd_close(&fd);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        struct disk_entry f = { 0 };
        struct stat st;
        if (strncmp(entry->d_name, UNFINISHED, sizeof UNFINISHED - 1) == 0)
            remove_unfinished(fd, entry->d_name);
        if (!is_key(entry->d_name) || fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        f.used = st.st_mtim;
        f.bytes = space_of((uint64_t)st.st_size);
        memcpy(f.key, entry->d_name, sizeof f.key);
        all += f.bytes;
        (void)!buf_add(list, &f, sizeof f, &e);
    }
    return all;
}

/* The caller has the lock. Trims to 9/10 of the maximum, so that not every new program has to list
 * the directory. */
static void trim(struct program_disk *d)
{
    scoped(buf) list = { 0 };
    if (d->counted && d->used <= d->max)
        return;
    d->used = list_programs(d, &list);
    d->counted = true;
    if (d->used <= d->max || list.len == 0)
        return;
    size_t n = list.len / sizeof(struct disk_entry);
    struct disk_entry *all = (struct disk_entry *)(void *)list.data;
    qsort(all, n, sizeof *all, oldest_first);
    for (size_t i = 0; i < n && d->used > d->max / 10 * 9; i++)
        if (unlinkat(d->dir_fd, all[i].key, 0) == 0 || errno == ENOENT) /* another process did it */
            d->used -= all[i].bytes;
}

void program_disk_trim(struct program_disk *d)
{
    (void)pthread_mutex_lock(&d->lock);
    trim(d);
    (void)pthread_mutex_unlock(&d->lock);
}

/* ---- writing ---- */

/* The file gets its name when it is complete. It is not flushed: if the machine crashes, the hash
 * detects a damaged file. */
static int write_file(struct program_disk *d, const char *key, const struct buf *b, struct err *e)
{
    char id[ID_SIZE], name[sizeof UNFINISHED + ID_SIZE];
    id_make("", id);
    (void)snprintf(name, sizeof name, UNFINISHED "%s", id);
    autoclose int fd = openat(d->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                              0600);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "write a compiled program to the cache");
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fd_write_all(fd, b->data, b->len) == 0 &&
        renameat(d->dir_fd, name, d->dir_fd, key) == 0)
        return 0;
    int why = errno;
    (void)unlinkat(d->dir_fd, name, 0);
    return err_set(e, ERR_KERNEL, why, "write a compiled program to the cache");
}

static int store(struct program_disk *d, const char *key, const struct buf *bytes, struct err *e)
{
    (void)pthread_mutex_lock(&d->lock);
    int rc = 0;
    /* A program larger than the maximum would drive out all others. */
    if (space_of(bytes->len) <= d->max) {
        rc = write_file(d, key, bytes, e);
        d->used += rc == 0 ? space_of(bytes->len) : 0;
    }
    trim(d);
    (void)pthread_mutex_unlock(&d->lock);
    return rc;
}

int program_disk_put(struct program_disk *d, const char *key, const struct buf *bytes,
                     struct err *e)
{
    if (!program_file_is_complete(bytes, key))
        return err_set(e, ERR_PROTOCOL, 0, "a compiled program is not complete");
    return store(d, key, bytes, e);
}

int program_disk_keep(struct program_disk *d, const char *key, const struct program_file *f,
                      struct err *e)
{
    scoped(buf) bytes = { 0 };
    return program_file_encode(f, key, &bytes, e) || store(d, key, &bytes, e) ? -1 : 0;
}
