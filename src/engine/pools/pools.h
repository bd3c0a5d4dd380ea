/* engine/pools/pools.h — how many embryos of each kind are to wait for work. Runs in: keeper.
 * Numbers in, numbers out: the clock, the memory of the machine and the wire are pools_link.c's.
 *
 * Invariants
 * P1 The target of a kind follows what was asked for: at once upwards, over tens of seconds downwards.
 * P2 No target is above `max`, and all of them together take no more than an eighth of the memory.
 * P3 While memory is short nothing waits and no large zygote is kept, until there has been room for a while.
 * P4 While runs wait for a jar no target is above what is there: filling up would take their CPU. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "runtime/language.h"
#include "spec/pool.h"

struct pools_settings {
    unsigned max, min;     /* embryos of one kind; max 0: neither these nor zygotes */
    uint64_t memory_floor; /* with fewer bytes available, memory is short; 0: by its size */
    uint32_t preload; /* bits of kinds with a zygote from the start; others have one when used */
    uint64_t zygote_forks, zygote_age_ms;
    struct limits limits; /* what most runs have: embryos are made with these */
};

/* "all", "used", or names of kinds with commas, as bits: bit k - 1 is kind k. */
[[nodiscard]] int pools_preload(const char *text, uint32_t *ret, struct err *e);

struct pool_kind {
    const char *name;
    const struct language *language;
    bool large; /* it has imported much */
};

/* What is known of the memory; 0 where nothing is. */
struct pools_memory {
    uint64_t total, available;
    double stalled; /* percent of the last ten seconds in which everything waited for memory */
};

struct pools_policy {
    struct pools_settings settings;
    size_t n;
    struct pool_kind kinds[ZYGOTE_KINDS_MAX]; /* kind k is entry k - 1 */
    struct {
        unsigned taken; /* since the last round */
        double peak;    /* the most of a round; it fades */
        bool asked;
        uint64_t asked_ms; /* when last */
    } demand[ZYGOTE_KINDS_MAX];
    uint64_t starts[ZYGOTE_KINDS_MAX + 1][START_COUNT_]; /* by kind; 0: of none */
    uint64_t decided_ms;
    bool short_of_memory;
    uint64_t room_since_ms; /* while it is short: since when there is room again; 0: none */
};

/* With the kinds that the languages declare. */
void pools_policy_init(struct pools_policy *p, const struct pools_settings *s);
/* A run came that fits the kind; 0 is none. */
void pools_policy_take(struct pools_policy *p, unsigned kind, uint64_t now_ms);

/* What a round goes by. */
struct pools_view {
    uint64_t now_ms;
    uint32_t installed; /* bits of kinds whose language is there */
    bool sealed;        /* the level has warm starts */
    bool crowded;       /* runs wait for a jar */
    struct pools_memory memory;
    const struct pool_state *known; /* of every kind, as the warden last told; NULL: it has not */
};
struct pool_targets pools_policy_decide(struct pools_policy *p, const struct pools_view *v);
/* Whether everything that was asked for is there, or will not be. */
bool pools_policy_at_rest(const struct pools_policy *p, const struct pool_targets *t,
                          const struct pool_state *known);

/* pools_memory.c: the machine's, or of the narrowest cgroup we are in. */
struct pools_memory pools_memory_read(void);
/* The same below another root, for tests. */
struct pools_memory pools_memory_read_at(int root_fd);

/* pools_kind.c: the kind that fits a program, by its main file and those beside it; 0: a cold start. `code` NULL: it
 * is looked up in the bundle. */
struct buf;
unsigned pools_kind_of(const struct language *l, const char *main_name, const char *code,
                       const struct buf *bundle, char *const *env);
