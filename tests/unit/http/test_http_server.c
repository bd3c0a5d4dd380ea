#include "http_place.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: here\r\n\r\n"

static void test_a_connection_serves_many_requests(void)
{
    struct place p;
    struct http_limits l = roomy();
    place_open(&p, &l, AF_INET);
    autoclose int fd = dial(&p);
    for (int i = 0; i < 3; i++) {
        say(&p, fd, GET("/a%20b?q=1"));
        const char *got = hear(&p, fd, "/a b");
        CHECK(strncmp(got, "HTTP/1.1 200 OK\r\nDate: ", 23) == 0);
        CHECK(strstr(got, "X-Every: yes\r\n") && strstr(got, "X-Good: 1\r\n"));
        CHECK(strstr(got, "Content-Length: 4\r\n\r\n/a b"));
        CHECK(!strstr(got, "X-Evil") && !strstr(got, "Connection:"));
    }
    CHECK_STR(p.last_query, "q=1");
    CHECK(strncmp(p.last_peer, "127.0.0.1:", 10) == 0);
    struct http_counts n = http_server_counts(p.server);
    CHECK(n.connections == 1 && n.accepted == 1 && n.requests == 3 && n.refused == 0);
    place_done(&p);
}

static void test_a_unix_socket_knows_who_asks(void)
{
    struct place p;
    struct http_limits l = roomy();
    char expected[32];
    place_open(&p, &l, AF_UNIX);
    autoclose int fd = dial(&p);
    say(&p, fd, GET("/x"));
    (void)hear(&p, fd, "\r\n\r\n/x");
    (void)snprintf(expected, sizeof expected, "unix:%u", getuid());
    CHECK_STR(p.last_peer, expected);
    place_done(&p);
}

static void test_pipelined_requests_are_answered_in_order(void)
{
    struct place p;
    struct http_limits l = roomy();
    place_open(&p, &l, AF_INET);
    autoclose int fd = dial(&p);
    say(&p, fd,
        GET("/1") GET("/late") GET("/2") "GET /3 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    (void)hear(&p, fd, "\r\n\r\n/1");
    AWAIT(&p, p.kept != NULL);
    CHECK_INT(p.requests, 2);
    http_answer(p.kept, 200, "text/plain", "slow", 4);
    CHECK_INT(p.requests, 2); /* the next is begun by the loop, not by the answer */
    const char *got = hear(&p, fd, NULL);
    const char *slow = strstr(got, "slow"), *two = strstr(got, "/2"), *three = strstr(got, "/3");
    CHECK(slow && two && three && slow < two && two < three);
    CHECK_INT(count_of(got, "HTTP/1.1 200"), 3);
    CHECK_INT(count_of(got, "Connection: close"), 1);
    place_done(&p);
}

static void test_a_thousand_pipelined_requests_need_no_stack(void)
{
    struct place p;
    struct http_limits l = roomy();
    scoped(buf) many = { 0 };
    struct err e;
    place_open(&p, &l, AF_INET);
    autoclose int fd = dial(&p);
    for (int i = 0; i < 5000; i++)
        CHECK_INT(buf_add(&many, GET("/x"), strlen(GET("/x")), &e), 0);
    CHECK(say_bytes(&p, fd, many.data, many.len));
    say(&p, fd, GET("/last"));
    CHECK_INT(count_of(hear(&p, fd, "/last"), "HTTP/1.1 200"), 5001);
    place_done(&p);
}

static void test_bodies_come_counted_or_in_chunks(void)
{
    struct place p;
    struct http_limits l = roomy();
    place_open(&p, &l, AF_INET);
    autoclose int fd = dial(&p);
    say(&p, fd, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello" GET("/next"));
    CHECK(strstr(hear(&p, fd, "\r\n\r\n/next"), "\r\n\r\nhello"));
    say(&p, fd,
        "\r\nPOST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n"
        "5\r\nhello\r\n00A;x=\"y\"\r\n, jar\r\n1!!\r\n0\r\nX-Sum: 1\r\n\r\n" GET("/next"));
    CHECK(strstr(hear(&p, fd, "\r\n\r\n/next"), "\r\n\r\nhello, jar\r\n1!!HTTP/1.1 200"));
    place_done(&p);
}

static void test_requests_may_come_byte_by_byte(void)
{
    static const char request[] =
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n" GET("/next");
    struct place p;
    struct http_limits l = roomy();
    place_open(&p, &l, AF_INET);
    autoclose int fd = dial(&p);
    for (size_t i = 0; i + 1 < sizeof request; i++)
        CHECK(say_bytes(&p, fd, request + i, 1));
    CHECK(strstr(hear(&p, fd, "\r\n\r\n/next"), "\r\n\r\nabcde"));
    CHECK_INT(p.requests, 2);
    place_done(&p);
}

static void test_a_large_body_arrives_whole(void)
{
    struct place p;
    struct http_limits l = roomy();
    place_open(&p, &l, AF_INET);
    autoclose int fd = dial(&p);
    static const char bytes[1 << 20];
    say(&p, fd, "POST /late HTTP/1.1\r\nHost: h\r\nContent-Length: 1048576\r\n\r\n");
    CHECK(say_bytes(&p, fd, bytes, sizeof bytes));
    AWAIT(&p, p.kept != NULL);
    CHECK_INT(p.last_body, 1 << 20);
    http_answer(p.kept, 200, NULL, NULL, 0);
    CHECK(strstr(hear(&p, fd, "\r\n\r\n"), "Content-Length: 0\r\n"));
    place_done(&p);
}

static void test_head_204_and_http_1_0_are_framed_right(void)
{
    struct place p;
    struct http_limits l = roomy();
    place_open(&p, &l, AF_INET);
    autoclose int fd = dial(&p);
    say(&p, fd, "HEAD /xyz HTTP/1.1\r\nHost: h\r\n\r\n" GET("/none") GET("/end"));
    const char *got = hear(&p, fd, "\r\n\r\n/end");
    CHECK(strstr(got, "Content-Length: 4\r\n\r\nHTTP/1.1 204 No Content\r\n"));
    CHECK_INT(count_of(got, "Content-Length"), 2);
    say(&p, fd, "GET /x HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
    CHECK(strstr(hear(&p, fd, "\r\n\r\n/x"), "Connection: keep-alive\r\n"));
    say(&p, fd, "GET /x HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n");
    CHECK(strstr(hear(&p, fd, NULL), "Connection: close\r\n"));
    place_done(&p);
}

static void test_100_continue_comes_after_the_head_was_accepted(void)
{
    struct place p;
    struct http_limits l = roomy();
    place_open(&p, &l, AF_INET);
    autoclose int fd = dial(&p);
    say(&p, fd,
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    CHECK_STR(hear(&p, fd, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    say(&p, fd, "ok");
    CHECK(strstr(hear(&p, fd, "\r\n\r\nok"), "HTTP/1.1 200 OK"));
    say(&p, fd,
        "POST /denied HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    const char *got = hear(&p, fd, NULL);
    CHECK(strncmp(got, "HTTP/1.1 401", 12) == 0 && strstr(got, "Connection: close"));
    CHECK_INT(p.requests, 1);
    place_done(&p);
}

static void test_an_answer_from_the_head_keeps_the_connection_when_there_is_no_body(void)
{
    struct place p;
    struct http_limits l = roomy();
    place_open(&p, &l, AF_INET);
    autoclose int fd = dial(&p);
    say(&p, fd, GET("/denied") GET("/x"));
    CHECK(strstr(hear(&p, fd, "\r\n\r\n/x"), "who?HTTP/1.1 200"));
    place_done(&p);
}

static void test_an_answer_before_the_body_is_there_ends_the_request(void)
{
    struct place p;
    struct http_limits l = roomy();
    place_open(&p, &l, AF_INET);
    autoclose int fd = dial(&p);
    say(&p, fd, "POST /early HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc");
    AWAIT(&p, p.kept != NULL);
    http_answer(p.kept, 429, "text/plain", "wait", 4);
    say(&p, fd, "defghi" GET("/x"));
    const char *got = hear(&p, fd, NULL);
    CHECK(strstr(got, "HTTP/1.1 429") && strstr(got, "Connection: close\r\n\r\nwait"));
    CHECK_INT(count_of(got, "Date:"), 1);
    CHECK(p.requests == 0 && p.gone == 0);
    place_done(&p);
}

static void test_a_large_answer_reaches_a_slow_reader(void)
{
    struct place p;
    struct http_limits l = roomy();
    place_open(&p, &l, AF_INET);
    autoclose int fd = dial(&p);
    say(&p, fd, GET("/big") GET("/after"));
    for (int i = 0; i < 20; i++)
        place_turn(&p);
    CHECK_INT(p.requests, 1);
    const char *got = hear(&p, fd, "\r\n\r\n/after");
    CHECK(strlen(got) > BIG_BYTES);
    CHECK_INT(p.requests, 2);
    place_done(&p);
}

static void test_a_stream_is_chunked_and_says_when_it_drained(void)
{
    struct place p;
    struct http_limits l = roomy();
    static char piece[1 << 20];
    memset(piece, 'y', sizeof piece);
    place_open(&p, &l, AF_INET);
    autoclose int fd = dial(&p);
    say(&p, fd, GET("/stream") GET("/after"));
    AWAIT(&p, p.kept != NULL);
    http_stream_write(p.kept, "one", 3);
    http_stream_write(p.kept, "", 0);
    CHECK(strstr(hear(&p, fd, "one\r\n"), "Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n"));
    CHECK_INT(http_stream_queued(p.kept), 0);
    for (int i = 0; i < 16; i++)
        http_stream_write(p.kept, piece, sizeof piece);
    http_stream_write(p.kept, "END", 3);
    CHECK(http_stream_queued(p.kept) > sizeof piece);
    CHECK_INT(p.drained_writes, 0);
    const char *got = hear(&p, fd, "\r\n3\r\nEND\r\n");
    CHECK_INT(strlen(got), 16 * (sizeof piece + 10) + 8);
    AWAIT(&p, p.drained_writes == 1);
    CHECK_INT(http_stream_queued(p.kept), 0);
    http_stream_end(p.kept);
    CHECK(strncmp(hear(&p, fd, "\r\n\r\n/after"), "0\r\n\r\nHTTP/1.1 200", 17) == 0);
    CHECK_INT(p.gone, 0);
    place_done(&p);
}

static void test_a_stream_for_http_1_0_ends_with_the_connection(void)
{
    struct place p;
    struct http_limits l = roomy();
    place_open(&p, &l, AF_INET);
    autoclose int fd = dial(&p);
    say(&p, fd, "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    AWAIT(&p, p.kept != NULL);
    http_stream_write(p.kept, "one", 3);
    http_stream_end(p.kept);
    const char *got = hear(&p, fd, NULL);
    CHECK(strstr(got, "Connection: close\r\n\r\none") && !strstr(got, "chunked"));
    place_done(&p);
}

/* The kernel holds some megabytes for both ends. A server that read on would take all. */
static void test_no_more_is_read_while_a_request_is_handled(void)
{
    enum { PIECE = 64 << 10, OFFERED = 64 << 20 };
    static char piece[PIECE];
    struct place p;
    struct http_limits l = roomy();
    size_t taken = 0;
    memset(piece, 'x', sizeof piece);
    place_open(&p, &l, AF_UNIX);
    autoclose int fd = dial(&p);
    say(&p, fd, GET("/late"));
    AWAIT(&p, p.kept != NULL);
    for (int refused = 0; refused < 20 && taken < OFFERED;) {
        ssize_t n = send(fd, piece, sizeof piece, MSG_NOSIGNAL);
        taken += n > 0 ? (size_t)n : 0;
        refused = n > 0 ? 0 : refused + 1;
        place_turn(&p);
    }
    CHECK(taken > 0 && taken < OFFERED / 2);
    http_answer(p.kept, 200, "text/plain", "late", 4);
    CHECK(strstr(hear(&p, fd, NULL), "\r\n\r\nlateHTTP/1.1 431"));
    place_done(&p);
}

static void test_a_client_that_closed_its_half_is_answered(void)
{
    struct place p;
    struct http_limits l = roomy();
    place_open(&p, &l, AF_INET);
    autoclose int fd = dial(&p);
    say(&p, fd, GET("/late") GET("/2") "GET /half");
    CHECK_INT(shutdown(fd, SHUT_WR), 0);
    AWAIT(&p, p.half_closed == 1);
    http_answer(p.kept, 200, "text/plain", "late", 4);
    const char *got = hear(&p, fd, NULL);
    CHECK(strstr(got, "\r\n\r\nlateHTTP/1.1 200") && strstr(got, "\r\n\r\n/2"));
    CHECK(p.gone == 0 && p.requests == 2);
    AWAIT(&p, http_server_counts(p.server).connections == 0);
    place_done(&p);
}

static void reset(int *fd)
{
    struct linger l = { .l_onoff = 1 };
    CHECK_INT(setsockopt(*fd, SOL_SOCKET, SO_LINGER, &l, sizeof l), 0);
    fd_close(fd);
}

static void test_a_client_that_reset_is_gone_once(void)
{
    static const char *const requests[] = {
        GET("/late"), GET("/stream"), "POST /late HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nx"
    };
    for (size_t i = 0; i < 3; i++) {
        struct place p;
        struct http_limits l = roomy();
        place_open(&p, &l, AF_INET);
        autoclose int fd = dial(&p);
        say(&p, fd, requests[i]);
        for (int turn = 0; turn < 10; turn++)
            place_turn(&p);
        reset(&fd);
        AWAIT(&p, p.gone == 1);
        AWAIT(&p, http_server_counts(p.server).connections == 0);
        place_done(&p);
        CHECK_INT(p.gone, 1);
    }
}

static void test_answering_a_client_that_left_does_nothing(void)
{
    struct place p;
    struct http_limits l = roomy();
    place_open(&p, &l, AF_UNIX);
    autoclose int fd = dial(&p);
    say(&p, fd, GET("/stream"));
    (void)hear(&p, fd, "\r\n\r\n"); /* to close with bytes unread would be a reset */
    fd_close(&fd);
    AWAIT(&p, p.half_closed == 1);
    http_stream_write(p.kept, "one", 3); /* fails; the exchange is there until on_gone() */
    http_stream_write(p.kept, "two", 3);
    CHECK_INT(p.gone, 0);
    AWAIT(&p, p.gone == 1);
    place_done(&p);
}

static const struct check_test tests[] = {
    TEST(test_a_connection_serves_many_requests),
    TEST(test_a_unix_socket_knows_who_asks),
    TEST(test_pipelined_requests_are_answered_in_order),
    TEST(test_a_thousand_pipelined_requests_need_no_stack),
    TEST(test_bodies_come_counted_or_in_chunks),
    TEST(test_requests_may_come_byte_by_byte),
    TEST(test_a_large_body_arrives_whole),
    TEST(test_head_204_and_http_1_0_are_framed_right),
    TEST(test_100_continue_comes_after_the_head_was_accepted),
    TEST(test_an_answer_from_the_head_keeps_the_connection_when_there_is_no_body),
    TEST(test_an_answer_before_the_body_is_there_ends_the_request),
    TEST(test_a_large_answer_reaches_a_slow_reader),
    TEST(test_a_stream_is_chunked_and_says_when_it_drained),
    TEST(test_a_stream_for_http_1_0_ends_with_the_connection),
    TEST(test_no_more_is_read_while_a_request_is_handled),
    TEST(test_a_client_that_closed_its_half_is_answered),
    TEST(test_a_client_that_reset_is_gone_once),
    TEST(test_answering_a_client_that_left_does_nothing),
};
CHECK_MAIN(tests)
