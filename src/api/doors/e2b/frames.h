/* api/doors/e2b/frames.h — two framings: messages of the Connect protocol, and the frames of the
 * helper in a jar. Runs in: keeper; pure functions.
 *
 * Invariants
 * E2BFRAME-1 Every byte that is read was written by a stranger: a client, or a guest. A length is
 *            compared with the bytes that are there, and with its bound, before it is used. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* ---- Connect: u8 flags, u32 length (big endian), JSON ---- */
enum { ENVELOPE_HEAD = 5, ENVELOPE_COMPRESSED = 1, ENVELOPE_END = 2 };
/* The one message of a request. Its bytes stay in `bytes`. ERR_BAD_REQUEST. */
[[nodiscard]] int envelope_read(const char *bytes, size_t n, const char **ret_json, size_t *ret_n,
                                struct err *e);
[[nodiscard]] int envelope_add(struct buf *b, unsigned flags, const char *json, size_t n,
                               struct err *e);

/* ---- the helper: u32 length of JSON, u32 length of bytes (little endian), JSON, bytes ---- */
enum { HELPER_HEAD = 8, HELPER_JSON_MAX = 8 << 20, HELPER_BYTES_MAX = 64 << 10 };
struct helper_frame {
    const char *json, *bytes; /* inside the buffer */
    size_t n_json, n_bytes;
};
/* The frame at *at, which moves on. 1 with a frame, 0 if more bytes are needed, -1 for a length above
 * its bound (ERR_PROTOCOL). */
[[nodiscard]] int helper_frame_next(const char *data, size_t n, size_t *at,
                                    struct helper_frame *ret, struct err *e);
[[nodiscard]] int helper_frame_add(struct buf *b, const char *json, size_t n_json,
                                   const char *bytes, size_t n_bytes, struct err *e);
