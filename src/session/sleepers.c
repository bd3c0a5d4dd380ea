/* Sessions that sleep since an earlier keeper. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/log.h"
#include "session/session_impl.h"

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

static int make_sleeping(struct sessions *all, const struct session_row *row, bool has_image,
                         struct err *e)
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
    const json_t *replay = json_object_get(o, "replay");
    if (replay) { /* the earlier keeper was killed while cells ran again */
        s->at_cell = (unsigned)json_integer_value(json_object_get(replay, "at_cell"));
        checkpoints_note_rollback(s, s->at_cell, ROLLBACK_REPLAY);
    }
    s->state = SESSION_SLEEPING;
    if (check_image(s, has_image, e))
        return -1;
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

static int by_session_id(const void *a, const void *b)
{
    return strcmp((*(struct session *const *)a)->id, (*(struct session *const *)b)->id);
}

/* The sessions that are awake, by id. */
struct awake {
    struct session **sorted;
    size_t n;
};

static int list_awake(const struct sessions *all, struct awake *ret, struct err *e)
{
    size_t n = 0;
    for (const struct session *s = all->first; s; s = s->next)
        n++;
    *ret = (struct awake){ .sorted = calloc(n + 1, sizeof(void *)) };
    if (!ret->sorted)
        return err_no_memory(e, "the sessions");
    for (struct session *s = all->first; s; s = s->next)
        ret->sorted[ret->n++] = s;
    qsort(ret->sorted, ret->n, sizeof(void *), by_session_id);
    return 0;
}

static struct session *find_awake(const struct awake *all, const char *id)
{
    struct session key, *wanted = &key;
    (void)snprintf(key.id, sizeof key.id, "%s", id);
    struct session **at = bsearch(&wanted, all->sorted, all->n, sizeof(void *), by_session_id);
    return at ? *at : NULL;
}

static void take_rows(struct sessions *all, const struct session_rows *rows,
                      const struct sleep_images *images, const struct awake *others, json_t *ids)
{
    for (size_t i = 0; i < rows->n; i++) {
        const struct session_row *row = &rows->rows[i];
        struct session *awake = find_awake(others, row->id);
        struct err e = { 0 };
        if (awake) { /* the earlier keeper was killed between the row and the jar, which is as new */
            session_sleep_forget(awake);
        } else if (make_sleeping(all, row, find_image(images, row->image), &e)) {
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
    struct awake others = { 0 };
    store_read(all->store, &list.job);
    store_wait(all->store);
    int rc = list.job.err.code == ERR_NONE ? list_images(all, &images, e) : -1;
    if (list.job.err.code != ERR_NONE)
        *e = list.job.err;
    rc = rc || list_awake(all, &others, e) ? -1 : 0;
    if (rc == 0)
        take_rows(all, &list.rows, &images, &others, ids);
    session_rows_done(&list.rows);
    free(images.sorted);
    free(images.found);
    free(others.sorted);
    return rc;
}
