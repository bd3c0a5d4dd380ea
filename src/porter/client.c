#include "porter/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/clock.h"
#include "porter/plan.h"
#include "wire/wire.h"

struct porter_waiting {
    struct porter_waiting *next;
    uint64_t id;
    int fd; /* of net-open; -1: it is net-change */
    size_t n;
    char bytes[];
};

static void drop_first(struct porter_client *c)
{
    struct porter_waiting *w = c->first;
    c->first = w->next;
    if (!c->first)
        c->last = NULL;
    fd_close(&w->fd);
    free(w);
}

void porter_client_done(struct porter_client *c)
{
    fd_close(&c->fd);
    while (c->first)
        drop_first(c);
    c->stuck_ms = 0;
}

int porter_client_flush(struct porter_client *c, struct err *e)
{
    while (c->first && c->fd >= 0) {
        struct porter_waiting *w = c->first;
        struct wire_net x = { .id = w->id, .bytes = w->bytes, .n = w->n };
        if (w->fd >= 0 ? wire_send_net_open(c->fd, &x, w->fd, e)
                       : wire_send_net_change(c->fd, &x, e)) {
            if (e->sys != EAGAIN && e->sys != ENOBUFS)
                return -1;
            c->stuck_ms = c->stuck_ms ? c->stuck_ms : clock_ms();
            return 0;
        }
        c->stuck_ms = 0;
        drop_first(c);
    }
    return 0;
}

uint64_t porter_client_due_ms(const struct porter_client *c)
{
    return c->stuck_ms ? c->stuck_ms + PORTER_PATIENCE_MS : UINT64_MAX;
}

/* Takes over the descriptor. */
static int send_or_wait(struct porter_client *c, uint64_t id, const struct buf *policy, int fd,
                        struct err *e)
{
    struct porter_waiting *w = malloc(sizeof *w + policy->len);
    if (!w) {
        fd_close(&fd);
        return err_no_memory(e, "a message to the porter");
    }
    *w = (struct porter_waiting){ .id = id, .fd = fd, .n = policy->len };
    memcpy(w->bytes, policy->data, policy->len);
    *(c->last ? &c->last->next : &c->first) = w;
    c->last = w;
    return porter_client_flush(c, e);
}

static int not_there(const struct porter_client *c, struct err *e)
{
    return c->fd >= 0 ? 0
                      : err_set(e, ERR_UNAVAILABLE, 0,
                                "the process that connects jars to the network is not running: try "
                                "again in a moment");
}

int porter_client_open(struct porter_client *c, uint64_t id, const struct network_policy *policy,
                       struct plumbing *ret, int *ret_fd, struct err *e)
{
    int ends[2];
    scoped(buf) bytes = { 0 };
    if (not_there(c, e) || plan_make(policy, ret, e) || network_policy_encode(policy, &bytes, e) ||
        wire_pair(ends, e))
        return -1;
    autoclose int ours = ends[0];
    if (send_or_wait(c, id, &bytes, ends[1], e))
        return err_wrap(e, "open the network of a jar");
    *ret_fd = fd_take(&ours);
    return 0;
}

int porter_client_change(struct porter_client *c, uint64_t id, const struct network_policy *policy,
                         struct err *e)
{
    scoped(buf) bytes = { 0 };
    if (not_there(c, e) || network_policy_encode(policy, &bytes, e))
        return -1;
    return send_or_wait(c, id, &bytes, -1, e);
}

static int read_event(const struct wire_message *m, struct porter_event *ret, struct err *e)
{
    struct wire_net_closed closed;
    struct wire_net x;
    *ret = (struct porter_event){ .closed = m->type == WIRE_NET_CLOSED,
                                  .changed = m->type == WIRE_NET_CHANGED };
    if (ret->closed || ret->changed) {
        if (ret->closed ? wire_read_net_closed(m, &closed, e)
                        : wire_read_net_changed(m, &closed, e))
            return -1;
        ret->id = closed.id;
        ret->omitted = closed.unsent;
        ret->unrouted = closed.unrouted;
        ret->refused = closed.refused;
        return 1;
    }
    if (wire_read_net(m, WIRE_NET_RECORD, &x, e))
        return err_set(e, ERR_PROTOCOL, 0, "the porter sent a message that is not its own");
    ret->id = x.id;
    return network_record_decode(x.bytes, x.n, &ret->record, e) ? -1 : 1;
}

int porter_client_read(const struct porter_client *c, struct porter_event *ret, struct err *e)
{
    autofree struct wire_message *m = malloc(sizeof *m);
    if (!m)
        return err_no_memory(e, "a message");
    int got = wire_receive(c->fd, m, e);
    if (got < 0 && (e->sys == EAGAIN || e->sys == EINTR))
        return 0;
    if (got <= 0)
        return got < 0 ? -1 : err_set(e, ERR_UNAVAILABLE, 0, "the porter is gone");
    int rc = read_event(m, ret, e);
    wire_message_done(m);
    return rc;
}
