/* warden/pools.h — zygotes and what they have ready, kind by kind.
 * Runs in: warden, from its loop. Never logs, never waits.
 *
 * Invariants
 * P1 A kind has at most one zygote that is asked, and one that will take its place.
 * P2 Embryos of all kinds are at most POOL_EMBRYOS_MAX, and no more than REFILLS_AT_ONCE are made at a time unless somebody
 *    waits for them.
 * P3 What a zygote does wrong is an end of the zygote: no run fails for it, it starts cold. */
#pragma once

#include "spec/zygote.h"
#include "zygote/zygote.h"

struct pool {
    struct zygote_files files;
    struct zygote *now, *next; /* the one that is asked; the one that will be */
    struct zygote *old;        /* was asked, and some jars still await an embryo of it */
    uint64_t again_us;         /* not started before: it has failed */
    unsigned failures;         /* in a row */
    uint64_t lay_again_us;     /* no embryo is made before: some have died of themselves */
    unsigned lay_failures;     /* in a row */
    struct pool_state state;
};

struct pools {
    struct jar_host *host;
    struct pool_targets targets;
    struct pool kinds[ZYGOTE_KINDS_MAX];
    uint32_t n;
};

/* Finds the drivers; while the host's files can be seen. */
void pools_find(struct pools *p, const struct zygote_def *const *defs, size_t n);
void pools_init(struct pools *p, struct jar_host *host);
void pools_end_zygotes(struct pools *p);
void pools_done(struct pools *p);

void pools_aim(struct pools *p, const struct pool_targets *targets);

/* What may hatch a job of this kind; NULL: it starts cold. */
struct jar_womb *pools_womb(struct pools *p, unsigned kind);

/* A zygote of this kind has booted or died. The dead one, which the caller frees once no jar awaits it; or NULL. */
struct zygote *pool_hear(struct pool *k);
/* The zygote that this jar awaits an embryo of does not answer: it is the caller's to free as a dead one, or NULL. */
struct zygote *pool_give_up(struct pool *k, const struct jar *awaiting);
bool pools_has_child(const struct pools *p, pid_t pid);

/* Starts, replaces and ends zygotes. When to call again at the latest, on clock_us(). */
uint64_t pools_tend(struct pools *p, uint64_t now_us);
/* An embryo has died of itself, or has been put to use: those that die at once are made ever later. */
void pool_note_embryo(struct pool *k, bool died, uint64_t now_us);
/* True when one more embryo of this kind is to be made now, while so many of all kinds are. */
bool pools_want(const struct pools *p, unsigned kind, uint32_t building, uint64_t now_us);
