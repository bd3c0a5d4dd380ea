/* /api/v2/connect: a program of Piston over a WebSocket, with stdin, output and stages as messages.
 * Close codes are Piston's. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "api/approvals/approvals.h"
#include "api/doors/door_submit.h"
#include "api/doors/piston/piston.h"
#include "api/kernel/json_in.h"
#include "base/auto.h"
#include "base/text.h"
#include "http/websocket.h"
#include "run/json.h"
#include "runtime/language.h"

enum {
    INIT_MS = 1000,
    MESSAGE_MAX = 1 << 20,
    QUEUED_MAX = 256 << 10, /* output that the client has not read: the journal keeps the rest */
    UNREAD_MAX = 1 << 20,   /* of answers to the client's own frames */
    CLOSE_ALREADY = 4000,
    CLOSE_NO_INIT = 4001,
    CLOSE_ERROR = 4002,
    CLOSE_NOT_YET = 4003,
    CLOSE_NOT_STDIN = 4004,
    CLOSE_SIGNAL = 4005,
    CLOSE_DONE = 4999,
};

struct connect {
    struct run_watch watch; /* first: on_event() gets it */
    struct door_submission submission;
    struct api *api;
    struct api_call *call; /* NULL once the client is gone */
    struct websocket *socket;
    uv_timer_t timer;
    struct piston_runtime runtime;
    struct run *run; /* until it is done */
    bool is_initialised, has_stage, runs, is_done, is_closed;
    struct piston_end end;
    int signal; /* that the client sent */
    struct journal_reader at;
    struct journal_record record;
    struct buf carry[JOURNAL_STREAMS]; /* the first bytes of an incomplete character */
};

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void connect_free(struct connect *k)
{
    websocket_free(k->socket);
    buf_done(&k->record.bytes);
    for (int i = 0; i < JOURNAL_STREAMS; i++)
        buf_done(&k->carry[i]);
    uv_close((uv_handle_t *)&k->timer, on_timer_closed);
}

/* The last step of every event: ends the call after a close frame, and frees the object. */
static void settle(struct connect *k)
{
    struct api_call *c = k->call;
    if (c && websocket_is_over(k->socket)) {
        k->call = NULL;
        if (k->run && !k->is_done)
            run_cancel(k->run);
        api_stream_end(c);
    }
    if (!k->call && !k->run && !k->is_closed) {
        k->is_closed = true;
        connect_free(k);
    }
}

/* ---- to the client ---- */

/* Takes over the reference. */
static void send_json(struct connect *k, json_t *message)
{
    char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
    if (text)
        websocket_text(k->socket, text, strlen(text));
    free(text);
    json_decref(message);
}

static void send_error(struct connect *k, const char *text)
{
    struct err e;
    scoped(buf) message = { 0 };
    if (text_add_utf8(&message, text, strlen(text), &e) == 0)
        send_json(k, json_pack("{s:s, s:s}", "type", "error", "message", buf_str(&message)));
    websocket_close(k->socket, CLOSE_ERROR, "Notified Error");
}

static void send_stage(struct connect *k, const char *stage)
{
    k->has_stage = true;
    send_json(k, json_pack("{s:s, s:s}", "type", "stage", "stage", stage));
}

static void send_exit(struct connect *k, const char *stage, const struct piston_end *end)
{
    char name[24];
    const char *number = k->signal        ? door_signal_name(k->signal, name, sizeof name)
                         : end->signal[0] ? end->signal
                                          : NULL;
    send_json(k, json_pack("{s:s, s:s, s:o, s:s?}", "type", "exit", "stage", stage, "code",
                           end->code < 0 || k->signal ? json_null() : json_integer(end->code),
                           "signal", number));
}

static void send_data(struct connect *k, const char *stream, const char *bytes, size_t n)
{
    struct err e;
    scoped(buf) text = { 0 };
    if (n > 0 && text_add_utf8(&text, bytes, n, &e) == 0)
        send_json(k, json_pack("{s:s, s:s, s:o}", "type", "data", "stream", stream, "data",
                               json_stringn_nocheck(buf_str(&text), text.len)));
}

static const char *const stream_names[JOURNAL_STREAMS] = {
    [JOURNAL_STDOUT] = "stdout", [JOURNAL_STDERR] = "stderr"
};

/* An incomplete character at the end of a piece goes with the next piece. */
static void send_record(struct connect *k)
{
    const struct journal_record *r = &k->record;
    struct err e;
    if ((int)r->kind >= (int)JOURNAL_STREAMS)
        return;
    struct buf *carry = &k->carry[r->kind];
    if (buf_add(carry, r->bytes.data, r->bytes.len, &e))
        return;
    size_t whole = text_whole(carry->data, carry->len);
    send_data(k, stream_names[r->kind], carry->data, whole);
    memmove(carry->data, carry->data + whole, carry->len - whole);
    carry->len -= whole;
}

static void send_compiler(struct connect *k)
{
    const json_t *compile = json_object_get(k->run->result_json, "compile");
    const struct piston_end end = piston_end_of_compiler(compile);
    for (int i = 0; i < JOURNAL_STREAMS; i++) {
        const json_t *text = json_object_get(compile, stream_names[i]);
        send_data(k, stream_names[i], json_string_value(text), json_string_length(text));
    }
    send_exit(k, "compile", &end);
}

static void send_end(struct connect *k)
{
    for (int i = 0; i < JOURNAL_STREAMS; i++)
        send_data(k, stream_names[i], buf_str(&k->carry[i]), k->carry[i].len);
    if (piston_compile_failed(&k->run->result)) {
        send_compiler(k);
    } else if (k->end.status && strcmp(k->end.status, "XX") == 0 && !k->signal) {
        send_error(k, k->end.message);
        return;
    } else {
        send_exit(k, "run", &k->end);
    }
    websocket_close(k->socket, CLOSE_DONE, "Job Completed");
}

/* Sends the output so far, until the client stops reading. */
static void pump(struct connect *k)
{
    bool more = true;
    struct err e;
    while (k->call && more && api_stream_queued(k->call) < QUEUED_MAX) {
        if (journal_next(&k->run->journal, &k->at, &k->record, &more, &e))
            more = false;
        else if (more)
            send_record(k);
    }
    if (k->call && (more || !k->is_done))
        return;
    if (k->call)
        send_end(k);
    if (k->is_done) {
        run_watch_remove(k->run, &k->watch);
        k->run = NULL;
    }
}

/* ---- the run ---- */

static void on_started(struct connect *k)
{
    static const struct piston_end success = { 0 };
    if (k->has_stage)
        send_exit(k, "compile", &success);
    k->runs = true;
    send_stage(k, "run");
}

static void on_run_event(struct run_watch *w, struct run *x, enum run_event event)
{
    struct connect *k = (struct connect *)w;
    if (event == RUN_EVENT_RECORDED && k->runtime.language->compile)
        send_stage(k, "compile");
    if (event == RUN_EVENT_STARTED)
        on_started(k);
    if (event == RUN_EVENT_DONE) {
        k->is_done = true;
        k->end = piston_end_of_run(&x->result);
        if (x->record_err.code != ERR_NONE)
            send_error(k, ERR_SHOWN(&x->record_err));
    }
    if (k->run && (k->runs || k->is_done))
        pump(k);
    settle(k);
}

static void on_submitted(struct door_submission *s, struct run *run, const struct err *e,
                         const char *field)
{
    struct connect *k = (struct connect *)((char *)s - offsetof(struct connect, submission));
    char version[PISTON_VERSION_SIZE];
    (void)field;
    k->run = run;
    if (!run) {
        send_error(k, ERR_SHOWN(e));
        return;
    }
    send_json(k, json_pack("{s:s, s:s, s:s}", "type", "runtime", "language", k->runtime.name,
                           "version", piston_version(&k->runtime, version)));
}

/* ---- from the client ---- */

static void on_init(struct connect *k, const json_t *message)
{
    struct err e = { 0 };
    json_t *request = NULL;
    if (k->is_initialised) {
        websocket_close(k->socket, CLOSE_ALREADY, "Already Initialized");
        return;
    }
    if (piston_request(k->api, message, true, &k->runtime, &request, &e)) {
        send_error(k, e.text);
        return;
    }
    k->is_initialised = true;
    k->watch.on_event = on_run_event;
    k->submission = (struct door_submission){ .api = k->api,
                                              .who = &k->call->who,
                                              .request = request,
                                              .surface = "piston",
                                              .watch = &k->watch,
                                              .done = on_submitted };
    door_submit(&k->submission);
}

static void on_data(struct connect *k, const json_t *message)
{
    const char *stream = json_string_value(json_object_get(message, "stream"));
    const json_t *data = json_object_get(message, "data");
    struct err e = { 0 };
    if (!stream || strcmp(stream, "stdin") != 0) {
        websocket_close(k->socket, CLOSE_NOT_STDIN, "Can only write to stdin");
        return;
    }
    const char *bytes = json_string_value(data);
    size_t n = json_string_length(data);
    if (!bytes || !k->run || k->is_done)
        return;
    if (approvals_check_stdin(k->api, k->run, bytes, n, &e) ||
        run_write_stdin(k->run, bytes, n, false, &e))
        send_error(k, ERR_SHOWN(&e));
}

static int signal_of(const char *name)
{
    for (int i = 1; name && strncmp(name, "SIG", 3) == 0 && i < NSIG; i++)
        if (sigabbrev_np(i) && strcmp(sigabbrev_np(i), name + 3) == 0)
            return i;
    return 0;
}

/* A run is ended or not: signals that end a program end it, and the others have no effect. */
static void on_signal(struct connect *k, const json_t *message)
{
    static const int harmless[] = { SIGCHLD, SIGCONT, SIGURG,  SIGWINCH,
                                    SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };
    int number = signal_of(json_string_value(json_object_get(message, "signal")));
    if (number == 0) {
        websocket_close(k->socket, CLOSE_SIGNAL, "Invalid signal");
        return;
    }
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        if (harmless[i] == number)
            return;
    if (!k->run || k->is_done)
        return;
    k->signal = number;
    run_cancel(k->run);
}

static void on_text(void *context, const char *bytes, size_t n)
{
    struct connect *k = context;
    struct err e = { 0 };
    json_t *message = NULL;
    if (json_in_object(bytes, n, &message, &e)) {
        send_error(k, e.text);
        return;
    }
    const char *type = json_string_value(json_object_get(message, "type"));
    bool is_data = type && strcmp(type, "data") == 0,
         is_signal = type && strcmp(type, "signal") == 0;
    if (type && strcmp(type, "init") == 0)
        on_init(k, message);
    else if ((is_data || is_signal) && !k->is_initialised)
        websocket_close(k->socket, CLOSE_NOT_YET, "Not yet initialized");
    else if (is_data)
        on_data(k, message);
    else if (is_signal)
        on_signal(k, message);
    json_decref(message);
}

static void on_output(void *context, const void *bytes, size_t n)
{
    const struct connect *k = context;
    if (k->call)
        api_stream_write(k->call, bytes, n);
}

static void on_bytes(struct http_exchange *x, const char *bytes, size_t n)
{
    struct api_call *c = x->user;
    struct connect *k = c->user;
    websocket_feed(k->socket, bytes, n);
    if (api_stream_queued(c) > UNREAD_MAX + QUEUED_MAX)
        websocket_close(k->socket, CLOSE_ERROR, "Answers are not read");
    settle(k);
}

/* ---- its life ---- */

static void on_init_time(uv_timer_t *timer)
{
    struct connect *k = timer->data;
    if (!k->is_initialised)
        websocket_close(k->socket, CLOSE_NO_INIT, "Initialization Timeout");
    settle(k);
}

static void on_drain(struct api_call *c)
{
    struct connect *k = c->user;
    if (k->run && (k->runs || k->is_done))
        pump(k);
    settle(k);
}

/* The client left: nobody can read the output. */
static void on_gone(struct api_call *c)
{
    struct connect *k = c->user;
    k->call = NULL;
    if (k->run && !k->is_done)
        run_cancel(k->run);
    if (k->run && k->is_done)
        pump(k);
    api_stream_end(c);
    settle(k);
}

static const struct websocket_events events = { .on_text = on_text, .output = on_output };

static void get_connect(struct api_call *c)
{
    struct err e = { 0 };
    char accept[WEBSOCKET_ACCEPT_SIZE];
    struct connect *k = NULL;
    if (websocket_accept(&c->http->request, accept, &e)) {
        api_fail(c, &e, NULL);
        return;
    }
    k = calloc(1, sizeof *k);
    if (!k || websocket_new(&k->socket, &events, k, MESSAGE_MAX, &e)) {
        free(k);
        api_fail_no_memory(c);
        return;
    }
    http_answer_header(c->http, "Upgrade", "websocket");
    http_answer_header(c->http, "Sec-WebSocket-Accept", accept);
    k->api = c->api;
    k->call = c;
    c->user = k;
    c->on_gone = c->on_half_close = on_gone;
    c->on_drain = on_drain;
    (void)uv_timer_init(c->api->loop, &k->timer);
    k->timer.data = k;
    (void)uv_timer_start(&k->timer, on_init_time, INIT_MS, 0);
    http_upgrade(c->http, on_bytes);
}

static const struct api_field message_reply[] = {
    { "type", FIELD_STRING, ALWAYS, .help = "of a message: runtime, stage, data, exit or error" },
    { .schema = "PistonMessage" },
};

const struct api_route piston_connect_routes[] = {
    { METHOD_GET, "/api/v2/connect", SCOPE_RUN, STYLE_PISTON, .handle = get_connect,
      .summary = "Run a program over a WebSocket (Piston)",
      .replies = REPLIES({ 101, .fields = message_reply }) },
    { 0 },
};
