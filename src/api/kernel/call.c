/* From a request to its handler. Every check that does not need the body happens before the body is
 * read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "api/kernel/auth.h"
#include "api/kernel/core.h"
#include "api/kernel/guard.h"
#include "api/kernel/json_in.h"
#include "api/kernel/query_fields.h"
#include "api/kernel/reply.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "session/session.h"

/* For a route without a body: some clients send "{}" anyway. */
enum { IGNORED_BODY_MAX = 64 << 10 };

static const char *listener_of(const struct api *api, const struct http_request *q)
{
    return q->listener < SETTINGS_LISTEN_MAX ? api->listeners[q->listener] : "";
}

/* A person who follows a link on another site to the console. The answer does not depend on the
 * caller (CONSOLE-1), and no page may put it into a frame, so the other site learns nothing. */
static bool is_visit(const struct http_request *q)
{
    const char *mode = http_request_header(q, "Sec-Fetch-Mode");
    const char *dest = http_request_header(q, "Sec-Fetch-Dest");
    bool ours = strcmp(q->path, "/") == 0 || strcmp(q->path, "/console") == 0 ||
                strcmp(q->path, "/console/") == 0;
    return ours && q->method == METHOD_GET && mode && strcasecmp(mode, "navigate") == 0 && dest &&
           strcasecmp(dest, "document") == 0;
}

static int guard(const struct api *api, struct http_exchange *x, struct err *e)
{
    const struct http_request *q = &x->request;
    const struct guard_facts facts = {
        .is_unix = q->is_unix,
        .listener = listener_of(api, q),
        .host = http_request_header(q, "Host"),
        .origin = http_request_header(q, "Origin"),
        .fetch_site = is_visit(q) ? NULL : http_request_header(q, "Sec-Fetch-Site"),
        .hosts = api->settings->http_hosts,
        .origins = api->settings->http_origins,
    };
    bool cross;
    if (guard_host(&facts, e) || guard_origin(&facts, &cross, e))
        return -1;
    if (cross) {
        http_answer_header(x, "Access-Control-Allow-Origin", facts.origin);
        http_answer_header(x, "Vary", "Origin");
    }
    return 0;
}

/* The route of a request, and the door that it is behind (NULL: none). A door that is off is an
 * error. */
static int find_route(const struct api *api, const struct http_request *q,
                      char params[API_PARAMS_MAX][API_PARAM_SIZE], const struct api_door **ret_door,
                      struct route_match *ret, struct err *e)
{
    const struct api_core *core = api->core;
    bool by_host;
    *ret_door = doors_find(core->doors, api->settings, q, &by_host);
    if (*ret_door)
        return doors_match(core->doors, *ret_door, api->settings, q, params, ret, e);
    *ret = router_match(core->router, q->method, q->path, params);
    return 0;
}

static enum error_style style_of(const struct api_door *door, const struct http_request *q)
{
    if (!door)
        return error_style_of(q->path);
    return door->style_at ? door->style_at(q->path) : door->style;
}

static const char *key_of(const struct api_door *door, const struct http_request *q, int scope)
{
    const char *key = http_request_header(q, "X-API-Key");
    if (!key && door && door->admin_key_header && scope == SCOPE_ADMIN)
        key = http_request_header(q, door->admin_key_header);
    return key || !door || !door->key_header ? key : http_request_header(q, door->key_header);
}

static int identify(struct api *api, const struct http_request *q, const struct api_door *door,
                    int scope, struct api_identity *ret, struct err *e)
{
    if (scope == SCOPE_NONE) {
        *ret = (struct api_identity){ .name = "anonymous" };
        return 0;
    }
    int known = door && door->identify ? door->identify(api, q, ret, e) : 0;
    if (known != 0)
        return known < 0 ? -1 : auth_allows(ret, scope, e);
    const struct auth_facts facts = {
        .is_unix = q->is_unix,
        .peer_uid = q->peer_uid,
        .our_uid = getuid(),
        .owner_uid = api->owner_uid,
        .listener = listener_of(api, q),
        .authorization = http_request_header(q, "Authorization"),
        .api_key = key_of(door, q, scope),
    };
    if (auth_identify(api->keys, &facts, ret, e))
        return -1;
    return auth_allows(ret, scope, e);
}

/* "application/json", with or without parameters. */
static int content_type_check(const struct http_request *q, struct err *e)
{
    static const char json[] = "application/json";
    const char *type = http_request_header(q, "Content-Type");
    if (!type)
        return err_set(e, ERR_MEDIA_TYPE, 0,
                       "the body has no Content-Type; send 'Content-Type: application/json'");
    size_t n = strcspn(type, "; \t");
    if (n == sizeof json - 1 && strncasecmp(type, json, n) == 0)
        return 0;
    return err_set(e, ERR_MEDIA_TYPE, 0,
                   "Content-Type '%s' is not accepted; send 'Content-Type: application/json'",
                   QUOTED(type));
}

/* The error for a request without a route. */
static int no_route(struct http_exchange *x, unsigned allowed, struct err *e)
{
    const struct http_request *q = &x->request;
    char quoted[96], allow[64];
    (void)text_quote(q->path, quoted, sizeof quoted);
    if (allowed == 0)
        return err_set(e, ERR_NOT_FOUND, 0,
                       "there is no path '%s'; GET /openapi.json lists all paths", quoted);
    http_answer_header(x, "Allow", router_allow(allowed, allow, sizeof allow));
    return err_set(e, ERR_METHOD, 0, "'%s' does not accept %s; it accepts %s", quoted,
                   http_method_name(q->method), allow);
}

/* An escaped slash belongs to a name. Anywhere else it would let a path pass by the rules of a proxy
 * that looks at the path as it was sent. */
static int slashes_check(const struct http_request *q, const struct api_route *route, struct err *e)
{
    unsigned before_name = 0;
    const char *name = strstr(route->path, "...}");
    for (const char *at = route->path; *at; at++)
        before_name += *at == '/';
    if (q->plain_slashes == 0 || (name && q->plain_slashes >= before_name))
        return 0;
    return err_set(e, ERR_NOT_FOUND, 0,
                   "'%%2F' in this path is not accepted: only the name of a file may have it");
}

/* OPTIONS: the preflight of a browser, or a person. */
static int answer_options(struct http_exchange *x, unsigned allowed)
{
    char allow[64];
    (void)router_allow(allowed, allow, sizeof allow);
    http_answer_header(x, "Allow", allow);
    if (http_request_header(&x->request, "Origin")) { /* guard() let it pass */
        http_answer_header(x, "Access-Control-Allow-Methods", allow);
        http_answer_header(x, "Access-Control-Allow-Headers",
                           "Authorization, X-API-Key, Content-Type, Accept, Last-Event-ID");
        http_answer_header(x, "Access-Control-Max-Age", "600");
    }
    http_answer(x, 204, "text/plain", "", 0);
    return -1;
}

static bool takes_json(const struct api_route *route)
{
    return route->body && !(route->flags & ROUTE_RAW);
}

static int body_expected(const struct http_request *q, const struct api_route *route, struct err *e)
{
    if (!takes_json(route))
        return 0;
    if (q->has_body)
        return content_type_check(q, e);
    if (route->flags & ROUTE_BODY_OPTIONAL)
        return 0;
    return err_set(e, ERR_BAD_REQUEST, 0, "%s %s needs a JSON object as its body",
                   http_method_name(route->method), route->path);
}

static int on_head(void *context, struct http_exchange *x, size_t *body_max)
{
    struct api *api = context;
    const struct http_request *q = &x->request;
    char params[API_PARAMS_MAX][API_PARAM_SIZE];
    bool by_host;
    const struct api_door *door = doors_find(api->core->doors, api->settings, q, &by_host);
    struct api_identity who;
    struct route_match m;
    struct err e = { 0 };
    /* Pages on the names of a door are no pages of ours: the guard is for our own name. */
    if ((!by_host && guard(api, x, &e)) || find_route(api, q, params, &door, &m, &e))
        return reply_refusal(api, x, style_of(door, q), &e);
    if (q->method == METHOD_OPTIONS && m.allowed != 0)
        return answer_options(x, m.allowed);
    if (!m.route) {
        (void)no_route(x, m.allowed, &e);
        return reply_refusal(api, x, style_of(door, q), &e);
    }
    if (slashes_check(q, m.route, &e) || identify(api, q, door, m.route->scope, &who, &e))
        return reply_refusal(api, x, m.route->style, &e);
    int in_file = m.route->receive ? m.route->receive(api, &who, &x->request, body_max, &e) : 0;
    if (in_file < 0 || (in_file == 0 && body_expected(q, m.route, &e)))
        return reply_refusal(api, x, m.route->style, &e);
    if (!m.route->body && !(m.route->flags & ROUTE_RAW) && *body_max > IGNORED_BODY_MAX)
        *body_max = IGNORED_BODY_MAX;
    return 0;
}

static void on_gone(struct http_exchange *x)
{
    struct api_call *c = x->user;
    c->http = NULL;
    if (c->on_gone)
        c->on_gone(c);
}

static void on_drain(struct http_exchange *x)
{
    struct api_call *c = x->user;
    if (c->on_drain)
        c->on_drain(c);
}

static void on_half_close(struct http_exchange *x)
{
    struct api_call *c = x->user;
    if (c->on_half_close)
        c->on_half_close(c);
}

/* A call with its route and identity. Both are looked up again after the body (API-7): the key may
 * have been removed meanwhile, and no state is kept for a body that never arrives. */
static struct api_call *call_new(struct api *api, struct http_exchange *x)
{
    const struct http_request *q = &x->request;
    bool by_host;
    const struct api_door *door = doors_find(api->core->doors, api->settings, q, &by_host);
    struct route_match m = { 0 };
    struct err e = { 0 };
    struct api_call *c = malloc(sizeof *c); /* not zeroed: params are large */
    if (!c) {
        (void)err_no_memory(&e, "a request");
        (void)reply_refusal(api, x, style_of(door, q), &e);
        return NULL;
    }
    for (int i = 0; i < API_PARAMS_MAX; i++)
        c->params[i][0] = '\0';
    int closed = find_route(api, q, c->params, &door, &m, &e);
    c->route = m.route;
    if (closed || !c->route || identify(api, q, door, c->route->scope, &c->who, &e)) {
        (void)(closed || c->route ? 0 : no_route(x, 0, &e));
        (void)reply_refusal(api, x, style_of(door, q), &e);
        free(c);
        return NULL;
    }
    c->api = api;
    c->http = x;
    c->inner = NULL;
    c->body = NULL;
    c->user = c->prepared = NULL;
    c->prepared_free = NULL;
    c->on_gone = c->on_drain = c->on_half_close = NULL;
    c->began_us = clock_us();
    x->user = c;
    x->on_gone = on_gone;
    x->on_drain = on_drain;
    x->on_half_close = on_half_close;
    return c;
}

static int body_read(const struct api_route *route, struct buf *bytes, json_t **ret,
                     char *ret_field, size_t field_size, struct err *e)
{
    bool lenient = route->flags & ROUTE_LENIENT;
    if (!takes_json(route))
        return 0;
    if (bytes->len == 0 && (route->flags & ROUTE_BODY_OPTIONAL))
        *ret = json_object();
    else if (json_in_object(buf_str(bytes), bytes->len, ret, e))
        return -1;
    buf_done(bytes); /* a run may take minutes: the request is not kept twice */
    if (!*ret)
        return err_no_memory(e, "a request");
    if (api_validate(*ret, route->body, lenient, ret_field, field_size, e))
        return -1;
    api_drop_nulls(*ret, route->body);
    return 0;
}

/* ---- the start of the service ---- */

struct early_call {
    struct sessions_wait wait;
    struct api_call *call;
};

static void on_sessions_known(struct sessions_wait *w, const struct err *e)
{
    struct early_call *early = (struct early_call *)w;
    struct api_call *c = early->call;
    struct err gone = { 0 };
    free(early);
    if (!e && !c->http) { /* a handler may need the request */
        (void)!err_set(&gone, ERR_UNAVAILABLE, 0, "the client left");
        e = &gone;
    }
    if (e)
        api_fail(c, e, NULL);
    else
        c->route->handle(c);
}

/* Sleeping sessions and templates of an earlier keeper are searched for while requests come. */
static bool must_wait(const struct api_call *c)
{
    return c->api->sessions && !sessions_are_known(c->api->sessions) &&
           (!(c->route->flags & ROUTE_EARLY) || json_object_get(c->body, "template"));
}

static void handle(struct api_call *c)
{
    struct err e = { 0 };
    if (!must_wait(c)) {
        c->route->handle(c);
        return;
    }
    struct early_call *early = calloc(1, sizeof *early);
    if (!early) {
        api_fail_no_memory(c);
        return;
    }
    *early = (struct early_call){ .wait.on_done = on_sessions_known, .call = c };
    if (sessions_await(c->api->sessions, &early->wait, &e)) {
        free(early);
        api_fail(c, &e, NULL);
    }
}

/* ---- large bodies ---- */

/* The thread has the call until it is done; meanwhile the loop only notes that a client left. */
struct large_body {
    uv_work_t work;
    struct api_call *call;
    struct buf bytes;
    struct settings settings; /* a copy: the loop may change them */
    int workspace_fd;
    struct err err;
    char field[128];
};

static void large_work(uv_work_t *work)
{
    struct large_body *l = work->data;
    struct api_call *c = l->call;
    const struct api here = { .settings = &l->settings,
                              .workspace_fd = l->workspace_fd,
                              .output_dir_fd = -1 };
    if (body_read(c->route, &l->bytes, &c->body, l->field, sizeof l->field, &l->err) == 0 &&
        c->route->prepare)
        (void)!c->route->prepare(c, &here, &l->bytes, l->field, sizeof l->field, &l->err);
}

static void large_done(uv_work_t *work, int status)
{
    struct large_body *l = work->data;
    struct api_call *c = l->call;
    (void)status;
    if (l->err.code == ERR_NONE && !c->http)
        (void)!err_set(&l->err, ERR_BAD_REQUEST, 0, "the client left");
    if (l->err.code != ERR_NONE)
        api_fail(c, &l->err, l->field[0] ? l->field : NULL);
    else
        handle(c);
    buf_done(&l->bytes);
    free(l);
}

/* False: it has to be done here. */
static bool large_begin(struct api_call *c)
{
    struct buf *bytes = &c->http->request.body;
    if (bytes->len <= API_LARGE_BYTES || !(takes_json(c->route) || c->route->prepare))
        return false;
    struct large_body *l = malloc(sizeof *l);
    if (!l)
        return false;
    *l = (struct large_body){ .call = c,
                              .bytes = *bytes,
                              .settings = *c->api->settings,
                              .workspace_fd = c->api->workspace_fd };
    l->work.data = l;
    if (uv_queue_work(c->api->loop, &l->work, large_work, large_done) != 0) {
        free(l);
        return false;
    }
    *bytes = (struct buf){ 0 };
    return true;
}

static void on_request(void *context, struct http_exchange *x)
{
    char field[128] = "";
    struct err e = { 0 };
    struct api_call *c = call_new(context, x);
    if (!c)
        return;
    const struct api_route *route = c->route;
    if ((x->request.query[0] != '\0' || route->query) && !(route->flags & ROUTE_ANY_QUERY) &&
        query_check(&x->request, route->query, route->flags & ROUTE_LENIENT, field, sizeof field,
                    &e)) {
        api_fail(c, &e, field);
        return;
    }
    if (x->request.body_in_file) {
        handle(c);
        return;
    }
    if (large_begin(c))
        return;
    if (body_read(route, &x->request.body, &c->body, field, sizeof field, &e))
        api_fail(c, &e, field);
    else
        handle(c);
}

static void on_refusal(void *context, const struct http_request *q, int status, const char *detail,
                       struct buf *body)
{
    static const struct {
        int status;
        const char *code;
    } rows[] = {
        { 408, "timeout" },
        { 413, "too_large" },
        { 431, "too_large" },
        { 503, "busy" },
    };
    const struct api *api = context;
    const char *code = "bad_request";
    char message[400], most[48];
    struct err ignored;
    (void)snprintf(most, sizeof most, " %llu bytes;",
                   (unsigned long long)api->settings->http_max_body);
    /* A route without a body has a different bound. */
    (void)snprintf(message, sizeof message, "%s%s", detail,
                   status == 413 && strstr(detail, most) ? " (the setting http.max_body)" : "");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].status == status)
            code = rows[i].code;
    bool by_host;
    const struct api_door *door = q ? doors_find(api->core->doors, api->settings, q, &by_host)
                                    : NULL;
    json_auto_t *error = error_json(door ? style_of(door, q) : STYLE_V1,
                                    &(struct error_parts){ code, status, message, NULL });
    char *text = error ? json_dumps(error, JSON_COMPACT) : NULL;
    if (text)
        (void)!buf_addf(body, &ignored, "%s\n", text);
    free(text);
}

const struct http_handlers api_http_handlers = {
    .head = on_head,
    .request = on_request,
    .refusal = on_refusal,
};
