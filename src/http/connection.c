#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "http/connection.h"

static size_t unread(const struct connection *c)
{
    return c->in.len - c->in_at;
}

static void wait_for(struct connection *c, enum wait wait)
{
    if (c->wait == wait)
        return;
    c->wait = wait;
    c->since = uv_now(c->server->loop);
}

/* ---- incoming bodies ---- */

/* False if all bodies together exceed the limit. A small body always fits: it costs no more than
 * its head. */
static bool count_body(struct connection *c)
{
    struct http_server *s = c->server;
    size_t len = c->x.request.body.len;
    s->bodies += len - c->counted;
    c->counted = len;
    return len <= BODY_READ_BYTES || s->bodies <= s->limits.bodies_bytes;
}

static void uncount_body(struct connection *c)
{
    c->server->bodies -= c->counted;
    c->counted = 0;
}

/* ---- the end ---- */

/* Ends the exchange. The handlers get on_gone() unless they ended it themselves. */
static void exchange_end(struct connection *c)
{
    bool gone = c->open && !c->answered;
    c->open = false;
    c->answered = true; /* on_gone() can no longer answer */
    uncount_body(c);
    if (gone && c->x.on_gone)
        c->x.on_gone(&c->x);
    buf_done(&c->x.request.body);
    if (c->filing)
        c->filing->connection = NULL;
    c->filing = NULL;
    if (c->x.request.body_in_file)
        fd_close(&c->x.request.body_fd);
    if (c->x.request.body_over)
        c->x.request.body_over(c->x.request.body_context);
    c->x = (struct http_exchange){ 0 };
    buf_shrink(&c->extra, KEPT_BYTES);
    c->answered = c->streams = c->sends_chunks = c->sends_nothing = c->upgraded = false;
}

static void on_closed(uv_handle_t *handle)
{
    struct connection *c = handle->data;
    exchange_end(c);
    output_uncount(c);
    server_connection_closed(c->server, c);
    buf_done(&c->in);
    buf_done(&c->extra);
    head_done(&c->head);
    output_done(&c->out);
    free(c);
}

void connection_drop(struct connection *c)
{
    if (c->phase == PHASE_CLOSED)
        return;
    c->phase = PHASE_CLOSED;
    c->server->closing++;
    if (c->is_unix)
        c->server->unix_open--;
    uv_close(&c->uv.handle, on_closed);
}

static void on_shutdown(uv_shutdown_t *req, int status)
{
    struct connection *c = req->data;
    if (status < 0)
        connection_drop(c);
}

static void resume(struct connection *c);

/* After the last answer. Closing a socket with unread bytes resets it, and the client may lose the
 * answer. So the sending side is shut down, and arriving bytes are dropped until the client closes
 * too. */
static void linger(struct connection *c)
{
    if (c->eof) {
        connection_drop(c);
        return;
    }
    c->phase = PHASE_LINGER;
    wait_for(c, WAIT_LINGER);
    buf_done(&c->in);
    c->in_at = 0;
    head_done(&c->head);
    c->shutdown.data = c;
    if (uv_shutdown(&c->shutdown, &c->uv.stream, on_shutdown) < 0)
        connection_drop(c);
    else
        resume(c);
}

/* Sends the server's own refusal, then closes. */
static void refuse_and_close(struct connection *c, const struct refusal *r)
{
    struct buf body = { 0 };
    c->server->counts.refused++;
    c->server->handlers.refusal(c->server->context, c->open ? &c->x.request : NULL, r->status,
                                r->detail, &body);
    exchange_end(c);
    c->body_missing = true;
    c->phase = PHASE_ANSWER;
    wait_for(c, WAIT_NOTHING);
    if (r->status == 503)
        http_answer_header(&c->x, "Retry-After", "1");
    http_answer_buf(&c->x, r->status, "application/json", &body);
}

/* ---- a request ---- */

static void pull_in(struct connection *c, size_t n)
{
    c->in_at += n;
    if (c->in_at == c->in.len)
        c->in.len = c->in_at = 0;
}

static void deliver(struct connection *c)
{
    c->body_missing = false;
    uncount_body(c);
    c->phase = PHASE_ANSWER;
    wait_for(c, WAIT_NOTHING);
    c->server->counts.requests++;
    c->server->handlers.request(c->server->context, &c->x);
}

static void say_continue(struct connection *c)
{
    struct err e;
    if (buf_add(&c->out.queued, answer_continue, strlen(answer_continue), &e))
        connection_drop(c);
    else
        output_flush(c);
}

/* The head is parsed: calls the handler, then waits for the body. */
static void begin(struct connection *c)
{
    struct http_server *s = c->server;
    struct http_request *q = &c->x.request;
    struct refusal r;
    q->has_body = c->body_missing = c->head.chunked || c->head.length > 0;
    q->is_unix = c->is_unix;
    q->peer_uid = c->peer_uid;
    q->peer = c->peer;
    q->listener = c->listener;
    c->chunks = (struct chunks){ 0 };
    c->filed = 0;
    c->has_arrived = false;
    c->body_max = s->limits.body_bytes;
    c->open = c->served = true;
    if (s->handlers.head && s->handlers.head(s->context, &c->x, &c->body_max)) {
        if (c->phase == PHASE_HEAD) {
            c->phase = PHASE_ANSWER;
            wait_for(c, WAIT_NOTHING);
        }
        return;
    }
    if (c->phase == PHASE_CLOSED)
        return;
    if (!c->body_missing) {
        deliver(c);
        return;
    }
    if (c->head.length > c->body_max) {
        (void)refuse(&r, 413, "the body is larger than %zu bytes; send less", c->body_max);
        refuse_and_close(c, &r);
        return;
    }
    c->phase = PHASE_BODY;
    wait_for(c, WAIT_BODY);
    if (c->head.wants_continue && unread(c) == 0)
        say_continue(c);
}

/* Each step returns true if another step can follow. */
static bool step_head(struct connection *c)
{
    struct http_server *s = c->server;
    struct refusal r;
    if (unread(c) == 0) {
        if (c->eof || (s->draining && connection_yields_to_drain(c)))
            connection_drop(c);
        else
            wait_for(c, WAIT_IDLE);
        return false;
    }
    wait_for(c, WAIT_HEAD);
    c->is_head = false;
    int found = head_scan(&c->scan, c->in.data + c->in_at, unread(c), &s->limits, &r);
    if (found == 0 && c->eof)
        connection_drop(c);
    if (found == 0)
        return false;
    if (found > 0) {
        size_t from = c->in_at + c->scan.from;
        size_t n = c->scan.at - c->scan.from;
        found = head_parse(&c->head, c->in.data + from, n, c->scan.lines, &c->x.request, &r);
        c->is_head = c->x.request.method == METHOD_HEAD;
        pull_in(c, c->scan.at);
    }
    c->scan = (struct head_scan){ 0 };
    if (found < 0)
        refuse_and_close(c, &r);
    else
        begin(c);
    return true;
}

/* ---- a body that goes to a file ---- */

static void file_work(uv_work_t *work)
{
    struct filing *f = work->data;
    if (fd_write_all(f->fd, f->bytes.data, f->bytes.len))
        f->error = errno;
}

static void filing_free(struct filing *f)
{
    fd_close(&f->fd);
    buf_done(&f->bytes);
    free(f);
}

static void on_filed(uv_work_t *work, int status)
{
    struct filing *f = work->data;
    struct connection *c = f->connection;
    struct refusal r;
    int error = status < 0 ? -status : f->error;
    filing_free(f);
    if (!c)
        return;
    c->filing = NULL;
    if (c->phase == PHASE_CLOSED)
        return;
    if (error) {
        (void)refuse(&r, 503, "the body cannot be stored (%s); try again later", strerror(error));
        refuse_and_close(c, &r);
    }
    connection_advance(c);
}

/* In a thread: a slow disk holds up nobody else. Until the bytes are there, as many more are read. */
static int begin_filing(struct connection *c, struct refusal *r)
{
    struct http_request *q = &c->x.request;
    struct filing *f = calloc(1, sizeof *f);
    if (!f)
        return refuse(r, 503, "no memory for the body; try again later");
    *f = (struct filing){ .work.data = f,
                          .connection = c,
                          .fd = fcntl(q->body_fd, F_DUPFD_CLOEXEC, 0),
                          .bytes = q->body };
    c->filed += q->body.len;
    q->body = (struct buf){ 0 };
    if (f->fd < 0 || uv_queue_work(c->server->loop, &f->work, file_work, on_filed) != 0) {
        filing_free(f);
        return refuse(r, 503, "the body cannot be stored; try again later");
    }
    c->filing = f;
    return 0;
}

/* *ret_whole: the whole body is in its file. Otherwise on_filed() or more bytes follow. */
static int file_body(struct connection *c, bool *ret_whole, struct refusal *r)
{
    size_t n = c->x.request.body.len;
    if (!c->filing && (n >= FILE_BYTES || (c->has_arrived && n > 0)))
        return begin_filing(c, r);
    *ret_whole = c->has_arrived && !c->filing;
    return 0;
}

/* Moves bytes from the input to the body. */
static int take_body(struct connection *c, struct refusal *r)
{
    struct buf *body = &c->x.request.body;
    struct err e;
    if (c->head.chunked) {
        ssize_t used = chunks_feed(&c->chunks, c->in.data + c->in_at, unread(c), body,
                                   c->body_max - c->filed, r);
        if (used < 0)
            return -1;
        pull_in(c, (size_t)used);
        c->has_arrived = c->chunks.over;
        return 0;
    }
    size_t missing = (size_t)c->head.length - c->filed - body->len;
    size_t take = unread(c) < missing ? unread(c) : missing;
    if (buf_add(body, c->in.data + c->in_at, take, &e))
        return refuse(r, 503, "no memory for the body; try again later");
    pull_in(c, take);
    c->has_arrived = take == missing;
    return 0;
}

static bool step_body(struct connection *c)
{
    struct refusal r;
    bool is_whole = false;
    int rc = c->has_arrived ? 0 : take_body(c, &r);
    if (rc == 0 && c->x.request.body_in_file)
        rc = file_body(c, &is_whole, &r);
    else
        is_whole = c->has_arrived;
    if (rc == 0 && !count_body(c))
        rc = refuse(&r, 503, "too many large bodies at a time; try again later");
    if (rc)
        refuse_and_close(c, &r);
    else if (is_whole)
        deliver(c);
    else if (c->eof && !c->has_arrived)
        connection_drop(c);
    return rc || is_whole;
}

/* Bytes of an upgraded connection are not kept: a handler that cannot use them drops them. */
static void hand_over(struct connection *c)
{
    size_t n = unread(c);
    if (n > 0 && c->x.on_bytes && !c->answered)
        c->x.on_bytes(&c->x, c->in.data + c->in_at, n);
    pull_in(c, n);
}

static bool step_answer(struct connection *c)
{
    if (c->upgraded)
        hand_over(c);
    if (!c->answered || !output_is_empty(c))
        return false;
    exchange_end(c);
    if (c->closes) {
        linger(c);
        return false;
    }
    c->phase = PHASE_HEAD;
    return true;
}

static bool step_none(struct connection *c)
{
    (void)c;
    return false;
}

void connection_advance(struct connection *c)
{
    static bool (*const steps[PHASE_COUNT])(struct connection *) = {
        [PHASE_HEAD] = step_head,   [PHASE_BODY] = step_body,   [PHASE_ANSWER] = step_answer,
        [PHASE_LINGER] = step_none, [PHASE_CLOSED] = step_none,
    };
    if (c->advancing)
        return;
    c->advancing = true;
    while (steps[c->phase](c))
        ;
    c->advancing = false;
    resume(c);
}

/* ---- reading ---- */

static void allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
    struct connection *c = handle->data;
    struct buf *body = &c->x.request.body;
    struct err e;
    (void)suggested;
    *ret = (uv_buf_t){ NULL, 0 }; /* no memory: on_read() gets UV_ENOBUFS */
    c->reading_body = c->phase == PHASE_BODY && !c->head.chunked && unread(c) == 0;
    if (c->phase == PHASE_LINGER) {
        *ret = (uv_buf_t){ c->server->scrap, sizeof c->server->scrap };
    } else if (c->reading_body) {
        size_t missing = (size_t)c->head.length - c->filed - body->len;
        size_t n = missing < BODY_READ_BYTES ? missing : BODY_READ_BYTES;
        if (!buf_reserve(body, n, &e))
            *ret = (uv_buf_t){ body->data + body->len, n };
    } else {
        if (c->in_at > 0) {
            memmove(c->in.data, c->in.data + c->in_at, unread(c));
            c->in.len = unread(c);
            c->in_at = 0;
        }
        size_t n = c->phase == PHASE_BODY ? BODY_READ_BYTES : READ_BYTES;
        if (!buf_reserve(&c->in, n, &e))
            *ret = (uv_buf_t){ c->in.data + c->in.len, n };
    }
}

static void on_eof(struct connection *c)
{
    c->eof = true;
    if (c->phase == PHASE_LINGER) {
        connection_drop(c);
        return;
    }
    if (c->phase == PHASE_ANSWER && c->open && !c->answered && c->x.on_half_close)
        c->x.on_half_close(&c->x);
    connection_advance(c);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *unused)
{
    struct connection *c = stream->data;
    (void)unused;
    if (n == 0 || c->phase == PHASE_CLOSED)
        return;
    if (n == UV_EOF) {
        on_eof(c);
        return;
    }
    if (n < 0) {
        connection_drop(c);
        return;
    }
    if (c->phase == PHASE_LINGER) {
        c->dropped += (size_t)n;
        if (c->dropped > LINGER_BYTES)
            connection_drop(c);
        return;
    }
    struct buf *into = c->reading_body ? &c->x.request.body : &c->in;
    into->len += (size_t)n;
    into->data[into->len] = '\0';
    connection_advance(c);
}

/* Reads while there is room. During a request this is how the server notices that the client has
 * left. */
static void resume(struct connection *c)
{
    if (c->phase == PHASE_CLOSED || c->eof)
        return;
    bool full = (c->phase == PHASE_ANSWER && unread(c) >= AHEAD_BYTES) ||
                (c->filing && (c->has_arrived || c->x.request.body.len >= FILE_BYTES));
    if (full == c->paused)
        return;
    c->paused = full;
    if (full)
        (void)uv_read_stop(&c->uv.stream);
    else if (uv_read_start(&c->uv.stream, allocate, on_read) < 0)
        connection_drop(c);
}

/* ---- time ---- */

bool connection_yields_to_drain(const struct connection *c)
{
    return c->phase == PHASE_HEAD && unread(c) == 0 && c->served &&
           !connection_has_unread_request(c);
}

bool connection_has_unread_request(const struct connection *c)
{
    uv_os_fd_t fd;
    int n = 0;
    return c->wait == WAIT_IDLE && uv_fileno(&c->uv.handle, &fd) == 0 &&
           ioctl(fd, FIONREAD, &n) == 0 && n > 0;
}

uint64_t connection_spare_ms(const struct connection *c, uint64_t now)
{
    if (c->phase == PHASE_CLOSED)
        return 0;
    if (c->wait == WAIT_IDLE || c->wait == WAIT_HEAD || c->wait == WAIT_LINGER)
        return now - c->since + 1;
    bool stuck = c->phase == PHASE_ANSWER && c->answered && now - c->out.since >= STUCK_MS;
    return stuck ? now - c->out.since + 1 : 0;
}

static void too_slow(struct connection *c, const char *what, uint32_t ms)
{
    struct refusal r;
    c->server->counts.timed_out++;
    (void)refuse(&r, 408, "the request's %s took longer than %u ms; send it faster", what, ms);
    refuse_and_close(c, &r);
}

/* Waits that end without an answer: no request was begun, or the answer was complete. */
static bool ends_silently(const struct connection *c, uint64_t waited)
{
    const struct http_server *s = c->server;
    unsigned linger_ms = c->body_missing ? LINGER_MS : CLOSE_MS;
    unsigned idle_ms = s->draining && s->limits.idle_ms > DRAIN_IDLE_MS ? DRAIN_IDLE_MS
                                                                        : s->limits.idle_ms;
    return (c->wait == WAIT_IDLE && waited >= idle_ms) ||
           (c->wait == WAIT_LINGER && waited >= linger_ms);
}

void connection_check(struct connection *c, uint64_t now)
{
    const struct http_limits *l = &c->server->limits;
    uint64_t waited = now - c->since;
    if (c->phase == PHASE_CLOSED)
        return;
    if (!output_goes_forward(c, now)) {
        c->server->counts.timed_out++;
        connection_drop(c);
    } else if (ends_silently(c, waited)) {
        connection_drop(c);
    } else if (c->wait == WAIT_IDLE && waited >= SHRINK_MS && c->in.cap > 0) {
        buf_done(&c->in);
        buf_done(&c->extra);
        head_done(&c->head);
        output_done(&c->out);
    } else if (c->wait == WAIT_HEAD && waited >= l->head_ms) {
        too_slow(c, "head", l->head_ms);
    } else if (c->wait == WAIT_BODY &&
               waited >= l->body_ms + (uint64_t)((c->filed + c->x.request.body.len) >> 16) * 1000) {
        too_slow(c, "body", l->body_ms);
    }
}

/* ---- the start ---- */

static void name_peer(struct connection *c)
{
    struct sockaddr_storage a = { 0 };
    int n = sizeof a;
    if (c->is_unix) {
        struct ucred peer = { .uid = (uid_t)-1 };
        socklen_t len = sizeof peer;
        uv_os_fd_t fd;
        c->peer_uid = (uid_t)-1;
        if (uv_fileno(&c->uv.handle, &fd) == 0 &&
            getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0)
            c->peer_uid = peer.uid;
        (void)snprintf(c->peer, sizeof c->peer, "unix:%d", (int)c->peer_uid);
        return;
    }
    char address[INET6_ADDRSTRLEN] = "?";
    unsigned port = 0;
    if (uv_tcp_getpeername(&c->uv.tcp, (struct sockaddr *)&a, &n) == 0) {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)&a;
        struct sockaddr_in *four = (struct sockaddr_in *)&a;
        bool is_six = a.ss_family == AF_INET6;
        (void)inet_ntop(a.ss_family, is_six ? (void *)&six->sin6_addr : (void *)&four->sin_addr,
                        address, sizeof address);
        port = ntohs(is_six ? six->sin6_port : four->sin_port);
    }
    (void)snprintf(c->peer, sizeof c->peer, strchr(address, ':') ? "[%s]:%u" : "%s:%u", address,
                   port);
}

static void on_failed_accept(uv_handle_t *handle)
{
    free(handle->data);
}

static void turn_away(struct connection *c)
{
    struct refusal r;
    (void)refuse(&r, 503, "%u connections are open already; try again later",
                 c->server->limits.connections);
    refuse_and_close(c, &r);
}

/* Up to the reserve, connections of unix sockets take no place of the others, and nobody gives way to
 * them. */
static unsigned connections_in_use(const struct http_server *s)
{
    unsigned reserved = s->unix_open < RESERVED ? s->unix_open : RESERVED;
    return s->counts.connections - s->closing - reserved;
}

static bool is_full(const struct http_listener *l)
{
    const struct http_server *s = l->server;
    bool has_reserve = l->is_unix && s->unix_open < RESERVED;
    return !has_reserve && connections_in_use(s) >= s->limits.connections;
}

void connection_accept(struct http_listener *l)
{
    struct http_server *s = l->server;
    enum room room = is_full(l) ? server_make_room(s, l->is_unix) : ROOM_MADE;
    l->waits = false;
    if (room == ROOM_SOON && l->postponed++ < POSTPONED_MAX) {
        server_accept_soon(l);
        return;
    }
    l->postponed = 0;
    struct connection *c = calloc(1, sizeof *c);
    if (!c) {
        server_accept_later(l);
        return;
    }
    c->server = s;
    c->listener = l->index;
    c->is_unix = l->is_unix;
    c->paused = true;
    if (l->is_unix)
        (void)uv_pipe_init(s->loop, &c->uv.pipe, 0);
    else
        (void)uv_tcp_init(s->loop, &c->uv.tcp);
    c->uv.handle.data = c;
    c->since = uv_now(s->loop);
    bool full = room != ROOM_MADE;
    if (uv_accept(&l->uv.stream, &c->uv.stream) < 0 ||
        (full && connections_in_use(s) >= s->limits.connections + OVER_LIMIT)) {
        c->phase = PHASE_CLOSED;
        uv_close(&c->uv.handle, on_failed_accept);
        return;
    }
    server_connection_opened(s, c);
    name_peer(c);
    if (!l->is_unix) {
        (void)uv_tcp_nodelay(&c->uv.tcp, 1);
        (void)uv_tcp_keepalive(&c->uv.tcp, 1, 60);
    }
    if (full && !l->is_unix)
        turn_away(c);
    connection_advance(c);
}
