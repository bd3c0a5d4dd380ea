/* POST /v1/streams: the events of many runs, and news of the service, in one answer. A browser opens
 * few connections to a host; with one stream for each run, many open views would starve. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/approvals/approvals_impl.h"
#include "api/kernel/job.h"
#include "api/meta/meta.h"
#include "api/runs/history_routes.h"
#include "api/runs/run_result.h"
#include "api/runs/stream.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "run/json.h"
#include "session/session.h"

enum { RUNS_MAX = 64, LOOK_MS = 250, STATS_MS = 1000 };
enum feed { FEED_APPROVALS, FEED_SESSIONS, FEED_STATS, FEED_COUNT_ };
static const char *const feed_words[] = { "approvals", "sessions", "stats", NULL };

struct member {
    struct stream *stream; /* NULL: its row is being read, or it is over */
    bool is_over;
};

/* From the request to the end of its answer. */
struct streams {
    struct stream_owner owner; /* first */
    struct api_call *call;
    enum stream_format format;
    struct member members[RUNS_MAX];
    unsigned n, n_over, lookups;
    unsigned turn;     /* the member that is pumped first */
    unsigned feeds;    /* bits of enum feed */
    uint64_t marks[2]; /* of the approvals and sessions that were told last */
    uint64_t told_ms;  /* the last event of a feed, or keep-alive */
    uint64_t stats_ms;
    bool gone;
    uv_timer_t timer; /* looks at the feeds; ends the answer */
};

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static bool is_finished(const struct streams *t)
{
    return t->lookups == 0 && (t->gone || (t->feeds == 0 && t->n_over == t->n));
}

/* Only the timer ends the answer, so that no function meets a freed object. */
static void end(struct streams *t)
{
    struct api_call *c = t->call;
    for (unsigned i = 0; i < t->n; i++)
        if (t->members[i].stream)
            stream_leave(t->members[i].stream);
    c->on_gone = c->on_drain = c->on_half_close = NULL;
    uv_close((uv_handle_t *)&t->timer, on_timer_closed);
    api_stream_end(c);
}

static void on_timer(uv_timer_t *timer);

static void end_soon(struct streams *t)
{
    if (is_finished(t))
        (void)uv_timer_start(&t->timer, on_timer, 0, 0);
}

static void on_end(struct stream_owner *o, unsigned slot)
{
    struct streams *t = (struct streams *)o;
    t->members[slot].stream = NULL;
    t->members[slot].is_over = true;
    t->n_over++;
    end_soon(t);
}

/* Takes over the reference. */
static void tell(struct streams *t, const char *name, json_t *event)
{
    json_put(event, "event", json_string(name));
    t->told_ms = uv_now(t->call->api->loop);
    if (t->call->http)
        stream_send(t->call, t->format, 0, name, event);
    else
        json_decref(event);
}

/* ---- feeds ---- */

static uint64_t mix(uint64_t mark, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < n; i++)
        mark = (mark ^ at[i]) * 0x100000001b3;
    return mark;
}

static uint64_t mark_of_approvals(const struct api *api)
{
    uint64_t mark = 1;
    for (const struct pending_approval *p = api->approvals->pending; p; p = p->next)
        if (!p->over && p->decision == DECISION_PENDING)
            mark = mix(mark, p->id, strlen(p->id));
    return mark;
}

static uint64_t mark_of_sessions(const struct api *api)
{
    uint64_t mark = 1;
    for (const struct session *s = sessions_first(api->sessions); s; s = s->next) {
        mark = mix(mark, s->id, strlen(s->id));
        mark = mix(mark, &s->state, sizeof s->state);
        mark = mix(mark, &s->cells, sizeof s->cells);
    }
    return mark;
}

static json_t *stats_event(const struct api *api)
{
    struct engine_counts n = engine_counts(api->engine);
    struct engine_pools pools = engine_pools(api->engine);
    struct sessions_counts s = sessions_counts(api->sessions);
    uint64_t finished = 0;
    for (int i = 0; i < VERDICT_COUNT_; i++)
        finished += n.finished[i];
    return json_pack("{s:f, s:{s:i, s:i, s:i, s:i}, s:{s:I, s:I, s:I, s:I, s:f}, s:I, s:o, s:b}",
                     "time_ms", (double)clock_us() / 1000, "now", "running", (int)n.running,
                     "queued", (int)n.queued, "waiting", (int)n.undecided, "sessions",
                     (int)sessions_count(api->sessions, NULL), "since_start", "accepted",
                     (json_int_t)n.accepted, "refused", (json_int_t)n.refused, "finished",
                     (json_int_t)finished, "started", (json_int_t)n.started, "start_ms",
                     (double)n.start_us / 1000, "memory_bytes",
                     (json_int_t)engine_promised_memory(api->engine) + (json_int_t)s.memory_bytes,
                     "pools", meta_pools(&pools), "memory_pressure", (int)pools.short_of_memory);
}

static bool has_feed(const struct streams *t, enum feed f)
{
    return t->feeds & 1U << f;
}

static void look(struct streams *t)
{
    struct api *api = t->call->api;
    static uint64_t (*const mark_of[])(const struct api *) = { mark_of_approvals,
                                                               mark_of_sessions };
    uint64_t now = uv_now(api->loop);
    if (api_stream_queued(t->call) >= STREAM_QUEUED)
        return; /* the client does not read; it gets the latest news later */
    for (unsigned f = 0; f < ARRAY_LEN(mark_of); f++) {
        uint64_t mark = has_feed(t, (enum feed)f) ? mark_of[f](api) : t->marks[f];
        if (mark != t->marks[f])
            tell(t, feed_words[f], json_object());
        t->marks[f] = mark;
    }
    if (has_feed(t, FEED_STATS) && now - t->stats_ms >= STATS_MS) {
        t->stats_ms = now;
        engine_pools_refresh(api->engine);
        tell(t, feed_words[FEED_STATS], stats_event(api));
    }
    if (now - t->told_ms >= STREAM_KEEP_ALIVE_MS) {
        t->told_ms = now;
        stream_keep_alive(t->call, t->format);
    }
}

static void on_timer(uv_timer_t *timer)
{
    struct streams *t = timer->data;
    if (t->call->api->draining)
        t->feeds = 0; /* otherwise the service would wait for the client */
    if (is_finished(t))
        end(t);
    else if (t->call->http)
        look(t);
}

/* ---- runs ---- */

static void tell_missing(struct streams *t, unsigned slot, const char *id, const char *why)
{
    tell(t, "missing", json_pack("{s:s, s:s}", "run", id, "message", why));
    on_end(&t->owner, slot);
}

struct stream_lookup {
    struct api_job job;
    struct streams *owner;
    unsigned slot;
    uint64_t after;
    char id[ID_SIZE];
    struct run_record row;
};

static int lookup_work(struct db *db, struct store_job *job, struct err *e)
{
    struct stream_lookup *l = (struct stream_lookup *)job;
    return runs_get(db, l->id, RUN_WITH_JOURNAL, &l->row, e);
}

static void join_found(struct stream_lookup *l)
{
    struct streams *t = l->owner;
    struct journal j;
    struct err e = { 0 };
    if (history_open_journal(t->call, &l->row, &j, &e)) {
        journal_done(&j);
        tell_missing(t, l->slot, l->id, ERR_SHOWN(&e));
        return;
    }
    t->members[l->slot].stream = stream_join_replay(&t->owner, l->slot, t->call, l->id, &j,
                                                    history_result(&l->row), t->format, l->after);
}

static void lookup_done(struct store_job *job)
{
    struct stream_lookup *l = (struct stream_lookup *)job;
    struct streams *t = l->owner;
    t->lookups--;
    bool seen = job->err.code == ERR_NONE &&
                history_may_see(t->call, l->row.key, l->row.created_ms);
    if (t->gone)
        on_end(&t->owner, l->slot);
    else if (seen)
        join_found(l);
    else
        tell_missing(t, l->slot, l->id,
                     job->err.code == ERR_NONE || job->err.code == ERR_NOT_FOUND
                         ? "there is no such run (GET /v1/runs lists them; old ones are removed)"
                         : ERR_SHOWN(&job->err));
    run_record_done(&l->row);
    free(l);
    end_soon(t);
}

static void join(struct streams *t, unsigned slot, const char *id, uint64_t after)
{
    struct run *x = engine_find(t->call->api->engine, id);
    if (x && history_may_see(t->call, x->spec.key, x->queued_at_ms)) {
        t->members[slot].stream = stream_join(&t->owner, slot, t->call, x, t->format, after);
        return;
    }
    struct stream_lookup *l = calloc(1, sizeof *l);
    if (!l) {
        tell_missing(t, slot, id, "memory ran out: ask again");
        return;
    }
    l->job = (struct api_job){ .store = { .work = lookup_work, .done = lookup_done },
                               .call = t->call };
    l->owner = t;
    l->slot = slot;
    l->after = after;
    (void)snprintf(l->id, sizeof l->id, "%s", id);
    t->lookups++;
    api_job_read(&l->job);
}

/* ---- the request ---- */

static void on_gone(struct api_call *c)
{
    struct streams *t = c->user;
    t->gone = true;
    end_soon(t);
}

/* Members take turns: a program that floods does not hold up the others. */
static void on_drain(struct api_call *c)
{
    struct streams *t = c->user;
    if (t->gone)
        return;
    t->turn++;
    for (unsigned i = 0; i < t->n; i++) {
        struct stream *s = t->members[(t->turn + i) % t->n].stream;
        if (s)
            stream_pump(s);
    }
}

static int read_feeds(const struct api_call *c, unsigned *ret, struct err *e)
{
    size_t i;
    json_t *word;
    unsigned set = 0;
    json_array_foreach(json_object_get(c->body, "feeds"), i, word) {
        unsigned f = 0;
        while (f < FEED_COUNT_ && strcmp(feed_words[f], json_string_value(word)) != 0)
            f++;
        if (f == FEED_COUNT_)
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "feeds[%zu] '%s' is unknown: approvals, sessions and stats are accepted",
                           i, QUOTED(json_string_value(word)));
        set |= 1U << f;
    }
    *ret = set;
    return 0;
}

/* News of other callers' runs are for keys that may read them. */
static void drop_denied_feeds(struct streams *t)
{
    if (t->call->who.scopes & (SCOPE_BIT(SCOPE_READ) | SCOPE_BIT(SCOPE_ADMIN)))
        return;
    for (unsigned f = 0; f < FEED_COUNT_; f++) {
        if (!has_feed(t, (enum feed)f) || f == FEED_SESSIONS)
            continue;
        tell(t, "denied",
             json_pack("{s:s, s:s}", "feed", feed_words[f], "message",
                       "this key has no scope 'read': the operator can make one that has it"));
        t->feeds &= ~(1U << f);
    }
}

static void begin(struct streams *t)
{
    struct api_call *c = t->call;
    const json_t *runs = json_object_get(c->body, "runs");
    size_t i;
    json_t *run;
    c->user = t;
    c->on_gone = on_gone;
    c->on_half_close = on_gone; /* a browser that wants other runs closes the connection */
    c->on_drain = on_drain;
    api_stream_begin(c, stream_content_type(t->format));
    drop_denied_feeds(t);
    t->n = (unsigned)json_array_size(runs);
    json_array_foreach(runs, i, run)
        join(t, (unsigned)i, json_string_value(json_object_get(run, "id")),
             (uint64_t)json_integer_value(json_object_get(run, "after")));
    if (is_finished(t))
        end_soon(t);
    else
        (void)uv_timer_start(&t->timer, on_timer, 0, LOOK_MS);
}

static void post_streams(struct api_call *c)
{
    struct err e = { 0 };
    unsigned feeds = 0;
    if (read_feeds(c, &feeds, &e)) {
        api_fail(c, &e, "feeds");
        return;
    }
    struct streams *t = calloc(1, sizeof *t);
    if (!t) {
        api_fail_no_memory(c);
        return;
    }
    t->owner.on_end = on_end;
    t->call = c;
    t->feeds = feeds;
    t->told_ms = uv_now(c->api->loop);
    (void)stream_asked(c, true, &t->format);
    (void)uv_timer_init(c->api->loop, &t->timer);
    t->timer.data = t;
    begin(t);
}

/* ---- fields ---- */

static const struct api_field wanted_fields[] = {
    { "id", FIELD_STRING, .required = true, .min = 1, .max = ID_SIZE - 1,
      .help = "id of a run, or of the run of a cell" },
    { "after", FIELD_INT, .min = 0, .max = 1e15,
      .help = "the seq of the last event of this run that the client has" },
    { 0 },
};
static const struct api_field streams_fields[] = {
    { "runs", FIELD_OBJECTS, .fields = wanted_fields, .max = RUNS_MAX, .help = "runs to follow" },
    { "feeds", FIELD_STRINGS, .max = FEED_COUNT_,
      .help = "approvals, sessions: an event for each change, and one at once; stats: counts, once "
              "a second. With a feed the answer has no end" },
    { 0 },
};
static const struct api_field streams_reply[] = {
    { "event", FIELD_STRING, ALWAYS,
      .help = "an event of a run; missing, approvals, sessions, stats, denied or keepalive" },
    { "run", FIELD_STRING, .help = "of events of a run, and of missing: its id" },
    { "message", FIELD_STRING, .help = "of missing, denied: the reason" },
    { "feed", FIELD_STRING, .one_of = feed_words, .help = "of denied: the feed" },
    { "now", FIELD_ANY, .help = "of stats: runs and sessions at this moment" },
    { "since_start", FIELD_ANY,
      .help =
          "of stats: counts since the start; start_ms is the sum of the times from acceptance to "
          "start" },
    { "memory_bytes", FIELD_INT, .help = "of stats: memory of runs and sessions" },
    { "pools", FIELD_ANY, .fields = pool_reply, .help = "of stats: a Pool for each kind" },
    { "memory_pressure", FIELD_BOOL, .help = "of stats: true if memory is short" },
    { .schema = "StreamEvent", .fields = event_reply, .help = "An event of one of many streams" },
};

const struct api_route stream_routes[] = {
    { METHOD_POST, "/v1/streams", SCOPE_ANY, .body = streams_fields, .handle = post_streams,
      .summary = "Events of many runs, and news of the service, in one answer",
      .replies = REPLIES(EVENT_REPLIES(streams_reply)) },
    { 0 },
};
