#include "warden/pools.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

enum {
    REFILLS_AT_ONCE = 2,
    BOOT_US = 30 * 1000000, /* a zygote that is not up by then never will be */
    AGAIN_US = 100000,      /* after the first failure; doubled with each in a row */
    AGAIN_MAX_US = 60000000,
    LAY_AGAIN_US = 10000, /* after the first embryo that died; doubled with each in a row */
    LAY_DOUBLINGS = 9,
    STEADY_US = 10 * 1000000, /* one that lived so long did not fail at once: a row ends with it */
};

void pools_find(struct pools *p, const struct zygote_def *const *defs, size_t n)
{
    *p = (struct pools){ .n = (uint32_t)(n < ZYGOTE_KINDS_MAX ? n : ZYGOTE_KINDS_MAX) };
    for (uint32_t i = 0; i < p->n; i++)
        zygote_files_open(&p->kinds[i].files, defs[i]);
}

void pools_init(struct pools *p, struct jar_host *host)
{
    p->host = host;
}

static void end(struct zygote **z)
{
    zygote_free(*z);
    *z = NULL;
}

void pools_end_zygotes(struct pools *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        end(&p->kinds[i].now);
        end(&p->kinds[i].next);
        end(&p->kinds[i].old);
    }
}

void pools_done(struct pools *p)
{
    pools_end_zygotes(p);
    for (uint32_t i = 0; i < p->n; i++)
        zygote_files_done(&p->kinds[i].files);
}

void pools_aim(struct pools *p, const struct pool_targets *targets)
{
    bool any = false;
    p->targets = *targets;
    for (uint32_t i = 0; i < p->n; i++) {
        any = any || targets->kinds[i].on;
        p->kinds[i].again_us = targets->kinds[i].on ? p->kinds[i].again_us : 0;
    }
    if (any && p->host->isolation.level != LEVEL_PROCESS)
        spares_keep(&p->host->spares, &p->host->own_net_fd);
    else
        spares_done(&p->host->spares);
}

static bool is_on(const struct pools *p, uint32_t i)
{
    return p->targets.kinds[i].on && p->host->isolation.level != LEVEL_PROCESS;
}

struct jar_womb *pools_womb(struct pools *p, unsigned kind)
{
    if (kind == 0 || kind > p->n || !is_on(p, kind - 1))
        return NULL;
    struct zygote *z = p->kinds[kind - 1].now;
    return z && z->up ? &z->womb : NULL;
}

static void note_failure(struct pool *k, const struct err *e, uint64_t now_us)
{
    uint64_t wait = (uint64_t)AGAIN_US << (k->failures < 10 ? k->failures : 10);
    k->failures++;
    k->again_us = now_us + (wait < AGAIN_MAX_US ? wait : AGAIN_MAX_US);
    (void)snprintf(k->state.why, sizeof k->state.why, "%s", e->text);
}

/* One that ended, or has to, without our asking. */
static struct zygote *lose(struct pool *k, struct zygote **place, const struct err *why)
{
    struct zygote *z = *place;
    uint64_t now_us = clock_us();
    k->state.deaths++;
    if (now_us - z->born_us >= STEADY_US)
        k->failures = 0;
    note_failure(k, why, now_us);
    *place = NULL;
    return z;
}

struct zygote *pool_hear(struct pool *k)
{
    struct zygote **const places[] = { &k->now, &k->next, &k->old };
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct err e = { 0 };
        if (*places[i] && (*places[i])->fd >= 0 && zygote_hear(*places[i], &e))
            return lose(k, places[i], &e);
    }
    return NULL;
}

struct zygote *pool_give_up(struct pool *k, const struct jar *awaiting)
{
    struct zygote **const places[] = { &k->now, &k->old };
    struct err e;
    (void)!err_set(&e, ERR_UNAVAILABLE, 0, "the zygote does not answer");
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (*places[i] && jar_awaits(awaiting, &(*places[i])->womb))
            return lose(k, places[i], &e);
    return NULL;
}

bool pools_has_child(const struct pools *p, pid_t pid)
{
    for (uint32_t i = 0; i < p->n; i++) {
        const struct zygote *const all[] = { p->kinds[i].now, p->kinds[i].next, p->kinds[i].old };
        for (size_t k = 0; k < ARRAY_LEN(all); k++)
            if (all[k] && all[k]->pid == pid)
                return true;
    }
    return false;
}

static bool is_worn_out(const struct pools *p, const struct zygote *z, uint64_t now_us)
{
    return z->forks >= p->targets.zygote_forks ||
           now_us - z->born_us >= p->targets.zygote_age_ms * 1000;
}

static void start(struct pools *p, struct pool *k, struct zygote **place, uint64_t now_us)
{
    struct err e = { 0 };
    k->state.zygotes++;
    if (zygote_start(p->host, &k->files, &k->state.forks, place, &e))
        note_failure(k, &e, now_us);
}

/* Nobody has been promised anything of one that is not up. */
static void end_if_stuck(struct pool *k, struct zygote **z, uint64_t now_us)
{
    struct err e;
    if (!*z || (*z)->up || now_us - (*z)->born_us < BOOT_US)
        return;
    (void)!err_set(&e, ERR_UNAVAILABLE, 0, "the zygote did not boot in %d s", BOOT_US / 1000000);
    note_failure(k, &e, now_us);
    end(z);
}

/* Its successor boots while it is still asked, and takes over once it is up. */
static void tend_one(struct pools *p, uint32_t i, uint64_t now_us)
{
    struct pool *k = &p->kinds[i];
    if (!is_on(p, i)) {
        end(&k->next);
        if (!k->old) {
            k->old = k->now;
            k->now = NULL;
        }
        k->state.why[0] = '\0';
        return;
    }
    if (k->next && k->next->up && !k->old) {
        k->old = k->now;
        k->now = k->next;
        k->next = NULL;
    }
    end_if_stuck(k, &k->now, now_us);
    end_if_stuck(k, &k->next, now_us);
    bool may_start = now_us >= k->again_us && k->files.err.code == ERR_NONE;
    if (!k->now && k->next) {
        k->now = k->next;
        k->next = NULL;
    }
    if (!k->now && may_start)
        start(p, k, &k->now, now_us);
    else if (k->now && k->now->up && !k->next && may_start && is_worn_out(p, k->now, now_us))
        start(p, k, &k->next, now_us);
}

static void describe(struct pools *p, uint32_t i)
{
    struct pool *k = &p->kinds[i];
    const struct err e = k->files.err;
    if (e.code != ERR_NONE)
        (void)snprintf(k->state.why, sizeof k->state.why, "%s", e.text);
    bool failed = e.code != ERR_NONE || (!k->now && k->failures > 0);
    k->state.zygote = !is_on(p, i)           ? ZYGOTE_OFF
                      : k->now && k->now->up ? ZYGOTE_UP
                      : failed               ? ZYGOTE_FAILED
                                             : ZYGOTE_BOOTING;
    if (k->state.zygote == ZYGOTE_UP)
        k->state.why[0] = '\0';
}

/* When there is something to do even if nothing happens. */
static uint64_t next_look(const struct pools *p, uint32_t i, uint64_t now_us)
{
    const struct pool *k = &p->kinds[i];
    uint64_t due = k->again_us;
    if (!is_on(p, i) || k->files.err.code != ERR_NONE)
        return UINT64_MAX;
    if (k->now && !k->now->up)
        due = k->now->born_us + BOOT_US;
    else if (k->now && k->next)
        due = k->next->born_us + BOOT_US;
    else if (k->now && due < k->now->born_us + p->targets.zygote_age_ms * 1000)
        due = k->now->born_us + p->targets.zygote_age_ms * 1000;
    if (k->lay_again_us > now_us && k->lay_again_us < due)
        due = k->lay_again_us;
    return due > now_us ? due : now_us + AGAIN_US;
}

uint64_t pools_tend(struct pools *p, uint64_t now_us)
{
    uint64_t due = UINT64_MAX;
    for (uint32_t i = 0; i < p->n; i++) {
        tend_one(p, i, now_us);
        describe(p, i);
        uint64_t next = next_look(p, i, now_us);
        due = next < due ? next : due;
    }
    return due;
}

void pool_note_embryo(struct pool *k, bool died, uint64_t now_us)
{
    k->lay_again_us = died ? now_us + ((uint64_t)LAY_AGAIN_US << k->lay_failures) : 0;
    k->lay_failures = !died                             ? 0
                      : k->lay_failures < LAY_DOUBLINGS ? k->lay_failures + 1
                                                        : LAY_DOUBLINGS;
}

bool pools_want(const struct pools *p, unsigned kind, uint32_t building, uint64_t now_us)
{
    const struct pool *k = &p->kinds[kind - 1];
    uint32_t all = 0;
    for (uint32_t i = 0; i < p->n; i++)
        all += p->kinds[i].state.ready + p->kinds[i].state.building;
    return is_on(p, kind - 1) && k->now && k->now->up && building < REFILLS_AT_ONCE &&
           now_us >= k->lay_again_us && all < POOL_EMBRYOS_MAX &&
           k->state.ready + k->state.building < p->targets.kinds[kind - 1].ready;
}
