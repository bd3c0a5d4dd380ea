/* The bytes of a connection, both ways. Runs in: porter.
 *
 * RELAY-1 A direction reads only while its target takes bytes, and holds at most one buffer. No
 *         direction waits for the other.
 * RELAY-2 The end of one direction is passed on, and the other one goes on.
 * RELAY-3 Not one byte beyond a cap is passed on.
 *
 * epoll tells each change once (SOURCE_CHANGES), so that a connection costs two calls of epoll_ctl() and
 * a stream none. A side stays readable until a read says otherwise. A direction that has had its turn
 * asks epoll to tell again. While a direction waits for its target, bytes that arrive for it wake nobody. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "porter/porter_impl.h"

enum { CHUNK = 64 << 10, ROUNDS = 8, HELLO_US = 5 * 1000000 };
/* A stream that has passed so many bytes goes on without a copy. A pipe has places for pieces of memory,
 * which are larger than a page: so more bytes fit than it says. */
enum {
    LARGE_STREAM = 256 << 10,
    PIPE_BYTES = 1 << 20,
    PIPE_LESS = 256 << 10,
    SPLICE_BYTES = 1 << 20
};
enum { PIPE_FDS = 2 };

static enum network_cap cap_of(const struct flow *f, const struct way *w)
{
    return w == &f->in ? NETWORK_CAP_BYTES_IN : NETWORK_CAP_BYTES_OUT;
}

static uint64_t *used_of(struct flow *f, const struct way *w)
{
    return w == &f->in ? &f->run->bytes_in : &f->run->bytes_out;
}

/* -1: the connection is over. */
static int hold(struct flow *f, struct way *w, const char *bytes, size_t n)
{
    char *held = realloc(w->held, w->n_held + n);
    if (!held) {
        flow_end(f, NETWORK_RESET);
        return -1;
    }
    memcpy(held + w->n_held, bytes, n);
    w->held = held;
    w->n_held += n;
    return 0;
}

/* The remote side has said all, and the guest has it in its socket, or the guest has said all itself. A
 * program that closes then without a look at the last bytes (the end of TLS, say) resets the connection, and
 * nothing is wrong with it. */
static bool is_complete(const struct flow *f)
{
    char byte;
    if (f->out.ended)
        return true;
    return f->in.n_held == 0 && f->in.n_piped == 0 &&
           (f->in.ended || recv(f->remote.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0);
}

/* One side has reset the connection. The other one gets a reset in any case: a cut stream must not look like
 * a whole one. */
static void end_reset(struct flow *f, const struct source *by)
{
    if (by == &f->guest && f->noted == NETWORK_OPEN && is_complete(f))
        f->noted = NETWORK_CLOSED;
    flow_end(f, NETWORK_RESET);
}

/* The bytes that a call has read, 0: there are none now, -1: the connection is over. */
static ssize_t judge_read(struct flow *f, struct way *w, ssize_t n)
{
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        w->from->readable = errno == EINTR;
        return 0;
    }
    if (n < 0)
        end_reset(f, w->from);
    w->ended = n == 0;
    return n;
}

/* The same for a call that has written; 0: the target takes none now. */
static ssize_t judge_write(struct flow *f, struct way *w, ssize_t n)
{
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        w->to->writable = errno == EINTR;
        return 0;
    }
    if (n <= 0) {
        end_reset(f, w->to);
        return -1;
    }
    return n;
}

/* 1: everything is written; 0: not yet; -1: the connection is over. */
static int flush(struct flow *f, struct way *w)
{
    while (w->n_held > 0) {
        ssize_t n = judge_write(f, w,
                                send(w->to->fd, w->held + w->at_held, w->n_held - w->at_held,
                                     MSG_NOSIGNAL | MSG_DONTWAIT));
        if (n <= 0)
            return (int)n;
        w->at_held += (size_t)n;
        if (w->at_held < w->n_held)
            continue;
        free(w->held);
        w->held = NULL;
        w->n_held = w->at_held = 0;
    }
    return 1;
}

/* When the second direction ends, the sockets are closed, which says the same. */
static void pass_end_on(const struct flow *f, struct way *w)
{
    const struct way *other = w == &f->out ? &f->in : &f->out;
    if (w->shut || !w->ended || w->n_held > 0 || w->n_piped > 0)
        return;
    w->shut = true;
    if (!other->shut)
        (void)shutdown(w->to->fd, SHUT_WR);
}

static void count(struct flow *f, struct way *w, size_t n)
{
    *used_of(f, w) += n;
    *w->counter += n;
    w->passed += n;
    f->used_us = clock_us();
}

/* As judge_read(). */
static ssize_t read_some(struct flow *f, struct way *w, char *bytes, size_t size)
{
    uint64_t used = *used_of(f, w), cap = f->run->policy.caps.v[cap_of(f, w)];
    uint64_t left = cap > used ? cap - used : 0;
    int peek = left == 0 ? MSG_PEEK : 0;
    size_t most = peek ? 1 : left < size ? (size_t)left : size;
    ssize_t n = judge_read(f, w, recv(w->from->fd, bytes, most, MSG_DONTWAIT | peek));
    if (n <= 0)
        return n;
    if (peek) {
        net_meet_cap(f->run, cap_of(f, w));
        return -1;
    }
    if ((size_t)n < most && !w->from->ended)
        w->from->readable = false; /* that was all */
    count(f, w, (size_t)n);
    return n;
}

/* ---- large streams ---- */

/* Pipes leave descriptors for connections: a stream without one is copied. */
static bool open_pipe(struct flow *f, struct way *w)
{
    struct porter *p = f->run->porter;
    if (w->pipe[1] > 0)
        return true;
    if (p->fds > p->fds_max / 2 || !porter_take_fds(p, PIPE_FDS))
        return false;
    if (pipe2(w->pipe, O_CLOEXEC | O_NONBLOCK) < 0) {
        w->pipe[0] = w->pipe[1] = 0;
        porter_give_fds(p, PIPE_FDS);
        return false;
    }
    /* the kernel bounds the pipes of a user */
    if (fcntl(w->pipe[1], F_SETPIPE_SZ, PIPE_BYTES) < 0)
        (void)fcntl(w->pipe[1], F_SETPIPE_SZ, PIPE_LESS);
    return true;
}

void relay_close_pipe(struct flow *f, struct way *w)
{
    if (w->pipe[1] > 0)
        porter_give_fds(f->run->porter, PIPE_FDS);
    for (int i = 0; i < 2; i++)
        if (w->pipe[i] > 0)
            (void)close(w->pipe[i]);
    w->pipe[0] = w->pipe[1] = 0;
    w->n_piped = 0;
}

/* 1: the pipe is empty; 0: not yet; -1: the connection is over. */
static int drain_pipe(struct flow *f, struct way *w)
{
    while (w->n_piped > 0) {
        ssize_t n = judge_write(f, w,
                                splice(w->pipe[0], NULL, w->to->fd, NULL, w->n_piped,
                                       SPLICE_F_MOVE | SPLICE_F_NONBLOCK));
        if (n <= 0)
            return (int)n;
        w->n_piped -= (size_t)n;
    }
    return 1;
}

/* The pipe is empty, so that only the socket can say EAGAIN. */
static int splice_some(struct flow *f, struct way *w)
{
    ssize_t n = judge_read(f, w,
                           splice(w->from->fd, NULL, w->pipe[1], NULL, SPLICE_BYTES,
                                  SPLICE_F_MOVE | SPLICE_F_NONBLOCK));
    if (n <= 0)
        return (int)n;
    w->n_piped = (size_t)n;
    count(f, w, (size_t)n);
    return 1;
}

/* The cap is far: the last bytes before it are copied. */
static bool may_splice(struct flow *f, struct way *w)
{
    uint64_t used = *used_of(f, w), cap = f->run->policy.caps.v[cap_of(f, w)];
    return w->passed >= LARGE_STREAM && cap > used && cap - used > SPLICE_BYTES && open_pipe(f, w);
}

static int copy_some(struct flow *f, struct way *w)
{
    static char bytes[CHUNK];
    ssize_t n = read_some(f, w, bytes, sizeof bytes);
    if (n <= 0)
        return (int)n;
    ssize_t sent = judge_write(f, w,
                               send(w->to->fd, bytes, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT));
    if (sent < 0 || (sent < n && hold(f, w, bytes + sent, (size_t)(n - sent))))
        return -1;
    return 1;
}

/* 1: there may be more; 0: not now; -1: the connection is over. */
static int move_some(struct flow *f, struct way *w)
{
    if (!w->to->writable)
        return 0;
    int drained = drain_pipe(f, w);
    int flushed = drained > 0 ? flush(f, w) : drained;
    if (flushed <= 0)
        return flushed;
    if (w->ended || !w->from->readable)
        return 0;
    return may_splice(f, w) ? splice_some(f, w) : copy_some(f, w);
}

/* -1: the connection is over. */
static int pump(struct flow *f, struct way *w)
{
    int rc = 1;
    for (int i = 0; i < ROUNDS && rc > 0; i++)
        rc = move_some(f, w);
    if (rc > 0 && source_again(f->run->porter, w->from)) {
        flow_end(f, NETWORK_RESET);
        return -1;
    }
    if (rc >= 0)
        pass_end_on(f, w);
    return rc < 0 ? -1 : 0;
}

/* ---- the first bytes of the guest ---- */

/* A name in TLS that is not in the list would reach another server behind the same address. */
static bool may_name(struct flow *f, enum hello found, const char *name)
{
    if (found == HELLO_NAME)
        (void)snprintf(f->record.sni, sizeof f->record.sni, "%s", name);
    if (f->injected && found == HELLO_NAME && strcmp(name, f->record.name) != 0)
        return false; /* the certificate of the injector is for the one name */
    if (!f->run->porter->match_sni || found == HELLO_NONE)
        return true;
    return found == HELLO_NAME &&
           network_policy_match_name(&f->run->policy, name, NETWORK_TCP, f->record.port) >= 0;
}

static void decide(struct flow *f, enum hello found, const char *name)
{
    f->awaits_hello = false;
    f->due_us = UINT64_MAX;
    if (!may_name(f, found, name))
        flow_end(f, NETWORK_SNI_MISMATCH);
}

/* Collects bytes until they are a whole message, or none. A message that does not become whole is
 * never passed on. -1: the connection is over. */
static int look_at_hello(struct flow *f)
{
    static char bytes[HELLO_MAX];
    char name[HELLO_NAME_SIZE] = "";
    ssize_t n = read_some(f, &f->out, bytes, sizeof bytes - f->out.n_held);
    if (n < 0 || (n > 0 && hold(f, &f->out, bytes, (size_t)n)))
        return -1;
    if (n == 0 && !f->out.ended)
        return 0;
    if (f->due_us == UINT64_MAX) /* its first byte */
        f->due_us = f->used_us + HELLO_US;
    enum hello found = f->out.n_held == 0
                           ? HELLO_NONE
                           : hello_read((const uint8_t *)f->out.held, f->out.n_held, name);
    if (found != HELLO_MORE || f->out.ended || f->out.n_held == HELLO_MAX)
        decide(f, found, name);
    return f->state == FLOW_OVER ? -1 : 0;
}

/* ---- events ---- */

/* Bytes that arrive while the target takes none would wake us once a packet, for nothing. A change of the
 * watch makes epoll tell the present state, so none is missed later. -1: the connection is over. */
static int watch_source(struct flow *f, const struct way *w)
{
    bool looks = f->awaits_hello && w == &f->out;
    bool waits = !looks && (w->n_held > 0 || w->n_piped > 0) && !w->to->writable;
    uint32_t events = waits ? SOURCE_CHANGES & ~(uint32_t)EPOLLIN : SOURCE_CHANGES;
    if (source_watch(f->run->porter, w->from, events) == 0)
        return 0;
    flow_end(f, NETWORK_RESET);
    return -1;
}

static void relay(struct flow *f)
{
    while (f->awaits_hello && f->guest.readable && !f->out.ended)
        if (look_at_hello(f))
            return;
    if ((!f->awaits_hello && pump(f, &f->out)) || pump(f, &f->in) || watch_source(f, &f->out) ||
        watch_source(f, &f->in))
        return;
    if (f->out.shut && f->in.shut)
        flow_end(f, NETWORK_CLOSED);
}

void relay_look(struct flow *f)
{
    f->guest.readable = f->remote.readable = true;
    relay(f);
}

void relay_give_up_hello(struct flow *f)
{
    decide(f, HELLO_MORE, "");
    if (f->state != FLOW_OVER)
        relay(f);
}

/* A side that is closed for both directions. Its last bytes go first. */
static bool is_gone(const struct way *from, uint32_t events)
{
    return events & (EPOLLERR | EPOLLHUP) && from->ended && from->n_held == 0 && from->n_piped == 0;
}

static void on_side(struct flow *f, struct source *s, const struct way *from, uint32_t events)
{
    source_note(s, events);
    if (f->state == FLOW_RELAYING)
        relay(f);
    else if (events & (EPOLLERR | EPOLLHUP)) /* the guest has gone before there is a connection */
        flow_end(f, NETWORK_RESET);
    if (f->state == FLOW_RELAYING && is_gone(from, events))
        end_reset(f, s);
}

void relay_on_guest(struct source *s, uint32_t events)
{
    struct flow *f = (struct flow *)((char *)s - offsetof(struct flow, guest));
    on_side(f, s, &f->out, events);
}

static void on_remote(struct source *s, uint32_t events)
{
    struct flow *f = (struct flow *)((char *)s - offsetof(struct flow, remote));
    on_side(f, s, &f->in, events);
}

void relay_begin(struct flow *f)
{
    f->used_us = clock_us();
    f->remote.on_ready = on_remote;
    f->out = (struct way){ .from = &f->guest, .to = &f->remote, .counter = &f->record.bytes_out };
    f->in = (struct way){ .from = &f->remote, .to = &f->guest, .counter = &f->record.bytes_in };
    f->awaits_hello = f->record.name[0] != '\0';
    f->due_us = UINT64_MAX;
    relay(f);
}
