/* engine/pools/pools.h — the number of embryos of each kind that should wait for a job.
 * Runs in: keeper. pools.c is pure: numbers in, numbers out. pools_link.c has the clock, the memory
 * of the machine and the wire.
 *
 * Invariants
 * POOLS-1 The target of a kind follows its demand: upwards at once, downwards over tens of seconds.
 * POOLS-2 No target exceeds `max`, and all embryos together take at most an eighth of the memory.
 * POOLS-3 While memory is short, no embryo waits and no large zygote is kept. Both come back after
 *         there has been room for a while.
 * POOLS-4 While runs wait for a jar, no target exceeds the embryos that exist: building more would
 *         take the CPU of the runs.
 * POOLS-5 The warden says how a run started. The language, the code, the environment and the level
 *         decide whether it may start warm. A run with a writable root never does. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "runtime/language.h"
#include "spec/pool.h"

struct pools_settings {
    unsigned max, min;     /* embryos of one kind; max 0: no embryos and no zygotes */
    uint64_t memory_floor; /* with fewer bytes available, memory is short; 0: by its size */
    uint32_t preload;      /* kinds with a zygote from the start; other kinds get one when used */
    uint64_t zygote_forks, zygote_age_ms;
    struct limits limits; /* embryos are made with these: the limits of most runs */
};

/* "all", "used", or names of kinds with commas, as a set of kinds. */
[[nodiscard]] int pools_preload(const char *text, uint32_t *ret, struct err *e);

/* A kind is a number from 1; 0 stands for a cold start. The arrays by kind begin with kind 1. */
#define KIND_INDEX(kind) ((kind)-1)
#define KIND_BIT(index)  (1U << (index))

struct pool_kind {
    const char *name;
    const struct language *language;
    bool large;   /* its zygote has imported large libraries */
    bool session; /* for sessions, not for runs */
};

/* 0: unknown. */
struct pools_memory {
    uint64_t total, available;
    double stalled; /* percent of the last ten seconds in which every task waited for memory */
};

struct pools_policy {
    struct pools_settings settings;
    size_t n;
    struct pool_kind kinds[ZYGOTE_KINDS_MAX]; /* kind k is entry KIND_INDEX(k) */
    struct {
        unsigned runs; /* since the last round */
        double peak;   /* the maximum of one round; it fades */
        bool used;     /* there was a run, the last one at used_ms */
        uint64_t used_ms;
    } demand[ZYGOTE_KINDS_MAX];
    uint64_t starts[ZYGOTE_KINDS_MAX + 1][START_COUNT_]; /* by kind; 0: none */
    uint64_t decided_ms;
    bool short_of_memory;
    uint64_t room_since_ms; /* while memory is short: there is room again since then; 0: no */
};

/* Takes the kinds from the declarations of the languages. */
void pools_policy_init(struct pools_policy *p, const struct pools_settings *s);
/* A run came that fits this kind; 0: none. */
void pools_policy_count_demand(struct pools_policy *p, unsigned kind, uint64_t now_ms);

/* A run of this kind is likely to come: its zygote is booted as if one had come now. */
void pools_policy_expect(struct pools_policy *p, unsigned kind, uint64_t now_ms);

/* The input of a round. */
struct pools_view {
    uint64_t now_ms;
    uint32_t installed; /* kinds whose language is installed */
    bool sealed;        /* the level has warm starts */
    bool crowded;       /* runs wait for a jar */
    struct pools_memory memory;
    const struct pool_state *known; /* of every kind; NULL: the warden has not answered yet */
};
struct pool_targets pools_policy_decide(struct pools_policy *p, const struct pools_view *v);
/* Whether every target is reached, or cannot be reached. */
bool pools_policy_at_rest(const struct pools_policy *p, const struct pool_targets *t,
                          const struct pool_state *known);

/* pools_memory.c: the memory of the machine, or of the smallest cgroup around us. */
struct pools_memory pools_memory_read(void);
/* The same below another root directory, for tests. */
struct pools_memory pools_memory_read_at(int root_fd);

/* pools_kind.c: the kind that fits a program, by its main file and the files beside it; 0: a cold
 * start. code NULL: the main file is read from the bundle. */
struct buf;
unsigned pools_kind_of(const struct language *l, const char *main_name, const char *code,
                       const struct buf *bundle, char *const *env);
