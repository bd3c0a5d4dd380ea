/* Answers and the end of a call (API-2). */
#include "api/kernel/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/inner.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "run/json.h"

static const char application_json[] = "application/json";

enum error_style error_style_of(const char *path)
{
    static const struct {
        const char *prefix;
        enum error_style style;
    } rows[] = { { "/api/", STYLE_DETAIL }, { "/execute", STYLE_NEMO } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strncmp(path, rows[i].prefix, strlen(rows[i].prefix)) == 0)
            return rows[i].style;
    return STYLE_V1;
}

static const struct api_field error_inner_reply[] = {
    { "code", FIELD_STRING, ALWAYS,
      .help = "for programs, such as bad_request, not_found or busy" },
    { "message", FIELD_STRING, ALWAYS,
      .help = "for people: the refused value, and the accepted values" },
    { "field", FIELD_STRING, OR_NULL, .help = "the field of the request, such as limits.memory" },
    { 0 },
};
static const struct api_field error_reply[] = {
    { "error", FIELD_OBJECT, ALWAYS, .fields = error_inner_reply, .help = "the error" },
    { .schema = "Error" },
};
static const struct api_field detail_reply[] = {
    { "detail", FIELD_STRING, ALWAYS, .help = "the message of the error" },
    { "error", FIELD_STRING, ALWAYS, .help = "for programs, such as bad_request or not_found" },
    { "message", FIELD_STRING, ALWAYS, .help = "as detail: clients read one or the other" },
    { .schema = "Detail" },
};
static const char *const process_status_words[] = { "completed", "error", "timeout", NULL };
const struct api_field execute_reply[] = {
    { "process_status", FIELD_STRING, ALWAYS, .one_of = process_status_words,
      .help = "how the run ended" },
    { "stdout", FIELD_DATA, ALWAYS, .help = "stdout of the program" },
    { "stderr", FIELD_DATA, ALWAYS, .help = "stderr of the program, or the reason of its end" },
    { "new_session_created", FIELD_BOOL,
      .help = "with X-Session-ID: true if the session began with this request" },
    { .schema = "ExecuteResult" },
};
static const struct api_field rpc_error_reply[] = {
    { "code", FIELD_INT, ALWAYS, .help = "of JSON-RPC" },
    { "message", FIELD_STRING, ALWAYS, .help = "the refused value, and the accepted values" },
    { 0 },
};
static const struct api_field mcp_reply[] = {
    { "jsonrpc", FIELD_STRING, ALWAYS, .help = "2.0" },
    { "id", FIELD_ANY, OR_NULL, .help = "null: the request was not read" },
    { "error", FIELD_OBJECT, ALWAYS, .fields = rpc_error_reply, .help = "the error" },
    { .schema = "McpError" },
};
static const struct api_field e2b_reply[] = {
    { "code", FIELD_INT, ALWAYS, .help = "the status of the answer" },
    { "message", FIELD_STRING, ALWAYS, .help = "the refused value, and the accepted values" },
    { .schema = "E2bError" },
};
static const struct api_field connect_reply[] = {
    { "code", FIELD_STRING, ALWAYS, .help = "of the Connect protocol, such as not_found" },
    { "message", FIELD_STRING, ALWAYS, .help = "the refused value, and the accepted values" },
    { .schema = "ConnectError" },
};
static const struct api_field piston_reply[] = {
    { "message", FIELD_STRING, ALWAYS, .help = "the refused value, and the accepted values" },
    { .schema = "PistonError" },
};
static const struct api_field judge0_reply[] = {
    { "error", FIELD_STRING, ALWAYS, .help = "the refused value, and the accepted values" },
    { .schema = "Judge0Error" },
};
const struct api_field *const error_replies[STYLE_COUNT_] = {
    [STYLE_V1] = error_reply,      [STYLE_DETAIL] = detail_reply, [STYLE_NEMO] = execute_reply,
    [STYLE_MCP] = mcp_reply,       [STYLE_E2B] = e2b_reply,       [STYLE_CONNECT] = connect_reply,
    [STYLE_PISTON] = piston_reply, [STYLE_JUDGE0] = judge0_reply,
};

static json_t *v1_error(const struct error_parts *p)
{
    return json_pack("{s:{s:s, s:s, s:s?}}", "error", "code", p->code, "message", p->message,
                     "field", p->field);
}

static json_t *detail_error(const struct error_parts *p)
{
    return json_pack("{s:s, s:s, s:s}", "detail", p->message, "error", p->code, "message",
                     p->message);
}

static json_t *nemo_error(const struct error_parts *p)
{
    return json_pack("{s:s, s:s, s:s}", "process_status", "error", "stdout", "", "stderr",
                     p->message);
}

/* Invalid request, or internal error. A request with an id of its own is answered by its handler. */
static json_t *mcp_error(const struct error_parts *p)
{
    return json_pack("{s:s, s:n, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", "error", "code",
                     p->status >= 500 ? -32603 : -32600, "message", p->message);
}

static json_t *e2b_error(const struct error_parts *p)
{
    return json_pack("{s:i, s:s}", "code", p->status, "message", p->message);
}

static json_t *connect_error(const struct error_parts *p)
{
    static const struct {
        int status;
        const char *code;
    } rows[] = {
        { 400, "invalid_argument" },    { 401, "unauthenticated" },
        { 403, "permission_denied" },   { 404, "not_found" },
        { 405, "unimplemented" },       { 408, "deadline_exceeded" },
        { 409, "failed_precondition" }, { 413, "resource_exhausted" },
        { 415, "invalid_argument" },    { 429, "resource_exhausted" },
        { 503, "unavailable" },         { 507, "resource_exhausted" },
    };
    const char *code = "internal";
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].status == p->status)
            code = rows[i].code;
    return json_pack("{s:s, s:s}", "code", code, "message", p->message);
}

static json_t *piston_error(const struct error_parts *p)
{
    return json_pack("{s:s}", "message", p->message);
}

static json_t *judge0_error(const struct error_parts *p)
{
    return json_pack("{s:s}", "error", p->message);
}

json_t *error_json(enum error_style style, const struct error_parts *p)
{
    static json_t *(*const makers[STYLE_COUNT_])(const struct error_parts *p) = {
        [STYLE_V1] = v1_error,         [STYLE_DETAIL] = detail_error,
        [STYLE_NEMO] = nemo_error,     [STYLE_MCP] = mcp_error,
        [STYLE_E2B] = e2b_error,       [STYLE_CONNECT] = connect_error,
        [STYLE_PISTON] = piston_error, [STYLE_JUDGE0] = judge0_error,
    };
    return makers[style](p);
}

/* A long message is cut at a byte, maybe inside a character. */
static json_t *error_of(enum error_style style, const struct err *e, const char *field)
{
    struct err ignored = { 0 };
    const char *text = ERR_SHOWN(e);
    scoped(buf) message = { 0 };
    scoped(buf) name = { 0 };
    if (text_add_utf8(&message, text, strlen(text), &ignored) ||
        (field && text_add_utf8(&name, field, strlen(field), &ignored)))
        return NULL;
    return error_json(style,
                      &(struct error_parts){ err_name(e->code), err_http_status(e->code),
                                             buf_str(&message), field ? buf_str(&name) : NULL });
}

static int dump_into(const char *bytes, size_t n, void *b)
{
    struct err ignored;
    return buf_add(b, bytes, n, &ignored);
}

/* One line. Takes over the reference. */
static int dump(json_t *body, struct buf *b)
{
    struct err ignored;
    int failed = !body ||
                 json_dump_callback(body, dump_into, b,
                                    JSON_COMPACT | JSON_ENCODE_ANY | JSON_DIGITS) ||
                 buf_add(b, "\n", 1, &ignored);
    json_decref(body);
    return failed ? -1 : 0;
}

/* A full queue (503) is no fault, and would fill the log of a busy service. */
static void log_answer(const struct http_exchange *x, int status, uint64_t began_us)
{
    char path[96];
    double ms = began_us ? (double)(clock_us() - began_us) / 1000 : 0;
    log_event(status >= 500 && status != 503 ? LOG_INFO : LOG_DEBUG, "http.request",
              "method=%s path=\"%s\" status=%d ms=%.3f peer=%s",
              http_method_name(x->request.method), text_quote(x->request.path, path, sizeof path),
              status, ms, x->request.peer);
}

/* The headers that belong to an error. */
static void add_headers(const struct api *api, struct http_exchange *x, const struct err *e)
{
    char seconds[16];
    if (e->code == ERR_NO_KEY)
        http_answer_header(x, "WWW-Authenticate", "Bearer realm=\"belljar\"");
    if (err_http_status(e->code) != 503)
        return;
    (void)snprintf(seconds, sizeof seconds, "%u",
                   api->engine ? engine_retry_after_s(api->engine) : 1);
    http_answer_header(x, "Retry-After", seconds);
}

static void log_fault(const struct err *e)
{
    if (err_blame(e->code) == BLAME_HOST && e->code != ERR_BUSY && e->code != ERR_STORAGE)
        log_error(LOG_ERROR, "api.failed", e);
}

static void answer_error(struct api *api, struct http_exchange *x, enum error_style style,
                         const struct err *e, const char *field)
{
    static const char no_memory_error[] =
        "{\"error\":{\"code\":\"no_memory\",\"message\":\"no memory "
        "for an answer\",\"field\":null}}\n";
    scoped(buf) body = { 0 };
    add_headers(api, x, e);
    if (dump(error_of(style, e, field), &body))
        http_answer(x, 500, application_json, no_memory_error, sizeof no_memory_error - 1);
    else
        http_answer_buf(x, err_http_status(e->code), application_json, &body);
}

int reply_refusal(struct api *api, struct http_exchange *x, enum error_style style,
                  const struct err *e)
{
    log_fault(e);
    log_answer(x, err_http_status(e->code), 0);
    answer_error(api, x, style, e, NULL);
    return -1;
}

/* Separates the exchange from the call: events of the client no longer matter while the last bytes
 * are on their way. NULL if the client is gone. */
static struct http_exchange *detach(struct api_call *c)
{
    struct http_exchange *x = c->http;
    if (!x)
        return NULL;
    x->user = NULL;
    x->on_gone = NULL;
    x->on_drain = NULL;
    x->on_half_close = NULL;
    x->on_bytes = NULL;
    c->http = NULL;
    return x;
}

void call_free(struct api_call *c)
{
    json_decref(c->body);
    if (c->prepared)
        c->prepared_free(c->prepared);
    free(c);
}

void api_header(const struct api_call *c, const char *name, const char *value)
{
    if (c->http && !c->inner)
        http_answer_header(c->http, name, value);
}

void api_fail(struct api_call *c, const struct err *e, const char *field)
{
    log_fault(e);
    if (c->inner) {
        inner_fail(c, e, field && field[0] ? field : NULL);
        return;
    }
    struct http_exchange *x = detach(c);
    if (x) {
        log_answer(x, err_http_status(e->code), c->began_us);
        answer_error(c->api, x, c->route->style, e, field && field[0] ? field : NULL);
    }
    call_free(c);
}

void api_fail_no_memory(struct api_call *c)
{
    struct err e;
    (void)!err_no_memory(&e, "the answer");
    api_fail(c, &e, NULL);
}

void api_reply(struct api_call *c, int status, json_t *body)
{
    scoped(buf) text = { 0 };
    if (c->inner && body) {
        inner_reply(c, status, body);
        return;
    }
    if (!c->http) {
        json_decref(body);
        call_free(c);
        return;
    }
    if (dump(body, &text)) {
        api_fail_no_memory(c);
        return;
    }
    struct http_exchange *x = detach(c);
    log_answer(x, status, c->began_us);
    http_answer_buf(x, status, application_json, &text);
    call_free(c);
}

struct made_reply {
    uv_work_t work;
    struct api_call *call;
    int status;
    json_t *(*make)(void *);
    void (*done)(void *);
    void *context;
    struct buf text;
    json_t *json; /* of an inner call, in place of the text */
    int failed;
};

static void make_reply(uv_work_t *work)
{
    struct made_reply *m = work->data;
    if (m->call->inner) {
        m->json = m->make(m->context);
        m->failed = !m->json;
    } else {
        m->failed = dump(m->make(m->context), &m->text);
    }
}

static void reply_made(uv_work_t *work, int cancelled)
{
    struct made_reply *m = work->data;
    struct api_call *c = m->call;
    m->done(m->context);
    if (m->failed || cancelled) {
        json_decref(m->json);
        api_fail_no_memory(c);
    } else if (c->inner) {
        inner_reply(c, m->status, m->json);
    } else {
        struct http_exchange *x = detach(c);
        if (x) {
            log_answer(x, m->status, c->began_us);
            http_answer_buf(x, m->status, application_json, &m->text);
        }
        call_free(c);
    }
    buf_done(&m->text);
    free(m);
}

void api_reply_made(struct api_call *c, int status, json_t *(*make)(void *), void (*done)(void *),
                    void *context)
{
    struct made_reply *m = calloc(1, sizeof *m);
    if (m)
        *m = (struct made_reply){ .call = c,
                                  .status = status,
                                  .make = make,
                                  .done = done,
                                  .context = context,
                                  .work = { .data = m } };
    if (m && uv_queue_work(c->api->loop, &m->work, make_reply, reply_made) == 0)
        return;
    free(m);
    done(context);
    api_fail_no_memory(c);
}

void api_reply_text(struct api_call *c, int status, const char *content_type, const char *bytes,
                    size_t n)
{
    if (c->inner) {
        inner_reply_bytes(c, status, bytes, n);
        return;
    }
    struct http_exchange *x = detach(c);
    if (x) {
        log_answer(x, status, c->began_us);
        http_answer(x, status, content_type, bytes, n);
    }
    call_free(c);
}

void api_stream_begin_as(struct api_call *c, int status, const char *content_type)
{
    if (!c->http || c->inner)
        return;
    log_answer(c->http, status, c->began_us);
    http_stream_begin(c->http, status, content_type);
}

void api_stream_begin(struct api_call *c, const char *content_type)
{
    api_stream_begin_as(c, 200, content_type);
}

void api_stream_write(struct api_call *c, const void *bytes, size_t n)
{
    if (c->inner)
        inner_stream_write(c, bytes, n);
    else if (c->http)
        http_stream_write(c->http, bytes, n);
}

size_t api_stream_queued(const struct api_call *c)
{
    return c->http && !c->inner ? http_stream_queued(c->http) : 0;
}

void api_stream_cut(struct api_call *c)
{
    struct http_exchange *x = detach(c);
    if (x)
        http_stream_cut(x);
    call_free(c);
}

void api_stream_end(struct api_call *c)
{
    if (c->inner) {
        inner_stream_end(c);
        return;
    }
    struct http_exchange *x = detach(c);
    if (x)
        http_stream_end(x);
    call_free(c);
}
