/* The search for sessions that sleep since an earlier keeper. A thread of the store reads their rows
 * in pieces, while the service answers other requests. Requests about sessions and templates wait.
 *
 *   images_search() ─► read_piece() ─► on_piece(): SESSION_SLEEPING ─► the next piece … ─► sweep()
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "session/session_impl.h"

enum { PIECE = 64 };

struct sessions_search {
    struct store_job job; /* first: the store returns it */
    struct sessions *all;
    int64_t after; /* the number of the last row so far */
    struct session_rows rows;
    json_t *specs[PIECE]; /* of the rows */
    struct sessions_list awake;
};

/* ---- sessions by id ---- */

static int by_session_id(const void *a, const void *b)
{
    return strcmp((*(struct session *const *)a)->id, (*(struct session *const *)b)->id);
}

int sessions_sort(const struct sessions *all, struct sessions_list *ret, struct err *e)
{
    size_t n = 0;
    for (const struct session *s = all->first; s; s = s->next)
        n++;
    *ret = (struct sessions_list){ .sorted = calloc(n + 1, sizeof(void *)) };
    if (!ret->sorted)
        return err_no_memory(e, "the sessions");
    for (struct session *s = all->first; s; s = s->next)
        ret->sorted[ret->n++] = s;
    qsort(ret->sorted, ret->n, sizeof(void *), by_session_id);
    return 0;
}

struct session *sessions_list_find(const struct sessions_list *list, const char *id)
{
    struct session key, *wanted = &key;
    (void)snprintf(key.id, sizeof key.id, "%s", id);
    struct session **at = list->n ? bsearch(&wanted, list->sorted, list->n, sizeof(void *),
                                            by_session_id)
                                  : NULL;
    return at ? *at : NULL;
}

/* ---- one session ---- */

/* A session whose image is lost can only be replayed. */
static int check_image(struct session *s, bool has_image, struct err *e)
{
    if (has_image)
        return 0;
    log_event(LOG_WARN, "session.image_lost", "id=%s image=%s", s->id, s->image);
    if (session_can_replay(s)) {
        (void)snprintf(s->sleep_error, sizeof s->sleep_error,
                       "its image is not there; wake with {\"replay\": true} runs its cells again");
        return 0;
    }
    session_unlink(s);
    session_unref(s);
    return err_set(e, ERR_NOT_FOUND, 0, "its image is not there");
}

static int make_sleeping(struct sessions *all, const struct session_row *row, const json_t *o,
                         struct err *e)
{
    scoped(session_spec) spec = { 0 };
    struct session *s;
    struct saved_image *image = images_find(all->images, row->image);
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
    const json_t *replay = json_object_get(o, "replay");
    if (replay) { /* the earlier keeper was killed while cells ran again */
        s->at_cell = (unsigned)json_integer_value(json_object_get(replay, "at_cell"));
        checkpoints_note_rollback(s, s->at_cell, ROLLBACK_REPLAY);
    }
    s->state = SESSION_SLEEPING;
    if (check_image(s, image != NULL, e))
        return -1;
    if (image)
        image->has_sleeper = true;
    session_schedule(s);
    return 0;
}

struct lost_session {
    struct store_job job; /* first: the store returns it */
    struct session_row row;
    char id[ID_SIZE];
};

static int write_lost(struct db *db, struct store_job *job, struct err *e)
{
    return sessions_finish(db, &((struct lost_session *)job)->row, e);
}

static void on_lost_written(struct store_job *job)
{
    if (job->err.code != ERR_NONE)
        log_error(LOG_ERROR, "session.record", &job->err);
    free(job);
}

/* Its row says why; without memory for it, the next start says so. */
static void lose(struct sessions *all, const struct session_row *row)
{
    static char reason[] = "the service was restarted, and the session did not survive it";
    struct lost_session *l = calloc(1, sizeof *l);
    if (!l)
        return;
    l->job = (struct store_job){ .work = write_lost, .done = on_lost_written };
    (void)snprintf(l->id, sizeof l->id, "%s", row->id);
    l->row = (struct session_row){
        .id = l->id, .reason = reason, .ended_ms = clock_unix_ms(), .cells = row->cells
    };
    store_write(all->store, &l->job);
}

static void take_row(const struct sessions_search *g, const struct session_row *row,
                     const json_t *spec)
{
    struct session *awake = sessions_list_find(&g->awake, row->id);
    struct err e = { 0 };
    if (awake) { /* the earlier keeper was killed between the row and the jar, which is as new */
        session_sleep_forget(awake);
    } else if (make_sleeping(g->all, row, spec, &e)) {
        log_error(LOG_WARN, "session.lost", &e);
        lose(g->all, row);
    }
}

/* ---- the search ---- */

static void drop_piece(struct sessions_search *g)
{
    for (size_t i = 0; i < PIECE; i++) {
        json_decref(g->specs[i]);
        g->specs[i] = NULL;
    }
    session_rows_done(&g->rows);
    g->rows = (struct session_rows){ 0 };
}

static void search_free(struct sessions_search *g)
{
    drop_piece(g);
    free(g->awake.sorted);
    free(g);
}

/* e NULL: all are known. Otherwise the next request that needs them begins another search. */
static void end_search(struct sessions_search *g, const struct err *e)
{
    struct sessions *all = g->all;
    struct sessions_wait *list = all->search_waits, *next;
    if (e)
        log_error(LOG_ERROR, "sessions.search", e);
    all->are_known = e == NULL;
    all->search_failed = e != NULL;
    all->searched_to = g->after;
    all->search = NULL;
    all->search_waits = NULL;
    search_free(g);
    for (struct sessions_wait *w = list; w; w = next) {
        next = w->next;
        w->on_done(w, e);
    }
}

/* Images and files of sessions that are awake, or over. */
static int sweep(const struct sessions *all, struct err *e)
{
    struct sessions_list list = { 0 };
    if (sessions_sort(all, &list, e))
        return -1;
    for (struct saved_image *next, *i = images_first(all->images); i; i = next) {
        next = i->next;
        if (strcmp(i->row.kind, "sleep") == 0 && !i->has_sleeper)
            images_remove(all->images, i);
    }
    sessions_sweep_files(all, &list);
    checkpoints_sweep(all, &list);
    free(list.sorted);
    return 0;
}

static int read_piece(struct db *db, struct store_job *job, struct err *e)
{
    struct sessions_search *g = (struct sessions_search *)job;
    if (sessions_sleeping(db, g->after, PIECE, &g->rows, e))
        return -1;
    for (size_t i = 0; i < g->rows.n; i++)
        g->specs[i] = json_loads(g->rows.rows[i].spec ? g->rows.rows[i].spec : "",
                                 JSON_REJECT_DUPLICATES, NULL);
    return 0;
}

static void on_piece(struct store_job *job)
{
    struct sessions_search *g = (struct sessions_search *)job;
    struct err e = job->err;
    size_t n = g->rows.n;
    if (e.code == ERR_NONE && g->all->stopping) /* their rows stay as they are */
        (void)!err_set(&e, ERR_UNAVAILABLE, 0, "the service is stopping");
    for (size_t i = 0; e.code == ERR_NONE && i < n; i++) {
        take_row(g, &g->rows.rows[i], g->specs[i]);
        g->after = g->rows.rows[i].number;
    }
    drop_piece(g);
    if (e.code == ERR_NONE && n == PIECE) {
        store_read(g->all->store, &g->job);
        return;
    }
    if (e.code == ERR_NONE)
        (void)!sweep(g->all, &e);
    end_search(g, e.code == ERR_NONE ? NULL : &e);
}

static int begin_pieces(struct sessions_search *g, struct err *e)
{
    if (sessions_sort(g->all, &g->awake, e))
        return -1;
    g->job = (struct store_job){ .work = read_piece, .done = on_piece };
    store_read(g->all->store, &g->job);
    return 0;
}

static void on_images(void *context, const struct err *e)
{
    struct sessions_search *g = context;
    struct err failed = { 0 };
    size_t unreadable = e ? 0 : images_without_key(g->all->images);
    if (unreadable > 0)
        log_event(LOG_ERROR, "images.no_key", "images=%zu", unreadable);
    if (e || begin_pieces(g, &failed))
        end_search(g, e ? e : &failed);
}

int sessions_search(struct sessions *all, struct err *e)
{
    if (all->are_known || all->search)
        return 0;
    struct sessions_search *g = calloc(1, sizeof *g);
    if (!g)
        return err_no_memory(e, "the sessions");
    *g = (struct sessions_search){ .all = all, .after = all->searched_to };
    all->search = g;
    if (images_are_listed(all->images) ? begin_pieces(g, e)
                                       : images_search(all->images, on_images, g, e)) {
        all->search = NULL;
        search_free(g);
        return -1;
    }
    return 0;
}

bool sessions_are_known(const struct sessions *all)
{
    return all->are_known;
}

bool sessions_search_failed(const struct sessions *all)
{
    return all->search_failed && !all->stopping;
}

int sessions_await(struct sessions *all, struct sessions_wait *w, struct err *e)
{
    if (sessions_search(all, e))
        return -1;
    w->next = all->search_waits;
    all->search_waits = w;
    return 0;
}
