#include "warden/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "wire/wire.h"

enum { JARS_MAX = 1024, EVENTS_MAX = 64 };

/* One run the keeper asked for. */
struct slot {
    struct jar *jar; /* NULL: free */
    uint64_t id;
    int watched_fd; /* registered with epoll, or -1 */
    bool told_started;
};

struct loop {
    int wire_fd, epoll_fd;
    struct jar_host *host;
    struct slot slots[JARS_MAX];
    struct wire_message message; /* one at a time; too large for the stack of every call */
};

static struct slot *find_slot(struct loop *l, uint64_t id)
{
    for (int i = 0; i < JARS_MAX; i++)
        if (l->slots[i].jar && l->slots[i].id == id)
            return &l->slots[i];
    return NULL;
}

static struct slot *free_slot(struct loop *l)
{
    for (int i = 0; i < JARS_MAX; i++)
        if (!l->slots[i].jar)
            return &l->slots[i];
    return NULL;
}

static int tell_ended(struct loop *l, uint64_t id, const struct jar_outcome *o, struct err *e)
{
    struct wire_ended ended = {
        .id = id, .err = o->err, .evidence = o->evidence, .usage = o->usage
    };
    return wire_send_ended(l->wire_fd, &ended, e);
}

/* Keeps epoll pointed at what the jar waits for now. One shot each: a descriptor that we have closed lives on in epoll
 * while a child still has a copy of it, and must not wake us for ever. A late shot of such a one does no harm, since
 * jar_advance() looks for itself. */
static int watch(struct loop *l, struct slot *s, struct err *e)
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

static void forget(struct slot *s)
{
    jar_free(s->jar);
    *s = (struct slot){ .watched_fd = -1 };
}

/* Moves a jar on until it has to wait, and tells the keeper what became of it. */
static int advance(struct loop *l, struct slot *s, struct err *e)
{
    jar_advance(s->jar, clock_us());
    if (jar_started(s->jar) && !s->told_started) {
        s->told_started = true;
        if (wire_send_started(l->wire_fd, s->id, e))
            return -1;
    }
    if (!jar_gone(s->jar))
        return watch(l, s, e);
    uint64_t id = s->id;
    struct jar_outcome outcome = *jar_outcome(s->jar);
    forget(s); /* first: when the keeper hears of it, nothing is left */
    return tell_ended(l, id, &outcome, e);
}

/* A run that could not begin is an answer, not a fault of the wire. */
static int refuse(struct loop *l, uint64_t id, const struct err *why, struct err *e)
{
    struct jar_outcome outcome = { .err = *why, .evidence.reason = END_FAILURE };
    return tell_ended(l, id, &outcome, e);
}

static int on_spawn(struct loop *l, struct err *e)
{
    struct wire_message *m = &l->message;
    auto(wire_spawn) s = { 0 };
    struct err why = { 0 };
    if (wire_read_spawn(m, &s, e))
        return -1;
    if (find_slot(l, s.id))
        return err_set(e, ERR_PROTOCOL, 0, "the id %llu is in use", (unsigned long long)s.id);
    struct slot *slot = free_slot(l);
    if (!slot) {
        (void)!err_set(&why, ERR_UNAVAILABLE, 0, "%d jars are running: wait for one to end",
                       JARS_MAX);
        return refuse(l, s.id, &why, e);
    }
    struct jar_spec spec = {
        .limits = s.limits,
        .writable_root = s.flags & SPAWN_WRITABLE_ROOT,
        .argv = s.argv,
        .envp = s.envp,
        .outputs = s.outputs,
        .stdio = { m->fds[WIRE_FD_STDIN], m->fds[WIRE_FD_STDOUT], m->fds[WIRE_FD_STDERR] },
        .bundle_fd = m->fds[WIRE_FD_BUNDLE],
        .outputs_fd = m->fds[WIRE_FD_OUTPUTS],
    };
    struct jar *jar;
    if (jar_spawn(l->host, &spec, &jar, &why))
        return refuse(l, s.id, &why, e);
    *slot = (struct slot){ .jar = jar, .id = s.id, .watched_fd = -1 };
    return watch(l, slot, e);
}

static int on_kill(struct loop *l, struct err *e)
{
    struct wire_kill k;
    if (wire_read_kill(&l->message, &k, e))
        return -1;
    struct slot *s = find_slot(l, k.id);
    if (s) /* it may have ended while the message was on its way */
        jar_kill(s->jar, k.reason);
    return 0;
}

static int on_message(struct loop *l, struct err *e)
{
    static int (*const handlers[WIRE_TYPE_COUNT_])(struct loop *, struct err *) = {
        [WIRE_SPAWN] = on_spawn,
        [WIRE_KILL] = on_kill,
    };
    int got = wire_receive(l->wire_fd, &l->message, e);
    if (got <= 0)
        return -1;
    int rc = handlers[l->message.type]
                 ? handlers[l->message.type](l, e)
                 : err_set(e, ERR_PROTOCOL, 0, "that is not the keeper's to say");
    wire_message_done(&l->message);
    /* The environment may hold secrets, and every jar begins as a copy of this process. */
    explicit_bzero(l->message.bytes, l->message.len);
    return rc;
}

static int milliseconds_to_wait(const struct loop *l)
{
    uint64_t due = UINT64_MAX, now = clock_us();
    for (int i = 0; i < JARS_MAX; i++)
        if (l->slots[i].jar && jar_due_us(l->slots[i].jar) < due)
            due = jar_due_us(l->slots[i].jar);
    if (due == UINT64_MAX)
        return -1;
    if (due <= now)
        return 0;
    uint64_t ms = (due - now + 999) / 1000;
    return ms < 60000 ? (int)ms : 60000;
}

static int turn(struct loop *l, struct err *e)
{
    struct epoll_event events[EVENTS_MAX];
    int n = epoll_wait(l->epoll_fd, events, EVENTS_MAX, milliseconds_to_wait(l));
    if (n < 0)
        return errno == EINTR ? 0 : err_set(e, ERR_KERNEL, errno, "wait for events");
    uint64_t now = clock_us();
    undertaker_reap(&l->host->undertaker);
    /* Jars first: an event names a slot, and a message may give a slot to a new jar. */
    for (int i = 0; i < n; i++) {
        struct slot *s = events[i].data.ptr;
        if (s && s->jar && advance(l, s, e))
            return -1;
    }
    for (int i = 0; i < JARS_MAX; i++)
        if (l->slots[i].jar && jar_due_us(l->slots[i].jar) <= now && advance(l, &l->slots[i], e))
            return -1;
    for (int i = 0; i < n; i++)
        if (!events[i].data.ptr && on_message(l, e))
            return -1;
    return 0;
}

/* All are told to die before any is waited for. */
static void end_all(struct loop *l)
{
    for (int i = 0; i < JARS_MAX; i++)
        if (l->slots[i].jar)
            jar_kill(l->slots[i].jar, END_CANCEL);
    for (int i = 0; i < JARS_MAX; i++)
        if (l->slots[i].jar)
            forget(&l->slots[i]);
}

void warden_loop(int wire_fd, struct jar_host *host)
{
    struct err e = { 0 };
    autofree struct loop *l = calloc(1, sizeof *l);
    autoclose int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (!l || epoll_fd < 0)
        return;
    l->wire_fd = wire_fd;
    l->epoll_fd = epoll_fd;
    l->host = host;
    for (int i = 0; i < JARS_MAX; i++)
        l->slots[i].watched_fd = -1;
    struct epoll_event ev = { .events = EPOLLIN };
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, wire_fd, &ev) < 0)
        return;
    while (turn(l, &e) == 0)
        ;
    end_all(l);
}
