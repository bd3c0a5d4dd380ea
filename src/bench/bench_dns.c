#include "bench/bench_dns.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "bench/bench_world.h"

enum { PORT = 53, HEAD = 12, TYPE_A = 1, TYPE_AAAA = 28, PACKET = 512, NAME = 256 };

static const char *const corpus[DNS_CORPUS] = {
    "127.0.0.1",       "10.0.0.1",    "172.16.0.1",       "192.168.0.1",
    "169.254.169.254", "100.64.0.1",  "0.0.0.0",          "192.0.0.1",
    "192.0.2.1",       "198.18.0.9",  "198.51.100.1",     "224.0.0.1",
    "255.255.255.255", "192.88.99.1", WORLD_NEAR_ADDRESS, "127.9.9.9",
};

int dns_listen(void)
{
    const int one = 1;
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT) };
    autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    /* An answer comes from the address that was asked. */
    if (fd < 0 || setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &one, sizeof one) < 0 ||
        bind(fd, (struct sockaddr *)&a, sizeof a) < 0)
        return -1;
    return fd_take(&fd);
}

/* The name of the only question, and the length of the question. 0: it makes no sense. */
static size_t read_question(const uint8_t *q, size_t n, char name[NAME], unsigned *ret_type)
{
    size_t at = HEAD, used = 0;
    while (at < n && q[at] != 0) {
        size_t label = q[at];
        if (label > 63 || at + 1 + label >= n || used + label + 2 > NAME)
            return 0;
        memcpy(name + used, q + at + 1, label);
        used += label;
        name[used++] = '.';
        at += 1 + label;
    }
    if (used == 0 || at + 5 > n)
        return 0;
    name[used - 1] = '\0';
    *ret_type = (unsigned)q[at + 1] << 8 | q[at + 2];
    return at + 5 - HEAD;
}

/* The bytes of the address; 0: there is none of this type. */
static size_t find_address(const char *name, unsigned type, uint8_t ret[16])
{
    static unsigned asked[DNS_CORPUS];
    unsigned long i = strtoul(name + 1, NULL, 10);
    bool is_6 = name[0] == 'm' || name[0] == 'n';
    if (i >= DNS_CORPUS || type != (is_6 ? TYPE_AAAA : TYPE_A))
        return 0;
    bool is_first = name[0] == 'b' && asked[i]++ == 0;
    uint8_t *v4 = is_6 ? ret + 12 : ret;
    (void)inet_pton(AF_INET, is_first ? WORLD_ADDRESS : corpus[i], v4);
    if (!is_6)
        return 4;
    memset(ret, 0, 12);
    if (name[0] == 'm')
        ret[10] = ret[11] = 0xff;
    else
        memcpy(ret, (const uint8_t[]){ 0, 0x64, 0xff, 0x9b }, 4);
    return 16;
}

static size_t write_answer(uint8_t *q, size_t question, unsigned type, const uint8_t *address,
                           size_t n)
{
    static const uint8_t flags[2] = { 0x84, 0 };
    size_t at = HEAD + question;
    const uint8_t record[12] = { 0xc0, HEAD, 0, (uint8_t)type, 0, 1, [11] = (uint8_t)n };
    memcpy(q + 2, flags, sizeof flags);
    memset(q + 4, 0, HEAD - 4);
    q[5] = 1;
    if (n == 0)
        return at;
    q[7] = 1;
    memcpy(q + at, record, sizeof record);
    memcpy(q + at + sizeof record, address, n);
    return at + sizeof record + n;
}

static bool is_of_zone(const char *name)
{
    static const char zone[] = "." DNS_ZONE;
    size_t n = strlen(name);
    return n >= sizeof zone && strcasecmp(name + n - (sizeof zone - 1), zone) == 0;
}

void dns_serve(int fd, struct dns_counts *counts)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(struct in_pktinfo))];
    } control;
    struct sockaddr_in from;
    uint8_t bytes[PACKET + 64], address[16];
    char name[NAME];
    unsigned type;
    for (;;) {
        struct iovec part = { bytes, PACKET };
        struct msghdr m = { .msg_name = &from,
                            .msg_namelen = sizeof from,
                            .msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof control };
        ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT);
        if (n < 0)
            return;
        size_t question = n > HEAD ? read_question(bytes, (size_t)n, name, &type) : 0;
        if (question == 0)
            continue;
        bool ours = is_of_zone(name);
        atomic_fetch_add(ours ? &counts->served : &counts->others, 1);
        size_t found = ours ? find_address(name, type, address) : 0;
        part.iov_len = write_answer(bytes, question, type, address, found);
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        if (c) { /* from the address that was asked, over any interface */
            struct in_pktinfo *info = (struct in_pktinfo *)CMSG_DATA(c);
            info->ipi_ifindex = 0;
            info->ipi_spec_dst = info->ipi_addr;
        }
        (void)sendmsg(fd, &m, MSG_DONTWAIT);
    }
}
