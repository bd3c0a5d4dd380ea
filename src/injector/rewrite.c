#include "injector/rewrite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"

enum { IN_HEAD, IN_COUNTED, IN_CHUNKS };
enum { HTTPS = 443 };

static const struct http_limits limits = { .head_bytes = 64 << 10, .headers = 128 };

void rewrite_done(struct rewrite *w)
{
    buf_done(&w->pending);
    buf_done(&w->body);
    head_done(&w->head);
}

bool rewrite_is_between(const struct rewrite *w)
{
    return w->state == IN_HEAD && w->pending.len == 0;
}

/* Servers that hand headers to programs as variables make no difference between '-' and '_'. */
static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        char x = *a == '_' ? '-' : *a, y = *b == '_' ? '-' : *b;
        if (x != y && ((x | 0x20) != (y | 0x20) || (x | 0x20) < 'a' || (x | 0x20) > 'z'))
            return false;
    }
    return !*a && !*b;
}

/* They are about this connection, or about the end of the request: written anew, or left out. */
static const char *const ours[] = {
    "Host",    "Content-Length",   "Transfer-Encoding", "Connection", "Keep-Alive",
    "Upgrade", "Proxy-Connection", "HTTP2-Settings",    "TE",         "Trailer",
};

static bool is_replaced(const struct rewrite *w, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        if (same_name(name, ours[i]))
            return true;
    for (size_t i = 0; i < w->n_rules; i++)
        if (same_name(name, w->rules[i].header))
            return true;
    return false;
}

static bool is_our_host(const struct rewrite *w, const char *host)
{
    size_t n = strlen(w->host);
    char port[8];
    if (strncasecmp(host, w->host, n) != 0)
        return false;
    (void)snprintf(port, sizeof port, ":%u", w->port);
    return strcmp(host + n, port) == 0 || (w->port == HTTPS && host[n] == '\0');
}

static int check_request(const struct rewrite *w, const struct http_request *q, const char *method,
                         size_t n, struct refusal *r)
{
    static const char *const refused[] = { "TRACE", "TRACK", "CONNECT" };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (n == strlen(refused[i]) && strncasecmp(method, refused[i], n) == 0)
            return refuse(r, 501,
                          "method %s is not passed on to a host that gets a secret: it could send "
                          "the secret back",
                          refused[i]);
    const char *host = http_request_header(q, "Host");
    if (host && !is_our_host(w, host))
        return refuse(r, 421, "the Host header is not '%.200s', the host of this connection",
                      w->host);
    return 0;
}

static bool has(const struct http_request *q, const char *name)
{
    return http_request_header(q, name) != NULL;
}

static int write_framing(const struct rewrite *w, const struct http_request *q, struct buf *out,
                         struct err *e)
{
    const struct http_head *h = &w->head;
    if (h->chunked)
        return buf_addf(out, e, "Transfer-Encoding: chunked\r\n");
    return has(q, "Content-Length") ? buf_addf(out, e, "Content-Length: %" PRIu64 "\r\n", h->length)
                                    : 0;
}

static int write_head(const struct rewrite *w, const struct http_request *q, const char *method,
                      size_t n, struct buf *out, struct err *e)
{
    const struct http_head *h = &w->head;
    char port[8] = "";
    if (w->port != HTTPS)
        (void)snprintf(port, sizeof port, ":%u", w->port);
    if (buf_addf(out, e, "%.*s %s HTTP/1.%c\r\nHost: %s%s\r\n", (int)n, method, q->target,
                 h->http_1_0 ? '0' : '1', w->host, port))
        return -1;
    for (size_t i = 0; i < w->n_rules; i++)
        if (buf_addf(out, e, "%s: %s%s\r\n", w->rules[i].header, w->rules[i].prefix,
                     w->rules[i].value))
            return -1;
    for (size_t i = 0; i < q->n_headers; i++)
        if (!is_replaced(w, q->headers[i].name) &&
            buf_addf(out, e, "%s: %s\r\n", q->headers[i].name, q->headers[i].value))
            return -1;
    return write_framing(w, q, out, e) ||
                   buf_addf(out, e, "%s\r\n", h->asks_close ? "Connection: close\r\n" : "")
               ? -1
               : 0;
}

/* The head is complete. */
static int take_head(struct rewrite *w, struct buf *out, struct refusal *r)
{
    struct http_request q = { 0 };
    struct err e;
    size_t before = out->len;
    if (head_parse(&w->head, w->pending.data + w->scan.from, w->scan.at - w->scan.from,
                   w->scan.lines, &q, r))
        return -1;
    const char *method = w->head.text.data;
    size_t n = strcspn(method, " ");
    if (check_request(w, &q, method, n, r))
        return -1;
    if (write_head(w, &q, method, n, out, &e)) {
        out->len = before;
        return refuse(r, 503, "no memory for the request; try again later");
    }
    w->requests++;
    w->left = w->head.length;
    w->chunks = (struct chunks){ 0 };
    w->state = w->head.chunked ? IN_CHUNKS : w->left > 0 ? IN_COUNTED : IN_HEAD;
    return 0;
}

/* Each of these takes bytes and returns how many; -1: refused. */

static ssize_t feed_head(struct rewrite *w, const char *bytes, size_t n, struct buf *out,
                         struct refusal *r)
{
    struct err e;
    size_t had = w->pending.len;
    if (buf_add(&w->pending, bytes, n, &e))
        return refuse(r, 503, "no memory for the request; try again later");
    int found = head_scan(&w->scan, w->pending.data, w->pending.len, &limits, r);
    if (found < 0)
        return -1;
    if (!found)
        return (ssize_t)n;
    size_t used = w->scan.at - had;
    if (take_head(w, out, r))
        return -1;
    w->pending.len = 0;
    w->scan = (struct head_scan){ 0 };
    return (ssize_t)used;
}

static ssize_t feed_counted(struct rewrite *w, const char *bytes, size_t n, struct buf *out,
                            struct refusal *r)
{
    struct err e;
    size_t take = n < w->left ? n : (size_t)w->left;
    if (buf_add(out, bytes, take, &e))
        return refuse(r, 503, "no memory for the body; try again later");
    w->left -= take;
    if (w->left == 0)
        w->state = IN_HEAD;
    return (ssize_t)take;
}

static ssize_t feed_chunks(struct rewrite *w, const char *bytes, size_t n, struct buf *out,
                           struct refusal *r)
{
    struct err e;
    w->body.len = 0;
    ssize_t used = chunks_feed(&w->chunks, bytes, n, &w->body, SIZE_MAX / 4, r);
    if (used < 0)
        return -1;
    if ((w->body.len > 0 &&
         (buf_addf(out, &e, "%zx\r\n", w->body.len) ||
          buf_add(out, w->body.data, w->body.len, &e) || buf_add(out, "\r\n", 2, &e))) ||
        (w->chunks.over && buf_add(out, "0\r\n\r\n", 5, &e)))
        return refuse(r, 503, "no memory for the body; try again later");
    if (w->chunks.over)
        w->state = IN_HEAD;
    return used;
}

int rewrite_feed(struct rewrite *w, const char *bytes, size_t n, struct buf *out, struct refusal *r)
{
    static ssize_t (*const feeds[])(struct rewrite *, const char *, size_t, struct buf *,
                                    struct refusal *) = {
        [IN_HEAD] = feed_head, [IN_COUNTED] = feed_counted, [IN_CHUNKS] = feed_chunks
    };
    while (n > 0) {
        ssize_t used = feeds[w->state](w, bytes, n, out, r);
        if (used < 0)
            return -1;
        bytes += used;
        n -= (size_t)used;
    }
    return 0;
}
