#include "api/sessions/session_find.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/kernel/job.h"
#include "api/runs/history_routes.h"
#include "api/runs/mount_request.h"
#include "api/runs/network_request.h"
#include "api/sessions/replay.h"
#include "base/moment.h"
#include "base/text.h"
#include "run/json.h"
#include "run/result.h"
#include "store/session_rows.h"

/* ---- a session that is not there ---- */

struct gone_job {
    struct api_job job;
    char id[API_PARAM_SIZE];
    struct session_row row;
};

static int gone_work(struct db *db, struct store_job *job, struct err *e)
{
    struct gone_job *g = (struct gone_job *)job;
    return sessions_get(db, g->id, &g->row, e);
}

static void gone_done(struct store_job *job)
{
    struct gone_job *g = (struct gone_job *)job;
    struct api_call *c = g->job.call;
    struct err e = job->err;
    char at[MOMENT_SIZE];
    bool known = e.code == ERR_NONE && history_may_see(c, g->row.key, g->row.created_ms);
    if (known && g->row.ended_ms)
        (void)!err_set(&e, ERR_GONE, 0, "session '%s' ended at %s: %s; create a new one", g->row.id,
                       moment_format(g->row.ended_ms, at),
                       g->row.reason ? g->row.reason : "no reason is known");
    else if (known)
        (void)!err_set(&e, ERR_GONE, 0, "session '%s' is ending: create a new one", g->row.id);
    else if (e.code == ERR_NONE || e.code == ERR_NOT_FOUND)
        (void)!err_set(&e, ERR_NOT_FOUND, 0,
                       "there is no session '%s': GET /v1/sessions lists them", QUOTED(g->id));
    api_fail(c, &e, NULL);
    session_row_done(&g->row);
    free(g);
}

static void answer_gone(struct api_call *c)
{
    struct gone_job *g = api_job_new(c, sizeof *g, gone_work, gone_done);
    if (!g)
        return;
    (void)snprintf(g->id, sizeof g->id, "%s", c->params[0]);
    api_job_read(&g->job);
}

struct session *session_to_see(struct api_call *c)
{
    struct session *s = session_find(c->api->sessions, c->params[0]);
    if (s && history_may_see(c, s->spec.key, s->created_ms))
        return s;
    answer_gone(c);
    return NULL;
}

struct session *session_to_change(struct api_call *c)
{
    struct err e = { 0 };
    struct session *s = session_to_see(c);
    if (!s || history_is_own(c, s->spec.key, s->created_ms) ||
        (c->who.scopes & SCOPE_BIT(SCOPE_ADMIN)))
        return s;
    (void)!err_set(&e, ERR_DENIED, 0,
                   "session '%s' belongs to another key: only that key and keys with scope 'admin' "
                   "may use it",
                   s->id);
    api_fail(c, &e, NULL);
    return NULL;
}

/* ---- a session that sleeps ---- */

struct wake_call {
    struct session_wait wait;
    struct api_call *call;
};

static void on_awake(struct session_wait *w, struct session *s, const struct err *e)
{
    struct wake_call *l = (struct wake_call *)w;
    struct api_call *c = l->call;
    struct err gone = { 0 };
    (void)s;
    free(l);
    if (!e && !c->http) { /* a handler may need the request */
        (void)!err_set(&gone, ERR_UNAVAILABLE, 0, "the client left");
        e = &gone;
    }
    if (e)
        api_fail(c, e, NULL);
    else
        c->route->handle(c);
}

struct session *session_to_use(struct api_call *c)
{
    struct err e = { 0 };
    struct session *s = session_to_change(c);
    if (!s || !session_must_wake(s))
        return s;
    struct wake_call *l = calloc(1, sizeof *l);
    if (!l) {
        api_fail_no_memory(c);
        return NULL;
    }
    *l = (struct wake_call){ .wait.on_done = on_awake, .call = c };
    if (session_wake(s, &l->wait, &e)) {
        free(l);
        api_fail(c, &e, NULL);
    }
    return NULL;
}

/* ---- a session as JSON ---- */

const char *const session_idle_words[] = { "end", "sleep", NULL };

const struct api_field session_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of the session" },
    { "name", FIELD_STRING, OR_NULL, .help = "as in the request" },
    { "language", FIELD_STRING, ALWAYS, .help = "its name in GET /v1/languages" },
    { "state", FIELD_STRING, ALWAYS, .one_of = session_state_words,
      .help = "starting, idle, busy (a cell runs), sleeping (it has no jar) or ended" },
    { "key", FIELD_STRING, OR_NULL, .help = "name of the API key" },
    { "created_at", FIELD_STRING, OR_NULL, .help = "time of its creation" },
    { "used_at", FIELD_STRING, OR_NULL, .help = "time at which a cell last began or ended" },
    { "expires_at", FIELD_STRING, OR_NULL, .help = "time of its end if it is not used again" },
    { "ended_at", FIELD_STRING, OR_NULL, .help = "null while it lives" },
    { "reason", FIELD_STRING, OR_NULL, .help = "why it ended; null while it lives" },
    { "idle_s", FIELD_NUMBER, .help = "it ends or sleeps after so many seconds without a cell" },
    { "idle", FIELD_STRING, .one_of = session_idle_words, .help = "end or sleep, after idle_s" },
    { "ttl_s", FIELD_NUMBER,
      .help = "it ends so many seconds after its creation; the time of its sleep does not count" },
    { "asleep_since", FIELD_STRING, .nullable = true, .help = "null while it is awake" },
    { "sleep_error", FIELD_STRING, .nullable = true,
      .help = "why it could not sleep or wake the last time; null if it could" },
    { "replayed", FIELD_OBJECT, .nullable = true, .fields = replayed_reply,
      .help = "of a session that could not wake, so that its cells ran again: the last replay" },
    { "cells", FIELD_INT, ALWAYS, .help = "number of cells so far" },
    { "at_cell", FIELD_INT,
      .help =
          "the last cell whose effects its state has: after a rollback an earlier one; 0: none" },
    { "undo", FIELD_INT, .help = "the states before so many of its last cells are kept" },
    { "network", FIELD_ANY, .help = "none, or the hosts that it may reach" },
    { "mounts", FIELD_OBJECTS, .fields = mount_fields,
      .help = "directories of the machine, in /mnt" },
    { "parent", FIELD_STRING, .nullable = true, .help = "id of the session that it is a copy of" },
    { "cell", FIELD_INT, .nullable = true, .help = "number of the cell that runs" },
    { "awaits_input", FIELD_BOOL, .help = "true if that cell waits for POST stdin" },
    { "waiting", FIELD_INT, .help = "number of cells in line, with the one that runs" },
    { "restarts", FIELD_INT, .help = "number of restarts" },
    { "memory_bytes", FIELD_INT, .nullable = true,
      .help =
          "memory of its jar: now in GET /v1/sessions/{id}, elsewhere when it was last measured, "
          "as after each cell; null if it never was" },
    { "limits", FIELD_LIMIT_VALUES, .help = "the limits of its life" },
    { "cell_limits", FIELD_ANY, .help = "wall_ms, cpu_ms and output of a cell" },
    { "metadata", FIELD_ANY, .nullable = true, .help = "as in the request" },
    { .schema = "Session" },
};

static json_t *life_limits(const struct session *s)
{
    json_t *o = json_object();
    for (int i = 0; i < LIMIT_COUNT; i++)
        json_put(o, limit_defs[i].key, json_integer((json_int_t)s->spec.limits.v[i]));
    return o;
}

static json_t *cell_limits(const struct session *s)
{
    static const enum limit_id ids[] = { LIMIT_WALL_MS, LIMIT_CPU_MS, LIMIT_OUTPUT };
    json_t *o = json_object();
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        json_put(o, limit_defs[ids[i]].key,
                 json_integer((json_int_t)s->spec.cell_limits.v[ids[i]]));
    return o;
}

json_t *session_object(const struct session *s)
{
    const struct cell *current = session_current(s);
    unsigned waiting = 0;
    for (const struct cell *c = s->first; c; c = c->next)
        waiting += !c->run || !c->run->is_over;
    json_t *o = json_pack("{s:s, s:s?, s:s, s:s, s:s?, s:i, s:i, s:i, s:b}", "id", s->id, "name",
                          s->spec.name, "language", s->spec.language->name, "state",
                          session_state_word(s->state), "key", s->spec.key, "cells", (int)s->cells,
                          "restarts", (int)s->restarts, "waiting", (int)waiting, "awaits_input",
                          current && current->awaits_input);
    bool over = s->state == SESSION_ENDED;
    json_put(o, "created_at", result_time((uint64_t)s->created_ms));
    json_put(o, "used_at", result_time((uint64_t)s->used_ms));
    json_put(o, "expires_at",
             over ? json_null() : result_time((uint64_t)session_expires_ms(s, NULL)));
    json_put(o, "ended_at", result_time((uint64_t)s->ended_ms));
    json_put(o, "reason", json_text_or_null(over ? s->reason : NULL));
    json_put(o, "idle_s", json_real((double)s->spec.idle_ms / 1000));
    json_put(o, "idle", json_string(session_idle_words[s->spec.idle_sleeps]));
    json_put(o, "asleep_since", result_time((uint64_t)s->asleep_since_ms));
    json_put(o, "sleep_error", json_text_or_null(s->sleep_error[0] ? s->sleep_error : NULL));
    json_put(o, "ttl_s", json_real((double)s->spec.limits.v[LIMIT_WALL_MS] / 1000));
    json_put(o, "cell", current ? json_integer(current->number) : json_null());
    json_put(o, "memory_bytes",
             s->memory_bytes ? json_integer((json_int_t)s->memory_bytes) : json_null());
    json_put(o, "at_cell", json_integer(s->at_cell));
    json_put(o, "undo", json_integer(s->spec.undo));
    json_put(o, "network", network_to_json(&s->spec.network));
    json_put(o, "mounts", mounts_to_json(s->spec.mounts));
    json_put(o, "parent", json_text_or_null(s->spec.parent));
    json_put(o, "replayed", s->replayed ? json_incref(s->replayed) : json_null());
    json_put(o, "limits", life_limits(s));
    json_put(o, "cell_limits", cell_limits(s));
    json_put(o, "metadata", s->spec.metadata ? json_incref(s->spec.metadata) : json_null());
    return o;
}
