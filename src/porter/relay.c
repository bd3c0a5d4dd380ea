/* The bytes of a connection, both ways. Runs in: porter.
 *
 * RELAY-1 A direction holds bytes only while its target takes none, and then reads no more: at most
 *         one buffer for each direction, and no direction waits for the other.
 * RELAY-2 The end of one direction is passed on, and the other one goes on.
 * RELAY-3 Not one byte beyond a cap is passed on. */
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

enum { CHUNK = 64 << 10, ROUNDS = 4, HELLO_US = 5 * 1000000 };
/* A stream that has passed so many bytes goes on without a copy. */
enum { LARGE_STREAM = 256 << 10, PIPE_BYTES = 256 << 10 };

static uint32_t wanted_events(const struct flow *f, const struct source *s)
{
    const struct way *from = s == &f->guest ? &f->out : &f->in;
    const struct way *to = s == &f->guest ? &f->in : &f->out;
    bool looks = from == &f->out && f->awaits_hello;
    bool reads = !from->ended && ((from->n_held == 0 && from->n_piped == 0) || looks);
    bool writes = to->n_piped > 0 || (to->n_held > 0 && !(to == &f->out && f->awaits_hello));
    return (reads ? EPOLLIN : 0u) | (writes ? EPOLLOUT : 0u);
}

static enum network_cap cap_of(const struct flow *f, const struct way *w)
{
    return w == &f->in ? NETWORK_CAP_BYTES_IN : NETWORK_CAP_BYTES_OUT;
}

static uint64_t *used_of(struct flow *f, const struct way *w)
{
    return w == &f->in ? &f->run->bytes_in : &f->run->bytes_out;
}

/* The run may read no more: every connection of it ends. */
static void meet_cap(struct flow *f, enum network_cap cap)
{
    struct net *r = f->run;
    f->record.cap = cap;
    r->caps_noted |= 1u << cap;
    net_close_listeners(r);
    while (r->flows) {
        r->flows->record.cap = cap;
        flow_end(r->flows, NETWORK_LIMIT);
    }
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

/* 1: everything is written; 0: not yet; -1: the connection is over. */
static int flush(struct flow *f, struct way *w)
{
    while (w->n_held > 0) {
        ssize_t n = send(w->to->fd, w->held + w->at_held, w->n_held - w->at_held,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return 0;
        if (n < 0) {
            flow_end(f, NETWORK_RESET);
            return -1;
        }
        w->at_held += (size_t)n;
        if (w->at_held < w->n_held)
            continue;
        free(w->held);
        w->held = NULL;
        w->n_held = w->at_held = 0;
    }
    return 1;
}

static void pass_end_on(struct way *w)
{
    if (w->ended && !w->shut && w->n_held == 0 && w->n_piped == 0) {
        w->shut = true;
        (void)shutdown(w->to->fd, SHUT_WR);
    }
}

static void count(struct flow *f, struct way *w, size_t n)
{
    *used_of(f, w) += n;
    *w->counter += n;
    w->passed += n;
    f->used_us = clock_us();
}

/* The bytes that were read, or 0: there are none now, -1: the connection is over. */
static ssize_t read_some(struct flow *f, struct way *w, char *bytes, size_t size)
{
    uint64_t used = *used_of(f, w), cap = f->run->policy.caps.v[cap_of(f, w)];
    uint64_t left = cap > used ? cap - used : 0;
    int peek = left == 0 ? MSG_PEEK : 0;
    ssize_t n = recv(w->from->fd, bytes,
                     peek          ? 1
                     : left < size ? (size_t)left
                                   : size,
                     MSG_DONTWAIT | peek);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n < 0) {
        flow_end(f, NETWORK_RESET);
        return -1;
    }
    if (n == 0) {
        w->ended = true;
        return 0;
    }
    if (peek) {
        meet_cap(f, cap_of(f, w));
        return -1;
    }
    count(f, w, (size_t)n);
    return n;
}

/* ---- large streams ---- */

static bool open_pipe(struct way *w)
{
    if (w->pipe[1] > 0)
        return true;
    if (pipe2(w->pipe, O_CLOEXEC | O_NONBLOCK) < 0) {
        w->pipe[0] = w->pipe[1] = 0;
        return false;
    }
    (void)fcntl(w->pipe[1], F_SETPIPE_SZ, PIPE_BYTES);
    return true;
}

void relay_close_pipe(struct way *w)
{
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
        ssize_t n = splice(w->pipe[0], NULL, w->to->fd, NULL, w->n_piped,
                           SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return 0;
        if (n <= 0) {
            flow_end(f, NETWORK_RESET);
            return -1;
        }
        w->n_piped -= (size_t)n;
    }
    return 1;
}

/* As pump(), without a copy. The cap is far: the last bytes before it take the other way. */
static int splice_some(struct flow *f, struct way *w)
{
    for (int i = 0; i < ROUNDS; i++) {
        int drained = drain_pipe(f, w);
        if (drained <= 0)
            return drained;
        ssize_t n = splice(w->from->fd, NULL, w->pipe[1], NULL, PIPE_BYTES,
                           SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return 0;
        if (n < 0) {
            flow_end(f, NETWORK_RESET);
            return -1;
        }
        if (n == 0) {
            w->ended = true;
            pass_end_on(w);
            return 0;
        }
        w->n_piped = (size_t)n;
        count(f, w, (size_t)n);
    }
    return drain_pipe(f, w) < 0 ? -1 : 0;
}

/* Bytes in the pipe go first, on either way. */
static bool may_splice(struct flow *f, struct way *w)
{
    uint64_t used = *used_of(f, w), cap = f->run->policy.caps.v[cap_of(f, w)];
    return w->n_held == 0 && !w->ended && w->passed >= LARGE_STREAM && cap > used &&
           cap - used > PIPE_BYTES && open_pipe(w);
}

/* -1: the connection is over. */
static int pump(struct flow *f, struct way *w)
{
    static char bytes[CHUNK];
    int drained = drain_pipe(f, w);
    if (drained <= 0)
        return drained;
    if (may_splice(f, w))
        return splice_some(f, w);
    for (int i = 0; i < ROUNDS; i++) {
        int flushed = flush(f, w);
        if (flushed <= 0)
            return flushed;
        ssize_t n = w->ended ? 0 : read_some(f, w, bytes, sizeof bytes);
        if (n <= 0) {
            if (n == 0)
                pass_end_on(w);
            return (int)n;
        }
        ssize_t sent = send(w->to->fd, bytes, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN && errno != EINTR) {
            flow_end(f, NETWORK_RESET);
            return -1;
        }
        sent = sent < 0 ? 0 : sent;
        if (sent < n && hold(f, w, bytes + sent, (size_t)(n - sent)))
            return -1;
        if (n < (ssize_t)sizeof bytes)
            return 0;
    }
    return 0;
}

/* ---- the first bytes of the guest ---- */

/* A name in TLS that is not in the list would reach another server behind the same address. */
static bool may_name(struct flow *f, enum hello found, const char *name)
{
    if (found == HELLO_NAME)
        (void)snprintf(f->record.sni, sizeof f->record.sni, "%s", name);
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

static void relay(struct flow *f)
{
    if (f->awaits_hello && look_at_hello(f))
        return;
    if ((!f->awaits_hello && pump(f, &f->out)) || pump(f, &f->in))
        return;
    if (f->out.shut && f->in.shut) {
        flow_end(f, NETWORK_CLOSED);
        return;
    }
    struct porter *p = f->run->porter;
    if (source_watch(p, &f->guest, wanted_events(f, &f->guest)) ||
        source_watch(p, &f->remote, wanted_events(f, &f->remote)))
        flow_end(f, NETWORK_RESET);
}

void relay_give_up_hello(struct flow *f)
{
    decide(f, HELLO_MORE, "");
    if (f->state != FLOW_OVER)
        relay(f);
}

/* A side that is closed for both directions reports it again and again. Its last bytes go first. */
static bool is_gone(const struct way *from, uint32_t events)
{
    return events & (EPOLLERR | EPOLLHUP) && from->ended && from->n_held == 0 && from->n_piped == 0;
}

static void on_guest(struct source *s, uint32_t events)
{
    struct flow *f = (struct flow *)((char *)s - offsetof(struct flow, guest));
    relay(f);
    if (f->state != FLOW_OVER && is_gone(&f->out, events))
        flow_end(f, NETWORK_RESET);
}

static void on_remote(struct source *s, uint32_t events)
{
    struct flow *f = (struct flow *)((char *)s - offsetof(struct flow, remote));
    relay(f);
    if (f->state != FLOW_OVER && is_gone(&f->in, events))
        flow_end(f, NETWORK_RESET);
}

void relay_begin(struct flow *f)
{
    f->state = FLOW_RELAYING;
    f->used_us = clock_us();
    f->guest.on_ready = on_guest;
    f->remote.on_ready = on_remote;
    f->out = (struct way){ .from = &f->guest, .to = &f->remote, .counter = &f->record.bytes_out };
    f->in = (struct way){ .from = &f->remote, .to = &f->guest, .counter = &f->record.bytes_in };
    f->awaits_hello = f->record.name[0] != '\0';
    f->due_us = UINT64_MAX;
    relay(f);
}
