/* Port 49983 of a sandbox: processes and files, which the helper in the jar serves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/doors/e2b/e2b.h"
#include "api/doors/e2b/frames.h"
#include "api/kernel/json_in.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"

enum { QUEUED_MAX = 1 << 20, TIMEOUT_MAX_MS = 24 * 3600 * 1000 };

enum relay_kind { RELAY_UNARY, RELAY_STREAM, RELAY_READ, RELAY_WRITE };

struct relay {
    struct helper_call helper;
    struct api_call *call;
    enum relay_kind kind;
    bool begun, held, writing, gone;
    /* of a command: its record comes first */
    bool recording;
    struct session_record record;
    json_t *request;
};

/* ---- errors ---- */

static const struct {
    const char *code;
    int status;
} statuses[] = {
    { "invalid_argument", 400 },    { "not_found", 404 },       { "already_exists", 409 },
    { "permission_denied", 403 },   { "unauthenticated", 401 }, { "resource_exhausted", 507 },
    { "failed_precondition", 400 }, { "unimplemented", 501 },   { "unavailable", 502 },
    { "deadline_exceeded", 504 },   { "internal", 500 },
};

/* A code of a guest that is not in the list is the guest's mistake, not ours. */
static int status_of(const char **code)
{
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
        if (strcmp(statuses[i].code, *code) == 0)
            return statuses[i].status;
    *code = "invalid_argument";
    return 400;
}

static const char *code_of(const struct err *e)
{
    static const struct {
        enum err_code code;
        const char *word;
    } rows[] = {
        { ERR_NOT_FOUND, "not_found" },        { ERR_DENIED, "permission_denied" },
        { ERR_NO_KEY, "unauthenticated" },     { ERR_BUSY, "resource_exhausted" },
        { ERR_UNAVAILABLE, "unavailable" },    { ERR_TOO_LARGE, "resource_exhausted" },
        { ERR_STORAGE, "resource_exhausted" }, { ERR_CONFLICT, "failed_precondition" },
        { ERR_NO_MEMORY, "internal" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].code == e->code)
            return rows[i].word;
    return "invalid_argument";
}

/* ---- streams of the Connect protocol ---- */

/* Takes over the reference. */
static void send_message(struct api_call *c, unsigned flags, json_t *message)
{
    scoped(buf) b = { 0 };
    struct err e;
    char *text = message ? json_dumps(message, JSON_COMPACT | JSON_DIGITS) : NULL;
    if (text && envelope_add(&b, flags, text, strlen(text), &e) == 0)
        api_stream_write(c, b.data, b.len);
    free(text);
    json_decref(message);
}

static void stream_begin(struct api_call *c, bool *begun)
{
    if (!*begun)
        api_stream_begin(c, "application/connect+json");
    *begun = true;
}

/* The error of a stream is its last message: clients read no other one. */
static void fail_stream(struct api_call *c, bool *begun, const char *code, const char *message)
{
    stream_begin(c, begun);
    send_message(c, ENVELOPE_END,
                 json_pack("{s:{s:s, s:s}}", "error", "code", code, "message", message));
    api_stream_end(c);
}

static void fail(struct api_call *c, enum relay_kind kind, bool *begun, const char *code,
                 const char *message)
{
    int status = status_of(&code);
    if (kind == RELAY_STREAM)
        fail_stream(c, begun, code, message);
    else if (*begun) /* a file that ends too early: the client sees that bytes are missing */
        api_stream_end(c);
    else
        e2b_fail(c, status, code, message);
}

static void fail_err(struct api_call *c, enum relay_kind kind, const struct err *e)
{
    bool begun = false;
    fail(c, kind, &begun, code_of(e), ERR_SHOWN(e));
}

/* ---- answers of the helper ---- */

static void relay_free(struct relay *r, bool over)
{
    if (r->held)
        helper_hold(&r->helper, false);
    helper_drop(&r->helper, over);
    json_decref(r->request);
    free(r);
}

static void relay_fail(struct relay *r, const char *code, const char *message)
{
    struct api_call *c = r->call;
    bool begun = r->begun;
    enum relay_kind kind = r->kind;
    relay_free(r, true);
    fail(c, kind, &begun, code, message);
}

/* A client that does not read holds up its own helper, and no other. */
static void check_queue(struct relay *r)
{
    size_t queued = api_stream_queued(r->call);
    bool hold = queued != SIZE_MAX && queued > QUEUED_MAX;
    if (hold && !r->held) {
        r->held = true;
        helper_hold(&r->helper, true);
    }
}

static void on_drain(struct api_call *c)
{
    struct relay *r = c->user;
    if (r->held && !r->writing) {
        r->held = false;
        helper_hold(&r->helper, false);
    }
}

/* A process goes on without its client. */
static void on_gone(struct api_call *c)
{
    struct relay *r = c->user;
    if (r->writing || r->recording) {
        r->gone = true;
        return;
    }
    relay_free(r, false);
    api_stream_end(c);
}

static void finish(struct relay *r)
{
    struct api_call *c = r->call;
    if (r->kind == RELAY_STREAM)
        send_message(c, ENVELOPE_END, json_object());
    relay_free(r, true);
    api_stream_end(c);
}

static void take_file(struct relay *r, const json_t *message, const char *bytes, size_t n)
{
    if (json_object_get(message, "file") && !r->begun) {
        r->begun = true;
        api_stream_begin(r->call, "application/octet-stream");
    }
    if (r->begun && n > 0)
        api_stream_write(r->call, bytes, n);
}

static void write_piece(struct relay *r, const json_t *message, const char *bytes, size_t n)
{
    json_t *event = json_object_get(message, "event");
    r->writing = true; /* a write can call on_gone() */
    if (r->kind == RELAY_READ) {
        take_file(r, message, bytes, n);
    } else if (event) {
        stream_begin(r->call, &r->begun);
        send_message(r->call, 0, json_incref(event));
    }
    r->writing = false;
}

static void on_message(struct helper_call *x, const json_t *message, const char *bytes, size_t n)
{
    struct relay *r = (struct relay *)x;
    const json_t *error = json_object_get(message, "error");
    json_t *reply = json_object_get(message, "reply");
    if (!message) {
        relay_fail(r, "unavailable", "the sandbox ended, or its processes were lost with a pause");
        return;
    }
    if (json_is_object(error)) {
        const char *code = json_string_value(json_object_get(error, "code"));
        const char *text = json_string_value(json_object_get(error, "message"));
        char copy[1000];
        (void)snprintf(copy, sizeof copy, "%s", text ? text : "the helper gave no reason");
        text_end_whole(copy);
        char word[32];
        (void)snprintf(word, sizeof word, "%s", code ? code : "internal");
        relay_fail(r, word, copy);
        return;
    }
    if (reply && (r->kind == RELAY_UNARY || r->kind == RELAY_WRITE)) {
        struct api_call *c = r->call;
        json_incref(reply);
        relay_free(r, true);
        api_reply(c, 200, reply);
        return;
    }
    if (r->kind != RELAY_STREAM && r->kind != RELAY_READ)
        return;
    write_piece(r, message, bytes, n);
    if (r->gone)
        on_gone(r->call);
    else if (json_is_true(json_object_get(message, "end")))
        finish(r);
    else
        check_queue(r);
}

/* ---- requests ---- */

/* The name before the colon of "Authorization: Basic", in base64. */
static void take_user(const struct http_request *q, json_t *request)
{
    static const char basic[] = "Basic ";
    const char *given = http_request_header(q, "Authorization");
    scoped(buf) name = { 0 };
    struct err e;
    if (!given || strncasecmp(given, basic, sizeof basic - 1) != 0)
        return;
    given += sizeof basic - 1;
    if (text_base64_decode(given, strlen(given), &name, &e))
        return;
    size_t n = strcspn(buf_str(&name), ":");
    if (n > 0 && text_is_utf8(buf_str(&name), n))
        json_put(request, "user", json_stringn(buf_str(&name), n));
}

static int64_t number_in(const struct http_request *q, const char *header, int64_t most)
{
    const char *given = http_request_header(q, header);
    char *end;
    int64_t v = given ? strtoll(given, &end, 10) : 0;
    return !given || *end || v < 0 ? 0 : v > most ? most : v;
}

static json_t *request_new(const struct api_call *c, const char *method)
{
    const struct http_request *q = &c->http->request;
    json_t *o = json_pack("{s:s}", "method", method);
    int64_t timeout = number_in(q, "Connect-Timeout-Ms", TIMEOUT_MAX_MS);
    int64_t every = number_in(q, "Keepalive-Ping-Interval", 3600);
    if (timeout > 0)
        json_put(o, "timeout_ms", json_integer(timeout));
    if (every > 0)
        json_put(o, "keepalive_s", json_integer(every));
    take_user(q, o);
    return o;
}

static struct relay *relay_new(struct api_call *c, enum relay_kind kind)
{
    struct relay *r = calloc(1, sizeof *r);
    if (!r) {
        api_fail_no_memory(c);
        return NULL;
    }
    *r = (struct relay){ .helper.on_message = on_message, .call = c, .kind = kind };
    c->user = r;
    c->on_gone = on_gone;
    c->on_drain = on_drain;
    return r;
}

/* Takes over the reference of the request. */
static void relay_begin(struct relay *r, struct session *s, json_t *request, const char *bytes,
                        size_t n)
{
    struct err e = { 0 };
    struct api_call *c = r->call;
    enum relay_kind kind = r->kind;
    if (helper_send(c->api, s, &r->helper, request, bytes, n, &e) == 0)
        return;
    relay_free(r, true);
    c->on_gone = NULL;
    fail_err(c, kind, &e);
}

/* ---- requests whose record comes first ---- */

static void on_recorded(struct session_record *record, const struct err *e)
{
    struct relay *r = (struct relay *)((char *)record - offsetof(struct relay, record));
    struct session *s = record->session;
    struct api_call *c = r->call;
    enum relay_kind kind = r->kind;
    json_t *request = r->request;
    /* A client that is gone has taken its bytes along, and no one waits for its process. */
    bool gone = r->gone || (kind == RELAY_WRITE && !c->http);
    const struct buf none = { 0 },
                     *bytes = kind == RELAY_WRITE && !gone ? &c->http->request.body : &none;
    r->request = NULL;
    r->recording = false;
    if (e) {
        json_decref(request);
        relay_free(r, true);
        c->on_gone = NULL;
        fail_err(c, kind, e);
    } else if (gone) {
        json_decref(request);
        relay_free(r, true);
        api_stream_end(c);
    } else {
        relay_begin(r, s, request, bytes->data, bytes->len);
    }
}

/* Takes over the references. */
static void record_and_begin(struct relay *r, struct session *s, json_t *request, const char *kind,
                             json_t *detail)
{
    r->recording = true;
    r->request = request;
    r->record.on_done = on_recorded;
    session_record(s, &r->record, kind, r->call->who.name, detail);
}

/* ---- handlers ---- */

static bool is_type(const struct http_request *q, const char *wanted)
{
    const char *type = http_request_header(q, "Content-Type");
    size_t n = type ? strcspn(type, "; \t") : 0;
    return type && n == strlen(wanted) && strncasecmp(type, wanted, n) == 0;
}

static int read_body(const struct api_call *c, bool streams, json_t **ret, struct err *e)
{
    const struct http_request *q = &c->http->request;
    const char *json = buf_str(&q->body),
               *wanted = streams ? "application/connect+json" : "application/json";
    size_t n = q->body.len;
    const char *version = http_request_header(q, "Connect-Protocol-Version");
    if (version && strcmp(version, "1") != 0)
        return err_set(e, ERR_BAD_REQUEST, 0, "Connect-Protocol-Version '%s' is not accepted: 1 is",
                       QUOTED(version));
    if (!is_type(q, wanted))
        return err_set(e, ERR_BAD_REQUEST, 0, "this method takes 'Content-Type: %s'", wanted);
    if (streams && envelope_read(buf_str(&q->body), q->body.len, &json, &n, e))
        return -1;
    return json_in_object(json, n, ret, e);
}

/* The methods that give something to a sandbox, or change it. */
static const struct {
    const char *method;
    const char *record; /* the kind of its audit record; NULL: none */
    const char *names[2];
} givers[] = {
    { "process.Process/Start", "session.command", { NULL } },
    { "process.Process/SendInput", NULL, { NULL } },
    { "filesystem.Filesystem/MakeDir", "session.file_write", { "path" } },
    { "filesystem.Filesystem/Move", "session.file_write", { "source", "destination" } },
    { "filesystem.Filesystem/Remove", "session.file_remove", { "path" } },
};

/* {"path": ...}, or {"path": ..., "from": ...} of a move. NULL: a name is no text. */
static json_t *names_detail(size_t giver, const json_t *body, struct buf *all, struct err *e)
{
    const char *const *names = givers[giver].names;
    json_t *first = json_object_get(body, names[0]),
           *second = names[1] ? json_object_get(body, names[1]) : NULL;
    const char *texts[] = { json_string_value(first), json_string_value(second) };
    if (!texts[0] || (names[1] && !texts[1])) {
        (void)!err_set(e, ERR_BAD_REQUEST, 0, "%s%s%s must be text", names[0],
                       names[1] ? " and " : "", names[1] ? names[1] : "");
        return NULL;
    }
    if (buf_addf(all, e, "%s\n%s", texts[0], texts[1] ? texts[1] : ""))
        return NULL;
    return second ? json_pack("{s:O, s:O}", "path", second, "from", first)
                  : json_pack("{s:O}", "path", first);
}

/* E2B-2. *ret: the detail of its audit record, or NULL. */
static int check_giver(const struct api_call *c, const struct session *s, size_t giver,
                       const json_t *body, json_t **ret, struct err *e)
{
    if (!givers[giver].record)
        return e2b_check_input(c, s, e);
    if (givers[giver].names[0]) {
        scoped(buf) names = { 0 };
        json_auto_t *detail = names_detail(giver, body, &names, e);
        if (!detail || e2b_check_file(c, s, buf_str(&names), NULL, false, e))
            return -1;
        *ret = json_incref(detail);
        return 0;
    }
    struct e2b_command command = { 0 };
    int failed = e2b_command_read(body, &command, e) || e2b_check_command(c, s, body, &command, e);
    if (!failed)
        *ret = json_pack("{s:O}", "command", command.shown);
    e2b_command_done(&command);
    return failed ? -1 : 0;
}

static size_t find_giver(const char *method)
{
    size_t i = 0;
    while (i < ARRAY_LEN(givers) && strcmp(givers[i].method, method) != 0)
        i++;
    return i;
}

static void call_method(struct api_call *c, bool streams)
{
    struct err e = { 0 };
    json_t *body = NULL, *detail = NULL;
    enum relay_kind kind = streams ? RELAY_STREAM : RELAY_UNARY;
    const char *method = c->route->path + 1;
    size_t giver = find_giver(method);
    struct session *s = e2b_data(c);
    if (!s)
        return;
    if (read_body(c, streams, &body, &e) ||
        (giver < ARRAY_LEN(givers) && check_giver(c, s, giver, body, &detail, &e))) {
        json_decref(body);
        fail_err(c, kind, &e);
        return;
    }
    json_t *request = request_new(c, method);
    json_put(request, "body", body);
    struct relay *r = relay_new(c, kind);
    if (!r) {
        json_decref(request);
        json_decref(detail);
    } else if (detail) {
        record_and_begin(r, s, request, givers[giver].record, detail);
    } else {
        relay_begin(r, s, request, NULL, 0);
    }
}

static void call_unary(struct api_call *c)
{
    call_method(c, false);
}

static void call_stream(struct api_call *c)
{
    call_method(c, true);
}

static json_t *query_of(const struct api_call *c)
{
    static const char *const names[] = { "path", "username" };
    json_t *o = json_object();
    char value[2100];
    struct err e;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *given = NULL;
        if (api_query(c, names[i], value, sizeof value, &given, &e) == 0 && given)
            json_put(o, names[i], json_string(given));
    }
    return o;
}

static json_t *file_request(const struct api_call *c, const char *method)
{
    json_t *request = request_new(c, method), *query = query_of(c);
    json_t *user = json_object_get(query, "username");
    if (user)
        (void)json_object_set(request, "user", user);
    json_put(request, "query", query);
    return request;
}

static void get_file(struct api_call *c)
{
    struct session *s = e2b_data(c);
    struct relay *r = s ? relay_new(c, RELAY_READ) : NULL;
    if (r)
        relay_begin(r, s, file_request(c, "read"), NULL, 0);
}

static json_t *metadata_headers(const struct http_request *q)
{
    static const char prefix[] = "X-Metadata-";
    size_t n = sizeof prefix - 1;
    json_t *o = json_object();
    for (size_t i = 0; i < q->n_headers; i++)
        if (strncasecmp(q->headers[i].name, prefix, n) == 0)
            json_put(o, q->headers[i].name + n, json_string(q->headers[i].value));
    return o;
}

/* Everything about a file but its content, for the rules. */
static int add_names(struct buf *b, const json_t *path, json_t *metadata, struct err *e)
{
    const char *key;
    const json_t *value;
    if (buf_addf(b, e, "%s\n", path ? json_string_value(path) : ""))
        return -1;
    json_object_foreach(metadata, key, value)
        if (buf_addf(b, e, "%s: %s\n", key, json_string_value(value)))
            return -1;
    return 0;
}

static void post_file(struct api_call *c)
{
    struct err e = { 0 };
    struct session *s = e2b_data(c);
    if (!s)
        return;
    const struct http_request *q = &c->http->request;
    const char *type = http_request_header(q, "Content-Type");
    const char *encoding = http_request_header(q, "Content-Encoding");
    json_auto_t *query = query_of(c);
    const json_t *path = json_object_get(query, "path");
    json_t *metadata = metadata_headers(q);
    scoped(buf) names = { 0 };
    bool packed = encoding && encoding[0] && strcasecmp(encoding, "identity") != 0;
    /* The names of a form are in its body. */
    if (add_names(&names, path, metadata, &e) ||
        e2b_check_file(c, s, buf_str(&names), &q->body, packed, &e)) {
        json_decref(metadata);
        fail_err(c, RELAY_WRITE, &e);
        return;
    }
    struct relay *r = relay_new(c, RELAY_WRITE);
    if (!r) {
        json_decref(metadata);
        return;
    }
    json_t *request = file_request(c, "write");
    json_put(request, "type", json_string(type ? type : ""));
    json_put(request, "encoding", json_string(encoding ? encoding : ""));
    json_put(request, "metadata", metadata);
    record_and_begin(r, s, request, "session.file_write",
                     json_pack("{s:s, s:I}", "path", path ? json_string_value(path) : "(a form)",
                               "size", (json_int_t)q->body.len));
}

static void get_health(struct api_call *c)
{
    if (e2b_data(c))
        api_reply_text(c, 204, "text/plain", "", 0);
}

static void call_client_stream(struct api_call *c)
{
    struct err e = { 0 };
    (void)!err_set(&e, ERR_BAD_REQUEST, 0,
                   "process.Process/StreamInput is not served: use process.Process/SendInput");
    fail_err(c, RELAY_STREAM, &e);
}

static const struct api_field file_query[] = {
    { "path", FIELD_STRING, .max = 2000 },
    { "username", FIELD_STRING, .max = 64 },
    { "signature", FIELD_STRING, .max = 100 },
    { "signature_expiration", FIELD_STRING, .max = 24 },
    { 0 },
};

#define RPC(path_, handle_)                                                               \
    {                                                                                     \
        METHOD_POST, path_, SCOPE_RUN, STYLE_CONNECT, .flags = ROUTE_RAW | ROUTE_LENIENT, \
                                                      .handle = handle_,                  \
                                                      .summary = "A method of E2B's envd" \
    }
const struct api_route e2b_relay_routes[] = {
    RPC("/process.Process/Start", call_stream),
    RPC("/process.Process/Connect", call_stream),
    RPC("/process.Process/StreamInput", call_client_stream),
    RPC("/process.Process/List", call_unary),
    RPC("/process.Process/SendInput", call_unary),
    RPC("/process.Process/SendSignal", call_unary),
    RPC("/process.Process/CloseStdin", call_unary),
    RPC("/process.Process/Update", call_unary),
    RPC("/filesystem.Filesystem/Stat", call_unary),
    RPC("/filesystem.Filesystem/ListDir", call_unary),
    RPC("/filesystem.Filesystem/MakeDir", call_unary),
    RPC("/filesystem.Filesystem/Move", call_unary),
    RPC("/filesystem.Filesystem/Remove", call_unary),
    RPC("/filesystem.Filesystem/WatchDir", call_stream),
    RPC("/filesystem.Filesystem/CreateWatcher", call_unary),
    RPC("/filesystem.Filesystem/GetWatcherEvents", call_unary),
    RPC("/filesystem.Filesystem/RemoveWatcher", call_unary),
    { METHOD_GET, "/files", SCOPE_RUN, STYLE_E2B, .flags = ROUTE_LENIENT, .query = file_query,
      .handle = get_file, .summary = "Read a file of a sandbox" },
    { METHOD_POST, "/files", SCOPE_RUN, STYLE_E2B, .flags = ROUTE_RAW | ROUTE_LENIENT,
      .query = file_query, .handle = post_file, .summary = "Write files of a sandbox" },
    { METHOD_GET, "/health", SCOPE_RUN, STYLE_E2B, .flags = ROUTE_LENIENT, .handle = get_health,
      .summary = "Whether a sandbox runs" },
    { 0 },
};
