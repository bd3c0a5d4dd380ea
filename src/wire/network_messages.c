/* The messages about the network of jars: a pair of functions each, as in messages.c. */
#include "base/array.h"
#include "wire/body.h"

static int send_plumbing(int fd, enum wire_type type, uint64_t id, const struct plumbing *p,
                         int socket_fd, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, id);
    pack_u32(&b.p, p->full);
    pack_u32(&b.p, p->trusts);
    pack_u32(&b.p, p->n);
    for (uint32_t i = 0; i < p->n; i++) {
        pack_bytes(&b.p, p->at[i].address, sizeof p->at[i].address);
        pack_u32(&b.p, p->at[i].port);
        pack_u32(&b.p, p->at[i].protocol);
    }
    return body_send(fd, type, &b, &socket_fd, e);
}

int wire_send_network(int fd, uint64_t id, const struct plumbing *p, int socket_fd, struct err *e)
{
    return send_plumbing(fd, WIRE_NETWORK, id, p, socket_fd, e);
}

int wire_send_plumb(int fd, uint64_t id, const struct plumbing *p, int socket_fd, struct err *e)
{
    return send_plumbing(fd, WIRE_PLUMB, id, p, socket_fd, e);
}

static bool is_somewhere(const uint8_t address[16])
{
    return !plumbing_is_ipv4(address) || plumbing_ipv4(address) != 0;
}

static void unpack_listener(struct unpacker *u, struct plumbing_listener *ret)
{
    size_t n;
    const char *address = unpack_bytes(u, &n);
    uint32_t port = unpack_u32(u), protocol = unpack_u32(u);
    bool every = port == PLUMBING_EVERY_PORT;
    if (!address || n != sizeof ret->address || port > UINT16_MAX ||
        protocol >= PLUMBING_PROTOCOLS_ ||
        (every && (protocol != PLUMBING_TCP || !is_somewhere((const uint8_t *)address)))) {
        u->failed = true;
        return;
    }
    memcpy(ret->address, address, n);
    ret->port = (uint16_t)port;
    ret->protocol = (uint8_t)protocol;
}

static int read_plumbing(const struct wire_message *m, enum wire_type type,
                         struct wire_network *ret, struct err *e)
{
    struct unpacker u = open_message(m, type);
    struct wire_network x = { .id = unpack_u64(&u) };
    uint32_t full = unpack_u32(&u), trusts = unpack_u32(&u);
    x.plumbing.full = full == 1;
    x.plumbing.trusts = trusts == 1;
    x.plumbing.n = unpack_u32(&u);
    if (full > 1 || trusts > 1 || x.plumbing.n > PLUMBING_LISTENERS_MAX)
        u.failed = true;
    for (uint32_t i = 0; !u.failed && i < x.plumbing.n; i++)
        unpack_listener(&u, &x.plumbing.at[i]);
    if (unpack_end(&u, "network", e))
        return -1;
    *ret = x;
    return 0;
}

int wire_read_network(const struct wire_message *m, struct wire_network *ret, struct err *e)
{
    return read_plumbing(m, WIRE_NETWORK, ret, e);
}

int wire_read_plumb(const struct wire_message *m, struct wire_network *ret, struct err *e)
{
    return read_plumbing(m, WIRE_PLUMB, ret, e);
}

static int send_number(int fd, enum wire_type type, uint32_t number, const int *fds, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u32(&b.p, number);
    return body_send(fd, type, &b, fds, e);
}

static int read_number(const struct wire_message *m, enum wire_type type, uint32_t *ret,
                       struct err *e)
{
    struct unpacker u = open_message(m, type);
    uint32_t number = unpack_u32(&u);
    if (unpack_end(&u, "porter", e))
        return -1;
    *ret = number;
    return 0;
}

int wire_send_porter(int fd, uint32_t number, int socket_fd, struct err *e)
{
    return send_number(fd, WIRE_PORTER, number, &socket_fd, e);
}

int wire_read_porter(const struct wire_message *m, uint32_t *ret_number, struct err *e)
{
    return read_number(m, WIRE_PORTER, ret_number, e);
}

int wire_send_porter_lost(int fd, uint32_t number, struct err *e)
{
    return send_number(fd, WIRE_PORTER_LOST, number, NULL, e);
}

int wire_read_porter_lost(const struct wire_message *m, uint32_t *ret_number, struct err *e)
{
    return read_number(m, WIRE_PORTER_LOST, ret_number, e);
}

/* An id, and bytes that another room reads. */
static int send_bytes(int fd, enum wire_type type, const struct wire_net *x, const int *fds,
                      struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, x->id);
    pack_bytes(&b.p, x->bytes, x->n);
    return body_send(fd, type, &b, fds, e);
}

int wire_send_net_open(int fd, const struct wire_net *x, int socket_fd, struct err *e)
{
    return send_bytes(fd, WIRE_NET_OPEN, x, &socket_fd, e);
}

int wire_send_net_change(int fd, const struct wire_net *x, struct err *e)
{
    return send_bytes(fd, WIRE_NET_CHANGE, x, NULL, e);
}

int wire_send_net_record(int fd, const struct wire_net *x, struct err *e)
{
    return send_bytes(fd, WIRE_NET_RECORD, x, NULL, e);
}

int wire_read_net(const struct wire_message *m, enum wire_type type, struct wire_net *ret,
                  struct err *e)
{
    struct unpacker u = open_message(m, type);
    struct wire_net x = { .id = unpack_u64(&u) };
    x.bytes = unpack_bytes(&u, &x.n);
    if (unpack_end(&u, "net", e))
        return -1;
    *ret = x;
    return 0;
}

static int send_omitted(int fd, enum wire_type type, const struct wire_net_closed *x, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, x->id);
    pack_u64(&b.p, x->unsent);
    pack_u64(&b.p, x->unrouted);
    pack_u64(&b.p, x->refused);
    return body_send(fd, type, &b, NULL, e);
}

static int read_omitted(const struct wire_message *m, enum wire_type type,
                        struct wire_net_closed *ret, struct err *e)
{
    struct unpacker u = open_message(m, type);
    struct wire_net_closed x = { .id = unpack_u64(&u) };
    x.unsent = unpack_u64(&u);
    x.unrouted = unpack_u64(&u);
    x.refused = unpack_u64(&u);
    if (unpack_end(&u, "net-closed", e))
        return -1;
    *ret = x;
    return 0;
}

int wire_send_net_changed(int fd, const struct wire_net_closed *x, struct err *e)
{
    return send_omitted(fd, WIRE_NET_CHANGED, x, e);
}

int wire_read_net_changed(const struct wire_message *m, struct wire_net_closed *ret, struct err *e)
{
    return read_omitted(m, WIRE_NET_CHANGED, ret, e);
}

int wire_send_net_closed(int fd, const struct wire_net_closed *x, struct err *e)
{
    return send_omitted(fd, WIRE_NET_CLOSED, x, e);
}

int wire_read_net_closed(const struct wire_message *m, struct wire_net_closed *ret, struct err *e)
{
    return read_omitted(m, WIRE_NET_CLOSED, ret, e);
}
