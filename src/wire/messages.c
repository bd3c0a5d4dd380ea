/* One pair of functions a message: what is written in one order is read in the same. */
#include <stdlib.h>
#include <string.h>

#include "wire/wire.h"

struct body {
    struct packer p;
    char bytes[WIRE_MAX_BYTES];
};

static void body_init(struct body *b)
{
    b->p = (struct packer){ .at = b->bytes, .left = sizeof b->bytes };
}

static int body_send(int fd, enum wire_type type, const struct body *b, const int *fds,
                     struct err *e)
{
    return wire_send(fd, type, &b->p, b->bytes, fds, e);
}

static struct unpacker open_message(const struct wire_message *m, enum wire_type type)
{
    return (struct unpacker){ .at = m->bytes, .left = m->len, .failed = m->type != type };
}

static void pack_err(struct packer *p, const struct err *x)
{
    pack_u32(p, (uint32_t)x->code);
    pack_u32(p, (uint32_t)x->sys);
    pack_str(p, x->text);
}

static void unpack_err(struct unpacker *u, struct err *ret)
{
    ret->code = (enum err_code)unpack_u32(u);
    ret->sys = (int)unpack_u32(u);
    const char *text = unpack_str(u);
    if (!text || strlen(text) >= sizeof ret->text || (unsigned)ret->code >= ERR_COUNT_) {
        u->failed = true;
        return;
    }
    memcpy(ret->text, text, strlen(text) + 1);
}

static void pack_isolation(struct packer *p, const struct isolation *x)
{
    pack_u32(p, (uint32_t)x->level);
    pack_u32(p, x->layers);
    pack_u32(p, x->unenforced);
    pack_u32(p, x->landlock_abi);
    pack_u32(p, x->cgroup_version);
}

static void unpack_isolation(struct unpacker *u, struct isolation *ret)
{
    ret->level = (enum level)unpack_u32(u);
    ret->layers = unpack_u32(u);
    ret->unenforced = unpack_u32(u);
    ret->landlock_abi = unpack_u32(u);
    ret->cgroup_version = unpack_u32(u);
}

int wire_send_hello(int fd, const struct wire_hello *h, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_err(&b.p, &h->err);
    pack_isolation(&b.p, &h->isolation);
    return body_send(fd, WIRE_HELLO, &b, NULL, e);
}

int wire_read_hello(const struct wire_message *m, struct wire_hello *ret, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_HELLO);
    struct wire_hello h = { 0 };
    unpack_err(&u, &h.err);
    unpack_isolation(&u, &h.isolation);
    if (unpack_end(&u, "hello", e))
        return -1;
    *ret = h;
    return 0;
}

int wire_send_spawn(int fd, const struct wire_spawn *s, const int fds[5], struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, s->id);
    pack_u32(&b.p, s->flags);
    for (int i = 0; i < LIMIT_COUNT; i++)
        pack_u64(&b.p, s->limits.v[i]);
    pack_strv(&b.p, s->argv);
    pack_strv(&b.p, s->envp);
    pack_strv(&b.p, s->outputs);
    return body_send(fd, WIRE_SPAWN, &b, fds, e);
}

void wire_spawn_done(struct wire_spawn *s)
{
    free(s->argv);
    free(s->envp);
    free(s->outputs);
    *s = (struct wire_spawn){ 0 };
}

int wire_read_spawn(const struct wire_message *m, struct wire_spawn *ret, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_SPAWN);
    struct wire_spawn s = { .id = unpack_u64(&u), .flags = unpack_u32(&u) };
    for (int i = 0; i < LIMIT_COUNT; i++)
        s.limits.v[i] = unpack_u64(&u);
    s.argv = unpack_strv(&u, WIRE_MAX_STRINGS);
    s.envp = unpack_strv(&u, WIRE_MAX_STRINGS);
    s.outputs = unpack_strv(&u, WIRE_MAX_STRINGS);
    if (s.flags & ~(uint32_t)SPAWN_WRITABLE_ROOT)
        u.failed = true;
    if (unpack_end(&u, "spawn", e)) {
        wire_spawn_done(&s);
        return -1;
    }
    *ret = s;
    return 0;
}

int wire_send_kill(int fd, const struct wire_kill *k, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, k->id);
    pack_u32(&b.p, (uint32_t)k->reason);
    return body_send(fd, WIRE_KILL, &b, NULL, e);
}

int wire_read_kill(const struct wire_message *m, struct wire_kill *ret, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_KILL);
    struct wire_kill k = { .id = unpack_u64(&u), .reason = (enum end_reason)unpack_u32(&u) };
    if (unpack_end(&u, "kill", e))
        return -1;
    if (k.reason != END_OUTPUT && k.reason != END_CANCEL)
        return err_set(e, ERR_PROTOCOL, 0, "a keeper cannot end a run for reason %u",
                       (unsigned)k.reason);
    *ret = k;
    return 0;
}

int wire_send_started(int fd, uint64_t id, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, id);
    return body_send(fd, WIRE_STARTED, &b, NULL, e);
}

int wire_read_started(const struct wire_message *m, uint64_t *ret_id, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_STARTED);
    uint64_t id = unpack_u64(&u);
    if (unpack_end(&u, "started", e))
        return -1;
    *ret_id = id;
    return 0;
}

int wire_send_ended(int fd, const struct wire_ended *x, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, x->id);
    pack_err(&b.p, &x->err);
    pack_u32(&b.p, (uint32_t)x->evidence.reason);
    pack_u32(&b.p, (uint32_t)x->evidence.exit_code);
    pack_u32(&b.p, (uint32_t)x->evidence.signal);
    pack_u32(&b.p, x->evidence.hits);
    pack_u64(&b.p, x->usage.wall_us);
    pack_u64(&b.p, x->usage.cpu_us);
    pack_u64(&b.p, x->usage.memory_peak_bytes);
    pack_u64(&b.p, x->usage.pids_peak);
    return body_send(fd, WIRE_ENDED, &b, NULL, e);
}

int wire_read_ended(const struct wire_message *m, struct wire_ended *ret, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_ENDED);
    struct wire_ended x = { .id = unpack_u64(&u) };
    unpack_err(&u, &x.err);
    x.evidence.reason = (enum end_reason)unpack_u32(&u);
    x.evidence.exit_code = (int)unpack_u32(&u);
    x.evidence.signal = (int)unpack_u32(&u);
    x.evidence.hits = unpack_u32(&u);
    x.usage.wall_us = unpack_u64(&u);
    x.usage.cpu_us = unpack_u64(&u);
    x.usage.memory_peak_bytes = unpack_u64(&u);
    x.usage.pids_peak = unpack_u64(&u);
    if (unpack_end(&u, "ended", e))
        return -1;
    if ((unsigned)x.evidence.reason >= END_REASON_COUNT_)
        return err_set(e, ERR_PROTOCOL, 0, "a run cannot end for reason %u",
                       (unsigned)x.evidence.reason);
    *ret = x;
    return 0;
}

int wire_send_warden(int fd, const struct isolation *isolation, int wire_fd, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_isolation(&b.p, isolation);
    return body_send(fd, WIRE_WARDEN, &b, &wire_fd, e);
}

int wire_read_warden(const struct wire_message *m, struct isolation *ret, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_WARDEN);
    struct isolation x = { 0 };
    unpack_isolation(&u, &x);
    if (x.level <= LEVEL_AUTO || x.level >= LEVEL_COUNT_) /* a warden has reached one */
        u.failed = true;
    if (unpack_end(&u, "warden", e))
        return -1;
    *ret = x;
    return 0;
}

int wire_send_settings(int fd, const char *text, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_str(&b.p, text);
    if (strlen(text) > WIRE_MAX_TEXT)
        return err_set(e, ERR_TOO_LARGE, 0, "settings of %zu bytes: up to %d are accepted",
                       strlen(text), WIRE_MAX_TEXT);
    return body_send(fd, WIRE_SETTINGS, &b, NULL, e);
}

int wire_read_settings(const struct wire_message *m, const char **ret_text, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_SETTINGS);
    const char *text = unpack_str(&u);
    if (!text || strlen(text) > WIRE_MAX_TEXT)
        u.failed = true;
    if (unpack_end(&u, "settings", e))
        return -1;
    *ret_text = text;
    return 0;
}

int wire_send_drain(int fd, const struct wire_drain *d, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u32(&b.p, d->now);
    return body_send(fd, WIRE_DRAIN, &b, NULL, e);
}

int wire_read_drain(const struct wire_message *m, struct wire_drain *ret, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_DRAIN);
    uint32_t now = unpack_u32(&u);
    if (now > 1)
        u.failed = true;
    if (unpack_end(&u, "drain", e))
        return -1;
    *ret = (struct wire_drain){ .now = now == 1 };
    return 0;
}
