/* tests/unit/lib/peer.h — the other end of a wire, and one who lies on it. */
#pragma once

#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/auto.h"
#include "check.h"
#include "wire/wire.h"

struct pair {
    int a, b;
};

[[maybe_unused]] static void pair_done(struct pair *p)
{
    fd_close(&p->a);
    fd_close(&p->b);
}

[[maybe_unused]] static struct pair pair_new(void)
{
    int fds[2] = { -1, -1 };
    struct err e = { 0 };
    CHECK_INT(wire_pair(fds, &e), 0);
    return (struct pair){ fds[0], fds[1] };
}

/* The beginning of every message. */
struct peer_head {
    uint32_t version, type, len;
};

enum { PEER_FDS_MAX = 253 }; /* the kernel's limit */

/* Any bytes with any number of descriptors (of the socket itself). */
[[maybe_unused]] static bool peer_send(int fd, const void *bytes, size_t n, size_t n_fds)
{
    struct iovec iov = { (void *)bytes, n };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * PEER_FDS_MAX)];
    } control = { 0 };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
    if (n_fds > 0) {
        msg.msg_control = control.bytes;
        msg.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
        for (size_t i = 0; i < n_fds; i++)
            memcpy(CMSG_DATA(c) + i * sizeof(int), &fd, sizeof fd);
    }
    return CHECK(sendmsg(fd, &msg, MSG_NOSIGNAL) == (ssize_t)n);
}
