#include "injector/rewrite.h"

#include "check.h"

#define VALUE "hidden"
static const struct rewrite_rule rules[] = { { "Authorization", "Bearer ", VALUE },
                                             { "X-Key", "", VALUE } };
#define ADDED "Authorization: Bearer hidden\r\nX-Key: hidden\r\n"

static struct rewrite make(void)
{
    return (struct rewrite){ .host = "api.example.org", .port = 443, .rules = rules, .n_rules = 2 };
}

/* The bytes that the server gets if the guest sends `in` in steps; NULL: it is refused. */
static const char *pass(const char *in, size_t step, struct buf *out, struct refusal *r)
{
    struct rewrite w = make();
    size_t n = strlen(in);
    int rc = 0;
    out->len = 0;
    for (size_t at = 0; at < n && rc == 0; at += step)
        rc = rewrite_feed(&w, in + at, n - at < step ? n - at : step, out, r);
    bool between = rewrite_is_between(&w);
    rewrite_done(&w);
    CHECK(rc || between);
    return rc ? NULL : buf_str(out);
}

static void check_passed(const char *in, const char *wanted)
{
    static const size_t steps[] = { 1, 2, 3, 7, 1000 };
    struct buf out = { 0 };
    struct refusal r;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const char *got = pass(in, steps[i], &out, &r);
        CHECK(got != NULL);
        /* pieces of a body become chunks of their own */
        if (steps[i] == 1000 || !strstr(in, "chunked"))
            CHECK_STR(got ? got : "", wanted);
    }
    buf_done(&out);
}

static void test_header_is_added_to_each_request(void)
{
    check_passed("GET /a?b=c HTTP/1.1\r\nHost: api.example.org\r\nAccept: */*\r\n\r\n"
                 "GET /2 HTTP/1.1\r\nhost: API.example.org:443\r\n\r\n",
                 "GET /a?b=c HTTP/1.1\r\nHost: api.example.org\r\n" ADDED "Accept: */*\r\n\r\n"
                 "GET /2 HTTP/1.1\r\nHost: api.example.org\r\n" ADDED "\r\n");
}

static void test_header_of_the_guest_is_replaced_in_every_spelling(void)
{
    check_passed("GET / HTTP/1.1\r\nHost: api.example.org\r\nAUTHORIZATION: mine\r\nx_key: mine\r\n"
                 "X-Key: mine\r\nX-Keys: 1\r\n\r\n",
                 "GET / HTTP/1.1\r\nHost: api.example.org\r\n" ADDED "X-Keys: 1\r\n\r\n");
}

static void test_headers_about_the_connection_do_not_get_through(void)
{
    check_passed("GET / HTTP/1.1\r\nHost: api.example.org\r\nConnection: Authorization, close\r\n"
                 "Upgrade: websocket\r\nKeep-Alive: 5\r\nTE: trailers\r\n\r\n",
                 "GET / HTTP/1.1\r\nHost: api.example.org\r\n" ADDED "Connection: close\r\n\r\n");
}

static void test_bodies_end_where_they_were_seen_to_end(void)
{
    check_passed("POST / HTTP/1.1\r\nHost: api.example.org\r\nContent-Length: 3\r\n\r\nabc"
                 "GET /2 HTTP/1.0\r\nHost: api.example.org\r\n\r\n",
                 "POST / HTTP/1.1\r\nHost: api.example.org\r\n" ADDED
                 "Content-Length: 3\r\n\r\nabcGET /2 HTTP/1.0\r\nHost: api.example.org\r\n" ADDED
                 "\r\n");
    check_passed("POST / HTTP/1.1\r\nHost: api.example.org\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "1;x=y\r\na\r\n2\r\nbc\r\n0\r\nAuthorization: mine\r\n\r\n"
                 "GET /2 HTTP/1.1\r\nHost: api.example.org\r\n\r\n",
                 "POST / HTTP/1.1\r\nHost: api.example.org\r\n" ADDED
                 "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
                 "GET /2 HTTP/1.1\r\nHost: api.example.org\r\n" ADDED "\r\n");
}

/* Each is refused in pieces of every size, and nothing of its head has left. */
static void test_ambiguous_and_misdirected_requests_are_refused(void)
{
    static const char *const heads[] = {
        "GET / HTTP/1.1\r\nHost: other.example.org\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example.org:80\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example.org.\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example.org@evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        ("GET / HTTP/1.1\r\nHost: api.example.org\r\nHost: api.example.org\r\n\r\n"),
        ("GET http://other.example.org/ HTTP/1.1\r\nHost: api.example.org\r\n\r\n"),
        "GET //x HTTP/1.1 \r\nHost: api.example.org\r\n\r\n",
        "GET /\tx HTTP/1.1\r\nHost: api.example.org\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: api.example.org\r\n\r\n",
        "TRACE / HTTP/1.1\r\nHost: api.example.org\r\n\r\n",
        "CONNECT api.example.org:443 HTTP/1.1\r\nHost: api.example.org\r\n\r\n",
        "GET / HTTP/2.0\r\nHost: api.example.org\r\n\r\n",
        "GET / HTTP/1.1\nHost: api.example.org\n\n",
        "GET / HTTP/1.1\r\nHost: api.example.org\nX: y\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example.org\r\nX: a\r\n b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example.org\r\nX : a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example.org\r\nX: a\rb\r\n\r\n",
        ("POST / HTTP/1.1\r\nHost: api.example.org\r\nContent-Length: 1\r\nContent-Length: "
         "1\r\n\r\na"),
        ("POST / HTTP/1.1\r\nHost: api.example.org\r\nContent-Length: +1\r\n\r\na"),
        ("POST / HTTP/1.1\r\nHost: api.example.org\r\nContent-Length: 1, 1\r\n\r\na"),
        ("POST / HTTP/1.1\r\nHost: api.example.org\r\nContent-Length: 5\r\nTransfer-Encoding: "
         "chunked\r\n\r\n0\r\n\r\n"),
        ("POST / HTTP/1.1\r\nHost: api.example.org\r\nTransfer-Encoding: gzip, "
         "chunked\r\n\r\n0\r\n\r\n"),
        ("POST / HTTP/1.1\r\nHost: api.example.org\r\nTransfer-Encoding: "
         "chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"),
        ("POST / HTTP/1.0\r\nHost: api.example.org\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    };
    struct buf out = { 0 };
    struct refusal r;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        for (size_t step = 1; step < 200; step += 9) {
            const char *got = pass(heads[i], step, &out, &r);
            if (got)
                (void)printf("passed: %s\n", heads[i]);
            CHECK(got == NULL);
            CHECK_INT(out.len, 0);
        }
    buf_done(&out);
}

static void test_malformed_chunks_end_the_connection(void)
{
    static const char head[] =
        "POST / HTTP/1.1\r\nHost: api.example.org\r\nTransfer-Encoding: chunked\r\n\r\n";
    static const char *const bodies[] = {
        "x\r\n", "-1\r\n", "1\na\n", "1\r\nab", "1\r\na\n0\r\n\r\n", "11111111111111111\r\n"
    };
    struct buf out = { 0 };
    struct refusal r;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char text[512];
        (void)snprintf(text, sizeof text, "%s%s", head, bodies[i]);
        CHECK(pass(text, 1, &out, &r) == NULL);
    }
    buf_done(&out);
}

static void test_other_port_is_in_the_host_header(void)
{
    struct rewrite w = make();
    struct buf out = { 0 };
    struct refusal r;
    w.port = 8443;
    CHECK_INT(rewrite_feed(&w, "GET / HTTP/1.0\r\n\r\n", 18, &out, &r), 0);
    CHECK(strstr(buf_str(&out), "Host: api.example.org:8443\r\n") != NULL);
    CHECK(rewrite_feed(&w, "GET / HTTP/1.1\r\nHost: api.example.org\r\n\r\n", 41, &out, &r) == -1);
    rewrite_done(&w);
    buf_done(&out);
}

static const struct check_test tests[] = {
    TEST(test_header_is_added_to_each_request),
    TEST(test_header_of_the_guest_is_replaced_in_every_spelling),
    TEST(test_headers_about_the_connection_do_not_get_through),
    TEST(test_bodies_end_where_they_were_seen_to_end),
    TEST(test_ambiguous_and_misdirected_requests_are_refused),
    TEST(test_malformed_chunks_end_the_connection),
    TEST(test_other_port_is_in_the_host_header),
};
CHECK_MAIN(tests)
