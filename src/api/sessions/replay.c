/* The replay of a session: the cells that made its state run again, in their order, as new cells.
 *
 *   wake fails ─► plan: the rows of the cells ─► read one ─► run it ─► compare ─► … ─► report
 *
 * The session waits in session/sleep.c meanwhile, and keeps its image until the end. */
#include "api/sessions/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/job.h"
#include "api/sessions/cell_marks.h"
#include "api/sessions/cell_result.h"
#include "api/sessions/cell_submit.h"
#include "api/sessions/session_find.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/strv.h"
#include "base/text.h"
#include "run/json.h"
#include "run/result.h"
#include "session/events.h"
#include "store/run_rows.h"
#include "store/session_rows.h"

enum { CELLS_MAX = 10000, ANCESTORS_MAX = 100, NAMED_MAX = 100 };

enum outcome { SAME, DIFFERS, FAILED, SKIPPED, OUTCOMES };
static const char *const outcome_words[] = { "same", "differs", "failed", "skipped", NULL };

struct replay {
    struct session_wait wait;     /* first */
    struct store_job job;         /* in flight if `busy` */
    struct run_watch watch;       /* of `run` */
    struct session_record record; /* in flight if `busy` */
    struct session_watch alive;   /* so that the session lives until the end */
    struct api_call *call;
    struct session *session;
    struct run *run; /* the cell that runs; NULL: none */
    bool began, busy, over;
    struct err why, failed;
    char id[ID_SIZE];
    int64_t newest;
    int output_dir_fd;
    char **cells; /* ids of runs, in order */
    size_t n, at;
    json_t *old; /* the cell that is next, as it was */
    char *code;
    uint64_t wall_ms;
    bool silent;
    json_t *rows;
    json_t *named[OUTCOMES]; /* numbers of cells */
    size_t count[OUTCOMES];
};

static void replay_free(struct replay *r)
{
    strv_free(r->cells);
    json_decref(r->old);
    json_decref(r->rows);
    for (int i = 0; i < OUTCOMES; i++)
        json_decref(r->named[i]);
    free(r->code);
    free(r);
}

/* ---- the plan: in a store thread ---- */

static bool is_word(const json_t *o, const char *key, const char *word)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text && strcmp(text, word) == 0;
}

/* A cell that never ran, or was lost with its jar, has no effect. */
static bool has_run(const struct run_record *row)
{
    json_auto_t *result = row->result ? json_loads(row->result, JSON_ALLOW_NUL, NULL) : NULL;
    return row->state == RUN_FINISHED && row->code && json_object_get(result, "status") &&
           !is_word(result, "status", "lost");
}

static int plan_cells(struct db *db, struct replay *r, const char *session,
                      const struct cell_marks *m, struct err *e)
{
    char **ids = NULL;
    int rc = sessions_cells_after(db, session, 0, CELLS_MAX + 1, &ids, e);
    for (size_t i = 0; rc == 0 && i < strv_len(ids); i++) {
        scoped(run_record) row = { 0 };
        if (runs_get(db, ids[i], RUN_WITHOUT_BLOBS, &row, e)) {
            rc = -1;
            break;
        }
        json_auto_t *request = row.request ? json_loads(row.request, JSON_ALLOW_NUL, NULL) : NULL;
        json_int_t number = json_integer_value(json_object_get(request, "cell"));
        if (number < 1 || number > m->newest || cell_rolled_back_by(m, number) || !has_run(&row))
            continue;
        rc = r->n++ < CELLS_MAX
                 ? strv_add(&r->cells, ids[i], e)
                 : err_set(e, ERR_CONFLICT, 0, "more than %d cells made its state", CELLS_MAX);
    }
    strv_free(ids);
    return rc;
}

/* The cells of the sessions that it is a copy of come first. */
static int plan_session(struct db *db, struct replay *r, const char *id, struct cell_marks *m,
                        const struct session_row *row, unsigned depth, struct err *e)
{
    scoped(session_row) parent = { 0 };
    struct cell_marks before;
    if (!cell_marks_reach_beginning(m) || !row->parent)
        return plan_cells(db, r, id, m, e);
    if (depth >= ANCESTORS_MAX || sessions_get(db, row->parent, &parent, e) ||
        strcmp(parent.key ? parent.key : "", row->key ? row->key : "") != 0)
        return err_set(e, ERR_CONFLICT, 0,
                       "session '%s', which it is a copy of, is not in the history any longer",
                       row->parent);
    cell_marks_init_state(&before, &parent, row->parent_cell, row->created_ms);
    int rc = plan_session(db, r, row->parent, &before, &parent, depth + 1, e) ||
                     plan_cells(db, r, id, m, e)
                 ? -1
                 : 0;
    cell_marks_done(&before);
    return rc;
}

static int plan_work(struct db *db, struct store_job *job, struct err *e)
{
    struct replay *r = (struct replay *)((char *)job - offsetof(struct replay, job));
    scoped(session_row) row = { 0 };
    struct cell_marks marks;
    if (sessions_get(db, r->id, &row, e))
        return -1;
    cell_marks_init(&marks, &row, r->newest);
    int rc = plan_session(db, r, r->id, &marks, &row, 0, e);
    cell_marks_done(&marks);
    return rc;
}

/* ---- one cell ---- */

static void next(struct replay *r);

static void stop(struct replay *r, const struct err *e)
{
    char why[ERR_TEXT_MAX];
    (void)snprintf(why, sizeof why, "its cells could not be replayed: %.170s", ERR_SHOWN(e));
    session_replay_fail(r->session, why);
}

/* The end of a job. False: nobody waits for it any longer. */
static bool goes_on(struct replay *r)
{
    struct err e = r->job.err;
    r->busy = false;
    if (r->over) {
        replay_free(r);
        return false;
    }
    if (e.code == ERR_NONE)
        return true;
    stop(r, &e);
    return false;
}

static void add_row(struct replay *r, enum outcome outcome, json_t *differs, unsigned as)
{
    json_t *number = json_object_get(r->old, "cell");
    (void)json_array_append_new(r->rows, json_pack("{s:O, s:O, s:s, s:o, s:o}", "cell", number,
                                                   "session", json_object_get(r->old, "session"),
                                                   "outcome", outcome_words[outcome], "differs",
                                                   differs ? differs : json_array(), "as",
                                                   as ? json_integer(as) : json_null()));
    if (r->count[outcome]++ < NAMED_MAX)
        (void)json_array_append_new(r->named[outcome], as ? json_integer(as) : json_incref(number));
}

/* The parts of the answer that are not as before. */
static json_t *differences(const json_t *old, const json_t *new)
{
    static const char *const keys[] = { "status", "stdout", "stderr", "result", "displays" };
    static const char *const of_error[] = { "name", "message" };
    json_t *list = json_array();
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (!json_equal(json_object_get(old, keys[i]), json_object_get(new, keys[i])))
            (void)json_array_append_new(list, json_string(keys[i]));
    const json_t *a = json_object_get(old, "error"), *b = json_object_get(new, "error");
    bool same = json_is_object(a) == json_is_object(b);
    for (size_t i = 0; same && json_is_object(a) && i < ARRAY_LEN(of_error); i++)
        same = json_equal(json_object_get(a, of_error[i]), json_object_get(b, of_error[i]));
    if (!same)
        (void)json_array_append_new(list, json_string("error"));
    return list;
}

static void on_cell_event(struct run_watch *w, struct run *run, enum run_event event)
{
    struct replay *r = (struct replay *)((char *)w - offsetof(struct replay, watch));
    size_t room = GUEST_VALUES_MAX;
    if (event != RUN_EVENT_DONE)
        return;
    json_auto_t *cell = cell_object(run->result_json, &run->journal, &room);
    json_t *differs = differences(r->old, cell);
    bool same_status = json_equal(json_object_get(r->old, "status"),
                                  json_object_get(cell, "status"));
    run_watch_remove(run, w);
    r->run = NULL;
    add_row(r,
            !same_status                   ? FAILED
            : json_array_size(differs) > 0 ? DIFFERS
                                           : SAME,
            differs, r->session->cells);
    next(r);
}

static void run_cell(struct replay *r)
{
    struct err e = { 0 };
    char field[128] = "";
    json_auto_t *code = json_string_nocheck(r->code);
    json_auto_t *metadata = json_pack("{s:O, s:O}", "replay_of", json_object_get(r->old, "cell"),
                                      "session", json_object_get(r->old, "session"));
    struct cell_request request = { .code = code,
                                    .metadata = metadata,
                                    .wall_ms = r->wall_ms,
                                    .silent = r->silent,
                                    .reads_stdin = true }; /* nobody kept it */
    if (cell_submit(r->call, r->session, &request, &r->run, field, sizeof field, &e)) {
        r->run = NULL;
        stop(r, &e);
        return;
    }
    session_save(r->session); /* its row counts the cells: no number comes twice */
    r->watch.on_event = on_cell_event;
    run_watch_add(r->run, &r->watch);
}

static int read_work(struct db *db, struct store_job *job, struct err *e)
{
    struct replay *r = (struct replay *)((char *)job - offsetof(struct replay, job));
    size_t room = GUEST_VALUES_MAX;
    scoped(run_record) row = { 0 };
    if (runs_get(db, r->cells[r->at], RUN_WITH_JOURNAL, &row, e))
        return -1;
    json_auto_t *request = json_loads(row.request, JSON_ALLOW_NUL, NULL);
    const json_t *limits = json_object_get(request, "limits");
    r->old = cell_row_object(&row, row.thread ? row.thread : r->id, r->output_dir_fd, &room);
    r->code = text_copy(row.code);
    r->silent = json_is_true(json_object_get(request, "silent"));
    r->wall_ms = (uint64_t)json_integer_value(
        json_object_get(limits, limit_defs[LIMIT_WALL_MS].key));
    return r->old && r->code ? 0 : err_no_memory(e, "a cell");
}

static void on_read(struct store_job *job)
{
    struct replay *r = (struct replay *)((char *)job - offsetof(struct replay, job));
    if (!goes_on(r))
        return;
    uint64_t most = r->call->api->settings->limit_max.v[LIMIT_WALL_MS];
    if (r->wall_ms < 1 || r->wall_ms > most)
        r->wall_ms = most;
    r->at++;
    /* Nobody knows how far it came. */
    if (is_word(r->old, "status", "interrupted") || is_word(r->old, "status", "timeout")) {
        add_row(r, SKIPPED, NULL, 0);
        next(r);
    } else {
        run_cell(r);
    }
}

static json_t *report(const struct replay *r)
{
    json_t *o = json_pack("{s:o, s:s, s:I}", "at", result_time((uint64_t)clock_unix_ms()), "reason",
                          ERR_SHOWN(&r->why), "cells",
                          (json_int_t)r->count[SAME] + (json_int_t)r->count[DIFFERS] +
                              (json_int_t)r->count[FAILED]);
    for (int i = DIFFERS; i < OUTCOMES; i++)
        (void)json_object_set(o, outcome_words[i], r->named[i]);
    json_put(o, "note",
             json_string("the cells ran again in a new program: random numbers, times, and files "
                         "that no cell wrote may differ from the state that slept"));
    return o;
}

/* The replay has happened once its record is written. */
static void on_recorded(struct session_record *record, const struct err *e)
{
    struct replay *r = (struct replay *)((char *)record - offsetof(struct replay, record));
    r->busy = false;
    if (r->over)
        replay_free(r);
    else if (e)
        stop(r, e);
    else
        session_replayed(r->session, report(r)); /* on_awake() follows */
}

static void finish(struct replay *r)
{
    r->busy = true;
    r->record.on_done = on_recorded;
    session_record(r->session, &r->record, "session.replayed", r->call->who.name,
                   json_pack("{s:i, s:i, s:i}", "cells", (int)r->session->cells, "failed",
                             (int)r->count[FAILED], "differ", (int)r->count[DIFFERS]));
}

static void next(struct replay *r)
{
    json_decref(r->old);
    r->old = NULL;
    free(r->code);
    r->code = NULL;
    if (r->at == strv_len(r->cells)) {
        finish(r);
        return;
    }
    r->busy = true;
    r->job = (struct store_job){ .work = read_work, .done = on_read };
    store_read(r->call->api->store, &r->job);
}

/* ---- its beginning and its end ---- */

static void on_planned(struct store_job *job)
{
    struct replay *r = (struct replay *)((char *)job - offsetof(struct replay, job));
    if (goes_on(r))
        next(r);
}

static void on_session_event(struct session_watch *w, struct session *s, enum session_event event)
{
    (void)w;
    (void)s;
    (void)event;
}

static void on_replay(struct session_wait *w, struct session *s, const struct err *why)
{
    struct replay *r = (struct replay *)w;
    r->began = true;
    r->why = *why;
    r->newest = s->cells;
    r->output_dir_fd = r->call->api->output_dir_fd;
    r->rows = json_array();
    for (int i = 0; i < OUTCOMES; i++)
        r->named[i] = json_array();
    (void)snprintf(r->id, sizeof r->id, "%s", s->id);
    r->alive.on_event = on_session_event;
    session_watch_add(s, &r->alive);
    r->busy = true;
    r->job = (struct store_job){ .work = plan_work, .done = on_planned };
    store_read(r->call->api->store, &r->job);
}

static void on_awake(struct session_wait *w, struct session *s, const struct err *e)
{
    struct replay *r = (struct replay *)w;
    if (e) {
        api_fail(r->call, e, NULL);
    } else {
        json_t *o = session_object(s);
        json_put(o, "replay", r->began ? json_incref(r->rows) : json_null());
        api_reply_after_writes(r->call, 200, o);
    }
    r->over = true;
    if (r->run)
        run_watch_remove(r->run, &r->watch);
    if (r->began)
        session_watch_remove(s, &r->alive);
    if (!r->busy)
        replay_free(r);
}

void session_wake_or_replay(struct api_call *c, struct session *s)
{
    struct err e = { 0 };
    struct replay *r = calloc(1, sizeof *r);
    if (!r) {
        api_fail_no_memory(c);
        return;
    }
    *r = (struct replay){ .wait = { .on_done = on_awake, .on_replay = on_replay },
                          .call = c,
                          .session = s };
    if (session_wake(s, &r->wait, &e)) {
        free(r);
        api_fail(c, &e, NULL);
    }
}

/* ---- answers ---- */

const struct api_field replayed_reply[] = {
    { "at", FIELD_STRING, ALWAYS, .help = "time" },
    { "reason", FIELD_STRING, ALWAYS, .help = "why its image could not be woken" },
    { "cells", FIELD_INT, ALWAYS, .help = "number of cells that ran again" },
    { "differs", FIELD_ANY, ALWAYS,
      .help = "numbers of new cells with other outputs than before, up to 100" },
    { "failed", FIELD_ANY, ALWAYS,
      .help = "numbers of new cells with another status than before, up to 100" },
    { "skipped", FIELD_ANY, ALWAYS,
      .help = "numbers of cells that were interrupted then and did not run again, up to 100" },
    { "note", FIELD_STRING, ALWAYS, .help = "a sentence about the limits of a replay" },
    { 0 },
};
const struct api_field replay_row_reply[] = {
    { "cell", FIELD_INT, OR_NULL, .help = "number of the cell that was replayed" },
    { "session", FIELD_STRING, ALWAYS, .help = "id of the session that ran it then" },
    { "outcome", FIELD_STRING, ALWAYS, .one_of = outcome_words,
      .help = "same; differs: other outputs; failed: another status; skipped: it was interrupted "
              "then, and did not run again" },
    { "differs", FIELD_STRINGS, ALWAYS, .help = "fields of the cell that are not as before" },
    { "as", FIELD_INT, OR_NULL, .help = "number of the new cell" },
    { 0 },
};
