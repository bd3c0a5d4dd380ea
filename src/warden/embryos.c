/* Idle jars and the zygotes that fork their embryos, in the loop of the warden. Runs in: warden. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/process.h"
#include "jar/as_owner.h"
#include "warden/loop_impl.h"

struct slot *embryos_oldest_ready(struct loop *l, unsigned kind)
{
    struct slot *oldest = NULL;
    for (int i = 0; kind > 0 && i < l->slots_end; i++) {
        struct slot *s = &l->slots[i];
        if (s->jar && s->idle && s->kind == kind && jar_is_ready(s->jar) &&
            (!oldest || s->born_us < oldest->born_us))
            oldest = s;
    }
    return oldest;
}

/* Counts the embryos of each kind. Returns how many of all kinds are being built. */
static uint32_t count_embryos(const struct loop *l)
{
    uint32_t building = 0;
    for (uint32_t i = 0; i < l->pools->n; i++)
        l->pools->kinds[i].state.ready = l->pools->kinds[i].state.building = 0;
    for (int i = 0; i < l->slots_end; i++) {
        const struct slot *s = &l->slots[i];
        if (!s->jar || !s->idle)
            continue;
        struct pool_state *state = &l->pools->kinds[s->kind - 1].state;
        bool ready = jar_is_ready(s->jar);
        state->ready += ready;
        state->building += !ready;
        building += !ready;
    }
    return building;
}

int embryos_on_targets(struct loop *l, struct err *e)
{
    struct pool_targets t;
    struct wire_pools pools = { .kinds = l->pools->n };
    if (wire_read_targets(&l->message, &t, e) || limits_check(&t.limits, e))
        return -1;
    zygote_pools_set_targets(l->pools, &t);
    l->maintain_us = 0;
    (void)count_embryos(l);
    for (uint32_t i = 0; i < pools.kinds; i++)
        pools.state[i] = l->pools->kinds[i].state;
    return wire_send_pools(l->wire_fd, &pools, e);
}

/* ---- zygotes ---- */

static bool is_known_child(const struct loop *l, pid_t pid)
{
    for (int i = 0; i < l->slots_end; i++)
        if (l->slots[i].jar && jar_has_child(l->slots[i].jar, pid))
            return true;
    return zygote_pools_has_child(l->pools, pid) || reclaim_has_child(&l->host->reclaimer, pid) ||
           watch_has_child(&l->host->watch, pid);
}

/* The inode of the pid namespace of a child of ours; 0 when it cannot be read. */
static ino_t pid_ns_of(const struct loop *l, pid_t pid)
{
    char path[64];
    struct stat st;
    struct err ignored;
    (void)snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
    if (as_owner_begin(l->host, &ignored))
        return 0;
    ino_t found = stat(path, &st) == 0 ? st.st_ino : 0;
    as_owner_end(l->host);
    return found;
}

/* An embryo of a living zygote, which has not reported it yet. */
static bool is_expected(const struct loop *l, const struct zygote *dead, pid_t pid)
{
    ino_t ns = pid_ns_of(l, pid);
    for (int i = 0; i < l->slots_end; i++) {
        const struct jar *j = l->slots[i].jar;
        bool is_lost = j && dead && jar_awaits_embryo(j, &dead->source);
        pid_t init = j && !is_lost ? jar_init_awaiting_embryo(j) : 0;
        if (init > 0 && (ns == 0 || pid_ns_of(l, init) == ns))
            return true;
    }
    return false;
}

/* True when there was any. */
static bool reap_unknown_once(const struct loop *l, const struct zygote *dead)
{
    pid_t children[2 * JARS_MAX]; /* at most two a jar */
    size_t n = process_children(children, ARRAY_LEN(children));
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        pid_t pid = children[i];
        if (pid <= 1 || is_known_child(l, pid) || is_expected(l, dead, pid))
            continue;
        any = true;
        (void)kill(pid, SIGKILL); /* our unreaped child: no other process has this pid */
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    return any;
}

/* A zygote that died between a fork and its report leaves an unknown child, and the jar of that
 * child cannot end before it is reaped. The child may be the joiner, whose own child becomes ours
 * when the joiner is dead: hence a loop. A zygote that died while it booted leaves the programs that
 * its interpreter started. dead NULL: no jar awaits its embryos. */
static void reap_unknown_children(const struct loop *l, const struct zygote *dead)
{
    while (reap_unknown_once(l, dead))
        ;
}

/* First the zygote and its forks die, then the jars that waited for it start their programs cold: a
 * joiner, which has every right in its jar, is never there together with a guest. */
static int release_zygote(struct loop *l, struct zygote *dead, struct err *e)
{
    int rc = 0;
    zygote_kill(dead);
    reap_unknown_children(l, dead);
    for (int i = 0; i < l->slots_end; i++) {
        struct slot *s = &l->slots[i];
        if (!s->jar || !jar_awaits_embryo(s->jar, &dead->source))
            continue;
        jar_source_gone(s->jar, &dead->source);
        rc = rc || loop_watch(l, s, e) ? -1 : 0; /* it waits for another descriptor now */
    }
    zygote_free(dead);
    return rc;
}

int embryos_on_zygote(struct loop *l, struct zygote_pool *k, struct err *e)
{
    struct zygote *dead;
    int rc = 0;
    while ((dead = zygote_pool_take_dead(k)))
        rc = release_zygote(l, dead, e) || rc ? -1 : 0;
    l->maintain_us = 0;
    return rc;
}

/* Kills zygotes that do not answer, so that the jars that wait for them can go on. */
static int end_hung_zygotes(struct loop *l, struct err *e)
{
    for (int i = 0; i < l->slots_end; i++) {
        const struct slot *s = &l->slots[i];
        if (!s->jar || !jar_is_overdue(s->jar))
            continue;
        struct zygote *hung = zygote_pool_take_hung(&l->pools->kinds[s->kind - 1], s->jar);
        if (hung && release_zygote(l, hung, e))
            return -1;
        l->maintain_us = 0;
    }
    return 0;
}

static bool is_awaited(const struct loop *l, const struct zygote *z)
{
    for (int i = 0; i < l->slots_end; i++)
        if (l->slots[i].jar && jar_awaits_embryo(l->slots[i].jar, &z->source))
            return true;
    return false;
}

static void watch_zygote(struct loop *l, struct zygote_pool *k, const struct zygote *z)
{
    struct epoll_event ev = { .events = EPOLLIN | EPOLLET, .data.ptr = k };
    if (z) /* EEXIST: it is watched already */
        (void)epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, z->fd, &ev);
}

/* ---- embryos ---- */

static int add_embryo(struct loop *l, unsigned kind, struct err *e)
{
    struct jar *jar;
    struct err why;
    struct slot *slot = loop_free_slot(l);
    if (!slot || jar_new_idle(l->host, zygote_pools_source(l->pools, kind),
                              &l->pools->targets.limits, &jar, &why))
        return 0; /* not now: the next run gets an embryo to order, or starts cold */
    *slot = (struct slot){
        .jar = jar, .kind = kind, .idle = true, .watched_fd = -1, .born_us = clock_us()
    };
    return loop_watch(l, slot, e);
}

/* Ends the oldest embryo if there are too many, or if it is older than a zygote may become. */
static void discard_embryo(struct loop *l, unsigned kind, uint64_t now_us)
{
    const struct zygote_pool *k = &l->pools->kinds[kind - 1];
    const struct pool_targets *t = &l->pools->targets;
    struct slot *s = embryos_oldest_ready(l, kind);
    bool surplus = k->state.ready > (t->kinds[kind - 1].on ? t->kinds[kind - 1].ready : 0);
    if (s && (surplus || now_us - s->born_us > t->zygote_age_ms * 1000))
        jar_kill(s->jar, END_CANCEL);
}

/* Tries again and again until it is gone. */
static void end_old_zygote(struct loop *l, struct zygote_pool *k, uint64_t now_us)
{
    enum { AGAIN_US = 2000 };
    if (!zygote_end(k->old)) {
        l->maintain_us = now_us + AGAIN_US < l->maintain_us ? now_us + AGAIN_US : l->maintain_us;
        return;
    }
    zygote_free(k->old);
    k->old = NULL;
    reap_unknown_children(l, NULL);
    l->maintain_us = 0; /* its place is free for the next one */
}

int embryos_maintain(struct loop *l, struct err *e)
{
    uint64_t now = clock_us();
    if (end_hung_zygotes(l, e))
        return -1;
    if (now >= l->maintain_us) {
        l->maintain_us = zygote_pools_maintain(l->pools, now);
        for (uint32_t i = 0; i < l->pools->n; i++) {
            struct zygote_pool *k = &l->pools->kinds[i];
            watch_zygote(l, k, k->active);
            watch_zygote(l, k, k->next);
            if (k->orphans)
                reap_unknown_children(l, NULL);
            k->orphans = false;
        }
    }
    uint32_t building = count_embryos(l);
    for (uint32_t i = 0; i < l->pools->n; i++) {
        struct zygote_pool *k = &l->pools->kinds[i];
        if (k->old && !is_awaited(l, k->old))
            end_old_zygote(l, k, now);
        discard_embryo(l, i + 1, now);
        if (zygote_pools_want_embryo(l->pools, i + 1, building, now)) {
            building++;
            if (add_embryo(l, i + 1, e))
                return -1;
        }
    }
    return 0;
}
