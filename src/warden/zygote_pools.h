/* warden/zygote_pools.h — zygotes and what they have ready, kind by kind.
 * Runs in: warden, from its loop. Never logs, never waits.
 *
 * Invariants
 * P1 A kind has at most one zygote that is asked, and one that will take its place.
 * P2 Embryos of all kinds are at most POOL_EMBRYOS_MAX, and no more than REFILLS_AT_ONCE are made at a time unless somebody
 *    waits for them.
 * P3 What a zygote does wrong is an end of the zygote: no run fails for it, it starts cold. */
#pragma once

#include "spec/pool.h"
#include "zygote/zygote.h"

struct zygote_pool {
    struct zygote_files files;
    struct zygote *active, *next; /* the one that is asked; the one that will be */
    struct zygote *old;           /* was asked, and some jars still await an embryo of it */
    uint64_t again_us;            /* not started before: it has failed */
    unsigned failures;            /* in a row */
    uint64_t embryo_again_us;     /* no embryo is made before: some have died of themselves */
    unsigned embryo_failures;     /* in a row */
    struct pool_state state;
};

struct zygote_pools {
    struct jar_host *host;
    struct pool_targets targets;
    struct zygote_pool kinds[ZYGOTE_KINDS_MAX];
    uint32_t n;
};

/* Finds the drivers; while the host's files can be seen. */
void zygote_pools_open(struct zygote_pools *p, const struct zygote_def *const *defs, size_t n);
void zygote_pools_init(struct zygote_pools *p, struct jar_host *host);
void zygote_pools_end_zygotes(struct zygote_pools *p);
void zygote_pools_done(struct zygote_pools *p);

void zygote_pools_set_targets(struct zygote_pools *p, const struct pool_targets *targets);

/* What may fork_embryo a job of this kind; NULL: it starts cold. */
struct embryo_source *zygote_pools_source(struct zygote_pools *p, unsigned kind);

/* A zygote of this kind has booted or died. The dead one, which the caller frees once no jar awaits it; or NULL. */
struct zygote *zygote_pool_take_dead(struct zygote_pool *k);
/* The zygote that this jar awaits an embryo of does not answer: it is the caller's to free as a dead one, or NULL. */
struct zygote *zygote_pool_take_hung(struct zygote_pool *k, const struct jar *awaiting);
bool zygote_pools_has_child(const struct zygote_pools *p, pid_t pid);

/* Starts, replaces and ends zygotes. When to call again at the latest, on clock_us(). */
uint64_t zygote_pools_maintain(struct zygote_pools *p, uint64_t now_us);
/* An embryo has died of itself, or has been put to use: those that die at once are made ever later. */
void zygote_pool_note_embryo(struct zygote_pool *k, bool died, uint64_t now_us);
/* True when one more embryo of this kind is to be made now, while so many of all kinds are. */
bool zygote_pools_want_embryo(const struct zygote_pools *p, unsigned kind, uint32_t building,
                              uint64_t now_us);
