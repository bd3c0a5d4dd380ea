/* http/answer.c — turns answers and streams into bytes. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/array.h"
#include "http/connection.h"

const char answer_continue[] = "HTTP/1.1 100 Continue\r\n\r\n";

static const struct {
    int status;
    const char *words;
} reasons[] = {
    { 101, "Switching Protocols" },
    { 200, "OK" },
    { 201, "Created" },
    { 202, "Accepted" },
    { 204, "No Content" },
    { 206, "Partial Content" },
    { 301, "Moved Permanently" },
    { 302, "Found" },
    { 303, "See Other" },
    { 304, "Not Modified" },
    { 307, "Temporary Redirect" },
    { 308, "Permanent Redirect" },
    { 400, "Bad Request" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "Not Found" },
    { 405, "Method Not Allowed" },
    { 406, "Not Acceptable" },
    { 408, "Request Timeout" },
    { 409, "Conflict" },
    { 410, "Gone" },
    { 411, "Length Required" },
    { 412, "Precondition Failed" },
    { 413, "Content Too Large" },
    { 414, "URI Too Long" },
    { 415, "Unsupported Media Type" },
    { 416, "Range Not Satisfiable" },
    { 417, "Expectation Failed" },
    { 421, "Misdirected Request" },
    { 422, "Unprocessable Content" },
    { 425, "Too Early" },
    { 428, "Precondition Required" },
    { 429, "Too Many Requests" },
    { 431, "Request Header Fields Too Large" },
    { 500, "Internal Server Error" },
    { 501, "Not Implemented" },
    { 502, "Bad Gateway" },
    { 503, "Service Unavailable" },
    { 504, "Gateway Timeout" },
    { 505, "HTTP Version Not Supported" },
    { 507, "Insufficient Storage" },
};

static const char *reason(int status)
{
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].words;
    return "Status";
}

static struct connection *connection_of(const struct http_exchange *x)
{
    return (struct connection *)x;
}

bool answer_add_header(struct buf *b, const char *name, const char *value)
{
    struct err e;
    for (const char *at = name; *at; at++)
        if (!is_token_byte(*at))
            return true;
    if (!*name || strpbrk(value, "\r\n"))
        return true; /* dropped, so that no header can be split */
    size_t name_len = strlen(name), value_len = strlen(value);
    return !buf_reserve(b, name_len + value_len + 4, &e) && !buf_add(b, name, name_len, &e) &&
           !buf_add(b, ": ", 2, &e) && !buf_add(b, value, value_len, &e) &&
           !buf_add(b, "\r\n", 2, &e);
}

/* Made once a second, and not by strftime(), which depends on the locale. */
static const char *date_header(struct http_server *s)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t now = time(NULL);
    struct tm t;
    if (now != s->date_s && gmtime_r(&now, &t)) {
        s->date_s = now;
        (void)snprintf(s->date, sizeof s->date, "Date: %.3s, %02u %.3s %04u %02u:%02u:%02u GMT\r\n",
                       days + (ptrdiff_t)t.tm_wday * 3, (unsigned)t.tm_mday % 100,
                       months + (ptrdiff_t)t.tm_mon * 3, (unsigned)(t.tm_year + 1900) % 10000,
                       (unsigned)t.tm_hour % 100, (unsigned)t.tm_min % 100,
                       (unsigned)t.tm_sec % 100);
    }
    return s->date;
}

static bool has_no_body(int status)
{
    return status == 101 || status == 204 || status == 304;
}

/* Whether one of the lines has the name before the first colon of `line`. */
static bool has_same_name(const struct buf *lines, const char *line)
{
    size_t n = strcspn(line, ":") + 1;
    for (const char *at = buf_str(lines); *at; at += strcspn(at, "\n") + 1)
        if (strncasecmp(at, line, n) == 0)
            return true;
    return false;
}

/* The headers of every answer, but for the ones that this answer has itself. */
static bool add_every(struct buf *b, const struct buf *every, const struct buf *extra)
{
    struct err e;
    for (const char *at = buf_str(every); *at;) {
        size_t n = strcspn(at, "\n") + 1;
        if (!has_same_name(extra, at) && buf_add(b, at, n, &e))
            return false;
        at += n;
    }
    return true;
}

/* Adds the head with its empty line. length < 0: a stream. */
static bool add_head(struct connection *c, int status, const char *content_type, ssize_t length)
{
    struct buf *b = &c->out.queued;
    struct http_server *s = c->server;
    struct err e;
    char line[96];
    const char *date = date_header(s);
    int n = snprintf(line, sizeof line, "HTTP/1.1 %d %s\r\n", status, reason(status));
    if (buf_reserve(b, 512, &e) || buf_add(b, line, (size_t)n, &e) ||
        buf_add(b, date, strlen(date), &e) || !add_every(b, &s->every, &c->extra) ||
        buf_add(b, buf_str(&c->extra), c->extra.len, &e))
        return false;
    if (content_type && !has_no_body(status) && !answer_add_header(b, "Content-Type", content_type))
        return false;
    n = 0;
    if (length >= 0 && !has_no_body(status))
        n = snprintf(line, sizeof line, "Content-Length: %zd\r\n", length);
    else if (c->sends_chunks)
        n = snprintf(line, sizeof line, "Transfer-Encoding: chunked\r\n");
    const char *connection = c->closes          ? "Connection: close\r\n\r\n"
                             : c->head.http_1_0 ? "Connection: keep-alive\r\n\r\n"
                                                : "\r\n";
    return !buf_add(b, line, (size_t)n, &e) && !buf_add(b, connection, strlen(connection), &e);
}

/* Prepares the connection for an answer. False if the client is gone or an answer was already
 * given. */
static bool answer_begin(struct connection *c)
{
    if (c->answered || c->streams)
        return false;
    if (c->phase == PHASE_CLOSED) {
        c->answered = true; /* so that on_gone() is not called */
        return false;
    }
    if (c->phase == PHASE_BODY) { /* the head's handler answers without the body */
        c->phase = PHASE_ANSWER;
        c->wait = WAIT_NOTHING;
    }
    c->closes = !head_keeps_alive(&c->head) || c->body_missing || c->server->draining;
    return true;
}

/* The answer is complete, or without memory (`has_bytes` false) the connection is dropped. */
static void answer_finish(struct connection *c, bool has_bytes)
{
    c->answered = true;
    if (!has_bytes) { /* out of memory */
        connection_drop(c);
        return;
    }
    output_flush(c);
    if (!c->advancing && output_is_empty(c))
        server_later(c->server, c);
}

void http_answer_header(struct http_exchange *x, const char *name, const char *value)
{
    struct connection *c = connection_of(x);
    if (!answer_add_header(&c->extra, name, value))
        connection_drop(c);
}

/* Takes the body's memory over. */
static void answer_whole(struct connection *c, int status, const char *content_type,
                         struct buf *body)
{
    bool has_bytes = add_head(c, status, content_type, (ssize_t)body->len);
    if (has_bytes && body->len > 0 && !c->is_head && !has_no_body(status))
        c->out.body = *body;
    else
        buf_done(body);
    answer_finish(c, has_bytes);
}

/* Clients that request large answers and do not read them must not fill the memory. False if a
 * refusal was sent instead. */
static bool can_keep(struct connection *c, size_t n)
{
    struct buf body = { 0 };
    if (c->is_head || output_fits(c, n))
        return true;
    c->server->counts.refused++;
    (void)answer_add_header(&c->extra, "Retry-After", "1");
    c->server->handlers.refusal(c->server->context, c->open ? &c->x.request : NULL, 503,
                                "too many large answers wait to be read; try again later", &body);
    answer_whole(c, 503, "application/json", &body);
    return false;
}

void http_answer(struct http_exchange *x, int status, const char *content_type, const void *bytes,
                 size_t n)
{
    struct connection *c = connection_of(x);
    struct err e;
    if (!answer_begin(c) || !can_keep(c, n))
        return;
    bool has_bytes = add_head(c, status, content_type, (ssize_t)n);
    if (has_bytes && !c->is_head && !has_no_body(status))
        has_bytes = !buf_add(&c->out.queued, bytes, n, &e);
    answer_finish(c, has_bytes);
}

void http_answer_buf(struct http_exchange *x, int status, const char *content_type,
                     struct buf *body)
{
    struct connection *c = connection_of(x);
    struct buf taken = *body;
    *body = (struct buf){ 0 };
    if (answer_begin(c) && can_keep(c, taken.len))
        answer_whole(c, status, content_type, &taken);
    else
        buf_done(&taken);
}

void http_stream_begin(struct http_exchange *x, int status, const char *content_type)
{
    struct connection *c = connection_of(x);
    if (c->phase == PHASE_CLOSED) { /* on_gone() follows */
        c->streams = true;
        return;
    }
    if (!answer_begin(c))
        return;
    c->streams = true;
    c->sends_nothing = c->is_head || has_no_body(status);
    c->sends_chunks = !c->head.http_1_0 && !has_no_body(status);
    c->closes = c->closes || (c->head.http_1_0 && !c->sends_nothing);
    if (add_head(c, status, content_type, -1))
        output_flush(c);
    else
        connection_drop(c);
}

void http_stream_write(struct http_exchange *x, const void *bytes, size_t n)
{
    struct connection *c = connection_of(x);
    struct buf *b = &c->out.queued;
    struct err e;
    char size[24];
    if (!c->streams || c->answered || c->phase == PHASE_CLOSED || c->sends_nothing || n == 0)
        return;
    int len = c->sends_chunks ? snprintf(size, sizeof size, "%zx\r\n", n) : 0;
    if (buf_reserve(b, n + sizeof size + 2, &e) || buf_add(b, size, (size_t)len, &e) ||
        buf_add(b, bytes, n, &e) || buf_add(b, "\r\n", c->sends_chunks ? 2 : 0, &e)) {
        connection_drop(c);
        return;
    }
    output_flush(c);
}

size_t http_stream_queued(const struct http_exchange *x)
{
    const struct connection *c = connection_of(x);
    return c->phase == PHASE_CLOSED ? SIZE_MAX : output_bytes(c);
}

void http_stream_end(struct http_exchange *x)
{
    struct connection *c = connection_of(x);
    struct err e;
    if (!c->streams || c->answered)
        return;
    bool has_bytes = true;
    if (c->phase != PHASE_CLOSED && c->sends_chunks && !c->sends_nothing)
        has_bytes = !buf_add(&c->out.queued, "0\r\n\r\n", 5, &e);
    answer_finish(c, has_bytes);
}

void http_stream_cut(struct http_exchange *x)
{
    struct connection *c = connection_of(x);
    if (!c->streams || c->answered)
        return;
    c->closes = true;
    answer_finish(c, true);
}

void http_upgrade(struct http_exchange *x,
                  void (*on_bytes)(struct http_exchange *x, const char *bytes, size_t n))
{
    struct connection *c = connection_of(x);
    x->on_bytes = on_bytes;
    c->upgraded = c->streams = c->phase == PHASE_CLOSED || answer_begin(c);
    if (c->phase == PHASE_CLOSED)
        return;        /* on_gone() follows */
    c->closes = false; /* its header would contradict the upgrade */
    http_answer_header(x, "Connection", "Upgrade");
    if (c->head.http_1_0 || !add_head(c, 101, NULL, -1))
        connection_drop(c);
    else
        output_flush(c);
    c->closes = true;
    if (!c->advancing)
        server_later(c->server, c);
}
