/* warden/zygote_pools.h — the zygotes of the warden and the counts of their embryos, one pool a
 * kind.
 * Runs in: warden, from its loop. Never logs, never waits.
 *
 * Invariants
 * ZYGOTE_POOLS-1 A kind has at most one active zygote, and one that will replace it.
 * ZYGOTE_POOLS-2 All kinds together have at most POOL_EMBRYOS_MAX embryos. At most REFILLS_AT_ONCE
 *    are built at a time, besides embryos that a run waits for.
 * ZYGOTE_POOLS-3 A zygote that misbehaves is ended. No run fails for it: the run starts cold. */
#pragma once

#include "spec/pool.h"
#include "zygote/zygote.h"

struct zygote_pool {
    struct zygote_files files;
    struct zygote *active, *next; /* forks embryos now; will replace it */
    struct zygote *old;           /* was active; some jars still await its embryos */
    bool orphans;                 /* a zygote was ended while it booted: its children are ours */
    uint64_t again_us;            /* no new zygote before: the last one failed */
    unsigned failures;            /* in a row */
    uint64_t embryo_again_us;     /* no new embryo before: the last one died */
    unsigned embryo_failures;     /* in a row */
    struct pool_state state;
};

struct zygote_pools {
    struct jar_host *host;
    struct pool_targets targets;
    struct zygote_pool kinds[ZYGOTE_KINDS_MAX];
    uint32_t n;
    uint64_t quiet_until_us; /* no new embryo before: a session has just begun */
    uint64_t run_until_us;   /* no new embryo before, if half of them wait: a run is short */
};

/* Opens the files of the drivers, while the files of the host are visible. */
void zygote_pools_open(struct zygote_pools *p, const struct zygote_def *const *defs, size_t n);
void zygote_pools_init(struct zygote_pools *p, struct jar_host *host);
void zygote_pools_end_zygotes(struct zygote_pools *p);
void zygote_pools_done(struct zygote_pools *p);

void zygote_pools_set_targets(struct zygote_pools *p, const struct pool_targets *targets);

/* The source of embryos of this kind; NULL: a cold start. */
struct embryo_source *zygote_pools_source(struct zygote_pools *p, unsigned kind);

/* Reads the messages of the zygotes. Returns one that died, which the caller frees once no jar
 * awaits it; or NULL. */
struct zygote *zygote_pool_take_dead(struct zygote_pool *k);
/* Removes the zygote that does not answer this jar; the caller frees it like a dead one. Or
 * NULL. */
struct zygote *zygote_pool_take_hung(struct zygote_pool *k, const struct jar *awaiting);
bool zygote_pools_has_child(const struct zygote_pools *p, pid_t pid);

/* Starts, replaces and ends zygotes. Returns the latest time for the next call, on clock_us(). */
uint64_t zygote_pools_maintain(struct zygote_pools *p, uint64_t now_us);
/* An embryo died by itself, or got a job. After a death the next embryo is made with a growing
 * delay. */
void zygote_pool_note_embryo(struct zygote_pool *k, bool died, uint64_t now_us);
/* A session got an embryo. The warden makes no other embryo for a moment, because the first cell of
 * the session most often follows at once, and would wait for it. Pauses are rare enough that pools
 * are filled while many sessions begin. */
void zygote_pools_note_session(struct zygote_pools *p, uint64_t now_us);
/* A run got an embryo, or ended. An embryo takes the warden longer than a short run takes, and the end
 * of the run would wait for it. Returns the time when embryos may be made again. */
uint64_t zygote_pools_note_run(struct zygote_pools *p, bool begins, uint64_t now_us);
/* True when one more embryo of this kind should be made, while `building` embryos of all kinds
 * are. */
bool zygote_pools_want_embryo(const struct zygote_pools *p, unsigned kind, uint32_t building,
                              uint64_t now_us);
