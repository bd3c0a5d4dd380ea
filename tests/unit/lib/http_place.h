/* tests/unit/lib/http_place.h — a server on a loop of its own and clients in the same thread. A
 * client that waits for bytes runs the loop meanwhile. */
#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "check.h"
#include "http/http.h"

enum { PATIENCE_MS = 30000, BIG_BYTES = 8 << 20 };

struct place {
    uv_loop_t loop;
    struct http_server *server;
    struct sockaddr_storage address;
    socklen_t address_len;
    struct buf got;             /* the bytes that the client received */
    struct http_exchange *kept; /* by a request to /late or /stream */
    int requests, gone, half_closed, drained_writes;
    bool drained;
    size_t last_body;
    char last_query[64], last_peer[64];
};

/* The limits most tests want: nothing is ever too slow. */
static inline struct http_limits roomy(void)
{
    return (struct http_limits){ .head_bytes = 8192,
                                 .headers = 20,
                                 .body_bytes = 1 << 20,
                                 .bodies_bytes = 4 << 20,
                                 .connections = 8,
                                 .head_ms = 60000,
                                 .body_ms = 60000,
                                 .idle_ms = 60000,
                                 .write_ms = 60000 };
}

static inline void place_on_gone(struct http_exchange *x)
{
    struct place *p = x->user;
    p->gone++;
    p->kept = NULL;
}

static inline void place_on_half_close(struct http_exchange *x)
{
    ((struct place *)x->user)->half_closed++;
}

static inline void place_on_drain(struct http_exchange *x)
{
    ((struct place *)x->user)->drained_writes++;
}

/* /early is answered by the test before its body is there; paths below /denied are answered 401
 * from the head; a body to /small may have ten bytes. */
static inline int place_head(void *context, struct http_exchange *x, size_t *body_max)
{
    x->user = context;
    x->on_gone = place_on_gone;
    x->on_half_close = place_on_half_close;
    x->on_drain = place_on_drain;
    if (strcmp(x->request.path, "/early") == 0)
        ((struct place *)context)->kept = x;
    if (strcmp(x->request.path, "/small") == 0)
        *body_max = 10;
    if (strncmp(x->request.path, "/denied", 7) != 0)
        return 0;
    http_answer(x, 401, "text/plain", "who?", 4);
    return -1;
}

static inline void place_answer_big(struct http_exchange *x)
{
    struct buf b = { 0 };
    struct err e;
    if (buf_reserve(&b, BIG_BYTES, &e))
        return;
    memset(b.data, 'x', BIG_BYTES);
    b.len = BIG_BYTES;
    http_answer_buf(x, 200, "text/plain", &b);
}

static inline void place_request(void *context, struct http_exchange *x)
{
    struct place *p = context;
    const char *path = x->request.path;
    p->requests++;
    p->last_body = x->request.body.len;
    (void)snprintf(p->last_query, sizeof p->last_query, "%s", x->request.query);
    (void)snprintf(p->last_peer, sizeof p->last_peer, "%s", x->request.peer);
    if (strcmp(path, "/late") == 0) {
        p->kept = x;
    } else if (strcmp(path, "/stream") == 0) {
        p->kept = x;
        http_stream_begin(x, 200, "text/event-stream");
    } else if (strcmp(path, "/big") == 0) {
        place_answer_big(x);
    } else if (strcmp(path, "/none") == 0) {
        http_answer(x, 204, NULL, NULL, 0);
    } else if (strcmp(path, "/echo") == 0) {
        http_answer(x, 200, "text/plain", buf_str(&x->request.body), x->request.body.len);
    } else {
        http_answer_header(x, "X-Split", "a\r\nX-Evil: 1");
        http_answer_header(x, "X-Good", "1");
        http_answer(x, 200, "text/plain", path, strlen(path));
    }
}

static inline void place_refusal(void *context, const struct http_request *q, int status,
                                 const char *detail, struct buf *body)
{
    (void)q;
    struct err e;
    (void)context;
    CHECK_INT(buf_addf(body, &e, "{\"refused\":%d,\"detail\":\"%s\"}", status, detail), 0);
}

static inline int place_socket(struct place *p, int family)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (family == AF_UNIX) { /* a name the kernel chooses */
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        CHECK_INT(bind(fd, (struct sockaddr *)&a, sizeof a.sun_family), 0);
    } else {
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
        CHECK_INT(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    }
    CHECK_INT(listen(fd, 64), 0);
    p->address_len = sizeof p->address;
    CHECK_INT(getsockname(fd, (struct sockaddr *)&p->address, &p->address_len), 0);
    return fd;
}

static inline void place_open(struct place *p, const struct http_limits *limits, int family)
{
    static const struct http_handlers handlers = { place_head, place_request, place_refusal };
    static const struct http_header every[] = { { "X-Every", "yes" } };
    struct err e;
    *p = (struct place){ 0 };
    CHECK_INT(uv_loop_init(&p->loop), 0);
    CHECK_INT(http_server_new(&p->server, &p->loop, limits, &handlers, p, every, 1, &e), 0);
    CHECK_INT(http_server_listen(p->server, place_socket(p, family), &e), 0);
}

static inline void place_done(struct place *p)
{
    http_server_close(p->server);
    (void)uv_run(&p->loop, UV_RUN_DEFAULT);
    http_server_free(p->server);
    CHECK_INT(uv_loop_close(&p->loop), 0);
    buf_done(&p->got);
}

static inline void place_turn(struct place *p)
{
    (void)uv_run(&p->loop, UV_RUN_NOWAIT);
    (void)usleep(200);
}

/* Runs the loop until the expression holds. */
#define AWAIT(place, holds)                         \
    do {                                            \
        uint64_t until_ = clock_ms() + PATIENCE_MS; \
        while (!(holds) && clock_ms() < until_)     \
            place_turn(place);                      \
        CHECK(holds);                               \
    } while (0)

static inline int dial(struct place *p)
{
    int fd = socket(p->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int status = connect(fd, (struct sockaddr *)&p->address, p->address_len);
    CHECK(status == 0 || errno == EINPROGRESS);
    place_turn(p);
    return fd;
}

/* All of it; the loop runs while the kernel takes no more. False when the server does not listen
 * any more. */
static inline bool say_bytes(struct place *p, int fd, const char *bytes, size_t n)
{
    uint64_t until = clock_ms() + PATIENCE_MS;
    while (n > 0 && clock_ms() < until) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != ENOTCONN)
            return false;
        bytes += sent > 0 ? sent : 0;
        n -= sent > 0 ? (size_t)sent : 0;
        place_turn(p);
    }
    return n == 0;
}

static inline void say(struct place *p, int fd, const char *text)
{
    CHECK(say_bytes(p, fd, text, strlen(text)));
}

/* Receives until the text is there, or with NULL until the server closes. The bytes are in
 * p->got. */
static inline const char *hear(struct place *p, int fd, const char *text)
{
    uint64_t until = clock_ms() + PATIENCE_MS;
    struct err e;
    p->got.len = 0;
    for (;;) {
        ssize_t n = 0;
        if (!CHECK(clock_ms() < until) || !CHECK_INT(buf_reserve(&p->got, 1 << 16, &e), 0))
            break;
        p->got.data[p->got.len] = '\0';
        n = recv(fd, p->got.data + p->got.len, 1 << 16, 0);
        if (n == 0 && !CHECK(!text))
            break;
        if (n == 0 || (n < 0 && errno != EAGAIN)) {
            CHECK_INT(n, 0); /* no reset */
            break;
        }
        /* Only the new bytes are searched: a search of many megabytes for every piece would take
         * seconds. */
        size_t seen = text && p->got.len > strlen(text) ? p->got.len - strlen(text) : 0;
        p->got.len += n > 0 ? (size_t)n : 0;
        p->got.data[p->got.len] = '\0';
        if (text && strstr(p->got.data + seen, text))
            break;
        if (n < 0)
            place_turn(p);
    }
    return buf_str(&p->got);
}

static inline int count_of(const char *text, const char *part)
{
    int n = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

/* One connection of one client: the bytes until the server closed. */
static inline const char *talk(struct place *p, const char *request, size_t n)
{
    autoclose int fd = dial(p);
    (void)say_bytes(p, fd, request, n);
    return hear(p, fd, NULL);
}
