/* Sleep: a session whose program is an image on the disk, and that has no jar.
 *
 *   awake ─► capturing ─► saving ─► committing ─► ending ─► asleep
 *   asleep ─► loading ─► starting ─► clearing ─► awake
 *
 * Until `committing`, the session is awake: if somebody uses it, the image is dropped. From then on
 * its row names the image, and requests wait. A wake that fails ends where it began. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "run/json.h"
#include "session/session_impl.h"
#include "store/audit_log.h"

enum { FALLING_MAX = 4 }; /* sessions at a time, in a drain */

enum phase { CAPTURING, SAVING, COMMITTING, ENDING, LOADING, STARTING, CLEARING };

struct session_sleep {
    struct session_capture capture;
    struct image_save save;
    struct image_load load;
    struct session *session; /* s->sleep is another one, or NULL: it was dropped */
    enum phase phase;
    struct session_image *image; /* while it is saved */
    struct err err;
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

/* ---- waits ---- */

static void answer_waits(struct session *s, bool for_sleep, json_t *not_carried,
                         const struct err *e)
{
    struct session_wait *list = s->waits, *next;
    s->waits = NULL;
    for (struct session_wait *w = list; w; w = next) {
        next = w->next;
        if (w->for_sleep != for_sleep) {
            w->next = s->waits;
            s->waits = w;
            continue;
        }
        w->not_carried = for_sleep && !e ? json_incref(not_carried) : NULL;
        w->on_done(w, s, e);
    }
}

static void add_wait(struct session *s, struct session_wait *w, bool for_sleep)
{
    if (!w)
        return;
    w->for_sleep = for_sleep;
    w->next = s->waits;
    s->waits = w;
}

void session_wait_drop(struct session *s, struct session_wait *w)
{
    for (struct session_wait **at = &s->waits; *at; at = &(*at)->next) {
        if (*at == w) {
            *at = w->next;
            return;
        }
    }
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

/* It does not age while it sleeps. After a reboot the clock of the loop may be less than its life so
 * far: the sum with ttl_s fits. */
static void set_age(struct session *s)
{
    int64_t lived = s->asleep_since_ms - s->created_ms - (int64_t)s->asleep_ms;
    s->created_loop_ms = uv_now(s->all->loop) - (uint64_t)(lived > 0 ? lived : 0);
}

static void end_sleep_time(struct session *s)
{
    int64_t slept = clock_unix_ms() - s->asleep_since_ms;
    if (s->asleep_since_ms == 0)
        return;
    s->asleep_ms += slept > 0 ? (uint64_t)slept : 0;
    s->asleep_since_ms = 0;
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
        if (g->phase == ENDING || g->phase == STARTING) /* no callback of ours comes any more */
            sleep_free(g);
    }
    remove_image(s);
    if (was_asleep && s->state != SESSION_ENDED) {
        session_take_out(s);
        set_age(s);
        if (note_image(s, NULL, NULL, &e))
            log_error(LOG_WARN, "session.drop_image", &e);
    }
    end_sleep_time(s);
    (void)!err_set(&e, ERR_GONE, 0, "%s", reason);
    answer_waits(s, true, NULL, &e);
    answer_waits(s, false, NULL, &e);
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
    answer_waits(s, true, NULL, e);
    answer_waits(s, false, NULL, NULL);
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
    answer_waits(s, true, g->capture.not_carried, NULL);
    if ((s->waits || s->first) && s->state == SESSION_SLEEPING && !s->sleep && begin_wake(s, &e)) {
        struct wire_ended end = { .evidence.reason = END_FAILURE, .err = e };
        answer_waits(s, false, NULL, &e);
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
    g->save = (struct image_save){ .on_done = on_saved,
                                   .image = g->image,
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
        add_wait(s, w, true);
        return 0;
    }
    if (check_sleep(s, e))
        return -1;
    struct session_sleep *g = calloc(1, sizeof *g);
    if (!g)
        return err_no_memory(e, "the sleep of a session");
    *g = (struct session_sleep){ .capture = { .on_done = on_captured, .strict = strict },
                                 .session = s };
    if (session_capture(s, &g->capture, e)) {
        free(g);
        return -1;
    }
    s->used = false;
    s->refs++;
    s->sleep = g;
    s->all->falling++;
    add_wait(s, w, true);
    return 0;
}

/* ---- to wake ---- */

/* It sleeps on. Its cells are lost before it may wake again. */
static void sleep_on(struct session_sleep *g, const struct err *e)
{
    struct session *s = g->session;
    struct wire_ended end = { .evidence.reason = END_FAILURE, .err = *e };
    s->refs++;
    s->start_by_ms = s->close_by_ms = 0;
    s->program = NULL;
    s->state = SESSION_SLEEPING;
    session_image_unref(s->spec.image);
    s->spec.image = NULL;
    session_put_away(s);
    (void)snprintf(s->sleep_error, sizeof s->sleep_error, "%s", e->text);
    log_error(LOG_WARN, "session.sleeps_on", e);
    cells_lose(s, &end, ERR_SHOWN(e));
    detach(g);
    session_schedule(s);
    session_notify(s, SESSION_EVENT_STATE);
    answer_waits(s, false, NULL, e);
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
    end_sleep_time(s);
    s->sleep_error[0] = '\0';
    session_save(s);
    session_set_state(s, SESSION_IDLE);
    log_event(LOG_INFO, "session.awake", "id=%s cells=%u", s->id, s->cells);
    (void)session_measure(s);
    answer_waits(s, false, NULL, NULL);
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

void session_sleep_on_ready(struct session *s)
{
    struct session_sleep *g = s->sleep;
    struct err e = { 0 };
    char image[ID_SIZE];
    if (g->phase != STARTING)
        return;
    g->phase = CLEARING;
    (void)snprintf(image, sizeof image, "%s", s->image);
    s->image[0] = '\0';
    int rc = note_image(s, g, "session.awake", &e);
    (void)snprintf(s->image, sizeof s->image, "%s", image);
    if (rc)
        session_sleep_give_up(s, e.text);
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

bool session_sleep_on_program_end(struct session *s, const char *reason)
{
    struct session_sleep *g = s->sleep;
    if (!g || g->phase < COMMITTING || g->phase == CLEARING)
        return false;
    if (g->phase == ENDING) {
        now_asleep(g);
    } else if (g->phase == STARTING) {
        if (g->err.code == ERR_NONE)
            (void)!err_set(
                &g->err, ERR_CONFLICT, 0,
                "the session sleeps on: %.150s; its cells are in GET cells, and a restart "
                "begins anew",
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
    set_age(s);
    s->spec.image = g->load.image;
    g->load.image = NULL;
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
    if (e) {
        (void)!err_set(&failed, e->code, e->sys, "the session sleeps on: %s", e->text);
        sleep_on(g, &failed);
    } else if (start_program(g, &failed)) {
        session_image_unref(g->load.image);
        sleep_on(g, &failed);
    }
}

static int begin_wake(struct session *s, struct err *e)
{
    struct saved_image *saved = images_find(s->all->images, s->image);
    if (!saved)
        return err_set(e, ERR_CONFLICT, 0, "the session sleeps on: its image is not there");
    if (sessions_check_room(s->all, &s->spec, 1, e))
        return -1;
    struct session_sleep *g = calloc(1, sizeof *g);
    if (!g)
        return err_no_memory(e, "the wake of a session");
    *g = (struct session_sleep){ .session = s, .phase = LOADING, .load.on_done = on_loaded };
    if (images_load(s->all->images, saved, &g->load, e)) {
        free(g);
        return -1;
    }
    s->refs++;
    s->sleep = g;
    return 0;
}

int session_wake(struct session *s, struct session_wait *w, struct err *e)
{
    s->used = true;
    if (!s->sleep && begin_wake(s, e))
        return -1;
    add_wait(s, w, false);
    return 0;
}

void session_wake_for_cells(struct session *s)
{
    struct err e = { 0 };
    if (s->sleep || session_wake(s, NULL, &e) == 0)
        return;
    struct wire_ended end = { .evidence.reason = END_FAILURE, .err = e };
    cells_lose(s, &end, ERR_SHOWN(&e));
}

/* ---- the stop of the service ---- */

static void sleep_or_end(struct session *s)
{
    struct err e = { 0 };
    const char *reason = s->all->drain_reason;
    char why[sizeof s->reason];
    if (s->state == SESSION_STARTING || !s->spec.language->forks) {
        session_end(s, reason);
    } else if (session_sleep(s, false, NULL, &e)) {
        (void)snprintf(why, sizeof why, "%s, and it could not sleep: %.150s", reason, e.text);
        session_end(s, why);
    }
}

void sessions_drain_step(struct sessions *all)
{
    struct session *next;
    bool awake = false;
    if (!all->drain_reason || all->draining_now)
        return;
    all->draining_now = true;
    for (struct session *s = all->first; s; s = next) {
        next = s->next;
        if (!s->sleep && !s->first && !s->question && s->state != SESSION_SLEEPING &&
            all->falling < FALLING_MAX)
            sleep_or_end(s);
    }
    all->draining_now = false;
    for (const struct session *s = all->first; s; s = s->next)
        awake = awake || s->state != SESSION_SLEEPING || s->sleep;
    void (*on_drained)(void *) = all->on_drained;
    if (awake || !on_drained)
        return;
    all->on_drained = NULL;
    on_drained(all->drained_context);
}

void session_on_line_empty(struct session *s)
{
    if (s->for_one_run && !s->first)
        session_end(s, "its run is over");
    if (!s->first)
        sessions_drain_step(s->all);
}

void sessions_drain(struct sessions *all, const char *reason, void (*on_done)(void *context),
                    void *context)
{
    all->stopping = true;
    all->drain_reason = reason;
    all->on_drained = on_done;
    all->drained_context = context;
    sessions_drain_step(all);
}

/* ---- sessions that sleep since an earlier keeper ---- */

struct sleeping_rows {
    struct store_job job;
    struct session_rows rows;
};

static int read_rows(struct db *db, struct store_job *job, struct err *e)
{
    return sessions_sleeping(db, &((struct sleeping_rows *)job)->rows, e);
}

static void on_rows(struct store_job *job)
{
    (void)job;
}

static int make_sleeping(struct sessions *all, const struct session_row *row, struct err *e)
{
    scoped(session_spec) spec = { 0 };
    struct session *s;
    json_auto_t *o = row->spec ? json_loads(row->spec, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (session_spec_take(all, o, row, &spec, e))
        return -1;
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (i != LIMIT_WALL_MS && spec.limits.v[i] > all->limits.cell_max.v[i])
            spec.limits.v[i] = all->limits.cell_max.v[i];
    if (session_make(all, &spec, &s, e))
        return -1;
    (void)snprintf(s->id, sizeof s->id, "%s", row->id);
    (void)snprintf(s->image, sizeof s->image, "%s", row->image);
    session_take_history(s, o);
    checkpoints_adopt(s, json_object_get(o, "checkpoints"), 0);
    s->has_files = json_is_true(json_object_get(o, "has_files"));
    s->asleep_since_ms = json_integer_value(json_object_get(o, "asleep_since_ms"));
    s->used_ms = s->asleep_since_ms;
    s->created_ms = row->created_ms;
    s->cells = (unsigned)row->cells;
    s->is_stored = true;
    s->state = SESSION_SLEEPING;
    session_schedule(s);
    return 0;
}

static int by_id(const void *a, const void *b)
{
    return strcmp((*(struct saved_image *const *)a)->row.id,
                  (*(struct saved_image *const *)b)->row.id);
}

/* Images that sessions slept in, by id. Each that is found is replaced by NULL in `left`. */
struct sleep_images {
    struct saved_image **sorted;
    bool *found;
    size_t n;
};

static int list_images(const struct sessions *all, struct sleep_images *ret, struct err *e)
{
    size_t n = 0;
    for (const struct saved_image *i = images_first(all->images); i; i = i->next)
        n += strcmp(i->row.kind, "sleep") == 0;
    *ret = (struct sleep_images){ .sorted = calloc(n + 1, sizeof(void *)),
                                  .found = calloc(n + 1, sizeof *ret->found) };
    if (!ret->sorted || !ret->found)
        return err_no_memory(e, "the images");
    for (struct saved_image *i = images_first(all->images); i; i = i->next)
        if (strcmp(i->row.kind, "sleep") == 0)
            ret->sorted[ret->n++] = i;
    qsort(ret->sorted, ret->n, sizeof(void *), by_id);
    return 0;
}

static bool find_image(const struct sleep_images *all, char *id)
{
    struct saved_image key = { .row.id = id }, *wanted = &key;
    struct saved_image **at = bsearch(&wanted, all->sorted, all->n, sizeof(void *), by_id);
    if (at)
        all->found[at - all->sorted] = true;
    return at != NULL;
}

/* The earlier keeper was killed between the row and the jar: the jar is as new as the image. */
static void forget_image(struct session *s)
{
    struct err e = { 0 };
    if (note_image(s, NULL, NULL, &e))
        log_error(LOG_ERROR, "session.record", &e);
}

static void take_rows(struct sessions *all, const struct session_rows *rows,
                      const struct sleep_images *images, json_t *ids)
{
    for (size_t i = 0; i < rows->n; i++) {
        const struct session_row *row = &rows->rows[i];
        struct session *awake = session_find(all, row->id);
        struct err e = { 0 };
        if (awake) {
            forget_image(awake);
        } else if (!find_image(images, row->image)) {
            log_event(LOG_WARN, "session.lost", "id=%s image=%s", row->id, row->image);
        } else if (make_sleeping(all, row, &e)) {
            log_error(LOG_WARN, "session.lost", &e);
        } else {
            (void)json_array_append_new(ids, json_string(row->id));
        }
    }
    for (size_t i = 0; i < images->n; i++)
        if (!images->found[i]) /* its session is awake, or over */
            images_remove(all->images, images->sorted[i]);
}

int sessions_find_sleeping(struct sessions *all, json_t *ids, struct err *e)
{
    struct sleeping_rows list = { .job = { .work = read_rows, .done = on_rows } };
    struct sleep_images images = { 0 };
    store_read(all->store, &list.job);
    store_wait(all->store);
    int rc = list.job.err.code == ERR_NONE ? list_images(all, &images, e) : -1;
    if (list.job.err.code != ERR_NONE)
        *e = list.job.err;
    if (rc == 0)
        take_rows(all, &list.rows, &images, ids);
    session_rows_done(&list.rows);
    free(images.sorted);
    free(images.found);
    return rc;
}
