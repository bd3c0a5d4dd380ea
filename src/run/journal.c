#include "run/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"

/* Goes before the bytes of each record. In the byte order of the machine: a journal does not leave
 * it. */
struct record_head {
    uint32_t kind;
    uint32_t len;
    uint64_t time_us;
};

/* No record is larger, so a damaged journal cannot make a reader allocate more. */
enum { RECORD_MAX = 1 << 20 };

void journal_init(struct journal *j, int dir_fd)
{
    *j = (struct journal){ .fd = -1, .dir_fd = dir_fd };
}

void journal_done(struct journal *j)
{
    buf_done(&j->memory);
    fd_close(&j->fd);
}

static int write_at_end(struct journal *j, const void *bytes, size_t n, struct err *e)
{
    if (fd_write_all(j->fd, bytes, n))
        return err_set(e, ERR_KERNEL, errno, "write the output of a run");
    return 0;
}

/* Moves the journal from memory to a file without a name. */
static int move_to_file(struct journal *j, struct err *e)
{
    autoclose int fd = openat(j->dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "make a file for the output of a run");
    if (fd_write_all(fd, j->memory.data, j->memory.len))
        return err_set(e, ERR_KERNEL, errno, "write the output of a run");
    j->fd = fd_take(&fd);
    buf_done(&j->memory);
    return 0;
}

int journal_add(struct journal *j, enum journal_kind kind, uint64_t time_us, const void *bytes,
                size_t n, struct err *e)
{
    struct record_head head = { .kind = (uint32_t)kind, .len = (uint32_t)n, .time_us = time_us };
    if (n > RECORD_MAX)
        return err_set(e, ERR_TOO_LARGE, 0, "a record of %zu bytes is too large for the journal",
                       n);
    if (j->fd < 0 && j->memory.len + sizeof head + n > JOURNAL_MEMORY && move_to_file(j, e))
        return -1;
    if (j->fd < 0) {
        if (buf_reserve(&j->memory, sizeof head + n, e) ||
            buf_add(&j->memory, &head, sizeof head, e) || buf_add(&j->memory, bytes, n, e))
            return -1;
    } else if (write_at_end(j, &head, sizeof head, e) || write_at_end(j, bytes, n, e)) {
        return -1;
    }
    j->bytes += sizeof head + n;
    j->records++;
    j->stream_bytes[kind] += n;
    return 0;
}

static int read_at(const struct journal *j, uint64_t at, void *out, size_t n, struct err *e)
{
    if (at + n > j->bytes)
        return err_set(e, ERR_PROTOCOL, 0, "a journal ends in the middle of a record");
    if (j->fd < 0) {
        memcpy(out, j->memory.data + at, n);
        return 0;
    }
    ssize_t got = pread(j->fd, out, n, (off_t)at);
    if (got != (ssize_t)n)
        return err_set(e, ERR_KERNEL, got < 0 ? errno : EIO, "read the output of a run");
    return 0;
}

int journal_next(const struct journal *j, struct journal_reader *at, struct journal_record *r,
                 bool *ret_more, struct err *e)
{
    struct record_head head;
    if (at->at >= j->bytes) {
        *ret_more = false;
        return 0;
    }
    if (read_at(j, at->at, &head, sizeof head, e))
        return -1;
    if (head.kind >= JOURNAL_KINDS || head.len > RECORD_MAX)
        return err_set(e, ERR_PROTOCOL, 0, "a journal holds an invalid record");
    r->bytes.len = 0;
    if (buf_reserve(&r->bytes, head.len, e) ||
        read_at(j, at->at + sizeof head, r->bytes.data, head.len, e))
        return -1;
    r->bytes.len = head.len;
    r->bytes.data[head.len] = '\0';
    r->kind = (enum journal_kind)head.kind;
    r->time_us = head.time_us;
    r->number = ++at->number;
    at->at += sizeof head + head.len;
    *ret_more = true;
    return 0;
}

int journal_collect(const struct journal *j, enum journal_kind kind, uint64_t max, struct buf *b,
                    struct err *e)
{
    struct journal_reader at = { 0 };
    struct journal_record r = { 0 };
    bool more = true;
    uint64_t left = max;
    int rc = 0;
    while (left > 0 && (rc = journal_next(j, &at, &r, &more, e)) == 0 && more) {
        size_t n = r.bytes.len < left ? r.bytes.len : (size_t)left;
        if (r.kind != kind)
            continue;
        rc = buf_add(b, r.bytes.data, n, e);
        if (rc)
            break;
        left -= n;
    }
    buf_done(&r.bytes);
    return rc;
}

/* Appends the part of a record that lies in [from, to) of its stream. The record begins at byte
 * `at`. */
static int add_range(struct buf *b, const struct buf *bytes, uint64_t at, uint64_t from,
                     uint64_t to, struct err *e)
{
    uint64_t end = at + bytes->len;
    uint64_t lo = at > from ? at : from, hi = end < to ? end : to;
    return lo < hi ? buf_add(b, bytes->data + (lo - at), (size_t)(hi - lo), e) : 0;
}

int journal_both_ends(const struct journal *j, enum journal_kind kind, uint64_t max, struct buf *b,
                      struct err *e)
{
    uint64_t all = j->stream_bytes[kind], half = max / 2, seen = 0;
    if (all <= max)
        return journal_collect(j, kind, max, b, e);
    struct journal_reader at = { 0 };
    struct journal_record r = { 0 };
    bool more = true, cut = false;
    int rc = 0;
    while (rc == 0 && (rc = journal_next(j, &at, &r, &more, e)) == 0 && more) {
        if (r.kind != kind)
            continue;
        rc = add_range(b, &r.bytes, seen, 0, half, e);
        seen += r.bytes.len;
        if (rc == 0 && !cut && seen >= half) {
            cut = true;
            rc = buf_add(b, "\n", 1, e);
        }
        if (rc == 0)
            rc = add_range(b, &r.bytes, seen - r.bytes.len, all - half, all, e);
    }
    buf_done(&r.bytes);
    return rc;
}

int journal_keep(struct journal *j, const char *name, struct err *e)
{
    char self[64];
    if (j->fd < 0)
        return 0;
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", j->fd);
    if (linkat(AT_FDCWD, self, j->dir_fd, name, AT_SYMLINK_FOLLOW) < 0)
        return err_set(e, ERR_KERNEL, errno, "keep the output as %s", name);
    return 0;
}

/* Counts the records. A journal that a crash cut short ends with its last complete record. */
static int measure(struct journal *j, uint64_t size, struct err *e)
{
    struct record_head head;
    uint64_t at = 0;
    j->bytes = size;
    while (at + sizeof head <= size) {
        if (read_at(j, at, &head, sizeof head, e))
            return -1;
        if (head.kind >= JOURNAL_KINDS || head.len > RECORD_MAX ||
            at + sizeof head + head.len > size)
            break;
        at += sizeof head + head.len;
        j->records++;
        j->stream_bytes[head.kind] += head.len;
    }
    j->bytes = at;
    return 0;
}

int journal_open(struct journal *j, const struct buf *bytes, int dir_fd, const char *name,
                 struct err *e)
{
    struct stat st = { 0 };
    journal_init(j, dir_fd);
    if (bytes) {
        if (buf_add(&j->memory, bytes->data, bytes->len, e))
            return -1;
        return measure(j, bytes->len, e);
    }
    j->fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (j->fd < 0 || fstat(j->fd, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "open the output of %s", name);
    return measure(j, (uint64_t)st.st_size, e);
}
