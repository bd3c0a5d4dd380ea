/* The messages about sessions: a pair of functions each, as in messages.c. */
#include "base/auto.h"
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

int wire_send_measure(int fd, uint64_t id, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, id);
    return body_send(fd, WIRE_MEASURE, &b, NULL, e);
}

int wire_read_measure(const struct wire_message *m, uint64_t *ret_id, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_MEASURE);
    uint64_t id = unpack_u64(&u);
    if (unpack_end(&u, "measure", e))
        return -1;
    *ret_id = id;
    return 0;
}

int wire_send_measured(int fd, const struct wire_measured *x, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, x->id);
    pack_u64(&b.p, x->memory_bytes);
    pack_u64(&b.p, x->pids);
    pack_u64(&b.p, x->usage.wall_us);
    pack_u64(&b.p, x->usage.cpu_us);
    pack_u64(&b.p, x->usage.memory_peak_bytes);
    pack_u64(&b.p, x->usage.pids_peak);
    return body_send(fd, WIRE_MEASURED, &b, NULL, e);
}

int wire_read_measured(const struct wire_message *m, struct wire_measured *ret, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_MEASURED);
    struct wire_measured x = { .id = unpack_u64(&u) };
    x.memory_bytes = unpack_u64(&u);
    x.pids = unpack_u64(&u);
    x.usage.wall_us = unpack_u64(&u);
    x.usage.cpu_us = unpack_u64(&u);
    x.usage.memory_peak_bytes = unpack_u64(&u);
    x.usage.pids_peak = unpack_u64(&u);
    if (unpack_end(&u, "measured", e))
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

int wire_send_keeper(int fd, uint32_t number, int wire_fd, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u32(&b.p, number);
    return body_send(fd, WIRE_KEEPER, &b, &wire_fd, e);
}

int wire_read_keeper(const struct wire_message *m, uint32_t *ret_number, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_KEEPER);
    uint32_t number = unpack_u32(&u);
    if (number == 0)
        u.failed = true;
    if (unpack_end(&u, "keeper", e))
        return -1;
    *ret_number = number;
    return 0;
}

int wire_new_keeper(int warden_fd, uint32_t number, int *ret_fd, struct err *e)
{
    int fds[2];
    if (wire_pair(fds, e))
        return -1;
    autoclose int ours = fds[0], theirs = fds[1];
    if (wire_send_keeper(warden_fd, number, theirs, e))
        return -1;
    *ret_fd = fd_take(&ours);
    return 0;
}

static void unpack_note(struct unpacker *u, const char **ret_note, size_t *ret_len)
{
    *ret_note = unpack_bytes(u, ret_len);
    if (!*ret_note || *ret_len > KEEP_NOTE_MAX)
        u->failed = true;
}

int wire_send_keep(int fd, const struct wire_keep *k, const int fds[KEEP_FDS], struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, k->id);
    pack_bytes(&b.p, k->note, k->note_len);
    if (k->note_len > KEEP_NOTE_MAX)
        return err_set(e, ERR_TOO_LARGE, 0, "a note of %zu bytes: up to %d are accepted",
                       k->note_len, KEEP_NOTE_MAX);
    return body_send(fd, WIRE_KEEP, &b, fds, e);
}

int wire_read_keep(const struct wire_message *m, struct wire_keep *ret, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_KEEP);
    struct wire_keep k = { .id = unpack_u64(&u) };
    unpack_note(&u, &k.note, &k.note_len);
    if (unpack_end(&u, "keep", e))
        return -1;
    *ret = k;
    return 0;
}

int wire_send_adopt(int fd, uint64_t after, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, after);
    return body_send(fd, WIRE_ADOPT, &b, NULL, e);
}

int wire_read_adopt(const struct wire_message *m, uint64_t *ret_after, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_ADOPT);
    uint64_t after = unpack_u64(&u);
    if (unpack_end(&u, "adopt", e))
        return -1;
    *ret_after = after;
    return 0;
}

int wire_send_adopted(int fd, uint32_t kept, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u32(&b.p, kept);
    return body_send(fd, WIRE_ADOPTED, &b, NULL, e);
}

int wire_read_adopted(const struct wire_message *m, uint32_t *ret_kept, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_ADOPTED);
    uint32_t kept = unpack_u32(&u);
    if (unpack_end(&u, "adopted", e))
        return -1;
    *ret_kept = kept;
    return 0;
}

int wire_send_kept(int fd, const struct wire_kept *k, const int fds[KEEP_FDS], struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, k->id);
    pack_u32(&b.p, k->started);
    pack_u32(&b.p, (uint32_t)k->start);
    pack_u64(&b.p, k->cell);
    pack_bytes(&b.p, k->note, k->note_len);
    return body_send(fd, WIRE_KEPT, &b, fds, e);
}

int wire_read_kept(const struct wire_message *m, struct wire_kept *ret, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_KEPT);
    struct wire_kept k = { .id = unpack_u64(&u) };
    uint32_t started = unpack_u32(&u);
    k.started = started == 1;
    k.start = (enum start)unpack_u32(&u);
    k.cell = unpack_u64(&u);
    unpack_note(&u, &k.note, &k.note_len);
    if (started > 1 || (unsigned)k.start >= START_COUNT_)
        u.failed = true;
    if (unpack_end(&u, "kept", e))
        return -1;
    *ret = k;
    return 0;
}

int wire_send_files(int fd, const struct wire_files *f, const int fds[2], struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, f->id);
    pack_u32(&b.p, (uint32_t)f->operation);
    pack_str(&b.p, f->path);
    return body_send(fd, WIRE_FILES, &b, fds, e);
}

int wire_read_files(const struct wire_message *m, struct wire_files *ret, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_FILES);
    struct wire_files f = { .id = unpack_u64(&u) };
    f.operation = (enum live_file_operation)unpack_u32(&u);
    f.path = unpack_str(&u);
    if ((unsigned)f.operation >= LIVE_OPERATIONS_)
        u.failed = true;
    if (unpack_end(&u, "files", e))
        return -1;
    *ret = f;
    return 0;
}
