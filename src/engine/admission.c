/* Who runs next: one line for each key, served in turn. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/engine_impl.h"

static const char *key_of(const struct live *l)
{
    return l->x.spec.key ? l->x.spec.key : "";
}

static struct turn *find(const struct engine *r, const char *key)
{
    for (struct turn *t = r->queue.turns; t; t = t->next)
        if (strcmp(t->key, key) == 0)
            return t;
    return NULL;
}

static struct turn *find_or_add(struct engine *r, const char *key)
{
    struct turn *t = find(r, key), **end = &r->queue.turns;
    if (t)
        return t;
    t = calloc(1, sizeof *t);
    if (!t || !(t->key = strdup(key))) {
        free(t);
        return NULL;
    }
    while (*end)
        end = &(*end)->next;
    *end = t;
    return t;
}

static void remove_if_empty(struct engine *r, struct turn *t)
{
    if (t->waiting > 0 || t->running > 0)
        return;
    struct turn **at = &r->queue.turns;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    free(t->key);
    free(t);
}

static void move_to_end(struct engine *r, struct turn *t)
{
    struct turn **at = &r->queue.turns;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    t->next = NULL;
    for (at = &r->queue.turns; *at;)
        at = &(*at)->next;
    *at = t;
}

static unsigned key_max(const struct engine *r, uint32_t of_key)
{
    return of_key > 0 ? of_key : r->limits.max_per_key;
}

/* ---- bursts ----
 * Of many that come at once to a service that has room all are better served late than sent away; of more than can be
 * served, for long, all would be late, and for those that are taken the service is to stay as fast as it was. So the line
 * may become long once: it was not full for a while before, it is not full for long, none was refused yet, and the last
 * in line will not wait for long. */
enum { CALM_MS = 500, BURST_MS = 2000, BURST_WAIT_MS = 2000 };

void queue_note_time(struct engine *r, double ms)
{
    double *mean = &r->queue.mean_ms;
    *mean = *mean > 0 ? *mean + (ms - *mean) / 16 : ms;
}

uint64_t queue_wait_ms(const struct engine *r)
{
    unsigned max = r->limits.max ? r->limits.max : 1;
    return (uint64_t)(r->queue.bounded * r->queue.mean_ms / max);
}

static bool may_be_long(struct engine *r, uint64_t now_ms)
{
    struct queue *q = &r->queue;
    if (q->running + q->bounded + 1 < r->limits.max)
        return true; /* there is room anyway */
    if (q->full_ms == 0 || now_ms - q->full_ms >= CALM_MS)
        q->burst_until_ms = now_ms + BURST_MS;
    q->full_ms = now_ms;
    return r->wire_fd >= 0 && now_ms < q->burst_until_ms && queue_wait_ms(r) < BURST_WAIT_MS;
}

/* What has a jar and what waits for one, together: a run waits a moment also where there is room, for its record. */
bool queue_has_room(struct engine *r, const char *key, uint32_t key_max_runs, uint64_t now_ms)
{
    const struct turn *t = find(r, key ? key : "");
    unsigned burst = may_be_long(r, now_ms) ? r->limits.burst : 0;
    unsigned own = t ? t->running + t->bounded : 0, of_all = r->limits.queue;
    unsigned max = r->wire_fd >= 0 ? r->limits.max : 0; /* without a warden all of them wait */
    unsigned own_max = key_max(r, key_max_runs) < max ? key_max(r, key_max_runs) : max;
    /* One key alone never fills the line: others find a place in it. */
    unsigned of_key = key ? (of_all + 1) / 2 + burst / 4 * 3 : of_all + burst;
    bool room = r->queue.running + r->queue.bounded < max + of_all + burst &&
                own < own_max + of_key;
    if (!room)
        r->queue.burst_until_ms = 0;
    return room;
}

int queue_push(struct engine *r, struct live *l, struct err *e)
{
    struct turn *t = find_or_add(r, key_of(l));
    if (!t)
        return err_no_memory(e, "a run");
    l->turn = t;
    l->pushed_us = clock_us();
    l->next_waiting = NULL;
    if (t->last)
        t->last->next_waiting = l;
    else
        t->first = l;
    t->last = l;
    t->waiting++;
    t->bounded += !l->patient;
    r->queue.waiting++;
    r->queue.bounded += !l->patient;
    return 0;
}

static void unlink_waiting(struct engine *r, struct turn *t, struct live *l)
{
    struct live *before = NULL;
    for (struct live *at = t->first; at != l; at = at->next_waiting)
        before = at;
    if (before)
        before->next_waiting = l->next_waiting;
    else
        t->first = l->next_waiting;
    if (t->last == l)
        t->last = before;
    l->next_waiting = NULL;
    l->waited_us = clock_us() - l->pushed_us;
    t->waiting--;
    t->bounded -= !l->patient;
    r->queue.waiting--;
    r->queue.bounded -= !l->patient;
}

struct live *queue_pop(struct engine *r)
{
    if (r->queue.running >= r->limits.max)
        return NULL;
    for (struct turn *t = r->queue.turns; t; t = t->next) {
        struct live *l = t->first;
        /* What is not recorded yet does not run; nor is what came after it. */
        if (!l || !l->recorded || t->running >= key_max(r, l->x.spec.key_max_runs))
            continue;
        unlink_waiting(r, t, l);
        t->running++;
        r->queue.running++;
        l->x.state = RUN_RUNNING;
        move_to_end(r, t);
        return l;
    }
    return NULL;
}

void queue_leave(struct engine *r, struct live *l)
{
    struct turn *t = l->turn;
    if (!t)
        return;
    l->turn = NULL;
    if (l->x.state == RUN_QUEUED) {
        unlink_waiting(r, t, l);
    } else {
        t->running--;
        r->queue.running--;
    }
    remove_if_empty(r, t);
}
