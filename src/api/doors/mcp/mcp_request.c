/* The life of a request, and the methods about the protocol itself. */
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/doors/mcp/mcp.h"
#include "api/doors/mcp/mcp_close.h"
#include "api/doors/mcp/mcp_door.h"
#include "base/auto.h"
#include "base/text.h"
#include "config.h"
#include "run/json.h"

const char *const mcp_revisions[] = { MCP_REVISION_TABLE(FIELD_WORD) NULL };
const char *const mcp_level_words[] = { "debug",    "info",  "notice",    "warning", "error",
                                        "critical", "alert", "emergency", NULL };

enum mcp_revision mcp_revision_find(const char *word)
{
    int i = 0;
    while (i < MCP_REVISIONS && strcmp(mcp_revisions[i], word) != 0)
        i++;
    return (enum mcp_revision)i;
}

struct mcp *mcp_of(struct api *api)
{
    if (api->mcp)
        return api->mcp;
    api->mcp = calloc(1, sizeof *api->mcp);
    if (!api->mcp)
        return NULL;
    api->mcp->api = api;
    randombytes_buf(api->mcp->secret, sizeof api->mcp->secret);
    return api->mcp;
}

void mcp_close(struct api *api)
{
    struct mcp *m = api->mcp;
    while (m && m->sessions) {
        struct mcp_session *s = m->sessions;
        m->sessions = s->next;
        free(s);
    }
    free(m);
    api->mcp = NULL;
}

/* ---- the life of a request ---- */

struct mcp_request *mcp_request_new(struct mcp *m, struct mcp_post *p, struct mcp_session *s,
                                    const struct mcp_client *client, json_t *message)
{
    unsigned of_owner = 0;
    for (const struct mcp_request *other = m->requests; other; other = other->next)
        of_owner += strcmp(mcp_who(other)->owner, p->call->who.owner) == 0;
    struct mcp_request *r = of_owner < MCP_REQUESTS_MAX ? calloc(1, sizeof *r) : NULL;
    if (!r)
        return NULL;
    *r = (struct mcp_request){ .next = m->requests,
                               .mcp = m,
                               .post = p,
                               .session = s,
                               .client = *client,
                               .id = json_incref(json_object_get(message, "id")),
                               .params = json_incref(json_object_get(message, "params")),
                               .references = 1,
                               .began_ms = uv_now(m->api->loop) };
    m->requests = r;
    p->pending++;
    if (s) {
        s->requests++;
        s->used_ms = r->began_ms;
    }
    return r;
}

void mcp_release(struct mcp_request *r)
{
    if (--r->references > 0)
        return;
    json_decref(r->id);
    json_decref(r->params);
    json_decref(r->first_page);
    free(r);
}

static void on_timer_closed(uv_handle_t *handle)
{
    mcp_release(handle->data);
}

void mcp_end(struct mcp_request *r)
{
    struct mcp_request **at = &r->mcp->requests;
    struct run *run = r->run;
    if (r->over)
        return;
    r->over = true;
    r->run = NULL;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    if (r->session)
        r->session->requests--;
    if (r->has_timer)
        uv_close((uv_handle_t *)&r->timer, on_timer_closed);
    if (run)
        run_watch_remove(run, &r->watch);
    mcp_post_release(r->post);
    r->post = NULL;
    mcp_release(r);
}

static void end_with(struct mcp_request *r, int status, json_t *message)
{
    mcp_post_answer(r->post, status, message);
    mcp_end(r);
}

void mcp_answer(struct mcp_request *r, json_t *result)
{
    if (r->over) {
        json_decref(result);
        return;
    }
    if (mcp_is_stateless(r)) {
        if (!json_object_get(result, "resultType"))
            json_put(result, "resultType", json_string("complete"));
        json_put(result, "_meta",
                 json_pack("{s:{s:s, s:s}}", "io.modelcontextprotocol/serverInfo", "name",
                           "belljar", "version", BELLJAR_VERSION));
    }
    end_with(r, 200, json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", r->id, "result", result));
}

void mcp_answer_list(struct mcp_request *r, json_t *result, unsigned ttl_ms)
{
    if (mcp_is_stateless(r)) {
        json_put(result, "ttlMs", json_integer(ttl_ms));
        json_put(result, "cacheScope", json_string("private"));
    }
    mcp_answer(r, result);
}

void mcp_error_data(struct mcp_request *r, int status, int code, json_t *data, const char *text)
{
    if (r->over) {
        json_decref(data);
        return;
    }
    scoped(buf) message = { 0 };
    struct err e;
    (void)!text_add_utf8(&message, text, strlen(text), &e);
    end_with(r, status,
             json_pack("{s:s, s:O, s:{s:i, s:s, s:o*}}", "jsonrpc", "2.0", "id", r->id, "error",
                       "code", code, "message", buf_str(&message), "data", data));
}

void mcp_error(struct mcp_request *r, int status, int code, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    mcp_error_data(r, status, code, NULL, text);
}

void mcp_call(struct mcp_request *r, enum http_method method, const char *path, const char *query,
              json_t *body, void (*on_answer)(void *, const struct inner_answer *))
{
    struct inner_request q = { .method = method,
                               .path = path,
                               .query = query,
                               .body = body,
                               .surface = "mcp",
                               .on_answer = on_answer,
                               .context = r };
    r->references++; /* on_answer() releases it */
    inner_call(r->mcp->api, mcp_who(r), &q);
}

/* ---- messages beside the answer ---- */

void mcp_notify(struct mcp_request *r, const char *method, json_t *params)
{
    if (r->over)
        json_decref(params);
    else
        mcp_post_send(r->post, json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", method,
                                         "params", params));
}

void mcp_log(struct mcp_request *r, enum mcp_level level, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    if (r->over || (int)level < r->client.log_level)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    text_end_whole(text);
    mcp_notify(r, "notifications/message",
               json_pack("{s:s, s:s, s:s}", "level", mcp_level_words[level], "logger", "belljar",
                         "data", text));
}

/* ---- methods ---- */

static const char instructions[] =
    "Belljar runs untrusted code in sealed jars. run_code runs one program; run_cell keeps "
    "variables and files from call to call, and shows plots and tables. There is no network unless "
    "`network` names hosts. A failed result begins with its diagnosis. Long output is cut in the "
    "middle; the linked resource has all of it.";

static json_t *capabilities(const struct mcp_request *r)
{
    json_t *o = json_pack("{s:{}, s:{}, s:{}, s:{}}", "tools", "resources", "prompts",
                          "completions");
    if (!mcp_is_stateless(r))
        json_put(o, "logging", json_object());
    return o;
}

/* The session began with this request. */
static bool begin_session(struct mcp_request *r)
{
    struct err e = { 0 };
    struct mcp_session *s = r->session;
    if (!s) {
        if (mcp_session_new(r->mcp, NULL, mcp_who(r), &s, &e)) {
            mcp_error(r, err_http_status(e.code), MCP_INTERNAL, "%s", ERR_SHOWN(&e));
            return false;
        }
        s->requests++;
        r->session = s;
        http_answer_header(r->post->call->http, "Mcp-Session-Id", s->id);
    }
    s->used_ms = r->began_ms;
    s->elicits = mcp_client_elicits(json_object_get(r->params, "capabilities"));
    return true;
}

static void initialize(struct mcp_request *r)
{
    const char *word = mcp_text(r->params, "protocolVersion");
    enum mcp_revision revision = word ? mcp_revision_find(word) : MCP_REVISIONS;
    if (!word) {
        mcp_error(r, 200, MCP_BAD_PARAMS, "initialize needs params.protocolVersion");
        return;
    }
    if (revision >= MCP_2026_07_28) /* which has no initialize */
        revision = MCP_2025_11_25;
    if (!begin_session(r))
        return;
    r->session->revision = revision;
    mcp_answer(r, json_pack("{s:s, s:o, s:{s:s, s:s, s:s}, s:s}", "protocolVersion",
                            mcp_revisions[revision], "capabilities", capabilities(r), "serverInfo",
                            "name", "belljar", "title", "Belljar", "version", BELLJAR_VERSION,
                            "instructions", instructions));
}

static void discover(struct mcp_request *r)
{
    json_t *list = json_array();
    for (int i = MCP_REVISIONS - 1; i >= 0; i--)
        (void)json_array_append_new(list, json_string(mcp_revisions[i]));
    mcp_answer_list(r,
                    json_pack("{s:o, s:o, s:s}", "supportedVersions", list, "capabilities",
                              capabilities(r), "instructions", instructions),
                    3600000);
}

static void ping(struct mcp_request *r)
{
    mcp_answer(r, json_object());
}

static void set_level(struct mcp_request *r)
{
    const char *word = mcp_text(r->params, "level");
    for (int i = 0; word && mcp_level_words[i]; i++) {
        if (strcmp(word, mcp_level_words[i]) != 0)
            continue;
        if (r->session)
            r->session->log_level = i;
        mcp_answer(r, json_object());
        return;
    }
    mcp_error(r, 200, MCP_BAD_PARAMS,
              "the level '%s' is not known: debug, info, notice, warning, error, critical, alert "
              "and emergency are",
              QUOTED(word ? word : ""));
}

const struct mcp_method mcp_methods[] = {
    { "initialize", initialize, true, false },
    { "ping", ping, true, false },
    { "server/discover", discover, false, true },
    { "logging/setLevel", set_level, true, false },
    { "tools/list", mcp_tools_list, true, true },
    { "tools/call", mcp_tools_call, true, true },
    { "resources/list", mcp_resources_list, true, true },
    { "resources/read", mcp_resources_read, true, true },
    { "resources/templates/list", mcp_templates_list, true, true },
    { "prompts/list", mcp_prompts_list, true, true },
    { "prompts/get", mcp_prompts_get, true, true },
    { "completion/complete", mcp_complete, true, true },
    { 0 },
};
