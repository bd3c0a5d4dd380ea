#include "warden/zygote_pools.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

enum {
    REFILLS_AT_ONCE = 2,
    BOOT_US = 30 * 1000000, /* a zygote that boots longer has failed */
    AGAIN_US = 100000,      /* after the first failure; doubled with each further one */
    AGAIN_MAX_US = 60000000,
    EMBRYO_AGAIN_US = 10000, /* after the first dead embryo; doubled with each further one */
    EMBRYO_DOUBLINGS = 9,
    QUIET_US = 10000,         /* after the start of a session: enough for its first cell */
    QUIET_AGAIN_US = 100000,  /* from the end of a pause to the next one */
    RUN_QUIET_US = 5000,      /* after the start of a run: enough for a short one */
    ANSWER_QUIET_US = 1000,   /* after the end of a run: enough for its answer */
    STEADY_US = 10 * 1000000, /* a zygote that lived so long resets the count of failures */
};

void zygote_pools_open(struct zygote_pools *p, const struct zygote_def *const *defs, size_t n)
{
    *p = (struct zygote_pools){ .n = (uint32_t)(n < ZYGOTE_KINDS_MAX ? n : ZYGOTE_KINDS_MAX) };
    for (uint32_t i = 0; i < p->n; i++)
        zygote_files_open(&p->kinds[i].files, defs[i]);
}

void zygote_pools_init(struct zygote_pools *p, struct jar_host *host)
{
    p->host = host;
}

static void end(struct zygote **z)
{
    zygote_free(*z);
    *z = NULL;
}

void zygote_pools_end_zygotes(struct zygote_pools *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        end(&p->kinds[i].active);
        end(&p->kinds[i].next);
        end(&p->kinds[i].old);
    }
}

void zygote_pools_done(struct zygote_pools *p)
{
    zygote_pools_end_zygotes(p);
    for (uint32_t i = 0; i < p->n; i++)
        zygote_files_done(&p->kinds[i].files);
}

void zygote_pools_set_targets(struct zygote_pools *p, const struct pool_targets *targets)
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

static bool is_on(const struct zygote_pools *p, uint32_t i)
{
    return p->targets.kinds[i].on && p->host->isolation.level != LEVEL_PROCESS;
}

struct embryo_source *zygote_pools_source(struct zygote_pools *p, unsigned kind)
{
    if (kind == 0 || kind > p->n || !is_on(p, kind - 1))
        return NULL;
    struct zygote *z = p->kinds[kind - 1].active;
    return z && z->up ? &z->source : NULL;
}

static void note_failure(struct zygote_pool *k, const struct err *e, uint64_t now_us)
{
    uint64_t wait = (uint64_t)AGAIN_US << (k->failures < 10 ? k->failures : 10);
    k->failures++;
    k->again_us = now_us + (wait < AGAIN_MAX_US ? wait : AGAIN_MAX_US);
    (void)snprintf(k->state.why, sizeof k->state.why, "%s", e->text);
}

/* Removes a zygote that died or hangs, and delays the next one. */
static struct zygote *take_failed(struct zygote_pool *k, struct zygote **place,
                                  const struct err *why)
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

struct zygote *zygote_pool_take_dead(struct zygote_pool *k)
{
    struct zygote **const places[] = { &k->active, &k->next, &k->old };
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct err e = { 0 };
        if (*places[i] && (*places[i])->fd >= 0 && zygote_check(*places[i], &e))
            return take_failed(k, places[i], &e);
    }
    return NULL;
}

struct zygote *zygote_pool_take_hung(struct zygote_pool *k, const struct jar *awaiting)
{
    struct zygote **const places[] = { &k->active, &k->old };
    struct err e;
    (void)!err_set(&e, ERR_UNAVAILABLE, 0, "the zygote does not answer");
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (*places[i] && jar_awaits_embryo(awaiting, &(*places[i])->source))
            return take_failed(k, places[i], &e);
    return NULL;
}

bool zygote_pools_has_child(const struct zygote_pools *p, pid_t pid)
{
    for (uint32_t i = 0; i < p->n; i++) {
        const struct zygote *const all[] = { p->kinds[i].active, p->kinds[i].next,
                                             p->kinds[i].old };
        for (size_t k = 0; k < ARRAY_LEN(all); k++)
            if (all[k] && all[k]->pid == pid)
                return true;
    }
    return false;
}

static bool is_worn_out(const struct zygote_pools *p, const struct zygote *z, uint64_t now_us)
{
    return z->forks >= p->targets.zygote_forks ||
           now_us - z->born_us >= p->targets.zygote_age_ms * 1000;
}

static void start(struct zygote_pools *p, struct zygote_pool *k, struct zygote **place,
                  uint64_t now_us)
{
    struct err e = { 0 };
    k->state.zygotes++;
    if (zygote_start(p->host, &k->files, &k->state.forks, place, &e))
        note_failure(k, &e, now_us);
}

/* Its interpreter may have started a program. */
static void end_booting(struct zygote_pool *k, struct zygote **z)
{
    k->orphans = k->orphans || *z;
    end(z);
}

/* No jar waits for a zygote that has not booted. */
static void end_if_stuck(struct zygote_pool *k, struct zygote **z, uint64_t now_us)
{
    struct err e;
    if (!*z || (*z)->up || now_us - (*z)->born_us < BOOT_US)
        return;
    (void)!err_set(&e, ERR_UNAVAILABLE, 0, "the zygote did not boot in %d s", BOOT_US / 1000000);
    note_failure(k, &e, now_us);
    end_booting(k, z);
}

/* The next zygote boots while the active one still forks, and replaces it once it is up. */
static void maintain_one(struct zygote_pools *p, uint32_t i, uint64_t now_us)
{
    struct zygote_pool *k = &p->kinds[i];
    if (!is_on(p, i)) {
        end_booting(k, &k->next);
        if (!k->old) {
            k->old = k->active;
            k->active = NULL;
        }
        k->state.why[0] = '\0';
        return;
    }
    if (k->next && k->next->up && !k->old) {
        k->old = k->active;
        k->active = k->next;
        k->next = NULL;
    }
    end_if_stuck(k, &k->active, now_us);
    end_if_stuck(k, &k->next, now_us);
    bool may_start = now_us >= k->again_us && k->files.err.code == ERR_NONE;
    if (!k->active && k->next) {
        k->active = k->next;
        k->next = NULL;
    }
    if (!k->active && may_start)
        start(p, k, &k->active, now_us);
    else if (k->active && k->active->up && !k->next && may_start &&
             is_worn_out(p, k->active, now_us))
        start(p, k, &k->next, now_us);
}

static void describe(struct zygote_pools *p, uint32_t i)
{
    struct zygote_pool *k = &p->kinds[i];
    const struct err e = k->files.err;
    if (e.code != ERR_NONE)
        (void)snprintf(k->state.why, sizeof k->state.why, "%s", e.text);
    bool failed = e.code != ERR_NONE || (!k->active && k->failures > 0);
    k->state.zygote = !is_on(p, i)                 ? ZYGOTE_OFF
                      : k->active && k->active->up ? ZYGOTE_UP
                      : failed                     ? ZYGOTE_FAILED
                                                   : ZYGOTE_BOOTING;
    if (k->state.zygote == ZYGOTE_UP)
        k->state.why[0] = '\0';
}

/* The next time when there is something to do without an event. */
static uint64_t next_look(const struct zygote_pools *p, uint32_t i, uint64_t now_us)
{
    const struct zygote_pool *k = &p->kinds[i];
    uint64_t due = k->again_us;
    if (!is_on(p, i) || k->files.err.code != ERR_NONE)
        return UINT64_MAX;
    if (k->active && !k->active->up)
        due = k->active->born_us + BOOT_US;
    else if (k->active && k->next)
        due = k->next->born_us + BOOT_US;
    else if (k->active && due < k->active->born_us + p->targets.zygote_age_ms * 1000)
        due = k->active->born_us + p->targets.zygote_age_ms * 1000;
    if (k->embryo_again_us > now_us && k->embryo_again_us < due)
        due = k->embryo_again_us;
    return due > now_us ? due : now_us + AGAIN_US;
}

uint64_t zygote_pools_maintain(struct zygote_pools *p, uint64_t now_us)
{
    uint64_t due = UINT64_MAX;
    for (uint32_t i = 0; i < p->n; i++) {
        maintain_one(p, i, now_us);
        describe(p, i);
        uint64_t next = next_look(p, i, now_us);
        due = next < due ? next : due;
    }
    due = p->quiet_until_us > now_us && p->quiet_until_us < due ? p->quiet_until_us : due;
    return p->run_until_us > now_us && p->run_until_us < due ? p->run_until_us : due;
}

void zygote_pools_note_session(struct zygote_pools *p, uint64_t now_us)
{
    if (now_us >= p->quiet_until_us + QUIET_AGAIN_US)
        p->quiet_until_us = now_us + QUIET_US;
}

uint64_t zygote_pools_note_run(struct zygote_pools *p, bool begins, uint64_t now_us)
{
    uint64_t answered = now_us + ANSWER_QUIET_US;
    if (begins)
        p->run_until_us = now_us + RUN_QUIET_US;
    else if (p->run_until_us > answered)
        p->run_until_us = answered;
    return p->run_until_us;
}

void zygote_pool_note_embryo(struct zygote_pool *k, bool died, uint64_t now_us)
{
    k->embryo_again_us = died ? now_us + ((uint64_t)EMBRYO_AGAIN_US << k->embryo_failures) : 0;
    k->embryo_failures = !died                                   ? 0
                         : k->embryo_failures < EMBRYO_DOUBLINGS ? k->embryo_failures + 1
                                                                 : EMBRYO_DOUBLINGS;
}

/* Runs come first, as long as half of the embryos wait. */
static bool waits_for_runs(const struct zygote_pools *p, uint32_t i, uint64_t now_us)
{
    const struct pool_state *state = &p->kinds[i].state;
    return now_us < p->run_until_us &&
           2 * (state->ready + state->building) >= p->targets.kinds[i].ready;
}

bool zygote_pools_want_embryo(const struct zygote_pools *p, unsigned kind, uint32_t building,
                              uint64_t now_us)
{
    const struct zygote_pool *k = &p->kinds[kind - 1];
    uint32_t all = 0;
    for (uint32_t i = 0; i < p->n; i++)
        all += p->kinds[i].state.ready + p->kinds[i].state.building;
    return is_on(p, kind - 1) && k->active && k->active->up && building < REFILLS_AT_ONCE &&
           now_us >= k->embryo_again_us && now_us >= p->quiet_until_us && all < POOL_EMBRYOS_MAX &&
           k->state.ready + k->state.building < p->targets.kinds[kind - 1].ready &&
           !waits_for_runs(p, kind - 1, now_us);
}
