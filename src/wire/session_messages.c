/* The messages about cells of sessions: a pair of functions each, as in messages.c. */
#include "wire/body.h"

int wire_send_cell(int fd, uint64_t id, const struct cell_limits *limits, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, id);
    pack_u64(&b.p, limits->number);
    pack_u64(&b.p, limits->wall_ms);
    pack_u64(&b.p, limits->cpu_ms);
    pack_u64(&b.p, limits->grace_ms);
    return body_send(fd, WIRE_CELL, &b, NULL, e);
}

int wire_read_cell(const struct wire_message *m, struct wire_cell *ret, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_CELL);
    struct wire_cell c = { .id = unpack_u64(&u) };
    c.limits.number = unpack_u64(&u);
    c.limits.wall_ms = unpack_u64(&u);
    c.limits.cpu_ms = unpack_u64(&u);
    c.limits.grace_ms = unpack_u64(&u);
    if (unpack_end(&u, "cell", e))
        return -1;
    *ret = c;
    return 0;
}

int wire_send_cell_end(int fd, uint64_t id, const struct cell_usage *c, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, id);
    pack_u64(&b.p, c->number);
    pack_u32(&b.p, (uint32_t)c->interrupted);
    pack_u64(&b.p, c->wall_us);
    pack_u64(&b.p, c->cpu_us);
    pack_u64(&b.p, c->memory_bytes);
    pack_u64(&b.p, c->memory_peak_bytes);
    pack_u64(&b.p, c->pids);
    pack_u64(&b.p, c->oom_kills);
    pack_u64(&b.p, c->disk_bytes);
    return body_send(fd, WIRE_CELL_END, &b, NULL, e);
}

int wire_read_cell_end(const struct wire_message *m, struct wire_cell_end *ret, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_CELL_END);
    struct wire_cell_end x = { .id = unpack_u64(&u) };
    x.usage.number = unpack_u64(&u);
    x.usage.interrupted = (enum cell_interrupt)unpack_u32(&u);
    x.usage.wall_us = unpack_u64(&u);
    x.usage.cpu_us = unpack_u64(&u);
    x.usage.memory_bytes = unpack_u64(&u);
    x.usage.memory_peak_bytes = unpack_u64(&u);
    x.usage.pids = unpack_u64(&u);
    x.usage.oom_kills = unpack_u64(&u);
    x.usage.disk_bytes = unpack_u64(&u);
    if ((unsigned)x.usage.interrupted >= CELL_INTERRUPTS_ || x.usage.number == 0)
        u.failed = true;
    if (unpack_end(&u, "cell-end", e))
        return -1;
    *ret = x;
    return 0;
}

int wire_send_interrupt(int fd, uint64_t id, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, id);
    return body_send(fd, WIRE_INTERRUPT, &b, NULL, e);
}

int wire_read_interrupt(const struct wire_message *m, uint64_t *ret_id, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_INTERRUPT);
    uint64_t id = unpack_u64(&u);
    if (unpack_end(&u, "interrupt", e))
        return -1;
    *ret_id = id;
    return 0;
}
