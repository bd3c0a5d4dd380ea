/* Reads a terminal while we are in the foreground, and feeds the pipe to the keeper. */
#include "cli/run/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"

enum { LOOK_AGAIN_MS = 200 };

void terminal_done(struct terminal *t)
{
    fd_close(&t->fd);
    fd_close(&t->feed_fd);
}

/* Opens the terminal again, to make it non-blocking: another reader may take the input between
 * poll() and read(), and the shell shares the flags of the descriptor that we inherited. If the
 * terminal cannot be opened again, the inherited descriptor is used. */
static int open_again(int fd)
{
    char path[32];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return own >= 0 ? own : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

int terminal_open(struct terminal *t, int *fd, struct err *e)
{
    int fds[2];
    if (*fd < 0 || !isatty(*fd))
        return 0;
    if (fd_pipe(fds, e))
        return -1;
    autoclose int read_end = fds[0], write_end = fds[1];
    autoclose int own = open_again(*fd);
    if (own < 0)
        return err_set(e, ERR_KERNEL, errno, "open the terminal");
    if (fd_set_nonblock(write_end, e))
        return -1;
    t->fd = fd_take(&own);
    t->feed_fd = fd_take(&write_end);
    if (*fd > 2)
        fd_close(fd);
    *fd = fd_take(&read_end);
    return 0;
}

/* A terminal that is not our controlling terminal has no such group, and we may read it. */
static bool in_background(const struct terminal *t)
{
    pid_t group = tcgetpgrp(t->fd);
    return group > 0 && group != getpgrp();
}

int terminal_polls(const struct terminal *t, struct pollfd p[TERMINAL_POLLS])
{
    bool reading = t->feed_fd >= 0 && t->held == 0, waiting = reading && in_background(t);
    p[0] = (struct pollfd){ .fd = reading && !waiting ? t->fd : -1, .events = POLLIN };
    p[1] = (struct pollfd){ .fd = t->held > 0 ? t->feed_fd : -1, .events = POLLOUT };
    return waiting ? LOOK_AGAIN_MS : -1;
}

void terminal_ready(struct terminal *t, const struct pollfd p[TERMINAL_POLLS])
{
    if (p[0].revents && !in_background(t)) { /* if that changes now, the kernel stops us */
        ssize_t n = read(t->fd, t->bytes, sizeof t->bytes);
        t->from = 0;
        t->held = n > 0 ? (size_t)n : 0;
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            fd_close(&t->feed_fd);
    }
    if (p[1].revents && t->held > 0) {
        ssize_t n = write(t->feed_fd, t->bytes + t->from, t->held);
        if (n > 0) {
            t->from += (size_t)n;
            t->held -= (size_t)n;
        }
    }
}

int terminal_columns(int fd)
{
    struct winsize size = { 0 };
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
