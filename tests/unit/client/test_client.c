/* The client of the service, against a service whose answers the test writes, in pieces of any
 * size. */
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/array.h"
#include "check.h"
#include "client/client.h"
#include "place.h"

/* Both ends are in this process: bytes that fit in the buffer of a socket need no other thread. */
struct talk {
    struct client *c;
    int service;
};

static void talk_done(struct talk *t)
{
    client_free(t->c);
    fd_close(&t->service);
}

static struct talk talk_new(void)
{
    struct talk t = { NULL, -1 };
    struct err e = { 0 };
    int fds[2];
    if (CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0)) {
        t.service = fds[1];
        CHECK_INT(client_adopt(&t.c, fds[0], &e), 0);
    }
    return t;
}

static int ready(struct talk *t, struct err *e)
{
    short events = client_events(t->c, true);
    struct pollfd p = { .fd = events ? client_fd(t->c) : -1, .events = events };
    (void)poll(&p, 1, 0);
    return client_ready(t->c, p.revents, e);
}

/* Sends the request, and returns the bytes that the service reads. */
static const char *ask(struct talk *t, const struct client_request *q)
{
    static char seen[4096];
    struct err e = { 0 };
    CHECK_INT(client_send(t->c, q, &e), 0);
    CHECK_INT(ready(t, &e), 0);
    ssize_t n = recv(t->service, seen, sizeof seen - 1, MSG_DONTWAIT);
    seen[n > 0 ? n : 0] = '\0';
    return seen;
}

static const struct client_request get = { .method = "GET", .path = "/", .body_max = 1000 };

static void answer(struct talk *t, const char *text, size_t n)
{
    CHECK(fd_write_all(t->service, text, n) == 0);
}

/* Answers `piece` bytes at a time. Returns the result of the last step. */
static int answer_in_pieces(struct talk *t, const char *text, size_t piece, struct err *e)
{
    size_t n = strlen(text);
    for (size_t from = 0; from < n; from += piece) {
        answer(t, text + from, from + piece < n ? piece : n - from);
        if (ready(t, e))
            return -1;
    }
    return 0;
}

static bool body_is(const struct talk *t, const char *text)
{
    size_t n;
    const char *body = client_body(t->c, &n);
    return n == strlen(text) && memcmp(body, text, n) == 0;
}

static bool line_is(struct talk *t, const char *text)
{
    const char *line;
    size_t n;
    return client_line(t->c, &line, &n) && n == strlen(text) && memcmp(line, text, n) == 0;
}

static void test_request_is_as_http_wants_it(void)
{
    scoped(talk) t = talk_new();
    CHECK_STR(ask(&t, &(struct client_request){ .method = "POST",
                                                .path = "/v1/runs",
                                                .accept = "application/x-ndjson",
                                                .json = "{}",
                                                .json_len = 2 }),
              "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAccept: application/x-ndjson\r\n"
              "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
}

static void test_chunks_may_be_split_anywhere(void)
{
    static const char text[] = "HTTP/1.1 200 OK\r\nContent-Type: "
                               "application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
                               "5\r\none\nt\r\n1;ext=1\r\nw\r\nB\r\no\n\nthree\nfo\r\n0\r\n\r\n";
    for (size_t piece = 1; piece < sizeof text; piece++) {
        scoped(talk) t = talk_new();
        struct err e = { 0 };
        (void)ask(&t, &get);
        CHECK_INT(answer_in_pieces(&t, text, piece, &e), 0);
        const struct client_response *r = client_response(t.c);
        CHECK(r->status == 200 && r->began && r->complete);
        CHECK(line_is(&t, "one") && line_is(&t, "two") && line_is(&t, "") && line_is(&t, "three"));
        CHECK(!line_is(&t, "fo"));
        CHECK(body_is(&t, "fo")); /* no newline: no line, but not lost */
        CHECK(client_reusable(t.c));
    }
}

static void test_lines_are_given_as_they_come(void)
{
    scoped(talk) t = talk_new();
    struct err e = { 0 };
    (void)ask(&t, &get);
    CHECK_INT(answer_in_pieces(&t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\na\nb",
                               4096, &e),
              0);
    CHECK(line_is(&t, "a") && !line_is(&t, "b"));
    CHECK_INT(answer_in_pieces(&t, "\n\r\n", 1, &e), 0);
    CHECK(line_is(&t, "b"));
    CHECK(!client_response(t.c)->complete && !client_reusable(t.c));
}

static void test_connection_is_used_again(void)
{
    scoped(talk) t = talk_new();
    struct err e = { 0 };
    CHECK(client_reusable(t.c));
    for (int i = 0; i < 3; i++) {
        (void)ask(&t, &get);
        CHECK(!client_reusable(t.c));
        CHECK_INT(client_send(t.c, &get, &e), -1); /* one at a time */
        CHECK_INT(
            answer_in_pieces(&t, "HTTP/1.1 202 Accepted\r\nContent-Length: 3\r\n\r\nabc", 7, &e),
            0);
        CHECK_INT(client_response(t.c)->status, 202);
        CHECK(body_is(&t, "abc") && client_reusable(t.c));
    }
    (void)ask(&t, &get);
    CHECK_INT(answer_in_pieces(&t, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", 99, &e),
              0);
    CHECK(client_response(t.c)->complete && !client_reusable(t.c));
}

static void test_connection_that_was_closed_is_not_used_again(void)
{
    scoped(talk) t = talk_new();
    struct err e = { 0 };
    (void)ask(&t, &get);
    CHECK_INT(answer_in_pieces(&t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 99, &e), 0);
    CHECK(client_reusable(t.c));
    fd_close(&t.service);
    CHECK(!client_reusable(t.c));
}

static void test_bytes_nobody_asked_for_make_it_useless(void)
{
    static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 "
                               "OK\r\nContent-Length: 1\r\n\r\ny";
    for (size_t piece = 1; piece < sizeof text; piece++) {
        scoped(talk) t = talk_new();
        struct err e = { 0 };
        (void)ask(&t, &get);
        CHECK_INT(answer_in_pieces(&t, text, piece, &e), 0);
        CHECK(client_response(t.c)->complete && body_is(&t, "x") && !client_reusable(t.c));
    }
}

static void test_body_is_bounded_by_what_is_not_taken(void)
{
    static const struct {
        const char *head, *error;
    } rows[] = {
        { "HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n", "up to 1000 bytes" },
        { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFA0\r\n", "up to 1000 bytes" },
    };
    char bytes[4000];
    memset(bytes, 'x', sizeof bytes);
    for (size_t i = 0; i < 2; i++) {
        scoped(talk) t = talk_new();
        struct err e = { 0 };
        (void)ask(&t, &get);
        CHECK_INT(answer_in_pieces(&t, rows[i].head, 4096, &e), 0);
        for (int k = 0; k < 10; k++) {
            answer(&t, bytes, 100);
            CHECK_INT(ready(&t, &e), 0);
        }
        answer(&t, bytes, 1);
        CHECK_INT(ready(&t, &e), -1);
        CHECK_INT(e.code, ERR_TOO_LARGE);
        CHECK(strstr(e.text, rows[i].error) && !client_reusable(t.c));
    }
    bytes[99] = '\n';
    scoped(talk) t = talk_new();
    struct err e = { 0 };
    const char *line;
    size_t n;
    (void)ask(&t, &get);
    CHECK_INT(answer_in_pieces(&t, rows[0].head, 4096, &e), 0);
    for (int k = 0; k < 40; k++) { /* taken lines make room */
        answer(&t, bytes, 100);
        CHECK_INT(ready(&t, &e), 0);
        CHECK(client_line(t.c, &line, &n) && n == 99);
    }
    CHECK(client_response(t.c)->complete);
}

static void test_head_is_bounded(void)
{
    scoped(talk) t = talk_new();
    struct err e = { 0 };
    int rc = 0;
    (void)ask(&t, &get);
    answer(&t, "HTTP/1.1 200 OK\r\n", 17);
    for (int i = 0; i < 2 * CLIENT_HEAD_MAX && rc == 0; i += 17) {
        answer(&t, "X-Header: value\r\n", 17);
        rc = ready(&t, &e);
    }
    CHECK_INT(rc, -1);
    CHECK_INT(e.code, ERR_PROTOCOL);
}

static void test_what_is_not_a_response_is_refused(void)
{
    static const char *const bad[] = {
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 200 OK\r\n\r\nuntil close",
        "HTTP/1.0 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        for (size_t piece = 1; piece < 200; piece += 198) {
            scoped(talk) t = talk_new();
            struct err e = { 0 };
            (void)ask(&t, &get);
            if (!CHECK_INT(answer_in_pieces(&t, bad[i], piece, &e), -1))
                printf("    %s\n", bad[i]);
            CHECK_INT(e.code, ERR_PROTOCOL);
            CHECK(!client_response(t.c)->complete && !client_reusable(t.c));
        }
    }
}

static void test_end_of_the_connection_is_told_from_an_end_of_the_answer(void)
{
    static const struct {
        const char *text;
        bool began;
    } rows[] = {
        { "", false },
        { "H", true },
        { "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", true },
        { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", true },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scoped(talk) t = talk_new();
        struct err e = { 0 };
        (void)ask(&t, &get);
        CHECK_INT(answer_in_pieces(&t, rows[i].text, 4096, &e), 0);
        fd_close(&t.service);
        CHECK_INT(ready(&t, &e), -1);
        CHECK_INT(e.code, ERR_UNAVAILABLE);
        CHECK(client_response(t.c)->began == rows[i].began && !client_response(t.c)->complete);
    }
}

static void test_answer_before_the_request_was_read_is_heard(void)
{
    static const char text[] =
        "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    scoped(talk) t = talk_new();
    struct err e = { 0 };
    size_t large = 8 << 20;
    autofree char *body = calloc(1, large);
    struct client_request q = { .method = "POST", .path = "/", .json = body, .json_len = large };
    if (!CHECK(body != NULL))
        return;
    CHECK_INT(client_send(t.c, &q, &e), 0);
    CHECK_INT(ready(&t, &e), 0);
    CHECK(client_events(t.c, false) == POLLOUT); /* not all of it fitted */
    answer(&t, text, sizeof text - 1);
    fd_close(&t.service);
    for (int i = 0; i < 10 && !client_response(t.c)->complete; i++)
        CHECK_INT(ready(&t, &e), 0);
    CHECK_INT(client_response(t.c)->status, 413);
    CHECK(!client_reusable(t.c));
}

static void test_who_does_not_read_is_not_woken(void)
{
    scoped(talk) t = talk_new();
    (void)ask(&t, &get);
    answer(&t, "HTTP/1.1", 8);
    CHECK_INT(client_events(t.c, false), 0);
    CHECK_INT(client_events(t.c, true), POLLIN);
}

static void test_refusal_keeps_code_and_sentence(void)
{
    static const struct {
        const char *head, *body;
        enum err_code code;
        const char *text;
        unsigned retry_after_s;
    } rows[] = {
        { "503 Busy\r\nretry-AFTER: 7", "{\"error\":{\"code\":\"busy\",\"message\":\"too many\"}}",
          ERR_BUSY, "too many", 7 },
        { "400 Bad", "{\"error\":{\"code\":\"bad_request\",\"message\":\"a\\u001b[31mb\\nc\"}}",
          ERR_BAD_REQUEST, "a [31mb c", 0 },
        { "418 What\r\nRetry-After: soon", "no JSON", ERR_BAD_REQUEST,
          "the service answered with status 418", 0 },
        { "500 Oh\r\nRetry-After: 99999999999999999999", "[1]", ERR_UNAVAILABLE,
          "the service answered with status 500", 99999 },
        { "400 Bad", "{\"error\":{\"code\":\"usage\",\"message\":7}}", ERR_BAD_REQUEST,
          "the service answered with status 400", 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[400];
        scoped(talk) t = talk_new();
        struct err e = { 0 };
        (void)snprintf(text, sizeof text, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s",
                       rows[i].head, strlen(rows[i].body), rows[i].body);
        (void)ask(&t, &get);
        CHECK_INT(answer_in_pieces(&t, text, 3, &e), 0);
        CHECK_INT(client_refusal(t.c, &e), -1);
        CHECK_INT(e.code, rows[i].code);
        CHECK_STR(e.text, rows[i].text);
        unsigned got = client_response(t.c)->retry_after_s;
        CHECK(rows[i].retry_after_s == 99999 ? got >= 86400 : got == rows[i].retry_after_s);
    }
}

static void test_connect_tells_who_is_not_there(void)
{
    scoped(place) p = { 0 };
    struct err e = { 0 };
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct client *c = NULL;
    uid_t uid = (uid_t)-1;
    if (!place_init(&p))
        return;
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%.90s/s", p.path);
    CHECK_INT(client_connect(&c, address.sun_path, &e), -1);
    CHECK_INT(e.sys, ENOENT);
    autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK_INT(client_connect(&c, address.sun_path, &e), -1);
    CHECK_INT(e.sys, ECONNREFUSED);
    CHECK(c == NULL && listen(fd, 1) == 0);
    CHECK_INT(client_connect(&c, address.sun_path, &e), 0);
    CHECK_INT(client_peer(c, &uid, &e), 0);
    CHECK_INT(uid, geteuid());
    client_done(&c);
    CHECK(c == NULL);
    char longest[200];
    memset(longest, 'x', sizeof longest);
    longest[199] = '\0';
    CHECK_INT(client_connect(&c, longest, &e), -1);
}

static void test_names_are_escaped_for_a_path(void)
{
    scoped(buf) b = { 0 };
    struct err e = { 0 };
    CHECK_INT(client_add_escaped(&b, "a/b-c_d.e~f g?h#i%j\xC3\xBC\n", &e), 0);
    CHECK_STR(b.data, "a/b-c_d.e~f%20g%3Fh%23i%25j%C3%BC%0A");
}

static const struct check_test tests[] = {
    TEST(test_request_is_as_http_wants_it),
    TEST(test_chunks_may_be_split_anywhere),
    TEST(test_lines_are_given_as_they_come),
    TEST(test_connection_is_used_again),
    TEST(test_connection_that_was_closed_is_not_used_again),
    TEST(test_bytes_nobody_asked_for_make_it_useless),
    TEST(test_body_is_bounded_by_what_is_not_taken),
    TEST(test_head_is_bounded),
    TEST(test_what_is_not_a_response_is_refused),
    TEST(test_end_of_the_connection_is_told_from_an_end_of_the_answer),
    TEST(test_answer_before_the_request_was_read_is_heard),
    TEST(test_who_does_not_read_is_not_woken),
    TEST(test_refusal_keeps_code_and_sentence),
    TEST(test_connect_tells_who_is_not_there),
    TEST(test_names_are_escaped_for_a_path),
};
CHECK_MAIN(tests)
