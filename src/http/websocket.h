/* http/websocket.h — the messages of a WebSocket (RFC 6455), over wslay. Knows no sockets: bytes of
 * the client go in, bytes for the client come out. Runs in: keeper. The bytes are untrusted.
 *
 * Invariants
 * WEBSOCKET-1 A message has at most message_max bytes. A larger one, a frame without a mask, a bad
 *             frame or text that is not UTF-8 ends the WebSocket with a close frame.
 * WEBSOCKET-2 No extension is offered, so no bytes are inflated. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "http/http.h"

struct websocket;
struct websocket_events {
    void (*on_text)(void *context, const char *bytes, size_t n); /* a whole message */
    void (*output)(void *context, const void *bytes, size_t n);  /* for the client */
};
[[nodiscard]] int websocket_new(struct websocket **ret, const struct websocket_events *events,
                                void *context, size_t message_max, struct err *e);
void websocket_free(struct websocket *w);
/* Not from inside an event. */
void websocket_feed(struct websocket *w, const void *bytes, size_t n);
/* Sends a message, or the close frame after which nothing is sent. Both may be called from inside
 * on_text(). */
void websocket_text(struct websocket *w, const char *bytes, size_t n);
void websocket_close(struct websocket *w, unsigned code, const char *reason);
/* A close frame was sent or has arrived, or the bytes were not those of a WebSocket. */
bool websocket_is_over(const struct websocket *w);

enum { WEBSOCKET_ACCEPT_SIZE = 32 };
/* Whether the request asks for a WebSocket; the text for Sec-WebSocket-Accept. */
[[nodiscard]] int websocket_accept(const struct http_request *q, char ret[WEBSOCKET_ACCEPT_SIZE],
                                   struct err *e);
