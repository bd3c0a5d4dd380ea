/* engine/pools/pools_link.h — the talk with the warden about pools: targets out, states in.
 * Runs in: keeper, on the loop of the engine.
 *
 * Invariants
 * POOLS_LINK-1 At most one `targets` message is unanswered, so the wire stays short.
 * POOLS_LINK-2 A `pools` message that was not requested, or that has another number of kinds, loses
 *              the warden like any other wrong message. */
#pragma once

#include <uv.h>

#include "engine/pools/pools.h"
#include "wire/wire.h"

struct engine;

struct pools_link {
    uv_timer_t timer;
    uint64_t due_ms; /* of the next round */
    struct pool_targets targets, sent;
    bool awaits_answer;
    bool has_state; /* `state` is an answer of this warden, received at state_ms */
    uint64_t state_ms;
    struct pool_state state[ZYGOTE_KINDS_MAX];
    struct pools_memory memory; /* measured at memory_ms */
    uint64_t memory_ms;
    uint64_t watched_until_ms; /* somebody reads the states */
};

void pools_link_init(struct engine *engine);
void pools_link_begin(struct engine *engine); /* there is a new warden */
void pools_link_lost(struct engine *engine);  /* it is gone */
/* A run came that fits this kind; 0: none. */
void pools_link_count_demand(struct engine *engine, unsigned kind);
[[nodiscard]] int pools_link_on_message(struct engine *engine, const struct wire_message *m,
                                        struct err *e);
