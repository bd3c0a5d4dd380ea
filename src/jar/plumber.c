#include "jar/plumber.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/ip6.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "jar/as_owner.h"
#include "jar/clone.h"
#include "jar/embryo_job.h"
#include "jar/jar_impl.h"
#include "jar/netns.h"
#include "jar/nft.h"
#include "jar/trust.h"

enum { LOOPBACK_INDEX = 1 /* of every new namespace */, BACKLOG = 128, DNS_PORT = 53 };
enum { BIND_TRIES = 300, BIND_PAUSE_US = 10000 }; /* of a patient plumber, for all its sockets */
enum { QUICK_LISTENERS = 16 };
enum { SEND_BYTES = 512 << 10 }; /* the kernel doubles it */
enum { REPLUMB_US = 10 * 1000000 /* its longest life beside a guest */ };

/* ---- routes ---- */

struct route_request {
    struct nlmsghdr head;
    struct rtmsg body;
    char attributes[64];
};

/* Requests on their way to the kernel. It answers to the last one of a batch, and to each one that fails. The
 * answers of a batch fit into the buffer of a socket. */
enum { BATCH = 16 };
struct routes {
    int fd;
    uint32_t n;
    struct route_request at[BATCH];
};

static void add_attribute(struct route_request *r, unsigned short type, const void *bytes, size_t n)
{
    struct rtattr *a = (struct rtattr *)((char *)r + NLMSG_ALIGN(r->head.nlmsg_len));
    a->rta_type = type;
    a->rta_len = (unsigned short)RTA_LENGTH(n);
    memcpy(RTA_DATA(a), bytes, n);
    r->head.nlmsg_len = NLMSG_ALIGN(r->head.nlmsg_len) + (unsigned)RTA_ALIGN(a->rta_len);
}

/* One answer. 1: it is that to the last request. */
static int await_ack(const struct routes *t, struct err *e)
{
    struct {
        struct nlmsghdr head;
        struct nlmsgerr body;
        char rest[256];
    } answer;
    ssize_t n = recv(t->fd, &answer, sizeof answer, 0);
    if (n < (ssize_t)NLMSG_LENGTH(sizeof answer.body) || answer.head.nlmsg_type != NLMSG_ERROR)
        return err_set(e, ERR_KERNEL, n < 0 ? errno : 0, "ask for a route of a jar");
    if (answer.body.error && answer.body.error != -EEXIST)
        return err_set(e, ERR_KERNEL, -answer.body.error, "add a route of a jar");
    return answer.head.nlmsg_seq == t->n;
}

static int send_routes(struct routes *t, struct err *e)
{
    struct iovec parts[BATCH];
    struct msghdr m = { .msg_iov = parts, .msg_iovlen = t->n };
    ssize_t all = 0;
    int got = 0;
    if (t->n == 0)
        return 0;
    t->at[t->n - 1].head.nlmsg_flags |= NLM_F_ACK;
    for (uint32_t i = 0; i < t->n; i++) {
        parts[i] = (struct iovec){ &t->at[i], t->at[i].head.nlmsg_len };
        all += (ssize_t)parts[i].iov_len;
    }
    if (sendmsg(t->fd, &m, 0) != all)
        return err_set(e, ERR_KERNEL, errno, "ask for a route of a jar");
    while (got == 0)
        got = await_ack(t, e);
    t->n = 0;
    return got < 0 ? -1 : 0;
}

/* All addresses of the network become addresses of the jar itself. The source of a connection is
 * another address than its target, because a socket that connects to itself would succeed. */
static int add_local(struct routes *t, bool ipv4, const uint8_t *address, unsigned prefix,
                     struct err *e)
{
    static const uint8_t source[4] = { 127, 0, 0, 1 };
    const int loopback = LOOPBACK_INDEX;
    if (t->n == BATCH && send_routes(t, e))
        return -1;
    struct route_request *r = &t->at[t->n++];
    *r = (struct route_request){
        .head = { .nlmsg_len = NLMSG_LENGTH(sizeof r->body),
                  .nlmsg_type = RTM_NEWROUTE,
                  .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL,
                  .nlmsg_seq = t->n },
        .body = { .rtm_family = ipv4 ? AF_INET : AF_INET6,
                  .rtm_dst_len = (unsigned char)prefix,
                  .rtm_table = RT_TABLE_LOCAL,
                  .rtm_protocol = RTPROT_STATIC,
                  .rtm_scope = RT_SCOPE_HOST,
                  .rtm_type = RTN_LOCAL },
    };
    add_attribute(r, RTA_DST, address, ipv4 ? 4 : 16);
    add_attribute(r, RTA_OIF, &loopback, sizeof loopback);
    if (ipv4)
        add_attribute(r, RTA_PREFSRC, source, sizeof source);
    return 0;
}

static bool needs_route(const struct plumbing_listener *l)
{
    uint32_t ipv4 = plumbing_ipv4(l->address);
    return !plumbing_is_ipv4(l->address) || (ipv4 != INADDR_ANY && !plumbing_is_synthetic(ipv4));
}

/* Ports of one address follow each other. */
static bool is_new(const struct plumbing *p, uint32_t i)
{
    return i == 0 || memcmp(p->at[i].address, p->at[i - 1].address, sizeof p->at[i].address) != 0;
}

static int add_routes(const struct plumbing *p, struct err *e)
{
    static const uint8_t all[16] = { 0 };
    uint8_t synthetic[16];
    struct routes t = { .n = 0 };
    plumbing_set_ipv4(synthetic, SYNTHETIC_NET);
    autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "open a socket for routes");
    t.fd = fd;
    if (add_local(&t, true, synthetic + 12, SYNTHETIC_PREFIX, e) ||
        (p->full && (add_local(&t, true, all, 0, e) || add_local(&t, false, all, 0, e))))
        return -1;
    for (uint32_t i = 0; i < p->n; i++) {
        const uint8_t *address = p->at[i].address;
        bool ipv4 = plumbing_is_ipv4(address);
        if (needs_route(&p->at[i]) && is_new(p, i) &&
            add_local(&t, ipv4, ipv4 ? address + 12 : address, ipv4 ? 32 : 128, e))
            return -1;
    }
    return send_routes(&t, e);
}

/* ---- sockets ---- */

static int bind_to(int fd, const uint8_t address[16], uint16_t port)
{
    if (plumbing_is_ipv4(address)) {
        struct sockaddr_in a = { .sin_family = AF_INET,
                                 .sin_port = htons(port),
                                 .sin_addr.s_addr = htonl(plumbing_ipv4(address)) };
        return bind(fd, (struct sockaddr *)&a, sizeof a);
    }
    struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    memcpy(&a.sin6_addr, address, 16);
    return bind(fd, (struct sockaddr *)&a, sizeof a);
}

static int set(int fd, int level, int option)
{
    const int one = 1;
    return setsockopt(fd, level, option, &one, sizeof one);
}

enum kind {
    KIND_PLAIN,
    KIND_CATCHES, /* an address of another host belongs to its connections: see jar/nft.h */
    KIND_SHARES,  /* its port, with a socket at every address */
};

static int set_kind(int fd, bool ipv4, enum kind kind)
{
    if (kind == KIND_CATCHES)
        return set(fd, ipv4 ? IPPROTO_IP : IPPROTO_IPV6, ipv4 ? IP_TRANSPARENT : IPV6_TRANSPARENT);
    return kind == KIND_SHARES ? set(fd, SOL_SOCKET, SO_REUSEPORT) : 0;
}

/* The work of one plumber. */
struct work {
    const struct plumbing *plumbing;
    enum kind kind;
    bool used;      /* guest code was in the namespace before */
    unsigned tries; /* to get an address that is in use */
};

static int bind_patiently(struct work *w, int fd, const uint8_t address[16], uint16_t port)
{
    while (bind_to(fd, address, port) < 0) {
        if (errno != EADDRINUSE || w->tries == 0)
            return -1;
        w->tries--;
        (void)usleep(BIND_PAUSE_US);
    }
    return 0;
}

/* Connections that a listener accepts have its buffer. The porter puts a large piece of a stream into it and
 * sleeps, while the guest takes it in the small pieces of its own buffer. The guest's account has none of it. */
static void enlarge_buffer(int fd)
{
    const int bytes = SEND_BYTES;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) < 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes); /* as far as it may */
}

static int open_socket(struct work *w, const uint8_t address[16], uint16_t port, int type,
                       enum kind kind, int *ret_fd, struct err *e)
{
    bool ipv4 = plumbing_is_ipv4(address);
    autoclose int fd = socket(ipv4 ? AF_INET : AF_INET6, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || set(fd, SOL_SOCKET, SO_REUSEADDR) < 0 ||
        set(fd, ipv4 ? IPPROTO_IP : IPPROTO_IPV6, ipv4 ? IP_FREEBIND : IPV6_FREEBIND) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a socket of a jar");
    if (set_kind(fd, ipv4, kind) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a socket of a jar for every address");
    if (type == SOCK_DGRAM && ipv4 && set(fd, IPPROTO_IP, IP_PKTINFO) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a socket of a jar");
    if (bind_patiently(w, fd, address, port) < 0 ||
        (type == SOCK_STREAM && listen(fd, BACKLOG) < 0))
        return err_set(e, ERR_KERNEL, errno, "listen at port %u in a jar", port);
    if (type == SOCK_STREAM)
        enlarge_buffer(fd);
    *ret_fd = fd_take(&fd);
    return 0;
}

static bool is_everywhere(const struct plumbing_listener *l)
{
    return l->protocol == PLUMBING_TCP && plumbing_is_ipv4(l->address) &&
           plumbing_ipv4(l->address) == INADDR_ANY;
}

/* The rules for sockets at every address, and for every port. Without nf_tables a wildcard works nevertheless:
 * its sockets are at the addresses of the guest itself, too. */
static int catch_everything(const struct plumbing *p, enum kind *ret, struct err *e)
{
    bool wildcards = false, every_port = false;
    for (uint32_t i = 0; i < p->n; i++) {
        wildcards = wildcards || is_everywhere(&p->at[i]);
        every_port = every_port || p->at[i].port == PLUMBING_EVERY_PORT;
    }
    *ret = !p->full && !wildcards && !every_port ? KIND_PLAIN
           : nft_catch(p, wildcards, e) == 0     ? KIND_CATCHES
                                                 : KIND_SHARES;
    if (*ret == KIND_SHARES && p->full)
        return err_wrap(e, "open the full network");
    return *ret == KIND_SHARES && every_port ? err_wrap(e, "open every port of a host (HOST:*)")
                                             : 0;
}

/* The porter counts attempts without a route by them. We are in the namespace. */
static int open_counters(bool ipv4, int *ret_fd, struct err *e)
{
    const char *path = ipv4 ? "/proc/thread-self/net/snmp" : "/proc/thread-self/net/snmp6";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "open the counters of a jar's network");
    *ret_fd = fd;
    return 0;
}

/* Descriptor number i, as spec/plumbing.h counts. */
static int open_numbered(struct work *w, uint32_t i, int *ret_fd, struct err *e)
{
    const struct plumbing *p = w->plumbing;
    const enum kind kind = w->kind;
    uint8_t address[16];
    plumbing_set_ipv4(address, INADDR_LOOPBACK);
    if (i == PLUMBED_COUNTERS || i == PLUMBED_COUNTERS6)
        return open_counters(i == PLUMBED_COUNTERS, ret_fd, e);
    if (i < PLUMBED_LISTENERS)
        return open_socket(w, address, DNS_PORT, i == PLUMBED_DNS_UDP ? SOCK_DGRAM : SOCK_STREAM,
                           KIND_PLAIN, ret_fd, e);
    const struct plumbing_listener *l = &p->at[i - PLUMBED_LISTENERS];
    bool catches = kind == KIND_CATCHES && is_everywhere(l);
    bool catches6 = p->full && !plumbing_is_ipv4(l->address);
    bool every = l->port == PLUMBING_EVERY_PORT;
    if (catches)
        plumbing_set_ipv4(address, NFT_CATCH_ADDRESS);
    else
        memcpy(address, l->address, sizeof address);
    return open_socket(w, address, every ? NFT_CATCH_PORT : l->port,
                       l->protocol == PLUMBING_UDP ? SOCK_DGRAM : SOCK_STREAM,
                       catches || catches6 || every || kind == KIND_SHARES ? kind : KIND_PLAIN,
                       ret_fd, e);
}

static int send_sockets(struct work *w, uint32_t first, uint32_t all, int to_fd, struct err *e)
{
    int fds[PLUMBING_FDS];
    uint32_t n = 0, most = all - first < PLUMBING_FDS ? all - first : PLUMBING_FDS;
    int rc = 0;
    while (n < most && rc == 0) {
        rc = open_numbered(w, first + n, &fds[n], e);
        n += rc == 0;
    }
    struct plumbing_head head = { .first = first, .all = all, .used = w->used };
    struct iovec part = { &head, sizeof head };
    if (rc == 0 && fd_send(to_fd, &part, 1, fds, n, MSG_DONTWAIT) < 0) /* it waits for nobody */
        rc = err_set(e, ERR_UNAVAILABLE, errno, "hand sockets to the porter");
    while (n > 0)
        (void)close(fds[--n]);
    return rc;
}

int plumber_work(const struct plumbing *p, int to_fd, bool used, struct err *e)
{
    struct work w = { .plumbing = p, .used = used, .tries = used ? BIND_TRIES : 0 };
    uint32_t all = PLUMBED_LISTENERS + p->n;
    if (add_routes(p, e) || catch_everything(p, &w.kind, e))
        return -1;
    for (uint32_t first = 0; first < all; first += PLUMBING_FDS)
        if (send_sockets(&w, first, all, to_fd, e))
            return -1;
    return 0;
}

/* ---- the process ---- */

void jar_forget_network(struct jar *j)
{
    if (!j->network)
        return;
    fd_close(&j->network->fd);
    free(j->network);
    j->network = NULL;
}

static int set_network(struct jar *j, const struct plumbing *p, int fd, struct err *e)
{
    if (jar_on_host(j) || !p)
        return err_set(e, ERR_BAD_REQUEST, 0, "a network needs level jar or rootless");
    if (!jar_is_channel(fd))
        return err_set(e, ERR_PROTOCOL, 0, "the way to the porter is not a pair of sockets");
    j->network = malloc(sizeof *j->network);
    if (!j->network)
        return err_no_memory(e, "a jar");
    j->network->plumbing = *p;
    j->network->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return j->network->fd < 0 ? err_set(e, ERR_KERNEL, errno, "duplicate a descriptor") : 0;
}

int jar_take_network(struct jar *j, const struct job_spec *job, struct err *e)
{
    return job->flags & JOB_NETWORK ? set_network(j, job->plumbing, job->plumbing_fd, e) : 0;
}

_Noreturn static void plumber_main(const struct jar *j, int error_fd)
{
    struct err e = { 0 };
    (void)prctl(PR_SET_NAME, "jar-plumber", 0, 0, 0);
    int rc = as_owner_setns(j->host, j->init_pidfd, CLONE_NEWNET) < 0
                 ? err_set(&e, ERR_KERNEL, errno, "enter the network of a jar")
                 : plumber_work(&j->network->plumbing, j->network->fd, j->state == RUNNING, &e);
    if (rc == 0 && j->network->plumbing.trusts)
        rc = trust_install(j->network->fd, j->host, j->init_pidfd, &e);
    if (rc)
        (void)!fd_write_all(error_fd, &e, sizeof e);
    _exit(rc ? 1 : 0);
}

static int start_plumber(struct jar *j, struct err *e)
{
    int ends[2];
    if (fd_pipe(ends, e))
        return -1;
    autoclose int ours = ends[0], theirs = ends[1];
    pid_t pid = clone_process(0, -1, &j->plumber_pidfd, e);
    if (pid == 0)
        plumber_main(j, theirs);
    if (pid < 0)
        return -1;
    j->plumber = pid;
    j->plumber_error_fd = fd_take(&ours);
    j->plumbed = true;
    return 0;
}

/* Routes and a few sockets take less time than the start of a process. nf_tables may wait for others, and
 * an authority comes from the porter. */
static bool is_quick(const struct plumbing *p)
{
    bool quick = !p->trusts && !p->full && p->n <= QUICK_LISTENERS;
    for (uint32_t i = 0; quick && i < p->n; i++)
        quick = !is_everywhere(&p->at[i]) && p->at[i].port != PLUMBING_EVERY_PORT;
    return quick;
}

/* The warden enters the network of the jar for a moment. No guest code runs in it. */
static int plumb_here(struct jar *j, struct err *e)
{
    struct jar_host *h = j->host;
    if (!j->network)
        return 0;
    if (!netns_can_return(&h->own_net_fd) || as_owner_setns(h, j->init_pidfd, CLONE_NEWNET) < 0)
        return err_set(e, ERR_KERNEL, errno, "enter the network of a jar");
    int rc = plumber_work(&j->network->plumbing, j->network->fd, false, e);
    netns_return(h->own_net_fd);
    j->plumbed = true;
    if (rc == 0 && !(j->job.flags & (JOB_SESSION | JOB_STAYS)))
        j->end_fd = fd_take(&j->network->fd);
    jar_forget_network(j);
    return rc;
}

int jar_release_embryo(struct jar *j, struct err *e)
{
    return plumb_here(j, e) ? -1 : embryo_job_release(j->job_fd, e);
}

int jar_hand_over(struct jar *j, struct err *e)
{
    if (j->network && !j->plumbed && !is_quick(&j->network->plumbing)) {
        if (start_plumber(j, e))
            return -1;
        j->state = PLUMBING;
        return 0;
    }
    if (j->job_fd >= 0)
        return jar_send_job(j, e);
    return plumb_here(j, e) ? -1 : jar_start_program(j, e);
}

void jar_tell_end(struct jar *j)
{
    const struct plumbing_head head = { .first = PLUMBING_END_HEAD };
    if (j->end_fd >= 0) /* if it does not arrive, the end of the pair says the same later */
        (void)send(j->end_fd, &head, sizeof head, MSG_DONTWAIT | MSG_NOSIGNAL);
    fd_close(&j->end_fd);
}

void jar_kill_plumber(const struct jar *j)
{
    if (j->plumber_pidfd >= 0)
        (void)pidfd_send_signal(j->plumber_pidfd, SIGKILL, NULL, 0);
}

int jar_reap_plumber(struct jar *j, struct err *e)
{
    siginfo_t info = { 0 };
    if (j->plumber_pidfd < 0)
        return 0;
    bool reaped = waitid(P_PIDFD, (id_t)j->plumber_pidfd, &info, WEXITED) == 0;
    bool well = reaped && info.si_code == CLD_EXITED && info.si_status == 0;
    struct err why;
    if (!well && fd_read_full(j->plumber_error_fd, &why, sizeof why) == (ssize_t)sizeof why) {
        why.text[sizeof why.text - 1] = '\0';
        *e = why;
    } else if (!well) {
        (void)!err_set(e, ERR_KERNEL, 0, "the plumber of the jar died");
    }
    fd_close(&j->plumber_pidfd);
    fd_close(&j->plumber_error_fd);
    j->plumber = 0;
    jar_forget_network(j);
    return well ? 0 : -1;
}

/* ---- sessions ---- */

int jar_plumb(struct jar *j, const struct plumbing *p, int fd, int *ret_pidfd, struct err *e)
{
    if (!jar_is_session(j))
        return err_set(e, ERR_PROTOCOL, 0, "this job is no session");
    if (j->state != RUNNING || j->outcome.evidence.reason != END_EXIT)
        return err_set(e, ERR_UNAVAILABLE, 0, "the session is not running");
    if (j->plumber_pidfd >= 0)
        return err_set(e, ERR_BUSY, 0, "its network is being made already");
    if (p->trusts) /* it would enter the mounts of a guest that runs */
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "a session gets its secrets at its start alone: fork it, or let it sleep and "
            "wake, to have them again");
    if (set_network(j, p, fd, e) || start_plumber(j, e)) {
        jar_forget_network(j);
        return -1;
    }
    j->plumber_due_us = clock_us() + REPLUMB_US;
    *ret_pidfd = j->plumber_pidfd;
    return 0;
}

uint64_t jar_plumber_due_us(const struct jar *j)
{
    return j->state == RUNNING && j->plumber_pidfd >= 0 ? j->plumber_due_us : UINT64_MAX;
}

bool jar_take_plumbed(struct jar *j, uint64_t now_us, struct err *ret_e)
{
    siginfo_t info = { 0 };
    if (j->state != RUNNING || j->plumber_pidfd < 0)
        return false;
    if (now_us >= j->plumber_due_us) {
        jar_kill_plumber(j);
        j->plumber_due_us = now_us + REPLUMB_US;
    }
    if (waitid(P_PIDFD, (id_t)j->plumber_pidfd, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == 0)
        return false; /* it still runs */
    *ret_e = (struct err){ 0 };
    (void)!jar_reap_plumber(j, ret_e);
    return true;
}
