/* Holds many kernel objects of one class: hoard CLASS COUNT. Prints "held N" and then sleeps, so that
 * the test can look at the host. Runs in: a jar. COUNT bounds every class: without any defence less
 * than 1 GB of host memory is taken. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"

enum { SPARE_FDS = 40, DATA = 1 << 16 };

static char data[DATA];

/* Descriptors that this process may still open. */
static long fds_left(void)
{
    int next = open("/dev/null", O_RDONLY);
    (void)close(next);
    return next < 0 ? 0 : sysconf(_SC_OPEN_MAX) - next - SPARE_FDS;
}

/* A child goes on with a table of its own; the parent holds its descriptors and waits. */
static int next_table(void)
{
    pid_t child = fork();
    if (child < 0)
        return -1;
    if (child > 0) {
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
        _exit(0);
    }
    return close_range(3, ~0U, 0);
}

static int tcp_socket(void)
{
    return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
}

static struct sockaddr_in address(uint32_t n)
{
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_port = htons((uint16_t)(1024 + n % 60000)) };
    a.sin_addr.s_addr = htonl(0x7f000001 + n / 60000);
    return a;
}

static int listener(uint32_t n)
{
    struct sockaddr_in a = address(n);
    int fd = tcp_socket();
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 4096) < 0)
        return -1;
    return fd;
}

/* One connection to listener n; -1 when its queue is full. */
static int connection(uint32_t n)
{
    struct sockaddr_in a = address(n);
    int fd = tcp_socket();
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
        return fd;
    struct pollfd done = { .fd = fd, .events = POLLOUT };
    if (errno == EINPROGRESS && poll(&done, 1, 3) == 1)
        return fd;
    (void)close(fd);
    return -1;
}

static int accepted(int l)
{
    struct pollfd one = { .fd = l, .events = POLLIN };
    (void)poll(&one, 1, 100);
    return accept(l, NULL, NULL);
}

static void reset(int fd)
{
    const struct linger now = { .l_onoff = 1 };
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    (void)close(fd);
}

/* Connections that nobody accepts. */
static long queues(long count, bool with_data)
{
    long held = 0, tables = 0;
    for (uint32_t n = 0; held < count; n++) {
        if (fds_left() <= 0 && (++tables > 50 || next_table() < 0))
            break;
        int fd, l = listener(n);
        if (l < 0)
            break;
        while (held < count && (fd = connection(n)) >= 0) {
            held++;
            if (!with_data) {
                reset(fd);
                continue;
            }
            for (int i = 0; i < 64 && write(fd, data, sizeof data) > 0; i++) {
            }
            (void)close(fd);
        }
    }
    return held;
}

static long accept_queues(long count)
{
    return queues(count, false);
}

static long accept_data(long count)
{
    return queues(count, true);
}

static long time_wait(long count)
{
    int l = listener(0);
    long held = 0;
    for (; held < count && l >= 0; held++) {
        int client = connection(0), server = accepted(l);
        if (client < 0 || server < 0)
            break;
        (void)close(client);
        (void)close(server);
    }
    return held;
}

/* Data in connections that were accepted. */
static long tcp_data(long count)
{
    int l = listener(0);
    long held = 0;
    for (; held < count && l >= 0; held++) {
        int client = connection(0), server = accepted(l);
        if (client < 0 || server < 0)
            break;
        while (write(client, data, sizeof data) > 0) {
        }
        while (write(server, data, sizeof data) > 0) {
        }
    }
    return held;
}

/* As small as possible: the kernel's overhead is the load. */
static long udp_data(long count)
{
    long held = 0;
    const int most = 1 << 26;
    for (; held < count; held++) {
        struct sockaddr_in a = address((uint32_t)held);
        int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
        if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) < 0)
            break;
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &most, sizeof most);
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &most, sizeof most);
        for (int i = 0; i < 200; i++)
            (void)sendto(fd, data, 8000, 0, (struct sockaddr *)&a, sizeof a);
    }
    return held;
}

/* Fragments whose first part never comes cannot be sent without a raw socket: full queues instead. */
static long unix_data(long count)
{
    long held = 0;
    int pair[2];
    for (; held < count && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0; held++)
        while (write(pair[0], data, sizeof data) > 0) {
        }
    return held;
}

static long in_flight(long count)
{
    long held = 0;
    int pair[2];
    while (held < count && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0) {
        for (;;) {
            int fd = open("/dev/null", O_RDONLY);
            char control[CMSG_SPACE(sizeof(int))] = { 0 };
            struct iovec one = { data, 1 };
            struct msghdr m = { .msg_iov = &one, .msg_iovlen = 1 };
            m.msg_control = control;
            m.msg_controllen = sizeof control;
            struct cmsghdr *c = CMSG_FIRSTHDR(&m);
            c->cmsg_level = SOL_SOCKET;
            c->cmsg_type = SCM_RIGHTS;
            c->cmsg_len = CMSG_LEN(sizeof fd);
            memcpy(CMSG_DATA(c), &fd, sizeof fd);
            bool sent = fd >= 0 && sendmsg(pair[0], &m, 0) >= 0;
            (void)close(fd);
            if (!sent || ++held >= count)
                break;
        }
    }
    return held;
}

static long records(long count)
{
    long held = 0;
    for (int file = 0; held < count && fds_left() > 0; file++) {
        char name[32];
        (void)snprintf(name, sizeof name, "locked-%d", file);
        int fd = open(name, O_CREAT | O_RDWR, 0600);
        for (int i = 0; fd >= 0 && i < 300 && held < count; i++) {
            struct flock one = { .l_type = F_WRLCK, .l_start = (off_t)2 * i, .l_len = 1 };
            if (fcntl(fd, F_SETLK, &one) < 0)
                return held;
            held++;
        }
        if (fd < 0)
            break;
    }
    return held;
}

static long flocks(long count)
{
    long held = 0, tables = 0;
    while (held < count) {
        if (fds_left() <= 0 && (++tables > 50 || next_table() < 0))
            break;
        int fd = open("/sandbox", O_RDONLY);
        if (fd < 0 || flock(fd, LOCK_SH) < 0)
            break;
        held++;
    }
    return held;
}

static long pipes(long count)
{
    long held = 0, tables = 0;
    int ends[2];
    for (; held < count; held++) {
        if (fds_left() <= 1 && (++tables > 50 || next_table() < 0))
            break;
        if (pipe2(ends, O_NONBLOCK) < 0)
            break;
        (void)!write(ends[1], data, sizeof data);
    }
    return held;
}

static long epolls(long count)
{
    long held = 0;
    int events[300];
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        events[i] = eventfd(0, 0);
    while (held < count && fds_left() > 0) {
        int set = epoll_create1(0);
        struct epoll_event e = { .events = EPOLLIN };
        for (size_t i = 0; set >= 0 && i < ARRAY_LEN(events) && held < count; i++)
            held += epoll_ctl(set, EPOLL_CTL_ADD, events[i], &e) == 0;
        if (set < 0)
            break;
    }
    return held;
}

static long timers(long count)
{
    long held = 0;
    timer_t timer;
    while (held < count && timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0)
        held++;
    while (fds_left() > 0 && timerfd_create(CLOCK_MONOTONIC, 0) >= 0)
        held++;
    return held;
}

static long signals(long count)
{
    long held = 0;
    sigset_t all;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    while (held < count && sigqueue(getpid(), SIGRTMIN, (union sigval){ 0 }) == 0)
        held++;
    return held;
}

static long memfds(long count)
{
    long held = 0;
    for (; held < count && fds_left() > 0; held++) {
        int fd = memfd_create("x", 0);
        if (fd < 0 || write(fd, data, 1) < 0)
            break;
    }
    return held;
}

static long sysv(long count)
{
    long held = 0;
    for (; held < count; held++) {
        int queue = msgget(IPC_PRIVATE, 0600);
        struct {
            long type;
            char text[8192];
        } message = { .type = 1 };
        int made = queue >= 0;
        while (queue >= 0 && msgsnd(queue, &message, sizeof message.text, IPC_NOWAIT) == 0)
            made++;
        made += shmget(IPC_PRIVATE, 4096, 0600) >= 0;
        made += semget(IPC_PRIVATE, 250, 0600) >= 0;
        if (made == 0)
            break;
    }
    return held;
}

static long mappings(long count)
{
    long held = 0;
    for (; held < count; held++)
        if (mmap(NULL, 4096, held % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                 0) == MAP_FAILED)
            break;
    return held;
}

static long page_tables(long count)
{
    const size_t step = 2 << 20;
    long held = 0;
    char *all = mmap(NULL, step * (size_t)count, PROT_READ,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return 0;
    (void)madvise(all, step * (size_t)count, MADV_NOHUGEPAGE);
    for (; held < count; held++)
        (void)*(volatile char *)(all + (size_t)held * step);
    return held;
}

/* Names that do not exist: the kernel remembers them. */
static long negative_dentries(long count)
{
    long held = 0;
    char name[300];
    for (; held < count; held++) {
        (void)snprintf(name, sizeof name, "/usr/lib/%0200ld", held);
        (void)open(name, O_RDONLY);
    }
    return held;
}

static long inodes(long count)
{
    long held = 0;
    for (; held < count; held++) {
        char name[250];
        (void)snprintf(name, sizeof name, "%0240ld", held);
        int fd = open(name, O_CREAT | O_WRONLY, 0600);
        if (fd < 0)
            break;
        (void)close(fd);
    }
    return held;
}

/* Processes that share memory: they take long to die. COUNT is the number of processes. */
static long sharers(long count)
{
    const size_t size = 200u << 20;
    long held = 0;
    char *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 0;
    (void)madvise(shared, size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < size; i += 4096)
        shared[i] = 1;
    for (; held < count; held++) {
        pid_t child = fork();
        if (child < 0)
            break;
        if (child == 0) {
            for (size_t i = 0; i < size; i += 4096)
                (void)*(volatile char *)(shared + i);
            for (;;)
                (void)pause();
        }
    }
    return held;
}

static const struct {
    const char *name;
    long (*take)(long count);
} classes[] = {
    { "accept_queues", accept_queues },
    { "accept_data", accept_data },
    { "time_wait", time_wait },
    { "tcp_data", tcp_data },
    { "udp_data", udp_data },
    { "unix_data", unix_data },
    { "in_flight", in_flight },
    { "records", records },
    { "flocks", flocks },
    { "pipes", pipes },
    { "epolls", epolls },
    { "timers", timers },
    { "signals", signals },
    { "memfds", memfds },
    { "sysv", sysv },
    { "mappings", mappings },
    { "page_tables", page_tables },
    { "negative_dentries", negative_dentries },
    { "inodes", inodes },
    { "sharers", sharers },
};

int main(int argc, char **argv)
{
    long count = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    for (size_t i = 0; count > 0 && i < ARRAY_LEN(classes); i++) {
        if (strcmp(argv[1], classes[i].name) != 0)
            continue;
        printf("held %ld\n", classes[i].take(count));
        (void)fflush(stdout);
        for (;;)
            (void)pause();
    }
    (void)fprintf(stderr, "usage: hoard CLASS COUNT\n");
    return 2;
}
