/* tests/fuzz/fuzz_websocket.c — frames of a stranger through a WebSocket. The first byte says how the
 * rest is cut into pieces. Whole or in pieces, the same messages arrive and the same bytes are sent;
 * each message is UTF-8 and within its bound; nothing is sent after a close frame. */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"
#include "http/websocket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MESSAGE_MAX = 64 };

struct account {
    struct buf texts, out;
    struct websocket *socket;
    size_t messages;
};

/* Answers each message, and the fourth with the end. */
static void on_text(void *context, const char *bytes, size_t n)
{
    struct account *a = context;
    struct err e;
    if (n > MESSAGE_MAX || !text_is_utf8(bytes, n))
        abort();
    if (buf_add(&a->texts, bytes, n, &e) || buf_add(&a->texts, "", 1, &e))
        abort();
    if (++a->messages < 4)
        websocket_text(a->socket, bytes, n);
    else
        websocket_close(a->socket, 4999, "done");
}

static void on_output(void *context, const void *bytes, size_t n)
{
    struct account *a = context;
    struct err e;
    if (buf_add(&a->out, bytes, n, &e))
        abort();
}

static void feed(struct account *a, const uint8_t *data, size_t size, size_t piece)
{
    static const struct websocket_events events = { on_text, on_output };
    struct err e;
    if (websocket_new(&a->socket, &events, a, MESSAGE_MAX, &e))
        abort();
    for (size_t at = 0; at < size; at += piece)
        websocket_feed(a->socket, data + at, size - at < piece ? size - at : piece);
    if (websocket_is_over(a->socket)) {
        size_t sent = a->out.len;
        websocket_text(a->socket, "late", 4);
        if (a->out.len != sent)
            abort();
    }
    websocket_free(a->socket);
}

static void done(struct account *a)
{
    buf_done(&a->texts);
    buf_done(&a->out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct account whole = { 0 }, pieces = { 0 };
    if (size < 2)
        return 0;
    feed(&whole, data + 1, size - 1, size);
    feed(&pieces, data + 1, size - 1, 1 + data[0] % 16);
    if (whole.texts.len != pieces.texts.len ||
        memcmp(buf_str(&whole.texts), buf_str(&pieces.texts), whole.texts.len) != 0)
        abort();
    done(&whole);
    done(&pieces);
    return 0;
}
