#include "engine/pools/pools_link.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "engine/engine_impl.h"

/* The time until the next round: while runs come or wait; while somebody reads the states or a
 * target is not reached; otherwise. */
enum { ROUND_BUSY_MS = 100, ROUND_SOON_MS = 1000, ROUND_IDLE_MS = 5000 };
/* The states count as read for WATCHED_MS. Measurements are reused while they are younger than
 * these ages. */
enum { WATCHED_MS = 10000, MEMORY_AGE_MS = 500, STATE_AGE_MS = 50 };

static bool has_pools(const struct engine *engine)
{
    return engine->wire_fd >= 0 && !engine->draining && engine->pools.n > 0 &&
           engine->isolation.level != LEVEL_PROCESS;
}

static bool is_crowded(const struct engine *engine)
{
    return engine->queue.waiting > 0 &&
           (engine->queue.running >= engine->limits.max || engine->starting >= STARTING_MAX);
}

static uint32_t installed_kinds(const struct engine *engine)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < engine->pools.n; i++)
        if (engine_may_run(engine, engine->pools.kinds[i].language))
            bits |= 1U << i;
    return bits;
}

static void on_round(uv_timer_t *timer);

static void next_round(struct engine *engine, uint64_t ms)
{
    engine->link.due_ms = uv_now(engine->loop) + ms;
    (void)uv_timer_start(&engine->link.timer, on_round, ms, 0);
}

static void measure_memory(struct engine *engine, uint64_t now)
{
    if (engine->link.memory_ms && now - engine->link.memory_ms < MEMORY_AGE_MS)
        return;
    engine->link.memory = pools_memory_read();
    engine->link.memory_ms = now;
}

static void decide_targets(struct engine *engine)
{
    bool was_short = engine->pools.short_of_memory;
    uint64_t now = uv_now(engine->loop);
    measure_memory(engine, now);
    engine->link.targets = pools_policy_decide(
        &engine->pools,
        &(struct pools_view){ .now_ms = now,
                              .installed = installed_kinds(engine),
                              .sealed = engine->isolation.level != LEVEL_PROCESS,
                              .crowded = is_crowded(engine),
                              .memory = engine->link.memory,
                              .known = engine->link.has_state ? engine->link.state : NULL });
    if (was_short != engine->pools.short_of_memory)
        log_event(was_short ? LOG_INFO : LOG_WARN, was_short ? "pools.back" : "pools.emptied",
                  "memory_available=%llu stalled_percent=%.1f",
                  (unsigned long long)engine->link.memory.available, engine->link.memory.stalled);
}

/* If sending fails, the wire is lost, and on_wire() will notice. */
static void send_targets(struct engine *engine)
{
    struct err e;
    if (engine->link.awaits_answer || wire_send_targets(engine->wire_fd, &engine->link.targets, &e))
        return;
    engine->link.awaits_answer = true;
    engine->link.sent = engine->link.targets;
}

static bool targets_equal(const struct pool_targets *a, const struct pool_targets *b)
{
    bool same = a->zygote_forks == b->zygote_forks && a->zygote_age_ms == b->zygote_age_ms &&
                memcmp(&a->limits, &b->limits, sizeof a->limits) == 0;
    for (size_t i = 0; i < ZYGOTE_KINDS_MAX; i++)
        same = same && a->kinds[i].on == b->kinds[i].on && a->kinds[i].ready == b->kinds[i].ready;
    return same;
}

static uint64_t ms_until_next_round(const struct engine *engine, bool busy)
{
    bool watched = uv_now(engine->loop) < engine->link.watched_until_ms;
    if (busy)
        return ROUND_BUSY_MS;
    if (watched || !engine->link.has_state ||
        !pools_policy_at_rest(&engine->pools, &engine->link.targets, engine->link.state))
        return ROUND_SOON_MS;
    return ROUND_IDLE_MS;
}

static void on_round(uv_timer_t *timer)
{
    struct engine *engine = timer->data;
    if (!has_pools(engine))
        return; /* the next warden begins a new round */
    bool busy = is_crowded(engine);
    for (size_t i = 0; i < engine->pools.n; i++)
        busy = busy || engine->pools.demand[i].runs > 0;
    decide_targets(engine);
    send_targets(engine);
    next_round(engine, ms_until_next_round(engine, busy));
}

/* ---- events of the engine ---- */

static void log_kinds_left_out(void)
{
    const char *first;
    size_t n = warm_left_out(&first);
    if (n > 0)
        log_event(LOG_WARN, "pools.kinds_left_out", "count=%zu first=%s most=%d", n, first,
                  ZYGOTE_KINDS_MAX);
}

void pools_link_init(struct engine *engine)
{
    log_kinds_left_out();
    (void)uv_timer_init(engine->loop, &engine->link.timer);
    uv_unref((uv_handle_t *)&engine->link.timer);
    engine->link.timer.data = engine;
}

void pools_link_begin(struct engine *engine)
{
    engine->link.has_state = engine->link.awaits_answer = false;
    if (has_pools(engine))
        on_round(&engine->link.timer);
}

void pools_link_lost(struct engine *engine)
{
    engine->link.has_state = engine->link.awaits_answer = false;
    (void)uv_timer_stop(&engine->link.timer);
}

/* Moves the next round forward if it is further away. */
static void next_round_within(struct engine *engine, uint64_t ms)
{
    uint64_t now = uv_now(engine->loop);
    if (has_pools(engine) && engine->link.due_ms > now + ms)
        next_round(engine, ms);
}

void pools_link_count_demand(struct engine *engine, unsigned kind)
{
    pools_policy_count_demand(&engine->pools, kind, uv_now(engine->loop));
    if (kind != 0)
        next_round_within(engine, ROUND_BUSY_MS);
}

/* ---- answers of the warden ---- */

static void log_change(const char *kind, const struct pool_state *before,
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

int pools_link_on_message(struct engine *engine, const struct wire_message *m, struct err *e)
{
    struct wire_pools p;
    if (wire_read_pools(m, &p, e))
        return -1;
    if (!engine->link.awaits_answer || p.kinds != engine->pools.n)
        return err_set(e, ERR_PROTOCOL, 0,
                       "the warden sent states of pools that were not requested");
    static const struct pool_state initial;
    for (size_t i = 0; i < engine->pools.n; i++)
        log_change(engine->pools.kinds[i].name,
                   engine->link.has_state ? &engine->link.state[i] : &initial, &p.state[i]);
    memcpy(engine->link.state, p.state, sizeof engine->link.state);
    engine->link.has_state = true;
    engine->link.awaits_answer = false;
    engine->link.state_ms = uv_now(engine->loop);
    if (!targets_equal(&engine->link.targets, &engine->link.sent)) /* they changed meanwhile */
        send_targets(engine);
    return 0;
}

/* ---- for other rooms ---- */

void engine_pools_refresh(struct engine *engine)
{
    engine->link.watched_until_ms = uv_now(engine->loop) + WATCHED_MS;
    if (!has_pools(engine))
        return;
    if (!engine->link.has_state || uv_now(engine->loop) - engine->link.state_ms >= STATE_AGE_MS)
        send_targets(engine);
    next_round_within(engine, ROUND_SOON_MS);
}

struct engine_pools engine_pools(const struct engine *engine)
{
    struct engine_pools all = { .n = engine->pools.n,
                                .short_of_memory = engine->pools.short_of_memory };
    for (size_t i = 0; i < engine->pools.n; i++) {
        all.kinds[i].name = engine->pools.kinds[i].name;
        all.kinds[i].target = has_pools(engine) ? engine->link.targets.kinds[i].ready : 0;
        if (engine->link.has_state)
            all.kinds[i].state = engine->link.state[i];
    }
    memcpy(all.starts, engine->pools.starts, sizeof all.starts);
    return all;
}

bool engine_may_prepare(const struct engine *engine)
{
    return has_pools(engine) && engine->pools.settings.max > 0 && !engine->pools.short_of_memory &&
           engine->queue.waiting == 0;
}

void engine_expect_sessions(struct engine *engine, const struct language *l)
{
    pools_policy_expect(&engine->pools, warm_session_kind(l, NULL), uv_now(engine->loop));
    pools_policy_expect(&engine->pools, warm_image_kind(l, NULL), uv_now(engine->loop));
    next_round_within(engine, ROUND_BUSY_MS);
}

void engine_set_pools(struct engine *engine, const struct pools_settings *s)
{
    engine->pools.settings = *s;
    if (has_pools(engine))
        next_round(engine, 0);
}
