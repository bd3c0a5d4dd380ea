#include "engine/programs_disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "spec/bundle.h"

enum { HASH_BYTES = 32, BLOCK = 4096, SAID_MAX = 64 << 10 };
#define FILE_MAX (BUNDLE_STREAM_MAX + (1ULL << 20))

/* In the machine's byte order: a cache does not leave it. The hash is over the key, and everything behind it. */
struct head {
    char magic[8];
    unsigned char hash[HASH_BYTES];
    uint64_t usage[4];
    uint64_t said[RUN_STREAMS], made; /* bytes, in this order */
    uint64_t cut[RUN_STREAMS];        /* more was said */
};
static const char magic[8] = { 'b', 'e', 'l', 'l', 'j', 'a', 'r', '1' };

void program_file_done(struct program_file *f)
{
    preparation_done(&f->how);
    buf_done(&f->made);
}

static void hash_of(unsigned char out[HASH_BYTES], const char *key, const char *bytes, size_t n)
{
    crypto_generichash_state h;
    size_t behind = offsetof(struct head, usage);
    (void)crypto_generichash_init(&h, NULL, 0, HASH_BYTES);
    (void)crypto_generichash_update(&h, (const unsigned char *)key, strlen(key));
    (void)crypto_generichash_update(&h, (const unsigned char *)bytes + behind, n - behind);
    (void)crypto_generichash_final(&h, out, HASH_BYTES);
}

/* ---- reading ---- */

static bool decode(const struct buf *b, const char *key, struct program_file *f)
{
    struct head head;
    unsigned char hash[HASH_BYTES];
    struct err e;
    if (b->len < sizeof head)
        return false;
    memcpy(&head, b->data, sizeof head);
    hash_of(hash, key, b->data, b->len);
    size_t left = b->len - sizeof head;
    if (memcmp(head.magic, magic, sizeof magic) != 0 || memcmp(hash, head.hash, sizeof hash) != 0 ||
        head.said[0] > left || head.said[1] > left - head.said[0] ||
        head.made != left - head.said[0] - head.said[1])
        return false;
    f->how = (struct preparation){ .kind = STAGE_COMPILE, .verdict = VERDICT_OK };
    f->how.usage = (struct usage){ head.usage[0], head.usage[1], head.usage[2], head.usage[3] };
    const char *at = b->data + sizeof head;
    for (int i = 0; i < RUN_STREAMS; i++) {
        if (buf_add(&f->how.said[i], at, head.said[i], &e))
            return false;
        f->how.truncated[i] = head.cut[i] != 0;
        at += head.said[i];
    }
    return buf_add(&f->made, at, head.made, &e) == 0;
}

bool programs_disk_load(struct programs_disk *d, const char *key, struct program_file *ret)
{
    auto(buf) bytes = { 0 };
    struct err e;
    autoclose int fd = openat(d->dir_fd, key, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fd_read_to_buf(fd, FILE_MAX, &bytes, &e) || !decode(&bytes, key, ret)) {
        program_file_done(ret);
        *ret = (struct program_file){ 0 };
        (void)unlinkat(d->dir_fd, key, 0);
        return false;
    }
    (void)futimens(fd, NULL);
    return true;
}

void programs_disk_touch(struct programs_disk *d, const char *key)
{
    (void)utimensat(d->dir_fd, key, NULL, AT_SYMLINK_NOFOLLOW);
}

/* ---- removing ---- */

struct found {
    struct timespec used;
    uint64_t bytes;
    char key[PROGRAM_KEY_SIZE];
};

static int oldest_first(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

/* What a file takes, at least a block. */
static uint64_t space(uint64_t bytes)
{
    return (bytes / BLOCK + 1) * BLOCK;
}

static uint64_t look_around(struct programs_disk *d, struct buf *list)
{
    uint64_t all = 0;
    struct err e;
    int fd = openat(d->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    autodir DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir)
        fd_close(&fd);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        struct found f = { 0 };
        struct stat st;
        if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof f.key ||
            fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        f.used = st.st_mtim;
        f.bytes = space((uint64_t)st.st_size);
        memcpy(f.key, entry->d_name, strlen(entry->d_name));
        all += f.bytes;
        (void)!buf_add(list, &f, sizeof f, &e);
    }
    return all;
}

/* With the lock. To a little less than the most, so that not every program that comes costs a look around. */
static void trim(struct programs_disk *d)
{
    auto(buf) list = { 0 };
    if (d->counted && d->used <= d->max)
        return;
    d->used = look_around(d, &list);
    d->counted = true;
    if (d->used <= d->max || list.len == 0)
        return;
    size_t n = list.len / sizeof(struct found);
    struct found *all = (struct found *)(void *)list.data;
    qsort(all, n, sizeof *all, oldest_first);
    for (size_t i = 0; i < n && d->used > d->max / 10 * 9; i++)
        if (unlinkat(d->dir_fd, all[i].key, 0) == 0)
            d->used -= all[i].bytes;
}

void programs_disk_trim(struct programs_disk *d)
{
    (void)pthread_mutex_lock(&d->lock);
    trim(d);
    (void)pthread_mutex_unlock(&d->lock);
}

/* ---- writing ---- */

static int encode(const struct program_file *f, const char *key, struct buf *b, struct err *e)
{
    const struct usage *u = &f->how.usage;
    struct head head = { .usage = { u->wall_us, u->cpu_us, u->memory_peak_bytes, u->pids_peak },
                         .made = f->made.len };
    memcpy(head.magic, magic, sizeof magic);
    for (int i = 0; i < RUN_STREAMS; i++) {
        head.said[i] = f->how.said[i].len < SAID_MAX ? f->how.said[i].len : SAID_MAX;
        head.cut[i] = f->how.truncated[i] || f->how.said[i].len > SAID_MAX;
    }
    if (buf_reserve(b, sizeof head + f->made.len + head.said[0] + head.said[1], e) ||
        buf_add(b, &head, sizeof head, e))
        return -1;
    for (int i = 0; i < RUN_STREAMS; i++)
        if (buf_add(b, f->how.said[i].data, head.said[i], e))
            return -1;
    if (buf_add(b, f->made.data, f->made.len, e))
        return -1;
    hash_of(head.hash, key, b->data, b->len);
    memcpy(b->data, &head, sizeof head);
    return 0;
}

/* Under its name only when all of it is there. */
static int write_file(struct programs_disk *d, const char *key, const struct buf *b, struct err *e)
{
    char self[64];
    autoclose int fd = openat(d->dir_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0 || fd_write_all(fd, b->data, b->len))
        return err_set(e, ERR_KERNEL, errno, "keep a compiled program");
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, self, d->dir_fd, key, AT_SYMLINK_FOLLOW) < 0 && errno != EEXIST)
        return err_set(e, ERR_KERNEL, errno, "keep a compiled program");
    return 0;
}

int programs_disk_keep(struct programs_disk *d, const char *key, const struct program_file *f,
                       struct err *e)
{
    auto(buf) bytes = { 0 };
    if (encode(f, key, &bytes, e))
        return -1;
    (void)pthread_mutex_lock(&d->lock);
    int rc = 0;
    if (space(bytes.len) <=
        d->max) { /* one that is larger than all may be would drive out the others */
        rc = write_file(d, key, &bytes, e);
        d->used += rc == 0 ? space(bytes.len) : 0;
    }
    trim(d);
    (void)pthread_mutex_unlock(&d->lock);
    return rc;
}
