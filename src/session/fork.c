/* Forks: new sessions whose programs become the image of another session. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/strv.h"
#include "base/text.h"
#include "session/session_impl.h"

struct copy {
    struct session_watch watch;
    struct session_forking *forking;
    bool ready, over;
};

/* From the request to its answer. */
struct session_forking {
    struct session_capture capture; /* of the original */
    struct image_load load;         /* of its checkpoint */
    unsigned cell;                  /* the last one that the copies have */
    struct session_fork *fork;
    struct session *original;
    struct session_image *image;
    struct copy copies[FORKS_MAX];
    unsigned n_copies;
    bool acting; /* on the copies: their events are looked at afterwards */
    struct err err;
};

/* ---- the end of a fork ---- */

static void finish(struct session_forking *g)
{
    struct session_fork *f = g->fork;
    struct session *original = g->original;
    struct err e = g->err;
    session_image_unref(g->image);
    f->private = NULL;
    for (unsigned i = 0; i < g->n_copies; i++)
        if (!g->copies[i].over)
            session_watch_remove(f->copies[i], &g->copies[i].watch);
    free(g);
    f->on_done(f, e.code == ERR_NONE ? NULL : &e); /* it is freed there */
    session_unref(original);
}

static void fail(struct session_forking *g, enum err_code code, const char *why)
{
    if (g->err.code == ERR_NONE)
        (void)!err_set(&g->err, code, 0, "%s", why);
}

/* ---- the copies ---- */

/* All are idle, or all are over because one failed. */
static void look_at_copies(struct session_forking *g)
{
    unsigned ready = 0, over = 0;
    if (g->acting)
        return;
    if (g->err.code != ERR_NONE) {
        g->acting = true;
        for (unsigned i = 0; i < g->n_copies; i++)
            if (!g->copies[i].over)
                session_end(g->fork->copies[i], "another copy of the same fork did not start");
        g->acting = false;
    }
    for (unsigned i = 0; i < g->n_copies; i++) {
        ready += g->copies[i].ready && !g->copies[i].over;
        over += g->copies[i].over;
    }
    if (g->err.code == ERR_NONE ? ready == g->n_copies : over == g->n_copies)
        finish(g);
}

static void on_copy_event(struct session_watch *w, struct session *s, enum session_event event)
{
    struct copy *c = (struct copy *)w;
    struct session_forking *g = c->forking;
    char why[ERR_TEXT_MAX];
    if (s->state == SESSION_STARTING || (s->state == SESSION_ENDED && event != SESSION_EVENT_ENDED))
        return;
    c->ready = true;
    if (event == SESSION_EVENT_ENDED) {
        c->over = true;
        (void)snprintf(why, sizeof why, "a copy of the session did not start: %s", s->reason);
        fail(g, ERR_UNAVAILABLE, why);
        session_watch_remove(s, w);
    }
    look_at_copies(g);
}

static int copy_spec(const struct session_forking *g, unsigned number, struct session_spec *ret,
                     struct err *e)
{
    const struct session_spec *from = &g->original->spec;
    const struct session_fork *f = g->fork;
    const char *name = number < strv_len(f->names) ? f->names[number] : NULL;
    *ret = (struct session_spec){ .language = from->language,
                                  .name = text_copy(name),
                                  .key = text_copy(from->key),
                                  .actor = text_copy(from->actor),
                                  .limits = from->limits,
                                  .cell_limits = from->cell_limits,
                                  .idle_ms = from->idle_ms,
                                  .idle_sleeps = from->idle_sleeps,
                                  .is_copy = true,
                                  .env = from->env ? strv_copy(from->env) : NULL,
                                  .mounts = from->mounts ? strv_copy(from->mounts) : NULL,
                                  .metadata = json_incref(from->metadata),
                                  .undo = from->undo,
                                  .parent = strdup(g->original->id),
                                  .parent_image = f->from.id[0] ? strdup(f->from.id) : NULL,
                                  .parent_cell = g->cell,
                                  .image = session_image_ref(g->image) };
    if (g->original->restarts == 0 || f->from.id[0]) { /* otherwise it began anew since */
        ret->begins_in = text_copy(from->begins_in);
        ret->begins_owner = text_copy(from->begins_owner);
        ret->has_unknown_past = from->has_unknown_past;
    }
    if (f->is_for_branches) { /* one of them may become the original */
        ret->limits.v[LIMIT_WALL_MS] = session_life_left_ms(g->original);
        ret->undo = 0;
    }
    if (network_policy_copy(f->network ? f->network : &from->network, &ret->network, e))
        return -1;
    if ((from->env && !ret->env) || (from->mounts && !ret->mounts) || (from->key && !ret->key) ||
        !ret->parent)
        return err_no_memory(e, "a copy of a session");
    return from->bundle.len > 0 ? buf_add(&ret->bundle, from->bundle.data, from->bundle.len, e) : 0;
}

static void make_copies(struct session_forking *g)
{
    g->acting = true;
    for (unsigned i = 0; i < g->fork->count && g->err.code == ERR_NONE; i++) {
        scoped(session_spec) spec = { 0 };
        struct copy *c = &g->copies[i];
        *c = (struct copy){ .watch.on_event = on_copy_event, .forking = g };
        if (copy_spec(g, i, &spec, &g->err) == 0 &&
            session_new(g->original->all, &spec, &c->watch, &g->fork->copies[i], &g->err) == 0) {
            g->fork->copies[i]->is_branch = g->fork->is_for_branches;
            if (g->fork->is_for_branches)
                g->fork->copies[i]->cells = g->original->cells;
            g->n_copies++;
        }
    }
    g->acting = false;
    if (g->fork->is_for_branches && g->err.code == ERR_NONE)
        finish(g); /* the start of each copy is its own */
    else
        look_at_copies(g);
}

static void on_captured(struct session_capture *c, const struct err *e)
{
    struct session_forking *g = (struct session_forking *)c;
    g->fork->not_carried = c->not_carried;
    g->fork->pause_us = c->pause_us;
    g->fork->write_us = c->write_us;
    if (e) {
        g->err = *e;
        finish(g);
        return;
    }
    g->image = c->image;
    g->fork->image_bytes = g->image->bytes;
    make_copies(g);
}

static void on_loaded(struct image_load *l, const struct err *e)
{
    struct session_forking *g = (struct session_forking *)((char *)l -
                                                           offsetof(struct session_forking, load));
    if (e) {
        g->err = *e;
        finish(g);
        return;
    }
    g->image = l->image;
    g->fork->image_bytes = g->image->bytes;
    make_copies(g);
}

static int begin(struct session_forking *g, struct err *e)
{
    struct session *s = g->original;
    const struct checkpoint *from = &g->fork->from;
    g->cell = from->id[0] ? from->cell : s->at_cell;
    if (!from->id[0])
        return session_capture(s, &g->capture, e);
    g->load.on_done = on_loaded;
    return checkpoint_open(s, from->id, &g->load, e);
}

int session_fork(struct session *s, struct session_fork *f, struct err *e)
{
    if (sessions_check_room(s->all, &s->spec, f->count, e))
        return -1;
    struct session_forking *g = calloc(1, sizeof *g);
    if (!g)
        return err_no_memory(e, "a fork");
    *g = (struct session_forking){ .capture = { .on_done = on_captured,
                                                .strict = f->strict,
                                                .in_memory = true,
                                                .base = s->program ? s->program->image : NULL },
                                   .fork = f,
                                   .original = s };
    if (begin(g, e)) {
        free(g);
        return -1;
    }
    s->refs++;
    f->private = g;
    if (g->load.image) /* it is in memory */
        on_loaded(&g->load, NULL);
    return 0;
}
