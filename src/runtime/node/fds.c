#include "runtime/node/fds.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"

enum { FDS_MAX = 64, WATCHES_MAX = 64, LINK_MAX_BYTES = 64, UNREAD_MAX = 64 };

enum kind { KIND_NULL, KIND_EVENT, KIND_POLL, KIND_PIPE };

static struct own {
    int fd, flags;
    enum kind kind;
    char link[LINK_MAX_BYTES]; /* the same for both ends of a pipe */
    /* unread bytes of a pipe or the value of a counter: libuv's lock is a byte in a pipe */
    char unread[UNREAD_MAX];
    size_t n_held;
} own[FDS_MAX];
static size_t n_own;

static struct watch {
    int poll, fd;
    struct epoll_event event;
} watches[WATCHES_MAX];
static size_t n_watches;

static const struct {
    const char *prefix;
    enum kind kind;
} kinds[] = {
    { "anon_inode:[eventfd]", KIND_EVENT },
    { "anon_inode:[eventpoll]", KIND_POLL },
    { "pipe:[", KIND_PIPE },
    { "/dev/null", KIND_NULL },
};

static bool find_kind(struct own *o)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strncmp(o->link, kinds[i].prefix, strlen(kinds[i].prefix)) == 0) {
            o->kind = kinds[i].kind;
            return true;
        }
    }
    return false;
}

static const char *remember_watches(int poll)
{
    char path[64], line[256];
    (void)snprintf(path, sizeof path, "/proc/self/fdinfo/%d", poll);
    FILE *f = fopen(path, "re");
    if (!f)
        return "the descriptors of an event loop cannot be read";
    while (fgets(line, sizeof line, f)) {
        int fd;
        unsigned events;
        unsigned long long data;
        if (sscanf(line, "tfd: %d events: %x data: %llx", &fd, &events, &data) != 3)
            continue;
        if (n_watches == WATCHES_MAX) {
            (void)fclose(f);
            return "the interpreter waits for more than we know";
        }
        watches[n_watches++] = (struct watch){ poll,
                                               fd,
                                               { .events = events, .data = { .u64 = data } } };
    }
    (void)fclose(f);
    return NULL;
}

/* Reads without blocking. An idle interpreter never has more unread bytes than fit. */
static bool remember_held(struct own *o)
{
    struct pollfd p = { .fd = o->fd, .events = POLLIN };
    if (o->kind == KIND_POLL || o->kind == KIND_NULL || (o->flags & O_ACCMODE) == O_WRONLY ||
        poll(&p, 1, 0) <= 0 || !(p.revents & POLLIN))
        return true;
    ssize_t n = read(o->fd, o->unread, sizeof o->unread);
    o->n_held = n > 0 ? (size_t)n : 0;
    return n > 0 && n < (ssize_t)sizeof o->unread;
}

static const char *remember(int fd)
{
    char path[64];
    if (n_own == FDS_MAX)
        return "the interpreter has more descriptors open than we know";
    struct own *o = &own[n_own];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, o->link, sizeof o->link - 1);
    o->link[n > 0 ? n : 0] = '\0';
    o->fd = fd;
    o->flags = fcntl(fd, F_GETFL) & (O_ACCMODE | O_NONBLOCK);
    if (!find_kind(o) || !remember_held(o))
        return "the interpreter has an open descriptor of an unknown kind";
    n_own++;
    return o->kind == KIND_POLL ? remember_watches(fd) : NULL;
}

static int by_number(const void *a, const void *b)
{
    return ((const struct own *)a)->fd - ((const struct own *)b)->fd;
}

const char *fds_put_away(int but)
{
    const char *wrong = NULL;
    DIR *open_ones = opendir("/proc/self/fd");
    if (!open_ones)
        return "the interpreter's descriptors cannot be listed";
    for (struct dirent *d; !wrong && (d = readdir(open_ones));) {
        int fd = (int)strtol(d->d_name, NULL, 10); /* "." and ".." are 0 */
        if (fd > 2 && fd != but && fd != dirfd(open_ones))
            wrong = remember(fd);
    }
    closedir(open_ones);
    qsort(own, n_own, sizeof own[0], by_number);
    for (size_t i = 0; i < n_own && !wrong; i++)
        close(own[i].fd);
    return wrong;
}

static bool place(int fd, int at)
{
    if (fd < 0 || fd == at)
        return fd >= 0;
    bool good = dup3(fd, at, O_CLOEXEC) == at;
    close(fd);
    return good;
}

/* A new end of a pipe may occupy the number that another one needs. */
static int out_of_the_way(int fd)
{
    int away = fcntl(fd, F_DUPFD_CLOEXEC, own[n_own - 1].fd + 1);
    close(fd);
    return away;
}

static bool renew_pipe(struct own *o)
{
    struct own *other = NULL;
    for (struct own *p = o + 1; p < own + n_own && !other; p++)
        if (p->kind == KIND_PIPE && strcmp(p->link, o->link) == 0)
            other = p;
    if (!other) /* the second end of a pair, or an end without its other end */
        return true;
    int ends[2], want[2];
    bool reads = (o->flags & O_ACCMODE) == O_RDONLY;
    want[0] = reads ? o->fd : other->fd;
    want[1] = reads ? other->fd : o->fd;
    if (pipe2(ends, O_CLOEXEC | (o->flags & O_NONBLOCK)) < 0)
        return false;
    if (ends[1] == want[0])
        ends[1] = out_of_the_way(ends[1]);
    const struct own *reader = reads ? o : other;
    return place(ends[0], want[0]) && place(ends[1], want[1]) &&
           write(want[1], reader->unread, reader->n_held) == (ssize_t)reader->n_held;
}

static bool renew(struct own *o)
{
    switch (o->kind) {
    case KIND_NULL:
        return place(open("/dev/null", o->flags | O_CLOEXEC), o->fd);
    case KIND_EVENT:
        return place(eventfd(0, EFD_CLOEXEC | (o->flags & O_NONBLOCK ? EFD_NONBLOCK : 0)), o->fd) &&
               (o->n_held == 0 || write(o->fd, o->unread, o->n_held) == (ssize_t)o->n_held);
    case KIND_POLL:
        return place(epoll_create1(EPOLL_CLOEXEC), o->fd);
    case KIND_PIPE:
        return renew_pipe(o);
    }
    return false;
}

/* The channel of a session has a number that Node uses. It is found by its kind (session.c). */
static bool move_channel(void)
{
    enum { CHANNEL_FD = 3 };
    int type;
    socklen_t n = sizeof type;
    if (n_own == 0 || getsockopt(CHANNEL_FD, SOL_SOCKET, SO_TYPE, &type, &n) < 0)
        return true;
    int away = fcntl(CHANNEL_FD, F_DUPFD, own[n_own - 1].fd + 1);
    close(CHANNEL_FD);
    return away >= 0;
}

const char *fds_renew(void)
{
    if (!move_channel())
        return "the channel of a session cannot be moved";
    for (size_t i = 0; i < n_own; i++)
        if (!renew(&own[i]))
            return "the interpreter's descriptors cannot be made";
    for (size_t i = 0; i < n_watches; i++)
        if (epoll_ctl(watches[i].poll, EPOLL_CTL_ADD, watches[i].fd, &watches[i].event) < 0)
            return "the descriptors of an event loop cannot be restored";
    return NULL;
}
