/* Resources: runs with their outputs, sessions with their files, artifacts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/doors/mcp/mcp.h"
#include "api/doors/mcp/resource_uri.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"

enum { PAGE = 50 };
/* ---- lists ---- */

static json_t *resource(const char *uri, const char *name, const char *type, const char *help)
{
    return json_pack("{s:s, s:s, s:s*, s:s}", "uri", uri, "name", name, "mimeType", type,
                     "description", help);
}

static void add_sessions(json_t *list, const json_t *sessions)
{
    char uri[96], help[200];
    for (size_t i = 0; i < json_array_size(sessions); i++) {
        const json_t *s = json_array_get(sessions, i);
        mcp_uri(uri, sizeof uri, "sessions", mcp_text(s, "id"), "notebook", NULL);
        (void)snprintf(help, sizeof help, "session of %s, %s, %lld cells", mcp_text(s, "language"),
                       mcp_text(s, "state"),
                       (long long)json_integer_value(json_object_get(s, "cells")));
        (void)json_array_append_new(
            list, resource(uri, mcp_text(s, "id"), "application/x-ipynb+json", help));
    }
}

static void add_runs(json_t *list, const json_t *runs)
{
    char uri[96], help[200];
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *x = json_array_get(runs, i);
        const char *verdict = mcp_text(x, "verdict"), *created = mcp_text(x, "created_at");
        mcp_uri(uri, sizeof uri, "runs", mcp_text(x, "id"), NULL, NULL);
        (void)snprintf(help, sizeof help, "run of %s, %s, %s", mcp_text(x, "language"),
                       verdict ? verdict : mcp_text(x, "state"), created ? created : "");
        (void)json_array_append_new(list,
                                    resource(uri, mcp_text(x, "id"), "application/json", help));
    }
}

static void refuse(struct mcp_request *r, const struct inner_answer *a)
{
    bool callers = a->status < 500;
    mcp_error(r, mcp_is_stateless(r) && callers ? 400 : 200,
              callers ? MCP_BAD_PARAMS : MCP_INTERNAL, "%s",
              a->refusal ? ERR_SHOWN(a->refusal) : "the service gave no reason");
}

static void on_runs(void *context, const struct inner_answer *a)
{
    struct mcp_request *r = context;
    const char *next = mcp_text(a->json, "next_cursor");
    if (a->refusal || r->over) {
        refuse(r, a);
    } else {
        json_t *list = r->first_page ? json_incref(r->first_page) : json_array();
        add_runs(list, json_object_get(a->json, "runs"));
        json_t *o = json_pack("{s:o}", "resources", list);
        if (next)
            json_put(o, "nextCursor", json_string(next));
        mcp_answer_list(r, o, 0);
    }
    mcp_release(r);
}

static void ask_runs(struct mcp_request *r)
{
    char limit[16];
    scoped(buf) query = { 0 };
    struct err e;
    (void)snprintf(limit, sizeof limit, "%d", PAGE);
    (void)!(inner_query_add(&query, "limit", limit, &e) ||
            inner_query_add(&query, "cursor", mcp_text(r->params, "cursor"), &e));
    mcp_call(r, METHOD_GET, "/v1/runs", buf_str(&query), NULL, on_runs);
}

static void on_sessions(void *context, const struct inner_answer *a)
{
    struct mcp_request *r = context;
    if (!r->over) {
        r->first_page = json_array();
        (void)json_array_append_new(r->first_page,
                                    resource("belljar://languages", "languages", "application/json",
                                             "the languages that can run here"));
        add_sessions(r->first_page, json_object_get(a->json, "sessions"));
        ask_runs(r);
    }
    mcp_release(r);
}

void mcp_resources_list(struct mcp_request *r)
{
    if (mcp_text(r->params, "cursor"))
        ask_runs(r);
    else
        mcp_call(r, METHOD_GET, "/v1/sessions", NULL, NULL, on_sessions);
}

void mcp_templates_list(struct mcp_request *r)
{
    json_t *list = json_array();
    for (const struct mcp_resource_form *f = mcp_resource_forms; f->pattern; f++) {
        if (!strchr(f->pattern, '{'))
            continue;
        (void)json_array_append_new(list, json_pack("{s:o, s:s, s:s, s:s*}", "uriTemplate",
                                                    json_sprintf(MCP_SCHEME "%s", f->pattern),
                                                    "name", f->name, "description", f->help,
                                                    "mimeType", f->type));
    }
    mcp_answer_list(r, json_pack("{s:o}", "resourceTemplates", list), 3600000);
}

/* ---- one resource ---- */

static void not_found(struct mcp_request *r, const char *why)
{
    const char *uri = mcp_text(r->params, "uri");
    bool stateless = mcp_is_stateless(r);
    char text[300];
    (void)snprintf(text, sizeof text, "there is no resource '%s'%s%s", QUOTED(uri ? uri : ""),
                   why ? ": " : "", why ? why : "");
    mcp_error_data(r, stateless ? 400 : 200, stateless ? MCP_BAD_PARAMS : MCP_NO_RESOURCE,
                   json_pack("{s:s}", "uri", uri ? uri : ""), text);
}

static json_t *contents_of(const char *uri, const char *type, const struct inner_answer *a)
{
    scoped(buf) coded = { 0 };
    struct err e;
    autofree char *line = a->json ? json_dumps(a->json, JSON_COMPACT | JSON_DIGITS) : NULL;
    if (line)
        return json_pack("{s:s, s:s, s:s}", "uri", uri, "mimeType",
                         type ? type : "application/json", "text", line);
    if (text_is_utf8(a->bytes, a->n))
        return json_pack("{s:s, s:s, s:o}", "uri", uri, "mimeType", type ? type : "text/plain",
                         "text", json_stringn(a->bytes, a->n));
    if (text_add_base64(&coded, a->bytes, a->n, &e))
        return NULL;
    return json_pack("{s:s, s:s, s:s}", "uri", uri, "mimeType",
                     type ? type : "application/octet-stream", "blob", buf_str(&coded));
}

static void on_content(void *context, const struct inner_answer *a)
{
    struct mcp_request *r = context;
    const char *uri = mcp_text(r->params, "uri");
    scoped(buf) path = { 0 };
    const struct mcp_resource_form *form = mcp_resource_find(uri, &path);
    if (r->over || (a->refusal && a->status >= 500))
        refuse(r, a);
    else if (a->refusal || !(a->json || a->bytes))
        not_found(r, a->refusal ? ERR_SHOWN(a->refusal) : NULL);
    else
        mcp_answer_list(
            r, json_pack("{s:[o]}", "contents", contents_of(uri, form ? form->type : NULL, a)), 0);
    mcp_release(r);
}

void mcp_resources_read(struct mcp_request *r)
{
    const char *uri = mcp_text(r->params, "uri");
    scoped(buf) path = { 0 };
    if (!uri || !mcp_resource_find(uri, &path)) {
        not_found(r, "resources/templates/list has the forms");
        return;
    }
    mcp_call(r, METHOD_GET, buf_str(&path), NULL, NULL, on_content);
}
