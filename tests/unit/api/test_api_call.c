/* From a request to its answer, with an HTTP server that only records the calls. */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api/kernel/auth.h"
#include "api/kernel/core.h"
#include "api/kernel/storage.h"
#include "base/array.h"
#include "base/auto.h"
#include "check.h"
#include "session/session.h"

/* ---- the recorded calls ---- */
static struct {
    int answers, status;
    char headers[1024], body[2048];
    size_t streamed;
    bool ended;
} told;

void http_answer_header(struct http_exchange *x, const char *name, const char *value)
{
    size_t used = strlen(told.headers);
    (void)x;
    (void)snprintf(told.headers + used, sizeof told.headers - used, "%s: %s\n", name, value);
}

void http_answer(struct http_exchange *x, int status, const char *content_type, const void *bytes,
                 size_t n)
{
    (void)content_type;
    CHECK(!x->user && !x->on_gone && !x->on_drain && !x->on_half_close);
    told.answers++;
    told.status = status;
    (void)snprintf(told.body, sizeof told.body, "%.*s", (int)n, (const char *)bytes);
}

void http_answer_buf(struct http_exchange *x, int status, const char *content_type,
                     struct buf *body)
{
    http_answer(x, status, content_type, buf_str(body), body->len);
    buf_done(body);
}

void http_stream_begin(struct http_exchange *x, int status, const char *content_type)
{
    (void)x;
    (void)content_type;
    told.status = status;
}

void http_stream_write(struct http_exchange *x, const void *bytes, size_t n)
{
    (void)x;
    (void)bytes;
    told.streamed += n;
}

size_t http_stream_queued(const struct http_exchange *x)
{
    (void)x;
    return told.streamed;
}

void http_stream_cut(struct http_exchange *x)
{
    (void)x;
}

void http_stream_end(struct http_exchange *x)
{
    CHECK(!x->on_gone);
    told.ended = true;
}

unsigned engine_retry_after_s(const struct engine *engine)
{
    (void)engine;
    return 7;
}

/* ---- sessions that are searched for ---- */
struct sessions {
    bool are_known;
    struct sessions_wait *wait;
};

bool sessions_are_known(const struct sessions *all)
{
    return all->are_known;
}

int sessions_await(struct sessions *all, struct sessions_wait *w, struct err *e)
{
    (void)e;
    CHECK(!all->are_known && !all->wait);
    all->wait = w;
    return 0;
}

static void end_search(struct sessions *all, const struct err *e)
{
    struct sessions_wait *w = all->wait;
    all->wait = NULL;
    all->are_known = e == NULL;
    if (CHECK(w != NULL))
        w->on_done(w, e);
}

/* ---- routes ---- */
static struct api_call *kept;
static int gone, drained, half_closed;

static void note_gone(struct api_call *c)
{
    CHECK(c->http == NULL);
    gone++;
}
static void note_drain(struct api_call *c)
{
    (void)c;
    drained++;
}
static void note_half_close(struct api_call *c)
{
    (void)c;
    half_closed++;
}

static void keep(struct api_call *c)
{
    kept = c;
    c->on_gone = note_gone;
    c->on_drain = note_drain;
    c->on_half_close = note_half_close;
}

static void echo(struct api_call *c)
{
    CHECK(c->http->request.body.data == NULL); /* not held twice */
    api_reply(c, 200, json_incref(c->body));
}

static void raw(struct api_call *c)
{
    const struct buf *b = &c->http->request.body;
    api_reply_text(c, 200, "text/plain", buf_str(b), b->len);
}

static void full(struct api_call *c)
{
    struct err e;
    (void)!err_set(&e, ERR_BUSY, 0, "the queue is full");
    api_fail(c, &e, NULL);
}

static void name_me(struct api_call *c)
{
    api_reply(c, 200, json_pack("{s:s, s:s}", "who", c->who.name, "param", c->params[0]));
}

static const struct api_field fields[] = {
    { .name = "code", .type = FIELD_DATA, .required = true },
    { .name = "wait", .type = FIELD_BOOL },
    { .name = "template", .type = FIELD_STRING },
    { 0 },
};
static const struct api_field query[] = {
    { .name = "limit", .type = FIELD_INT, .min = 1, .max = 9 },
    { .name = "live", .type = FIELD_BOOL },
    { .name = "q", .type = FIELD_STRING },
    { 0 },
};
static const struct api_route routes[] = {
    { .method = METHOD_GET, .path = "/open", .scope = SCOPE_NONE, .handle = keep },
    { .method = METHOD_POST, .path = "/echo", .scope = SCOPE_RUN, .body = fields, .handle = echo },
    { .method = METHOD_POST,
      .path = "/api/echo",
      .scope = SCOPE_RUN,
      .style = STYLE_DETAIL,
      .body = fields,
      .flags = ROUTE_LENIENT,
      .handle = echo },
    { .method = METHOD_POST,
      .path = "/execute",
      .scope = SCOPE_RUN,
      .style = STYLE_NEMO,
      .flags = ROUTE_RAW,
      .handle = raw },
    { .method = METHOD_POST,
      .path = "/early",
      .scope = SCOPE_RUN,
      .body = fields,
      .flags = ROUTE_EARLY,
      .handle = echo },
    { .method = METHOD_GET, .path = "/full", .scope = SCOPE_RUN, .handle = full },
    { .method = METHOD_GET, .path = "/mine/{name}", .scope = SCOPE_ANY, .handle = name_me },
    { .method = METHOD_GET,
      .path = "/me/{name}",
      .scope = SCOPE_ADMIN,
      .query = query,
      .handle = name_me },
    { 0 },
};

/* A door with paths of its own, and with a path that the others have, too. */
static const struct api_route door_routes[] = {
    { .method = METHOD_GET,
      .path = "/door/who/{name}",
      .scope = SCOPE_RUN,
      .style = STYLE_PISTON,
      .handle = name_me },
    { .method = METHOD_GET,
      .path = "/full",
      .scope = SCOPE_RUN,
      .style = STYLE_PISTON,
      .handle = name_me },
    { 0 },
};
static const struct api_route *const door_tables[] = { door_routes, NULL };
static const char *const door_paths[] = { "/door", NULL };
static const struct api_door door = { .name = "piston",
                                      .setting = offsetof(struct settings, doors_piston),
                                      .style = STYLE_PISTON,
                                      .paths = door_paths,
                                      .header = "X-Door",
                                      .key_header = "X-Auth-Token",
                                      .tables = door_tables };
static const struct api_door *const doors[] = { &door, NULL };

/* ---- a request ---- */
struct ask {
    enum http_method method;
    const char *path, *query;
    const char *name, *value; /* a header besides Host */
    const char *type;         /* Content-Type */
    const char *body;
};

static struct settings settings = { .http_origins = "https://app.example" };
static struct key_row key = { .name = "runner", .scopes = SCOPE_BIT(SCOPE_RUN) };
static struct api_keys keys;
static struct api_core core;
static struct api api = {
    .settings = &settings, .core = &core, .keys = &keys, .listeners = { "::1" }
};

/* The exchange outlives the call, as the server's does. Returns the status, 0 while there is
 * none. */
static struct http_exchange exchange;
static int ask(const struct ask *a)
{
    static struct http_header headers[4];
    const struct api_route *const tables[] = { routes, NULL };
    struct err e = { 0 };
    size_t n = 0, body_max = 1 << 20;
    memset(&told, 0, sizeof told);
    if (!core.router && (router_new(&core.router, tables, &e) || doors_new(&core.doors, doors, &e)))
        return -1;
    headers[n++] = (struct http_header){ "Host", "localhost:1" };
    if (a->name)
        headers[n++] = (struct http_header){ a->name, a->value };
    if (a->type)
        headers[n++] = (struct http_header){ "Content-Type", a->type };
    exchange = (struct http_exchange){ .request = { .method = a->method,
                                                    .path = a->path,
                                                    .query = a->query ? a->query : "",
                                                    .headers = headers,
                                                    .n_headers = n,
                                                    .peer = "test",
                                                    .has_body = a->body != NULL } };
    if (api_http_handlers.head(&api, &exchange, &body_max)) {
        CHECK_INT(told.answers, 1);
        return told.status;
    }
    if (a->body)
        CHECK_INT(buf_add(&exchange.request.body, a->body, strlen(a->body), &e), 0);
    api_http_handlers.request(&api, &exchange);
    buf_done(&exchange.request.body);
    return told.status;
}

static const char json[] = "application/json; charset=utf-8";

static void test_what_can_be_refused_is_refused_before_the_body(void)
{
    static const struct {
        struct ask ask;
        int status;
        const char *says;
    } rows[] = {
        { { .path = "/nope" }, 404, "openapi.json" },
        { { .path = "/api/nope" }, 404, "{\"detail\":" },
        { { .path = "/execute/nope" }, 404, "{\"process_status\":\"error\",\"stdout\":\"\"" },
        { { .method = METHOD_PUT, .path = "/open" }, 405, "it accepts GET, HEAD, OPTIONS" },
        { { .path = "/open", .name = "Host", .value = "" }, 0, "" },
        { { .path = "/open", .name = "Origin", .value = "http://evil" }, 403, "http.origins" },
        { { .path = "/open", .name = "Sec-Fetch-Site", .value = "cross-site" }, 403, "cross-site" },
        { { .method = METHOD_POST, .path = "/echo" }, 400, "needs a JSON object" },
        { { .method = METHOD_POST, .path = "/echo", .body = "{}" }, 415, "no Content-Type" },
        { { .method = METHOD_POST, .path = "/echo", .body = "{}", .type = "text/plain" },
          415,
          "'text/plain'" },
        { { .method = METHOD_POST, .path = "/echo", .body = "{}", .type = "application/jsonx" },
          415,
          "jsonx" },
        { { .method = METHOD_POST, .path = "/api/echo", .body = "{}", .type = "x" },
          415,
          "detail" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!CHECK_INT(ask(&rows[i].ask), rows[i].status) ||
            !CHECK(strstr(told.body, rows[i].says) != NULL))
            printf("    %s: %s\n", rows[i].ask.path, told.body);
        if (told.answers == 0)
            api_reply(kept, 200, json_null());
    }
}

static void test_body_reaches_its_handler_validated(void)
{
    static const struct {
        const char *path, *body;
        int status;
        const char *says;
    } rows[] = {
        { "/echo", "{\"code\":\"x\",\"wait\":null}", 200, "{\"code\":\"x\"}\n" },
        { "/echo", "{\"code\":\"x\",\"wait\":1}", 400, "\"field\":\"wait\"" },
        { "/echo", "{\"code\":\"x\",\"wiat\":true}", 400, "did you mean 'wait'" },
        { "/echo", "{}", 400, "\"code\":\"bad_request\",\"message\":\"code is required" },
        { "/echo", "[", 400, "line 1" },
        { "/echo", "[]", 400, "must be a JSON object, not a list" },
        { "/api/echo", "{\"code\":\"x\",\"more\":1}", 200, "\"more\":1" },
        { "/api/echo", "{}", 400, "{\"detail\":\"code is required\",\"error\":\"bad_request\"" },
        { "/execute", "not json", 200, "not json" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct ask a = {
            .method = METHOD_POST, .path = rows[i].path, .type = json, .body = rows[i].body
        };
        if (!CHECK_INT(ask(&a), rows[i].status) || !CHECK(strstr(told.body, rows[i].says) != NULL))
            printf("    %s: %s\n", rows[i].body, told.body);
        CHECK_INT(told.answers, 1);
    }
}

static void test_call_waits_for_the_sessions_that_it_may_need(void)
{
    struct sessions sessions = { 0 };
    const struct ask plain = { METHOD_POST, "/early", .type = json, .body = "{\"code\":\"x\"}" },
                     named = { METHOD_POST, "/early", .type = json,
                               .body = "{\"code\":\"x\",\"template\":\"t\"}" },
                     any = { METHOD_POST, "/echo", .type = json, .body = "{\"code\":\"x\"}" };
    struct err stopping = { 0 };
    (void)!err_set(&stopping, ERR_UNAVAILABLE, 0, "the service is stopping");
    api.sessions = &sessions;
    CHECK_INT(ask(&plain), 200);
    CHECK(sessions.wait == NULL);
    CHECK_INT(ask(&named), 0);
    end_search(&sessions, NULL);
    CHECK_INT(told.status, 200);
    CHECK(strstr(told.body, "\"template\":\"t\"") != NULL);
    sessions.are_known = false;
    CHECK_INT(ask(&any), 0);
    end_search(&sessions, &stopping);
    CHECK_INT(told.status, 503);
    CHECK(strstr(told.body, "the service is stopping") != NULL);
    CHECK_INT(ask(&any), 0); /* and another search */
    end_search(&sessions, NULL);
    CHECK_INT(told.answers, 1);
    CHECK_INT(told.status, 200);
    CHECK_INT(ask(&any), 200); /* it is over */
    api.sessions = NULL;
}

static void test_query_is_checked_against_its_table(void)
{
    static const struct {
        const char *query;
        int status;
        const char *says;
    } rows[] = {
        { "", 200, "" },
        { "limit=9&live=true&q=a%20b", 200, "" },
        { "live=0&&q=", 200, "" },
        { "limit=10", 400, "from 1 to 9" },
        { "limit=+5", 400, "whole number" },
        { "limit=5x", 400, "not the text '5x'" },
        { "limit=99999999999999999999", 400, "whole number" },
        { "limit=1&limit=1", 400, "twice" },
        { "live=yes", 400, "true or false" },
        { "limt=1", 400, "did you mean 'limit'" },
        { "q=%FF", 400, "UTF-8" },
        { "q=%00", 400, "" },
        { "%FF=1", 400, "" },
        { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=1", 400,
          "69 bytes: up to 63 are accepted" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct ask a = { .path = "/me/x", .query = rows[i].query };
        if (!CHECK_INT(ask(&a), rows[i].status) || !CHECK(strstr(told.body, rows[i].says) != NULL))
            printf("    %s: %s\n", rows[i].query, told.body);
    }
    CHECK_INT(ask(&(struct ask){ .path = "/full", .query = "x=1" }), 400);
}

static void test_keys_and_scopes_are_asked_for_where_needed(void)
{
    const struct ask me = { .path = "/me/x%20y" };
    CHECK_INT(ask(&me), 200); /* loopback, and there is no key yet */
    CHECK(strstr(told.body, "\"who\":\"anonymous\"") && strstr(told.body, "x%20y"));
    key_hash("blj_run", key.hash);
    keys = (struct api_keys){ &key, 1, true };
    CHECK_INT(ask(&me), 401);
    CHECK(strstr(told.headers, "WWW-Authenticate: Bearer") != NULL);
    CHECK_INT(ask(&(struct ask){ .path = "/me/x", .name = "X-API-Key", .value = "blj_run" }), 403);
    CHECK(strstr(told.body, "'admin'") != NULL);
    CHECK_INT(
        ask(&(struct ask){ .path = "/full", .name = "Authorization", .value = "Bearer blj_run" }),
        503);
    CHECK_INT(ask(&(struct ask){ .path = "/open", .name = "X-API-Key", .value = "wrong" }), 0);
    CHECK_STR(kept->who.name, "anonymous");
    CHECK_INT(ask(&(struct ask){ .path = "/mine/x" }), 401);
    CHECK_INT(ask(&(struct ask){ .path = "/mine/x", .name = "X-API-Key", .value = "blj_run" }),
              200);
    CHECK(strstr(told.body, "key:runner") != NULL);
    api_reply_text(kept, 200, "text/plain", "", 0);
    keys = (struct api_keys){ 0 };
}

static void test_full_house_says_when_to_come_back(void)
{
    api.engine = (struct engine *)&api; /* only passed on */
    CHECK_INT(ask(&(struct ask){ .path = "/full" }), 503);
    CHECK_STR(told.headers, "Retry-After: 7\n");
    api.engine = NULL;
}

static void test_allowed_origin_is_named_and_preflights_are_answered(void)
{
    struct ask a = { .path = "/full", .name = "Origin", .value = "https://app.example" };
    CHECK_INT(ask(&a), 503);
    CHECK(strstr(told.headers, "Access-Control-Allow-Origin: https://app.example\nVary: Origin"));
    a.method = METHOD_OPTIONS;
    CHECK_INT(ask(&a), 204);
    CHECK(strstr(told.headers, "Access-Control-Allow-Methods: GET, HEAD, OPTIONS") != NULL);
    a.value = "http://localhost:1"; /* our own: nothing to allow */
    a.method = METHOD_GET;
    CHECK_INT(ask(&a), 503);
    CHECK(strstr(told.headers, "Access-Control") == NULL);
}

static void test_call_outlives_its_client(void)
{
    gone = drained = half_closed = 0;
    CHECK_INT(ask(&(struct ask){ .path = "/open" }), 0);
    exchange.on_drain(&exchange);
    exchange.on_half_close(&exchange);
    exchange.on_gone(&exchange);
    CHECK(gone == 1 && drained == 1 && half_closed == 1);
    struct err e = { 0 };
    char out[8];
    const char *value = "";
    CHECK_INT(api_query(kept, "x", out, sizeof out, &value, &e), 0);
    CHECK(value == NULL);
    api_stream_begin(kept, "text/event-stream");
    api_stream_write(kept, "x", 1);
    CHECK_INT(api_stream_queued(kept), 0);
    api_reply(kept, 200, json_pack("{s:s}", "a", "b")); /* frees both */
    CHECK(told.answers == 0 && told.streamed == 0);
}

static void test_stream_ends_once(void)
{
    CHECK_INT(ask(&(struct ask){ .path = "/open" }), 0);
    api_stream_begin(kept, "text/event-stream");
    api_stream_write(kept, "abc", 3);
    CHECK_INT(api_stream_queued(kept), 3);
    api_stream_end(kept);
    CHECK(told.ended && told.status == 200);
}

static void test_door_that_is_off_says_how_to_turn_it_on(void)
{
    static const struct ask asks[] = {
        { .path = "/door" },
        { .path = "/door/who/me" },
        { .path = "/door/nothing" },
        { .path = "/full", .name = "X-Door", .value = "1" },
        { .path = "/door/who/me", .method = METHOD_DELETE },
    };
    settings.doors_piston = false;
    for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
        CHECK_INT(ask(&asks[i]), 404);
        CHECK(strstr(told.body, "{\"message\":\"the door 'piston' is off: 'doors.piston = on'"));
    }
    CHECK_INT(ask(&(struct ask){ .path = "/doorway" }), 404); /* another path */
    CHECK(strstr(told.body, "there is no path '/doorway'"));
}

static void test_door_has_its_own_routes_errors_and_key(void)
{
    settings.doors_piston = true;
    CHECK_INT(ask(&(struct ask){ .path = "/door/who/me" }), 200);
    CHECK_STR(told.body, "{\"who\":\"anonymous\",\"param\":\"me\"}\n");
    CHECK_INT(ask(&(struct ask){ .path = "/full", .name = "X-Door", .value = "1" }), 200);
    CHECK_INT(ask(&(struct ask){ .path = "/full" }), 503);
    CHECK_INT(ask(&(struct ask){ .path = "/echo", .name = "X-Door", .value = "1" }), 404);
    CHECK(strncmp(told.body, "{\"message\":", 11) == 0);
    CHECK_INT(ask(&(struct ask){ .path = "/door/who/me", .method = METHOD_POST }), 405);
    CHECK(strncmp(told.body, "{\"message\":", 11) == 0);

    keys = (struct api_keys){ &key, 1, true };
    key_hash("secret", key.hash);
    CHECK_INT(ask(&(struct ask){ .path = "/door/who/me" }), 401);
    CHECK_INT(
        ask(&(struct ask){ .path = "/door/who/me", .name = "X-Auth-Token", .value = "secret" }),
        200);
    CHECK_STR(told.body, "{\"who\":\"key:runner\",\"param\":\"me\"}\n");
    CHECK_INT(ask(&(struct ask){ .path = "/mine/x", .name = "X-Auth-Token", .value = "secret" }),
              401);
    keys = (struct api_keys){ 0 };
    settings.doors_piston = false;
}

static void test_refusals_of_the_server_look_like_ours(void)
{
    scoped(buf) body = { 0 };
    api_http_handlers.refusal(&api, NULL, 413, "the body is too \"large\"", &body);
    CHECK_STR(buf_str(&body), "{\"error\":{\"code\":\"too_large\",\"message\":\"the body is too "
                              "\\\"large\\\"\",\"field\":null}}\n");
    body.len = 0;
    const struct http_request behind_a_door = { .path = "/door/who/me" };
    api_http_handlers.refusal(&api, &behind_a_door, 413, "too large", &body);
    CHECK_STR(buf_str(&body), "{\"message\":\"too large\"}\n");
    router_free(core.router); /* the last test */
    doors_free(core.doors);
    core.router = NULL;
    core.doors = NULL;
}

static void test_few_descriptors_are_told(void)
{
    struct rlimit before, few;
    struct err e = { 0 };
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    int lowest = dup(2);
    CHECK(lowest >= 0 && close(lowest) == 0);
    few = before;
    few.rlim_cur = (rlim_t)lowest + 65;
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    CHECK_INT(storage_check_open_files(&e), 0);
    static const rlim_t left[] = { 64, 32, 0 };
    for (size_t i = 0; i < ARRAY_LEN(left); i++) {
        few.rlim_cur = (rlim_t)lowest + left[i];
        CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
        CHECK_INT(storage_check_open_files(&e), -1);
        CHECK(strstr(e.text, "descriptors are free: raise the hard limit of open files") != NULL);
    }
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
}

static const struct check_test tests[] = {
    TEST(test_few_descriptors_are_told),
    TEST(test_what_can_be_refused_is_refused_before_the_body),
    TEST(test_body_reaches_its_handler_validated),
    TEST(test_call_waits_for_the_sessions_that_it_may_need),
    TEST(test_query_is_checked_against_its_table),
    TEST(test_keys_and_scopes_are_asked_for_where_needed),
    TEST(test_full_house_says_when_to_come_back),
    TEST(test_allowed_origin_is_named_and_preflights_are_answered),
    TEST(test_call_outlives_its_client),
    TEST(test_stream_ends_once),
    TEST(test_door_that_is_off_says_how_to_turn_it_on),
    TEST(test_door_has_its_own_routes_errors_and_key),
    TEST(test_refusals_of_the_server_look_like_ours),
};
CHECK_MAIN(tests)
