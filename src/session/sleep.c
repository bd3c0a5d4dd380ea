/* Sleep: a session whose program is an image on the disk, and that has no jar.
 *
 *   awake ─► capturing ─► saving ─► committing ─► ending ─► asleep
 *   asleep ─► loading ─► starting ─► clearing ─► awake
 *   asleep ─► loading ─► starting ─► replaying ─► clearing ─► awake
 *
 * Until `committing`, the session is awake: if somebody uses it, the image is dropped. From then on
 * its row names the image, and requests wait. A wake that fails ends where it began, unless its
 * client asked for a replay: then a program without the image runs the cells again, and the image
 * stays until all of them have run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/strv.h"
#include "base/text.h"
#include "run/json.h"
#include "session/session_impl.h"
#include "session/templates.h"
#include "store/audit_log.h"

enum phase { CAPTURING, SAVING, COMMITTING, ENDING, LOADING, STARTING, REPLAYING, CLEARING };

struct session_sleep {
    struct session_capture capture;
    struct image_save save;
    struct image_load load;
    struct session *session; /* s->sleep is another one, or NULL: it was dropped */
    enum phase phase;
    struct session_image *image; /* while it is saved */
    enum sleep_compression compression;
    struct err err;
    /* Of a replay: why the image could not be used, and the session before it. */
    bool is_replay;
    struct err why;
    unsigned cells, at_cell, first_cell;
    struct template_wait remake; /* of the template that it begins in */
    bool remade;
};

static bool falls(const struct session_sleep *g)
{
    return g->phase <= ENDING;
}

bool session_must_wake(const struct session *s)
{
    const struct session_sleep *g = s->sleep;
    return s->state == SESSION_SLEEPING || (g && (!falls(g) || s->question));
}

bool session_replays(const struct session *s)
{
    return s->sleep && s->sleep->is_replay;
}

json_t *session_replay_json(const struct session *s)
{
    return json_pack("{s:i}", "at_cell", (int)s->sleep->at_cell);
}

/* The cells before an import are not known. */
bool session_can_replay(const struct session *s)
{
    return !s->spec.has_unknown_past || s->restarts > 0;
}

/* ---- its row ---- */

struct image_note {
    struct store_job job; /* first: the store returns it */
    struct session *session;
    struct session_sleep *sleep; /* that waits for it; NULL: none */
    struct session_row row;
    char id[ID_SIZE], image[ID_SIZE];
    char *spec;
    const char *kind; /* of the record in the audit log; NULL: none */
};

static int write_image(struct db *db, struct store_job *job, struct err *e)
{
    struct image_note *n = (struct image_note *)job;
    const struct session *s = n->session;
    if (n->row.image)
        session_sync_files(s->all->dir_fd, n->id);
    if (sessions_set_image(db, &n->row, e))
        return -1;
    struct audit_record audit = { .time_ms = clock_unix_ms(),
                                  .kind = n->kind,
                                  .subject = n->id,
                                  .actor = s->spec.actor ? s->spec.actor : "service",
                                  .detail = "{}" };
    return n->kind ? audit_append(db, &audit, e) : 0;
}

static void on_committed(struct session_sleep *g, const struct err *e);
static void on_cleared(struct session_sleep *g, const struct err *e);

static void on_image_written(struct store_job *job)
{
    struct image_note *n = (struct image_note *)job;
    struct session *s = n->session;
    struct session_sleep *g = n->sleep;
    struct err e = job->err;
    if (e.code != ERR_NONE)
        log_error(LOG_ERROR, "session.record", &e);
    free(n->spec);
    free(n);
    if (g)
        (g->phase == COMMITTING ? on_committed : on_cleared)(g, e.code == ERR_NONE ? NULL : &e);
    session_unref(s);
}

/* The row names the image of the session, or none. */
static int note_image(struct session *s, struct session_sleep *g, const char *kind, struct err *e)
{
    bool sleeps = s->image[0] != '\0';
    struct image_note *n = calloc(1, sizeof *n);
    char *spec = sleeps ? json_line(session_spec_json(s)) : NULL;
    if (!n || (sleeps && !spec)) {
        free(n);
        free(spec);
        return err_no_memory(e, "the sleep of a session");
    }
    *n = (struct image_note){ .job = { .work = write_image, .done = on_image_written },
                              .session = s,
                              .sleep = g,
                              .spec = spec,
                              .kind = kind };
    (void)snprintf(n->id, sizeof n->id, "%s", s->id);
    (void)snprintf(n->image, sizeof n->image, "%s", s->image);
    n->row = (struct session_row){
        .id = n->id, .image = sleeps ? n->image : NULL, .spec = spec, .cells = s->cells
    };
    s->refs++;
    store_write(s->all->store, &n->job);
    return 0;
}

void session_sleep_save(struct session *s)
{
    struct err e = { 0 };
    if (s->image[0] && note_image(s, NULL, NULL, &e))
        log_error(LOG_WARN, "session.save", &e);
}

void session_sleep_forget(struct session *s)
{
    struct err e = { 0 };
    if (note_image(s, NULL, NULL, &e))
        log_error(LOG_ERROR, "session.record", &e);
}

/* ---- the end of a sleep or of a wake ---- */

static void sleep_free(struct session_sleep *g)
{
    struct session *s = g->session;
    session_image_unref(g->image);
    json_decref(g->capture.not_carried);
    free(g);
    session_unref(s);
}

static void remove_image(struct session *s)
{
    struct saved_image *saved = s->image[0] ? images_find(s->all->images, s->image) : NULL;
    if (saved)
        images_remove(s->all->images, saved);
    s->image[0] = '\0';
}

static void detach(struct session_sleep *g)
{
    struct session *s = g->session;
    if (falls(g))
        s->all->falling--;
    s->sleep = NULL;
}

void session_sleep_drop(struct session *s, const char *reason)
{
    struct session_sleep *g = s->sleep;
    struct err e = { 0 };
    bool was_asleep = s->image[0] != '\0';
    if (g) {
        detach(g);
        if (g->phase == STARTING) {
            session_image_unref(s->spec.image);
            s->spec.image = NULL;
        }
        if (g->phase == ENDING || g->phase == STARTING || g->phase == REPLAYING)
            sleep_free(g); /* no callback of ours comes any more */
    }
    remove_image(s);
    if (was_asleep && s->state != SESSION_ENDED) {
        session_take_out(s);
        session_set_age(s);
        if (note_image(s, NULL, NULL, &e))
            log_error(LOG_WARN, "session.drop_image", &e);
    }
    session_end_sleep_time(s);
    (void)!err_set(&e, ERR_GONE, 0, "%s", reason);
    session_answer_waits(s, true, NULL, &e);
    session_answer_waits(s, false, NULL, &e);
}

/* It stays awake. */
static void stay_awake(struct session_sleep *g, const struct err *e)
{
    struct session *s = g->session;
    char why[sizeof s->reason];
    s->refs++;
    detach(g);
    (void)snprintf(s->sleep_error, sizeof s->sleep_error, "%s", e->text);
    log_event(LOG_INFO, "session.stays_awake", "id=%s", s->id);
    session_answer_waits(s, true, NULL, e);
    session_answer_waits(s, false, NULL, NULL);
    if (s->all->drain_reason && !s->first && s->state != SESSION_ENDED) {
        (void)snprintf(why, sizeof why, "%s, and it could not sleep: %.150s", s->all->drain_reason,
                       e->text);
        session_end(s, why);
    }
    sleep_free(g);
    sessions_drain_step(s->all);
    session_unref(s);
}

/* The session was used, or it ended. */
static bool is_unwanted(const struct session *s)
{
    bool waits = false;
    for (const struct session_wait *w = s->waits; w; w = w->next)
        waits = waits || !w->for_sleep;
    return s->used || s->first || s->held || waits || s->visits > 0 || s->state != SESSION_IDLE;
}

static void abandon(struct session_sleep *g)
{
    struct err e = { 0 };
    (void)!err_set(&e, ERR_CONFLICT, 0,
                   "the session was used while it fell asleep, so it stays awake");
    stay_awake(g, &e);
}

/* ---- to fall asleep ---- */

static int begin_wake(struct session *s, struct err *e);

static void now_asleep(struct session_sleep *g)
{
    struct session *s = g->session;
    struct err e = { 0 };
    s->refs++;
    detach(g);
    s->memory_bytes = 0;
    s->sleep_error[0] = '\0';
    session_put_away(s);
    log_event(LOG_INFO, "session.asleep", "id=%s cells=%u", s->id, s->cells);
    session_schedule(s);
    session_notify(s, SESSION_EVENT_STATE);
    session_answer_waits(s, true, g->capture.not_carried, NULL);
    if ((s->waits || s->first) && s->state == SESSION_SLEEPING && !s->sleep && begin_wake(s, &e)) {
        struct wire_ended end = { .evidence.reason = END_FAILURE, .err = e };
        session_answer_waits(s, false, NULL, &e);
        cells_lose(s, &end, ERR_SHOWN(&e));
    }
    sleep_free(g);
    sessions_drain_step(s->all);
    session_unref(s);
}

static void on_committed(struct session_sleep *g, const struct err *e)
{
    struct session *s = g->session;
    if (s->sleep != g) {
        sleep_free(g);
        return;
    }
    if (e && s->program) {
        remove_image(s);
        s->asleep_since_ms = 0;
        session_set_state(s, SESSION_IDLE);
        session_sleep_save(s);
        s->refs++;
        stay_awake(g, e);
        cells_advance(s);
        session_unref(s);
        return;
    }
    g->phase = ENDING;
    if (s->program)
        program_kill(s->program);
    else
        now_asleep(g);
}

static void on_saved(struct image_save *save, const struct err *e)
{
    struct session_sleep *g = (struct session_sleep *)((char *)save -
                                                       offsetof(struct session_sleep, save));
    struct session *s = g->session;
    struct err failed = { 0 };
    if (e) {
        if (s->sleep == g)
            stay_awake(g, e);
        else
            sleep_free(g);
        return;
    }
    if (s->sleep != g || is_unwanted(s)) {
        images_remove(s->all->images, save->saved);
        if (s->sleep == g)
            abandon(g);
        else
            sleep_free(g);
        return;
    }
    (void)snprintf(s->image, sizeof s->image, "%s", save->saved->row.id);
    session_image_unref(g->image);
    g->image = NULL;
    g->phase = COMMITTING;
    s->state = SESSION_SLEEPING; /* nothing begins from here on */
    s->asleep_since_ms = clock_unix_ms();
    if (note_image(s, g, "session.asleep", &failed))
        on_committed(g, &failed);
}

static bool is_compressed(const struct session_sleep *g)
{
    return g->compression == SLEEP_AS_SET ? images_compress(g->session->all->images)
                                          : g->compression == SLEEP_COMPRESSED;
}

static void on_captured(struct session_capture *c, const struct err *e)
{
    struct session_sleep *g = (struct session_sleep *)c;
    struct session *s = g->session;
    struct err failed = { 0 };
    if (!e)
        g->image = c->image;
    if (s->sleep != g) {
        sleep_free(g);
        return;
    }
    if (!e && is_unwanted(s)) {
        abandon(g);
        return;
    }
    g->phase = SAVING;
    const struct session_image *became = s->program ? s->program->image : NULL;
    g->save = (struct image_save){ .on_done = on_saved,
                                   .image = g->image,
                                   .compress = is_compressed(g),
                                   .frees = became && became->refs == 1
                                                ? image_room_bytes(became->room)
                                                : 0,
                                   .row = { .key = s->spec.key,
                                            .kind = (char *)"sleep",
                                            .session = s->id,
                                            .name = s->spec.name,
                                            .language = (char *)s->spec.language->name,
                                            .cell = s->cells } };
    if (!e && images_save(s->all->images, &g->save, &failed))
        e = &failed;
    if (e)
        stay_awake(g, e);
}

static int check_sleep(const struct session *s, struct err *e)
{
    if (!s->spec.language->forks)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "sessions of '%s' cannot sleep: delete the session, or leave it open",
                       s->spec.language->name);
    if (s->sleep || s->state == SESSION_SLEEPING)
        return err_set(e, ERR_CONFLICT, 0, "the session is %s",
                       s->sleep ? "waking: try again in a moment" : "asleep already");
    if (s->first || s->held)
        return err_set(e, ERR_CONFLICT, 0,
                       "a cell of the session runs or waits: try again when it is over");
    if (s->visits > 0)
        return err_set(e, ERR_CONFLICT, 0,
                       "a client reads or writes files of the session: try again in a moment");
    return 0;
}

int session_sleep(struct session *s, bool strict, struct session_wait *w, struct err *e)
{
    if (s->sleep && falls(s->sleep)) {
        session_add_wait(s, w, true);
        return 0;
    }
    if (check_sleep(s, e))
        return -1;
    struct session_sleep *g = calloc(1, sizeof *g);
    if (!g)
        return err_no_memory(e, "the sleep of a session");
    *g = (struct session_sleep){ .capture = { .on_done = on_captured, .strict = strict },
                                 .session = s,
                                 .compression = w ? w->compression : SLEEP_AS_SET };
    if (session_capture(s, &g->capture, e)) {
        free(g);
        return -1;
    }
    s->used = false;
    s->refs++;
    s->sleep = g;
    s->all->falling++;
    session_add_wait(s, w, true);
    return 0;
}

/* ---- to wake ---- */

/* It has no program. Its cells are lost before it may wake again. */
static void lie_down(struct session *s, const struct err *e)
{
    struct wire_ended end = { .evidence.reason = END_FAILURE, .err = *e };
    s->start_by_ms = s->close_by_ms = 0;
    s->program = NULL;
    s->state = SESSION_SLEEPING;
    s->spec.sets_inputs = false;
    session_image_unref(s->spec.image);
    s->spec.image = NULL;
    session_put_away(s);
    log_error(LOG_WARN, "session.sleeps_on", e);
    cells_lose(s, &end, ERR_SHOWN(e));
}

/* The cells of a replay that failed have no effect. */
static void undo_replay(struct session_sleep *g)
{
    struct session *s = g->session;
    s->at_cell = g->at_cell;
    s->first_cell = g->first_cell;
    if (s->cells > g->cells)
        checkpoints_note_rollback(s, g->at_cell, ROLLBACK_REPLAY);
    session_sleep_save(s);
}

static void begin_replay(struct session_sleep *g, const struct err *why);

/* It sleeps on, unless a client wants its cells to run again. */
static void sleep_on(struct session_sleep *g, const struct err *e)
{
    struct session *s = g->session;
    if (e->code == ERR_CONFLICT && !g->is_replay && session_can_replay(s) &&
        session_replay_wait(s)) {
        begin_replay(g, e);
        return;
    }
    s->refs++;
    lie_down(s, e);
    if (g->is_replay)
        undo_replay(g);
    (void)snprintf(s->sleep_error, sizeof s->sleep_error, "%s", e->text);
    detach(g);
    session_schedule(s);
    session_notify(s, SESSION_EVENT_STATE);
    session_answer_waits(s, false, NULL, e);
    sleep_free(g);
    sessions_drain_step(s->all);
    session_unref(s);
}

static void now_awake(struct session_sleep *g)
{
    struct session *s = g->session;
    s->refs++;
    remove_image(s);
    detach(g);
    session_end_sleep_time(s);
    s->sleep_error[0] = '\0';
    session_save(s);
    session_set_state(s, SESSION_IDLE);
    log_event(LOG_INFO, "session.awake", "id=%s cells=%u", s->id, s->cells);
    if (g->is_replay)
        session_notify(s, SESSION_EVENT_REPLAYED);
    (void)session_measure(s);
    session_answer_waits(s, false, NULL, NULL);
    cells_advance(s);
    session_on_line_empty(s);
    sleep_free(g);
    session_unref(s);
}

static void on_cleared(struct session_sleep *g, const struct err *e)
{
    struct session *s = g->session;
    if (s->sleep != g)
        sleep_free(g);
    else if (e)
        session_sleep_give_up(s, e->text);
    else
        now_awake(g);
}

/* Its newest state is in the jar from here on. */
static void clear(struct session_sleep *g)
{
    struct session *s = g->session;
    struct err e = { 0 };
    char image[ID_SIZE];
    g->phase = CLEARING;
    (void)snprintf(image, sizeof image, "%s", s->image);
    s->image[0] = '\0';
    int rc = note_image(s, g, "session.awake", &e);
    (void)snprintf(s->image, sizeof s->image, "%s", image);
    if (rc)
        session_sleep_give_up(s, e.text);
}

void session_sleep_on_ready(struct session *s)
{
    struct session_sleep *g = s->sleep;
    struct session_wait *w = g->is_replay ? session_replay_wait(s) : NULL;
    if (g->phase != STARTING)
        return;
    if (!g->is_replay) {
        clear(g);
    } else if (!w) {
        session_sleep_give_up(s, "nobody waits for its replay any longer");
    } else {
        g->phase = REPLAYING;
        s->at_cell = 0;
        session_set_state(s, SESSION_IDLE);
        w->on_replay(w, s, &g->why);
    }
}

void session_replayed(struct session *s, json_t *report)
{
    struct session_sleep *g = s->sleep;
    json_decref(s->replayed);
    s->replayed = report;
    s->first_cell = g->cells + 1;
    checkpoints_forget_past(s);
    struct session_rollback_row *r = &s->checkpoints.rolled_back;
    *r = (struct session_rollback_row){ g->cells, -1, clock_unix_ms(), ROLLBACK_REPLAY };
    checkpoints_add_rollback(s, r);
    session_keep(s);
    clear(g);
}

void session_replay_fail(struct session *s, const char *reason)
{
    if (session_replays(s) && s->sleep->phase == REPLAYING)
        session_sleep_give_up(s, reason);
}

void session_sleep_give_up(struct session *s, const char *reason)
{
    struct session_sleep *g = s->sleep;
    if (falls(g)) { /* its program closed the channel, or does not answer the capture */
        if (s->state != SESSION_SLEEPING)
            session_end(s, reason);
        return;
    }
    g->phase = STARTING;
    if (g->err.code == ERR_NONE)
        (void)!err_set(&g->err, ERR_CONFLICT, 0, "the session sleeps on: %s", reason);
    if (s->program)
        program_kill(s->program);
    else
        sleep_on(g, &g->err);
}

bool session_sleep_stop(struct session *s, const char *reason)
{
    struct session_sleep *g = s->sleep;
    struct session_program *p = s->program;
    struct err e = { 0 };
    if (!g || g->phase < COMMITTING)
        return s->state == SESSION_SLEEPING && !g;
    (void)!err_set(&e, ERR_UNAVAILABLE, 0, "the session sleeps: %s", reason);
    s->refs++;
    detach(g);
    lie_down(s, &e);
    if (p)
        program_detach(p);
    if (g->is_replay)
        undo_replay(g);
    else if (g->phase == CLEARING && note_image(s, NULL, "session.asleep", &e))
        log_error(LOG_ERROR, "session.record", &e);
    session_answer_waits(s, true, NULL, &e);
    session_answer_waits(s, false, NULL, &e);
    if (g->phase == ENDING || g->phase == STARTING || g->phase == REPLAYING)
        sleep_free(g); /* no callback of ours comes any more */
    session_unref(s);
    return true;
}

/* The second best is named. */
static void refuse_to_wake(const struct session *s, const char *why, struct err *e)
{
    (void)!err_set(e, ERR_CONFLICT, 0, "the session sleeps on: %.140s; %s", why,
                   session_replays(s)      ? "so there is no replay"
                   : session_can_replay(s) ? "wake with {\"replay\": true} runs its cells again"
                                           : "it began in a file, so it has no replay: a restart "
                                             "begins anew");
}

static bool remake(struct session_sleep *g, const char *why);

bool session_sleep_on_program_end(struct session *s, const char *reason)
{
    struct session_sleep *g = s->sleep;
    if (!g || g->phase < COMMITTING || g->phase == CLEARING)
        return false;
    if (g->phase == ENDING) {
        now_asleep(g);
    } else if (g->phase == STARTING && g->is_replay && s->is_unfit && remake(g, reason)) {
        return true;
    } else if (g->phase == STARTING) {
        if (g->err.code == ERR_NONE)
            refuse_to_wake(s, reason, &g->err);
        struct err e = g->err;
        sleep_on(g, &e);
    } else if (g->phase == REPLAYING) {
        (void)!err_set(&g->err, ERR_CONFLICT, 0,
                       "the session sleeps on: its program ended while its cells were replayed: "
                       "%.120s",
                       reason);
        struct err e = g->err;
        sleep_on(g, &e);
    }
    return true;
}

static int start_program(struct session_sleep *g, struct err *e)
{
    struct session *s = g->session;
    if (sessions_check_room(s->all, &s->spec, 1, e))
        return -1;
    session_take_out(s);
    session_set_age(s);
    s->spec.image = g->load.image;
    g->load.image = NULL;
    s->spec.sets_inputs = g->is_replay && s->spec.image &&
                          (s->spec.bundle.len > 0 || strv_len(s->spec.env) > 0);
    g->phase = STARTING;
    s->state = SESSION_STARTING;
    s->start_by_ms = uv_now(s->all->loop) + START_MS;
    if (program_start(s, e))
        return -1;
    session_schedule(s);
    session_notify(s, SESSION_EVENT_STATE);
    return 0;
}

static void on_loaded(struct image_load *load, const struct err *e)
{
    struct session_sleep *g = (struct session_sleep *)((char *)load -
                                                       offsetof(struct session_sleep, load));
    struct err failed = { 0 };
    if (g->session->sleep != g) {
        session_image_unref(load->image);
        sleep_free(g);
        return;
    }
    if (e && g->is_replay && e->code == ERR_CONFLICT && remake(g, e->text))
        return;
    if (e) {
        refuse_to_wake(g->session, e->text, &failed);
        failed.code = e->code;
        sleep_on(g, &failed);
    } else if (start_program(g, &failed)) {
        session_image_unref(g->load.image);
        sleep_on(g, &failed);
    }
}

/* ---- a replay ---- */

/* A program that becomes the template of the session; the cells follow. */
static int load_template(struct session_sleep *g, struct err *e)
{
    struct session *s = g->session;
    unsigned n;
    struct saved_image *saved = template_find(s->all, s->spec.begins_owner, s->spec.begins_in, &n);
    if (!saved)
        return err_set(e, ERR_CONFLICT, 0,
                       "the session sleeps on: it began in template '%s', which %s, so there is no "
                       "replay: a restart begins anew",
                       QUOTED(s->spec.begins_in),
                       n > 1 ? "several keys share now" : "is not there any longer");
    g->phase = LOADING;
    (void)snprintf(g->remake.id, sizeof g->remake.id, "%s", saved->row.id);
    g->load = (struct image_load){ .on_done = on_loaded };
    return images_load(s->all->images, saved, &g->load, e);
}

static void on_remade(struct template_wait *w, const struct saved_image *new, const struct err *e)
{
    struct session_sleep *g = (struct session_sleep *)((char *)w -
                                                       offsetof(struct session_sleep, remake));
    struct err failed = { 0 };
    (void)new;
    if (g->session->sleep != g)
        sleep_free(g);
    else if (e || load_template(g, &failed))
        sleep_on(g, e ? e : &failed);
}

/* The image of the template does not fit, either: it is made anew, once. */
static bool remake(struct session_sleep *g, const char *why)
{
    struct session *s = g->session;
    struct err e = { 0 };
    char id[ID_SIZE];
    bool is_first = g->remake.id[0] && !g->remade;
    (void)snprintf(id, sizeof id, "%s", g->remake.id);
    g->remade = true;
    g->remake.on_done = on_remade;
    if (!is_first || template_await(s->all, id, why, &g->remake, &e))
        return false;
    g->phase = LOADING;
    s->state = SESSION_SLEEPING;
    s->start_by_ms = s->close_by_ms = 0;
    s->is_unfit = false;
    session_image_unref(s->spec.image);
    s->spec.image = NULL;
    session_put_away(s);
    return true;
}

/* A program without the image; its client runs the cells. */
static void begin_replay(struct session_sleep *g, const struct err *why)
{
    struct session *s = g->session;
    struct err failed = { 0 };
    s->refs++;
    g->is_replay = true;
    g->why = *why;
    g->err = (struct err){ 0 };
    lie_down(s, why);
    g->cells = s->cells;
    g->at_cell = s->at_cell;
    g->first_cell = s->first_cell;
    bool is_of_template = s->spec.begins_in && s->restarts == 0;
    if (s->sleep == g && (is_of_template ? load_template(g, &failed) : start_program(g, &failed)))
        sleep_on(g, &failed);
    session_unref(s);
}

static int begin_wake(struct session *s, struct err *e)
{
    struct saved_image *saved = images_find(s->all->images, s->image);
    if (sessions_check_room(s->all, &s->spec, 1, e))
        return -1;
    bool is_replay = !saved && session_can_replay(s) && session_replay_wait(s);
    if (!saved)
        refuse_to_wake(s, "its image is not there", e);
    if (!saved && !is_replay)
        return -1;
    struct session_sleep *g = calloc(1, sizeof *g);
    if (!g)
        return err_no_memory(e, "the wake of a session");
    *g = (struct session_sleep){ .session = s, .phase = LOADING, .load.on_done = on_loaded };
    if (saved && images_load(s->all->images, saved, &g->load, e)) {
        free(g);
        return -1;
    }
    s->refs++;
    s->sleep = g;
    if (is_replay)
        begin_replay(g, e);
    return 0;
}

int session_wake(struct session *s, struct session_wait *w, struct err *e)
{
    s->used = true;
    session_add_wait(s, w, false);
    if (s->sleep || begin_wake(s, e) == 0)
        return 0;
    if (w)
        session_wait_drop(s, w);
    return -1;
}

void session_wake_for_cells(struct session *s)
{
    struct err e = { 0 };
    if (s->sleep || session_wake(s, NULL, &e) == 0)
        return;
    struct wire_ended end = { .evidence.reason = END_FAILURE, .err = e };
    cells_lose(s, &end, ERR_SHOWN(&e));
}
