#include "service/lifeline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fdio.h"
#include "base/text.h"

/* The kernel noted who made the pair. As long as that process is our parent, its pid is its own. */
static int watch_owner(struct lifeline *l, struct err *e)
{
    struct ucred owner = { 0 };
    socklen_t size = sizeof owner;
    if (getsockopt(l->fd, SOL_SOCKET, SO_PEERCRED, &owner, &size) < 0)
        return err_set(e, ERR_USAGE, errno, "--lifeline %d", l->fd);
    l->owner_fd = (int)syscall(SYS_pidfd_open, owner.pid, 0);
    if (l->owner_fd < 0 && errno != ESRCH)
        return err_set(e, ERR_KERNEL, errno, "watch the process %d", (int)owner.pid);
    if (l->owner_fd < 0 || getppid() != owner.pid)
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "--lifeline %d: the process that made this socket is not the parent of the "
                       "service",
                       l->fd);
    return 0;
}

int lifeline_open(struct lifeline *l, const char *text, struct err *e)
{
    int type = 0;
    socklen_t size = sizeof type;
    char *end;
    long fd = strtol(text, &end, 10);
    if (end == text || *end || fd < 3 || fd > 1 << 20)
        return err_set(
            e, ERR_USAGE, 0,
            "--lifeline '%s' is not a descriptor: give the number, from 3, of an inherited "
            "unix socket",
            QUOTED(text));
    if (getsockopt((int)fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_STREAM)
        return err_set(e, ERR_USAGE, 0,
                       "--lifeline %ld is not a stream socket: give one end of a socketpair", fd);
    l->fd = (int)fd;
    if (fcntl(l->fd, F_SETFD, FD_CLOEXEC) < 0)
        return err_set(e, ERR_KERNEL, errno, "--lifeline %ld", fd);
    return fd_set_nonblock(l->fd, e) || watch_owner(l, e) ? -1 : 0;
}

void lifeline_tell_ready(const struct lifeline *l, const char *socket_path)
{
    char line[256];
    if (l->fd < 0)
        return;
    int n = snprintf(line, sizeof line, "ready %s\n", socket_path);
    /* an owner that is gone does not read it */
    if (n > 0 && (size_t)n < sizeof line)
        (void)!send(l->fd, line, (size_t)n, MSG_NOSIGNAL);
}

void lifeline_polls(const struct lifeline *l, struct pollfd ret[LIFELINE_POLLS])
{
    ret[0] = (struct pollfd){ .fd = l->lost ? -1 : l->fd, .events = POLLIN };
    ret[1] = (struct pollfd){ .fd = l->lost ? -1 : l->owner_fd, .events = POLLIN };
}

bool lifeline_lost(struct lifeline *l, const struct pollfd polls[LIFELINE_POLLS])
{
    char bytes[64];
    if (l->lost || (!polls[0].revents && !polls[1].revents))
        return false;
    ssize_t n = polls[0].revents ? recv(l->fd, bytes, sizeof bytes, 0) : 0;
    /* Bytes mean nothing. */
    l->lost = polls[1].revents || n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    return l->lost;
}
