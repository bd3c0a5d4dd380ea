/* Resources: runs with their outputs, sessions with their files, artifacts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/doors/mcp/mcp.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"

enum { PAGE = 50 };
static const char scheme[] = "belljar://";

/* A template, the same as a path, and its content. */
static const struct row {
    const char *pattern, *path, *name, *type, *help;
} rows[] = {
    { "languages", "/v1/languages", "languages", "application/json", "the languages" },
    { "runs/{id}", "/v1/runs/", "run", "application/json", "a run: its state, or its result" },
    { "runs/{id}/stdout", "/v1/runs/", "stdout", NULL, "the whole stdout of a run" },
    { "runs/{id}/stderr", "/v1/runs/", "stderr", NULL, "the whole stderr of a run" },
    { "runs/{id}/files/{+name}", "/v1/runs/", "output", NULL, "an output of a run" },
    { "runs/{id}/request", "/v1/runs/", "request", "application/json", "the program of a run" },
    { "sessions/{id}/notebook", "/v1/sessions/", "notebook", "application/x-ipynb+json",
      "the cells of a session as a Jupyter notebook" },
    { "sessions/{id}/files", "/v1/sessions/", "files", "application/json",
      "the files of a session" },
    { "sessions/{id}/files/{+path}", "/v1/sessions/", "file", NULL, "a file of a session" },
    { "artifacts/{id}", "/api/artifacts/", "artifact", "application/json",
      "an artifact and its versions" },
};

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
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!strchr(rows[i].pattern, '{'))
            continue;
        (void)json_array_append_new(list, json_pack("{s:o, s:s, s:s, s:s*}", "uriTemplate",
                                                    json_sprintf("%s%s", scheme, rows[i].pattern),
                                                    "name", rows[i].name, "description",
                                                    rows[i].help, "mimeType", rows[i].type));
    }
    mcp_answer_list(r, json_pack("{s:o}", "resourceTemplates", list), 3600000);
}

/* ---- one resource ---- */

/* Whether the text has the form of the pattern: {id} is a part without '/', {+name} is the rest. */
static bool matches(const char *pattern, const char *text)
{
    while (*pattern && *pattern != '{') {
        if (*pattern++ != *text++)
            return false;
    }
    if (!*pattern)
        return *text == '\0';
    if (pattern[1] == '+')
        return *text != '\0';
    size_t n = strcspn(text, "/");
    return n > 0 && matches(strchr(pattern, '}') + 1, text + n);
}

static const struct row *find_row(const char *rest)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (matches(rows[i].pattern, rest))
            return &rows[i];
    return NULL;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* In place; false for a bad escape, or an escaped NUL. */
static bool unescape(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        if (*at != '%') {
            *to++ = *at;
            continue;
        }
        int high = hex_digit(at[1]), low = high < 0 ? -1 : hex_digit(at[2]);
        if (low < 0 || high * 16 + low == 0)
            return false;
        *to++ = (char)(high * 16 + low);
        at += 2;
    }
    *to = '\0';
    return true;
}

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
    const struct row *row = find_row(uri + sizeof scheme - 1);
    if (r->over || (a->refusal && a->status >= 500))
        refuse(r, a);
    else if (a->refusal || !(a->json || a->bytes))
        not_found(r, a->refusal ? ERR_SHOWN(a->refusal) : NULL);
    else
        mcp_answer_list(r, json_pack("{s:[o]}", "contents", contents_of(uri, row->type, a)), 0);
    mcp_release(r);
}

void mcp_resources_read(struct mcp_request *r)
{
    const char *uri = mcp_text(r->params, "uri");
    const struct row *row = NULL;
    autofree char *rest = NULL;
    if (uri && strncmp(uri, scheme, sizeof scheme - 1) == 0) {
        rest = strdup(uri + sizeof scheme - 1);
        row = rest ? find_row(rest) : NULL;
    }
    if (!row || !unescape(rest)) {
        not_found(r, "resources/templates/list has the forms");
        return;
    }
    const char *slash = strchr(rest, '/');
    scoped(buf) path = { 0 };
    struct err e;
    if (buf_addf(&path, &e, "%s%s", row->path, slash ? slash + 1 : "")) {
        mcp_error(r, 500, MCP_INTERNAL, "no memory for a resource");
        return;
    }
    mcp_call(r, METHOD_GET, buf_str(&path), NULL, NULL, on_content);
}
