#include "api/runs/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/approvals/approvals.h"
#include "api/runs/result_fields.h"
#include "base/auto.h"
#include "base/log.h"
#include "base/text.h"
#include "run/json.h"
#include "session/events.h"

enum { BEYOND_RECORDS = 2 };

static const char *const event_words[] = { "waiting", "queued", "started",   "stdout", "stderr",
                                           "network", "done",   "keepalive", NULL };
const struct api_field event_reply[] = {
    { "event", FIELD_STRING, ALWAYS, .one_of = event_words, .help = "kind of the event" },
    { "seq", FIELD_INT, .help = "grows, not always by one; keepalive has none" },
    { "id", FIELD_STRING, .help = "of waiting, queued, started: id of the run" },
    { "approval", FIELD_ANY, .help = "of waiting: the approval that the run waits for" },
    { "started_at", FIELD_STRING, .help = "of started: time at which the program started" },
    { "data", FIELD_DATA, .help = "of stdout, stderr: a piece of the output" },
    { "data_base64", FIELD_STRING, .help = "in place of data, if the bytes are not UTF-8" },
    { "time_ms", FIELD_NUMBER, .help = "of stdout, stderr, network: time since the start" },
    { "connection", FIELD_OBJECT, .fields = connection_reply,
      .help = "of network: a connection that began or ended, or was refused" },
    { "result", FIELD_OBJECT, .fields = result_reply,
      .help = "of done: the result without the streams" },
    { .schema = "Event", .help = "An event of a run" },
};

struct stream {
    struct run_watch watch;
    struct api_call *call;
    struct run *x;          /* that is followed; NULL in a replay */
    struct journal journal; /* of a replay */
    json_t *result;         /* of a replay, or once done */
    enum stream_format format;
    enum journal_kind kind; /* of STREAM_RAW */
    uint64_t after;         /* the number of the last event that the client has */
    struct journal_reader at;
    struct journal_record record;
    struct buf carry[JOURNAL_STREAMS]; /* the first bytes of an incomplete character */
    struct event_reader reader;        /* of the frames of a cell */
    bool cancel, sent_started, over, pumping;
    uint64_t skip, left; /* of STREAM_RAW: bytes before the wanted ones, and wanted bytes */
    uv_timer_t keep_alive;
    struct stream_owner *owner; /* of a part of an answer; NULL: the answer is this stream */
    unsigned slot;
    char id[ID_SIZE]; /* of the run, if there is an owner */
};

static const char *const content_types[] = {
    [STREAM_NDJSON] = "application/x-ndjson",
    [STREAM_SSE] = "text/event-stream",
    [STREAM_RAW] = "application/octet-stream",
};

static const char *const kind_names[JOURNAL_STREAMS] = {
    [JOURNAL_STDOUT] = "stdout",
    [JOURNAL_STDERR] = "stderr",
};

uint64_t stream_last(const struct journal *j)
{
    return j->records + BEYOND_RECORDS + JOURNAL_STREAMS;
}

const char *stream_content_type(enum stream_format format)
{
    return content_types[format];
}

bool stream_asked(const struct api_call *c, bool wanted, enum stream_format *ret_format)
{
    const char *accept = c->http ? http_request_header(&c->http->request, "Accept") : NULL;
    for (int i = STREAM_SSE; accept && i >= 0; i--) {
        if (strcasestr(accept, content_types[i])) {
            *ret_format = (enum stream_format)i;
            return true;
        }
    }
    *ret_format = STREAM_NDJSON;
    return wanted;
}

void stream_send(struct api_call *c, enum stream_format format, uint64_t seq, const char *name,
                 json_t *event)
{
    char *text = event ? json_dumps(event, JSON_COMPACT | JSON_DIGITS) : NULL;
    scoped(buf) b = { 0 };
    struct err e;
    int failed = !text;
    if (!failed && format == STREAM_SSE)
        failed = buf_addf(&b, &e, "id: %" PRIu64 "\nevent: %s\ndata: ", seq, name);
    failed = failed || buf_add(&b, text, strlen(text), &e) ||
             buf_add(&b, "\n\n", format == STREAM_SSE ? 2 : 1, &e);
    if (!failed)
        api_stream_write(c, b.data, b.len);
    free(text);
    json_decref(event);
}

static void emit(const struct stream *s, uint64_t seq, const char *name, json_t *event)
{
    if (s->owner)
        json_put(event, "run", json_string(s->id));
    stream_send(s->call, s->format, seq, name, event);
}

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void stream_free(struct stream *s)
{
    struct run *x = s->x;
    s->x = NULL;
    if (x)
        run_watch_remove(x, &s->watch);
    else
        journal_done(&s->journal);
    json_decref(s->result);
    buf_done(&s->record.bytes);
    event_reader_done(&s->reader);
    for (int i = 0; i < JOURNAL_STREAMS; i++)
        buf_done(&s->carry[i]);
    uv_close((uv_handle_t *)&s->keep_alive, on_timer_closed);
}

static const struct journal *journal_of(const struct stream *s)
{
    return s->x ? &s->x->journal : &s->journal;
}

static json_t *output_event(const struct stream *s, enum journal_kind kind, uint64_t seq,
                            const char *bytes, size_t n)
{
    struct err e;
    json_t *o = json_pack("{s:s, s:I, s:f}", "event", kind_names[kind], "seq", (json_int_t)seq,
                          "time_ms", (double)s->record.time_us / 1000);
    if (text_is_utf8(bytes, n)) {
        (void)json_object_set_new(o, "data", json_stringn_nocheck(bytes, n));
        return o;
    }
    scoped(buf) exact = { 0 };
    if (text_add_base64(&exact, bytes, n, &e) == 0)
        (void)json_object_set_new(o, "data_base64", json_stringn_nocheck(exact.data, exact.len));
    return o;
}

/* A piece of output. An incomplete character at its end goes with the next piece. */
static void send_record(struct stream *s)
{
    struct journal_record *r = &s->record;
    struct buf *carry = &s->carry[r->kind];
    uint64_t seq = 1 + (uint64_t)r->number;
    struct err e;
    if (buf_add(carry, r->bytes.data, r->bytes.len, &e))
        return;
    size_t whole = text_whole(carry->data, carry->len);
    if (seq > s->after && whole > 0)
        emit(s, seq, kind_names[r->kind], output_event(s, r->kind, seq, carry->data, whole));
    memmove(carry->data, carry->data + whole, carry->len - whole);
    carry->len -= whole;
}

/* A frame of a cell is an event, or a part of one. */
static void send_frame(struct stream *s)
{
    uint64_t seq = 1 + (uint64_t)s->record.number;
    json_t *event = event_reader_next(&s->reader, &s->record.bytes);
    if (!event || seq <= s->after) {
        json_decref(event);
        return;
    }
    json_put(event, "seq", json_integer((json_int_t)seq));
    json_put(event, "time_ms", json_real((double)s->record.time_us / 1000));
    char name[32];
    (void)snprintf(name, sizeof name, "%s", json_string_value(json_object_get(event, "event")));
    emit(s, seq, name, event);
}

static void send_network(struct stream *s)
{
    uint64_t seq = 1 + (uint64_t)s->record.number;
    json_t *connection = json_loadb(s->record.bytes.data, s->record.bytes.len, 0, NULL);
    if (!connection || seq <= s->after) {
        json_decref(connection);
        return;
    }
    emit(s, seq, "network",
         json_pack("{s:s, s:I, s:f, s:o}", "event", "network", "seq", (json_int_t)seq, "time_ms",
                   (double)s->record.time_us / 1000, "connection", connection));
}

static void send_raw(struct stream *s)
{
    if (s->record.kind != s->kind)
        return;
    size_t n = s->record.bytes.len;
    size_t from = s->skip < n ? (size_t)s->skip : n;
    s->skip -= from;
    n -= from;
    n = s->left < n ? (size_t)s->left : n;
    s->left -= n;
    api_stream_write(s->call, s->record.bytes.data + from, n);
}

static void send_started(struct stream *s, const char *id, json_t *started_at)
{
    if (s->sent_started) {
        json_decref(started_at);
        return;
    }
    s->sent_started = true;
    json_t *o = json_pack("{s:s, s:i, s:s, s:o}", "event", "started", "seq", 1, "id", id,
                          "started_at", started_at);
    if (s->after < 1)
        emit(s, 1, "started", o);
    else
        json_decref(o);
}

/* The bytes of incomplete characters, and the end. */
static void send_done(struct stream *s)
{
    uint64_t seq = journal_of(s)->records + BEYOND_RECORDS;
    for (int i = 0; i < JOURNAL_STREAMS; i++, seq++)
        if (s->carry[i].len > 0 && seq > s->after)
            emit(s, seq, kind_names[i],
                 output_event(s, (enum journal_kind)i, seq, s->carry[i].data, s->carry[i].len));
    json_t *o = json_pack("{s:s, s:I, s:O}", "event", "done", "seq", (json_int_t)seq, "result",
                          s->result);
    emit(s, seq, "done", o);
}

static void stream_end(struct stream *s)
{
    struct api_call *c = s->call;
    struct stream_owner *owner = s->owner;
    unsigned slot = s->slot;
    stream_free(s);
    if (owner)
        owner->on_end(owner, slot);
    else
        api_stream_end(c);
}

/* Sends available output until the client stops reading. */
static void pump(struct stream *s)
{
    bool more = true;
    struct err e = { 0 };
    if (s->x && !s->sent_started && !s->over) /* output can arrive before "started" */
        return;
    if (s->pumping) /* a write can call on_gone() or on_drain() */
        return;
    s->pumping = true;
    while (s->call->http && api_stream_queued(s->call) < STREAM_QUEUED) {
        if (journal_next(journal_of(s), &s->at, &s->record, &more, &e)) {
            log_error(LOG_ERROR, "stream.failed", &e);
            s->over = true;
            more = false;
        }
        if (!more)
            break;
        if (s->format == STREAM_RAW) {
            send_raw(s);
            more = s->left > 0;
        } else if (s->record.kind == JOURNAL_FRAME)
            send_frame(s);
        else if (s->record.kind == JOURNAL_NETWORK)
            send_network(s);
        else
            send_record(s);
    }
    s->pumping = false;
    if (!s->call->http) {
        if (s->over)
            stream_end(s);
        return;
    }
    if (!more && s->over) {
        if (s->result)
            send_done(s);
        stream_end(s);
    }
}

static void on_run_event(struct run_watch *w, struct run *x, enum run_event event)
{
    struct stream *s = (struct stream *)w;
    if (event == RUN_EVENT_RECORDED || s->format == STREAM_RAW)
        return;
    if (event == RUN_EVENT_STARTED)
        send_started(s, x->id, result_time((uint64_t)x->started_at_ms));
    if (event == RUN_EVENT_DONE) {
        s->over = true;
        s->result = x->record_err.code == ERR_NONE && x->result_json
                        ? json_incref(x->result_json)
                        : json_pack("{s:s, s:s, s:s}", "id", x->id, "verdict", "internal_error",
                                    "error", ERR_SHOWN(&x->record_err));
    }
    pump(s);
}

static void on_drain(struct api_call *c)
{
    pump(c->user);
}

static void on_gone(struct api_call *c)
{
    struct stream *s = c->user;
    if (s->pumping)
        return; /* pump() will see it */
    if (s->x && s->cancel && !s->over)
        run_cancel(s->x);
    stream_end(s);
}

static void on_half_close(struct api_call *c)
{
    struct stream *s = c->user;
    if (s->x && s->cancel && !s->over)
        run_cancel(s->x);
}

int stream_read_seq(const char *text, uint64_t *ret, struct err *e)
{
    char *end;
    errno = 0;
    uint64_t seq = strtoull(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-')
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "Last-Event-ID '%s' is not the seq of an event: a whole number is accepted",
                       QUOTED(text));
    *ret = seq;
    return 0;
}

void stream_keep_alive(struct api_call *c, enum stream_format format)
{
    static const char *const texts[] = { [STREAM_NDJSON] = "{\"event\":\"keepalive\"}\n",
                                         [STREAM_SSE] = ": keep-alive\n\n",
                                         [STREAM_RAW] = "" };
    if (c->http && format != STREAM_RAW && api_stream_queued(c) == 0)
        api_stream_write(c, texts[format], strlen(texts[format]));
}

static void on_keep_alive(uv_timer_t *timer)
{
    const struct stream *s = timer->data;
    stream_keep_alive(s->call, s->format);
}

/* Begins no answer yet. */
static struct stream *stream_make(struct api_call *c, enum stream_format format, uint64_t after)
{
    struct stream *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->call = c;
    s->format = format;
    s->after = after;
    s->left = UINT64_MAX;
    (void)uv_timer_init(c->api->loop, &s->keep_alive);
    s->keep_alive.data = s;
    return s;
}

static struct stream *stream_new(struct api_call *c, int status, enum stream_format format,
                                 uint64_t after)
{
    struct stream *s = stream_make(c, format, after);
    if (!s) {
        api_fail_no_memory(c);
        return NULL;
    }
    c->user = s;
    c->on_gone = on_gone;
    c->on_drain = on_drain;
    c->on_half_close = on_half_close;
    (void)uv_timer_start(&s->keep_alive, on_keep_alive, STREAM_KEEP_ALIVE_MS, STREAM_KEEP_ALIVE_MS);
    api_stream_begin_as(c, status, stream_content_type(format));
    return s;
}

static void begin_follow(struct stream *s, struct run *x, bool cancel)
{
    s->x = x;
    s->cancel = cancel;
    s->watch.on_event = on_run_event;
    run_watch_add(x, &s->watch);
    const char *now = run_state_word(x->state == RUN_WAITING ? RUN_WAITING : RUN_QUEUED);
    if (x->started_at_ms == 0 && s->after == 0)
        emit(s, 0, now,
             json_pack("{s:s, s:i, s:s, s:o*}", "event", now, "seq", 0, "id", x->id, "approval",
                       x->state == RUN_WAITING ? approvals_of_run(s->call->api, x->id) : NULL));
    if (x->started_at_ms > 0)
        send_started(s, x->id, result_time((uint64_t)x->started_at_ms));
    pump(s);
}

static void begin_replay(struct stream *s, const struct journal *j, json_t *result)
{
    s->journal = *j;
    s->result = result;
    s->over = true;
    json_t *started_at = json_object_get(result, "started_at");
    if (json_is_string(started_at))
        send_started(s, json_string_value(json_object_get(result, "id")), json_incref(started_at));
    pump(s);
}

void stream_follow(struct api_call *c, struct run *x, enum stream_format format, uint64_t after,
                   bool cancel)
{
    struct stream *s = stream_new(c, 200, format, after);
    if (s)
        begin_follow(s, x, cancel);
}

void stream_replay(struct api_call *c, struct journal *j, json_t *result, enum stream_format format,
                   uint64_t after)
{
    struct stream *s = stream_new(c, 200, format, after);
    if (s) {
        begin_replay(s, j, result);
        return;
    }
    journal_done(j);
    json_decref(result);
}

static struct stream *member_make(struct stream_owner *o, unsigned slot, struct api_call *c,
                                  const char *id, enum stream_format format, uint64_t after)
{
    struct stream *s = stream_make(c, format, after);
    if (!s) {
        o->on_end(o, slot);
        return NULL;
    }
    s->owner = o;
    s->slot = slot;
    (void)snprintf(s->id, sizeof s->id, "%s", id);
    return s;
}

/* NULL if pump() ended the stream. Its memory is valid until the loop turns. */
static struct stream *unless_over(struct stream *s)
{
    return uv_is_closing((uv_handle_t *)&s->keep_alive) ? NULL : s;
}

struct stream *stream_join(struct stream_owner *o, unsigned slot, struct api_call *c, struct run *x,
                           enum stream_format format, uint64_t after)
{
    struct stream *s = member_make(o, slot, c, x->id, format, after);
    if (!s)
        return NULL;
    begin_follow(s, x, false);
    return unless_over(s);
}

struct stream *stream_join_replay(struct stream_owner *o, unsigned slot, struct api_call *c,
                                  const char *id, struct journal *j, json_t *result,
                                  enum stream_format format, uint64_t after)
{
    struct stream *s = member_make(o, slot, c, id, format, after);
    if (!s) {
        journal_done(j);
        json_decref(result);
        return NULL;
    }
    begin_replay(s, j, result);
    return unless_over(s);
}

void stream_pump(struct stream *s)
{
    pump(s);
}

void stream_leave(struct stream *s)
{
    stream_free(s);
}

/* ---- the bytes of one stream ---- */

/* "bytes=5-9", "bytes=5-", "bytes=-5". True: *skip and *left are the part of `all` bytes, or *left is
 * 0 because there is no such part. Another header is ignored, as RFC 9110 has it. */
static bool read_range(const char *text, uint64_t all, uint64_t *skip, uint64_t *left)
{
    static const char unit[] = "bytes=";
    if (!text || strncmp(text, unit, sizeof unit - 1) != 0)
        return false;
    text += sizeof unit - 1;
    char *end;
    bool is_tail = text[0] == '-';
    const char *digits = text + is_tail;
    if (*digits < '0' || *digits > '9')
        return false;
    errno = 0;
    uint64_t first = strtoull(digits, &end, 10), last = UINT64_MAX;
    if (!is_tail && *end == '-' && end[1] >= '0' && end[1] <= '9')
        last = strtoull(end + 1, &end, 10);
    else if (!is_tail && *end == '-')
        end++;
    if (errno || *end || last < first || (!is_tail && end[-1] != '-' && last == UINT64_MAX))
        return false;
    if (is_tail) {
        *left = first < all ? first : all;
        *skip = all - *left;
        return true;
    }
    *skip = first;
    *left = first >= all ? 0 : last < all - 1 ? last - first + 1 : all - first;
    return true;
}

/* The status of the answer, and the header that names the part. */
static int choose_part(const struct api_call *c, uint64_t all, uint64_t *skip, uint64_t *left)
{
    char text[80];
    *skip = 0;
    *left = UINT64_MAX;
    if (!c->http)
        return 200;
    api_header(c, "Accept-Ranges", "bytes");
    if (!read_range(http_request_header(&c->http->request, "Range"), all, skip, left))
        return 200;
    if (*left == 0)
        (void)snprintf(text, sizeof text, "bytes */%" PRIu64, all);
    else
        (void)snprintf(text, sizeof text, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, *skip,
                       *skip + *left - 1, all);
    api_header(c, "Content-Range", text);
    return *left == 0 ? 416 : 206;
}

void stream_raw(struct api_call *c, struct run *x, struct journal *j, enum journal_kind kind)
{
    uint64_t skip, left;
    int status = choose_part(c, (x ? &x->journal : j)->stream_bytes[kind], &skip, &left);
    struct stream *s = NULL;
    if (status == 416) {
        static const char none[] =
            "The output has no such bytes: Content-Range has their number.\n";
        api_reply_text(c, status, "text/plain; charset=utf-8", none, sizeof none - 1);
    } else {
        s = stream_new(c, status, STREAM_RAW, 0);
    }
    if (!s) {
        if (!x)
            journal_done(j);
        return;
    }
    s->skip = skip;
    s->left = left;
    s->kind = kind;
    s->over = true; /* only the bytes so far */
    s->x = x;
    if (x) {
        s->watch.on_event = on_run_event;
        run_watch_add(x, &s->watch);
    } else {
        s->journal = *j;
    }
    pump(s);
}
