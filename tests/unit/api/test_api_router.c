#include "api/kernel/router.h"

#include <stdlib.h>

#include "api/kernel/query_fields.h"
#include "base/array.h"
#include "check.h"

static void handle(struct api_call *c)
{
    (void)c;
}
#define ROUTE(m, p) { .method = (m), .path = (p), .handle = handle }

static const struct api_route first[] = {
    ROUTE(METHOD_GET, "/"),
    ROUTE(METHOD_GET, "/v1/runs"),
    ROUTE(METHOD_POST, "/v1/runs"),
    ROUTE(METHOD_GET, "/v1/runs/{id}"),
    ROUTE(METHOD_DELETE, "/v1/runs/{id}"),
    ROUTE(METHOD_GET, "/v1/runs/{id}/files"),
    ROUTE(METHOD_GET, "/v1/runs/{id}/files/{name...}"),
    { 0 },
};
static const struct api_route second[] = {
    ROUTE(METHOD_GET, "/api/{kind}"),
    ROUTE(METHOD_GET, "/api/agent/{id}"),
    ROUTE(METHOD_GET, "/api/health"),
    ROUTE(METHOD_POST, "/api/agent/{id}"),
    { 0 },
};
static const struct api_route *const tables[] = { first, second, NULL };

static char params[API_PARAMS_MAX][API_PARAM_SIZE];

static struct route_match match(enum http_method method, const char *path)
{
    struct err e = { 0 };
    struct router *r = NULL;
    struct route_match m = { 0 };
    memset(params, 0, sizeof params);
    if (CHECK_INT(router_new(&r, tables, &e), 0))
        m = router_match(r, method, path, params);
    router_free(r);
    return m;
}

static void test_path_finds_its_route(void)
{
    static const struct {
        enum http_method method;
        const char *path, *route, *one, *two;
    } rows[] = {
        { METHOD_GET, "/", "/", "", "" },
        { METHOD_HEAD, "/", "/", "", "" },
        { METHOD_POST, "/v1/runs", "/v1/runs", "", "" },
        { METHOD_GET, "/v1/runs/r1", "/v1/runs/{id}", "r1", "" },
        { METHOD_DELETE, "/v1/runs/r1", "/v1/runs/{id}", "r1", "" },
        { METHOD_GET, "/v1/runs/r1/files", "/v1/runs/{id}/files", "r1", "" },
        { METHOD_GET, "/v1/runs/r1/files/a/b c.txt", "/v1/runs/{id}/files/{name...}", "r1",
          "a/b c.txt" },
        { METHOD_GET, "/api/health", "/api/health", "", "" },
        { METHOD_GET, "/api/agent", "/api/{kind}", "agent", "" },
        { METHOD_POST, "/api/agent/7", "/api/agent/{id}", "7", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct route_match m = match(rows[i].method, rows[i].path);
        if (!CHECK(m.route != NULL)) {
            printf("    %s\n", rows[i].path);
            continue;
        }
        CHECK_STR(m.route->path, rows[i].route);
        if (rows[i].one[0])
            CHECK_STR(params[0], rows[i].one);
        if (rows[i].two[0])
            CHECK_STR(params[1], rows[i].two);
    }
}

static void test_other_paths_have_no_route(void)
{
    static const char *const paths[] = {
        "",
        "/v1",
        "/v1/",
        "/v1/run",
        "/v1/runs/",
        "/V1/runs",
        "//v1/runs",
        "/v1/runs/r1/",
        "/v1/runs//files",
        "/v1/runs/r1/files/",
        "/v1/runs/r1/filesx",
        "/api/",
        "/api/agent/7/8",
    };
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct route_match m = match(METHOD_GET, paths[i]);
        if (!CHECK(!m.route && m.allowed == 0))
            printf("    %s\n", paths[i]);
    }
}

static void test_wrong_method_is_told_the_right_ones(void)
{
    char allow[64];
    struct route_match m = match(METHOD_PUT, "/v1/runs/r1");
    CHECK(m.route == NULL);
    CHECK_STR(router_allow(m.allowed, allow, sizeof allow), "GET, HEAD, DELETE, OPTIONS");
    m = match(METHOD_HEAD, "/v1/runs");
    CHECK(m.route && m.route->method == METHOD_GET);
}

static void test_parameter_is_bounded(void)
{
    char path[API_PARAM_SIZE + 32];
    for (size_t n = API_PARAM_SIZE - 1; n <= API_PARAM_SIZE; n++) {
        memset(path, 'a', sizeof path);
        memcpy(path, "/v1/runs/", 9);
        path[9 + n] = '\0';
        CHECK_INT(match(METHOD_GET, path).route != NULL, n < API_PARAM_SIZE);
    }
}

static void test_tables_that_contradict_themselves_are_refused(void)
{
    static const struct api_route twice[] = { ROUTE(METHOD_GET, "/a"),
                                              ROUTE(METHOD_GET, "/a"),
                                              { 0 } };
    static const struct api_route many[] = { ROUTE(METHOD_GET, "/{a}/{b}/{c}"), { 0 } };
    struct err e = { 0 };
    struct router *r = NULL;
    CHECK_INT(router_new(&r, (const struct api_route *const[]){ twice, NULL }, &e), -1);
    CHECK(strstr(e.text, "twice") != NULL);
    CHECK_INT(router_new(&r, (const struct api_route *const[]){ many, NULL }, &e), -1);
    CHECK(r == NULL);
}

static const struct check_test tests[] = {
    TEST(test_path_finds_its_route),
    TEST(test_other_paths_have_no_route),
    TEST(test_wrong_method_is_told_the_right_ones),
    TEST(test_parameter_is_bounded),
    TEST(test_tables_that_contradict_themselves_are_refused),
};
CHECK_MAIN(tests)
