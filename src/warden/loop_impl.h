/* warden/loop_impl.h — shared by loop.c and embryos.c only. Runs in: warden. */
#pragma once

#include "jar/jar.h"
#include "warden/zygote_pools.h"
#include "wire/wire.h"

enum { RUNS_MAX = 1024, JARS_MAX = RUNS_MAX + POOL_EMBRYOS_MAX };

/* One jar: of a run, or idle. */
struct slot {
    struct jar *jar; /* NULL: free */
    uint64_t id;     /* of the run */
    unsigned kind;   /* of the embryo that it requested; 0: none */
    bool idle;       /* no job yet: the keeper does not know it */
    bool warm;       /* it was idle before its job */
    bool started_sent;
    int watched_fd; /* registered with epoll, or -1 */
    uint64_t born_us;
};

struct loop {
    int wire_fd, epoll_fd;
    struct jar_host *host;
    struct zygote_pools *pools;
    uint64_t maintain_us; /* the latest time for the next embryos_maintain() */
    struct slot slots[JARS_MAX];
    struct wire_message message; /* the current one; too large for the stack of each call */
};

/* loop.c */
struct slot *loop_free_slot(struct loop *l);
[[nodiscard]] int loop_watch(struct loop *l, struct slot *s, struct err *e);

/* embryos.c: embryos and zygotes */

/* The embryo of this kind that has waited longest, or NULL. */
struct slot *embryos_oldest_ready(struct loop *l, unsigned kind);
[[nodiscard]] int embryos_on_targets(struct loop *l, struct err *e); /* in l->message */
/* A zygote of this pool booted or died. */
[[nodiscard]] int embryos_on_zygote(struct loop *l, struct zygote_pool *k, struct err *e);
/* Starts and ends zygotes and embryos, as the targets need. */
[[nodiscard]] int embryos_maintain(struct loop *l, struct err *e);
