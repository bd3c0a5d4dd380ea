/* Requests of a guest to a host that gets a secret. In pieces of any size, each head that
 * leaves has the secret once, is for the host, and has no other header of that name. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "injector/rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct rewrite_rule rule = { "Authorization", "Bearer ", "hidden" };
static const char added[] = "\r\nHost: api.example.org\r\nAuthorization: Bearer hidden\r\n";

/* As a server reads it, by the plainest rules. Returns the number of requests. */
static uint64_t count_heads(const char *text, size_t n)
{
    struct head_scan scan;
    static const struct http_limits limits = { .head_bytes = 256 << 10, .headers = 200 };
    struct refusal r;
    uint64_t heads = 0;
    while (n > 0) {
        struct http_head h = { 0 };
        struct http_request q = { 0 };
        struct chunks chunks = { 0 };
        struct buf body = { 0 };
        scan = (struct head_scan){ 0 };
        int whole = head_scan(&scan, text, n, &limits, &r);
        if (whole == 0)
            abort(); /* a head leaves as a whole */
        if (whole < 0 || head_parse(&h, text, scan.at, scan.lines, &q, &r))
            abort();
        const char *at = memmem(text, scan.at, added, sizeof added - 1);
        if (!at || memchr(text, '\n', n) != at + 1 ||
            strcmp(http_request_header(&q, "Host"), "api.example.org") != 0)
            abort();
        size_t named = 0;
        for (size_t i = 0; i < q.n_headers; i++)
            named += strcasecmp(q.headers[i].name, "Authorization") == 0;
        if (named != 1)
            abort();
        heads++;
        text += scan.at;
        n -= scan.at;
        ssize_t used = h.chunked ? chunks_feed(&chunks, text, n, &body, SIZE_MAX / 4, &r)
                                 : (ssize_t)(n < h.length ? n : h.length);
        if (used < 0)
            abort();
        text += used;
        n -= (size_t)used;
        head_done(&h);
        buf_done(&body);
    }
    return heads;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rewrite w = { .host = "api.example.org", .port = 443, .rules = &rule, .n_rules = 1 };
    struct buf out = { 0 };
    struct refusal r;
    size_t step = size > 0 ? 1 + data[0] % 64u : 1, at = 0;
    while (at < size && rewrite_feed(&w, (const char *)data + at,
                                     size - at < step ? size - at : step, &out, &r) == 0)
        at += step;
    if (count_heads(buf_str(&out), out.len) != w.requests)
        abort();
    rewrite_done(&w);
    buf_done(&out);
    return 0;
}
