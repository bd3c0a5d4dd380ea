/* One connection of a guest: from accept() to a connection to the outside. Runs in: porter.
 *
 * FLOW-1 The name of a connection is the name of the address that the guest connected to. Nothing that
 *        the guest sends says where the connection goes.
 * FLOW-2 A connection that cannot be made ends with a reset, so that the guest sees an error. */
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
    ATTEMPT_US = 2 * 1000000, /* if there is another address to try */
    LAST_ATTEMPT_US = 10 * 1000000,
    BUFFER_BYTES = 256 << 10,
};

/* A close becomes a reset, or a usual one. */
static void set_reset(const struct source *s, bool on)
{
    const struct linger at_once = { .l_onoff = on };
    if (s->fd >= 0)
        (void)setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

/* The guest gets ECONNRESET, and nothing of the connection stays in the kernel. */
static void close_hard(struct source *s)
{
    set_reset(s, true);
    source_close(s);
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
}

void flow_end(struct flow *f, enum network_outcome outcome)
{
    struct net *r = f->run;
    if (f->state == FLOW_OVER)
        return;
    f->state = FLOW_OVER;
    resolver_forget(f->query);
    f->query = NULL;
    if (outcome == NETWORK_CLOSED) {
        set_reset(&f->guest, false);
        source_close(&f->guest);
        source_close(&f->remote);
    } else {
        close_hard(&f->guest);
        close_hard(&f->remote);
    }
    f->record.outcome = outcome;
    f->record.duration_us = clock_us() - f->started_us;
    net_record(r, &f->record);
    free(f->out.held);
    free(f->in.held);
    relay_close_pipe(&f->out);
    relay_close_pipe(&f->in);
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

static void on_connected(struct source *s, uint32_t events)
{
    struct flow *f = (struct flow *)((char *)s - offsetof(struct flow, remote));
    union target peer;
    socklen_t len = sizeof f->last_errno, peer_len = sizeof peer;
    (void)events;
    if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &f->last_errno, &len) < 0)
        f->last_errno = errno;
    if (f->last_errno) {
        source_close(s);
        f->target++;
        try_next(f);
        return;
    }
    /* The address that was checked is the address that answers. */
    if (getpeername(s->fd, &peer.any, &peer_len) < 0 ||
        !gate_is_open(&f->run->porter->gate, &peer.any)) {
        flow_end(f, NETWORK_BLOCKED_ADDRESS);
        return;
    }
    relay_begin(f);
}

/* -1: this target is out of the question. */
static int start_connect(struct flow *f, const union target *t)
{
    const int one = 1, bytes = BUFFER_BYTES;
    bool ipv4 = t->any.sa_family == AF_INET;
    autoclose int fd = socket(t->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        f->last_errno = errno;
        return -1;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    if (connect(fd, &t->any, ipv4 ? sizeof t->v4 : sizeof t->v6) < 0 && errno != EINPROGRESS) {
        f->last_errno = errno;
        return -1;
    }
    f->remote = (struct source){ .on_ready = on_connected, .fd = fd_take(&fd) };
    uint16_t port;
    (void)!address_of(&t->any, f->record.address, &port);
    if (source_watch(f->run->porter, &f->remote, EPOLLOUT)) {
        f->last_errno = ENOMEM;
        source_close(&f->remote);
        return -1;
    }
    return 0;
}

static void try_next(struct flow *f)
{
    f->state = FLOW_CONNECTING;
    for (; f->target < f->n_targets; f->target++) {
        bool last = f->target + 1 == f->n_targets;
        if (start_connect(f, &f->targets[f->target]) == 0) {
            f->due_us = clock_us() + (last ? LAST_ATTEMPT_US : ATTEMPT_US);
            return;
        }
    }
    flow_end(f, outcome_of(f->last_errno));
}

/* Keeps the addresses that may be reached, and tries them. */
static void on_addresses(void *context, const union target *targets, size_t n)
{
    struct flow *f = context;
    f->query = NULL;
    for (size_t i = 0; i < n && f->n_targets < TARGETS_MAX; i++)
        if (gate_is_open(&f->run->porter->gate, &targets[i].any))
            f->targets[f->n_targets++] = targets[i];
    if (f->n_targets == 0) {
        uint16_t port;
        if (n > 0)
            (void)!address_of(&targets[0].any, f->record.address, &port);
        flow_end(f, n > 0 ? NETWORK_BLOCKED_ADDRESS : NETWORK_NO_NAME);
        return;
    }
    try_next(f);
}

/* ---- from the guest ---- */

/* Where the guest wanted to go: a name, or an address of the list. */
static bool find_target(struct flow *f, const union target *local, union target *ret_literal)
{
    const struct net *r = f->run;
    uint8_t address[16];
    uint16_t port;
    if (address_of(&local->any, address, &port))
        return false;
    f->record.port = port;
    const char *name = plumbing_is_ipv4(address) ? net_name_at(r, plumbing_ipv4(address)) : NULL;
    if (name) {
        (void)snprintf(f->record.name, sizeof f->record.name, "%s", name);
        return network_policy_match_name(&r->policy, name, NETWORK_TCP, port) >= 0;
    }
    *ret_literal = *local;
    return network_policy_match_address(&r->policy, address, NETWORK_TCP, port) >= 0;
}

static void begin(struct flow *f)
{
    union target local, literal;
    socklen_t len = sizeof local;
    if (getsockname(f->guest.fd, &local.any, &len) < 0 || !find_target(f, &local, &literal)) {
        flow_end(f, NETWORK_DENIED_PORT);
        return;
    }
    net_record(f->run, &f->record);
    if (!f->record.name[0]) {
        on_addresses(f, &literal, 1);
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

/* False: a cap refuses it. */
static bool has_room(struct net *r)
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

static void accept_one(struct net *r, int fd)
{
    struct source guest = { .fd = fd };
    struct flow *f = has_room(r) ? calloc(1, sizeof *f) : NULL;
    if (!f) {
        close_hard(&guest);
        return;
    }
    r->flows_total++;
    *f = (struct flow){ .run = r,
                        .guest = guest,
                        .remote = { .fd = -1 },
                        .due_us = UINT64_MAX,
                        .started_us = clock_us(),
                        .record = { .id = ++r->next_record,
                                    .protocol = NETWORK_TCP,
                                    .cap = NETWORK_CAP_NONE,
                                    .start_ms = (uint64_t)clock_unix_ms() } };
    f->used_us = f->started_us;
    set_reset(&f->guest, true); /* if we die: a cut stream must not look like a whole one */
    link_flow(f);
    begin(f);
}

void flow_on_connection(struct source *s, uint32_t events)
{
    struct net *r = ((struct listener *)s)->run;
    (void)events;
    for (int i = 0; i < ACCEPTS_AT_ONCE && s->fd >= 0; i++) {
        int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        accept_one(r, fd);
    }
}

/* ---- time, and a new policy ---- */

void flow_on_time(struct flow *f, uint64_t now_us)
{
    uint64_t idle_us = f->run->policy.caps.v[NETWORK_CAP_IDLE_MS] * 1000;
    if (f->state == FLOW_CONNECTING && now_us >= f->due_us) {
        f->last_errno = ETIMEDOUT;
        source_close(&f->remote);
        f->target++;
        try_next(f);
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
