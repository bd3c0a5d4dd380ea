/* Messages as datagrams with descriptors. Runs in: keeper, warden, supervisor. */
#include "wire/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/auto.h"
#include "base/fdio.h"

static const struct {
    const char *name;
    int fds;
} types[] = {
#define X(id, name_, fds_) [id] = { name_, fds_ },
    WIRE_TABLE(X)
#undef X
};

struct wire_head {
    uint32_t version;
    uint32_t type;
    uint32_t len;
};

union fd_control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int) * WIRE_MAX_FDS)];
};

int wire_pair(int ret_fds[2], struct err *e)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a socket pair");
    ret_fds[0] = fds[0];
    ret_fds[1] = fds[1];
    return 0;
}

void wire_message_done(struct wire_message *m)
{
    for (int i = 0; i < WIRE_MAX_FDS; i++)
        fd_close(&m->fds[i]);
}

int wire_send(int fd, enum wire_type type, const struct packer *body, const char *bytes,
              const int *fds, struct err *e)
{
    if (body->failed)
        return err_set(e, ERR_TOO_LARGE, 0, "a %s message is larger than %d bytes",
                       types[type].name, WIRE_MAX_BYTES);
    size_t len = (size_t)(body->at - bytes);
    struct wire_head head = { .version = WIRE_VERSION,
                              .type = (uint32_t)type,
                              .len = (uint32_t)len };
    struct iovec iov[2] = { { &head, sizeof head }, { (void *)bytes, len } };
    if (fd_send(fd, iov, 2, fds, (size_t)types[type].fds, 0) < 0)
        return err_set(e, errno == EPIPE || errno == ECONNRESET ? ERR_UNAVAILABLE : ERR_KERNEL,
                       errno, "send a %s message", types[type].name);
    return 0;
}

/* Takes every descriptor of every control message, so that no message can make one leak. */
static int collect_fds(struct msghdr *msg, struct wire_message *m)
{
    int n = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (n < WIRE_MAX_FDS)
                m->fds[n] = fd;
            else
                fd_close(&fd);
            n++;
        }
    }
    return n;
}

int wire_receive(int fd, struct wire_message *m, struct err *e)
{
    struct wire_head head;
    struct iovec iov[2] = { { &head, sizeof head }, { m->bytes, sizeof m->bytes } };
    union fd_control control;
    struct msghdr msg = { .msg_iov = iov,
                          .msg_iovlen = 2,
                          .msg_control = control.bytes,
                          .msg_controllen = sizeof control.bytes };
    for (int i = 0; i < WIRE_MAX_FDS; i++)
        m->fds[i] = -1;
    ssize_t got;
    do {
        got = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == ECONNRESET ? 0 : err_set(e, ERR_KERNEL, errno, "receive a message");
    int n_fds = collect_fds(&msg, m);
    if (got == 0 && n_fds == 0)
        return 0;
    m->len = (uint32_t)got - (uint32_t)sizeof head;
    if ((size_t)got < sizeof head || head.version != WIRE_VERSION ||
        head.type >= WIRE_TYPE_COUNT_ || head.len != m->len ||
        (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || n_fds != types[head.type].fds) {
        wire_message_done(m);
        return err_set(e, ERR_PROTOCOL, 0, "the peer sent a message of another version or form");
    }
    m->type = (enum wire_type)head.type;
    return 1;
}
