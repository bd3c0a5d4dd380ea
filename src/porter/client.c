#include "porter/client.h"

#include <errno.h>
#include <stdlib.h>

#include "base/auto.h"
#include "base/buf.h"
#include "porter/plan.h"
#include "wire/wire.h"

void porter_client_done(struct porter_client *c)
{
    fd_close(&c->fd);
}

static int not_there(const struct porter_client *c, struct err *e)
{
    return c->fd >= 0 ? 0
                      : err_set(e, ERR_UNAVAILABLE, 0,
                                "the process that connects jars to the network is not running: try "
                                "again in a moment");
}

int porter_client_open(const struct porter_client *c, uint64_t id,
                       const struct network_policy *policy, struct plumbing *ret, int *ret_fd,
                       struct err *e)
{
    int ends[2];
    scoped(buf) bytes = { 0 };
    if (not_there(c, e) || plan_make(policy, ret, e) || network_policy_encode(policy, &bytes, e) ||
        wire_pair(ends, e))
        return -1;
    autoclose int ours = ends[0], theirs = ends[1];
    struct wire_net x = { .id = id, .bytes = bytes.data, .n = bytes.len };
    if (wire_send_net_open(c->fd, &x, theirs, e))
        return err_wrap(e, "open the network of a jar");
    *ret_fd = fd_take(&ours);
    return 0;
}

int porter_client_change(const struct porter_client *c, uint64_t id,
                         const struct network_policy *policy, struct err *e)
{
    scoped(buf) bytes = { 0 };
    if (not_there(c, e) || network_policy_encode(policy, &bytes, e))
        return -1;
    return wire_send_net_change(c->fd, &(struct wire_net){ id, bytes.data, bytes.len }, e);
}

void porter_client_close(const struct porter_client *c, uint64_t id)
{
    struct err ignored;
    if (c->fd >= 0)
        (void)!wire_send_net_close(c->fd, id, &ignored);
}

static int read_event(const struct wire_message *m, struct porter_event *ret, struct err *e)
{
    struct wire_net_closed closed;
    struct wire_net x;
    *ret = (struct porter_event){ .closed = m->type == WIRE_NET_CLOSED };
    if (ret->closed) {
        if (wire_read_net_closed(m, &closed, e))
            return -1;
        ret->id = closed.id;
        ret->omitted = closed.unsent;
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
