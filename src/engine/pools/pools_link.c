/* What is asked of the warden's pools, and what it answers: a round of targets now and then, on the runner's loop. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "engine/engine_impl.h"
#include "wire/wire.h"

/* A round comes so long after a run was asked for, or while runs wait; while somebody looks or something is on its
 * way; and otherwise. One that is not answered yet is not followed by another. */
enum { ROUND_BUSY_MS = 100, ROUND_SOON_MS = 1000, ROUND_IDLE_MS = 5000 };
enum { WATCHED_MS = 10000, MEMORY_AGE_MS = 500, FRESH_MS = 50 };

static bool has_pools(const struct engine *r)
{
    return r->wire_fd >= 0 && !r->draining && r->pools.n > 0 && r->isolation.level != LEVEL_PROCESS;
}

static bool is_crowded(const struct engine *r)
{
    return r->queue.waiting > 0 &&
           (r->queue.running >= r->limits.max || r->starting >= STARTING_MAX);
}

static uint32_t installed(const struct engine *r)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < r->pools.n; i++)
        if (engine_may_run(r, r->pools.kinds[i].language))
            bits |= 1U << i;
    return bits;
}

static void on_round(uv_timer_t *timer);

static void next_round(struct engine *r, uint64_t ms)
{
    r->link.due_ms = uv_now(r->loop) + ms;
    (void)uv_timer_start(&r->link.timer, on_round, ms, 0);
}

static void look_at_memory(struct engine *r, uint64_t now)
{
    if (r->link.memory_ms && now - r->link.memory_ms < MEMORY_AGE_MS)
        return;
    r->link.memory = pools_memory_read();
    r->link.memory_ms = now;
}

static void decide(struct engine *r)
{
    bool was_short = r->pools.short_of_memory;
    uint64_t now = uv_now(r->loop);
    look_at_memory(r, now);
    r->link.targets = pools_policy_decide(
        &r->pools, &(struct pools_view){ .now_ms = now,
                                         .installed = installed(r),
                                         .sealed = r->isolation.level != LEVEL_PROCESS,
                                         .crowded = is_crowded(r),
                                         .memory = r->link.memory,
                                         .known = r->link.known ? r->link.state : NULL });
    if (was_short != r->pools.short_of_memory)
        log_event(was_short ? LOG_INFO : LOG_WARN, was_short ? "pools.back" : "pools.emptied",
                  "memory_available=%llu stalled_percent=%.1f",
                  (unsigned long long)r->link.memory.available, r->link.memory.stalled);
}

/* A wire that does not take it is lost, and says so itself. */
static void send_targets(struct engine *r)
{
    struct err e;
    if (r->link.asked || wire_send_targets(r->wire_fd, &r->link.targets, &e))
        return;
    r->link.asked = true;
    r->link.sent = r->link.targets;
}

static bool are_same(const struct pool_targets *a, const struct pool_targets *b)
{
    bool same = a->zygote_forks == b->zygote_forks && a->zygote_age_ms == b->zygote_age_ms &&
                memcmp(&a->limits, &b->limits, sizeof a->limits) == 0;
    for (size_t i = 0; i < ZYGOTE_KINDS_MAX; i++)
        same = same && a->kinds[i].on == b->kinds[i].on && a->kinds[i].ready == b->kinds[i].ready;
    return same;
}

static uint64_t until_next(const struct engine *r, bool busy)
{
    bool watched = uv_now(r->loop) < r->link.watched_until_ms;
    if (busy)
        return ROUND_BUSY_MS;
    if (watched || !r->link.known ||
        !pools_policy_at_rest(&r->pools, &r->link.targets, r->link.state))
        return ROUND_SOON_MS;
    return ROUND_IDLE_MS;
}

static void on_round(uv_timer_t *timer)
{
    struct engine *r = timer->data;
    if (!has_pools(r))
        return; /* the next wire begins again */
    bool busy = is_crowded(r);
    for (size_t i = 0; i < r->pools.n; i++)
        busy = busy || r->pools.demand[i].taken > 0;
    decide(r);
    send_targets(r);
    next_round(r, until_next(r, busy));
}

/* ---- what the runner tells ---- */

void pools_link_init(struct engine *r)
{
    (void)uv_timer_init(r->loop, &r->link.timer);
    uv_unref((uv_handle_t *)&r->link.timer);
    r->link.timer.data = r;
}

void pools_link_begin(struct engine *r)
{
    r->link.known = r->link.asked = false;
    if (has_pools(r))
        on_round(&r->link.timer);
}

void pools_link_lost(struct engine *r)
{
    r->link.known = r->link.asked = false;
    (void)uv_timer_stop(&r->link.timer);
}

/* Within a moment of a time that may be far away. */
static void soon(struct engine *r, uint64_t ms)
{
    uint64_t now = uv_now(r->loop);
    if (has_pools(r) && r->link.due_ms > now + ms)
        next_round(r, ms);
}

void pools_link_asked_for(struct engine *r, unsigned kind)
{
    pools_policy_take(&r->pools, kind, uv_now(r->loop));
    if (kind != 0)
        soon(r, ROUND_BUSY_MS);
}

/* ---- what the warden tells ---- */

static void tell_change(const char *kind, const struct pool_state *before,
                        const struct pool_state *now)
{
    char why[2 * sizeof now->why];
    if (now->deaths > before->deaths)
        log_event(LOG_WARN, "zygote.died", "kind=%s", kind);
    if (now->zygote == ZYGOTE_FAILED &&
        (before->zygote != ZYGOTE_FAILED || strcmp(before->why, now->why) != 0))
        log_event(LOG_WARN, "zygote.failed", "kind=%s why=\"%s\"", kind,
                  text_quote(now->why, why, sizeof why));
    else if (now->zygote != before->zygote)
        log_event(LOG_DEBUG, "zygote.state", "kind=%s state=%s", kind,
                  zygote_state_word(now->zygote));
}

int pools_link_message(struct engine *r, const struct wire_message *m, struct err *e)
{
    struct wire_pools p;
    if (wire_read_pools(m, &p, e))
        return -1;
    if (!r->link.asked || p.kinds != r->pools.n)
        return err_set(e, ERR_PROTOCOL, 0, "the warden speaks of pools that are not ours");
    static const struct pool_state nothing;
    for (size_t i = 0; i < r->pools.n; i++)
        tell_change(r->pools.kinds[i].name, r->link.known ? &r->link.state[i] : &nothing,
                    &p.state[i]);
    memcpy(r->link.state, p.state, sizeof r->link.state);
    r->link.known = true;
    r->link.asked = false;
    r->link.known_ms = uv_now(r->loop);
    if (!are_same(&r->link.targets, &r->link.sent)) /* they changed while this was on its way */
        send_targets(r);
    return 0;
}

/* ---- what others ask ---- */

void engine_pools_look(struct engine *r)
{
    r->link.watched_until_ms = uv_now(r->loop) + WATCHED_MS;
    if (!has_pools(r))
        return;
    if (!r->link.known || uv_now(r->loop) - r->link.known_ms >= FRESH_MS)
        send_targets(r);
    soon(r, ROUND_SOON_MS);
}

struct engine_pools engine_pools(const struct engine *r)
{
    struct engine_pools all = { .n = r->pools.n, .short_of_memory = r->pools.short_of_memory };
    for (size_t i = 0; i < r->pools.n; i++) {
        all.kinds[i].name = r->pools.kinds[i].name;
        all.kinds[i].target = has_pools(r) ? r->link.targets.kinds[i].ready : 0;
        if (r->link.known)
            all.kinds[i].state = r->link.state[i];
    }
    memcpy(all.starts, r->pools.starts, sizeof all.starts);
    return all;
}

void engine_set_pools(struct engine *r, const struct pools_settings *s)
{
    r->pools.settings = *s;
    if (has_pools(r))
        next_round(r, 0);
}
