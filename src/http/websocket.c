#include "http/websocket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wslay/wslay.h>

#include "base/auto.h"
#include "base/text.h"

enum { SHA1_BYTES = 20, SHA1_BLOCK = 64, KEY_LENGTH = 24 };

/* ---- the handshake ---- */

static uint32_t rotate(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static void sha1_block(uint32_t h[5], const unsigned char *p)
{
    uint32_t w[80], s[5];
    memcpy(s, h, sizeof s);
    for (size_t i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
               (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 80; i++)
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (int i = 0; i < 80; i++) {
        uint32_t f = i < 20   ? ((s[1] & s[2]) | (~s[1] & s[3])) + 0x5a827999
                     : i < 40 ? (s[1] ^ s[2] ^ s[3]) + 0x6ed9eba1
                     : i < 60 ? ((s[1] & s[2]) | (s[1] & s[3]) | (s[2] & s[3])) + 0x8f1bbcdc
                              : (s[1] ^ s[2] ^ s[3]) + 0xca62c1d6;
        uint32_t t = rotate(s[0], 5) + f + s[4] + w[i];
        s[4] = s[3];
        s[3] = s[2];
        s[2] = rotate(s[1], 30);
        s[1] = s[0];
        s[0] = t;
    }
    for (int i = 0; i < 5; i++)
        h[i] += s[i];
}

/* The protocol wants SHA-1 as a checksum; nothing secret depends on it. One short text, of less than
 * two blocks. */
static void sha1(const char *text, unsigned char ret[SHA1_BYTES])
{
    uint32_t h[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
    unsigned char blocks[2 * SHA1_BLOCK] = { 0 };
    size_t n = strlen(text), blocks_n = n + 9 > SHA1_BLOCK ? 2 : 1;
    for (size_t i = 0; i < n; i++)
        blocks[i] = (unsigned char)text[i];
    blocks[n] = 0x80;
    blocks[blocks_n * SHA1_BLOCK - 2] = (unsigned char)(n * 8 >> 8);
    blocks[blocks_n * SHA1_BLOCK - 1] = (unsigned char)(n * 8);
    for (size_t i = 0; i < blocks_n; i++)
        sha1_block(h, blocks + i * SHA1_BLOCK);
    for (int i = 0; i < SHA1_BYTES; i++)
        ret[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
}

/* A word in a list with commas: "keep-alive, Upgrade". */
static bool has_word(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = list; at && *at; at += strspn(at, ", \t")) {
        size_t n = strcspn(at, ", \t");
        if (n == len && strncasecmp(at, word, n) == 0)
            return true;
        at += n;
    }
    return false;
}

int websocket_accept(const struct http_request *q, char ret[WEBSOCKET_ACCEPT_SIZE], struct err *e)
{
    const char *key = http_request_header(q, "Sec-WebSocket-Key");
    const char *version = http_request_header(q, "Sec-WebSocket-Version");
    char text[96];
    unsigned char hash[SHA1_BYTES];
    scoped(buf) nonce = { 0 };
    scoped(buf) accept = { 0 };
    if (!has_word(http_request_header(q, "Upgrade"), "websocket") ||
        !has_word(http_request_header(q, "Connection"), "upgrade"))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "this path is a WebSocket: send 'Connection: Upgrade' and 'Upgrade: "
                       "websocket'");
    if (!version || strcmp(version, "13") != 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "Sec-WebSocket-Version '%s' is not spoken here: 13 is",
                       QUOTED(version ? version : ""));
    if (!key || strlen(key) != KEY_LENGTH || text_base64_decode(key, KEY_LENGTH, &nonce, e) ||
        nonce.len != 16 || q->has_body)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "Sec-WebSocket-Key must be 16 bytes in base64, and the request has no body");
    (void)snprintf(text, sizeof text, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    sha1(text, hash);
    if (text_add_base64(&accept, hash, sizeof hash, e))
        return -1;
    (void)snprintf(ret, WEBSOCKET_ACCEPT_SIZE, "%s", buf_str(&accept));
    return 0;
}

/* ---- messages ---- */

struct websocket {
    wslay_event_context_ptr wslay;
    struct websocket_events events;
    void *context;
    const unsigned char *in; /* bytes that wslay has not taken */
    size_t left;
    bool is_over;
};

static ssize_t on_recv(wslay_event_context_ptr wslay, uint8_t *to, size_t n, int flags, void *user)
{
    struct websocket *w = user;
    (void)flags;
    if (w->left == 0) {
        wslay_event_set_error(wslay, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    n = n < w->left ? n : w->left;
    memcpy(to, w->in, n);
    w->in += n;
    w->left -= n;
    return (ssize_t)n;
}

static ssize_t on_send(wslay_event_context_ptr wslay, const uint8_t *bytes, size_t n, int flags,
                       void *user)
{
    struct websocket *w = user;
    (void)wslay;
    (void)flags;
    w->events.output(w->context, bytes, n);
    return (ssize_t)n;
}

static void on_message(wslay_event_context_ptr wslay, const struct wslay_event_on_msg_recv_arg *m,
                       void *user)
{
    struct websocket *w = user;
    (void)wslay;
    if (m->opcode == WSLAY_CONNECTION_CLOSE)
        w->is_over = true; /* wslay answers with a close frame */
    else if (m->opcode == WSLAY_BINARY_FRAME)
        websocket_close(w, WSLAY_CODE_UNSUPPORTED_DATA, "text is expected");
    else if (m->opcode == WSLAY_TEXT_FRAME && !w->is_over)
        w->events.on_text(w->context, (const char *)m->msg, m->msg_length);
}

int websocket_new(struct websocket **ret, const struct websocket_events *events, void *context,
                  size_t message_max, struct err *e)
{
    static const struct wslay_event_callbacks callbacks = { .recv_callback = on_recv,
                                                            .send_callback = on_send,
                                                            .on_msg_recv_callback = on_message };
    struct websocket *w = calloc(1, sizeof *w);
    if (!w)
        return err_no_memory(e, "a WebSocket");
    w->events = *events;
    w->context = context;
    if (wslay_event_context_server_init(&w->wslay, &callbacks, w) != 0) {
        free(w);
        return err_no_memory(e, "a WebSocket");
    }
    wslay_event_config_set_max_recv_msg_length(w->wslay, message_max);
    *ret = w;
    return 0;
}

void websocket_free(struct websocket *w)
{
    if (!w)
        return;
    wslay_event_context_free(w->wslay);
    free(w);
}

/* At once: wslay sends a close frame before messages that wait. */
static void flush(struct websocket *w)
{
    if (wslay_event_want_write(w->wslay) && wslay_event_send(w->wslay) != 0)
        w->is_over = true;
}

void websocket_feed(struct websocket *w, const void *bytes, size_t n)
{
    if (w->is_over)
        return;
    w->in = bytes;
    w->left = n;
    if (wslay_event_recv(w->wslay) != 0)
        w->is_over = true;
    w->left = 0;
    flush(w);
    if (!wslay_event_want_read(w->wslay))
        w->is_over = true;
}

void websocket_text(struct websocket *w, const char *bytes, size_t n)
{
    const struct wslay_event_msg m = { .opcode = WSLAY_TEXT_FRAME,
                                       .msg = (const uint8_t *)bytes,
                                       .msg_length = n };
    if (!w->is_over && wslay_event_queue_msg(w->wslay, &m) != 0)
        w->is_over = true;
    flush(w);
}

void websocket_close(struct websocket *w, unsigned code, const char *reason)
{
    if (!w->is_over)
        (void)wslay_event_queue_close(w->wslay, (uint16_t)code, (const uint8_t *)reason,
                                      strlen(reason));
    w->is_over = true;
    flush(w);
}

bool websocket_is_over(const struct websocket *w)
{
    return w->is_over;
}
