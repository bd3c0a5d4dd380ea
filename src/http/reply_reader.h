/* http/reply_reader.h — reads the answer of another server, piece by piece. Knows no sockets. Runs in:
 * keeper. The bytes are untrusted: a guest wrote them.
 *
 * Invariants
 * REPLY-1 Nothing of an answer is passed on before its whole head was parsed by the rules for heads of
 *         requests: lines end with CR LF, no line is folded, no byte is a control byte, the body has one
 *         length. A head has at most REPLY_HEAD_MAX bytes.
 * REPLY-2 Only the bytes of the body are passed on, without their framing. Bytes behind the end of the
 *         body are dropped. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "http/http.h"

enum { REPLY_HEAD_MAX = 64 << 10, REPLY_HEADERS_MAX = 200, REPLY_INTERIM_MAX = 8 };

struct reply_reader;
struct reply_events {
    /* The head; the strings are gone when this returns. Interim answers (100, 103) are left out. */
    void (*on_head)(void *context, int status, const struct http_header *headers, size_t n);
    void (*on_body)(void *context, const char *bytes, size_t n);
};
enum reply_state {
    REPLY_MORE,  /* the answer is not complete */
    REPLY_WHOLE, /* its last byte was read */
    REPLY_UPGRADED, /* 101: the further bytes, with the rest of this piece, went to on_body() as they are */
};
/* to_head: the answer of a HEAD request has no body. upgrades: the request asked for an upgrade;
 * otherwise 101 is refused. */
[[nodiscard]] int reply_reader_new(struct reply_reader **ret, const struct reply_events *events,
                                   void *context, bool to_head, bool upgrades, struct err *e);
void reply_reader_free(struct reply_reader *r);
/* -1: the bytes are no answer (ERR_PROTOCOL), or memory ran out. */
[[nodiscard]] int reply_reader_feed(struct reply_reader *r, const char *bytes, size_t n,
                                    enum reply_state *ret, struct err *e);
/* The other server closed the connection: whether the answer is whole. */
bool reply_reader_end(const struct reply_reader *r);
