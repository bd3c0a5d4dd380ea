/* Checkpoints: they are taken, listed, found and removed here. */
#include "session/checkpoints.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "run/json.h"
#include "session/session_impl.h"

enum { NAMES_KEPT = 20, NAME_KEPT_BYTES = 200 };

/* From its capture to its row. */
struct pending_checkpoint {
    struct session_capture capture; /* first */
    struct image_save save;
    struct session_record record;
    struct session *session;
    struct checkpoint_request *request; /* NULL: it is taken before a cell */
    struct pending_checkpoint *next;
    struct checkpoint facts;
    struct session_image *image;
    char *name, *actor, *detail;
    unsigned number;
    bool dropped; /* while it is written: nobody wants it any longer */
};

static void pending_free(struct pending_checkpoint *p)
{
    struct session *s = p->session;
    session_image_unref(p->image);
    free(p->name);
    free(p->actor);
    free(p->detail);
    free(p);
    session_unref(s);
}

/* ---- the list ---- */

static bool is_of(const struct saved_image *i, const struct session *s)
{
    return !i->is_removed && i->row.session && strcmp(i->row.session, s->id) == 0 &&
           (strcmp(i->row.kind, "checkpoint") == 0 || strcmp(i->row.kind, "undo") == 0);
}

static bool is_undo(const struct saved_image *i)
{
    return strcmp(i->row.kind, "undo") == 0;
}

static void describe(const struct saved_image *i, struct checkpoint *ret)
{
    json_auto_t *detail = i->row.detail ? json_loads(i->row.detail, 0, NULL) : NULL;
    *ret = (struct checkpoint){
        .name = i->row.name,
        .detail = i->row.detail,
        .cell = (unsigned)i->row.cell,
        .before = (unsigned)json_integer_value(json_object_get(detail, "before")),
        .bytes = (uint64_t)i->row.bytes,
        .created_ms = i->row.created_ms,
    };
    (void)snprintf(ret->id, sizeof ret->id, "%s", i->row.id);
}

bool checkpoints_each(const struct session *s, bool (*each)(void *context, struct checkpoint *c),
                      void *context)
{
    struct checkpoint c;
    for (const struct saved_image *i = images_first(s->all->images); i; i = i->next) {
        if (!is_of(i, s))
            continue;
        describe(i, &c);
        if (each(context, &c))
            return true;
    }
    for (const struct pending_checkpoint *p = s->checkpoints.first; p; p = p->next) {
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): unlink_pending() comes before the end */
        c = p->facts;
        c.detail = p->detail;
        if (!p->dropped && each(context, &c))
            return true;
    }
    return false;
}

struct wanted {
    const char *name;
    unsigned cell, before;
    struct checkpoint found;
};

static bool has_name(void *context, struct checkpoint *c)
{
    struct wanted *w = context;
    if (strcmp(c->id, w->name) != 0 && (!c->name || strcmp(c->name, w->name) != 0))
        return false;
    w->found = *c;
    return true;
}

/* The newest one remains. */
static bool is_after(void *context, struct checkpoint *c)
{
    struct wanted *w = context;
    if (c->cell == w->cell)
        w->found = *c;
    return false;
}

static bool is_before(void *context, struct checkpoint *c)
{
    struct wanted *w = context;
    if (c->before > 0 && c->before == w->before)
        w->found = *c;
    return false;
}

int checkpoint_find(const struct session *s, const char *name, struct checkpoint *ret,
                    struct err *e)
{
    struct wanted w = { .name = name };
    if (!checkpoints_each(s, has_name, &w))
        return err_set(e, ERR_NOT_FOUND, 0,
                       "session '%s' has no checkpoint '%s': GET /v1/sessions/%s/checkpoints lists "
                       "them",
                       s->id, QUOTED(name), s->id);
    *ret = w.found;
    return 0;
}

int checkpoint_after_cell(const struct session *s, unsigned cell, struct checkpoint *ret,
                          struct err *e)
{
    struct wanted w = { .cell = cell };
    (void)checkpoints_each(s, is_after, &w);
    if (!w.found.id[0])
        return err_set(e, ERR_NOT_FOUND, 0,
                       "there is no checkpoint of the state after cell %u: GET "
                       "/v1/sessions/%s/checkpoints lists the ones that are kept",
                       cell, s->id);
    *ret = w.found;
    return 0;
}

int checkpoint_before_cells(const struct session *s, unsigned cells, struct checkpoint *ret,
                            struct err *e)
{
    const struct session_checkpoints *k = &s->checkpoints;
    struct wanted w = { .before = k->recovered_cell > s->at_cell ? k->recovered_cell : s->at_cell };
    if (s->spec.undo == 0)
        return err_set(e, ERR_CONFLICT, 0,
                       "session '%s' keeps no state before its cells: create it with \"undo\": N, "
                       "or change it with PATCH; 1 to %d are accepted",
                       s->id, UNDO_MAX);
    for (unsigned i = 0; i < cells; i++) {
        w.found = (struct checkpoint){ 0 };
        if (w.before == 0)
            return err_set(e, ERR_CONFLICT, 0, "there are %u cells to undo, not %u", i, cells);
        (void)checkpoints_each(s, is_before, &w);
        if (!w.found.id[0])
            return err_set(e, ERR_CONFLICT, 0,
                           "the state before cell %u is not kept: \"undo\" of this session is %u, "
                           "and the notes of the cell may say more",
                           w.before, s->spec.undo);
        w.before = w.found.cell;
    }
    *ret = w.found;
    return 0;
}

int checkpoint_open(const struct session *s, const char *id, struct image_load *load, struct err *e)
{
    for (const struct pending_checkpoint *p = s->checkpoints.first; p; p = p->next) {
        if (strcmp(p->facts.id, id) == 0) {
            load->image = session_image_ref(p->image);
            return 0;
        }
    }
    struct saved_image *saved = images_find(s->all->images, id);
    if (!saved || !is_of(saved, s))
        return err_set(e, ERR_CONFLICT, 0, "checkpoint '%s' was deleted", QUOTED(id));
    return images_load(s->all->images, saved, load, e);
}

/* ---- removal ---- */

static void unlink_pending(struct pending_checkpoint *p)
{
    struct pending_checkpoint **at = &p->session->checkpoints.first;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
}

/* While a thread writes it, it stays in the list. */
static void drop_pending(struct pending_checkpoint *p)
{
    p->dropped = true;
    if (p->save.private)
        return;
    unlink_pending(p);
    pending_free(p);
}

void checkpoint_remove(struct session *s, const char *id)
{
    struct saved_image *saved = images_find(s->all->images, id);
    struct pending_checkpoint *next;
    if (saved && is_of(saved, s))
        images_remove(s->all->images, saved);
    for (struct pending_checkpoint *p = s->checkpoints.first; p; p = next) {
        next = p->next;
        if (strcmp(p->facts.id, id) == 0)
            drop_pending(p);
    }
}

struct undo_count {
    unsigned n;
    char oldest[ID_SIZE];
};

static bool count_undo(void *context, struct checkpoint *c)
{
    struct undo_count *u = context;
    if (c->before > 0 && u->n++ == 0)
        (void)snprintf(u->oldest, sizeof u->oldest, "%s", c->id);
    return false;
}

static struct undo_count undo_count_of(const struct session *s)
{
    struct undo_count u = { 0 };
    (void)checkpoints_each(s, count_undo, &u);
    return u;
}

static void keep_last(struct session *s, unsigned most)
{
    for (struct undo_count u = undo_count_of(s); u.n > most; u = undo_count_of(s))
        checkpoint_remove(s, u.oldest);
}

void session_set_undo(struct session *s, unsigned undo)
{
    s->spec.undo = undo;
    keep_last(s, undo);
}

void checkpoints_end(struct session *s)
{
    struct saved_image *next;
    session_image_unref(s->checkpoints.base);
    s->checkpoints.base = NULL;
    for (struct pending_checkpoint *p = s->checkpoints.first, *after; p; p = after) {
        after = p->next;
        drop_pending(p);
    }
    for (struct saved_image *i = images_first(s->all->images); i; i = next) {
        next = i->next;
        if (is_of(i, s))
            images_remove(s->all->images, i);
    }
}

void checkpoints_sweep(const struct sessions *all, const struct sessions_list *list)
{
    struct saved_image *next;
    for (struct saved_image *i = images_first(all->images); i; i = next) {
        struct session named = { 0 };
        next = i->next;
        (void)snprintf(named.id, sizeof named.id, "%s", i->row.session ? i->row.session : "");
        if (is_of(i, &named) && !sessions_list_find(list, named.id))
            images_remove(all->images, i);
    }
}

/* ---- for the next keeper ---- */

json_t *checkpoints_json(const struct session *s)
{
    const struct session_checkpoints *k = &s->checkpoints;
    const struct session_rollback_row *r = &k->rolled_back;
    return json_pack("{s:i, s:s, s:I, s:I, s:I, s:I, s:i}", "at_cell", (int)s->at_cell,
                     "checkpoint", k->id, "since_ms", (json_int_t)k->since_ms, "last",
                     (json_int_t)r->last, "to", (json_int_t)r->to, "at_ms", (json_int_t)r->at_ms,
                     "kind", (int)r->kind);
}

struct rollback_job {
    struct store_job job;
    char session[ID_SIZE];
    struct session_rollback_row row;
};

static int write_rollback(struct db *db, struct store_job *job, struct err *e)
{
    struct rollback_job *j = (struct rollback_job *)job;
    return sessions_roll_back(db, j->session, &j->row, e);
}

static void on_rollback_written(struct store_job *job)
{
    if (job->err.code != ERR_NONE)
        log_error(LOG_ERROR, "session.record", &job->err);
    free(job);
}

void checkpoints_add_rollback(const struct session *s, const struct session_rollback_row *row)
{
    struct rollback_job *j = calloc(1, sizeof *j);
    if (!j)
        return;
    j->job = (struct store_job){ .work = write_rollback, .done = on_rollback_written };
    j->row = *row;
    (void)snprintf(j->session, sizeof j->session, "%s", s->id);
    store_write(s->all->store, &j->job);
}

void checkpoints_note_rollback(struct session *s, int64_t to, enum rollback_kind kind)
{
    struct session_rollback_row *r = &s->checkpoints.rolled_back;
    *r = (struct session_rollback_row){ s->cells, to, clock_unix_ms(), kind };
    checkpoints_add_rollback(s, r);
}

void checkpoints_forget_past(struct session *s)
{
    s->checkpoints.id[0] = '\0';
    s->checkpoints.recovered_cell = 0;
    session_image_unref(s->checkpoints.base);
    s->checkpoints.base = NULL;
}

void checkpoints_adopt(struct session *s, const json_t *facts, unsigned cell)
{
    struct session_checkpoints *k = &s->checkpoints;
    const char *id = json_string_value(json_object_get(facts, "checkpoint"));
    s->at_cell = cell ? cell : (unsigned)json_integer_value(json_object_get(facts, "at_cell"));
    k->since_ms = json_integer_value(json_object_get(facts, "since_ms"));
    k->rolled_back = (struct session_rollback_row){
        .last = json_integer_value(json_object_get(facts, "last")),
        .to = json_integer_value(json_object_get(facts, "to")),
        .at_ms = json_integer_value(json_object_get(facts, "at_ms")),
        .kind = (enum rollback_kind)json_integer_value(json_object_get(facts, "kind")),
    };
    (void)snprintf(k->id, sizeof k->id, "%s", id ? id : "");
    const struct saved_image *i = images_of_session(s->all->images, s->id, NULL);
    while (i && (!is_of(i, s) || i->row.created_ms < k->since_ms))
        i = images_of_session(s->all->images, s->id, i);
    if (i)
        (void)snprintf(k->id, sizeof k->id, "%s", i->row.id);
    if (k->rolled_back.at_ms) /* the earlier keeper may have been killed before it recorded it */
        checkpoints_add_rollback(s, &k->rolled_back);
}

/* ---- to take one ---- */

static struct pending_checkpoint *pending_new(struct session *s, struct err *e)
{
    struct pending_checkpoint *p = calloc(1, sizeof *p);
    if (!p) {
        (void)!err_no_memory(e, "a checkpoint");
        return NULL;
    }
    p->session = s;
    p->facts.cell = s->at_cell;
    p->number = ++s->checkpoints.taken;
    id_make("img_", p->facts.id);
    s->refs++;
    return p;
}

/* The names are a guest's words: a few of them are kept. */
static int take_facts(struct pending_checkpoint *p, struct err *e)
{
    const struct session_capture *c = &p->capture;
    json_t *names = json_array(), *o = json_object();
    for (size_t i = 0; i < json_array_size(c->not_carried) && i < NAMES_KEPT; i++) {
        char name[NAME_KEPT_BYTES];
        (void)snprintf(name, sizeof name, "%s",
                       json_string_value(json_array_get(c->not_carried, i)));
        text_end_whole(name);
        (void)json_array_append_new(names, json_string(name));
    }
    json_put(o, "not_carried", names);
    json_put(o, "pause_ms", json_real((double)c->pause_us / 1000));
    if (p->facts.before)
        json_put(o, "before", json_integer(p->facts.before));
    p->detail = json_line(o);
    p->image = c->image;
    p->facts.bytes = p->image->bytes;
    p->facts.created_ms = clock_unix_ms();
    return p->detail ? 0 : err_no_memory(e, "a checkpoint");
}

static int save(struct pending_checkpoint *p,
                void (*on_done)(struct image_save *s, const struct err *e), struct err *e)
{
    const struct session *s = p->session;
    p->save = (struct image_save){
        .on_done = on_done,
        .image = p->image,
        .row = { .id = p->facts.id,
                 .key = s->spec.key,
                 .kind = (char *)(p->facts.before ? "undo" : "checkpoint"),
                 .session = (char *)s->id,
                 .name = p->name,
                 .language = (char *)s->spec.language->name,
                 .detail = p->detail,
                 .cell = p->facts.cell,
                 .created_ms = p->facts.created_ms },
    };
    return images_save(s->all->images, &p->save, e);
}

static struct pending_checkpoint *of_save(struct image_save *i)
{
    return (struct pending_checkpoint *)((char *)i - offsetof(struct pending_checkpoint, save));
}

/* A jar that ends goes back to the newest one. */
static void set_newest(const struct pending_checkpoint *p)
{
    struct session_checkpoints *k = &p->session->checkpoints;
    if (p->number < k->newest)
        return;
    k->newest = p->number;
    (void)snprintf(k->id, sizeof k->id, "%s", p->facts.id);
}

/* The newest image of the session that is on the disk. Others share their pages and files with it. */
static struct session_image *base_of(const struct session *s)
{
    struct session_image *base = s->checkpoints.base;
    if (base && images_find(s->all->images, base->id))
        return base;
    return s->program ? s->program->image : NULL; /* a capture takes it if it is on the disk */
}

void checkpoints_set_base(struct session *s, struct session_image *image)
{
    if (!image->id[0]) /* it is not on the disk */
        return;
    session_image_unref(s->checkpoints.base);
    s->checkpoints.base = session_image_ref(image);
}

/* ---- on request ---- */

static void finish(struct pending_checkpoint *p, const struct err *failed)
{
    struct checkpoint_request *r = p->request;
    struct err e = { 0 };
    if (failed)
        e = *failed;
    p->session->checkpoints.asked = false;
    pending_free(p);
    r->on_done(r, failed ? &e : NULL);
}

/* The record is written, or there is no checkpoint. */
static void on_recorded(struct session_record *r, const struct err *failed)
{
    struct pending_checkpoint *p = (struct pending_checkpoint *)((char *)r -
                                                                 offsetof(struct pending_checkpoint,
                                                                          record));
    struct session *s = p->session;
    struct err e = { 0 };
    if (failed)
        e = *failed;
    else if (s->state == SESSION_ENDED)
        (void)!err_set(&e, ERR_GONE, 0, "session '%s' ended meanwhile: %s", s->id, s->reason);
    if (e.code != ERR_NONE) {
        checkpoint_remove(s, p->facts.id);
        finish(p, &e);
        return;
    }
    set_newest(p);
    checkpoints_set_base(s, p->image);
    (void)snprintf(p->request->id, sizeof p->request->id, "%s", p->facts.id);
    finish(p, NULL);
}

static void on_saved(struct image_save *i, const struct err *e)
{
    struct pending_checkpoint *p = of_save(i);
    if (e)
        finish(p, e);
    else
        session_record(p->session, &p->record, "session.checkpoint", p->actor,
                       json_pack("{s:s, s:s*, s:i, s:I}", "checkpoint", p->facts.id, "name",
                                 p->name, "cell", (int)p->facts.cell, "bytes",
                                 (json_int_t)p->facts.bytes));
}

static void on_captured(struct session_capture *c, const struct err *failed)
{
    struct pending_checkpoint *p = (struct pending_checkpoint *)c;
    struct err e = { 0 };
    if (failed)
        e = *failed;
    else if (take_facts(p, &e) == 0)
        (void)!save(p, on_saved, &e);
    json_decref(c->not_carried);
    if (e.code != ERR_NONE)
        finish(p, &e);
}

static int check_request(const struct session *s, const struct checkpoint_request *r, struct err *e)
{
    struct wanted w = { .name = r->name };
    if (s->checkpoints.asked)
        return err_set(e, ERR_CONFLICT, 0,
                       "another checkpoint of session '%s' is being written: try again when it is "
                       "there",
                       s->id);
    if (r->name && checkpoints_each(s, has_name, &w))
        return err_set(e, ERR_CONFLICT, 0,
                       "session '%s' has a checkpoint '%s' already: delete it first, or take "
                       "another name",
                       s->id, QUOTED(r->name));
    return 0;
}

int session_checkpoint(struct session *s, struct checkpoint_request *r, struct err *e)
{
    if (check_request(s, r, e))
        return -1;
    struct pending_checkpoint *p = pending_new(s, e);
    if (!p)
        return -1;
    p->request = r;
    p->name = text_copy(r->name);
    p->actor = text_copy(r->actor);
    p->record.on_done = on_recorded;
    p->capture = (struct session_capture){ .on_done = on_captured,
                                           .strict = r->strict,
                                           .base = base_of(s) };
    if (session_capture(s, &p->capture, e)) {
        pending_free(p);
        return -1;
    }
    s->checkpoints.asked = true;
    return 0;
}

/* ---- before each cell ---- */

static void note(struct session *s, unsigned cell, const struct err *e)
{
    char text[ERR_TEXT_MAX + 64];
    struct cell *c = session_cell(s, cell);
    if (!c || !c->run || c->run->is_over)
        return;
    (void)snprintf(text, sizeof text, "the state before this cell is not kept: %s", ERR_SHOWN(e));
    cell_note(c, text);
}

static void save_next(struct session *s);

static void on_undo_saved(struct image_save *i, const struct err *e)
{
    struct pending_checkpoint *p = of_save(i);
    struct session *s = p->session;
    s->checkpoints.saving = false;
    if (e && !p->dropped)
        note(s, p->facts.before, e);
    else if (!e && !p->dropped && s->state != SESSION_ENDED)
        checkpoints_set_base(s, p->image);
    if (!e && i->saved && p->dropped)
        images_remove(s->all->images, i->saved);
    s->refs++;
    unlink_pending(p);
    pending_free(p);
    save_next(s);
    session_unref(s);
}

/* An older state makes room for a newer one. */
static int save_in_quota(struct pending_checkpoint *p, struct err *e)
{
    struct session *s = p->session;
    while (save(p, on_undo_saved, e)) {
        struct undo_count u = undo_count_of(s);
        struct saved_image *oldest = images_find(s->all->images, u.oldest);
        bool is_full = e->code == ERR_QUOTA || e->code == ERR_STORAGE;
        if (!is_full || !oldest || !is_undo(oldest))
            return -1;
        images_remove(s->all->images, oldest);
        *e = (struct err){ 0 };
    }
    return 0;
}

/* One at a time: cells that follow each other fast leave states that are never written. */
static void save_next(struct session *s)
{
    struct err e = { 0 };
    struct pending_checkpoint *p;
    while (!s->checkpoints.saving && (p = s->checkpoints.first)) {
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): drop_pending() unlinks it first */
        if (save_in_quota(p, &e) == 0) {
            s->checkpoints.saving = true;
            return;
        }
        note(s, p->facts.before, &e);
        drop_pending(p);
        e = (struct err){ 0 };
    }
}

static void append(struct pending_checkpoint *p)
{
    struct pending_checkpoint **at = &p->session->checkpoints.first;
    while (*at)
        at = &(*at)->next;
    *at = p;
}

static void on_undo_captured(struct session_capture *c, const struct err *failed)
{
    struct pending_checkpoint *p = (struct pending_checkpoint *)c;
    struct session *s = p->session;
    struct cell *cell = session_cell(s, p->facts.before);
    struct err e = { 0 };
    bool is_wanted = s->state != SESSION_ENDED && cell && cell->undo == UNDO_BEING_TAKEN;
    if (failed)
        e = *failed;
    else
        (void)!take_facts(p, &e);
    json_decref(c->not_carried);
    s->refs++;
    if (is_wanted) {
        cell->undo = UNDO_TAKEN;
        if (e.code != ERR_NONE)
            note(s, p->facts.before, &e);
    }
    if (is_wanted && e.code == ERR_NONE) {
        append(p);
        set_newest(p);
        keep_last(s, s->spec.undo);
        save_next(s);
    } else {
        pending_free(p);
    }
    cells_advance(s);
    session_unref(s);
}

bool checkpoint_delays_cell(struct cell *c)
{
    struct session *s = c->session;
    struct err e = { 0 };
    if (c->undo == UNDO_BEING_TAKEN)
        return true;
    if (c->undo == UNDO_TAKEN || s->spec.undo == 0 || session_replays(s))
        return false;
    struct pending_checkpoint *p = pending_new(s, &e);
    c->undo = UNDO_BEING_TAKEN;
    if (p) {
        p->facts.before = c->number;
        p->capture = (struct session_capture){ .on_done = on_undo_captured, .base = base_of(s) };
        if (session_capture(s, &p->capture, &e) == 0)
            return true;
        pending_free(p);
    }
    c->undo = UNDO_TAKEN;
    note(s, c->number, &e);
    return false;
}
