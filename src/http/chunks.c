/* http/chunks.c — decodes a chunked body, byte by byte and strictly. */
#include "http/parse.h"

enum { SIZE_DIGITS_MAX = 15, LINE_MAX_BYTES = 256, TRAILERS_MAX_BYTES = 8192 };

enum {
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_SIZE_LF,
    CHUNK_DATA,
    CHUNK_DATA_CR,
    CHUNK_DATA_LF,
    TRAILER_START,
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    CHUNKS_END_LF,
};

static bool is_text(char b)
{
    unsigned char u = (unsigned char)b;
    return (u >= 0x20 && u != 0x7f) || u == '\t';
}

static int bad_chunk(struct refusal *r)
{
    return refuse(r, 400,
                  "the chunked body is malformed; a chunk is its size in hex, CR LF, "
                  "its bytes, CR LF");
}

static int size_byte(struct chunks *c, char b, struct refusal *r)
{
    int digit = hex_value(b);
    if (digit >= 0 && c->line < SIZE_DIGITS_MAX) {
        c->left = c->left * 16 + (uint64_t)digit;
        c->line++;
        return 0;
    }
    if (c->line == 0 || (b != ';' && b != '\r'))
        return bad_chunk(r);
    c->state = b == ';' ? CHUNK_EXTENSION : CHUNK_SIZE_LF;
    return 0;
}

static int extension_byte(struct chunks *c, char b, struct refusal *r)
{
    if (b == '\r')
        c->state = CHUNK_SIZE_LF;
    else if (!is_text(b) || ++c->line > LINE_MAX_BYTES)
        return bad_chunk(r);
    return 0;
}

/* Accepts exactly this byte and goes to the next state. */
static int expect(struct chunks *c, char b, char wanted, int next, struct refusal *r)
{
    if (b != wanted)
        return bad_chunk(r);
    c->state = next;
    c->line = next == TRAILER_START ? c->line : 0;
    return 0;
}

static int trailer_byte(struct chunks *c, char b, struct refusal *r)
{
    if (++c->line > TRAILERS_MAX_BYTES)
        return refuse(r, 431, "the trailers are larger than %d bytes; send fewer",
                      TRAILERS_MAX_BYTES);
    if (c->state == TRAILER_START && b == '\r')
        c->state = CHUNKS_END_LF;
    else if (c->state == TRAILER_VALUE && b == '\r')
        c->state = TRAILER_LF;
    else if (c->state == TRAILER_NAME && b == ':')
        c->state = TRAILER_VALUE;
    else if (c->state == TRAILER_VALUE ? !is_text(b) : !is_token_byte(b))
        return refuse(r, 400, "a trailer is malformed; trailers are 'Name: value' CR LF");
    else if (c->state == TRAILER_START)
        c->state = TRAILER_NAME;
    return 0;
}

static int framing_byte(struct chunks *c, char b, struct refusal *r)
{
    switch (c->state) {
    case CHUNK_SIZE:
        return size_byte(c, b, r);
    case CHUNK_EXTENSION:
        return extension_byte(c, b, r);
    case CHUNK_SIZE_LF:
        return expect(c, b, '\n', c->left > 0 ? CHUNK_DATA : TRAILER_START, r);
    case CHUNK_DATA_CR:
        return expect(c, b, '\r', CHUNK_DATA_LF, r);
    case CHUNK_DATA_LF:
        return expect(c, b, '\n', CHUNK_SIZE, r);
    case TRAILER_LF:
        return expect(c, b, '\n', TRAILER_START, r);
    case CHUNKS_END_LF:
        c->over = b == '\n';
        return c->over ? 0 : bad_chunk(r);
    default:
        return trailer_byte(c, b, r);
    }
}

ssize_t chunks_feed(struct chunks *c, const char *bytes, size_t n, struct buf *body,
                    size_t body_max, struct refusal *r)
{
    size_t at = 0;
    struct err e;
    while (at < n && !c->over) {
        if (c->state != CHUNK_DATA) {
            if (framing_byte(c, bytes[at++], r))
                return -1;
            if (c->left > body_max || body->len > body_max - c->left)
                return refuse(r, 413, "the body is larger than %zu bytes; send less", body_max);
            continue;
        }
        size_t take = n - at < c->left ? n - at : (size_t)c->left;
        if (buf_add(body, bytes + at, take, &e))
            return refuse(r, 503, "no memory for the body; try again later");
        at += take;
        c->left -= take;
        if (c->left == 0)
            c->state = CHUNK_DATA_CR;
    }
    return (ssize_t)at;
}
