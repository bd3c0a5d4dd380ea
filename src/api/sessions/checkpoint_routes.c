/* /v1/sessions/{id}/checkpoints, rollback, undo and tree: the earlier states of a session. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/job.h"
#include "api/kernel/storage.h"
#include "api/runs/history_routes.h"
#include "api/runs/run_spec.h"
#include "api/sessions/checkpoint_find.h"
#include "api/sessions/session_find.h"
#include "base/text.h"
#include "run/json.h"
#include "run/result.h"
#include "store/session_rows.h"

/* ---- one checkpoint as JSON ---- */

static json_t *checkpoint_object(const struct checkpoint *c)
{
    json_auto_t *detail = c->detail ? json_loads(c->detail, 0, NULL) : NULL;
    json_t *names = json_object_get(detail, "not_carried"),
           *pause = json_object_get(detail, "pause_ms");
    json_t *o = json_pack("{s:s, s:s?, s:s, s:i, s:I}", "id", c->id, "name", c->name, "kind",
                          c->before ? "undo" : "checkpoint", "cell", (int)c->cell, "bytes",
                          (json_int_t)c->bytes);
    json_put(o, "before_cell", c->before ? json_integer(c->before) : json_null());
    json_put(o, "created_at", result_time((uint64_t)c->created_ms));
    json_put(o, "not_carried", names ? json_incref(names) : json_array());
    json_put(o, "pause_ms", pause ? json_incref(pause) : json_null());
    return o;
}

static const char *const kind_words[] = { "checkpoint", "undo", NULL };
static const struct api_field checkpoint_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of the checkpoint" },
    { "name", FIELD_STRING, OR_NULL, .help = "as in the request" },
    { "kind", FIELD_STRING, ALWAYS, .one_of = kind_words,
      .help = "checkpoint: a client asked for it; undo: it was taken before a cell" },
    { "cell", FIELD_INT, ALWAYS, .help = "the last cell whose effects it has; 0: none" },
    { "before_cell", FIELD_INT, OR_NULL, .help = "of undo: the cell that it was taken before" },
    { "bytes", FIELD_INT, ALWAYS, .help = "size of its image" },
    { "created_at", FIELD_STRING, OR_NULL, .help = "time at which it was taken" },
    { "not_carried", FIELD_STRINGS, ALWAYS,
      .help = "threads, children, pipes and sockets that it does not have, up to 20; words of the "
              "session's program" },
    { "pause_ms", FIELD_NUMBER, OR_NULL,
      .help = "the session could run no cell for this time; measured by its program" },
    { .schema = "Checkpoint" },
};

/* ---- POST checkpoints ---- */

static const struct api_field create_fields[] = {
    { "name", FIELD_STRING, .min = 1, .max = CHECKPOINT_NAME_MAX,
      .help = "a name that no other checkpoint of the session has" },
    { "strict", FIELD_BOOL,
      .help = "true: refuse if a thread, a child, a pipe or a socket would be lost" },
    { 0 },
};

struct create_call {
    struct checkpoint_request request;
    struct api_call *call;
    struct session_watch watch; /* so that the session lives until the answer */
    struct session *session;
};

static void on_session_event(struct session_watch *w, struct session *s, enum session_event event)
{
    (void)w;
    (void)s;
    (void)event;
}

static void on_created(struct checkpoint_request *r, const struct err *failed)
{
    struct create_call *x = (struct create_call *)r;
    struct checkpoint c;
    struct err e = { 0 };
    if (failed)
        e = *failed;
    if (!failed && checkpoint_find(x->session, r->id, &c, &e) == 0)
        api_reply_after_writes(x->call, 201, checkpoint_object(&c));
    else
        api_fail(x->call, &e, NULL);
    session_watch_remove(x->session, &x->watch);
    free(x);
}

static void post_checkpoint(struct api_call *c)
{
    struct err e = { 0 };
    struct session *s = session_to_use(c);
    if (!s)
        return;
    struct create_call *x = calloc(1, sizeof *x);
    if (!x) {
        api_fail_no_memory(c);
        return;
    }
    *x = (struct create_call){ .request = { .on_done = on_created,
                                            .name = api_text(c, "name"),
                                            .actor = c->who.name,
                                            .strict = run_flag(c->body, "strict", false) },
                               .call = c,
                               .watch.on_event = on_session_event,
                               .session = s };
    if (storage_check(c->api, &e) || session_checkpoint(s, &x->request, &e)) {
        free(x);
        api_fail(c, &e, NULL);
        return;
    }
    session_watch_add(s, &x->watch);
}

/* ---- the list, one, and its removal ---- */

static bool add_to_list(void *context, struct checkpoint *c)
{
    (void)json_array_append_new(context, checkpoint_object(c));
    return false;
}

static void get_checkpoints(struct api_call *c)
{
    const struct session *s = session_to_change(c);
    if (!s)
        return;
    json_t *list = json_array();
    (void)checkpoints_each(s, add_to_list, list);
    api_reply(c, 200, json_pack("{s:o}", "checkpoints", list));
}

static void get_checkpoint(struct api_call *c)
{
    struct err e = { 0 };
    struct checkpoint found;
    const struct session *s = session_to_change(c);
    if (!s)
        return;
    if (checkpoint_find(s, c->params[1], &found, &e))
        api_fail(c, &e, NULL);
    else
        api_reply(c, 200, checkpoint_object(&found));
}

struct delete_call {
    struct session_record record; /* first */
    struct api_call *call;
    struct session *session;
    char id[ID_SIZE];
    json_t *answer;
};

/* The record is written before the checkpoint goes. */
static void on_delete_recorded(struct session_record *r, const struct err *e)
{
    struct delete_call *d = (struct delete_call *)r;
    if (e) {
        json_decref(d->answer);
        api_fail(d->call, e, NULL);
    } else {
        checkpoint_remove(d->session, d->id);
        api_reply_after_writes(d->call, 200, d->answer);
    }
    free(d);
}

static void delete_checkpoint(struct api_call *c)
{
    struct err e = { 0 };
    struct checkpoint found;
    struct session *s = session_to_change(c);
    struct delete_call *d = s ? calloc(1, sizeof *d) : NULL;
    if (!s)
        return;
    if (!d || checkpoint_find(s, c->params[1], &found, &e)) {
        if (!d)
            api_fail_no_memory(c);
        else
            api_fail(c, &e, NULL);
        free(d);
        return;
    }
    *d = (struct delete_call){ .record.on_done = on_delete_recorded,
                               .call = c,
                               .session = s,
                               .answer = checkpoint_object(&found) };
    (void)snprintf(d->id, sizeof d->id, "%s", found.id);
    session_record(s, &d->record, "session.checkpoint_deleted", c->who.name,
                   json_pack("{s:s, s:s*}", "checkpoint", found.id, "name", found.name));
}

/* ---- rollback and undo ---- */

int checkpoint_from_json(const struct session *s, const json_t *to, struct checkpoint *ret,
                         struct err *e)
{
    if (json_is_string(to))
        return checkpoint_find(s, json_string_value(to), ret, e);
    if (json_is_integer(to) && json_integer_value(to) >= 0 && json_integer_value(to) <= s->cells)
        return checkpoint_after_cell(s, (unsigned)json_integer_value(to), ret, e);
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "a checkpoint is accepted: its id or name, or the number of the cell that it "
                   "follows, from 0 to %u",
                   s->cells);
}

static const struct api_field rollback_fields[] = {
    { "to", FIELD_ANY, .required = true,
      .help = "id or name of a checkpoint, or a number: the state after this cell, 0 for the state "
              "before the first one" },
    { 0 },
};
static const struct api_field undo_fields[] = {
    { "cells", FIELD_INT, .min = 1, .max = UNDO_MAX, .help = "number of cells; 1 by default" },
    { 0 },
};

struct rollback_call {
    struct rollback_request request;
    struct api_call *call;
    struct session_watch watch; /* so that the session lives until the answer */
    struct session *session;
    json_t *to;
};

static void on_rolled_back(struct rollback_request *r, const struct err *e)
{
    struct rollback_call *x = (struct rollback_call *)r;
    if (e)
        api_fail(x->call, e, NULL);
    else
        api_reply(x->call, 200,
                  json_pack("{s:o, s:O}", "session", session_object(x->session), "to", x->to));
    session_watch_remove(x->session, &x->watch);
    json_decref(x->to);
    free(x);
}

static void roll_back(struct api_call *c, struct session *s, const struct checkpoint *to,
                      bool is_undo)
{
    struct err e = { 0 };
    struct rollback_call *x = calloc(1, sizeof *x);
    if (!x) {
        api_fail_no_memory(c);
        return;
    }
    *x = (struct rollback_call){
        .request = { .on_done = on_rolled_back, .actor = c->who.name, .is_undo = is_undo },
        .call = c,
        .watch.on_event = on_session_event,
        .session = s,
        .to = checkpoint_object(to)
    };
    session_watch_add(s, &x->watch);
    if (storage_check(c->api, &e) || session_roll_back(s, to, &x->request, &e))
        on_rolled_back(&x->request, &e);
}

static void post_rollback(struct api_call *c)
{
    struct err e = { 0 };
    struct checkpoint to;
    struct session *s = session_to_use(c);
    if (!s)
        return;
    if (checkpoint_from_json(s, json_object_get(c->body, "to"), &to, &e))
        api_fail(c, &e, "to");
    else
        roll_back(c, s, &to, false);
}

static void post_undo(struct api_call *c)
{
    struct err e = { 0 };
    struct checkpoint to;
    struct session *s = session_to_use(c);
    if (!s)
        return;
    const json_t *cells = json_object_get(c->body, "cells");
    if (checkpoint_before_cells(s, cells ? (unsigned)json_integer_value(cells) : 1, &to, &e))
        api_fail(c, &e, NULL);
    else
        roll_back(c, s, &to, true);
}

static const struct api_field list_reply[] = {
    { "checkpoints", FIELD_OBJECTS, ALWAYS, .fields = checkpoint_reply,
      .help = "the oldest first" },
    { .schema = "CheckpointList" },
};
static const struct api_field rollback_reply[] = {
    { "session", FIELD_OBJECT, ALWAYS, .fields = session_reply, .help = "idle" },
    { "to", FIELD_OBJECT, ALWAYS, .fields = checkpoint_reply, .help = "the state that it has now" },
    { .schema = "Rollback" },
};

/* ---- the tree ---- */

struct tree_job {
    struct api_job job;
    char session[API_PARAM_SIZE];
    struct session_rows rows;
};

static int tree_work(struct db *db, struct store_job *job, struct err *e)
{
    struct tree_job *t = (struct tree_job *)job;
    return sessions_tree(db, t->session, &t->rows, e);
}

static json_t *node_object(const struct api_call *c, const struct session_row *r)
{
    const struct session *s = session_find(c->api->sessions, r->id);
    json_t *list = json_array();
    if (s)
        (void)checkpoints_each(s, add_to_list, list);
    json_t *o = json_pack("{s:s, s:s?, s:s, s:s, s:s?, s:s?, s:I, s:I}", "id", r->id, "name",
                          s ? s->spec.name : r->name, "language", r->language, "state",
                          s ? session_state_word(s->state) : "ended", "parent", r->parent,
                          "parent_checkpoint", r->parent_image, "parent_cell",
                          (json_int_t)r->parent_cell, "cells",
                          s ? (json_int_t)s->cells : (json_int_t)r->cells);
    json_put(o, "at_cell", s ? json_integer(s->at_cell) : json_null());
    json_put(o, "created_at", result_time((uint64_t)r->created_ms));
    json_put(o, "ended_at", result_time((uint64_t)r->ended_ms));
    json_put(o, "reason", json_text_or_null(r->reason));
    json_put(o, "checkpoints", list);
    return o;
}

/* The newest rows may name a parent that retention has removed: the oldest row is the root. */
static void tree_done(struct store_job *job)
{
    struct tree_job *t = (struct tree_job *)job;
    struct api_call *c = t->job.call;
    struct err e = job->err;
    json_t *list = json_array();
    bool seen = false;
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct session_row *r = &t->rows.rows[i];
        if (!history_may_see(c, r->key, r->created_ms))
            continue;
        seen = seen || strcmp(r->id, t->session) == 0;
        (void)json_array_append_new(list, node_object(c, r));
    }
    if (e.code == ERR_NONE && !seen)
        (void)!err_set(&e, ERR_NOT_FOUND, 0,
                       "there is no session '%s': GET /v1/sessions lists them", QUOTED(t->session));
    if (e.code != ERR_NONE) {
        json_decref(list);
        api_fail(c, &e, NULL);
    } else {
        api_reply(c, 200, json_pack("{s:s, s:o}", "root", t->rows.rows[0].id, "sessions", list));
    }
    session_rows_done(&t->rows);
    free(t);
}

static void get_tree(struct api_call *c)
{
    struct tree_job *t = api_job_new(c, sizeof *t, tree_work, tree_done);
    if (!t)
        return;
    (void)snprintf(t->session, sizeof t->session, "%s", c->params[0]);
    api_job_read(&t->job);
}

static const struct api_field node_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of the session" },
    { "name", FIELD_STRING, OR_NULL, .help = "its name" },
    { "language", FIELD_STRING, ALWAYS, .help = "its language" },
    { "state", FIELD_STRING, ALWAYS, .one_of = session_state_words, .help = "its state" },
    { "parent", FIELD_STRING, OR_NULL, .help = "id of the session that it is a copy of" },
    { "parent_cell", FIELD_INT, ALWAYS,
      .help = "the last cell of the parent whose effects it has; 0: none" },
    { "parent_checkpoint", FIELD_STRING, OR_NULL,
      .help = "id of the checkpoint that it began from; null: the state of that time" },
    { "cells", FIELD_INT, ALWAYS, .help = "number of its cells" },
    { "at_cell", FIELD_INT, OR_NULL,
      .help = "the last of its cells whose effects it has; null: it ended" },
    { "created_at", FIELD_STRING, OR_NULL, .help = "time of its creation" },
    { "ended_at", FIELD_STRING, OR_NULL, .help = "null while it lives" },
    { "reason", FIELD_STRING, OR_NULL, .help = "why it ended" },
    { "checkpoints", FIELD_OBJECTS, ALWAYS, .fields = checkpoint_reply, .help = "its own" },
    { .schema = "TreeNode" },
};
static const struct api_field tree_reply[] = {
    { "root", FIELD_STRING, ALWAYS, .help = "id of the oldest session of the tree" },
    { "sessions", FIELD_OBJECTS, ALWAYS, .fields = node_reply, .help = "the oldest first" },
    { .schema = "Tree" },
};

const struct api_route session_checkpoint_routes[] = {
    { METHOD_POST, "/v1/sessions/{id}/checkpoints", SCOPE_RUN, .flags = ROUTE_BODY_OPTIONAL,
      .body = create_fields, .handle = post_checkpoint,
      .summary = "Keep the present state of a session",
      .replies = REPLIES({ 201, .fields = checkpoint_reply }) },
    { METHOD_GET, "/v1/sessions/{id}/checkpoints", SCOPE_RUN, .handle = get_checkpoints,
      .summary = "The checkpoints of a session",
      .replies = REPLIES({ 200, .fields = list_reply }) },
    { METHOD_GET, "/v1/sessions/{id}/checkpoints/{checkpoint}", SCOPE_RUN, .handle = get_checkpoint,
      .summary = "One checkpoint, by its id or name",
      .replies = REPLIES({ 200, .fields = checkpoint_reply }) },
    { METHOD_DELETE, "/v1/sessions/{id}/checkpoints/{checkpoint}", SCOPE_RUN,
      .handle = delete_checkpoint, .summary = "Delete a checkpoint",
      .replies = REPLIES({ 200, .fields = checkpoint_reply }) },
    { METHOD_POST, "/v1/sessions/{id}/rollback", SCOPE_RUN, .body = rollback_fields,
      .handle = post_rollback, .summary = "Go back to a checkpoint of a session",
      .replies = REPLIES({ 200, .fields = rollback_reply }) },
    { METHOD_POST, "/v1/sessions/{id}/undo", SCOPE_RUN, .flags = ROUTE_BODY_OPTIONAL,
      .body = undo_fields, .handle = post_undo,
      .summary = "Go back to the state before the last cells",
      .replies = REPLIES({ 200, .fields = rollback_reply }) },
    { METHOD_GET, "/v1/sessions/{id}/tree", SCOPE_ANY, .handle = get_tree,
      .summary = "A session with the sessions that it came from, their copies and checkpoints",
      .replies = REPLIES({ 200, .fields = tree_reply }) },
    { 0 },
};
