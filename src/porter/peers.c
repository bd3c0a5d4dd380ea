/* The keepers. A keeper that does not read holds records in our memory, up to UNSENT_MAX bytes;
 * further ones are omitted. Beyond UNSENT_STALLS bytes we read no message of it. Runs in: porter. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "porter/porter_impl.h"

enum { UNSENT_MAX = 16 << 20, UNSENT_STALLS = UNSENT_MAX + (1 << 20) };

static size_t size_of(const struct unsent *u)
{
    return sizeof *u + u->n;
}

static int send_one(const struct peer *peer, const struct unsent *u, struct err *e)
{
    if (u->closes || u->changes)
        return u->closes ? wire_send_net_closed(peer->source.fd, &u->counts, e)
                         : wire_send_net_changed(peer->source.fd, &u->counts, e);
    return wire_send_net_record(peer->source.fd, &(struct wire_net){ u->run, u->bytes, u->n }, e);
}

static void flush(struct peer *peer)
{
    struct err e = { 0 };
    while (peer->first && peer->source.fd >= 0) {
        struct unsent *u = peer->first;
        if (send_one(peer, u, &e)) {
            if (e.sys != EAGAIN && e.sys != ENOBUFS)
                source_close(&peer->source); /* see end_broken_peers() */
            break;
        }
        peer->first = u->next;
        if (!peer->first)
            peer->last = NULL;
        peer->unsent_bytes -= size_of(u);
        free(u);
    }
    uint32_t reads = peer->unsent_bytes < UNSENT_STALLS ? EPOLLIN : 0;
    if (peer->source.fd >= 0)
        (void)!source_watch(peer->porter, &peer->source, reads | (peer->first ? EPOLLOUT : 0));
}

static void enqueue(struct peer *peer, struct unsent *u)
{
    if (!u)
        return;
    if (peer->last)
        peer->last->next = u;
    else
        peer->first = u;
    peer->last = u;
    peer->unsent_bytes += size_of(u);
    flush(peer);
}

bool peer_send_record(struct peer *peer, uint64_t run, const char *bytes, size_t n)
{
    struct unsent *u = peer->unsent_bytes < UNSENT_MAX ? calloc(1, sizeof *u + n) : NULL;
    if (!u)
        return false;
    u->run = run;
    u->n = n;
    memcpy(u->bytes, bytes, n);
    enqueue(peer, u);
    return true;
}

static void send_counts(struct peer *peer, bool closes, const struct wire_net_closed *counts)
{
    struct unsent *u = calloc(1, sizeof *u);
    if (u) {
        u->run = counts->id;
        u->closes = closes;
        u->changes = !closes;
        u->counts = *counts;
    }
    enqueue(peer, u);
}

void peer_send_closed(struct peer *peer, const struct wire_net_closed *counts)
{
    send_counts(peer, true, counts);
}

void peer_send_changed(struct peer *peer, const struct wire_net_closed *counts)
{
    send_counts(peer, false, counts);
}

/* A policy that cannot be served is closed at once: its jar does not start. */
static int on_open(struct peer *peer, struct err *e)
{
    struct wire_message *m = &peer->porter->message;
    struct wire_net x;
    struct err why = { 0 };
    if (wire_read_net(m, WIRE_NET_OPEN, &x, e))
        return -1;
    if (net_open(peer, &x, &m->fds[0], &why)) {
        if (why.code == ERR_PROTOCOL) {
            *e = why;
            return -1;
        }
        peer_send_closed(peer, &(struct wire_net_closed){ .id = x.id });
    }
    return 0;
}

static int on_change(struct peer *peer, struct err *e)
{
    struct wire_net x;
    return wire_read_net(&peer->porter->message, WIRE_NET_CHANGE, &x, e) ? -1
                                                                         : net_change(peer, &x, e);
}

static int take_message(struct peer *peer, struct err *e)
{
    static int (*const handlers[WIRE_TYPE_COUNT_])(
        struct peer *, struct err *) = { [WIRE_NET_OPEN] = on_open, [WIRE_NET_CHANGE] = on_change };
    struct wire_message *m = &peer->porter->message;
    int got = wire_receive(peer->source.fd, m, e);
    if (got < 0 && (e->sys == EAGAIN || e->sys == EINTR))
        return 0;
    if (got <= 0)
        return -1;
    int rc = handlers[m->type] ? handlers[m->type](peer, e) : -1;
    wire_message_done(m);
    return rc;
}

static void on_peer(struct source *s, uint32_t events)
{
    struct peer *peer = (struct peer *)((char *)s - offsetof(struct peer, source));
    struct err e = { 0 };
    if (events & EPOLLOUT)
        flush(peer);
    if (s->fd < 0 || (events & ~(uint32_t)EPOLLOUT && take_message(peer, &e)))
        peer_close(peer);
}

int peer_new(struct porter *p, int fd, struct err *e)
{
    autoclose int own = fd;
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return err_no_memory(e, "a keeper");
    *peer = (struct peer){ .porter = p, .source = { .on_ready = on_peer, .fd = own } };
    if (fd_set_nonblock(own, e) || source_watch(p, &peer->source, EPOLLIN)) {
        free(peer);
        return err_set(e, ERR_KERNEL, errno, "watch a keeper");
    }
    (void)fd_take(&own);
    peer->next = p->peers;
    p->peers = peer;
    return 0;
}

/* With a keeper its jars end, or lose their network. */
void peer_close(struct peer *peer)
{
    struct porter *p = peer->porter;
    struct peer **at = &p->peers;
    struct net *next;
    while (*at && *at != peer)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = peer->next;
    source_close(&peer->source);
    for (struct net *r = p->nets; r; r = next) {
        next = r->next;
        if (r->peer == peer)
            net_close(r);
    }
    while (peer->first) {
        struct unsent *u = peer->first;
        peer->first = u->next;
        free(u);
    }
    peer->last = NULL;
    porter_bury(p, &peer->dead);
}
