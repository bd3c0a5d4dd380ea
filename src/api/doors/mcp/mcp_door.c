/* /mcp: messages of JSON-RPC in, answers and streams out (Streamable HTTP). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/doors/mcp/mcp.h"
#include "api/doors/mcp/mcp_door.h"
#include "api/kernel/door.h"
#include "api/kernel/json_in.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"

enum { QUEUED_MAX = 64 << 10 };

/* `belljar mcp` sends it with an id that it chose: its clients have no headers. */
static const char stdio_header[] = "Belljar-Mcp-Stdio";
#define META_REVISION     "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define META_LOG_LEVEL    "io.modelcontextprotocol/logLevel"

/* ---- one POST ---- */

static void post_write(struct mcp_post *p, json_t *message)
{
    autofree char *text = message ? json_dumps(message, JSON_COMPACT | JSON_DIGITS) : NULL;
    scoped(buf) b = { 0 };
    struct err e;
    json_decref(message);
    if (text && buf_addf(&b, &e, p->is_stdio ? "%s\n" : "event: message\ndata: %s\n\n", text) == 0)
        api_stream_write(p->call, b.data, b.len);
}

static void post_begin_stream(struct mcp_post *p)
{
    if (p->streaming)
        return;
    p->streaming = true;
    api_stream_begin(p->call, p->is_stdio ? "application/x-ndjson" : "text/event-stream");
}

void mcp_post_send(struct mcp_post *p, json_t *message)
{
    post_begin_stream(p);
    if (api_stream_queued(p->call) < QUEUED_MAX) /* a client that does not read misses news only */
        post_write(p, message);
    else
        json_decref(message);
}

void mcp_post_answer(struct mcp_post *p, int status, json_t *message)
{
    if (p->is_batch)
        post_begin_stream(p);
    if (p->streaming) {
        post_write(p, message);
        return;
    }
    json_decref(p->answer);
    p->answer = message;
    p->status = status;
}

void mcp_post_keep_alive(struct mcp_post *p)
{
    post_begin_stream(p);
    if (!p->is_stdio && api_stream_queued(p->call) == 0)
        api_stream_write(p->call, ": keep-alive\n\n", 14);
}

void mcp_post_release(struct mcp_post *p)
{
    struct api_call *c = p->call;
    if (--p->pending > 0)
        return;
    if (!p->streaming && !p->answer && p->had_requests) /* each was cancelled */
        post_begin_stream(p);
    if (p->streaming)
        api_stream_end(c);
    else if (p->answer)
        api_reply(c, p->status, p->answer);
    else
        api_reply_text(c, 202, "application/json", "", 0);
    free(p);
}

/* ---- refusals of whole messages ---- */

static json_t *error_message(json_t *id, int code, const char *text, json_t *data)
{
    return json_pack("{s:s, s:O, s:{s:i, s:s, s:o*}}", "jsonrpc", "2.0", "id", id, "error", "code",
                     code, "message", text, "data", data);
}

/* An answer to a message that is no request: its id, or null. */
static void refuse(struct mcp_post *p, int status, const json_t *id, int code, const char *text)
{
    json_auto_t *none = json_null();
    bool usable = json_is_string(id) || json_is_integer(id);
    mcp_post_answer(p, status, error_message(usable ? (json_t *)id : none, code, text, NULL));
}

/* ---- the client of a message ---- */

struct message {
    struct mcp_post *post;
    struct mcp *mcp;
    json_t *object;
    const char *method;
    const json_t *id, *params, *meta; /* NULL: none */
    struct mcp_session *session;
    struct mcp_client client;
};

static const char *header(const struct message *m, const char *name)
{
    return http_request_header(&m->post->call->http->request, name);
}

static void refuse_message(const struct message *m, int status, int code, const char *text)
{
    refuse(m->post, status, m->id, code, text);
}

static json_t *revision_list(void)
{
    json_t *list = json_array();
    for (int i = MCP_REVISIONS - 1; i >= 0; i--)
        (void)json_array_append_new(list, json_string(mcp_revisions[i]));
    return list;
}

static void refuse_revision(const struct message *m, const char *requested)
{
    json_auto_t *none = json_null();
    char text[200];
    (void)snprintf(text, sizeof text,
                   "the protocol version '%s' is not supported: 2026-07-28, 2025-11-25, 2025-06-18 "
                   "and 2025-03-26 are",
                   QUOTED(requested));
    mcp_post_answer(m->post, 400,
                    error_message(m->id ? (json_t *)m->id : none, MCP_NO_REVISION, text,
                                  json_pack("{s:o, s:s}", "supported", revision_list(), "requested",
                                            requested)));
}

/* A header may hold its value in the form =?base64?...?=. */
static bool header_equals(const char *value, const char *expected)
{
    static const char begin[] = "=?base64?";
    scoped(buf) decoded = { 0 };
    struct err e;
    size_t n = value ? strlen(value) : 0, head = sizeof begin - 1;
    if (!value)
        return false;
    if (n < head + 2 || strncmp(value, begin, head) != 0 || strcmp(value + n - 2, "?=") != 0)
        return strcmp(value, expected) == 0;
    return text_base64_decode(value + head, n - head - 2, &decoded, &e) == 0 &&
           decoded.len == strlen(expected) && memcmp(buf_str(&decoded), expected, decoded.len) == 0;
}

/* The headers repeat parts of the message for proxies, and must not contradict it. */
static bool headers_match(const struct message *m, const char *revision)
{
    char text[160];
    const char *name = mcp_text(m->params, "name");
    bool reads = strcmp(m->method, "resources/read") == 0;
    bool named = reads || strcmp(m->method, "tools/call") == 0 ||
                 strcmp(m->method, "prompts/get") == 0;
    const char *wrong = NULL;
    if (reads)
        name = mcp_text(m->params, "uri");
    if (!header_equals(header(m, "MCP-Protocol-Version"), revision))
        wrong = "MCP-Protocol-Version";
    else if (!header_equals(header(m, "Mcp-Method"), m->method))
        wrong = "Mcp-Method";
    else if (named && name && !header_equals(header(m, "Mcp-Name"), name))
        wrong = "Mcp-Name";
    if (!wrong)
        return true;
    (void)snprintf(text, sizeof text, "the header %s is missing or differs from the message",
                   wrong);
    refuse_message(m, 400, MCP_HEADER_MISMATCH, text);
    return false;
}

static int level_of(const char *word)
{
    for (int i = 0; word && mcp_level_words[i]; i++)
        if (strcmp(mcp_level_words[i], word) == 0)
            return i;
    return MCP_LOG_NONE;
}

bool mcp_client_elicits(const json_t *capabilities)
{
    const json_t *elicitation = json_object_get(capabilities, "elicitation");
    /* {} is the form; a client that only opens pages has {"url": {}} alone. */
    return json_is_object(elicitation) &&
           (json_object_get(elicitation, "form") || !json_object_get(elicitation, "url"));
}

/* Revision 2026-07-28: each request names its client. */
static bool find_stateless(struct message *m)
{
    const char *revision = mcp_text(m->meta, META_REVISION);
    const json_t *capabilities = json_object_get(m->meta, META_CAPABILITIES);
    if (!revision || !json_is_object(capabilities)) {
        refuse_message(m, 400, MCP_BAD_PARAMS,
                       "params._meta needs " META_REVISION " and " META_CAPABILITIES);
        return false;
    }
    if (!m->post->is_stdio && !headers_match(m, revision))
        return false;
    if (mcp_revision_find(revision) != MCP_2026_07_28) {
        refuse_revision(m, revision);
        return false;
    }
    m->client = (struct mcp_client){ .revision = MCP_2026_07_28,
                                     .elicits = mcp_client_elicits(capabilities),
                                     .log_level = level_of(mcp_text(m->meta, META_LOG_LEVEL)) };
    return true;
}

/* Earlier revisions: a session that `initialize` began, or none. */
static bool find_stateful(struct message *m)
{
    const char *revision = header(m, "MCP-Protocol-Version");
    const char *id = m->post->is_stdio ? NULL : header(m, "Mcp-Session-Id");
    enum mcp_revision found = revision ? mcp_revision_find(revision) : MCP_2025_03_26;
    bool begins = strcmp(m->method, "initialize") == 0;
    if (found == MCP_REVISIONS && !begins) {
        refuse_revision(m, revision);
        return false;
    }
    if (id && !begins)
        m->session = mcp_session_find(m->mcp, id, &m->post->call->who);
    if (id && !begins && !m->session) {
        char text[200];
        (void)snprintf(text, sizeof text,
                       "there is no session '%s' of this caller, or it expired: send initialize "
                       "again",
                       QUOTED(id));
        refuse_message(m, 404, MCP_INVALID_REQUEST, text);
        return false;
    }
    m->client = (struct mcp_client){ .revision = found, .log_level = MCP_LOG_NONE };
    if (m->session && !begins)
        m->client = (struct mcp_client){ .revision = m->session->revision,
                                         .elicits = m->session->elicits,
                                         .log_level = m->session->log_level };
    return true;
}

static bool find_client(struct message *m)
{
    const char *sent = header(m, "MCP-Protocol-Version");
    bool stateless = json_object_get(m->meta, META_REVISION) ||
                     (sent && mcp_revision_find(sent) == MCP_2026_07_28);
    return stateless ? find_stateless(m) : find_stateful(m);
}

/* ---- messages ---- */

static void take_request(const struct message *m)
{
    const struct mcp_method *method = mcp_methods;
    struct mcp_request *r = mcp_request_new(m->mcp, m->post, m->session, &m->client, m->object);
    bool stateless = m->client.revision == MCP_2026_07_28;
    if (!r) {
        refuse_message(m, 503, MCP_INTERNAL,
                       "too many requests of this caller are in progress: wait for their answers");
        return;
    }
    m->post->had_requests = true;
    while (method->name && strcmp(method->name, m->method) != 0)
        method++;
    if (method->name && (stateless ? method->stateless : method->stateful))
        method->handle(r);
    else
        mcp_error(r, stateless ? 404 : 200, MCP_NO_METHOD, "there is no method '%s'",
                  QUOTED(m->method));
}

/* Ids of requests are unique in a session only. */
static bool is_of_client(const struct message *m, const struct mcp_request *r)
{
    return m->session && r->session == m->session;
}

static void cancel_request(const struct message *m)
{
    const json_t *id = json_object_get(m->params, "requestId");
    for (struct mcp_request *r = m->mcp->requests; r; r = r->next) {
        if (!is_of_client(m, r) || !id || !json_equal(r->id, id))
            continue;
        struct run *run = r->run;
        mcp_end(r); /* before the end of the run: it gets no answer */
        if (run)
            run_cancel(run);
        return;
    }
}

/* The answer to a question of ours. */
static void take_answer(const struct message *m)
{
    const char *id = json_string_value(m->id);
    for (struct mcp_request *r = m->mcp->requests; id && r; r = r->next) {
        if (!is_of_client(m, r) || strcmp(r->elicitation, id) != 0)
            continue;
        mcp_approval_answered(r, json_object_get(m->object, "result"));
        return;
    }
}

static void take_message(struct mcp *mcp, struct mcp_post *p, struct mcp_session *session,
                         json_t *object)
{
    struct message m = { .post = p, .mcp = mcp, .object = object, .session = session };
    const char *version = mcp_text(object, "jsonrpc");
    m.id = json_object_get(object, "id");
    m.params = json_object_get(object, "params");
    m.meta = json_object_get(m.params, "_meta");
    m.method = mcp_text(object, "method");
    bool is_answer = !m.method &&
                     (json_object_get(object, "result") || json_object_get(object, "error"));
    bool id_fits = !m.id || json_is_string(m.id) || json_is_integer(m.id);
    if (!json_is_object(object) || !version || strcmp(version, "2.0") != 0 || !id_fits ||
        (m.params && !json_is_object(m.params)) || (!m.method && !is_answer)) {
        refuse_message(&m, 400, MCP_INVALID_REQUEST,
                       "a message is an object with jsonrpc \"2.0\", and a method or a result; an "
                       "id is a string or an integer, params is an object");
        return;
    }
    if (is_answer)
        m.method = "";
    if (!find_client(&m))
        return;
    if (is_answer)
        take_answer(&m);
    else if (m.id)
        take_request(&m);
    else if (strcmp(m.method, "notifications/cancelled") == 0)
        cancel_request(&m);
}

/* ---- routes ---- */

static void json_free(void *json)
{
    json_decref(json);
}

/* In a thread, for a large body. */
static int prepare_post(struct api_call *c, const struct api *here, const struct buf *bytes,
                        char *field, size_t size, struct err *e)
{
    json_t *json = NULL;
    (void)here;
    (void)field;
    (void)size;
    if (json_in_parse(buf_str(bytes), bytes->len, &json, e))
        return -1;
    c->prepared = json;
    c->prepared_free = json_free;
    return 0;
}

/* In revision 2026-07-28 a client that leaves has cancelled its request. */
static void on_gone(struct api_call *c)
{
    const struct mcp_post *p = c->user;
    const struct mcp *m = c->api->mcp;
    struct mcp_request *r = m->requests;
    while (r) {
        if (r->post != p || !mcp_is_stateless(r) || r->left) {
            r = r->next;
            continue;
        }
        r->left = true;
        if (r->run)
            run_cancel(r->run);
        r = m->requests; /* the list may have changed, and the post may be over */
    }
}

static bool check_type(struct api_call *c)
{
    const char *type = http_request_header(&c->http->request, "Content-Type");
    struct err e = { 0 };
    size_t n = type ? strcspn(type, "; \t") : 0;
    if (n == 16 && strncasecmp(type, "application/json", n) == 0)
        return true;
    (void)!err_set(&e, ERR_MEDIA_TYPE, 0, "send 'Content-Type: application/json', not '%s'",
                   QUOTED(type ? type : ""));
    api_fail(c, &e, NULL);
    return false;
}

/* The session of a client of `belljar mcp`. False: the call was failed. */
static bool stdio_session(struct api_call *c, struct mcp *m, struct mcp_session **ret)
{
    const char *id = http_request_header(&c->http->request, stdio_header);
    struct err e = { 0 };
    *ret = id ? mcp_session_find(m, id, &c->who) : NULL;
    if (!id || *ret || mcp_session_new(m, id, &c->who, ret, &e) == 0)
        return true;
    api_fail(c, &e, NULL);
    return false;
}

static void take_messages(struct mcp *m, struct mcp_post *p, struct mcp_session *session,
                          json_t *body)
{
    size_t n = json_array_size(body);
    if (!json_is_array(body)) {
        take_message(m, p, session, body);
        return;
    }
    if (n < 1 || n > MCP_BATCH_MAX) {
        char text[100];
        (void)snprintf(text, sizeof text, "a batch has %zu messages: 1 to %d are accepted", n,
                       MCP_BATCH_MAX);
        refuse(p, 400, NULL, MCP_INVALID_REQUEST, text);
        return;
    }
    p->is_batch = true;
    for (size_t i = 0; i < n; i++)
        take_message(m, p, session, json_array_get(body, i));
}

static void post_mcp(struct api_call *c)
{
    struct err e = { 0 };
    char field[8];
    struct mcp *m = mcp_of(c->api);
    struct mcp_session *session = NULL;
    struct mcp_post *p = m ? calloc(1, sizeof *p) : NULL;
    if (!p) {
        api_fail_no_memory(c);
        return;
    }
    if (!check_type(c) || !stdio_session(c, m, &session)) {
        free(p);
        return;
    }
    *p = (struct mcp_post){ .call = c, .pending = 1 };
    p->is_stdio = http_request_header(&c->http->request, stdio_header);
    c->user = p;
    c->on_gone = c->on_half_close = on_gone;
    mcp_sessions_sweep(m);
    if (!c->prepared && prepare_post(c, c->api, &c->http->request.body, field, sizeof field, &e))
        refuse(p, 400, NULL, MCP_PARSE_ERROR, ERR_SHOWN(&e));
    buf_done(&c->http->request.body);
    json_auto_t *body = c->prepared;
    c->prepared = NULL;
    if (body)
        take_messages(m, p, session, body);
    if (p->is_stdio && p->pending > 1) /* its head tells the bridge that the request was read */
        post_begin_stream(p);
    mcp_post_release(p);
}

static void delete_mcp(struct api_call *c)
{
    struct err e = { 0 };
    struct mcp *m = mcp_of(c->api);
    const char *id = http_request_header(&c->http->request, "Mcp-Session-Id");
    if (!id)
        id = http_request_header(&c->http->request, stdio_header);
    struct mcp_session *s = m && id ? mcp_session_find(m, id, &c->who) : NULL;
    if (!s) {
        (void)!err_set(&e, id ? ERR_NOT_FOUND : ERR_BAD_REQUEST, 0,
                       id ? "there is no session '%s' of this caller, or it expired"
                          : "DELETE /mcp needs the header Mcp-Session-Id%s",
                       id ? QUOTED(id) : "");
        api_fail(c, &e, NULL);
        return;
    }
    mcp_session_end(m, s);
    api_reply_text(c, 204, "application/json", "", 0);
}

static const struct api_field message_reply[] = {
    { "jsonrpc", FIELD_STRING, ALWAYS, .help = "2.0" },
    { "id", FIELD_ANY, .help = "of the request" },
    { "result", FIELD_ANY, .help = "of the method" },
    { "error", FIELD_ANY, .help = "code, message and data" },
    { .schema = "McpMessage" },
};

static const struct api_route mcp_routes[] = {
    { METHOD_POST, "/mcp", SCOPE_RUN, STYLE_MCP, .flags = ROUTE_RAW, .prepare = prepare_post,
      .handle = post_mcp, .summary = "A message of the Model Context Protocol",
      .replies = REPLIES({ 200, .fields = message_reply, .help = "the answer, or events" },
                         { 200, .fields = message_reply, .content_type = "text/event-stream" },
                         { 202, .help = "a notification, or an answer of the client" }) },
    { METHOD_DELETE, "/mcp", SCOPE_RUN, STYLE_MCP, .handle = delete_mcp,
      .summary = "End a session of MCP",
      .replies = REPLIES({ 204, .help = "it and its sandboxes are over" }) },
    { 0 },
};

static const struct api_route *const tables[] = { mcp_routes, NULL };
static const char *const paths[] = { "/mcp", NULL };
const struct api_door mcp_door = {
    .name = "mcp",
    .setting = offsetof(struct settings, doors_mcp),
    .style = STYLE_MCP,
    .paths = paths,
    .tables = tables,
};
