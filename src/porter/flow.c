/* One connection of a guest: from accept() to a connection to the outside. Runs in: porter.
 *
 * FLOW-1 The name of a connection is the name of the address that the guest connected to. Nothing that
 *        the guest sends says where the connection goes.
 * FLOW-2 A connection that cannot be made ends with a reset, so that the guest sees an error.
 * FLOW-3 The memory of the kernel that a run can fill with bytes which nobody reads is bounded. */
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
#include "porter/porter_impl.h"

enum {
    ACCEPTS_AT_ONCE = 32,
    ATTEMPT_US = 160 * 1000, /* after which another address is tried beside this one */
    LAST_ATTEMPT_US = 10 * 1000000,
    FLOW_FDS = 3, /* the guest, and two attempts */
};

/* The kernel lets the buffers of a connection grow to tens of MiB, which no cgroup counts. A guest that reads, and then
 * does not, would take them from the whole machine: so only a few connections have such buffers (FLOW-3). */
enum { ROOMY_OF_RUN = 4, ROOMY_OF_ALL = 64, SMALL_BYTES = 128 << 10 };

static void set_small(int fd, int option)
{
    const int bytes = SMALL_BYTES; /* the kernel takes it twice */
    (void)setsockopt(fd, SOL_SOCKET, option, &bytes, sizeof bytes);
}

static void take_room(struct flow *f)
{
    struct net *r = f->run;
    f->roomy = r->n_roomy < ROOMY_OF_RUN && r->porter->n_roomy < ROOMY_OF_ALL;
    r->n_roomy += f->roomy;
    r->porter->n_roomy += f->roomy;
    if (!f->roomy)
        set_small(f->guest.fd, SO_SNDBUF);
}

/* A close becomes a usual one, and not a reset: see net_take_listener(). */
static void set_usual_close(const struct source *s)
{
    const struct linger usual = { 0 };
    if (s->fd >= 0)
        (void)setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &usual, sizeof usual);
}

/* The other side gets ECONNRESET, and nothing of the connection stays in the kernel. */
static void close_hard(struct source *s)
{
    const struct linger at_once = { .l_onoff = 1 };
    if (s->fd >= 0)
        (void)setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    source_close(s);
}

static void set_state(struct flow *f, enum flow_state state)
{
    struct porter *p = f->run->porter;
    p->connecting -= f->state == FLOW_CONNECTING;
    f->state = state;
    p->connecting += f->state == FLOW_CONNECTING;
}

static void unlink_flow(struct flow *f)
{
    struct net *r = f->run;
    if (f->prev)
        f->prev->next = f->next;
    else
        r->flows = f->next;
    if (f->next)
        f->next->prev = f->prev;
    r->n_flows--;
    r->porter->flows--;
    r->n_roomy -= f->roomy;
    r->porter->n_roomy -= f->roomy;
    porter_give_fds(r->porter, FLOW_FDS);
}

/* A side that did not get all of a stream gets a reset: a part of it must not look like the whole. */
void flow_end(struct flow *f, enum network_outcome outcome)
{
    struct net *r = f->run;
    if (f->state == FLOW_OVER)
        return;
    set_state(f, FLOW_OVER);
    resolver_forget(f->query);
    f->query = NULL;
    source_close(&f->rival);
    if (outcome == NETWORK_CLOSED && f->in.shut)
        set_usual_close(&f->guest);
    source_close(&f->guest);
    if (outcome == NETWORK_CLOSED && f->out.shut)
        source_close(&f->remote);
    else
        close_hard(&f->remote);
    bool plain = outcome == NETWORK_CLOSED || outcome == NETWORK_RESET;
    f->record.outcome = plain && f->noted != NETWORK_OPEN ? f->noted : outcome;
    f->record.duration_us = clock_us() - f->started_us;
    net_record(r, &f->record);
    free(f->out.held);
    free(f->in.held);
    relay_close_pipe(f, &f->out);
    relay_close_pipe(f, &f->in);
    f->out.held = f->in.held = NULL;
    unlink_flow(f);
    porter_bury(r->porter, &f->dead);
}

/* ---- to the outside ---- */

static enum network_outcome outcome_of(int error)
{
    return error == ECONNREFUSED || error == ECONNRESET ? NETWORK_REFUSED
           : error == ETIMEDOUT                         ? NETWORK_TIMEOUT
                                                        : NETWORK_UNREACHABLE;
}

static void try_next(struct flow *f);

static void note_address(struct flow *f, const union target *t)
{
    uint16_t port;
    (void)!address_of(&t->any, f->record.address, &port);
}

/* The address that was checked is the address that answers. */
static bool is_peer(int fd, const union target *wanted)
{
    union target peer;
    uint8_t a[16], b[16];
    uint16_t port_a, port_b;
    socklen_t len = sizeof peer;
    return getpeername(fd, &peer.any, &len) == 0 && address_of(&peer.any, a, &port_a) == 0 &&
           address_of(&wanted->any, b, &port_b) == 0 && port_a == port_b &&
           memcmp(a, b, sizeof a) == 0;
}

/* One attempt has ended. */
static void on_attempt(struct flow *f, struct source *s, uint32_t events)
{
    const union target *t = &f->targets[s == &f->rival ? f->of_rival : f->of_remote];
    int error = 0;
    socklen_t len = sizeof error;
    if (events & (EPOLLERR | EPOLLHUP) && getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        error = errno;
    if (error) {
        f->last_errno = error;
        source_close(s);
        if (f->remote.fd < 0) /* otherwise the later attempt goes on */
            try_next(f);
        return;
    }
    if (!is_peer(s->fd, t)) {
        flow_end(f, NETWORK_BLOCKED_ADDRESS);
        return;
    }
    if (s == &f->rival) { /* the earlier one wins */
        source_close(&f->remote);
        f->remote = f->rival;
        f->rival.fd = -1;
        if (source_again(f->run->porter, &f->remote)) {
            flow_end(f, NETWORK_RESET);
            return;
        }
    }
    source_close(&f->rival);
    note_address(f, t);
    source_note(&f->remote, events);
    set_state(f, FLOW_RELAYING);
    if (inject_wants(f) && inject_connect(f)) {
        flow_end(f, NETWORK_RESET);
        return;
    }
    relay_begin(f);
}

static void on_remote_attempt(struct source *s, uint32_t events)
{
    on_attempt((struct flow *)((char *)s - offsetof(struct flow, remote)), s, events);
}

static void on_rival_attempt(struct source *s, uint32_t events)
{
    on_attempt((struct flow *)((char *)s - offsetof(struct flow, rival)), s, events);
}

/* The attempt goes on beside the next one. At most two are under way. */
static void keep_as_rival(struct flow *f)
{
    if (f->remote.fd < 0)
        return;
    source_close(&f->rival);
    f->rival = f->remote;
    f->rival.on_ready = on_rival_attempt;
    f->of_rival = f->of_remote;
    f->remote.fd = -1;
    f->remote.known = false;
    if (source_again(f->run->porter, &f->rival))
        source_close(&f->rival);
}

/* -1: this target is out of the question. GATE-1: it is judged now. */
static int start_connect(struct flow *f, const union target *t)
{
    const int one = 1;
    bool ipv4 = t->any.sa_family == AF_INET;
    if (!gate_is_open(&f->run->porter->gate, &t->any))
        return -1;
    autoclose int fd = socket(t->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        f->last_errno = errno;
        return -1;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (!f->roomy) {
        set_small(fd, SO_RCVBUF);
        set_small(fd, SO_SNDBUF);
    }
    if (connect(fd, &t->any, ipv4 ? sizeof t->v4 : sizeof t->v6) < 0 && errno != EINPROGRESS) {
        f->last_errno = errno;
        return -1;
    }
    keep_as_rival(f);
    f->remote = (struct source){ .on_ready = on_remote_attempt, .fd = fd_take(&fd) };
    f->of_remote = (size_t)(t - f->targets);
    note_address(f, t);
    if (source_watch(f->run->porter, &f->remote, SOURCE_CHANGES)) {
        f->last_errno = ENOMEM;
        source_close(&f->remote);
        return -1;
    }
    return 0;
}

/* Starts the next attempt. Ends the connection if none is left and none is under way. */
static void try_next(struct flow *f)
{
    set_state(f, FLOW_CONNECTING);
    while (f->target < f->n_targets)
        if (start_connect(f, &f->targets[f->target++]) == 0) {
            uint64_t now = clock_us();
            f->next_us = f->target < f->n_targets ? now + ATTEMPT_US : UINT64_MAX;
            f->due_us = now + LAST_ATTEMPT_US;
            return;
        }
    f->next_us = UINT64_MAX;
    if (f->remote.fd >= 0 || f->rival.fd >= 0)
        return;
    flow_end(f, f->last_errno ? outcome_of(f->last_errno) : NETWORK_BLOCKED_ADDRESS);
}

static void on_addresses(void *context, const union target *targets, size_t n)
{
    struct flow *f = context;
    f->query = NULL;
    f->n_targets = n < TARGETS_MAX ? n : TARGETS_MAX;
    memcpy(f->targets, targets, f->n_targets * sizeof *targets);
    if (n == 0) {
        flow_end(f, NETWORK_NO_NAME);
        return;
    }
    note_address(f, &targets[0]);
    try_next(f);
}

/* ---- from the guest ---- */

bool flow_find_target(const struct net *r, enum network_protocol protocol,
                      const union target *local, struct network_record *ret)
{
    uint8_t address[16];
    uint16_t port;
    if (address_of(&local->any, address, &port))
        return false;
    ret->port = port;
    const char *name = plumbing_is_ipv4(address) ? net_name_at(r, plumbing_ipv4(address)) : NULL;
    if (name) {
        (void)snprintf(ret->name, sizeof ret->name, "%s", name);
        return network_policy_match_name(&r->policy, name, protocol, port) >= 0;
    }
    return network_policy_match_address(&r->policy, address, protocol, port) >= 0;
}

void flow_listener_address(const struct plumbing_listener *at, union target *ret)
{
    *ret = (union target){ 0 };
    if (plumbing_is_ipv4(at->address)) {
        ret->v4 = (struct sockaddr_in){ .sin_family = AF_INET,
                                        .sin_port = htons(at->port),
                                        .sin_addr.s_addr = htonl(plumbing_ipv4(at->address)) };
        return;
    }
    ret->v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(at->port) };
    memcpy(&ret->v6.sin6_addr, at->address, sizeof at->address);
}

/* A listener at one address and port needs no question: the guest has connected to that. */
static int local_address(const struct flow *f, const struct plumbing_listener *at,
                         union target *ret)
{
    socklen_t len = sizeof *ret;
    bool everywhere = plumbing_is_ipv4(at->address) && plumbing_ipv4(at->address) == INADDR_ANY;
    if (f->run->plumbing.full || everywhere || at->port == PLUMBING_EVERY_PORT)
        return getsockname(f->guest.fd, &ret->any, &len);
    flow_listener_address(at, ret);
    return 0;
}

static void begin(struct flow *f, const struct plumbing_listener *at)
{
    union target local;
    if (local_address(f, at, &local) < 0 ||
        !flow_find_target(f->run, NETWORK_TCP, &local, &f->record)) {
        flow_end(f, NETWORK_DENIED_PORT);
        return;
    }
    if (source_watch(f->run->porter, &f->guest, SOURCE_CHANGES)) {
        flow_end(f, NETWORK_BUSY);
        return;
    }
    if (!f->record.name[0]) {
        on_addresses(f, &local, 1);
        return;
    }
    f->state = FLOW_RESOLVING;
    struct query *q = resolver_ask(f->run->porter->resolver, f->record.name, f->record.port,
                                   on_addresses, f);
    if (f->state == FLOW_RESOLVING) {
        f->query = q;
        if (!q)
            flow_end(f, NETWORK_NO_NAME);
    }
}

static void link_flow(struct flow *f)
{
    struct net *r = f->run;
    f->next = r->flows;
    if (r->flows)
        r->flows->prev = f;
    r->flows = f;
    r->n_flows++;
    r->porter->flows++;
}

bool flow_has_room(struct net *r)
{
    const uint64_t *caps = r->policy.caps.v;
    enum network_cap met = r->flows_total >= caps[NETWORK_CAP_CONNECTIONS_TOTAL]
                               ? NETWORK_CAP_CONNECTIONS_TOTAL
                           : r->n_flows >= caps[NETWORK_CAP_CONNECTIONS] ? NETWORK_CAP_CONNECTIONS
                                                                         : NETWORK_CAP_NONE;
    if (met == NETWORK_CAP_NONE)
        return true;
    net_note_limit(r, met);
    if (met == NETWORK_CAP_CONNECTIONS_TOTAL)
        net_close_listeners(r); /* no more come: from here on the kernel refuses them */
    return false;
}

/* The porter has no room for more connections of anybody. */
static void refuse_busy(struct net *r, const struct plumbing_listener *at)
{
    struct network_record record = { .outcome = NETWORK_BUSY,
                                     .port = at->port,
                                     .cap = NETWORK_CAP_NONE,
                                     .start_ms = (uint64_t)clock_unix_ms() };
    const char *name = plumbing_is_ipv4(at->address) ? net_name_at(r, plumbing_ipv4(at->address))
                                                     : NULL;
    (void)snprintf(record.name, sizeof record.name, "%s", name ? name : "");
    net_record(r, &record);
}

static struct flow *new_flow(struct net *r, const struct plumbing_listener *at)
{
    struct flow *f = NULL;
    if (!flow_has_room(r))
        return NULL;
    if (porter_take_fds(r->porter, FLOW_FDS)) {
        f = calloc(1, sizeof *f);
        if (!f)
            porter_give_fds(r->porter, FLOW_FDS);
    }
    if (!f)
        refuse_busy(r, at);
    return f;
}

static void accept_one(struct net *r, const struct plumbing_listener *at, int fd)
{
    struct source guest = { .on_ready = relay_on_guest, .fd = fd };
    struct flow *f = new_flow(r, at);
    if (!f) {
        source_close(&guest);
        return;
    }
    r->flows_total++;
    *f = (struct flow){ .run = r,
                        .guest = guest,
                        .remote = { .fd = -1 },
                        .rival = { .fd = -1 },
                        .due_us = UINT64_MAX,
                        .next_us = UINT64_MAX,
                        .started_us = clock_us(),
                        .record = { .id = ++r->next_record,
                                    .protocol = NETWORK_TCP,
                                    .cap = NETWORK_CAP_NONE,
                                    .start_ms = (uint64_t)clock_unix_ms() } };
    f->used_us = f->started_us;
    link_flow(f);
    take_room(f);
    begin(f, at);
}

void flow_on_connection(struct source *s, uint32_t events)
{
    struct listener *l = (struct listener *)s;
    struct net *r = l->run;
    (void)events;
    for (int i = 0; i < ACCEPTS_AT_ONCE && s->fd >= 0; i++) {
        int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
            net_pause(r); /* the connection stays in the queue, and would be told again and again */
        if (fd < 0)
            return;
        accept_one(r, &l->at, fd);
    }
}

/* ---- time, and a new policy ---- */

static void tell(struct flow *f)
{
    if (f->told || f->state == FLOW_OVER)
        return;
    f->told = true;
    net_record(f->run, &f->record);
}

void flow_tell_all(struct net *r)
{
    struct flow *next;
    for (struct flow *f = r->flows; f; f = next) {
        next = f->next;
        if (f->state == FLOW_RELAYING)
            relay_look(f);
        tell(f);
    }
}

void flow_on_time(struct flow *f, uint64_t now_us)
{
    uint64_t idle_us = f->run->policy.caps.v[NETWORK_CAP_IDLE_MS] * 1000;
    tell(f); /* not before: a short connection has one record */
    if (f->state == FLOW_CONNECTING && now_us >= f->next_us) {
        try_next(f);
    } else if (f->state == FLOW_CONNECTING && now_us >= f->due_us) {
        flow_end(f, NETWORK_TIMEOUT);
    } else if (f->state == FLOW_RELAYING && now_us >= f->due_us) {
        relay_give_up_hello(f);
    } else if (f->state == FLOW_RELAYING && now_us - f->used_us > idle_us) {
        flow_end(f, NETWORK_IDLE);
    }
}

static bool is_allowed(const struct flow *f)
{
    const struct network_policy *p = &f->run->policy;
    return f->record.name[0]
               ? network_policy_match_name(p, f->record.name, NETWORK_TCP, f->record.port) >= 0
               : network_policy_match_address(p, f->record.address, NETWORK_TCP, f->record.port) >=
                     0;
}

void flow_check_all(struct net *r)
{
    struct flow *next;
    for (struct flow *f = r->flows; f; f = next) {
        next = f->next;
        if (!is_allowed(f))
            flow_end(f, NETWORK_DENIED_PORT);
    }
}
