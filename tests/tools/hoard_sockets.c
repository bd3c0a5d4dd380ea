/* Classes of hoard that are about sockets. Runs in: a jar. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "hoard.h"

int tcp_socket(void)
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
    return accept4(l, NULL, NULL, SOCK_NONBLOCK);
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
    long held = 0;
    for (uint32_t n = 0; held < count && has_room(); n++) {
        int fd, l = listener(n);
        if (l < 0)
            break;
        while (held < count && (fd = connection(n)) >= 0) {
            held++;
            if (!with_data) {
                reset(fd);
                continue;
            }
            for (int i = 0; i < 64 && write(fd, data, DATA) > 0; i++) {
            }
            (void)close(fd);
        }
    }
    return held;
}

long accept_queues(long count)
{
    return queues(count, false);
}

long accept_data(long count)
{
    return queues(count, true);
}

long time_wait(long count)
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

/* Connections that were accepted, two sockets each. */
static long pairs(long count, bool with_data)
{
    long held = 0;
    for (uint32_t n = 0; held < count && has_room(); n++) {
        int l = listener(n), client = -1;
        for (int i = 0; l >= 0 && i < 400 && held < count; i++, held++) {
            client = connection(n);
            int server = client < 0 ? -1 : accepted(l);
            if (server < 0)
                break;
            while (with_data && (write(client, data, 1000) > 0 || write(server, data, 1000) > 0)) {
            }
        }
        if (client < 0)
            break;
    }
    return held;
}

long tcp_pairs(long count)
{
    return pairs(count, false);
}

/* A socket may hold a little although the account of all sockets is full. */
long tcp_drops(long count)
{
    return pairs(count, true);
}

/* Data in connections that were accepted. */
long tcp_data(long count)
{
    int l = listener(0);
    long held = 0;
    for (; held < count && l >= 0; held++) {
        int client = connection(0), server = accepted(l);
        if (client < 0 || server < 0)
            break;
        while (write(client, data, DATA) > 0) {
        }
        while (write(server, data, DATA) > 0) {
        }
    }
    return held;
}

/* As small as possible: the kernel's overhead is the load. */
long udp_data(long count)
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

/* Destinations: the kernel remembers how fast each one was. */
long destinations(long count)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(1024) };
    long held = 0;
    int l = tcp_socket();
    if (l < 0 || bind(l, (struct sockaddr *)&a, sizeof a) < 0 || listen(l, 64) < 0)
        return 0;
    for (; held < count; held++) {
        int client = tcp_socket();
        a.sin_addr.s_addr = htonl(0x7f000001 + (uint32_t)held);
        (void)connect(client, (struct sockaddr *)&a, sizeof a);
        int server = accepted(l);
        if (client < 0 || server < 0)
            break;
        (void)!write(client, data, 1000);
        (void)close(client);
        reset(server);
    }
    return held;
}

/* Fragments whose first part never comes cannot be sent without a raw socket: full queues instead. */
long unix_data(long count)
{
    long held = 0;
    int pair[2];
    for (; held < count && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0; held++)
        while (write(pair[0], data, DATA) > 0) {
        }
    return held;
}

long in_flight(long count)
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
