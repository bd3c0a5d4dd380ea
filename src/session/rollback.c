/* The way back to a checkpoint: a second program becomes it beside the one of the session, and then
 * takes its place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "run/json.h"
#include "session/session_impl.h"
#include "store/audit_log.h"
#include "store/session_rows.h"

/* From the request to its answer. It is loading its image, then its program becomes the image, then
 * its record is written. */
struct rollback {
    struct image_load load; /* first */
    struct store_job job;
    struct session *session;
    struct rollback_request *request; /* NULL: nobody asked, or the answer is given */
    struct session_program *program;  /* that becomes the image */
    struct audit_record audit;
    char id[ID_SIZE]; /* of the checkpoint */
    char *actor, *detail;
    unsigned cell;
    unsigned recovered_cell; /* it ended the jar; 0: a client asks */
    enum rollback_kind kind;
    struct session_rollback_row row;
    bool loading, cancelled, recording;
};

static void rollback_free(struct rollback *r)
{
    struct session *s = r->session;
    session_image_unref(r->load.image);
    free(r->actor);
    free(r->detail);
    free(r);
    session_unref(s);
}

static void answer(struct rollback *r, const struct err *e)
{
    struct rollback_request *q = r->request;
    r->request = NULL;
    if (q)
        q->on_done(q, e);
}

/* ---- a rollback that fails ---- */

static void fail(struct rollback *r, const struct err *failed)
{
    struct session *s = r->session;
    struct err e = *failed;
    s->checkpoints.rollback = NULL;
    s->rollback_by_ms = 0;
    if (r->program)
        program_detach(r->program);
    r->program = NULL;
    session_schedule(s);
    answer(r, &e);
    if (r->loading)
        r->cancelled = true; /* on_loaded() frees it */
    else
        rollback_free(r);
}

/* Without a program, that is the end of the session. */
static void fail_or_end(struct rollback *r, const struct err *failed)
{
    struct session *s = r->session;
    char why[ERR_TEXT_MAX + 64];
    (void)snprintf(why, sizeof why, "its jar ended, and it could not go back: %s",
                   ERR_SHOWN(failed));
    s->refs++;
    fail(r, failed);
    if (!s->program && s->state != SESSION_ENDED)
        session_end(s, why);
    session_unref(s);
}

void rollback_cancel(struct session *s, enum err_code code, const char *why)
{
    struct err e = { 0 };
    struct rollback *r = s->checkpoints.rollback;
    if (!r || r->recording) /* on_recorded() follows */
        return;
    (void)!err_set(&e, code, 0, "there is no rollback: %s", why);
    fail(r, &e);
}

void rollback_on_late(struct session *s)
{
    struct err e = { 0 };
    (void)!err_set(&e, ERR_UNAVAILABLE, 0,
                   "there is no rollback: the program of the checkpoint did not start in time");
    fail_or_end(s->checkpoints.rollback, &e);
}

void rollback_on_program_end(struct session *s, const struct wire_ended *end, const char *breach)
{
    struct rollback *r = s->checkpoints.rollback;
    struct err e = { 0 };
    if (!r)
        return;
    r->program = NULL;
    (void)!err_set(&e, ERR_UNAVAILABLE, 0, "there is no rollback: %s",
                   breach                                ? breach
                   : end->evidence.reason == END_FAILURE ? ERR_SHOWN(&end->err)
                                                         : "the program of the checkpoint ended");
    fail_or_end(r, &e);
}

/* ---- its end ---- */

static int write_record(struct db *db, struct store_job *job, struct err *e)
{
    struct rollback *r = (struct rollback *)((char *)job - offsetof(struct rollback, job));
    return sessions_roll_back(db, r->audit.subject, &r->row, e) || audit_append(db, &r->audit, e)
               ? -1
               : 0;
}

static void on_recorded(struct store_job *job)
{
    struct rollback *r = (struct rollback *)((char *)job - offsetof(struct rollback, job));
    struct session *s = r->session;
    struct err ended = { 0 };
    if (job->err.code != ERR_NONE)
        log_error(LOG_ERROR, "session.record", &job->err);
    s->refs++;
    if (s->checkpoints.rollback == r)
        s->checkpoints.rollback = NULL;
    if (s->state == SESSION_STARTING && s->program && s->program->ready && !s->restarting)
        session_set_state(s, SESSION_IDLE);
    if (s->state == SESSION_ENDED)
        (void)!err_set(&ended, ERR_GONE, 0, "session '%s' ended meanwhile: %s", s->id, s->reason);
    answer(r, s->state == SESSION_ENDED ? &ended : NULL);
    rollback_free(r);
    cells_advance(s);
    session_on_line_empty(s);
    session_unref(s);
}

static void record(struct rollback *r)
{
    struct session *s = r->session;
    r->detail = json_line(json_pack("{s:s, s:i, s:i, s:b}", "checkpoint", r->id, "cell",
                                    (int)r->cell, "cells", (int)r->row.last, "by_itself",
                                    r->recovered_cell > 0));
    r->audit = (struct audit_record){ .kind = "session.rolled_back",
                                      .subject = s->id,
                                      .actor = r->actor ? r->actor : "service",
                                      .detail = r->detail ? r->detail : "{}",
                                      .time_ms = r->row.at_ms };
    r->job = (struct store_job){ .work = write_record, .done = on_recorded };
    r->recording = true;
    store_write(s->all->store, &r->job);
}

static void take_state(struct session *s, struct rollback *r)
{
    struct session_checkpoints *k = &s->checkpoints;
    s->program = r->program;
    s->program->aside = false;
    network_take_over(s);
    r->program = NULL;
    r->row = (struct session_rollback_row){ s->cells, r->cell, clock_unix_ms(), r->kind };
    s->rollback_by_ms = s->close_by_ms = 0;
    s->program_from[0] = '\0';
    s->at_cell = r->cell;
    k->rolled_back = r->row;
    k->since_ms = r->row.at_ms;
    k->recovered_cell = r->recovered_cell;
    k->newest = k->taken;
    checkpoints_set_base(s, r->load.image);
    (void)snprintf(k->id, sizeof k->id, "%s", r->id);
}

/* The program of the checkpoint takes the place of the other one. The warden hears of the new jar
 * before it is asked to end the old one: a keeper that is killed in between leaves a session with one
 * of the two. No cell begins before the record is written. */
void rollback_on_ready(struct session *s)
{
    struct rollback *r = s->checkpoints.rollback;
    struct wire_ended end = { .evidence.reason = END_CANCEL };
    struct session_program *old = s->program;
    s->refs++;
    s->state = SESSION_STARTING; /* no cell may begin in the old jar */
    if (old) { /* otherwise they were lost with its jar, and later ones wait for this moment */
        session_fail_question(s, "the session was rolled back");
        cells_lose(s, &end, "the session was rolled back to a checkpoint");
    }
    if (s->state != SESSION_ENDED) { /* otherwise the rollback was cancelled */
        take_state(s, r);
        session_keep(s);
        if (old)
            program_detach(old);
        record(r);
        session_on_measured(s, s->memory_bytes); /* for a request that waits for the old jar */
        session_touch(s);
        session_schedule(s);
    }
    session_unref(s);
}

/* ---- its beginning ---- */

static void become(struct rollback *r)
{
    struct session *s = r->session;
    struct err e = { 0 };
    if (program_start_aside(s, r->load.image, &r->program, &e)) {
        fail_or_end(r, &e);
        return;
    }
    s->rollback_by_ms = uv_now(s->all->loop) + START_MS;
    session_schedule(s);
}

static void on_loaded(struct image_load *l, const struct err *e)
{
    struct rollback *r = (struct rollback *)l;
    r->loading = false;
    if (r->cancelled)
        rollback_free(r);
    else if (e)
        fail_or_end(r, e);
    else
        become(r);
}

static int begin(struct session *s, const struct checkpoint *to, struct rollback_request *q,
                 unsigned recovered_cell, struct err *e)
{
    struct rollback *r = calloc(1, sizeof *r);
    if (!r)
        return err_no_memory(e, "a rollback");
    *r = (struct rollback){ .load.on_done = on_loaded,
                            .session = s,
                            .request = q,
                            .actor = text_copy(q ? q->actor : NULL),
                            .cell = to->cell,
                            .kind = recovered_cell    ? ROLLBACK_JAR_ENDED
                                    : q && q->is_undo ? ROLLBACK_UNDO
                                                      : ROLLBACK_ASKED,
                            .recovered_cell = recovered_cell };
    (void)snprintf(r->id, sizeof r->id, "%s", to->id);
    s->refs++;
    r->loading = true;
    if (checkpoint_open(s, to->id, &r->load, e)) {
        rollback_free(r);
        return -1;
    }
    s->checkpoints.rollback = r;
    if (r->load.image)
        on_loaded(&r->load, NULL);
    return 0;
}

int session_roll_back(struct session *s, const struct checkpoint *to, struct rollback_request *r,
                      struct err *e)
{
    if (s->checkpoints.rollback)
        return err_set(e, ERR_CONFLICT, 0,
                       "session '%s' is on its way to a checkpoint already: try again in a moment",
                       s->id);
    if (!s->program || !s->program->ready || s->restarting)
        return err_set(e, ERR_CONFLICT, 0, "session '%s' is starting: try again in a moment",
                       s->id);
    if (s->held || s->is_branch)
        return err_set(e, ERR_CONFLICT, 0,
                       "branches of session '%s' run: roll back when they are over", s->id);
    session_touch(s);
    return begin(s, to, r, 0, e);
}

/* ---- after the end of a jar ---- */

/* The end that nobody can prevent: of its life, of the warden, of the service. */
static bool is_final(const struct session *s, const struct wire_ended *end)
{
    return s->all->stopping || end->evidence.reason == END_FAILURE ||
           (end->evidence.reason == END_WALL && !session_current(s)) ||
           s->state == SESSION_STARTING;
}

bool rollback_recovers(struct session *s, const struct wire_ended *end, const char *why)
{
    const struct cell *current = session_current(s);
    unsigned cell = current ? current->number : s->at_cell;
    struct checkpoint to;
    struct err e = { 0 };
    char text[sizeof s->reason + 160];
    if (s->checkpoints.rollback && s->state != SESSION_STARTING) {
        s->state = SESSION_STARTING; /* the program of the checkpoint comes */
        session_fail_question(s, why);
        cells_lose(s, end, why);
        return true;
    }
    /* A state that ends its jar by itself is not tried again. */
    if (is_final(s, end) || !s->checkpoints.id[0] ||
        checkpoint_find(s, s->checkpoints.id, &to, &e) || cell == to.cell)
        return false;
    s->state = SESSION_STARTING;
    (void)snprintf(text, sizeof text,
                   "the jar ended (%s); the session goes on with the state %s %u, its newest "
                   "checkpoint",
                   why, to.before == cell ? "before cell" : "after cell",
                   to.before == cell ? cell : to.cell);
    s->refs++;
    session_fail_question(s, text);
    cells_lose(s, end, text);
    bool begun = s->state != SESSION_ENDED && begin(s, &to, NULL, cell, &e) == 0;
    begun = begun || s->state == SESSION_ENDED;
    session_unref(s);
    return begun;
}
