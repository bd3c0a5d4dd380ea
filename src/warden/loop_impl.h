/* warden/loop_impl.h — what loop.c and embryos.c share. Runs in: warden. */
#pragma once

#include "jar/jar.h"
#include "warden/zygote_pools.h"
#include "wire/wire.h"

enum { RUNS_MAX = 1024, JARS_MAX = RUNS_MAX + POOL_EMBRYOS_MAX };

/* One jar: a run the keeper asked for, or an embryo. */
struct slot {
    struct jar *jar; /* NULL: free */
    uint64_t id;     /* of the run */
    unsigned kind;   /* of its zygote; 0: it has asked for none */
    bool idle;       /* no job yet: nobody has heard of it */
    bool warm;       /* was one, when its job came */
    bool started_sent;
    int watched_fd; /* registered with epoll, or -1 */
    uint64_t born_us;
};

struct loop {
    int wire_fd, epoll_fd;
    struct jar_host *host;
    struct zygote_pools *pools;
    uint64_t maintain_us; /* when to look after the pools at the latest */
    struct slot slots[JARS_MAX];
    struct wire_message message; /* one at a time; too large for the stack of every call */
};

/* loop.c */
struct slot *loop_free_slot(struct loop *l);
[[nodiscard]] int loop_watch(struct loop *l, struct slot *s, struct err *e);

/* embryos.c: embryos and zygotes */

/* The embryo of this kind that has waited longest, or NULL. */
struct slot *embryos_oldest_ready(struct loop *l, unsigned kind);
[[nodiscard]] int embryos_on_targets(struct loop *l, struct err *e); /* the message at hand */
/* Something happened to a zygote of this pool. */
[[nodiscard]] int embryos_on_zygote(struct loop *l, struct zygote_pool *k, struct err *e);
/* Brings zygotes and embryos nearer to what they should be. */
[[nodiscard]] int embryos_maintain(struct loop *l, struct err *e);
