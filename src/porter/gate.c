#include "porter/gate.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"

int gate_open(struct gate *g, struct err *e)
{
    socklen_t n = sizeof g->own_cookie;
    g->route_fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (g->route_fd < 0)
        return err_set(e, ERR_KERNEL, errno, "open a socket for routes");
    return getsockopt(g->route_fd, SOL_SOCKET, SO_NETNS_COOKIE, &g->own_cookie, &n) < 0
               ? err_set(e, ERR_KERNEL, errno, "ask which network namespace is our own")
               : 0;
}

void gate_done(struct gate *g)
{
    fd_close(&g->route_fd);
    address_set_done(&g->rules.private_ranges);
    free(g->rules.listeners);
}

/* The type of the route (RTN_…); -1: there is none, or the kernel does not tell. Netlink answers
 * while it is asked, so the answer is there already. */
static int route_type(struct gate *g, const struct sockaddr *sa)
{
    int fd = g->route_fd;
    bool ipv4 = sa->sa_family == AF_INET;
    size_t n = ipv4 ? 4 : 16;
    const void *address = ipv4 ? (const void *)&((const struct sockaddr_in *)sa)->sin_addr
                               : (const void *)&((const struct sockaddr_in6 *)sa)->sin6_addr;
    struct {
        struct nlmsghdr head;
        struct rtmsg body;
        struct rtattr target;
        uint8_t bytes[16];
    } ask = { .head = { .nlmsg_len = (unsigned)(NLMSG_LENGTH(sizeof ask.body) + RTA_LENGTH(n)),
                        .nlmsg_type = RTM_GETROUTE,
                        .nlmsg_flags = NLM_F_REQUEST,
                        .nlmsg_seq = ++g->asked },
              .body = { .rtm_family = (unsigned char)sa->sa_family,
                        .rtm_dst_len = ipv4 ? 32 : 128 },
              .target = { .rta_type = RTA_DST, .rta_len = (unsigned short)RTA_LENGTH(n) } };
    memcpy(ask.bytes, address, n);
    _Alignas(struct nlmsghdr) char answer[4096];
    if (send(fd, &ask, ask.head.nlmsg_len, MSG_DONTWAIT) < 0)
        return -1;
    const struct nlmsghdr *head = (const struct nlmsghdr *)answer;
    ssize_t got;
    do /* an answer to an earlier question is not ours */
        got = recv(fd, answer, sizeof answer, MSG_DONTWAIT);
    while (got >= (ssize_t)sizeof *head && head->nlmsg_seq != ask.head.nlmsg_seq);
    if (got < (ssize_t)NLMSG_LENGTH(sizeof(struct rtmsg)) || head->nlmsg_type != RTM_NEWROUTE)
        return -1;
    return ((const struct rtmsg *)NLMSG_DATA(head))->rtm_type;
}

/* Addresses of the machine, also inside another one. */
static int find_host(struct gate *g, const struct sockaddr *sa, int type, struct address_set *ret)
{
    struct err ignored;
    struct sockaddr_in inner[ADDRESS_INNER_MAX];
    size_t n = address_inner(sa, inner);
    if (type == RTN_LOCAL && address_set_add(ret, sa, &ignored))
        return -1;
    for (size_t i = 0; i < n; i++) {
        const struct sockaddr *one = (const struct sockaddr *)&inner[i];
        if (route_type(g, one) == RTN_LOCAL && address_set_add(ret, one, &ignored))
            return -1;
    }
    return 0;
}

/* The kernel would take it for an IPv4 address, and tell its route as that of an IPv6 one. */
static bool is_mapped(const struct sockaddr *sa)
{
    return sa->sa_family == AF_INET6 &&
           IN6_IS_ADDR_V4MAPPED(&((const struct sockaddr_in6 *)sa)->sin6_addr);
}

bool gate_is_open(struct gate *g, const struct sockaddr *sa)
{
    struct address_rules rules = g->rules;
    if (is_mapped(sa))
        return false;
    int type = route_type(g, sa);
    rules.host = (struct address_set){ 0 };
    if (find_host(g, sa, type, &rules.host)) {
        address_set_done(&rules.host);
        return false;
    }
    bool open = !address_is_refused(&rules, sa) && (type == RTN_UNICAST || type == RTN_LOCAL);
    address_set_done(&rules.host);
    return open;
}
