/* base/buf.h — a growing byte buffer.
 * Runs in: every process.
 * Invariant: data[len] is always a NUL, so that text can be handed to C functions as it is. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct buf {
    char *data; /* NULL while empty; buf_str() gives "" then */
    size_t len;
    size_t cap;
};

void buf_done(struct buf *b);

/* Fails with ERR_NO_MEMORY and leaves the buffer as it was. */
[[nodiscard]] int buf_add(struct buf *b, const void *bytes, size_t n, struct err *e);
[[nodiscard, gnu::format(printf, 3, 4)]] int buf_addf(struct buf *b, struct err *e, const char *fmt,
                                                      ...);

/* Room for n more bytes at data + len; the caller then adds the bytes it used to len. */
[[nodiscard]] int buf_reserve(struct buf *b, size_t n, struct err *e);

const char *buf_str(const struct buf *b);
