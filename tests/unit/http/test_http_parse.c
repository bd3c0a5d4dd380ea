#include "base/array.h"
#include "check.h"
#include "http/http.h"
#include "http/parse.h"

static void test_a_value_of_the_query_is_decoded(void)
{
    struct http_request q = { .query = "limit=5&na%me=x&cursor=a%20b+c&flag&empty=&limit=6" };
    struct err e = { 0 };
    char out[16];
    const char *value = NULL;
    CHECK_INT(http_query_get(&q, "limit", out, sizeof out, &value, &e), 0);
    CHECK_STR(value, "5");
    CHECK_INT(http_query_get(&q, "cursor", out, sizeof out, &value, &e), 0);
    CHECK_STR(value, "a b c");
    CHECK_INT(http_query_get(&q, "flag", out, sizeof out, &value, &e), 0);
    CHECK_STR(value, "");
    CHECK_INT(http_query_get(&q, "empty", out, sizeof out, &value, &e), 0);
    CHECK_STR(value, "");
    CHECK_INT(http_query_get(&q, "lim", out, sizeof out, &value, &e), 0);
    CHECK(value == NULL);
    q.query = "";
    CHECK_INT(http_query_get(&q, "limit", out, sizeof out, &value, &e), 0);
    CHECK(value == NULL);
}

static void test_a_bad_value_of_the_query_is_named(void)
{
    static const char *const bad[] = { "a=%", "a=%4", "a=%zz", "a=%00", "a=0123456789abcdef" };
    struct err e = { 0 };
    char out[16];
    const char *value = "untouched";
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct http_request q = { .query = bad[i] };
        CHECK_INT(http_query_get(&q, "a", out, sizeof out, &value, &e), -1);
        CHECK(strstr(e.text, "'a'") != NULL);
        CHECK_STR(value, "untouched");
    }
}

static void test_headers_are_cut_where_they_stand(void)
{
    static const char bytes[] =
        "GET /a%2Fb?x=%zz HTTP/1.1\r\nHost: h\r\nX-Empty:\r\nX-Spaces: \t \r\n"
        "accept:  text/html, \t*/* \t\r\nX-Colons: a:b: c\r\n\r\n";
    struct http_limits l = { .head_bytes = 1000, .headers = 10 };
    struct head_scan s = { 0 };
    struct http_head h = { 0 };
    struct http_request q = { 0 };
    struct refusal r;
    CHECK_INT(head_scan(&s, bytes, sizeof bytes - 1, &l, &r), 1);
    CHECK_INT(s.at, sizeof bytes - 1);
    CHECK_INT(head_parse(&h, bytes, s.at, s.lines, &q, &r), 0);
    CHECK_STR(q.target, "/a%2Fb?x=%zz");
    CHECK_STR(q.path, "/a/b");
    CHECK_STR(q.query, "x=%zz");
    CHECK_INT(q.n_headers, 5);
    CHECK_STR(http_request_header(&q, "x-empty"), "");
    CHECK_STR(http_request_header(&q, "X-SPACES"), "");
    CHECK_STR(http_request_header(&q, "Accept"), "text/html, \t*/*");
    CHECK_STR(http_request_header(&q, "X-Colons"), "a:b: c");
    CHECK(http_request_header(&q, "X-None") == NULL);
    CHECK(head_keeps_alive(&h) && !h.chunked && h.length == 0);
    head_done(&h);
}

static void test_every_method_has_a_name(void)
{
    static const char *const names[] = { "GET",   "HEAD",   "POST",    "PUT",
                                         "PATCH", "DELETE", "OPTIONS", "OTHER" };
    for (int m = METHOD_GET; m <= METHOD_OTHER; m++)
        CHECK_STR(http_method_name((enum http_method)m), names[m]);
}

static const struct check_test tests[] = {
    TEST(test_a_value_of_the_query_is_decoded),
    TEST(test_a_bad_value_of_the_query_is_named),
    TEST(test_headers_are_cut_where_they_stand),
    TEST(test_every_method_has_a_name),
};
CHECK_MAIN(tests)
