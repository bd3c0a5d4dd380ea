/* The network of one jar: its policy, its sockets, its names and its log. Runs in: porter. */
#include <errno.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "porter/porter_impl.h"

/* Records of one run, and networks of one keeper: a jar each, and some that are closing. */
enum { RECORDS_MAX = 4096, DENIALS_MAX = 1024, NETS_MAX = 1280 };
/* Beside listeners: the way of its sockets, the name server, and counters. */
enum { NET_FDS = 5 + DNS_STREAMS };

struct net *net_find(struct porter *p, const struct peer *peer, uint64_t id)
{
    for (struct net *r = p->nets; r; r = r->next)
        if (r->peer == peer && r->id == id)
            return r;
    return NULL;
}

/* ---- names ---- */

static int add_name(struct net *r, const char *name, uint32_t ipv4, struct err *e)
{
    if (r->n_names == r->room_names) {
        size_t room = r->room_names ? 2 * r->room_names : 16;
        struct net_name *names = realloc(r->names, room * sizeof *names);
        if (!names)
            return err_no_memory(e, "a name");
        r->names = names;
        r->room_names = room;
    }
    char *copy = strdup(name);
    if (!copy)
        return err_no_memory(e, "a name");
    r->names[r->n_names++] = (struct net_name){ ipv4, copy };
    return 0;
}

const char *net_name_at(const struct net *r, uint32_t ipv4)
{
    for (size_t i = 0; i < r->n_names; i++)
        if (r->names[i].ipv4 == ipv4)
            return r->names[i].name;
    return NULL;
}

uint32_t net_address_of(struct net *r, const char *name)
{
    struct err ignored;
    for (size_t i = 0; i < r->n_names; i++)
        if (strcmp(r->names[i].name, name) == 0)
            return r->names[i].ipv4;
    if (r->n_names < r->policy.caps.v[NETWORK_CAP_NAMES])
        for (unsigned attempt = 0; attempt < PLAN_ATTEMPTS; attempt++) {
            uint32_t ipv4 = plan_address(name, attempt);
            if (!net_name_at(r, ipv4))
                return add_name(r, name, ipv4, &ignored) ? 0 : ipv4;
        }
    net_note_limit(r, NETWORK_CAP_NAMES);
    return 0;
}

static int add_listed_names(struct net *r, struct err *e)
{
    uint32_t addresses[NETWORK_RULES_MAX];
    if (plan_addresses(&r->policy, addresses, e))
        return -1;
    for (size_t i = 0; i < r->policy.n; i++)
        if (plan_rule_begins_name(&r->policy, i) &&
            add_name(r, r->policy.rules[i].name, addresses[i], e))
            return -1;
    return 0;
}

/* ---- the log ---- */

void net_record(struct net *r, const struct network_record *record)
{
    char bytes[NETWORK_RECORD_MAX];
    size_t n;
    struct err ignored;
    bool is_denial = record->outcome == NETWORK_DENIED_NAME;
    /* Names that a guest makes up leave room for its connections. */
    if (r->records >= RECORDS_MAX || (is_denial && r->denials >= DENIALS_MAX) ||
        network_record_encode(record, bytes, &n, &ignored)) {
        r->omitted++;
        return;
    }
    if (!peer_send_record(r->peer, r->id, bytes, n)) {
        r->omitted++;
        return;
    }
    r->records++;
    r->denials += is_denial;
}

void net_note_limit(struct net *r, enum network_cap cap)
{
    uint32_t bit = 1u << cap;
    if (r->caps_noted & bit)
        return;
    r->caps_noted |= bit;
    struct network_record record = { .outcome = NETWORK_LIMIT,
                                     .cap = cap,
                                     .start_ms = (uint64_t)clock_unix_ms() };
    net_record(r, &record);
}

void net_meet_cap(struct net *r, enum network_cap cap)
{
    r->caps_noted |= 1u << cap;
    net_close_listeners(r);
    while (r->flows) {
        r->flows->record.cap = cap;
        flow_end(r->flows, NETWORK_LIMIT);
    }
    dialog_end_all(r, NETWORK_LIMIT, cap);
}

/* ---- sockets ---- */

void net_close_listeners(struct net *r)
{
    for (uint32_t i = 0; i < r->plumbing.n; i++)
        source_close(&r->listeners[i].source);
}

static struct listener *listener_numbered(struct net *r, uint32_t i)
{
    return i == PLUMBED_DNS_UDP   ? &r->dns_udp
           : i == PLUMBED_DNS_TCP ? &r->dns_tcp
                                  : &r->listeners[i - PLUMBED_LISTENERS];
}

static void (*handler_of(const struct listener *l, uint32_t i))(struct source *, uint32_t)
{
    if (i == PLUMBED_DNS_UDP)
        return dns_on_datagram;
    if (i == PLUMBED_DNS_TCP)
        return dns_on_connection;
    return l->at.protocol == PLUMBING_TCP ? flow_on_connection : dialog_on_datagram;
}

static bool has_option(int fd, int option, int value)
{
    int found = -1;
    socklen_t n = sizeof found;
    return getsockopt(fd, SOL_SOCKET, option, &found, &n) == 0 && found == value;
}

/* Whether it is a socket of our own network namespace. No jar has one, but a keeper that was taken
 * over does: it could take a connection from it first, and we would wait for the next one. */
static bool is_of_machine(const struct net *r, int fd)
{
    uint64_t theirs = 0;
    socklen_t n = sizeof theirs;
    return getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &theirs, &n) < 0 ||
           theirs == r->porter->gate.own_cookie;
}

/* A descriptor came from a keeper, which may have been taken over: it must be of the kind that our
 * calls are for, and no call may wait on it. */
static bool is_fit(const struct net *r, int fd, bool is_stream)
{
    struct err ignored;
    return (has_option(fd, SO_DOMAIN, AF_INET) || has_option(fd, SO_DOMAIN, AF_INET6)) &&
           has_option(fd, SO_TYPE, is_stream ? SOCK_STREAM : SOCK_DGRAM) &&
           (!is_stream || has_option(fd, SO_ACCEPTCONN, 1)) && !is_of_machine(r, fd) &&
           fd_set_nonblock(fd, &ignored) == 0;
}

/* Every connection that it accepts gets these options. A close is a reset, also if we die: a cut stream
 * must not look like a whole one. */
static void set_options(const struct listener *l)
{
    const struct linger at_once = { .l_onoff = 1 };
    const int one = 1;
    (void)setsockopt(l->source.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    (void)setsockopt(l->source.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static void take_listener(struct net *r, struct listener *l, uint32_t number, int fd)
{
    l->run = r;
    l->source = (struct source){ .on_ready = handler_of(l, number), .fd = fd };
    if (l->source.on_ready == flow_on_connection)
        set_options(l);
    if (source_watch(r->porter, &l->source, EPOLLIN))
        source_close(&l->source);
}

/* Takes one datagram of the plumber. -1: there is no more, or it makes no sense. 1: the program has ended. */
static int take_sockets(struct net *r)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(PLUMBING_FDS * sizeof(int))];
    } control;
    struct plumbing_head head;
    struct iovec part = { &head, sizeof head };
    struct msghdr msg = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t got = recvmsg(r->hand_over.fd, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    struct cmsghdr *c = got >= 0 ? CMSG_FIRSTHDR(&msg) : NULL;
    if (!c && got == (ssize_t)sizeof head && head.first == PLUMBING_END_HEAD)
        return 1;
    if (!c || c->cmsg_type != SCM_RIGHTS)
        return -1;
    int fds[PLUMBING_FDS];
    size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(fds, CMSG_DATA(c), n * sizeof(int));
    uint32_t all = PLUMBED_LISTENERS + r->plumbing.n;
    bool sane = got == (ssize_t)sizeof head && head.all == all && head.first < all &&
                n <= all - head.first && !(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
    for (size_t i = 0; i < n; i++) {
        uint32_t number = head.first + (uint32_t)i;
        if (sane && (number == PLUMBED_COUNTERS || number == PLUMBED_COUNTERS6)) {
            unrouted_take(r, number == PLUMBED_COUNTERS6, fds[i], head.used);
            continue;
        }
        struct listener *l = sane ? listener_numbered(r, number) : NULL;
        bool is_stream = number == PLUMBED_DNS_TCP ||
                         (number != PLUMBED_DNS_UDP && l && l->at.protocol == PLUMBING_TCP);
        if (!l || l->source.fd >= 0 || !handler_of(l, number) || !is_fit(r, fds[i], is_stream)) {
            (void)close(fds[i]);
            continue;
        }
        take_listener(r, l, number, fds[i]);
    }
    return sane ? 0 : -1;
}

static void on_hand_over(struct source *s, uint32_t events)
{
    struct net *r = (struct net *)((char *)s - offsetof(struct net, hand_over));
    int got;
    do
        got = take_sockets(r);
    while (got == 0);
    /* Bytes of a connection may still be on their way, so one that is open waits for the end of the pair. */
    bool is_idle = got > 0 && !r->flows && !r->dialogs;
    if (is_idle || events & (EPOLLHUP | EPOLLERR)) /* nobody holds the other end: the jar is gone */
        net_close(r);
}

/* ---- its life ---- */

static struct net *net_new(struct peer *peer, uint64_t id, struct err *e)
{
    struct net *r = calloc(1, sizeof *r);
    if (!r) {
        (void)!err_no_memory(e, "a network");
        return NULL;
    }
    *r = (struct net){ .id = id, .porter = peer->porter, .peer = peer };
    r->injector.fd = r->hand_over.fd = r->dns_udp.source.fd = r->dns_tcp.source.fd = -1;
    r->counters[0] = r->counters[1] = -1;
    for (int i = 0; i < DNS_STREAMS; i++)
        r->streams[i].source.fd = -1;
    return r;
}

static int fill(struct net *r, const struct wire_net *x, struct err *e)
{
    const struct network_rule *outside;
    const struct porter *p = r->porter;
    if (network_policy_decode(x->bytes, x->n, &r->policy, e))
        return -1;
    if (r->policy.mode == NETWORK_NONE ||
        (p->bounded && !network_policy_is_within(&r->policy, &p->max, &outside)))
        return err_set(e, ERR_DENIED, 0, "the network list exceeds the maximum of the operator");
    if (plan_make(&r->policy, &r->plumbing, e) || add_listed_names(r, e))
        return -1;
    size_t fds = NET_FDS + r->plumbing.n + (r->policy.n_injects > 0);
    if (!porter_take_fds(r->porter, fds))
        return err_set(e, ERR_UNAVAILABLE, 0, "the porter has no room for another network");
    r->fds = fds;
    r->listeners = calloc(r->plumbing.n ? r->plumbing.n : 1, sizeof *r->listeners);
    if (!r->listeners)
        return err_no_memory(e, "a network");
    for (uint32_t i = 0; i < r->plumbing.n; i++) {
        r->listeners[i].source.fd = -1;
        r->listeners[i].at = r->plumbing.at[i];
    }
    return 0;
}

static void net_free(struct net *r)
{
    porter_give_fds(r->porter, r->fds);
    r->fds = 0;
    source_close(&r->injector);
    for (size_t i = 0; i < r->n_names; i++)
        free(r->names[i].name);
    free(r->names);
    free(r->listeners);
    network_policy_done(&r->policy);
    r->names = NULL;
    r->listeners = NULL;
    r->n_names = r->plumbing.n = 0;
}

int net_open(struct peer *peer, const struct wire_net *x, int *fd, struct err *e)
{
    struct porter *p = peer->porter;
    if (net_find(p, peer, x->id) || peer->n_nets >= NETS_MAX)
        return err_set(e, ERR_PROTOCOL, 0, "the network of this jar is open already, or too many");
    if (!has_option(*fd, SO_DOMAIN, AF_UNIX) || !has_option(*fd, SO_TYPE, SOCK_SEQPACKET))
        return err_set(e, ERR_PROTOCOL, 0, "the sockets of a jar cannot come this way");
    struct net *r = net_new(peer, x->id, e);
    if (!r)
        return -1;
    if (fill(r, x, e) || inject_open(r, x, e)) {
        net_free(r);
        free(r);
        return -1;
    }
    r->hand_over = (struct source){ .on_ready = on_hand_over, .fd = fd_take(fd) };
    if (source_watch(p, &r->hand_over, EPOLLIN)) {
        source_close(&r->hand_over);
        net_free(r);
        free(r);
        return err_set(e, ERR_KERNEL, errno, "wait for the sockets of a jar");
    }
    r->next = p->nets;
    p->nets = r;
    peer->n_nets++;
    return 0;
}

/* A socket at every address serves all names with its port. */
static bool has_port(const struct network_policy *p, const struct plumbing_listener *l)
{
    enum network_protocol protocol = l->protocol == PLUMBING_UDP ? NETWORK_UDP : NETWORK_TCP;
    for (size_t i = 0; i < p->n; i++)
        if (p->rules[i].port == l->port && p->rules[i].protocol == protocol)
            return true;
    return false;
}

static bool is_listed(const struct net *r, const struct plumbing_listener *l)
{
    struct network_record ignored = { 0 };
    union target local;
    if (r->policy.mode == NETWORK_FULL || (r->plumbing.full && r->policy.n > 0))
        return true;
    if (plumbing_is_ipv4(l->address) && plumbing_ipv4(l->address) == INADDR_ANY)
        return has_port(&r->policy, l);
    flow_listener_address(l, &local);
    return flow_find_target(r, l->protocol == PLUMBING_UDP ? NETWORK_UDP : NETWORK_TCP, &local,
                            &ignored);
}

/* The addresses of names stay as they are: a guest may remember them. A connection to one that the new policy
 * does not have is refused by the kernel. */
static void close_unlisted(struct net *r)
{
    for (uint32_t i = 0; i < r->plumbing.n; i++)
        if (!is_listed(r, &r->listeners[i].at))
            source_close(&r->listeners[i].source);
}

/* The guest has made or ended connections, and epoll has not told them yet. */
static void look_at_all(struct net *r)
{
    for (uint32_t i = 0; i < r->plumbing.n && !r->paused; i++) {
        struct source *s = &r->listeners[i].source;
        if (s->fd >= 0)
            s->on_ready(s, EPOLLIN);
    }
    flow_tell_all(r);
}

static struct wire_net_closed counts_of(struct net *r)
{
    const struct attempts a = unrouted_count(r);
    return (struct wire_net_closed){
        .id = r->id, .unsent = r->omitted, .unrouted = a.unrouted, .refused = a.refused
    };
}

/* Caps count from here on. Names keep their addresses, and so their number. */
static void count_anew(struct net *r)
{
    const struct wire_net_closed counts = counts_of(r);
    peer_send_changed(r->peer, &counts);
    r->omitted = r->records = r->denials = 0;
    r->bytes_in = r->bytes_out = 0;
    r->flows_total = r->n_flows;
    r->caps_noted = 0;
}

int net_change(struct peer *peer, const struct wire_net *x, struct err *e)
{
    struct net *r = net_find(peer->porter, peer, x->id);
    struct network_policy policy;
    const struct network_rule *outside;
    if (!r) { /* it was refused, or is over */
        peer_send_changed(peer, &(struct wire_net_closed){ .id = x->id });
        return 0;
    }
    if (network_policy_decode(x->bytes, x->n, &policy, e))
        return -1;
    /* a wider policy would need more sockets */
    if (!network_policy_is_within(&policy, &r->policy, &outside)) {
        network_policy_done(&policy);
        return err_set(e, ERR_PROTOCOL, 0, "the network of a jar can only become narrower");
    }
    network_policy_done(&r->policy);
    r->policy = policy;
    close_unlisted(r);
    flow_check_all(r);
    dialog_check_all(r);
    look_at_all(r); /* the keeper may end a part of its log here */
    count_anew(r);
    return 0;
}

void net_close(struct net *r)
{
    struct porter *p = r->porter;
    struct net **at = &p->nets;
    while (*at && *at != r)
        at = &(*at)->next;
    if (*at)
        *at = r->next;
    r->peer->n_nets--;
    while (r->flows) {
        const struct flow *f = r->flows;
        bool cut = f->state == FLOW_RELAYING && !f->out.shut;
        flow_end(r->flows, cut ? NETWORK_RESET : NETWORK_CLOSED);
    }
    dialog_end_all(r, NETWORK_CLOSED, NETWORK_CAP_NONE);
    /* The keeper waits for it: sockets are closed after it. */
    const struct wire_net_closed counts = counts_of(r);
    peer_send_closed(r->peer, &counts);
    unrouted_close(r);
    net_close_listeners(r);
    dns_close(r);
    source_close(&r->hand_over);
    r->dead.also = r->listeners; /* an event may be about one of them */
    r->listeners = NULL;
    net_free(r);
    porter_bury(p, &r->dead);
}

/* Levels of readiness, for listeners: a source that is not watched is not told. */
static void watch_listeners(struct net *r, uint32_t events)
{
    for (uint32_t i = 0; i < r->plumbing.n; i++)
        if (r->listeners[i].source.fd >= 0)
            (void)!source_watch(r->porter, &r->listeners[i].source, events);
    if (r->dns_tcp.source.fd >= 0)
        (void)!source_watch(r->porter, &r->dns_tcp.source, events);
}

void net_pause(struct net *r)
{
    r->paused = true;
    watch_listeners(r, 0);
}

void net_on_time(struct net *r, uint64_t now_us)
{
    struct flow *next;
    if (r->paused) {
        r->paused = false;
        watch_listeners(r, EPOLLIN);
    }
    for (struct flow *f = r->flows; f; f = next) {
        next = f->next;
        flow_on_time(f, now_us);
    }
    dialog_on_time(r, now_us);
    dns_on_time(r, now_us);
}
