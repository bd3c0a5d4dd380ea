#include "cli/repl/link.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "base/auto.h"
#include "base/fdio.h"

struct head {
    uint32_t type, len;
};

static int is_gone(int why, struct err *e)
{
    return err_set(e, ERR_UNAVAILABLE, why, "the process that talks to the service is gone");
}

int link_send_fd(int fd, enum link_type type, const void *bytes, size_t n, int passed,
                 struct err *e)
{
    struct head h = { type, (uint32_t)n };
    struct iovec head = { &h, sizeof h };
    if (n > LINK_MAX)
        return err_set(e, ERR_TOO_LARGE, 0, "%zu bytes are too many: up to %d are accepted", n,
                       LINK_MAX);
    if (fd_send(fd, &head, 1, &passed, passed >= 0, 0) != sizeof h ||
        (n && fd_write_all(fd, bytes, n)))
        return is_gone(errno, e);
    return 0;
}

int link_send(int fd, enum link_type type, const void *bytes, size_t n, struct err *e)
{
    return link_send_fd(fd, type, bytes, n, -1, e);
}

/* The head, and the descriptor that came with its first byte. False: the other side is gone. */
static bool receive_head(int fd, struct head *ret, int *ret_fd)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    struct iovec part = { ret, sizeof *ret };
    struct msghdr m = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control
    };
    ssize_t n;
    do
        n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return false;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(ret_fd, CMSG_DATA(c), sizeof(int));
    size_t rest = sizeof *ret - (size_t)n;
    return rest == 0 || fd_read_full(fd, (char *)ret + n, rest) == (ssize_t)rest;
}

int link_receive_fd(int fd, enum link_type *ret_type, struct buf *ret, int *ret_fd, struct err *e)
{
    struct head h = { 0 };
    autoclose int passed = -1;
    ret->len = 0;
    *ret_fd = -1;
    if (!receive_head(fd, &h, &passed) || h.type >= LINK_COUNT_ || h.len > LINK_MAX)
        return is_gone(0, e);
    if (buf_reserve(ret, (size_t)h.len + 1, e))
        return -1;
    if (fd_read_full(fd, ret->data, h.len) != (ssize_t)h.len)
        return is_gone(0, e);
    ret->len = h.len;
    ret->data[ret->len] = '\0';
    *ret_type = (enum link_type)h.type;
    *ret_fd = fd_take(&passed);
    return 0;
}

int link_receive(int fd, enum link_type *ret_type, struct buf *ret, struct err *e)
{
    autoclose int unexpected = -1;
    return link_receive_fd(fd, ret_type, ret, &unexpected, e);
}
