#include "http/reply_reader.h"

#include <stdlib.h>

#include "http/parse.h"

enum body { BODY_NONE, BODY_COUNTED, BODY_CHUNKS, BODY_UNTIL_CLOSE, BODY_RAW };

struct reply_reader {
    const struct reply_events *events;
    void *context;
    bool to_head, upgrades;
    bool has_head; /* the body follows */
    unsigned interim;
    struct buf in; /* the head so far */
    struct head_scan scan;
    struct http_head head;
    enum body body;
    uint64_t left; /* of a counted body */
    struct chunks chunks;
    struct buf piece; /* data of chunks */
};

int reply_reader_new(struct reply_reader **ret, const struct reply_events *events, void *context,
                     bool to_head, bool upgrades, struct err *e)
{
    struct reply_reader *r = calloc(1, sizeof *r);
    if (!r)
        return err_no_memory(e, "an answer");
    r->events = events;
    r->context = context;
    r->to_head = to_head;
    r->upgrades = upgrades;
    *ret = r;
    return 0;
}

void reply_reader_free(struct reply_reader *r)
{
    if (!r)
        return;
    buf_done(&r->in);
    buf_done(&r->piece);
    head_done(&r->head);
    free(r);
}

static int no_answer(const struct refusal *why, struct err *e)
{
    return err_set(e, ERR_PROTOCOL, 0, "this is no answer of HTTP: %s", why->detail);
}

static enum body body_of(const struct reply_reader *r, const struct answer_head *a)
{
    if (a->status == 101)
        return BODY_RAW;
    if (r->to_head || a->status == 204 || a->status == 304)
        return BODY_NONE;
    return r->head.chunked ? BODY_CHUNKS : a->until_close ? BODY_UNTIL_CLOSE : BODY_COUNTED;
}

/* The head is bytes[from, at) of the input. */
static int take_head(struct reply_reader *r, struct err *e)
{
    struct answer_head a;
    struct refusal why = { 0 };
    if (head_parse_answer(&r->head, r->in.data + r->scan.from, r->scan.at - r->scan.from,
                          r->scan.lines, &a, &why))
        return no_answer(&why, e);
    r->scan = (struct head_scan){ 0 };
    if (a.status >= 200 || (a.status == 101 && r->upgrades)) {
        r->has_head = true;
        r->body = body_of(r, &a);
        r->left = r->body == BODY_COUNTED ? r->head.length : 0;
        r->events->on_head(r->context, a.status, a.headers, a.n_headers);
        return 0;
    }
    if (a.status == 101)
        return err_set(e, ERR_PROTOCOL, 0, "it upgrades a connection that did not ask for it");
    if (++r->interim > REPLY_INTERIM_MAX)
        return err_set(e, ERR_PROTOCOL, 0, "more than %d interim answers came", REPLY_INTERIM_MAX);
    return 0;
}

/* Returns the number of bytes that belong to heads, or -1. A head that is not complete is kept. */
static ssize_t feed_head(struct reply_reader *r, const char *bytes, size_t n, struct err *e)
{
    static const struct http_limits limits = { .head_bytes = REPLY_HEAD_MAX,
                                               .headers = REPLY_HEADERS_MAX };
    struct refusal why = { 0 };
    size_t used = 0;
    while (used < n && !r->has_head) {
        size_t before = r->in.len;
        if (buf_add(&r->in, bytes + used, n - used, e))
            return -1;
        int found = head_scan(&r->scan, r->in.data, r->in.len, &limits, &why);
        if (found < 0)
            return no_answer(&why, e);
        if (found == 0)
            return (ssize_t)n;
        used += r->scan.at - before;
        if (take_head(r, e))
            return -1;
        r->in.len = 0;
    }
    return (ssize_t)used;
}

static int feed_body(struct reply_reader *r, const char *bytes, size_t n, struct err *e)
{
    struct refusal why = { 0 };
    if (r->body == BODY_CHUNKS) {
        r->piece.len = 0;
        if (chunks_feed(&r->chunks, bytes, n, &r->piece, SIZE_MAX / 2, &why) < 0)
            return no_answer(&why, e);
        bytes = r->piece.data;
        n = r->piece.len;
    } else if (r->body == BODY_COUNTED) {
        n = n < r->left ? n : (size_t)r->left;
        r->left -= n;
    } else if (r->body == BODY_NONE) {
        n = 0;
    }
    if (n > 0)
        r->events->on_body(r->context, bytes, n);
    return 0;
}

static bool is_whole(const struct reply_reader *r)
{
    return r->has_head &&
           (r->body == BODY_NONE || (r->body == BODY_COUNTED && r->left == 0) || r->chunks.over);
}

int reply_reader_feed(struct reply_reader *r, const char *bytes, size_t n, enum reply_state *ret,
                      struct err *e)
{
    if (!r->has_head) {
        ssize_t used = feed_head(r, bytes, n, e);
        if (used < 0)
            return -1;
        bytes += used;
        n -= (size_t)used;
    }
    if (r->has_head && n > 0 && !is_whole(r) && feed_body(r, bytes, n, e))
        return -1;
    *ret = is_whole(r)                          ? REPLY_WHOLE
           : r->has_head && r->body == BODY_RAW ? REPLY_UPGRADED
                                                : REPLY_MORE;
    return 0;
}

bool reply_reader_end(const struct reply_reader *r)
{
    return is_whole(r) || (r->has_head && (r->body == BODY_UNTIL_CLOSE || r->body == BODY_RAW));
}
