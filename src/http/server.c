/* http/server.c — listeners, the list of connections, the one timer, drain and close. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"
#include "base/auto.h"
#include "http/connection.h"

enum { BACKLOG = 511, TICK_MIN_MS = 10, TICK_MAX_MS = 250 };

/* A fourth of the shortest bound: no check is later than that. */
static uint64_t tick_ms(const struct http_limits *l)
{
    const uint32_t waits[] = { l->head_ms, l->body_ms, l->idle_ms, l->write_ms };
    uint64_t ms = TICK_MAX_MS;
    for (size_t i = 0; i < ARRAY_LEN(waits); i++)
        if (waits[i] / 4 < ms)
            ms = waits[i] / 4;
    return ms < TICK_MIN_MS ? TICK_MIN_MS : ms;
}

static void on_tick(uv_timer_t *timer);

static void start_ticking(struct http_server *s)
{
    uint64_t ms = tick_ms(&s->limits);
    if (!s->closed)
        (void)uv_timer_start(&s->timer, on_tick, ms, ms);
}

static void accept_waiting(struct http_server *s)
{
    for (unsigned i = 0; i < s->n_listeners; i++) {
        struct http_listener *l = s->listeners[i];
        if (l && l->waits && !uv_is_closing(&l->uv.handle))
            connection_accept(l);
    }
}

/* One timer checks every connection. A timer for each connection would have to be set anew with
 * every request. */
static void on_tick(uv_timer_t *timer)
{
    struct http_server *s = timer->data;
    uint64_t now = uv_now(s->loop);
    for (struct connection *c = s->connections, *next; c; c = next) {
        next = c->next;
        connection_check(c, now);
    }
    accept_waiting(s);
}

void server_accept_later(struct http_listener *l)
{
    l->waits = true;
    start_ticking(l->server);
}

static void on_idle(uv_idle_t *idle);

void server_accept_soon(struct http_listener *l)
{
    l->waits = true;
    (void)uv_idle_start(&l->server->idle, on_idle);
}

static void on_idle(uv_idle_t *idle)
{
    struct http_server *s = idle->data;
    struct connection *all = s->later;
    s->later = NULL;
    (void)uv_idle_stop(idle);
    /* only close callbacks free connections */
    for (struct connection *c = all, *next; c; c = next) {
        next = c->next_later;
        c->later = false;
        connection_advance(c);
    }
    accept_waiting(s);
}

void server_later(struct http_server *s, struct connection *c)
{
    if (c->later || s->closed)
        return;
    c->later = true;
    c->next_later = s->later;
    s->later = c;
    (void)uv_idle_start(&s->idle, on_idle);
}

static void forget_later(struct http_server *s, struct connection *c)
{
    struct connection **at = &s->later;
    while (*at && *at != c)
        at = &(*at)->next_later;
    if (*at)
        *at = c->next_later;
}

static void check_drained(struct http_server *s)
{
    if (!s->draining || s->open_listeners > 0 || s->counts.connections > 0 || !s->drained)
        return;
    void (*drained)(void *context) = s->drained;
    s->drained = NULL;
    drained(s->drained_context);
}

void server_connection_opened(struct http_server *s, struct connection *c)
{
    c->next = s->connections;
    if (c->next)
        c->next->prev = c;
    else
        s->oldest = c;
    s->connections = c;
    s->counts.accepted++;
    if (c->is_unix)
        s->unix_open++;
    if (s->counts.connections++ == 0)
        start_ticking(s);
}

void server_connection_closed(struct http_server *s, struct connection *c)
{
    if (c->prev)
        c->prev->next = c->next;
    else
        s->connections = c->next;
    if (c->next)
        c->next->prev = c->prev;
    else
        s->oldest = c->prev;
    if (c->later)
        forget_later(s, c);
    s->closing--;
    if (--s->counts.connections == 0 && !s->closed)
        (void)uv_timer_stop(&s->timer);
    check_drained(s);
}

static uint64_t spare_ms(const struct connection *c, uint64_t now, bool for_unix)
{
    return c->is_unix && !for_unix ? 0 : connection_spare_ms(c, now);
}

static uint64_t longest_spare_ms(const struct http_server *s, uint64_t now, bool for_unix)
{
    uint64_t longest = 0;
    for (const struct connection *c = s->oldest; c; c = c->prev) {
        uint64_t ms = spare_ms(c, now, for_unix);
        if (ms > longest)
            longest = ms;
    }
    return longest;
}

/* Closes connections that have waited for about the longest time. Returns how many. A connection
 * whose next request is here and has not been read waits for us: its wait begins anew. */
static unsigned drop_longest(struct http_server *s, uint64_t now, uint64_t longest, bool for_unix)
{
    unsigned dropped = 0, most = s->limits.connections / 64 + 1;
    for (struct connection *c = s->oldest; c && dropped < most; c = c->prev) {
        if (spare_ms(c, now, for_unix) < longest - longest / 64)
            continue;
        if (connection_has_unread_request(c)) {
            c->since = now;
            continue;
        }
        connection_drop(c);
        dropped++;
    }
    s->counts.gave_way += dropped;
    return dropped;
}

/* The oldest 64th at once: a search for each new client would cost more than its request. */
enum room server_make_room(struct http_server *s, bool for_unix)
{
    enum { SEARCHES = 4 };
    uint64_t now = uv_now(s->loop);
    for (unsigned i = 0; i < SEARCHES; i++) {
        uint64_t longest = longest_spare_ms(s, now, for_unix);
        if (longest == 0)
            return ROOM_NONE;
        if (drop_longest(s, now, longest, for_unix) > 0)
            return ROOM_MADE;
    }
    return ROOM_SOON;
}

int http_server_new(struct http_server **ret, uv_loop_t *loop, const struct http_limits *limits,
                    const struct http_handlers *handlers, void *context,
                    const struct http_header *every, size_t n_every, struct err *e)
{
    struct http_server *s = calloc(1, sizeof *s);
    if (!s)
        return err_no_memory(e, "the HTTP server");
    s->loop = loop;
    s->limits = *limits;
    s->handlers = *handlers;
    s->context = context;
    for (size_t i = 0; i < n_every; i++) {
        if (!answer_add_header(&s->every, every[i].name, every[i].value)) {
            buf_done(&s->every);
            free(s);
            return err_no_memory(e, "the HTTP server");
        }
    }
    (void)signal(
        SIGPIPE,
        /* libuv writes with write(2): for a client that left it must return an error, not raise a
         * signal */
        SIG_IGN);
    (void)uv_timer_init(loop, &s->timer);
    (void)uv_idle_init(loop, &s->idle);
    s->timer.data = s->idle.data = s;
    *ret = s;
    return 0;
}

static void on_connection(uv_stream_t *stream, int status)
{
    struct http_listener *l = stream->data;
    if (status == 0)
        connection_accept(l);
}

static int socket_family(int fd)
{
    struct sockaddr_storage a = { 0 };
    socklen_t n = sizeof a;
    return getsockname(fd, (struct sockaddr *)&a, &n) ? -1 : a.ss_family;
}

static void on_refused_listener(uv_handle_t *handle)
{
    free(handle->data);
}

int http_server_listen(struct http_server *s, int fd, struct err *e)
{
    autoclose int taken = fd;
    int family = socket_family(fd);
    if (family < 0)
        return err_set(e, ERR_KERNEL, errno, "look at the listening socket");
    if (s->n_listeners == LISTENERS_MAX)
        return err_set(e, ERR_USAGE, 0, "more than %d listeners", LISTENERS_MAX);
    struct http_listener *l = calloc(1, sizeof *l);
    if (!l)
        return err_no_memory(e, "a listener");
    l->server = s;
    l->index = s->n_listeners;
    l->is_unix = family == AF_UNIX;
    int status = l->is_unix ? uv_pipe_init(s->loop, &l->uv.pipe, 0)
                            : uv_tcp_init(s->loop, &l->uv.tcp);
    l->uv.handle.data = l;
    if (status == 0)
        status = l->is_unix ? uv_pipe_open(&l->uv.pipe, fd) : uv_tcp_open(&l->uv.tcp, fd);
    if (status == 0) {
        (void)fd_take(&taken);
        status = uv_listen(&l->uv.stream, BACKLOG, on_connection);
    }
    if (status < 0) {
        uv_close(&l->uv.handle, on_refused_listener);
        return err_set(e, ERR_KERNEL, -status, "listen on a socket");
    }
    s->listeners[s->n_listeners++] = l;
    s->open_listeners++;
    return (int)l->index;
}

void http_server_set_limits(struct http_server *s, const struct http_limits *limits)
{
    s->limits = *limits;
    if (s->counts.connections > 0)
        start_ticking(s);
}

static void on_listener_closed(uv_handle_t *handle)
{
    struct http_listener *l = handle->data;
    struct http_server *s = l->server;
    s->listeners[l->index] = NULL;
    free(l);
    s->open_listeners--;
    check_drained(s);
}

static void close_listeners(struct http_server *s)
{
    for (unsigned i = 0; i < s->n_listeners; i++)
        if (s->listeners[i] && !uv_is_closing(&s->listeners[i]->uv.handle))
            uv_close(&s->listeners[i]->uv.handle, on_listener_closed);
}

void http_server_drain(struct http_server *s, void (*done)(void *context), void *context)
{
    s->draining = true;
    s->drained = done;
    s->drained_context = context;
    close_listeners(s);
    for (struct connection *c = s->connections; c; c = c->next)
        if (connection_yields_to_drain(c))
            connection_drop(c);
    check_drained(s);
}

void http_server_close(struct http_server *s)
{
    if (s->closed)
        return;
    s->closed = true;
    s->drained = NULL;
    close_listeners(s);
    uv_close((uv_handle_t *)&s->timer, NULL);
    uv_close((uv_handle_t *)&s->idle, NULL);
    for (struct connection *c = s->connections; c; c = c->next)
        connection_drop(c);
}

void http_server_free(struct http_server *s)
{
    if (!s)
        return;
    buf_done(&s->every);
    free(s);
}

struct http_counts http_server_counts(const struct http_server *s)
{
    return s->counts;
}
