#include "base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"

int fd_write_all(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n > 0) {
        ssize_t w = write(fd, p, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0)
            return -1;
        p += w;
        n -= (size_t)w;
    }
    return 0;
}

ssize_t fd_read_full(int fd, void *bytes, size_t n)
{
    size_t got = 0;
    while (got < n) {
        ssize_t r = read(fd, (char *)bytes + got, n - got);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -1;
        if (r == 0)
            break;
        got += (size_t)r;
    }
    return (ssize_t)got;
}

int fd_copy(int from, int to)
{
    enum { PIECE = 1 << 30 };
    off_t at = 0;
    for (;;) {
        ssize_t n = sendfile(to, from, &at, PIECE);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -1;
    }
}

int fd_write_file(int dir_fd, const char *path, const char *text, struct err *e)
{
    autoclose int fd = openat(dir_fd, path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "open %s", path);
    size_t n = strlen(text);
    ssize_t w = write(fd, text, n);
    if (w < 0)
        return err_set(e, ERR_KERNEL, errno, "write '%s' to %s", text, path);
    if ((size_t)w != n)
        return err_set(e, ERR_KERNEL, 0, "write '%s' to %s: only %zd bytes taken", text, path, w);
    return 0;
}

ssize_t fd_read_file(int dir_fd, const char *path, char *out, size_t size)
{
    autoclose int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = fd_read_full(fd, out, size - 1);
    if (n >= 0)
        out[n] = '\0';
    return n;
}

int fd_read_to_buf(int fd, size_t max, struct buf *b, struct err *e)
{
    size_t start = b->len;
    for (;;) {
        size_t room = 1 << 16;
        if (buf_reserve(b, room, e))
            return -1;
        ssize_t r = read(fd, b->data + b->len, room);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return err_set(e, ERR_KERNEL, errno, "read");
        if (r == 0)
            break;
        b->len += (size_t)r;
        b->data[b->len] = '\0';
        if (b->len - start > max)
            return err_set(e, ERR_TOO_LARGE, 0, "more than %zu bytes", max);
    }
    return 0;
}

int fd_keep_only(const int *fds, size_t n, struct err *e)
{
    /* Closes the gaps between kept descriptors, from the lowest to the highest. n is small, so a
     * new search for each gap is cheap. */
    for (int from = 3;;) {
        int next = -1;
        for (size_t i = 0; i < n; i++)
            if (fds[i] >= from && (next < 0 || fds[i] < next))
                next = fds[i];
        if (next != from && close_range((unsigned)from, next < 0 ? ~0U : (unsigned)next - 1, 0) < 0)
            return err_set(e, ERR_KERNEL, errno, "close descriptors");
        if (next < 0)
            return 0;
        from = next + 1;
    }
}

int fd_pipe(int ret_fds[2], struct err *e)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a pipe");
    ret_fds[0] = fds[0];
    ret_fds[1] = fds[1];
    return 0;
}

int fd_set_nonblock(int fd, struct err *e)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (!(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0))
        return err_set(e, ERR_KERNEL, errno, "make a descriptor non-blocking");
    return 0;
}

int fd_sealed_memory(const char *name, const struct buf *b, int *ret_fd, struct err *e)
{
    autoclose int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "make an anonymous file");
    if (fd_write_all(fd, b->data, b->len) || lseek(fd, 0, SEEK_SET) < 0)
        return err_set(e, ERR_KERNEL, errno, "fill an anonymous file");
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
        return err_set(e, ERR_KERNEL, errno, "seal an anonymous file");
    *ret_fd = fd_take(&fd);
    return 0;
}

ssize_t fd_send(int fd, struct iovec *parts, size_t n_parts, const int *fds, size_t n_fds,
                int flags)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(FD_SEND_MAX * sizeof(int))];
    } control = { 0 };
    struct msghdr msg = { .msg_iov = parts, .msg_iovlen = n_parts };
    if (n_fds > FD_SEND_MAX) {
        errno = EINVAL;
        return -1;
    }
    if (n_fds > 0) {
        msg.msg_control = &control;
        msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        struct cmsghdr *head = CMSG_FIRSTHDR(&msg);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        memcpy(CMSG_DATA(head), fds, n_fds * sizeof(int));
    }
    ssize_t n;
    do
        n = sendmsg(fd, &msg, flags | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n;
}
