#include "session/cell_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/err.h"
#include "base/log.h"

static const char magic[8] = "bjcell1";

/* In the byte order of the machine: the file does not leave it. */
struct record_head {
    uint32_t kind;
    uint32_t len; /* OPEN: bytes are being spliced; they reach to the end of the file */
    uint64_t time_us;
};
enum { OPEN = UINT32_MAX, RECORD_MAX = 64 << 10 };

void cell_file_done(struct cell_file *f)
{
    fd_close(&f->fd);
    f->at = 0;
}

/* The next keeper then loses the cell, and says so, in place of a part of its output. */
static void give_up(struct cell_file *f, int error)
{
    struct err e;
    (void)!err_set(&e, ERR_KERNEL, error, "write the journal of a cell");
    log_error(LOG_WARN, "session.journal", &e);
    if (ftruncate(f->fd, 0) < 0)
        log_error(LOG_ERROR, "session.journal", &e);
    cell_file_done(f);
}

static bool put(struct cell_file *f, uint64_t at, const void *bytes, size_t n)
{
    ssize_t got = pwrite(f->fd, bytes, n, (off_t)at);
    if (got == (ssize_t)n)
        return true;
    give_up(f, got < 0 ? errno : ENOSPC);
    return false;
}

void cell_file_begin(struct cell_file *f, struct cell_file_head *head)
{
    memcpy(head->magic, magic, sizeof magic);
    f->at = sizeof *head;
    if (f->fd < 0)
        return;
    if (ftruncate(f->fd, 0) < 0)
        give_up(f, errno);
    else
        (void)put(f, 0, head, sizeof *head);
}

void cell_file_set_awaits_input(struct cell_file *f, bool awaits)
{
    uint32_t value = awaits;
    if (f->fd >= 0)
        (void)put(f, offsetof(struct cell_file_head, awaits_input), &value, sizeof value);
}

void cell_file_add(struct cell_file *f, enum journal_kind kind, uint64_t time_us, const void *bytes,
                   size_t n)
{
    struct record_head head = { .kind = (uint32_t)kind, .len = (uint32_t)n, .time_us = time_us };
    struct iovec parts[] = { { &head, sizeof head }, { (void *)bytes, n } };
    if (f->fd < 0)
        return;
    ssize_t got = lseek(f->fd, (off_t)f->at, SEEK_SET) < 0 ? -1 : writev(f->fd, parts, 2);
    if (got != (ssize_t)(sizeof head + n))
        give_up(f, got < 0 ? errno : ENOSPC);
    else
        f->at += sizeof head + n;
}

ssize_t cell_file_splice(struct cell_file *f, enum journal_kind kind, uint64_t time_us, int pipe_fd,
                         char out[CELL_FILE_PIECE])
{
    struct record_head head = { .kind = (uint32_t)kind, .len = OPEN, .time_us = time_us };
    struct pollfd pipe = { .fd = pipe_fd, .events = POLLIN };
    off_t at = (off_t)(f->at + sizeof head);
    (void)poll(&pipe, 1, 0);
    if (!(pipe.revents & (POLLIN | POLLHUP))) { /* most often: no write to the file for nothing */
        errno = EAGAIN;
        return -1;
    }
    if (!put(f, f->at, &head, sizeof head)) {
        errno = ENOSPC;
        return -1;
    }
    ssize_t n = splice(pipe_fd, NULL, f->fd, &at, CELL_FILE_PIECE, SPLICE_F_NONBLOCK);
    if (n <= 0) {
        int why = errno;
        bool failed = n < 0 && why != EAGAIN && why != EINTR; /* then the pipe is read without us */
        if (ftruncate(f->fd, (off_t)f->at) < 0 || failed)
            give_up(f, why);
        errno = why;
        return n;
    }
    ssize_t got = pread(f->fd, out, (size_t)n, (off_t)(f->at + sizeof head));
    head.len = (uint32_t)n;
    if (put(f, f->at, &head, sizeof head))
        f->at += sizeof head + (size_t)n;
    return got;
}

void cell_file_cut(struct cell_file *f, size_t n, size_t kept)
{
    struct record_head head;
    uint64_t start = f->at - n - sizeof head;
    if (f->fd < 0)
        return;
    if (pread(f->fd, &head, sizeof head, (off_t)start) != (ssize_t)sizeof head) {
        give_up(f, errno);
        return;
    }
    head.len = (uint32_t)kept;
    f->at = kept ? f->at - n + kept : start;
    if (ftruncate(f->fd, (off_t)f->at) < 0)
        give_up(f, errno);
    else if (kept)
        (void)put(f, start, &head, sizeof head);
}

int cell_file_read_head(struct cell_file *f, struct cell_file_head *ret)
{
    if (pread(f->fd, ret, sizeof *ret, 0) != (ssize_t)sizeof *ret ||
        memcmp(ret->magic, magic, sizeof magic) != 0 || ret->number == 0)
        return 0;
    ret->run[sizeof ret->run - 1] = '\0';
    ret->actor[sizeof ret->actor - 1] = '\0';
    ret->requester[sizeof ret->requester - 1] = '\0';
    f->at = sizeof *ret;
    return 1;
}

/* The bytes after the head of a record, or -1 if it is not whole. */
static int64_t length_of(const struct cell_file *f, const struct record_head *head)
{
    struct stat st;
    if (fstat(f->fd, &st) < 0)
        return -1;
    int64_t left = st.st_size - (int64_t)(f->at + sizeof *head);
    int64_t len = head->len == OPEN ? left : (int64_t)head->len;
    bool is_whole = head->kind < JOURNAL_KINDS && len > 0 && len <= left && len <= RECORD_MAX;
    return is_whole ? len : -1;
}

int cell_file_next(struct cell_file *f, struct journal_record *ret)
{
    struct record_head head;
    struct err e;
    if (pread(f->fd, &head, sizeof head, (off_t)f->at) != (ssize_t)sizeof head)
        return 0;
    int64_t len = length_of(f, &head);
    ret->bytes.len = 0;
    if (len < 0 || buf_reserve(&ret->bytes, (size_t)len, &e) ||
        pread(f->fd, ret->bytes.data, (size_t)len, (off_t)(f->at + sizeof head)) != len) {
        if (ftruncate(f->fd, (off_t)f->at) < 0) /* a part of a record, which comes again */
            give_up(f, errno);
        return 0;
    }
    if (head.len == OPEN) { /* it is whole now */
        head.len = (uint32_t)len;
        (void)put(f, f->at, &head, sizeof head);
    }
    ret->bytes.len = (size_t)len;
    ret->kind = (enum journal_kind)head.kind;
    ret->time_us = head.time_us;
    f->at += sizeof head + (uint64_t)len;
    return 1;
}
