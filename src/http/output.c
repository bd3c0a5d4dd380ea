/* http/output.c — hands the bytes of answers to the kernel and counts the unread ones. */
#include <string.h>

#include "http/connection.h"

void buf_shrink(struct buf *b, size_t keep)
{
    b->len = 0;
    if (b->cap > keep)
        buf_done(b);
}

void output_done(struct output *o)
{
    buf_done(&o->queued);
    buf_done(&o->body);
    buf_done(&o->flying[0]);
    buf_done(&o->flying[1]);
}

bool output_is_empty(const struct connection *c)
{
    return !c->out.busy && c->out.queued.len == 0 && c->out.body.len == 0;
}

size_t output_bytes(const struct connection *c)
{
    size_t flying = c->out.busy ? uv_stream_get_write_queue_size(&c->uv.stream) : 0;
    return flying + c->out.queued.len + c->out.body.len;
}

bool output_goes_forward(struct connection *c, uint64_t now)
{
    struct output *o = &c->out;
    size_t left = o->busy ? uv_stream_get_write_queue_size(&c->uv.stream) : 0;
    if (left == 0 || left < o->left) {
        o->left = left;
        o->since = now;
    }
    return now - o->since < c->server->limits.write_ms;
}

/* The unread bytes of each answer count towards the total. */
static void count(struct connection *c)
{
    struct output *o = &c->out;
    size_t flying = o->busy ? o->flying[0].len + o->flying[1].len : 0;
    size_t kept = o->queued.len + o->body.len + flying;
    c->server->answers += kept - o->counted;
    o->counted = kept;
}

void output_uncount(struct connection *c)
{
    c->server->answers -= c->out.counted;
    c->out.counted = 0;
}

/* A small answer always fits, and so does a single one of any size. */
bool output_fits(const struct connection *c, size_t n)
{
    const struct http_server *s = c->server;
    return n <= BODY_READ_BYTES || s->answers == 0 ||
           (n <= s->limits.bodies_bytes && s->answers <= s->limits.bodies_bytes - n);
}

static void on_written(uv_write_t *req, int status)
{
    struct connection *c = req->data;
    struct output *o = &c->out;
    o->busy = false;
    buf_shrink(&o->flying[0], KEPT_BYTES);
    buf_done(&o->flying[1]);
    if (c->phase == PHASE_CLOSED)
        return;
    if (status < 0) {
        connection_drop(c);
        return;
    }
    output_flush(c);
    if (c->streams && !c->answered && output_is_empty(c) && c->x.on_drain)
        c->x.on_drain(&c->x);
    connection_advance(c);
}

/* The kernel accepted only a part: libuv writes the rest later. */
static void write_rest(struct connection *c, size_t written)
{
    struct output *o = &c->out;
    struct buf spare = o->flying[0];
    o->flying[0] = o->queued;
    o->queued = spare;
    o->flying[1] = o->body;
    o->body = (struct buf){ 0 };
    uv_buf_t rest[2];
    unsigned n = 0;
    for (int i = 0; i < 2; i++) {
        size_t len = o->flying[i].len;
        size_t skip = written < len ? written : len;
        written -= skip;
        if (len > skip)
            rest[n++] = (uv_buf_t){ o->flying[i].data + skip, len - skip };
    }
    o->write.data = c;
    o->busy = true;
    if (uv_write(&o->write, &c->uv.stream, rest, n, on_written) < 0) {
        o->busy = false;
        connection_drop(c);
        return;
    }
    o->left = uv_stream_get_write_queue_size(&c->uv.stream);
    o->since = uv_now(c->server->loop);
}

static void flush(struct connection *c)
{
    struct output *o = &c->out;
    size_t total = o->queued.len + o->body.len;
    if (o->busy || total == 0 || c->phase == PHASE_CLOSED)
        return;
    uv_buf_t all[2] = { { o->queued.data, o->queued.len }, { o->body.data, o->body.len } };
    int written = uv_try_write(&c->uv.stream, all, o->body.len > 0 ? 2 : 1);
    if (written < 0 && written != UV_EAGAIN) {
        connection_drop(c);
        return;
    }
    if (written >= 0 && (size_t)written == total) {
        buf_shrink(&o->queued, KEPT_BYTES);
        buf_done(&o->body);
        return;
    }
    write_rest(c, written < 0 ? 0 : (size_t)written);
}

void output_flush(struct connection *c)
{
    flush(c);
    count(c);
}
