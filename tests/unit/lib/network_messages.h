/* The messages about networks, as test_wire.c sends and reads them. */
#pragma once

#include "check.h"
#include "wire/wire.h"

static int send_network(int fd, struct err *e)
{
    struct plumbing p = { .n = 2, .at = { { .port = 443 }, { .port = 65535, .protocol = 1 } } };
    plumbing_set_ipv4(p.at[0].address, SYNTHETIC_NET + 7);
    return wire_send_network(fd, 9, &p, 0, e);
}

static int read_network(const struct wire_message *m, struct err *e)
{
    struct wire_network x;
    if (wire_read_network(m, &x, e))
        return -1;
    CHECK(x.id == 9 && x.plumbing.n == 2 && x.plumbing.at[0].port == 443);
    CHECK(plumbing_ipv4(x.plumbing.at[0].address) == SYNTHETIC_NET + 7);
    CHECK(x.plumbing.at[1].port == 65535 && x.plumbing.at[1].protocol == PLUMBING_UDP);
    return 0;
}

static int send_porter(int fd, struct err *e)
{
    return wire_send_porter(fd, 8, 0, e);
}

static const struct wire_net some_bytes = { 9, "a\0b", 3 };

static int send_net_open(int fd, struct err *e)
{
    return wire_send_net_open(fd, &some_bytes, 0, e);
}

static int send_net_change(int fd, struct err *e)
{
    return wire_send_net_change(fd, &some_bytes, e);
}

static int send_net_record(int fd, struct err *e)
{
    return wire_send_net_record(fd, &some_bytes, e);
}

static int read_net(const struct wire_message *m, enum wire_type type, struct err *e)
{
    struct wire_net x;
    if (wire_read_net(m, type, &x, e))
        return -1;
    CHECK(x.id == 9 && x.n == 3 && memcmp(x.bytes, "a\0b", 3) == 0);
    return 0;
}

static int read_net_open(const struct wire_message *m, struct err *e)
{
    return read_net(m, WIRE_NET_OPEN, e);
}

static int read_net_change(const struct wire_message *m, struct err *e)
{
    return read_net(m, WIRE_NET_CHANGE, e);
}

static int read_net_record(const struct wire_message *m, struct err *e)
{
    return read_net(m, WIRE_NET_RECORD, e);
}

static int send_plumb(int fd, struct err *e)
{
    const struct plumbing p = { .n = 1, .at = { { .port = 443 } } };
    return wire_send_plumb(fd, 9, &p, 0, e);
}

static int read_plumb(const struct wire_message *m, struct err *e)
{
    struct wire_network x;
    if (wire_read_plumb(m, &x, e))
        return -1;
    CHECK(x.id == 9 && x.plumbing.n == 1 && x.plumbing.at[0].port == 443);
    return 0;
}

static int send_plumbed(int fd, struct err *e)
{
    struct wire_plumbed x = { .id = 9 };
    (void)!err_set(&x.err, ERR_KERNEL, 98, "why");
    return wire_send_plumbed(fd, &x, e);
}

static int read_plumbed(const struct wire_message *m, struct err *e)
{
    struct wire_plumbed x;
    if (wire_read_plumbed(m, &x, e))
        return -1;
    CHECK(x.id == 9 && x.err.code == ERR_KERNEL && x.err.sys == 98);
    return 0;
}

static int send_net_changed(int fd, struct err *e)
{
    return wire_send_net_changed(fd, &(struct wire_net_closed){ 9, 10, 11, 12 }, e);
}

static int read_net_changed(const struct wire_message *m, struct err *e)
{
    struct wire_net_closed x;
    if (wire_read_net_changed(m, &x, e))
        return -1;
    CHECK(x.id == 9 && x.unsent == 10 && x.unrouted == 11 && x.refused == 12);
    return 0;
}

static int send_porter_lost(int fd, struct err *e)
{
    return wire_send_porter_lost(fd, 9, e);
}

static int read_porter_lost(const struct wire_message *m, struct err *e)
{
    uint32_t number;
    if (wire_read_porter_lost(m, &number, e))
        return -1;
    CHECK(number == 9);
    return 0;
}

static int read_porter(const struct wire_message *m, struct err *e)
{
    uint32_t number;
    if (wire_read_porter(m, &number, e))
        return -1;
    CHECK(number == 8);
    return 0;
}

static int send_net_closed(int fd, struct err *e)
{
    return wire_send_net_closed(fd, &(struct wire_net_closed){ 9, 10, 11, 12 }, e);
}

static int read_net_closed(const struct wire_message *m, struct err *e)
{
    struct wire_net_closed x;
    if (wire_read_net_closed(m, &x, e))
        return -1;
    CHECK(x.id == 9 && x.unsent == 10 && x.unrouted == 11 && x.refused == 12);
    return 0;
}
