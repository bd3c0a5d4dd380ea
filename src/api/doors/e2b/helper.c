/* The helper of a sandbox: a process in its jar that the program of the session starts on request. A
 * socket between it and us carries requests and answers.
 *
 * The program starts a shell that waits for one line on the socket, and becomes the helper then. So the
 * start of an interpreter does not compete with the first cell, and needs no moment between two cells. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "api/doors/e2b/e2b.h"
#include "api/doors/e2b/frames.h"
#include "base/auto.h"
#include "base/log.h"
#include "run/json.h"
#include "session/events.h"

struct helper {
    uv_pipe_t pipe;
    uv_timer_t timer; /* asks for the start, or wakes it */
    struct session_watch watch;
    struct helper_question *asked; /* the request for its start; NULL: none is under way */
    struct session *session;
    struct e2b *door;
    struct helper *next;
    struct helper_call *calls;
    struct helper_waiter *waiters;
    int guest_fd; /* until the program has it */
    uint32_t last_id;
    struct buf in;
    char read_room[64 << 10];
    unsigned open_handles, holds;
    bool awake; /* its shell was told to become the helper */
    bool ending;
};

/* A call whose handler is called again once the program has answered. */
struct helper_waiter {
    struct helper_waiter *next;
    struct api_call *call;
};

/* It may outlive the helper: then the session frees it. */
struct helper_question {
    struct session_question question;
    struct helper *helper;
};

static void on_handle_closed(uv_handle_t *handle)
{
    struct helper *h = handle->data;
    if (--h->open_handles > 0)
        return;
    buf_done(&h->in);
    free(h);
}

/* Every call hears of it once. */
static void lose_calls(struct helper *h)
{
    while (h->calls) {
        struct helper_call *x = h->calls;
        h->calls = x->next;
        x->helper = NULL;
        x->on_message(x, NULL, NULL, 0);
    }
}

/* `again`: their handlers are called; otherwise they fail. */
static void release_waiters(struct helper *h, bool again)
{
    struct err e = { 0 };
    struct helper_waiter *w = h->waiters, *next;
    (void)!err_set(&e, ERR_UNAVAILABLE, 0, "the sandbox ended, or its helper did not start");
    h->waiters = NULL; /* a handler may wait again */
    for (; w; w = next) {
        next = w->next;
        if (again && w->call->http) /* a handler may need the request */
            w->call->route->handle(w->call);
        else
            api_fail(w->call, &e, NULL);
        free(w);
    }
}

static void helper_end(struct helper *h)
{
    struct helper **at = &h->door->helpers;
    if (h->ending)
        return;
    h->ending = true;
    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
    lose_calls(h);
    release_waiters(h, false);
    if (h->asked)
        session_question_drop(h->session, &h->asked->question);
    session_watch_remove(h->session, &h->watch);
    fd_close(&h->guest_fd);
    uv_close((uv_handle_t *)&h->pipe, on_handle_closed);
    uv_close((uv_handle_t *)&h->timer, on_handle_closed);
}

static struct helper_call *call_of(const struct helper *h, json_int_t id)
{
    for (struct helper_call *x = h->calls; x; x = x->next)
        if (x->id == id)
            return x;
    return NULL;
}

static void take_frame(struct helper *h, const struct helper_frame *f)
{
    size_t room = GUEST_VALUES_MAX;
    json_auto_t *message = guest_json(f->json, f->n_json, &room);
    struct helper_call *x = call_of(h, json_integer_value(json_object_get(message, "id")));
    if (x) /* a late message of a call that was dropped is left out */
        x->on_message(x, message, f->bytes, f->n_bytes);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
    struct helper *h = handle->data;
    (void)suggested;
    *ret = uv_buf_init(h->read_room, sizeof h->read_room);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
    struct helper *h = stream->data;
    struct helper_frame f;
    struct err e = { 0 };
    size_t at = 0;
    int more = 0;
    if (n == 0)
        return;
    if (n < 0 || buf_add(&h->in, bytes->base, (size_t)n, &e)) {
        helper_end(h);
        return;
    }
    while (!h->ending && (more = helper_frame_next(buf_str(&h->in), h->in.len, &at, &f, &e)) > 0)
        take_frame(h, &f);
    if (h->ending)
        return;
    if (more < 0) {
        log_error(LOG_WARN, "e2b.helper", &e);
        helper_end(h);
        return;
    }
    memmove(h->in.data, h->in.data + at, h->in.len - at);
    h->in.len -= at;
}

/* ---- its start ---- */

/* The start of the helper takes longer than a small cell. So it waits for a moment without cells, unless
 * a request needs it. */
enum { AT_REST_MS = 150 };

static void on_turn(uv_timer_t *timer);

static void wake_at_rest(struct helper *h)
{
    if (!h->awake && !h->ending)
        (void)uv_timer_start(&h->timer, on_turn, AT_REST_MS, 0);
}

static void on_woken(uv_write_t *write, int status)
{
    (void)status; /* a lost connection is noticed where it is read */
    free(write);
}

/* A packet of its own, which the shell reads alone. */
static int wake(struct helper *h, struct err *e)
{
    static char line[] = "\n";
    uv_buf_t bytes = uv_buf_init(line, 1);
    uv_write_t *write = h->awake ? NULL : malloc(sizeof *write);
    if (h->awake)
        return 0;
    if (!write || uv_write(write, (uv_stream_t *)&h->pipe, &bytes, 1, on_woken)) {
        free(write);
        return err_no_memory(e, "the start of the helper of a sandbox");
    }
    h->awake = true;
    return 0;
}

static void on_answer(struct session_question *q, json_t *json, const struct err *e)
{
    struct helper *h = ((struct helper_question *)q)->helper;
    const char *failed = json_string_value(json_object_get(json, "failed"));
    h->asked = NULL;
    free(q);
    if (e || failed) {
        log_event(LOG_WARN, "e2b.helper", "session=%s error=\"%s\"", h->session->id,
                  e ? e->text : "the program could not start it");
        helper_end(h);
    } else if (h->waiters) {
        (void)uv_timer_start(&h->timer, on_turn, 0, 0); /* the session has no question then */
    } else {
        wake_at_rest(h);
    }
}

/* Between two cells: the next one begins after the answer. */
static void ask_for_start(struct helper *h)
{
    const struct session *s = h->session;
    const struct buf none = { 0 };
    struct err e = { 0 };
    if (s->state != SESSION_IDLE || s->question)
        return; /* on_session_event() follows */
    struct helper_question *q = calloc(1, sizeof *q);
    if (!q) {
        helper_end(h);
        return;
    }
    *q = (struct helper_question){ { .on_answer = on_answer, .fds = &h->guest_fd, .n_fds = 1 }, h };
    if (session_ask(h->session, &q->question, FRAME_HELPER, &none, &e)) {
        free(q);
        if (e.code != ERR_CONFLICT)
            helper_end(h);
        return;
    }
    h->asked = q;
    fd_close(&h->guest_fd);
}

static void on_turn(uv_timer_t *timer)
{
    struct helper *h = timer->data;
    struct err e = { 0 };
    if (h->guest_fd >= 0) {
        ask_for_start(h);
    } else if (h->waiters && !h->asked) {
        release_waiters(h, true);
        wake_at_rest(h);
    } else if (wake(h, &e)) {
        log_error(LOG_WARN, "e2b.helper", &e);
    }
}

static void on_session_event(struct session_watch *w, struct session *s, enum session_event event)
{
    struct helper *h = (struct helper *)((char *)w - offsetof(struct helper, watch));
    bool asleep = s->state == SESSION_SLEEPING;
    if (event == SESSION_EVENT_ENDED || (asleep && h->guest_fd < 0))
        helper_end(h);
    else if (s->state == SESSION_IDLE && h->guest_fd >= 0)
        (void)uv_timer_start(&h->timer, on_turn, 0, 0);
    else if (h->guest_fd < 0 && !h->waiters)
        wake_at_rest(h);
}

static struct helper *helper_new(struct api *api, struct session *s, struct err *e)
{
    int fds[2];
    struct e2b *door = e2b_of(api);
    struct helper *h = door ? calloc(1, sizeof *h) : NULL;
    if (!h) {
        (void)!err_no_memory(e, "the helper of a sandbox");
        return NULL;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)) {
        (void)!err_set(e, ERR_BUSY, 0, "no socket for the helper of a sandbox is free");
        free(h);
        return NULL;
    }
    h->session = s;
    h->door = door;
    h->guest_fd = fds[1];
    h->open_handles = 2;
    (void)uv_pipe_init(api->loop, &h->pipe, 0);
    (void)uv_timer_init(api->loop, &h->timer);
    h->pipe.data = h->timer.data = h;
    h->next = door->helpers;
    door->helpers = h;
    h->watch.on_event = on_session_event;
    session_watch_add(s, &h->watch);
    if (uv_pipe_open(&h->pipe, fds[0]) ||
        uv_read_start((uv_stream_t *)&h->pipe, on_alloc, on_read)) {
        (void)!err_set(e, ERR_BUSY, 0, "the socket for the helper of a sandbox cannot be used");
        helper_end(h);
        return NULL;
    }
    (void)uv_timer_start(&h->timer, on_turn, 0, 0);
    return h;
}

static struct helper *helper_of(struct api *api, struct session *s, struct err *e)
{
    const struct e2b *door = api->e2b;
    for (struct helper *h = door ? door->helpers : NULL; h; h = h->next)
        if (h->session == s)
            return h;
    if (s->state != SESSION_ENDED)
        return helper_new(api, s, e);
    (void)!err_set(e, ERR_UNAVAILABLE, 0, "the sandbox ended: %s", s->reason);
    return NULL;
}

void helper_start(struct api *api, struct session *s)
{
    struct err e = { 0 };
    if (!helper_of(api, s, &e))
        log_error(LOG_WARN, "e2b.helper", &e);
}

bool helper_wait(struct api_call *c, const struct session *s)
{
    struct helper *h = c->api->e2b ? c->api->e2b->helpers : NULL;
    while (h && h->session != s)
        h = h->next;
    struct helper_waiter *w = h && h->asked ? malloc(sizeof *w) : NULL;
    if (!w)
        return false;
    *w = (struct helper_waiter){ h->waiters, c };
    h->waiters = w;
    return true;
}

/* ---- requests ---- */

/* The frames are a stream of bytes on a socket of packets, which is the only kind that a keeper can
 * make. A packet has at most so many of them. */
enum { PACKET_MAX = 32 << 10, WAITING_MAX = 32 << 20 };

struct helper_write {
    struct buf bytes;
    size_t pieces; /* on their way */
    uv_write_t writes[];
};

static void on_written(uv_write_t *write, int status)
{
    struct helper_write *w = write->data;
    (void)status; /* a lost connection is noticed where it is read */
    if (--w->pieces > 0)
        return;
    buf_done(&w->bytes);
    free(w);
}

/* Each piece is a packet. A socket that fails is noticed where it is read. */
static void write_all(struct helper *h, struct helper_write *w)
{
    size_t n = (w->bytes.len + PACKET_MAX - 1) / PACKET_MAX, failed = 0;
    w->pieces = n;
    for (size_t i = 0, at = 0; i < n; i++, at += PACKET_MAX) {
        size_t rest = w->bytes.len - at;
        uv_buf_t piece = uv_buf_init(w->bytes.data + at,
                                     (unsigned)(rest < PACKET_MAX ? rest : PACKET_MAX));
        w->writes[i].data = w;
        failed += uv_write(&w->writes[i], (uv_stream_t *)&h->pipe, &piece, 1, on_written) != 0;
    }
    w->pieces -= failed;
    if (w->pieces > 0)
        return;
    buf_done(&w->bytes);
    free(w);
}

/* Takes over the reference. */
static int put(struct helper *h, json_t *message, const char *bytes, size_t n, struct err *e)
{
    char *text = json_line(message);
    scoped(buf) all = { 0 };
    if (!text || helper_frame_add(&all, text, strlen(text), bytes, n, e)) {
        free(text);
        return err_no_memory(e, "a request to the helper of a sandbox");
    }
    free(text);
    struct helper_write *w = calloc(1,
                                    sizeof *w + (1 + all.len / PACKET_MAX) * sizeof w->writes[0]);
    if (!w)
        return err_no_memory(e, "a request to the helper of a sandbox");
    w->bytes = all;
    all = (struct buf){ 0 };
    write_all(h, w);
    return 0;
}

int helper_send(struct api *api, struct session *s, struct helper_call *x, json_t *request,
                const char *bytes, size_t n, struct err *e)
{
    struct helper *h = helper_of(api, s, e);
    if (!h) {
        json_decref(request);
        return -1;
    }
    /* E2B-5: one request of any size fits, so that a large file can be written. */
    size_t waiting = uv_stream_get_write_queue_size((uv_stream_t *)&h->pipe);
    if (waiting > 0 && waiting + n > WAITING_MAX) {
        json_decref(request);
        return err_set(
            e, ERR_BUSY, 0,
            "%zu bytes wait for the sandbox, which does not read them: try again later, or "
            "kill the sandbox",
            waiting);
    }
    x->id = ++h->last_id;
    json_put(request, "id", json_integer(x->id));
    if (wake(h, e)) {
        json_decref(request);
        return -1;
    }
    if (put(h, request, bytes, n, e))
        return -1;
    x->helper = h;
    x->next = h->calls;
    h->calls = x;
    session_touch(s);
    return 0;
}

int helper_add(const struct helper_call *x, json_t *message, const char *bytes, size_t n,
               struct err *e)
{
    struct helper *h = x->helper;
    if (!h || h->ending || uv_stream_get_write_queue_size((uv_stream_t *)&h->pipe) > WAITING_MAX) {
        json_decref(message);
        return err_set(e, ERR_BUSY, 0, "the sandbox does not read");
    }
    json_put(message, "id", json_integer(x->id));
    return put(h, message, bytes, n, e);
}

void helper_drop(struct helper_call *x, bool over)
{
    struct helper *h = x->helper;
    struct helper_call **at = h ? &h->calls : NULL;
    struct err ignored;
    if (!h)
        return;
    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    x->helper = NULL;
    if (!over && !h->ending)
        (void)!put(h, json_pack("{s:i}", "cancel", (int)x->id), NULL, 0, &ignored);
}

void helper_hold(struct helper_call *x, bool hold)
{
    struct helper *h = x->helper;
    if (!h || h->ending)
        return;
    h->holds += hold ? 1 : -1U;
    if (hold && h->holds == 1)
        (void)uv_read_stop((uv_stream_t *)&h->pipe);
    if (!hold && h->holds == 0)
        (void)uv_read_start((uv_stream_t *)&h->pipe, on_alloc, on_read);
}

void helpers_close(struct e2b *d)
{
    while (d->helpers)
        helper_end(d->helpers);
}
