#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/strv.h"
#include "base/text.h"
#include "run/json.h"
#include "session/session_impl.h"
#include "session/templates.h"
#include "store/audit_log.h"
#include "store/session_rows.h"

const char *const session_state_words[] = { "starting", "idle", "busy", "sleeping", "ended", NULL };

const char *session_state_word(enum session_state s)
{
    return session_state_words[s];
}

void session_spec_done(struct session_spec *s)
{
    free(s->name);
    free(s->client_id);
    free(s->key);
    free(s->actor);
    buf_done(&s->bundle);
    strv_free(s->env);
    strv_free(s->mounts);
    network_policy_done(&s->network);
    free(s->parent);
    free(s->parent_image);
    free(s->imported);
    free(s->begins_in);
    free(s->begins_owner);
    json_decref(s->metadata);
    session_image_unref(s->image);
    *s = (struct session_spec){ 0 };
}

/* ---- birth, watches and death ---- */

static void on_timer_closed(uv_handle_t *handle)
{
    struct session *s = handle->data;
    struct sessions *all = s->all;
    session_spec_done(&s->spec);
    cell_file_done(&s->file);
    json_decref(s->replayed);
    free(s);
    sessions_unuse(all);
}

void sessions_unuse(struct sessions *all)
{
    if (--all->alive == 0 && all->freed)
        free(all);
}

void session_unref(struct session *s)
{
    if (--s->refs == 0)
        uv_close((uv_handle_t *)&s->timer, on_timer_closed);
}

void session_watch_add(struct session *s, struct session_watch *w)
{
    w->next = s->watches;
    s->watches = w;
    s->refs++;
}

void session_watch_remove(struct session *s, struct session_watch *w)
{
    for (struct session_watch **at = &s->watches; *at; at = &(*at)->next) {
        if (*at == w) {
            *at = w->next;
            session_unref(s);
            return;
        }
    }
}

void session_notify(struct session *s, enum session_event event)
{
    struct session_watch *next;
    s->refs++;
    for (struct session_watch *w = s->watches; w; w = next) {
        next = w->next;
        w->on_event(w, s, event);
    }
    session_unref(s);
}

void session_set_state(struct session *s, enum session_state state)
{
    if (s->state == state || s->state == SESSION_ENDED)
        return;
    s->state = state;
    s->used = s->used || state == SESSION_BUSY;
    session_touch(s);
    session_schedule(s);
    session_notify(s, SESSION_EVENT_STATE);
}

bool session_measure(struct session *s)
{
    struct err e;
    struct session_program *p = s->program;
    return p && p->ready && !s->restarting && jar_run_measure(&p->jar.jar, &e) == 0;
}

void session_on_measured(struct session *s, uint64_t memory_bytes)
{
    s->memory_bytes = memory_bytes;
    session_images_measured(s);
    session_notify(s, SESSION_EVENT_MEASURED);
}

void session_unlink(struct session *s)
{
    for (struct session **at = &s->all->first; *at; at = &(*at)->next) {
        if (*at == s) {
            *at = s->next;
            return;
        }
    }
}

/* ---- rows ---- */

struct row_job {
    struct store_job job;
    struct session *session;
    struct session_row row; /* its other texts belong to the session */
    struct audit_record audit;
    char *name; /* its own copy: a client may change the one of the session meanwhile */
    char *detail;
};

static struct row_job *row_job_new(struct session *s, const char *kind, json_t *detail)
{
    struct row_job *j = calloc(1, sizeof *j);
    char *text = json_line(detail);
    if (!j || !text) {
        free(j);
        free(text);
        return NULL;
    }
    j->session = s;
    j->detail = text;
    j->name = text_copy(s->spec.name);
    j->row = (struct session_row){ .id = s->id,
                                   .key = s->spec.key,
                                   .name = j->name,
                                   .language = (char *)s->spec.language->name,
                                   .created_ms = s->created_ms,
                                   .ended_ms = s->ended_ms,
                                   .reason = s->ended_ms ? s->reason : NULL,
                                   .cells = s->cells,
                                   .adopted_by = s->adopted_by[0] ? s->adopted_by : NULL,
                                   .parent = s->spec.parent,
                                   .parent_image = s->spec.parent_image,
                                   .parent_cell = s->spec.parent_cell };
    j->audit = (struct audit_record){ .kind = kind,
                                      .subject = s->id,
                                      .actor = s->spec.actor ? s->spec.actor : "service",
                                      .detail = text,
                                      .time_ms = s->ended_ms ? s->ended_ms : s->created_ms };
    s->refs++;
    return j;
}

static int write_created(struct db *db, struct store_job *job, struct err *e)
{
    struct row_job *j = (struct row_job *)job;
    return sessions_insert(db, &j->row, e) || audit_append(db, &j->audit, e) ||
                   session_record_import(db, j->session, e)
               ? -1
               : 0;
}

static int write_ended(struct db *db, struct store_job *job, struct err *e)
{
    struct row_job *j = (struct row_job *)job;
    return sessions_finish(db, &j->row, e) || audit_append(db, &j->audit, e) ? -1 : 0;
}

static void row_job_free(struct row_job *j)
{
    free(j->name);
    free(j->detail);
    free(j);
}

/* ---- its end ---- */

static void on_ended_written(struct store_job *job)
{
    struct row_job *j = (struct row_job *)job;
    struct session *s = j->session;
    if (job->err.code != ERR_NONE)
        log_error(LOG_ERROR, "session.record", &job->err);
    row_job_free(j);
    session_notify(s, SESSION_EVENT_ENDED);
    session_unref(s); /* of the job */
    session_unref(s); /* of its life */
}

static void record_end(struct session *s)
{
    if (s->for_one_run) {
        session_notify(s, SESSION_EVENT_ENDED);
        session_unref(s);
        return;
    }
    struct row_job *j = row_job_new(s, "session.ended",
                                    json_pack("{s:s, s:i, s:s*}", "reason", s->reason, "cells",
                                              (int)s->cells, "adopted_by",
                                              s->adopted_by[0] ? s->adopted_by : NULL));
    log_event(LOG_INFO, "session.ended", "id=%s language=%s cells=%u", s->id,
              s->spec.language->name, s->cells);
    if (!j) {
        session_notify(s, SESSION_EVENT_ENDED);
        session_unref(s);
        return;
    }
    j->job.work = write_ended;
    j->job.done = on_ended_written;
    store_write(s->all->store, &j->job);
}

void session_fail_question(struct session *s, const char *why)
{
    struct session_question *q = s->question;
    struct err e = { 0 };
    if (!q)
        return;
    s->question = NULL;
    s->question_by_ms = 0;
    json_decref(q->answer);
    q->answer = NULL;
    (void)!err_set(&e, ERR_UNAVAILABLE, 0, "%s", why);
    if (q->on_answer)
        q->on_answer(q, NULL, &e);
    else
        free(q);
}

void session_question_drop(struct session *s, struct session_question *q)
{
    if (s->question == q)
        q->on_answer = NULL; /* its end frees it */
    else
        free(q);
}

/* The session is over. The jar, if any, goes its way. */
static void finish(struct session *s, const struct wire_ended *end, const char *reason)
{
    if (s->state == SESSION_ENDED)
        return;
    char why[sizeof s->reason + 64];
    (void)snprintf(s->reason, sizeof s->reason, "%s", reason);
    text_end_whole(s->reason); /* it may be the words of a guest */
    (void)snprintf(why, sizeof why, "the session is over, and its variables are lost: %s",
                   s->reason);
    s->state = SESSION_ENDED;
    s->ended_ms = clock_unix_ms();
    session_unlink(s);
    session_forget(s);
    (void)uv_timer_stop(&s->timer);
    struct session_program *p = s->program;
    s->program = NULL;
    if (p)
        program_detach(p);
    session_sleep_drop(s, why);
    rollback_cancel(s, ERR_GONE, why);
    session_fail_question(s, why);
    cells_lose(s, end, why);
    checkpoints_end(s);
    record_end(s);
    sessions_drain_step(s->all);
}

void session_end(struct session *s, const char *reason)
{
    struct wire_ended end = { .evidence.reason = END_CANCEL };
    finish(s, &end, reason);
}

/* The words for the end of a program that nobody asked for. */
static void describe_end(const struct session *s, const struct wire_ended *end, const char *breach,
                         char *out, size_t size)
{
    char exceeded[96];
    const struct evidence *ev = &end->evidence;
    enum limit_id limit = verdict_limit(verdict_decide(ev), ev->hits);
    const char *name = sigabbrev_np(ev->signal);
    if (breach)
        (void)snprintf(out, size, "%s", breach);
    else if (ev->reason == END_FAILURE)
        (void)snprintf(out, size, "%s", ERR_SHOWN(&end->err));
    else if (limit == LIMIT_WALL_MS && session_current(s))
        (void)snprintf(
            out, size,
            "a cell went on after its time limit and an interrupt, so the jar was ended");
    else if (limit == LIMIT_WALL_MS)
        (void)snprintf(out, size, "it reached the end of its life (ttl_s)");
    else if (limit != LIMIT_NONE)
        (void)snprintf(out, size, "its program %s",
                       limit_exceeded(limit, &s->spec.limits, exceeded, sizeof exceeded));
    else if (ev->signal)
        (void)snprintf(out, size, "its program was killed by signal %d (SIG%s)", ev->signal,
                       name ? name : "RT");
    else
        (void)snprintf(out, size, "its program ended with exit code %d", ev->exit_code);
}

void session_on_channel_closed(struct session *s)
{
    if (s->restarting || s->state == SESSION_SLEEPING) /* we are ending its jar */
        return;
    s->close_by_ms = uv_now(s->all->loop) + CLOSED_MS;
    session_schedule(s);
}

void session_on_program_end(struct session *s, const struct wire_ended *end, const char *breach)
{
    char reason[sizeof s->reason];
    s->program = NULL;
    s->close_by_ms = 0;
    if (s->restarting) {
        s->restarting = false;
        session_start(s);
        return;
    }
    describe_end(s, end, breach, reason, sizeof reason);
    if (session_sleep_on_program_end(s, reason))
        return;
    struct wire_ended failed = *end;
    (void)template_takes_back(s, reason);
    if (s->for_one_run && breach &&
        !session_current(s)) /* we ended it: it is no choice of a client */
        failed = (struct wire_ended){ .evidence.reason = END_FAILURE };
    if (!rollback_recovers(s, &failed, reason))
        finish(s, &failed, reason);
}

/* ---- its start ---- */

void session_on_ready(struct session *s)
{
    if (s->spec.sets_inputs) {
        session_inputs_begin(s);
        return;
    }
    s->start_by_ms = 0;
    s->checkpoints.since_ms = clock_unix_ms();
    s->program_from[0] = '\0';
    /* These end with the keeper: nobody waits for them then, or they sleep on. */
    if (!s->for_one_run && !s->is_branch && !session_replays(s))
        session_keep(s);
    if (s->sleep) {
        session_sleep_on_ready(s);
        return;
    }
    network_take_over(s);
    session_set_state(s, SESSION_IDLE);
    session_schedule(s);
    cells_advance(s);
}

void session_start(struct session *s)
{
    struct err e = { 0 };
    struct wire_ended end = { .evidence.reason = END_FAILURE };
    s->state = SESSION_STARTING;
    s->start_by_ms = uv_now(s->all->loop) + START_MS;
    if (program_start(s, &e)) {
        end.err = e;
        finish(s, &end, ERR_SHOWN(&e));
        return;
    }
    session_schedule(s);
}

static void on_created_written(struct store_job *job)
{
    struct row_job *j = (struct row_job *)job;
    struct session *s = j->session;
    struct err e = job->err;
    row_job_free(j);
    s->is_stored = e.code == ERR_NONE;
    if (s->state == SESSION_ENDED) {
        session_unref(s);
        return;
    }
    if (s->is_stored) {
        session_start(s);
    } else {
        struct wire_ended end = { .evidence.reason = END_FAILURE };
        finish(s, &end, ERR_SHOWN(&e));
    }
    session_unref(s);
}

static void on_timer(uv_timer_t *timer);

int session_make(struct sessions *all, struct session_spec *spec, struct session **ret,
                 struct err *e)
{
    struct session *s = calloc(1, sizeof *s);
    if (!s)
        return err_no_memory(e, "a session");
    s->all = all;
    s->file = CELL_FILE_NONE;
    s->used_ms = clock_unix_ms();
    s->used_loop_ms = s->created_loop_ms = uv_now(all->loop);
    s->host = (struct run_host){ .on_queued = cells_on_queued, .on_cancel = cells_on_cancel };
    s->spec = *spec;
    *spec = (struct session_spec){ 0 };
    s->refs = 1;
    (void)uv_timer_init(all->loop, &s->timer);
    s->timer.data = s;
    all->alive++;
    s->next = all->first;
    all->first = s;
    *ret = s;
    return 0;
}

int session_new(struct sessions *all, struct session_spec *spec, struct session_watch *w,
                struct session **ret, struct err *e)
{
    scoped(session_spec) taken = *spec;
    *spec = (struct session_spec){ 0 };
    if (sessions_check_room(all, &taken, 1, e))
        return -1;
    taken.is_copy = taken.is_copy || taken.image;
    taken.has_unknown_past = taken.has_unknown_past || taken.imported;
    struct session *s;
    if (session_make(all, &taken, &s, e))
        return -1;
    id_make("ses_", s->id);
    s->created_ms = s->used_ms;
    struct row_job *j = row_job_new(
        s, "session.created",
        json_pack("{s:s, s:s*}", "language", s->spec.language->name, "name", s->spec.name));
    if (!j) {
        session_unlink(s);
        session_unref(s);
        return err_no_memory(e, "a session");
    }
    all->created++;
    j->job.work = write_created;
    j->job.done = on_created_written;
    store_write(all->store, &j->job);
    if (w)
        session_watch_add(s, w);
    *ret = s;
    return 0;
}

void session_restart(struct session *s)
{
    struct wire_ended end = { .evidence.reason = END_CANCEL };
    s->refs++;
    s->restarts++;
    s->first_cell = s->cells + 1;
    session_sleep_drop(s, "the session was restarted");
    s->state = SESSION_STARTING; /* before the cells end: none of them may begin in the old jar */
    s->at_cell = 0;
    s->checkpoints.id[0] = '\0';
    rollback_cancel(s, ERR_CONFLICT, "the session was restarted");
    session_fail_question(s, "the session was restarted");
    cells_lose(s, &end, "the session was restarted, and its variables are lost");
    checkpoints_note_rollback(s, -1, ROLLBACK_RESTART);
    if (s->state != SESSION_ENDED) {
        if (s->program) {
            s->restarting = true;
            program_kill(s->program);
        } else if (s->is_stored) {
            session_start(s);
        }
    }
    session_touch(s);
    session_unref(s);
}

/* ---- before a cell ---- */

int session_check_room(const struct session *s, struct err *e)
{
    const struct cell *current = session_current(s);
    unsigned n = 0;
    if (s->state == SESSION_ENDED) /* nobody would end the cell */
        return err_set(e, ERR_GONE, 0, "session '%s' ended: %s; create a new one", s->id,
                       s->reason);
    for (const struct cell *c = s->first; c; c = c->next)
        n++;
    if (current && current->awaits_input)
        return err_set(e, ERR_CONFLICT, 0,
                       "cell %u waits for input: send it to /v1/sessions/%s/stdin, or interrupt "
                       "the cell",
                       current->number, s->id);
    if (n >= CELLS_WAITING_MAX)
        return err_set(e, ERR_BUSY, 0,
                       "%u cells of this session wait, and it accepts no more: try again later", n);
    return 0;
}

/* ---- time ---- */

void session_touch(struct session *s)
{
    s->used_ms = clock_unix_ms();
    s->used_loop_ms = uv_now(s->all->loop);
    s->warned = false;
}

void session_set_idle(struct session *s, uint64_t idle_ms)
{
    s->spec.idle_ms = idle_ms;
    session_touch(s);
    session_schedule(s);
}

/* The clock of the loop at which it ends or sleeps for want of use, or ends for want of life. */
static uint64_t idle_end(const struct session *s)
{
    return s->state == SESSION_IDLE && !session_replays(s) ? s->used_loop_ms + s->spec.idle_ms
                                                           : UINT64_MAX;
}

/* A restart does not put it off. */
static uint64_t awake_end(const struct session *s)
{
    return s->created_loop_ms + s->spec.limits.v[LIMIT_WALL_MS];
}

/* A session that sleeps does not age, and may sleep for so long. */
static uint64_t life_end(const struct session *s)
{
    if (s->asleep_since_ms == 0)
        return awake_end(s);
    int64_t slept = clock_unix_ms() - s->asleep_since_ms;
    uint64_t most = s->all->limits.sleep_max_ms, past = slept > 0 ? (uint64_t)slept : 0;
    return uv_now(s->all->loop) + (past < most ? most - past : 0);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Clients are warned before this time. */
static uint64_t end_of(const struct session *s)
{
    return s->spec.idle_sleeps ? life_end(s) : earlier(idle_end(s), life_end(s));
}

/* It does not age while it sleeps. After a reboot the clock of the loop may be less than its life so
 * far: the sum with ttl_s fits. */
void session_set_age(struct session *s)
{
    int64_t lived = s->asleep_since_ms - s->created_ms - (int64_t)s->asleep_ms;
    s->created_loop_ms = uv_now(s->all->loop) - (uint64_t)(lived > 0 ? lived : 0);
}

void session_end_sleep_time(struct session *s)
{
    int64_t slept = clock_unix_ms() - s->asleep_since_ms;
    if (s->asleep_since_ms == 0)
        return;
    s->asleep_ms += slept > 0 ? (uint64_t)slept : 0;
    s->asleep_since_ms = 0;
}

uint64_t session_life_left_ms(const struct session *s)
{
    uint64_t now = uv_now(s->all->loop), end = awake_end(s);
    return end > now ? end - now : 1;
}

int64_t session_expires_ms(const struct session *s, const char **ret_why)
{
    uint64_t now = uv_now(s->all->loop);
    bool sleeps = s->asleep_since_ms != 0;
    uint64_t idle = s->used_loop_ms + s->spec.idle_ms, life = life_end(s);
    bool by_idle = !sleeps && !s->spec.idle_sleeps && idle < life;
    uint64_t at = by_idle ? idle : life;
    if (ret_why)
        *ret_why = sleeps ? "sessions.sleep_max_age" : by_idle ? "idle_s" : "ttl_s";
    return clock_unix_ms() + ((int64_t)at - (int64_t)now);
}

bool session_expires_soon(const struct session *s)
{
    return s->warned;
}

void session_schedule(struct session *s)
{
    uint64_t now = uv_now(s->all->loop), due = UINT64_MAX;
    uint64_t end = end_of(s);
    uint64_t warning = end > EXPIRY_WARNING_MS ? end - EXPIRY_WARNING_MS : 0;
    if (s->state == SESSION_ENDED)
        return;
    due = earlier(due, s->start_by_ms ? s->start_by_ms : UINT64_MAX);
    due = earlier(due, s->question_by_ms ? s->question_by_ms : UINT64_MAX);
    due = earlier(due, s->close_by_ms ? s->close_by_ms : UINT64_MAX);
    due = earlier(due, s->rollback_by_ms ? s->rollback_by_ms : UINT64_MAX);
    due = earlier(due, s->network_by_ms ? s->network_by_ms : UINT64_MAX);
    due = earlier(due, s->warned || s->asleep_since_ms ? end : warning);
    due = earlier(due, idle_end(s));
    (void)uv_timer_start(&s->timer, on_timer, due > now ? due - now : 1, 0);
}

static void give_up(struct session *s, const char *reason)
{
    if (s->sleep)
        session_sleep_give_up(s, reason);
    else
        session_end(s, reason);
}

/* True: a time limit of the program was reached. */
static bool is_late(struct session *s, uint64_t now)
{
    const struct {
        uint64_t *by_ms;
        const char *reason;
    } bounds[] = {
        { &s->start_by_ms, "its program did not start in time" },
        { &s->close_by_ms, "its program closed the channel of the session" },
        { &s->question_by_ms, "its program did not answer a question in time" },
    };
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
        if (*bounds[i].by_ms == 0 || now < *bounds[i].by_ms)
            continue;
        *bounds[i].by_ms = 0;
        give_up(s, bounds[i].reason);
        return true;
    }
    return false;
}

/* It tries again after the same time if it cannot sleep now. */
static void on_idle(struct session *s)
{
    struct err e = { 0 };
    if (!s->spec.idle_sleeps) {
        session_end(s, "it was idle for longer than idle_s");
        return;
    }
    session_touch(s);
    if (!s->sleep && session_sleep(s, false, NULL, &e))
        (void)snprintf(s->sleep_error, sizeof s->sleep_error, "%s", ERR_SHOWN(&e));
    session_schedule(s);
}

static void on_timer(uv_timer_t *timer)
{
    struct session *s = timer->data;
    uint64_t now = uv_now(s->all->loop), end = end_of(s);
    if (is_late(s, now))
        return;
    if (s->rollback_by_ms && now >= s->rollback_by_ms) {
        rollback_on_late(s);
        return;
    }
    if (s->network_by_ms && now >= s->network_by_ms)
        network_on_late(s);
    if (now >= life_end(s) && !s->sleep) {
        session_end(s, s->asleep_since_ms ? "it slept for longer than sessions.sleep_max_age"
                                          : "it reached the end of its life (ttl_s)");
        return;
    }
    if (now >= idle_end(s)) {
        on_idle(s);
        return;
    }
    if (!s->warned && s->asleep_since_ms == 0 && end != UINT64_MAX &&
        now + EXPIRY_WARNING_MS >= end) {
        s->warned = true;
        session_notify(s, SESSION_EVENT_EXPIRING);
    }
    session_schedule(s);
}

/* ---- all sessions ---- */

int sessions_open(struct sessions **ret, uv_loop_t *loop, struct engine *engine,
                  struct store *store, int dir_fd, struct images *images,
                  const struct sessions_limits *limits, struct err *e)
{
    autoclose int dir = dir_fd;
    struct sessions *all = calloc(1, sizeof *all);
    if (!all)
        return err_no_memory(e, "the sessions");
    all->dir_fd = fd_take(&dir);
    all->loop = loop;
    all->engine = engine;
    all->store = store;
    all->images = images;
    all->limits = *limits;
    *ret = all;
    return 0;
}

struct images *sessions_images(const struct sessions *all)
{
    return all->images;
}

void sessions_set_limits(struct sessions *all, const struct sessions_limits *limits)
{
    all->limits = *limits;
}

void sessions_stop(struct sessions *all, const char *reason)
{
    struct session *next;
    all->stopping = true;
    templates_stop(all);
    for (struct session *s = all->first; s; s = next) {
        next = s->next;
        if (!session_sleep_stop(s, reason))
            session_end(s, reason);
    }
    sessions_drain_step(all);
}

void sessions_free(struct sessions *all)
{
    if (!all)
        return;
    struct session *next;
    for (struct session *s = all->first; s; s = next) { /* it sleeps */
        next = s->next;
        s->state = SESSION_ENDED; /* here; not in its row */
        session_unref(s);
    }
    all->first = NULL;
    all->freed = true;
    fd_close(&all->dir_fd);
    if (all->alive == 0)
        free(all);
}

unsigned sessions_count(const struct sessions *all, const char *key)
{
    unsigned n = 0;
    for (const struct session *s = all->first; s; s = s->next)
        n += s->state != SESSION_SLEEPING &&
             (!key || (s->spec.key && strcmp(s->spec.key, key) == 0));
    return n;
}

struct sessions_counts sessions_counts(const struct sessions *all)
{
    struct sessions_counts n = { .created = all->created,
                                 .cells = all->cells,
                                 .spares = templates_spares(all),
                                 .spares_taken = all->spares_taken };
    for (const struct session *s = all->first; s; s = s->next) {
        n.of_state[s->state]++; /* one that ended is not in the list */
        n.memory_bytes += s->memory_bytes;
    }
    return n;
}

struct session *sessions_first(struct sessions *all)
{
    return all->first;
}

struct session *session_find(struct sessions *all, const char *id)
{
    for (struct session *s = all->first; s; s = s->next)
        if (strcmp(s->id, id) == 0)
            return s;
    return NULL;
}
