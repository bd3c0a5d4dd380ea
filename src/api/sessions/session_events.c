/* GET /v1/sessions/{id}/events: the life of a session as a stream, with a warning before its end. */
#include <stdlib.h>

#include "api/runs/stream.h"
#include "api/sessions/replay.h"
#include "api/sessions/session_find.h"
#include "run/json.h"
#include "run/result.h"

struct session_stream {
    struct session_watch watch;
    struct api_call *call;
    struct session *session;
    enum stream_format format;
    uint64_t seq;
    bool behind;      /* states were left out: the client does not read */
    unsigned sending; /* above 0: a write can call on_gone() */
    uv_timer_t keep_alive;
};

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void end(struct session_stream *t)
{
    struct api_call *c = t->call;
    session_watch_remove(t->session, &t->watch);
    uv_close((uv_handle_t *)&t->keep_alive, on_timer_closed);
    api_stream_end(c);
}

/* Takes over the reference. The client may be gone after it. */
static void send_event(struct session_stream *t, const char *name, json_t *event)
{
    t->seq++;
    json_put(event, "event", json_string(name));
    json_put(event, "seq", json_integer((json_int_t)t->seq));
    t->sending++;
    stream_send(t->call, t->format, t->seq, name, event);
    t->sending--;
}

static json_t *expiry(const struct session *s)
{
    const char *why = NULL;
    int64_t at = session_expires_ms(s, &why);
    return json_pack("{s:o, s:s}", "expires_at", result_time((uint64_t)at), "limit", why);
}

/* A client that does not read gets the latest state once it reads again. */
static void send_state(struct session_stream *t)
{
    const struct session *s = t->session;
    t->behind = api_stream_queued(t->call) >= STREAM_QUEUED;
    if (!t->behind)
        send_event(t, "state",
                   json_pack("{s:s, s:o}", "state", session_state_word(s->state), "expires_at",
                             result_time((uint64_t)session_expires_ms(s, NULL))));
}

static void on_session_event(struct session_watch *w, struct session *s, enum session_event event)
{
    struct session_stream *t = (struct session_stream *)w;
    if (event == SESSION_EVENT_STATE)
        send_state(t);
    else if (event == SESSION_EVENT_EXPIRING)
        send_event(t, "expiring", expiry(s));
    else if (event == SESSION_EVENT_REPLAYED)
        send_event(t, "replayed", json_pack("{s:O}", "replayed", s->replayed));
    else if (event == SESSION_EVENT_ENDED)
        send_event(t, "ended",
                   json_pack("{s:o, s:s}", "ended_at", result_time((uint64_t)s->ended_ms), "reason",
                             s->reason));
    if (event == SESSION_EVENT_ENDED || !t->call->http)
        end(t);
}

static void on_gone(struct api_call *c)
{
    struct session_stream *t = c->user;
    if (t->sending == 0) /* otherwise the sender sees it */
        end(t);
}

static void on_drain(struct api_call *c)
{
    struct session_stream *t = c->user;
    if (t->sending > 0 || !t->behind)
        return;
    send_state(t);
    if (!c->http)
        end(t);
}

static void on_keep_alive(uv_timer_t *timer)
{
    struct session_stream *t = timer->data;
    t->sending++;
    stream_keep_alive(t->call, t->format);
    t->sending--;
    if (!t->call->http)
        end(t);
}

static void get_events(struct api_call *c)
{
    enum stream_format format;
    (void)stream_asked(c, true, &format);
    struct session *s = session_to_see(c);
    if (!s)
        return;
    struct session_stream *t = calloc(1, sizeof *t);
    if (!t) {
        api_fail_no_memory(c);
        return;
    }
    *t = (struct session_stream){
        .watch.on_event = on_session_event, .call = c, .session = s, .format = format
    };
    (void)uv_timer_init(c->api->loop, &t->keep_alive);
    t->keep_alive.data = t;
    (void)uv_timer_start(&t->keep_alive, on_keep_alive, STREAM_KEEP_ALIVE_MS, STREAM_KEEP_ALIVE_MS);
    session_watch_add(s, &t->watch);
    c->user = t;
    c->on_gone = on_gone;
    c->on_drain = on_drain;
    t->sending++;
    api_stream_begin(c, stream_content_type(format));
    if (c->http)
        send_state(t);
    if (c->http && session_expires_soon(s)) /* the warning came before this client did */
        send_event(t, "expiring", expiry(s));
    t->sending--;
    if (!c->http)
        end(t);
}

static const char *const event_words[] = { "state", "expiring",  "replayed",
                                           "ended", "keepalive", NULL };
static const struct api_field event_fields[] = {
    { "event", FIELD_STRING, ALWAYS, .one_of = event_words, .help = "kind of the event" },
    { "seq", FIELD_INT, .help = "number of the event in this stream; keepalive has none" },
    { "state", FIELD_STRING, .one_of = session_state_words, .help = "of state: the new state" },
    { "expires_at", FIELD_STRING,
      .help = "of state, expiring: time of its end if it is not used again" },
    { "limit", FIELD_STRING, .help = "of expiring: idle_s or ttl_s; a cell puts off idle_s" },
    { "replayed", FIELD_OBJECT, .fields = replayed_reply,
      .help = "of replayed: it could not wake, and its cells ran again" },
    { "ended_at", FIELD_STRING, .help = "of ended: time of its end" },
    { "reason", FIELD_STRING, .help = "of ended: why it ended" },
    { .schema = "SessionEvent", .help = "An event in the life of a session" },
};

const struct api_route session_event_routes[] = {
    { METHOD_GET, "/v1/sessions/{id}/events", SCOPE_ANY, .handle = get_events,
      .summary = "The states of a session, and a warning before its end, as a stream",
      .replies = REPLIES(EVENT_REPLIES(event_fields)) },
    { 0 },
};
