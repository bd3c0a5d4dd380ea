/* The server itself answers ambiguous, large, slow and too many requests. */
#include "base/array.h"
#include "http_place.h"

#define HEAD(headers)  "GET /x HTTP/1.1\r\nHost: h\r\n" headers "\r\n"
#define POST(headers)  "POST /echo HTTP/1.1\r\nHost: h\r\n" headers "\r\n"
#define CHUNKED(bytes) POST("Transfer-Encoding: chunked\r\n") bytes

#define ROW(what, status, bytes) { what, status, bytes, sizeof(bytes) - 1 }

static const struct row {
    const char *what;
    int status;
    const char *bytes;
    size_t n;
} rows[] = {
    ROW("two lengths", 400, POST("Content-Length: 3\r\nContent-Length: 3\r\n") "abc"),
    ROW("a list of lengths", 400, POST("Content-Length: 3, 3\r\n") "abc"),
    ROW("a signed length", 400, POST("Content-Length: +3\r\n") "abc"),
    ROW("a negative length", 400, POST("Content-Length: -3\r\n") "abc"),
    ROW("a length in hex", 400, POST("Content-Length: 0x3\r\n") "abc"),
    ROW("an empty length", 400, POST("Content-Length:\r\n") "abc"),
    ROW("a length past 64 bits", 400, POST("Content-Length: 99999999999999999999\r\n") "abc"),
    ROW("length, then chunks", 400, POST("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n")),
    ROW("chunks, then length", 400, POST("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n")),
    ROW("two encodings", 400, POST("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")),
    ROW("a list of encodings", 400, POST("Transfer-Encoding: gzip, chunked\r\n")),
    ROW("chunked not last", 400, POST("Transfer-Encoding: chunked, gzip\r\n")),
    ROW("another encoding", 400, POST("Transfer-Encoding: identity\r\n")),
    ROW("an encoding with a parameter", 400, POST("Transfer-Encoding: chunked;a=b\r\n")),
    ROW("an encoding in quotes", 400, POST("Transfer-Encoding: \"chunked\"\r\n")),
    ROW("a vertical tab before chunked", 400,
        POST("Transfer-Encoding: \x0b"
             "chunked\r\n")),
    ROW("chunks in HTTP/1.0", 400,
        "POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ROW("a space before the colon", 400, POST("Content-Length : 3\r\n") "abc"),
    ROW("a space in a name", 400, HEAD("X Y: 1\r\n")),
    ROW("a name of nothing", 400, HEAD(": 1\r\n")),
    ROW("a line without a colon", 400, HEAD("nothing\r\n")),
    ROW("a folded header", 400, HEAD("X: 1\r\n 2\r\n")),
    ROW("a header folded by a tab", 400, HEAD("X: 1\r\n\tTransfer-Encoding: chunked\r\n")),
    ROW("a first header that is folded", 400, "GET / HTTP/1.1\r\n Host: h\r\n\r\n"),
    ROW("LF alone everywhere", 400, "GET / HTTP/1.1\nHost: h\n\n"),
    ROW("LF alone once", 400, HEAD("X: 1\nY: 2\r\n")),
    ROW("LF alone at the end", 400, "GET / HTTP/1.1\r\nHost: h\r\n\n"),
    ROW("CR alone", 400, HEAD("X: 1\rContent-Length: 3\r\n")),
    ROW("CR CR LF", 400, HEAD("X: 1\r\r\n")),
    ROW("CR alone at the end", 400, "GET / HTTP/1.1\r\nHost: h\r\n\rX"),
    ROW("a NUL in a value", 400, HEAD("X: a\0b\r\n")),
    ROW("a NUL in a name", 400, HEAD("X\0: b\r\n")),
    ROW("a DEL in a value", 400, HEAD("X: a\x7f\r\n")),
    ROW("an escape in a value", 400, HEAD("X: \x1b[31m\r\n")),
    ROW("two hosts", 400, HEAD("Host: other\r\n")),
    ROW("no host", 400, "GET / HTTP/1.1\r\n\r\n"),
    ROW("a host with a path", 400, "GET / HTTP/1.1\r\nHost: h/x\r\n\r\n"),
    ROW("two types", 400, HEAD("Content-Type: a/b\r\nContent-type: c/d\r\n")),
    ROW("two origins", 400, HEAD("Origin: a\r\nOrigin: b\r\n")),
    ROW("two keys", 400, HEAD("Authorization: a\r\nauthorization: b\r\n")),
    ROW("a target with a host", 400, "GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n"),
    ROW("CONNECT", 400, "CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n"),
    ROW("CONNECT to a path", 400, "CONNECT / HTTP/1.1\r\nHost: h\r\n\r\n"),
    ROW("a target of *", 400, "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"),
    ROW("no target", 400, "GET  HTTP/1.1\r\nHost: h\r\n\r\n"),
    ROW("two spaces", 400, "GET  / HTTP/1.1\r\nHost: h\r\n\r\n"),
    ROW("a tab for a space", 400, "GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n"),
    ROW("a space in the target", 400, "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n"),
    ROW("a fragment", 400, "GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n"),
    ROW("a byte past ASCII in the target", 400, "GET /\xc3\xa9 HTTP/1.1\r\nHost: h\r\n\r\n"),
    ROW("a bad escape", 400, "GET /%4 HTTP/1.1\r\nHost: h\r\n\r\n"),
    ROW("a bad escape's letter", 400, "GET /%4g/ HTTP/1.1\r\nHost: h\r\n\r\n"),
    ROW("an escaped NUL", 400, "GET /a%00b HTTP/1.1\r\nHost: h\r\n\r\n"),
    ROW("no version", 400, "GET /\r\nHost: h\r\n\r\n"),
    ROW("another protocol", 400, "GET / ICE/1.0\r\nHost: h\r\n\r\n"),
    ROW("a version in small letters", 400, "GET / http/1.1\r\nHost: h\r\n\r\n"),
    ROW("a version that is no number", 400, "GET / HTTP/1.\xff\r\nHost: h\r\n\r\n"),
    ROW("HTTP/0.9", 505, "GET / HTTP/0.9\r\nHost: h\r\n\r\n"),
    ROW("HTTP/1.2", 505, "GET / HTTP/1.2\r\nHost: h\r\n\r\n"),
    ROW("HTTP/2's preface", 505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ROW("a method nobody knows", 501, "BREW / HTTP/1.1\r\nHost: h\r\n\r\n"),
    ROW("a method in small letters", 501, "get / HTTP/1.1\r\nHost: h\r\n\r\n"),
    ROW("a method that is no word", 400, "G\"T / HTTP/1.1\r\nHost: h\r\n\r\n"),
    ROW("TLS", 400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc"),
    ROW("two empty lines first", 400, "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"),
    ROW("an expectation of something else", 417, POST("Expect: tea\r\nContent-Length: 1\r\n") "x"),
    ROW("a chunk of no size", 400, CHUNKED("\r\n\r\n")),
    ROW("a chunk's size that is no number", 400, CHUNKED("x\r\n")),
    ROW("a chunk's size with 0x", 400, CHUNKED("0x3\r\nabc\r\n0\r\n\r\n")),
    ROW("a space behind a chunk's size", 400, CHUNKED("3 \r\nabc\r\n0\r\n\r\n")),
    ROW("a chunk's size past 64 bits", 413, CHUNKED("10000000000000003\r\nabc\r\n")),
    ROW("LF alone behind a chunk's size", 400, CHUNKED("3\nabc\r\n0\r\n\r\n")),
    ROW("LF alone in an extension", 400, CHUNKED("3;a\nabc\r\n0\r\n\r\n")),
    ROW("LF alone behind a chunk", 400, CHUNKED("3\r\nabc\n0\r\n\r\n")),
    ROW("CR alone behind a chunk's size", 400, CHUNKED("3\rXabc\r\n0\r\n\r\n")),
    ROW("a chunk longer than it says", 400, CHUNKED("3\r\nabcd\r\n0\r\n\r\n")),
    ROW("LF alone at the end of chunks", 400, CHUNKED("0\r\n\n")),
    ROW("a folded trailer", 400, CHUNKED("0\r\nX: 1\r\n 2\r\n\r\n")),
    ROW("a trailer without a colon", 400, CHUNKED("0\r\nX\r\n\r\n")),
};

static void test_what_is_ambiguous_is_refused_and_the_connection_closed(void)
{
    struct place p;
    struct http_limits l = roomy();
    place_open(&p, &l, AF_INET);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char status[32];
        const char *got = talk(&p, rows[i].bytes, rows[i].n);
        (void)snprintf(status, sizeof status, "HTTP/1.1 %d ", rows[i].status);
        bool right = strncmp(got, status, strlen(status)) == 0 &&
                     count_of(got, "\r\nDate: ") == 1 && strstr(got, "Connection: close\r\n") &&
                     strstr(got, "X-Every: yes\r\n") && strstr(got, "{\"refused\":");
        if (!CHECK(right))
            printf("    %s: %s\n", rows[i].what, got);
    }
    CHECK_INT(p.requests, 0);
    CHECK_INT(http_server_counts(p.server).refused, ARRAY_LEN(rows));
    place_done(&p);
}

/* For a reader that trusts the wrong header, the second request is in the body of the first. This
 * server does not. */
static void test_what_stands_behind_a_refusal_is_never_a_request(void)
{
    struct place p;
    struct http_limits l = roomy();
    static const char bytes[] = POST(
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n") "0\r\n\r\n" HEAD("");
    place_open(&p, &l, AF_INET);
    CHECK_INT(count_of(talk(&p, bytes, sizeof bytes - 1), "HTTP/1.1"), 1);
    CHECK_INT(p.requests, 0);
    place_done(&p);
}

static void test_an_upgrade_is_not_taken(void)
{
    struct place p;
    struct http_limits l = roomy();
    place_open(&p, &l, AF_INET);
    autoclose int fd = dial(&p);
    say(&p, fd,
        HEAD("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n")
            POST("Connection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 3\r\n") "abc");
    CHECK(strstr(hear(&p, fd, "\r\n\r\nabc"), "\r\n\r\n/xHTTP/1.1 200"));
    place_done(&p);
}

static const char *repeated(struct buf *b, const char *text, int times)
{
    struct err e;
    b->len = 0;
    for (int i = 0; i < times; i++)
        CHECK_INT(buf_add(b, text, strlen(text), &e), 0);
    return buf_str(b);
}

static void test_heads_are_bounded(void)
{
    struct place p;
    struct http_limits l = roomy();
    scoped(buf) many = { 0 };
    scoped(buf) request = { 0 };
    struct err e;
    l.head_bytes = 500;
    place_open(&p, &l, AF_INET);
    CHECK_INT(buf_addf(&request, &e, "GET /%s HTTP/1.1\r\nHost: h\r\n", repeated(&many, "x", 600)),
              0);
    CHECK(strstr(talk(&p, request.data, request.len), "HTTP/1.1 431"));
    request.len = 0;
    CHECK_INT(buf_addf(&request, &e, "GET / HTTP/1.1\r\nHost: h\r\n%s\r\n",
                       repeated(&many, "A: b\r\n", 20)),
              0);
    CHECK(strstr(talk(&p, request.data, request.len), "HTTP/1.1 431"));
    request.len = 0;
    CHECK_INT(buf_addf(&request, &e, "GET / HTTP/1.1\r\nConnection: close\r\nHost: h\r\n%s\r\n",
                       repeated(&many, "A: b\r\n", 18)),
              0);
    CHECK(strstr(talk(&p, request.data, request.len), "HTTP/1.1 200"));
    place_done(&p);
}

static void test_bodies_are_bounded_and_the_client_sees_the_answer(void)
{
    struct place p;
    struct http_limits l = roomy();
    scoped(buf) body = { 0 };
    struct err e;
    place_open(&p, &l, AF_INET);
    CHECK_INT(buf_addf(&body, &e, POST("Content-Length: 4000000\r\n")), 0);
    CHECK_INT(buf_reserve(&body, 4000000, &e), 0);
    memset(body.data + body.len, 'x', 4000000);
    body.len += 4000000;
    CHECK(strstr(talk(&p, body.data, body.len), "HTTP/1.1 413"));
    CHECK_INT(p.gone, 1); /* the head's handler had accepted it */
    static const char small[] = "POST /small HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n";
    static const char chunks[] = "POST /small HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
                                 "\r\n6\r\nabcdef\r\n5\r\n";
    static const char huge[] = CHUNKED("fffffffffffffff\r\n");
    CHECK(strstr(talk(&p, small, sizeof small - 1), "HTTP/1.1 413"));
    CHECK(strstr(talk(&p, chunks, sizeof chunks - 1), "HTTP/1.1 413"));
    CHECK(strstr(talk(&p, huge, sizeof huge - 1), "HTTP/1.1 413"));
    CHECK_INT(p.requests, 0);
    place_done(&p);
}

static void test_bodies_are_bounded_together_but_small_ones_always_fit(void)
{
    struct place p;
    struct http_limits l = roomy();
    static char half[400000];
    l.bodies_bytes = 600000;
    memset(half, 'x', sizeof half);
    place_open(&p, &l, AF_INET);
    autoclose int one = dial(&p), two = dial(&p), small = dial(&p);
    say(&p, one, POST("Content-Length: 800000\r\n"));
    CHECK(say_bytes(&p, one, half, sizeof half));
    say(&p, two, POST("Content-Length: 800000\r\n"));
    (void)say_bytes(&p, two, half, sizeof half);
    CHECK(strstr(hear(&p, two, "\r\n\r\n"), "HTTP/1.1 503"));
    say(&p, small, POST("Content-Length: 2\r\n") "ok");
    CHECK(strstr(hear(&p, small, "\r\n\r\n"), "HTTP/1.1 200"));
    (void)say_bytes(&p, one, half, sizeof half);
    CHECK(strstr(hear(&p, one, "\r\n\r\n"), "HTTP/1.1 503")); /* too many even alone */
    fd_close(&one);
    fd_close(&two);
    AWAIT(&p, http_server_counts(p.server).connections == 1);
    autoclose int three = dial(&p); /* a refused connection is no longer counted */
    say(&p, three, POST("Content-Length: 400000\r\n"));
    CHECK(say_bytes(&p, three, half, sizeof half));
    CHECK(strstr(hear(&p, three, "\r\n\r\n"), "HTTP/1.1 200"));
    place_done(&p);
}

static void test_answers_nobody_reads_are_bounded_together(void)
{
    struct place p;
    struct http_limits l = roomy();
    l.bodies_bytes = BIG_BYTES / 2;
    place_open(&p, &l, AF_INET);
    autoclose int one = dial(&p), two = dial(&p), small = dial(&p);
    say(&p, one, "GET /big HTTP/1.1\r\nHost: x\r\n\r\n"); /* alone, it may be larger than all */
    AWAIT(&p, p.requests == 1);
    say(&p, two, "GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(strstr(hear(&p, two, "\r\n\r\n"), "HTTP/1.1 503"));
    CHECK(strstr(buf_str(&p.got), "Retry-After: 1"));
    say(&p, small, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(strstr(hear(&p, small, "\r\n\r\n"), "HTTP/1.1 200"));
    fd_close(&one);
    AWAIT(&p, http_server_counts(p.server).connections == 2);
    say(&p, two,
        "GET /big HTTP/1.1\r\nHost: x\r\n\r\n"); /* a dropped connection is no longer counted */
    AWAIT(&p, p.requests == 4);
    CHECK(strstr(hear(&p, two, "\r\n\r\n"), "HTTP/1.1 200"));
    place_done(&p);
}

static bool is_closed(struct place *p, int fd)
{
    char byte;
    ssize_t n = -1;
    AWAIT(p, (n = recv(fd, &byte, 1, MSG_DONTWAIT)) >= 0 || errno == ECONNRESET);
    return n <= 0;
}

static void test_longest_idle_connection_gives_way(void)
{
    struct place p;
    struct http_limits l = roomy();
    l.connections = 3;
    place_open(&p, &l, AF_INET);
    autoclose int busy = dial(&p), first = dial(&p), second = dial(&p);
    say(&p, busy, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    AWAIT(&p, p.requests == 1 && http_server_counts(p.server).connections == 3);
    say(&p, second, "GET /x");
    autoclose int third = dial(&p);
    CHECK(is_closed(&p, first));
    say(&p, third, HEAD(""));
    CHECK(strstr(hear(&p, third, "\r\n\r\n/x"), "200"));
    say(&p, second, " HTTP/1.1\r\nHost: x\r\n\r\n"); /* it was not the longest */
    CHECK(strstr(hear(&p, second, "\r\n\r\n/x"), "200"));
    CHECK_INT(http_server_counts(p.server).gave_way, 1);
    CHECK_INT(http_server_counts(p.server).refused, 0);
    place_done(&p);
}

static void test_request_that_nobody_has_read_does_not_give_way(void)
{
    struct place p;
    struct http_limits l = roomy();
    l.connections = 2;
    place_open(&p, &l, AF_INET);
    autoclose int first = dial(&p), second = dial(&p);
    AWAIT(&p, http_server_counts(p.server).connections == 2);
    /* The loop hears of the new client before it hears of the request. */
    autoclose int third = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(connect(third, (struct sockaddr *)&p.address, p.address_len), 0);
    CHECK_INT(send(first, HEAD(""), strlen(HEAD("")), MSG_NOSIGNAL), strlen(HEAD("")));
    CHECK(strstr(hear(&p, first, "\r\n\r\n/x"), "200"));
    CHECK(is_closed(&p, second));
    CHECK_INT(http_server_counts(p.server).gave_way, 1);
    place_done(&p);
}

static void test_client_waits_until_requests_are_read(void)
{
    struct place p;
    struct http_limits l = roomy();
    l.connections = 1;
    place_open(&p, &l, AF_INET);
    autoclose int first = dial(&p);
    AWAIT(&p, http_server_counts(p.server).connections == 1);
    autoclose int second = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(connect(second, (struct sockaddr *)&p.address, p.address_len), 0);
    CHECK_INT(fcntl(second, F_SETFL, O_NONBLOCK), 0);
    CHECK_INT(send(first, HEAD(""), strlen(HEAD("")), MSG_NOSIGNAL), strlen(HEAD("")));
    say(&p, second, HEAD(""));
    CHECK(strstr(hear(&p, first, "\r\n\r\n/x"), "200"));
    CHECK(strstr(hear(&p, second, "\r\n\r\n/x"), "200")); /* the answer is not 503 */
    CHECK_INT(http_server_counts(p.server).refused, 0);
    place_done(&p);
}

static void test_unix_socket_is_served_beyond_the_limit(void)
{
    struct place p;
    struct http_limits l = roomy();
    l.connections = 1;
    place_open(&p, &l, AF_UNIX);
    autoclose int busy = dial(&p);
    say(&p, busy, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    AWAIT(&p, p.requests == 1);
    autoclose int next = dial(&p);
    say(&p, next, HEAD(""));
    CHECK(strstr(hear(&p, next, "\r\n\r\n/x"), "200"));
    place_done(&p);
}

static void test_one_connection_too_many_is_told_so(void)
{
    struct place p;
    struct http_limits l = roomy();
    l.connections = 2;
    place_open(&p, &l, AF_INET);
    autoclose int one = dial(&p);
    autoclose int two = dial(&p);
    say(&p, one, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n"); /* busy: they do not give way */
    say(&p, two, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    AWAIT(&p, p.requests == 2);
    const char *got = talk(&p, HEAD(""), strlen(HEAD("")));
    CHECK(strstr(got, "HTTP/1.1 503") && strstr(got, "Retry-After: 1\r\n"));
    http_answer(p.kept, 200, "text/plain", "bye", 3); /* the connection is idle: it gives way */
    autoclose int three = dial(&p);
    say(&p, three, HEAD(""));
    CHECK(strstr(hear(&p, three, "\r\n\r\n/x"), "200"));
    place_done(&p);
}

static void test_slow_heads_and_bodies_are_answered_408(void)
{
    struct place p;
    struct http_limits l = roomy();
    l.head_ms = l.body_ms = 60;
    place_open(&p, &l, AF_INET);
    CHECK(strstr(talk(&p, "GET / HT", 8), "HTTP/1.1 408"));
    CHECK(strstr(talk(&p, CHUNKED("3\r\nab"), strlen(CHUNKED("3\r\nab"))), "HTTP/1.1 408"));
    CHECK_INT(p.gone, 1);
    CHECK_INT(http_server_counts(p.server).timed_out, 2);
    place_done(&p);
}

static void test_an_idle_connection_is_closed_without_a_word(void)
{
    struct place p;
    struct http_limits l = roomy();
    l.idle_ms = 60;
    place_open(&p, &l, AF_INET);
    CHECK_STR(talk(&p, "", 0), "");
    place_done(&p);
}

static void test_a_client_that_does_not_read_is_gone(void)
{
    struct place p;
    struct http_limits l = roomy();
    static char piece[1 << 20];
    l.write_ms = 80;
    place_open(&p, &l, AF_INET);
    autoclose int fd = dial(&p);
    say(&p, fd, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
    AWAIT(&p, p.kept != NULL);
    for (int i = 0; i < 16; i++)
        http_stream_write(p.kept, piece, sizeof piece);
    AWAIT(&p, p.gone == 1);
    CHECK_INT(http_server_counts(p.server).timed_out, 1);
    place_done(&p);
}

static void on_drained(void *context)
{
    ((struct place *)context)->drained = true;
}

static void test_drain_answers_what_is_in_progress(void)
{
    struct place p;
    struct http_limits l = roomy();
    place_open(&p, &l, AF_INET);
    autoclose int idle = dial(&p);
    say(&p, idle, HEAD(""));
    CHECK(strstr(hear(&p, idle, "\r\n\r\n/x"), "200"));
    autoclose int busy = dial(&p);
    say(&p, busy, "GET /late HTTP/1.1\r\nHost: h\r\n\r\n");
    AWAIT(&p, p.kept && http_server_counts(p.server).connections == 2);
    http_server_drain(p.server, on_drained, &p);
    CHECK_STR(hear(&p, idle, NULL), "");
    CHECK(!p.drained);
    http_answer(p.kept, 200, "text/plain", "bye", 3);
    const char *got = hear(&p, busy, NULL);
    CHECK(strstr(got, "Connection: close\r\n\r\nbye"));
    fd_close(&busy);
    AWAIT(&p, p.drained);
    place_done(&p);
}

/* A restart resets no client that has just connected. */
static void test_drain_answers_clients_that_have_just_connected(void)
{
    struct place p;
    struct http_limits l = roomy();
    place_open(&p, &l, AF_INET);
    autoclose int used = dial(&p);
    say(&p, used, HEAD(""));
    CHECK(strstr(hear(&p, used, "\r\n\r\n/x"), "200"));
    autoclose int fresh = dial(&p);
    autoclose int silent = dial(&p);
    AWAIT(&p, http_server_counts(p.server).connections == 3);
    CHECK(write(used, HEAD(""), strlen(HEAD(""))) > 0); /* nobody has read it */
    http_server_drain(p.server, on_drained, &p);
    CHECK(strstr(hear(&p, used, NULL), "Connection: close"));
    say(&p, fresh, HEAD(""));
    CHECK(strstr(hear(&p, fresh, NULL), "Connection: close"));
    CHECK(!p.drained);
    CHECK_STR(hear(&p, silent, NULL), ""); /* it does not hold the drain */
    fd_close(&used);
    fd_close(&fresh);
    AWAIT(&p, p.drained);
    place_done(&p);
}

static void test_closing_the_server_ends_every_exchange(void)
{
    struct place p;
    struct http_limits l = roomy();
    place_open(&p, &l, AF_INET);
    autoclose int fd = dial(&p);
    say(&p, fd, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
    AWAIT(&p, p.kept != NULL);
    place_done(&p);
    CHECK_INT(p.gone, 1);
}

static const struct check_test tests[] = {
    TEST(test_what_is_ambiguous_is_refused_and_the_connection_closed),
    TEST(test_what_stands_behind_a_refusal_is_never_a_request),
    TEST(test_an_upgrade_is_not_taken),
    TEST(test_heads_are_bounded),
    TEST(test_bodies_are_bounded_and_the_client_sees_the_answer),
    TEST(test_bodies_are_bounded_together_but_small_ones_always_fit),
    TEST(test_answers_nobody_reads_are_bounded_together),
    TEST(test_longest_idle_connection_gives_way),
    TEST(test_request_that_nobody_has_read_does_not_give_way),
    TEST(test_client_waits_until_requests_are_read),
    TEST(test_unix_socket_is_served_beyond_the_limit),
    TEST(test_one_connection_too_many_is_told_so),
    TEST(test_slow_heads_and_bodies_are_answered_408),
    TEST(test_an_idle_connection_is_closed_without_a_word),
    TEST(test_a_client_that_does_not_read_is_gone),
    TEST(test_drain_answers_what_is_in_progress),
    TEST(test_drain_answers_clients_that_have_just_connected),
    TEST(test_closing_the_server_ends_every_exchange),
};
CHECK_MAIN(tests)
