#include "api/doors/e2b/frames.h"

#include <endian.h>
#include <string.h>

static uint32_t read_big(const char *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return be32toh(v);
}

static uint32_t read_little(const char *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return le32toh(v);
}

int envelope_read(const char *bytes, size_t n, const char **ret_json, size_t *ret_n, struct err *e)
{
    if (n < ENVELOPE_HEAD)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the body has %zu bytes: a message of the Connect protocol has a head of %d",
                       n, ENVELOPE_HEAD);
    unsigned flags = (unsigned char)bytes[0];
    size_t length = read_big(bytes + 1);
    if (flags & ENVELOPE_COMPRESSED)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the message is compressed, which is not accepted: send it as it is");
    if (flags != 0)
        return err_set(e, ERR_BAD_REQUEST, 0, "the message has the unknown flags %u", flags);
    if (length != n - ENVELOPE_HEAD)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the head says %zu bytes, and %zu follow: one whole message is accepted",
                       length, n - ENVELOPE_HEAD);
    *ret_json = bytes + ENVELOPE_HEAD;
    *ret_n = length;
    return 0;
}

int envelope_add(struct buf *b, unsigned flags, const char *json, size_t n, struct err *e)
{
    unsigned char head[ENVELOPE_HEAD] = { (unsigned char)flags, (unsigned char)(n >> 24),
                                          (unsigned char)(n >> 16), (unsigned char)(n >> 8),
                                          (unsigned char)n };
    return buf_add(b, head, sizeof head, e) || buf_add(b, json, n, e) ? -1 : 0;
}

int helper_frame_next(const char *data, size_t n, size_t *at, struct helper_frame *ret,
                      struct err *e)
{
    if (n - *at < HELPER_HEAD)
        return 0;
    size_t n_json = read_little(data + *at), n_bytes = read_little(data + *at + 4);
    if (n_json > HELPER_JSON_MAX || n_bytes > HELPER_BYTES_MAX)
        return err_set(e, ERR_PROTOCOL, 0, "a frame of the helper has %zu + %zu bytes", n_json,
                       n_bytes);
    if (n - *at - HELPER_HEAD < n_json + n_bytes)
        return 0;
    *ret = (struct helper_frame){ .json = data + *at + HELPER_HEAD,
                                  .n_json = n_json,
                                  .bytes = data + *at + HELPER_HEAD + n_json,
                                  .n_bytes = n_bytes };
    *at += HELPER_HEAD + n_json + n_bytes;
    return 1;
}

int helper_frame_add(struct buf *b, const char *json, size_t n_json, const char *bytes,
                     size_t n_bytes, struct err *e)
{
    uint32_t head[2] = { htole32((uint32_t)n_json), htole32((uint32_t)n_bytes) };
    return buf_add(b, head, sizeof head, e) || buf_add(b, json, n_json, e) ||
                   (n_bytes > 0 && buf_add(b, bytes, n_bytes, e))
               ? -1
               : 0;
}
