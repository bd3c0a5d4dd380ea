/* The event loop: messages of the keeper, jars, zygotes. Runs in: warden. */
#include "warden/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "spec/mount.h"
#include "warden/loop_impl.h"
#include "wire/wire.h"

enum { EVENTS_MAX = 64 };

struct slot *loop_find_slot(struct loop *l, uint64_t id)
{
    for (int i = 0; i < l->slots_end; i++)
        if (l->slots[i].jar && !l->slots[i].idle && !l->slots[i].orphan && l->slots[i].id == id)
            return &l->slots[i];
    return NULL;
}

struct slot *loop_free_slot(struct loop *l)
{
    int i = 0;
    while (i < l->slots_end && l->slots[i].jar)
        i++;
    if (i == JARS_MAX)
        return NULL;
    if (i == l->slots_end)
        l->slots_end++;
    return &l->slots[i];
}

int loop_send_ended(struct loop *l, uint64_t id, const struct jar_outcome *o, bool rests,
                    struct err *e)
{
    struct wire_ended ended = {
        .id = id, .err = o->err, .evidence = o->evidence, .usage = o->usage, .rests = rests
    };
    return wire_send_ended(l->wire_fd, &ended, e);
}

/* Makes epoll watch the descriptor that the jar waits for now. One shot each: a descriptor that we
 * closed stays in epoll while a child has a copy of it, and must not wake us again and again. A
 * late event of such a descriptor is harmless, because jar_advance() polls by itself. */
int loop_watch(struct loop *l, struct slot *s, struct err *e)
{
    int fd = jar_fd(s->jar);
    struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT, .data.ptr = s };
    if (fd < 0 || (fd == s->watched_fd && epoll_ctl(l->epoll_fd, EPOLL_CTL_MOD, fd, &ev) == 0))
        return 0;
    s->watched_fd = fd;
    if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &ev) == 0 ||
        (errno == EEXIST && epoll_ctl(l->epoll_fd, EPOLL_CTL_MOD, fd, &ev) == 0))
        return 0;
    return err_set(e, ERR_KERNEL, errno, "watch a jar");
}

static void free_slot(struct loop *l, struct slot *s)
{
    jar_free(s->jar);
    *s = (struct slot){ .watched_fd = -1 };
    while (l->slots_end > 0 && !l->slots[l->slots_end - 1].jar)
        l->slots_end--;
}

enum start loop_start_of(const struct slot *s)
{
    return s->warm ? START_WARM : jar_was_forked(s->jar) ? START_HATCHED : START_COLD;
}

static int send_started(struct loop *l, struct slot *s, struct err *e)
{
    struct wire_started started = { .id = s->id, .start = loop_start_of(s) };
    s->started_sent = true;
    if (s->kind > 0)
        l->pools->kinds[s->kind - 1].state.starts[started.start]++;
    return l->wire_fd < 0 || s->orphan ? 0 : wire_send_started(l->wire_fd, &started, e);
}

static int send_plumbed(struct loop *l, const struct slot *s, struct err *e)
{
    struct wire_plumbed x = { .id = s->id };
    return !jar_take_plumbed(s->jar, clock_us(), &x.err) || l->wire_fd < 0 || s->orphan
               ? 0
               : wire_send_plumbed(l->wire_fd, &x, e);
}

static int send_rest(struct loop *l, struct slot *s, struct err *e)
{
    s->rest_sent = true;
    autofree struct samples *samples = jar_take_samples(s->jar);
    if (l->wire_fd < 0 || s->orphan)
        return 0;
    return (samples && wire_send_samples(l->wire_fd, s->id, samples, e)) ||
                   loop_send_ended(l, s->id, jar_outcome(s->jar), true, e)
               ? -1
               : 0;
}

/* The next embryo is made when this run has ended, or after a moment. */
static void note_run(struct loop *l, bool begins)
{
    uint64_t now = clock_us(), until = zygote_pools_note_run(l->pools, begins, now);
    if (until > now && until < l->maintain_us)
        l->maintain_us = until;
}

/* Advances a jar, and reports its start or its end to the keeper. */
static int advance(struct loop *l, struct slot *s, struct err *e)
{
    jar_advance(s->jar, clock_us());
    if (send_plumbed(l, s, e))
        return -1;
    if (jar_has_started(s->jar) && !s->started_sent && send_started(l, s, e))
        return -1;
    if (jar_rests(s->jar) && !s->rest_sent && send_rest(l, s, e))
        return -1;
    if (!jar_is_gone(s->jar))
        return loop_watch(l, s, e);
    uint64_t id = s->id;
    bool embryo = s->idle;
    struct jar_outcome outcome = *jar_outcome(s->jar);
    autofree struct samples *samples = jar_take_samples(s->jar);
    struct cell_usage cell;
    bool had_cell = jar_take_cell(s->jar, &cell);
    if (embryo) {
        struct zygote_pool *k = &l->pools->kinds[s->kind - 1];
        k->state.discarded++;
        if (outcome.evidence.reason == END_FAILURE)
            zygote_pool_note_embryo(k, true, clock_us());
        l->maintain_us = 0;
    }
    bool unheard = !embryo &&
                   (keepers_hold_end(l, s, &outcome, had_cell ? &cell : NULL) || s->rest_sent);
    if (s->warm)
        note_run(l, false);
    free_slot(l, s); /* first: when the keeper gets the message, the jar is gone */
    if (embryo || unheard)
        return 0;
    if (samples && wire_send_samples(l->wire_fd, id, samples, e))
        return -1;
    if (had_cell && wire_send_cell_end(l->wire_fd, id, &cell, e))
        return -1;
    return loop_send_ended(l, id, &outcome, false, e);
}

/* A run that could not start is an answer, not an error of the protocol. */
static int send_refusal(struct loop *l, uint64_t id, const struct err *why, struct err *e)
{
    struct jar_outcome outcome = { .err = *why, .evidence.reason = END_FAILURE };
    return loop_send_ended(l, id, &outcome, false, e);
}

/* Gives the job to a waiting embryo. 1: the embryo has it; 0: no embryo took it. An embryo that
 * fails here ends, and no other is tried: the job itself may be the cause, and would end them
 * all. */
static int assign(struct loop *l, const struct wire_spawn *w, const int fds[SESSION_FDS],
                  struct err *e)
{
    struct err why;
    bool cold = w->job.flags & (JOB_WRITABLE_ROOT | JOB_LISTED) || mount_count(w->job.mounts) > 0;
    struct slot *s = cold ? NULL : embryos_oldest_ready(l, w->job.kind);
    if (!s)
        return 0;
    if (jar_assign(s->jar, &w->job, fds, &why))
        return loop_watch(l, s, e); /* it is being ended */
    zygote_pool_note_embryo(&l->pools->kinds[s->kind - 1], false, 0);
    s->idle = false;
    s->warm = true;
    s->id = w->id;
    if (job_is_session(&w->job)) {
        zygote_pools_note_session(l->pools, clock_us());
        l->maintain_us = 0;
    } else {
        note_run(l, true);
    }
    /* with a network it waits for another descriptor now */
    return w->job.flags & JOB_NETWORK && loop_watch(l, s, e) ? -1 : 1;
}

static int spawn(struct loop *l, const struct wire_spawn *w, const int fds[SESSION_FDS],
                 struct err *e)
{
    struct err why = { 0 };
    struct jar *jar;
    unsigned kind = w->job.kind;
    struct slot *slot = loop_free_slot(l);
    if (!slot) {
        (void)!err_set(&why, ERR_UNAVAILABLE, 0, "%d jars are running: wait for one to end",
                       JARS_MAX);
        return send_refusal(l, w->id, &why, e);
    }
    if (jar_spawn(l->host, zygote_pools_source(l->pools, kind), &w->job, fds, &jar, &why))
        return send_refusal(l, w->id, &why, e);
    *slot = (struct slot){
        .jar = jar, .id = w->id, .kind = kind <= l->pools->n ? kind : 0, .watched_fd = -1
    };
    return loop_watch(l, slot, e);
}

static int on_network(struct loop *l, struct err *e)
{
    fd_close(&l->network.fd); /* its job was not sent */
    if (wire_read_network(&l->message, &l->network.message, e))
        return -1;
    l->network.fd = fd_take(&l->message.fds[0]);
    return 0;
}

/* A network belongs to the job that comes next, and to no other. */
static int take_network(struct loop *l, struct wire_spawn *s, int *ret_fd, struct err *e)
{
    *ret_fd = fd_take(&l->network.fd);
    bool wanted = s->job.flags & JOB_NETWORK;
    if (wanted && (*ret_fd < 0 || l->network.message.id != s->id))
        return err_set(e, ERR_PROTOCOL, 0, "a job came without its network");
    s->job.plumbing = wanted ? &l->network.message.plumbing : NULL;
    s->job.plumbing_fd = *ret_fd;
    return 0;
}

static int on_spawn(struct loop *l, struct err *e)
{
    scoped(wire_spawn) s = { 0 };
    autoclose int network_fd = -1;
    if (wire_read_spawn(&l->message, &s, e) || take_network(l, &s, &network_fd, e))
        return -1;
    if (loop_find_slot(l, s.id))
        return err_set(e, ERR_PROTOCOL, 0, "the id %llu is in use", (unsigned long long)s.id);
    int assigned = assign(l, &s, l->message.fds, e);
    return assigned == 0 ? spawn(l, &s, l->message.fds, e) : assigned < 0 ? -1 : 0;
}

/* The jar may have ended while it rested: then the job is refused. */
static int on_next(struct loop *l, struct err *e)
{
    scoped(wire_spawn) w = { 0 };
    struct err why = { 0 };
    if (wire_read_spawn(&l->message, &w, e))
        return -1;
    struct slot *s = loop_find_slot(l, w.id);
    if (!s || !s->rest_sent) {
        if (s)
            return err_set(e, ERR_PROTOCOL, 0, "the jar %llu does not rest",
                           (unsigned long long)w.id);
        (void)!err_set(&why, ERR_UNAVAILABLE, 0, "the jar of the earlier stages has ended");
        return send_refusal(l, w.id, &why, e);
    }
    if (jar_next(s->jar, &w.job, l->message.fds, &why))
        return send_refusal(l, w.id, &why, e) || loop_watch(l, s, e) ? -1 : 0;
    s->rest_sent = s->started_sent = s->warm = false;
    return loop_watch(l, s, e);
}

int loop_on_kill(struct loop *l, struct err *e)
{
    struct wire_kill k;
    if (wire_read_kill(&l->message, &k, e))
        return -1;
    struct slot *s = loop_find_slot(l, k.id);
    struct kept *kept = kept_find(&l->kept, k.id);
    if (s) /* it may have ended before the message arrived */
        jar_kill(s->jar, k.reason);
    /* A next keeper must not take a jar that is about to end for a session. */
    if (kept && kept->told)
        kept_remove(&l->kept, kept);
    return 0;
}

/* Unlike a kill, these are only for sessions. The session may have ended before the message
 * arrived. */
int loop_on_cell(struct loop *l, struct err *e)
{
    struct wire_cell c;
    struct cell_usage usage;
    if (wire_read_cell(&l->message, &c, e))
        return -1;
    struct slot *s = loop_find_slot(l, c.id);
    if (s && c.limits.number)
        return jar_begin_cell(s->jar, &c.limits, e);
    if (s)
        jar_end_cell(s->jar);
    return s && jar_take_cell(s->jar, &usage) ? wire_send_cell_end(l->wire_fd, c.id, &usage, e) : 0;
}

static int on_interrupt(struct loop *l, struct err *e)
{
    uint64_t id;
    if (wire_read_interrupt(&l->message, &id, e))
        return -1;
    struct slot *s = loop_find_slot(l, id);
    if (s)
        jar_interrupt(s->jar);
    return 0;
}

static int on_measure(struct loop *l, struct err *e)
{
    struct wire_measured x = { 0 };
    if (wire_read_measure(&l->message, &x.id, e))
        return -1;
    const struct slot *s = loop_find_slot(l, x.id);
    if (!s)
        return 0; /* its end was told */
    struct jar_now now;
    jar_measure(s->jar, &now);
    x.memory_bytes = now.memory_bytes;
    x.pids = now.pids;
    x.usage = now.usage;
    return wire_send_measured(l->wire_fd, &x, e);
}

/* A helper of the jar is reaped when its slot advances. */
static int watch_helper(struct loop *l, struct slot *s, int pidfd, struct err *e)
{
    struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT, .data.ptr = s };
    return pidfd >= 0 && epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, pidfd, &ev) < 0 && errno != EEXIST
               ? err_set(e, ERR_KERNEL, errno, "watch a helper of a jar")
               : 0;
}

static int on_plumb(struct loop *l, struct err *e)
{
    struct wire_network x;
    struct wire_plumbed answer = { 0 };
    int pidfd;
    if (wire_read_plumb(&l->message, &x, e))
        return -1;
    struct slot *s = loop_find_slot(l, x.id);
    if (!s)
        return 0; /* its end was told */
    if (jar_plumb(s->jar, &x.plumbing, l->message.fds[0], &pidfd, &answer.err) == 0)
        return watch_helper(l, s, pidfd, e);
    if (answer.err.code == ERR_PROTOCOL) {
        *e = answer.err;
        return -1;
    }
    answer.id = x.id;
    return wire_send_plumbed(l->wire_fd, &answer, e);
}

static int on_files(struct loop *l, struct err *e)
{
    struct wire_files f;
    int pidfd;
    if (wire_read_files(&l->message, &f, e))
        return -1;
    struct slot *s = loop_find_slot(l, f.id);
    if (!s)
        return 0; /* it has ended: the pipe ends without an answer */
    return jar_start_clerk(s->jar, f.operation, f.path, l->message.fds, &pidfd, e) ||
                   watch_helper(l, s, pidfd, e)
               ? -1
               : 0;
}

void loop_wipe_message(struct loop *l)
{
    wire_message_done(&l->message);
    explicit_bzero(l->message.bytes, l->message.len);
}

static int on_message(struct loop *l, struct err *e)
{
    static int (*const handlers[WIRE_TYPE_COUNT_])(struct loop *, struct err *) = {
        [WIRE_SPAWN] = on_spawn,
        [WIRE_SESSION] = on_spawn,
        [WIRE_NEXT] = on_next,
        [WIRE_KILL] = loop_on_kill,
        [WIRE_TARGETS] = embryos_on_targets,
        [WIRE_CELL] = loop_on_cell,
        [WIRE_INTERRUPT] = on_interrupt,
        [WIRE_KEEPER] = keepers_begin,
        [WIRE_KEEP] = keepers_on_keep,
        [WIRE_ADOPT] = keepers_on_adopt,
        [WIRE_FILES] = on_files,
        [WIRE_MEASURE] = on_measure,
        [WIRE_NETWORK] = on_network,
        [WIRE_PLUMB] = on_plumb,
    };
    int got = l->wire_fd < 0 ? 0 : wire_receive(l->wire_fd, &l->message, e);
    if (l->wire_fd < 0 || (got < 0 && e->sys == EAGAIN))
        return 0; /* the event of a keeper that was replaced meanwhile */
    if (got <= 0)
        return got < 0 ? -1 : err_set(e, ERR_UNAVAILABLE, 0, "the keeper is gone");
    int rc = handlers[l->message.type]
                 ? handlers[l->message.type](l, e)
                 : err_set(e, ERR_PROTOCOL, 0, "a keeper may not send this message");
    loop_wipe_message(l);
    return rc;
}

static int milliseconds_to_wait(const struct loop *l)
{
    uint64_t due = l->maintain_us, now = clock_us();
    due = l->kept.adopt_by_us < due ? l->kept.adopt_by_us : due;
    for (int i = 0; i < l->slots_end; i++)
        if (l->slots[i].jar && jar_due_us(l->slots[i].jar) < due)
            due = jar_due_us(l->slots[i].jar);
    if (due == UINT64_MAX)
        return -1;
    if (due <= now)
        return 0;
    uint64_t ms = (due - now + 999) / 1000;
    return ms < 60000 ? (int)ms : 60000;
}

/* The data of an event is a slot, a pool, NULL for the wire, or &control_fd for the supervisor's. */
static bool is_slot(const struct loop *l, const void *who)
{
    return who >= (const void *)l->slots && who < (const void *)(l->slots + JARS_MAX);
}

static int run_once(struct loop *l, struct err *e)
{
    struct epoll_event events[EVENTS_MAX];
    int n = epoll_wait(l->epoll_fd, events, EVENTS_MAX, milliseconds_to_wait(l));
    if (n < 0)
        return errno == EINTR ? 0 : err_set(e, ERR_KERNEL, errno, "wait for events");
    uint64_t now = clock_us();
    reclaim_reap(&l->host->reclaimer);
    /* Jars first: an event names a slot, and a message may give a slot to a new jar. */
    for (int i = 0; i < n; i++) {
        void *who = events[i].data.ptr;
        if (is_slot(l, who) && ((struct slot *)who)->jar && advance(l, who, e))
            return -1;
    }
    for (int i = 0; i < l->slots_end; i++)
        if (l->slots[i].jar && jar_due_us(l->slots[i].jar) <= now && advance(l, &l->slots[i], e))
            return -1;
    for (int i = 0; i < n; i++) {
        void *who = events[i].data.ptr;
        if (!who && on_message(l, e))
            return -1;
        if (who == &l->control_fd)
            l->over = l->over || keepers_on_keeper(l, e);
        else if (who && !is_slot(l, who) && embryos_on_zygote(l, who, e))
            return -1;
    }
    keepers_end_alone(l, now);
    return embryos_maintain(l, e);
}

/* An error ends the keeper's part. With a supervisor the warden waits for the next keeper. */
static bool goes_on(struct loop *l)
{
    struct err e;
    if (l->control_fd < 0 || l->wire_fd < 0)
        return false;
    keepers_lose(l);
    for (int i = 0; i < l->slots_end; i++) /* their events may have been skipped */
        if (l->slots[i].jar && advance(l, &l->slots[i], &e))
            return false;
    return true;
}

/* Kills all jars before it waits for any. Zygotes end before that, so that no more embryos are
 * forked. */
static void end_all(struct loop *l)
{
    for (int i = 0; i < l->slots_end; i++)
        if (l->slots[i].jar)
            jar_kill(l->slots[i].jar, END_CANCEL);
    zygote_pools_end_zygotes(l->pools);
    for (int i = 0; i < l->slots_end; i++)
        if (l->slots[i].jar)
            free_slot(l, &l->slots[i]);
}

void warden_loop(int wire_fd, struct jar_host *host, struct zygote_pools *pools)
{
    struct err e = { 0 };
    autofree struct loop *l = calloc(1, sizeof *l);
    autoclose int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (!l || epoll_fd < 0)
        return;
    l->wire_fd = wire_fd;
    l->control_fd = l->network.fd = -1;
    l->kept.adopt_by_us = UINT64_MAX;
    l->epoll_fd = epoll_fd;
    l->host = host;
    l->pools = pools;
    l->maintain_us = UINT64_MAX;
    for (int i = 0; i < JARS_MAX; i++)
        l->slots[i].watched_fd = -1;
    if (keepers_watch(l, wire_fd, NULL, &e))
        return;
    while (!l->over && (run_once(l, &e) == 0 || goes_on(l)))
        e = (struct err){ 0 };
    end_all(l);
    kept_done(&l->kept);
    fd_close(&l->network.fd);
    if (l->control_fd >= 0)
        fd_close(&l->wire_fd);
}
