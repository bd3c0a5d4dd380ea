/* warden/loop_impl.h — shared by loop.c, keepers.c and embryos.c only. Runs in: warden. */
#pragma once

#include "jar/jar.h"
#include "warden/kept.h"
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
    bool orphan;     /* its keeper is gone: no later one knows it */
    bool started_sent;
    bool rest_sent; /* the keeper knows the end of the last job; the jar rests, or ends unheard */
    int watched_fd; /* registered with epoll, or -1 */
    uint64_t born_us;
};

/* The network of the job that comes next. */
struct next_network {
    int fd; /* -1: none */
    struct wire_network message;
};

struct loop {
    int wire_fd;    /* of the keeper; -1: there is none at the moment */
    int control_fd; /* of the supervisor; -1: the keeper is our only peer */
    int epoll_fd;
    struct kept_store kept;
    bool over; /* the supervisor is gone */
    struct jar_host *host;
    struct zygote_pools *pools;
    uint64_t maintain_us; /* the latest time for the next embryos_maintain() */
    struct slot slots[JARS_MAX];
    int slots_end; /* no slot from here on has a jar: the loops over slots are as short as can be */
    struct next_network network;
    struct wire_message message; /* the current one; too large for the stack of each call */
};

/* loop.c */
struct slot *loop_find_slot(struct loop *l, uint64_t id);
[[nodiscard]] int loop_on_cell(struct loop *l, struct err *e); /* in l->message */
[[nodiscard]] int loop_on_kill(struct loop *l, struct err *e);
/* The environment of a job may hold secrets, and every jar begins as a copy of this process. */
void loop_wipe_message(struct loop *l);
enum start loop_start_of(const struct slot *s);
[[nodiscard]] int loop_send_ended(struct loop *l, uint64_t id, const struct jar_outcome *o,
                                  bool rests, struct err *e);
struct slot *loop_free_slot(struct loop *l);
[[nodiscard]] int loop_watch(struct loop *l, struct slot *s, struct err *e);

/* keepers.c: one keeper after another. -1 is an error of the peer, which is dropped. */
[[nodiscard]] int keepers_watch(struct loop *l, int fd, void *who, struct err *e);
[[nodiscard]] int keepers_begin(struct loop *l, struct err *e);     /* in l->message */
[[nodiscard]] int keepers_on_keeper(struct loop *l, struct err *e); /* the supervisor's wire */
[[nodiscard]] int keepers_on_keep(struct loop *l, struct err *e);
[[nodiscard]] int keepers_on_adopt(struct loop *l, struct err *e);
void keepers_lose(struct loop *l);
bool keepers_hold_end(struct loop *l, const struct slot *s, const struct jar_outcome *outcome,
                      const struct cell_usage *cell);
void keepers_end_alone(struct loop *l, uint64_t now_us);

/* embryos.c: embryos and zygotes */

/* The embryo of this kind that has waited longest, or NULL. */
struct slot *embryos_oldest_ready(struct loop *l, unsigned kind);
[[nodiscard]] int embryos_on_targets(struct loop *l, struct err *e); /* in l->message */
/* A zygote of this pool booted or died. */
[[nodiscard]] int embryos_on_zygote(struct loop *l, struct zygote_pool *k, struct err *e);
/* Starts and ends zygotes and embryos, as the targets need. */
[[nodiscard]] int embryos_maintain(struct loop *l, struct err *e);
