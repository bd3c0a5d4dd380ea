/* A pair of functions for each message: one packs the fields, the other reads them in the same
 * order. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "spec/listed.h"
#include "spec/mount.h"
#include "wire/body.h"
#include "wire/wire.h"

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

static void pack_limits(struct packer *p, const struct limits *limits)
{
    for (int i = 0; i < LIMIT_COUNT; i++)
        pack_u64(p, limits->v[i]);
}

static void unpack_limits(struct unpacker *u, struct limits *ret)
{
    for (int i = 0; i < LIMIT_COUNT; i++)
        ret->v[i] = unpack_u64(u);
}

static void pack_list(struct packer *p, char *const *list)
{
    char *none[] = { NULL };
    pack_strv(p, list ? list : none);
}

static void pack_job(struct packer *p, const struct job_spec *job)
{
    pack_u32(p, job->flags);
    pack_u32(p, job->kind);
    pack_limits(p, &job->limits);
    pack_list(p, job->argv);
    pack_list(p, job->envp);
    pack_list(p, job->outputs);
    pack_list(p, job->executes);
    pack_list(p, job->reads);
    pack_list(p, job->mounts);
}

/* A list needs a cold start in a read-only root. Without JOB_LISTED both lists are empty. */
static bool list_makes_sense(const struct job_spec *job)
{
    if (job->flags & JOB_LISTED)
        return job->kind == 0 && !(job->flags & JOB_WRITABLE_ROOT);
    return !(job->flags & JOB_OWN_CODE) && job->executes && !job->executes[0] && job->reads &&
           !job->reads[0];
}

static void unpack_job(struct unpacker *u, struct job_spec *ret)
{
    ret->flags = unpack_u32(u);
    ret->kind = unpack_u32(u);
    unpack_limits(u, &ret->limits);
    ret->argv = unpack_strv(u, WIRE_MAX_STRINGS);
    ret->envp = unpack_strv(u, WIRE_MAX_STRINGS);
    ret->outputs = unpack_strv(u, WIRE_MAX_STRINGS);
    ret->executes = unpack_strv(u, LISTED_MAX);
    ret->reads = unpack_strv(u, LISTED_MAX);
    ret->mounts = unpack_strv(u, (size_t)MOUNTS_MAX * MOUNT_STRINGS);
    if (ret->flags & ~(uint32_t)JOB_FLAGS_ALL || ret->kind > ZYGOTE_KINDS_MAX ||
        !list_makes_sense(ret))
        u->failed = true;
}

static enum wire_type spawn_type(const struct wire_spawn *s)
{
    return s->is_next ? WIRE_NEXT : job_is_session(&s->job) ? WIRE_SESSION : WIRE_SPAWN;
}

int wire_send_spawn(int fd, const struct wire_spawn *s, const int *fds, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, s->id);
    pack_u32(&b.p, s->is_next);
    pack_job(&b.p, &s->job);
    return body_send(fd, spawn_type(s), &b, fds, e);
}

void wire_spawn_done(struct wire_spawn *s)
{
    free(s->job.argv);
    free(s->job.envp);
    free(s->job.outputs);
    free(s->job.executes);
    free(s->job.reads);
    free(s->job.mounts);
    *s = (struct wire_spawn){ 0 };
}

int wire_read_spawn(const struct wire_message *m, struct wire_spawn *ret, struct err *e)
{
    bool other = m->type == WIRE_SESSION || m->type == WIRE_NEXT;
    struct unpacker u = open_message(m, other ? m->type : WIRE_SPAWN);
    struct wire_spawn s = { .id = unpack_u64(&u), .is_next = unpack_u32(&u) != 0 };
    unpack_job(&u, &s.job);
    if (spawn_type(&s) != m->type || (s.is_next && job_is_session(&s.job)))
        u.failed = true;
    if (unpack_end(&u, "spawn", e)) {
        wire_spawn_done(&s);
        return -1;
    }
    *ret = s;
    return 0;
}

static bool names_a_run(enum wire_type type)
{
    return type == WIRE_STARTED || type == WIRE_ENDED || type == WIRE_SAMPLES ||
           type == WIRE_CELL_END || type == WIRE_MEASURED || type == WIRE_PLUMBED;
}

int wire_message_id(const struct wire_message *m, uint64_t *ret_id, struct err *e)
{
    struct unpacker u = { .at = m->bytes, .left = m->len };
    uint64_t id = unpack_u64(&u);
    if (u.failed || (!names_a_run(m->type)))
        return err_set(e, ERR_PROTOCOL, 0, "the message names no run");
    *ret_id = id;
    return 0;
}

int wire_send_plumbed(int fd, const struct wire_plumbed *x, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, x->id);
    pack_err(&b.p, &x->err);
    return body_send(fd, WIRE_PLUMBED, &b, NULL, e);
}

int wire_read_plumbed(const struct wire_message *m, struct wire_plumbed *ret, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_PLUMBED);
    struct wire_plumbed x = { .id = unpack_u64(&u) };
    unpack_err(&u, &x.err);
    if (unpack_end(&u, "plumbed", e))
        return -1;
    *ret = x;
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

int wire_send_started(int fd, const struct wire_started *s, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, s->id);
    pack_u32(&b.p, (uint32_t)s->start);
    return body_send(fd, WIRE_STARTED, &b, NULL, e);
}

int wire_read_started(const struct wire_message *m, struct wire_started *ret, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_STARTED);
    struct wire_started s = { .id = unpack_u64(&u) };
    s.start = (enum start)unpack_u32(&u);
    if ((unsigned)s.start >= START_COUNT_)
        u.failed = true;
    if (unpack_end(&u, "started", e))
        return -1;
    *ret = s;
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
    pack_u32(&b.p, (uint32_t)x->evidence.hoard);
    pack_u64(&b.p, x->usage.wall_us);
    pack_u64(&b.p, x->usage.cpu_us);
    pack_u64(&b.p, x->usage.memory_peak_bytes);
    pack_u64(&b.p, x->usage.pids_peak);
    pack_u32(&b.p, x->rests);
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
    x.evidence.hoard = (enum hoard)unpack_u32(&u);
    x.usage.wall_us = unpack_u64(&u);
    x.usage.cpu_us = unpack_u64(&u);
    x.usage.memory_peak_bytes = unpack_u64(&u);
    x.usage.pids_peak = unpack_u64(&u);
    uint32_t rests = unpack_u32(&u);
    x.rests = rests == 1;
    if (rests > 1)
        u.failed = true;
    if (unpack_end(&u, "ended", e))
        return -1;
    if ((unsigned)x.evidence.reason >= END_REASON_COUNT_)
        return err_set(e, ERR_PROTOCOL, 0, "a run cannot end for reason %u",
                       (unsigned)x.evidence.reason);
    if ((unsigned)x.evidence.hoard >= HOARD_COUNT_)
        return err_set(e, ERR_PROTOCOL, 0, "a run cannot end for hoard %u",
                       (unsigned)x.evidence.hoard);
    *ret = x;
    return 0;
}

int wire_send_samples(int fd, uint64_t id, const struct samples *s, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u64(&b.p, id);
    pack_u64(&b.p, s->interval_us);
    pack_u32(&b.p, s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        pack_u64(&b.p, s->at[i].at_us);
        pack_u64(&b.p, s->at[i].cpu_us);
        pack_u64(&b.p, s->at[i].memory_bytes);
        pack_u32(&b.p, s->at[i].pids);
    }
    return body_send(fd, WIRE_SAMPLES, &b, NULL, e);
}

int wire_read_samples(const struct wire_message *m, struct wire_samples *ret, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_SAMPLES);
    struct wire_samples x = { .id = unpack_u64(&u) };
    x.samples.interval_us = unpack_u64(&u);
    x.samples.n = unpack_u32(&u);
    if (x.samples.n > SAMPLES_MAX)
        u.failed = true;
    for (uint32_t i = 0; !u.failed && i < x.samples.n; i++) {
        struct sample *s = &x.samples.at[i];
        s->at_us = unpack_u64(&u);
        s->cpu_us = unpack_u64(&u);
        s->memory_bytes = unpack_u64(&u);
        s->pids = unpack_u32(&u);
    }
    if (!u.failed && !samples_valid(&x.samples))
        u.failed = true;
    if (unpack_end(&u, "samples", e))
        return -1;
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
    if (x.level <= LEVEL_AUTO || x.level >= LEVEL_COUNT_) /* a warden always has a level */
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

int wire_send_stopped(int fd, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u32(&b.p, 1);
    return body_send(fd, WIRE_STOPPED, &b, NULL, e);
}

int wire_read_stopped(const struct wire_message *m, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_STOPPED);
    if (unpack_u32(&u) != 1)
        u.failed = true;
    return unpack_end(&u, "stopped", e);
}

int wire_send_alive(int fd, uint32_t number, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u32(&b.p, number);
    return body_send(fd, WIRE_ALIVE, &b, NULL, e);
}

int wire_read_alive(const struct wire_message *m, uint32_t *ret_number, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_ALIVE);
    uint32_t number = unpack_u32(&u);
    if (unpack_end(&u, "alive", e))
        return -1;
    *ret_number = number;
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

int wire_send_seal(int fd, const struct wire_seal *s, struct err *e)
{
    struct body b;
    uint64_t words[WIRE_HASH_BYTES / 8];
    body_init(&b);
    memcpy(words, s->head, sizeof words);
    pack_u64(&b.p, s->seq);
    pack_u64(&b.p, s->removed);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        pack_u64(&b.p, words[i]);
    return body_send(fd, WIRE_SEAL, &b, NULL, e);
}

int wire_read_seal(const struct wire_message *m, struct wire_seal *ret, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_SEAL);
    uint64_t words[WIRE_HASH_BYTES / 8];
    struct wire_seal s = { .seq = unpack_u64(&u) };
    s.removed = unpack_u64(&u);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        words[i] = unpack_u64(&u);
    if (s.seq == 0 || s.seq > INT64_MAX || s.removed > s.seq)
        u.failed = true;
    if (unpack_end(&u, "seal", e))
        return -1;
    memcpy(s.head, words, sizeof s.head);
    *ret = s;
    return 0;
}

int wire_send_language(int fd, uint32_t index, int answer_fd, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u32(&b.p, index);
    return body_send(fd, WIRE_LANGUAGE, &b, &answer_fd, e);
}

int wire_read_language(const struct wire_message *m, uint32_t *ret_index, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_LANGUAGE);
    uint32_t index = unpack_u32(&u);
    if (unpack_end(&u, "language", e))
        return -1;
    *ret_index = index;
    return 0;
}

int wire_send_targets(int fd, const struct pool_targets *t, struct err *e)
{
    struct body b;
    body_init(&b);
    for (int i = 0; i < ZYGOTE_KINDS_MAX; i++) {
        pack_u32(&b.p, t->kinds[i].on);
        pack_u32(&b.p, t->kinds[i].ready);
    }
    pack_limits(&b.p, &t->limits);
    pack_u64(&b.p, t->zygote_forks);
    pack_u64(&b.p, t->zygote_age_ms);
    return body_send(fd, WIRE_TARGETS, &b, NULL, e);
}

int wire_read_targets(const struct wire_message *m, struct pool_targets *ret, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_TARGETS);
    struct pool_targets t = { 0 };
    for (int i = 0; i < ZYGOTE_KINDS_MAX; i++) {
        uint32_t on = unpack_u32(&u);
        t.kinds[i].on = on == 1;
        t.kinds[i].ready = unpack_u32(&u);
        if (on > 1 || t.kinds[i].ready > POOL_EMBRYOS_MAX)
            u.failed = true;
    }
    unpack_limits(&u, &t.limits);
    t.zygote_forks = unpack_u64(&u);
    t.zygote_age_ms = unpack_u64(&u);
    if (t.zygote_forks == 0 || t.zygote_age_ms == 0)
        u.failed = true;
    if (unpack_end(&u, "targets", e))
        return -1;
    *ret = t;
    return 0;
}

int wire_send_pools(int fd, const struct wire_pools *p, struct err *e)
{
    struct body b;
    body_init(&b);
    pack_u32(&b.p, p->kinds);
    for (uint32_t i = 0; i < p->kinds; i++) {
        const struct pool_state *s = &p->state[i];
        pack_u32(&b.p, (uint32_t)s->zygote);
        pack_u32(&b.p, s->ready);
        pack_u32(&b.p, s->building);
        for (int k = 0; k < START_COUNT_; k++)
            pack_u64(&b.p, s->starts[k]);
        pack_u64(&b.p, s->forks);
        pack_u64(&b.p, s->zygotes);
        pack_u64(&b.p, s->deaths);
        pack_u64(&b.p, s->discarded);
        pack_str(&b.p, s->why);
    }
    return body_send(fd, WIRE_POOLS, &b, NULL, e);
}

static void unpack_pool(struct unpacker *u, struct pool_state *s)
{
    s->zygote = (enum zygote_state)unpack_u32(u);
    s->ready = unpack_u32(u);
    s->building = unpack_u32(u);
    for (int k = 0; k < START_COUNT_; k++)
        s->starts[k] = unpack_u64(u);
    s->forks = unpack_u64(u);
    s->zygotes = unpack_u64(u);
    s->deaths = unpack_u64(u);
    s->discarded = unpack_u64(u);
    const char *why = unpack_str(u);
    if (!why || strlen(why) >= sizeof s->why || (unsigned)s->zygote >= ZYGOTE_STATES_)
        u->failed = true;
    else
        memcpy(s->why, why, strlen(why) + 1);
}

int wire_read_pools(const struct wire_message *m, struct wire_pools *ret, struct err *e)
{
    struct unpacker u = open_message(m, WIRE_POOLS);
    struct wire_pools p = { .kinds = unpack_u32(&u) };
    if (p.kinds > ZYGOTE_KINDS_MAX)
        u.failed = true;
    for (uint32_t i = 0; !u.failed && i < p.kinds; i++)
        unpack_pool(&u, &p.state[i]);
    if (unpack_end(&u, "pools", e))
        return -1;
    *ret = p;
    return 0;
}
