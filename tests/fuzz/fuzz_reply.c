/* tests/fuzz/fuzz_reply.c — an answer of a stranger's server. The first byte says how the rest is cut into
 * pieces, and the kind of its request. Whole or in pieces, the same head and the same body arrive; a name is a
 * token, and a value has no byte that could begin another line. */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "http/parse.h"
#include "http/reply_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct account {
    struct buf head, body;
    enum reply_state state;
    int failed;
    bool ended;
};

static void on_head(void *context, int status, const struct http_header *headers, size_t n)
{
    struct account *a = context;
    struct err e;
    if (a->head.len > 0 || status < 101 || status > 999 || buf_addf(&a->head, &e, "%d\n", status))
        abort();
    for (size_t i = 0; i < n; i++) {
        for (const char *at = headers[i].name; *at; at++)
            if (!is_token_byte(*at))
                abort();
        if (!headers[i].name[0] || strpbrk(headers[i].value, "\r\n") ||
            buf_addf(&a->head, &e, "%s: %s\n", headers[i].name, headers[i].value))
            abort();
    }
}

static void on_body(void *context, const char *bytes, size_t n)
{
    struct account *a = context;
    struct err e;
    if (a->head.len == 0 || n == 0 || buf_add(&a->body, bytes, n, &e))
        abort();
}

static void feed(struct account *a, const uint8_t *data, size_t size, size_t piece, unsigned kind)
{
    static const struct reply_events events = { on_head, on_body };
    struct reply_reader *r;
    struct err e;
    if (reply_reader_new(&r, &events, a, kind == 1, kind == 2, &e))
        abort();
    for (size_t at = 0; at < size && !a->failed; at += piece)
        a->failed = reply_reader_feed(r, (const char *)data + at,
                                      size - at < piece ? size - at : piece, &a->state, &e);
    a->ended = !a->failed && reply_reader_end(r);
    reply_reader_free(r);
}

static bool same(const struct buf *x, const struct buf *y)
{
    return x->len == y->len && (x->len == 0 || memcmp(x->data, y->data, x->len) == 0);
}

static void done(struct account *a)
{
    buf_done(&a->head);
    buf_done(&a->body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct account whole = { 0 }, pieces = { 0 };
    if (size < 2)
        return 0;
    feed(&whole, data + 1, size - 1, size, data[0] / 16 % 3);
    feed(&pieces, data + 1, size - 1, 1 + data[0] % 16, data[0] / 16 % 3);
    /* A piece that is refused in its middle has passed nothing on before. */
    if (!same(&whole.head, &pieces.head) || whole.failed != pieces.failed ||
        (!whole.failed && (!same(&whole.body, &pieces.body) || whole.state != pieces.state)) ||
        whole.ended != pieces.ended)
        abort();
    done(&whole);
    done(&pieces);
    return 0;
}
