/* tests/fuzz/fuzz_http.c — bytes of a stranger through the parser and through a real connection.
 *
 * The first byte of the input says how the rest is cut into pieces. These hold for any bytes:
 * - whole or in pieces, they are the same requests, for the parser alone and for a connection;
 * - a body that we read to its end is for llhttp the same body, at the same place, or an error: two readers never see two
 *   different requests;
 * - handlers get strings without CR, LF or a second meaning. */
#include <assert.h>
#include <llhttp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "http/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BODY_MAX = 4096 };

static const struct http_limits limits = { .head_bytes = 2048,
                                           .headers = 12,
                                           .body_bytes = BODY_MAX,
                                           .bodies_bytes = SIZE_MAX,
                                           .connections = 64,
                                           .head_ms = 60000,
                                           .body_ms = 60000,
                                           .idle_ms = 60000,
                                           .write_ms = 60000 };

/* The requests as they were understood, one line each. Two readings are compared. */
struct account {
    struct buf text;
    int requests;
    int refused; /* the status, or 0 */
};

static void note(struct account *a, const struct http_request *q, const struct buf *body)
{
    struct err e;
    assert(strchr(q->target, '\r') == NULL && strchr(q->target, '\n') == NULL);
    assert(q->path[0] == '/' && strlen(q->path) <= strlen(q->target));
    int lengths = 0, encodings = 0;
    for (size_t i = 0; i < q->n_headers; i++) {
        assert(q->headers[i].name[0] && !strpbrk(q->headers[i].name, " \t\r\n:"));
        assert(!strpbrk(q->headers[i].value, "\r\n"));
        lengths += strcasecmp(q->headers[i].name, "Content-Length") == 0;
        encodings += strcasecmp(q->headers[i].name, "Transfer-Encoding") == 0;
    }
    assert(lengths + encodings <= 1);
    assert(body->len <= BODY_MAX);
    if (buf_addf(&a->text, &e, "%d %s %zu ", (int)q->method, q->path, body->len) ||
        buf_add(&a->text, buf_str(body), body->len, &e))
        abort();
    a->requests++;
}

/* ---- the second reader ---- */

struct second {
    struct buf body;
    bool complete;
};

static int second_body(llhttp_t *p, const char *at, size_t n)
{
    struct second *s = p->data;
    struct err e;
    return buf_add(&s->body, at, n, &e);
}

static int second_complete(llhttp_t *p)
{
    ((struct second *)p->data)->complete = true;
    return HPE_PAUSED;
}

static void compare_with_llhttp(const char *bytes, size_t n, size_t used, const struct buf *body)
{
    static const llhttp_settings_t settings = { .on_body = second_body,
                                                .on_message_complete = second_complete };
    struct second s = { 0 };
    llhttp_t p;
    llhttp_init(&p, HTTP_REQUEST, &settings);
    p.data = &s;
    llhttp_errno_t result = llhttp_execute(&p, bytes, n);
    /* An upgrade has no body for llhttp; we do not take it, and read the body as it was announced. */
    if (s.complete && !p.upgrade) {
        assert(result == HPE_PAUSED);
        assert((size_t)(llhttp_get_error_pos(&p) - bytes) == used);
        assert(s.body.len == body->len);
        assert(body->len == 0 || memcmp(s.body.data, body->data, body->len) == 0);
    } else if (result == HPE_OK) {
        assert(!"llhttp waits for more, and we do not");
    }
    buf_done(&s.body);
}

/* ---- the parser alone ---- */

/* The body, `step` bytes at a time. Returns the bytes used; 0 with *ret_whole unset when it is not all there. */
static ssize_t read_body(const struct http_head *h, const char *bytes, size_t n, size_t step,
                         struct buf *body, bool *ret_whole, struct refusal *r)
{
    struct chunks c = { 0 };
    struct err e;
    size_t used = 0;
    if (!h->chunked) {
        if (h->length > BODY_MAX)
            return refuse(r, 413, "too large");
        *ret_whole = n >= h->length;
        if (*ret_whole && buf_add(body, bytes, (size_t)h->length, &e))
            abort();
        return (ssize_t)h->length;
    }
    while (used < n && !c.over) {
        size_t piece = n - used < step ? n - used : step;
        ssize_t took = chunks_feed(&c, bytes + used, piece, body, BODY_MAX, r);
        if (took < 0)
            return -1;
        used += (size_t)took;
    }
    *ret_whole = c.over;
    return (ssize_t)used;
}

static bool read_one(const char **bytes, size_t *n, size_t step, struct http_head *h,
                     struct account *a)
{
    struct head_scan s = { 0 };
    struct http_request q = { 0 };
    struct refusal r = { 0 };
    struct buf body = { 0 };
    bool whole = false;
    int found = 0;
    for (size_t there = 0; found == 0 && there < *n;) {
        there = *n - there < step ? *n : there + step;
        found = head_scan(&s, *bytes, there, &limits, &r);
    }
    if (found > 0)
        found = head_parse(h, *bytes + s.from, s.at - s.from, s.lines, &q, &r) ? -1 : 1;
    ssize_t used = 0;
    if (found > 0) {
        used = read_body(h, *bytes + s.at, *n - s.at, step, &body, &whole, &r);
        found = used < 0 ? -1 : 1;
    }
    if (whole) {
        note(a, &q, &body);
        size_t all = s.at - s.from + (size_t)used;
        compare_with_llhttp(*bytes + s.from, *n - s.from, all, &body);
        *bytes += s.at + (size_t)used;
        *n -= s.at + (size_t)used;
    }
    if (found < 0) {
        assert(r.status >= 400 && r.status < 600 && r.detail[0]);
        a->refused = r.status;
    }
    buf_done(&body);
    return whole && head_keeps_alive(h);
}

static struct account read_alone(const char *bytes, size_t n, size_t step)
{
    struct account a = { 0 };
    struct http_head h = { 0 };
    while (n > 0 && read_one(&bytes, &n, step, &h, &a))
        ;
    head_done(&h);
    return a;
}

/* ---- a connection ---- */

static void on_request(void *context, struct http_exchange *x)
{
    struct account *a = context;
    note(a, &x->request, &x->request.body);
    http_answer(x, 204, NULL, NULL, 0);
}

static void on_refusal(void *context, const struct http_request *q, int status, const char *detail,
                       struct buf *body)
{
    (void)q;
    struct account *a = context;
    struct err e;
    a->refused = status;
    if (buf_add(body, detail, strlen(detail), &e))
        abort();
}

static struct account through_a_connection(const char *bytes, size_t n, size_t step)
{
    static uv_loop_t *loop;
    static struct http_server *server;
    static struct sockaddr_un address;
    static socklen_t address_len;
    static struct account account;
    static const struct http_handlers handlers = { NULL, on_request, on_refusal };
    struct err e;
    if (!server) {
        loop = uv_default_loop();
        int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        address.sun_family = AF_UNIX;
        address_len = sizeof address;
        if (bind(listener, (struct sockaddr *)&address, sizeof address.sun_family) ||
            listen(listener, 8) ||
            getsockname(listener, (struct sockaddr *)&address, &address_len) ||
            http_server_new(&server, loop, &limits, &handlers, &account, NULL, 0, &e) ||
            http_server_listen(server, listener, &e) < 0)
            abort();
    }
    account = (struct account){ 0 };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (connect(fd, (struct sockaddr *)&address, address_len))
        abort();
    while (n > 0) {
        size_t piece = n < step ? n : step;
        if (send(fd, bytes, piece, MSG_NOSIGNAL) < 0)
            break;
        bytes += piece;
        n -= piece;
        (void)uv_run(loop, UV_RUN_NOWAIT);
    }
    (void)shutdown(fd, SHUT_WR);
    char answers[4096];
    ssize_t got;
    do {
        (void)uv_run(loop, UV_RUN_NOWAIT);
        got = recv(fd, answers, sizeof answers, 0);
    } while (got != 0);
    (void)close(fd);
    while (http_server_counts(server).connections > 0)
        (void)uv_run(loop, UV_RUN_NOWAIT);
    return account;
}

static void compare(const struct account *a, const struct account *b)
{
    assert(a->requests == b->requests && a->refused == b->refused);
    assert(a->text.len == b->text.len);
    assert(a->text.len == 0 || memcmp(a->text.data, b->text.data, a->text.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 32 << 10)
        return 0;
    const char *bytes = (const char *)data + 1;
    size_t n = size - 1;
    size_t step = data[0] < 64 ? data[0] + 1U : 4096;
    struct account whole = read_alone(bytes, n, n);
    struct account pieces = read_alone(bytes, n, step);
    compare(&whole, &pieces);
    struct account connected = through_a_connection(bytes, n, step < 16 ? 16 : step);
    compare(&whole, &connected);
    buf_done(&whole.text);
    buf_done(&pieces.text);
    buf_done(&connected.text);
    return 0;
}
