/* POST /v1/sessions/{id}/sleep and /wake: sessions without a jar, whose programs are on the disk. */
#include <stdlib.h>

#include "api/kernel/storage.h"
#include "api/runs/run_spec.h"
#include "api/sessions/replay.h"
#include "api/sessions/session_find.h"
#include "run/json.h"

struct sleep_call {
    struct session_wait wait;
    struct api_call *call;
};

static json_t *with_not_carried(json_t *o, json_t *list)
{
    json_put(o, "not_carried", list ? json_incref(list) : json_array());
    return o;
}

static void on_asleep(struct session_wait *w, struct session *s, const struct err *e)
{
    struct sleep_call *l = (struct sleep_call *)w;
    if (e)
        api_fail(l->call, e, NULL);
    else
        api_reply(l->call, 200, with_not_carried(session_object(s), w->not_carried));
    json_decref(w->not_carried);
    free(l);
}

static json_t *without_replay(const struct session *s)
{
    json_t *o = session_object(s);
    json_put(o, "replay", json_null());
    return o;
}

static void on_awake(struct session_wait *w, struct session *s, const struct err *e)
{
    struct sleep_call *l = (struct sleep_call *)w;
    if (e)
        api_fail(l->call, e, NULL);
    else
        api_reply(l->call, 200, without_replay(s));
    free(l);
}

static const struct api_field sleep_fields[] = {
    { "strict", FIELD_BOOL,
      .help = "true: refuse if a thread, a child, a pipe or a socket would be lost" },
    { "compress", FIELD_BOOL,
      .help = "whether its image on the disk is compressed; images.compress by default" },
    { 0 },
};

static void post_sleep(struct api_call *c)
{
    struct err e = { 0 };
    struct session *s = session_to_change(c);
    if (!s)
        return;
    if (s->state == SESSION_SLEEPING && !s->sleep) {
        api_reply(c, 200, with_not_carried(session_object(s), NULL));
        return;
    }
    struct sleep_call *l = calloc(1, sizeof *l);
    if (!l) {
        api_fail_no_memory(c);
        return;
    }
    *l = (struct sleep_call){ .wait.on_done = on_asleep, .call = c };
    if (json_object_get(c->body, "compress"))
        l->wait.compression = run_flag(c->body, "compress", false) ? SLEEP_COMPRESSED
                                                                   : SLEEP_UNCOMPRESSED;
    if (storage_check(c->api, &e) ||
        session_sleep(s, run_flag(c->body, "strict", false), &l->wait, &e)) {
        free(l);
        api_fail(c, &e, NULL);
    }
}

static const struct api_field wake_fields[] = {
    { "replay", FIELD_BOOL,
      .help = "true: if its image cannot be woken, run its cells again in a new program" },
    { 0 },
};

static void post_wake(struct api_call *c)
{
    struct err e = { 0 };
    struct session *s = session_to_change(c);
    if (!s)
        return;
    if (!session_must_wake(s)) {
        api_reply(c, 200, without_replay(s));
        return;
    }
    if (run_flag(c->body, "replay", false)) {
        session_wake_or_replay(c, s);
        return;
    }
    struct sleep_call *l = calloc(1, sizeof *l);
    if (!l) {
        api_fail_no_memory(c);
        return;
    }
    *l = (struct sleep_call){ .wait.on_done = on_awake, .call = c };
    if (session_wake(s, &l->wait, &e)) {
        free(l);
        api_fail(c, &e, NULL);
    }
}

static const struct api_field sleep_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of the session" },
    { "state", FIELD_STRING, ALWAYS, .help = "sleeping" },
    { "not_carried", FIELD_STRINGS, ALWAYS,
      .help = "threads, children, pipes and sockets that are not there when it wakes; words of the "
              "session's program" },
    { .schema = "Sleep", .fields = session_reply, .help = "A session that sleeps" },
};

static const struct api_field wake_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of the session" },
    { "state", FIELD_STRING, ALWAYS, .help = "idle" },
    { "replay", FIELD_OBJECTS, OR_NULL, .fields = replay_row_reply,
      .help = "the cells that ran again, in order; null: its image was woken, or it was awake" },
    { .schema = "Wake", .fields = session_reply, .help = "A session that is awake" },
};

const struct api_route session_sleep_routes[] = {
    { METHOD_POST, "/v1/sessions/{id}/sleep", SCOPE_RUN, .flags = ROUTE_BODY_OPTIONAL,
      .body = sleep_fields, .handle = post_sleep,
      .summary = "Put a session on the disk, and free its memory",
      .replies = REPLIES({ 200, .fields = sleep_reply }) },
    { METHOD_POST, "/v1/sessions/{id}/wake", SCOPE_RUN, .flags = ROUTE_BODY_OPTIONAL,
      .body = wake_fields, .handle = post_wake,
      .summary = "Wake a session; a cell or a question does the same",
      .replies = REPLIES({ 200, .fields = wake_reply }) },
    { 0 },
};
