/* /v1/sessions/{id}/exec, /cells and /notebook: the cells of a session. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/inner.h"
#include "api/kernel/job.h"
#include "api/runs/history_routes.h"
#include "api/runs/run_result.h"
#include "api/runs/run_spec.h"
#include "api/runs/stream.h"
#include "api/sessions/cell_marks.h"
#include "api/sessions/cell_result.h"
#include "api/sessions/cell_submit.h"
#include "api/sessions/notebook.h"
#include "api/sessions/session_find.h"
#include "base/auto.h"
#include "base/strv.h"
#include "base/text.h"
#include "run/json.h"
#include "session/events.h"
#include "spec/bundle.h"
#include "spec/permission.h"
#include "store/session_rows.h"

/* ---- POST exec ---- */

static const struct api_field exec_fields[] = {
    { "code", FIELD_STRING, .required = true, .max = (double)BUNDLE_FILE_MAX_BYTES,
      .help = "the cell", .also = "source,cell,script" },
    { "stream", FIELD_BOOL,
      .help = "answer with events during the cell (NDJSON, or SSE by the header Accept)" },
    { "silent", FIELD_BOOL, .help = "no result, no entry in the history of the language" },
    { "timeout", FIELD_NUMBER, .min = 0.001, .max = 86400,
      .help = "seconds until the cell is interrupted; cell_limits.wall_ms by default" },
    { "wait", FIELD_BOOL, .help = "false answers 202 with the id at once; true by default" },
    { "cancel_on_disconnect", FIELD_BOOL, .help = "interrupt the cell if the client goes away" },
    { "permission_mode", FIELD_STRING, .one_of = permission_modes,
      .help = "default, manual and acceptEdits ask a person first" },
    { "metadata", FIELD_ANY, .help = "any JSON; the answer returns it" },
    { 0 },
};

struct cell_waiter {
    struct run_watch watch;
    struct api_call *call;
    struct run *run;
    bool cancel;
};

static void on_done(struct run_watch *watch, struct run *run, enum run_event event)
{
    struct cell_waiter *w = (struct cell_waiter *)watch;
    size_t room = GUEST_VALUES_MAX;
    if (event != RUN_EVENT_DONE)
        return;
    if (run->record_err.code != ERR_NONE)
        api_fail(w->call, &run->record_err, NULL);
    else
        api_reply(w->call, 200, cell_object(run->result_json, &run->journal, &room));
    run_watch_remove(run, watch);
    free(w);
}

static void on_client_left(struct api_call *c)
{
    struct cell_waiter *w = c->user;
    if (w->cancel)
        run_cancel(w->run);
}

static int submit(struct api_call *c, struct session *s, struct run **ret, char *field, size_t size,
                  struct err *e)
{
    struct cell_request request = { .code = json_object_get(c->body, "code"),
                                    .metadata = json_object_get(c->body, "metadata"),
                                    .permission_mode = api_text(c, "permission_mode"),
                                    .silent = run_flag(c->body, "silent", false) };
    if (session_check_branch(s, e))
        return -1;
    if (cell_timeout(c, s, &request.wall_ms, e)) {
        (void)snprintf(field, size, "timeout");
        return -1;
    }
    return cell_submit(c, s, &request, ret, field, size, e);
}

static void post_exec(struct api_call *c)
{
    struct err e = { 0 };
    char field[128] = "";
    enum stream_format format;
    bool streamed = stream_asked(c, run_flag(c->body, "stream", false), &format);
    struct run *run = NULL;
    struct session *s = session_to_use(c);
    if (!s)
        return;
    struct cell_waiter *w = calloc(1, sizeof *w);
    if (!w || submit(c, s, &run, field, sizeof field, &e)) {
        if (!w)
            (void)!err_no_memory(&e, "a cell");
        free(w);
        api_fail(c, &e, field[0] ? field : NULL);
        return;
    }
    inner_tell_run(c, run);
    bool cancel = run_flag(c->body, "cancel_on_disconnect", false);
    if (streamed || !run_flag(c->body, "wait", true)) {
        free(w);
        if (streamed)
            stream_follow(c, run, format, 0, cancel);
        else /* so that the next call of the client finds the cell */
            api_reply_after_writes(c, 202,
                                   json_pack("{s:s, s:s, s:s, s:i}", "id", run->id, "state",
                                             run_state_word(run->state), "session", s->id, "cell",
                                             (int)s->cells));
        return;
    }
    *w = (struct cell_waiter){
        .watch = { on_done, NULL }, .call = c, .run = run, .cancel = cancel
    };
    run_watch_add(run, &w->watch);
    c->user = w;
    c->on_gone = c->on_half_close = on_client_left;
}

/* ---- the history of a session ---- */

enum { CELLS_LISTED = 50, CELLS_MAX = NOTEBOOK_CELLS_MAX, CELLS_BYTES = NOTEBOOK_MIB_MAX << 20 };

struct cells_job {
    struct api_job job;
    char session[API_PARAM_SIZE];
    int64_t limit, after; /* after -1: the newest */
    int output_dir_fd;
    bool notebook, seen;
    bool cut; /* cells are missing because of CELLS_BYTES */
    char language[LANGUAGE_NAME_SIZE];
    char **ids;
    json_t *cells; /* the oldest first */
};

/* Of the caller, by the key of the session. */
static bool may_see(const struct cells_job *l, const struct session_row *row)
{
    return history_may_see(l->job.call, row->key, row->created_ms);
}

static int mark_rolled_back(struct db *db, const struct session_row *row, json_t *cells,
                            struct err *e)
{
    size_t i;
    json_t *cell;
    int64_t newest;
    struct cell_marks marks;
    if (sessions_count_cells(db, row->id, &newest, e))
        return -1;
    cell_marks_init(&marks, row, newest);
    json_array_foreach(cells, i, cell)
        cell_marks_put(&marks, cell);
    cell_marks_done(&marks);
    return 0;
}

/* The ids of the runs, in the order in which they are added. */
static int list_cells(struct db *db, struct cells_job *l, struct err *e)
{
    unsigned limit = (unsigned)l->limit;
    return l->after >= 0 ? sessions_cells_after(db, l->session, l->after, limit, &l->ids, e)
                         : sessions_cells_newest(db, l->session, limit, &l->ids, e);
}

static int add_cell(struct db *db, struct cells_job *l, const char *id, size_t *bytes, size_t *room,
                    struct err *e)
{
    scoped(run_record) row = { 0 };
    if (runs_get(db, id, RUN_WITH_JOURNAL, &row, e))
        return -1;
    json_t *cell = cell_row_object(&row, l->session, l->output_dir_fd, room);
    *bytes += json_dumpb(cell, NULL, 0, JSON_COMPACT); /* the journal may be in a file */
    (void)json_array_insert_new(l->cells, l->after < 0 ? 0 : json_array_size(l->cells), cell);
    return 0;
}

static int cells_work(struct db *db, struct store_job *job, struct err *e)
{
    struct cells_job *l = (struct cells_job *)job;
    scoped(session_row) row = { 0 };
    size_t bytes = 0, room = GUEST_VALUES_MAX, i = 0, n;
    if (sessions_get(db, l->session, &row, e) || list_cells(db, l, e))
        return -1;
    l->seen = may_see(l, &row);
    (void)snprintf(l->language, sizeof l->language, "%s", row.language);
    for (n = l->seen ? strv_len(l->ids) : 0; i < n && bytes < CELLS_BYTES; i++)
        if (add_cell(db, l, l->ids[i], &bytes, &room, e))
            return -1;
    l->cut = i < n;
    return l->seen ? mark_rolled_back(db, &row, l->cells, e) : 0;
}

static void cells_done(struct store_job *job)
{
    struct cells_job *l = (struct cells_job *)job;
    struct api_call *c = l->job.call;
    struct err e = job->err;
    if (e.code == ERR_NOT_FOUND || (e.code == ERR_NONE && !l->seen)) {
        (void)!err_set(&e, ERR_NOT_FOUND, 0,
                       "there is no session '%s': GET /v1/sessions lists them", QUOTED(l->session));
        api_fail(c, &e, NULL);
    } else if (e.code != ERR_NONE) {
        api_fail(c, &e, NULL);
    } else if (l->notebook) {
        api_reply(c, 200, notebook_json(l->language, l->cells));
    } else {
        api_reply(c, 200, json_pack("{s:O, s:b}", "cells", l->cells, "cut", l->cut));
    }
    json_decref(l->cells);
    strv_free(l->ids);
    free(l);
}

static struct cells_job *cells_job_new(struct api_call *c)
{
    struct cells_job *l = api_job_new(c, sizeof *l, cells_work, cells_done);
    if (!l)
        return NULL;
    (void)snprintf(l->session, sizeof l->session, "%s", c->params[0]);
    l->limit = CELLS_MAX;
    l->after = -1;
    l->output_dir_fd = c->api->output_dir_fd;
    l->cells = json_array();
    return l;
}

static const struct api_field cells_query[] = {
    { "limit", FIELD_INT, .min = 1, .max = CELLS_MAX, .help = "number of cells; 50 by default" },
    { "after", FIELD_INT, .min = 0, .max = 1e9,
      .help = "the first cells after this number; the newest cells by default" },
    { 0 },
};

static void get_cells(struct api_call *c)
{
    struct err e = { 0 };
    int64_t limit = CELLS_LISTED, after = -1;
    if (api_query_number(c, "limit", 1, CELLS_MAX, &limit, &e) ||
        api_query_number(c, "after", 0, 1000000000, &after, &e)) {
        api_fail(c, &e, NULL);
        return;
    }
    struct cells_job *l = cells_job_new(c);
    if (!l)
        return;
    l->limit = limit;
    l->after = after;
    api_job_read(&l->job);
}

static void get_notebook(struct api_call *c)
{
    struct cells_job *l = cells_job_new(c);
    if (!l)
        return;
    l->notebook = true;
    api_job_read(&l->job);
}

/* ---- one cell ---- */

struct cell_job {
    struct api_job job;
    char session[API_PARAM_SIZE];
    int64_t number;
    char *run; /* its id */
    bool events;
    enum stream_format format;
    uint64_t after;
    int output_dir_fd;
    json_t *cell;
    char *key;
    int64_t created_ms;
};

static int cell_work(struct db *db, struct store_job *job, struct err *e)
{
    struct cell_job *l = (struct cell_job *)job;
    size_t room = GUEST_VALUES_MAX;
    scoped(run_record) row = { 0 };
    scoped(session_row) session = { 0 };
    if (sessions_find_cell(db, l->session, l->number, &l->run, e) ||
        runs_get(db, l->run, RUN_WITH_JOURNAL, &row, e))
        return -1;
    l->key = text_copy(row.key);
    l->created_ms = row.created_ms;
    if (l->events)
        return 0;
    json_auto_t *cells = json_array();
    l->cell = cell_row_object(&row, l->session, l->output_dir_fd, &room);
    (void)json_array_append(cells, l->cell);
    return sessions_get(db, l->session, &session, e) || mark_rolled_back(db, &session, cells, e)
               ? -1
               : 0;
}

static void cell_done(struct store_job *job)
{
    struct cell_job *l = (struct cell_job *)job;
    struct api_call *c = l->job.call;
    struct err e = job->err;
    if (e.code == ERR_NONE && !history_may_see(c, l->key, l->created_ms))
        (void)!err_set(&e, ERR_NOT_FOUND, 0,
                       "there is no session '%s': GET /v1/sessions lists them", QUOTED(l->session));
    if (e.code != ERR_NONE) {
        api_fail(c, &e, NULL);
    } else if (l->events) {
        (void)snprintf(c->params[0], sizeof c->params[0], "%s", l->run);
        history_get_events(c, l->format, l->after);
    } else {
        api_reply(c, 200, json_incref(l->cell));
    }
    json_decref(l->cell);
    free(l->key);
    free(l->run);
    free(l);
}

static int take_number(const char *text, int64_t *ret, struct err *e)
{
    char *end;
    errno = 0;
    *ret = strtoll(text, &end, 10);
    if (errno || end == text || *end || *ret < 1)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' is not the number of a cell: a whole number from 1 is accepted",
                       QUOTED(text));
    return 0;
}

static struct cell_job *cell_job_new(struct api_call *c, int64_t number)
{
    struct cell_job *l = api_job_new(c, sizeof *l, cell_work, cell_done);
    if (!l)
        return NULL;
    (void)snprintf(l->session, sizeof l->session, "%s", c->params[0]);
    l->number = number;
    l->output_dir_fd = c->api->output_dir_fd;
    return l;
}

static void get_cell(struct api_call *c)
{
    struct err e = { 0 };
    int64_t number;
    if (take_number(c->params[1], &number, &e)) {
        api_fail(c, &e, NULL);
        return;
    }
    struct cell_job *l = cell_job_new(c, number);
    if (l)
        api_job_read(&l->job);
}

static const struct api_field events_query[] = {
    { "from", FIELD_INT, .min = 0, .max = 1e15,
      .help = "the seq of the last event that the client has; the same as Last-Event-ID" },
    { 0 },
};

static int take_after(struct api_call *c, uint64_t *ret, struct err *e)
{
    const char *given = http_request_header(&c->http->request, "Last-Event-ID");
    int64_t from = 0;
    if (api_query_number(c, "from", 0, 1000000000000000, &from, e))
        return -1;
    *ret = (uint64_t)from;
    return given ? stream_read_seq(given, ret, e) : 0;
}

static void get_cell_events(struct api_call *c)
{
    struct err e = { 0 };
    int64_t number;
    uint64_t after;
    enum stream_format format;
    if (take_number(c->params[1], &number, &e) || take_after(c, &after, &e)) {
        api_fail(c, &e, NULL);
        return;
    }
    (void)stream_asked(c, true, &format);
    const struct session *s = session_find(c->api->sessions, c->params[0]);
    const struct cell *cell = s && history_may_see(c, s->spec.key, s->created_ms)
                                  ? session_cell(s, (unsigned)number)
                                  : NULL;
    if (cell && cell->run && !cell->run->is_done) {
        stream_follow(c, cell->run, format, after, false);
        return;
    }
    struct cell_job *l = cell_job_new(c, number);
    if (!l)
        return;
    l->events = true;
    l->format = format;
    l->after = after;
    api_job_read(&l->job);
}

/* ---- answers ---- */

static const struct api_field accepted_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of the run" },
    { "state", FIELD_STRING, ALWAYS, .help = "the current state" },
    { "session", FIELD_STRING, ALWAYS, .help = "id of the session" },
    { "cell", FIELD_INT, ALWAYS, .help = "number of the cell" },
    { .schema = "CellAccepted" },
};
static const struct api_field cells_reply[] = {
    { "cells", FIELD_OBJECTS, ALWAYS, .fields = cell_reply, .help = "the oldest first" },
    { "cut", FIELD_BOOL, ALWAYS,
      .help =
          "true if cells are missing because the answer has 64 MiB: the last ones with 'after', "
          "otherwise the first ones" },
    { .schema = "CellList" },
};
static const struct api_field notebook_reply[] = {
    { "nbformat", FIELD_INT, ALWAYS, .help = "4" },
    { "nbformat_minor", FIELD_INT, ALWAYS, .help = "5" },
    { "metadata", FIELD_ANY, ALWAYS,
      .help = "the language, and belljar.missing_cells if the first cells are missing" },
    { "cells", FIELD_ANY, ALWAYS, .help = "the cells and their outputs" },
    { .schema = "Notebook", .help = "A Jupyter notebook" },
};

const struct api_route cell_routes[] = {
    { METHOD_POST, "/v1/sessions/{id}/exec", SCOPE_RUN, .body = exec_fields, .handle = post_exec,
      .summary = "Run a cell in a session",
      .replies = REPLIES(
          { 200, .fields = cell_reply, .help = "the cell, or events on request" },
          EVENT_REPLIES(cell_event_reply),
          { 202, .fields = accepted_reply, .help = "the cell goes on: wait was false" }) },
    { METHOD_GET, "/v1/sessions/{id}/cells", SCOPE_ANY, .query = cells_query, .handle = get_cells,
      .summary = "The cells of a session with their outputs",
      .replies = REPLIES({ 200, .fields = cells_reply }) },
    { METHOD_GET, "/v1/sessions/{id}/cells/{cell}", SCOPE_ANY, .handle = get_cell,
      .summary = "One cell", .replies = REPLIES({ 200, .fields = cell_reply }) },
    { METHOD_GET, "/v1/sessions/{id}/cells/{cell}/events", SCOPE_ANY, .query = events_query,
      .handle = get_cell_events,
      .summary = "Events of a cell from the beginning, or after one, to the end",
      .replies = REPLIES(EVENT_REPLIES(cell_event_reply)) },
    { METHOD_GET, "/v1/sessions/{id}/notebook", SCOPE_ANY, .handle = get_notebook,
      .summary = "The cells of a session as a Jupyter notebook",
      .replies = REPLIES({ 200, .fields = notebook_reply }) },
    { 0 },
};
