#include "session/templates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"
#include "session/session_impl.h"
#include "session/spares.h"

/* A run whose turn came while the image was being opened, or made anew. */
struct waiting_run {
    struct run_watch watch;
    struct template *template;
    struct run *run;
    struct waiting_run *next;
    uv_timer_t bound; /* it is freed when this is closed */
};

/* A template in use. */
struct template
{
    struct run_host host;
    struct sessions *all;
    char id[ID_SIZE];
    unsigned refs; /* runs, and the opening of the file */
    struct session_image *image;
    struct image_load load;
    bool loading, rebuilding;
    struct template_wait rebuild;
    struct waiting_run *waiting;
    struct spare spare;       /* holds a reference */
    struct session_spec last; /* of the last run, without an image */
    struct template *next;
};

/* ---- names ---- */

bool template_is_shared(const struct saved_image *saved)
{
    json_auto_t *detail = saved->row.detail ? json_loads(saved->row.detail, 0, NULL) : NULL;
    return json_is_true(json_object_get(detail, "shared"));
}

bool template_is_of(const struct saved_image *saved, const char *owner)
{
    json_auto_t *detail = saved->row.detail ? json_loads(saved->row.detail, 0, NULL) : NULL;
    const char *of = json_string_value(json_object_get(detail, "owner"));
    return of && strcmp(of, owner) == 0;
}

/* "KEY/NAME" names the template of one key. */
static bool has_name(const struct saved_image *s, const char *name)
{
    const char *slash = strchr(name, '/'), *key = s->row.key ? s->row.key : "";
    if (s->is_removed || strcmp(s->row.kind, TEMPLATE_KIND) != 0 || !s->row.name)
        return false;
    if (!slash)
        return strcmp(s->row.name, name) == 0;
    return strcmp(s->row.name, slash + 1) == 0 && strlen(key) == (size_t)(slash - name) &&
           strncmp(key, name, (size_t)(slash - name)) == 0;
}

struct saved_image *template_find(const struct sessions *all, const char *owner, const char *name,
                                  unsigned *ret_n)
{
    struct saved_image *shared = NULL;
    *ret_n = 0;
    for (struct saved_image *s = images_first(all->images); s; s = s->next) {
        if (!has_name(s, name))
            continue;
        if (template_is_of(s, owner)) {
            *ret_n = 1;
            return s;
        }
        if (!template_is_shared(s))
            continue;
        shared = s;
        ++*ret_n;
    }
    return *ret_n == 1 ? shared : NULL;
}

/* ---- templates that are made anew ---- */

void templates_set_maker(struct sessions *all, struct template_maker *m)
{
    all->maker = m;
}

int template_await(struct sessions *all, const char *id, const char *why, struct template_wait *w,
                   struct err *e)
{
    struct saved_image *saved = images_find(all->images, id);
    bool begun = false;
    for (const struct template_wait *x = all->template_waits; x; x = x->next)
        begun = begun || strcmp(x->id, id) == 0;
    if (!saved || saved->is_removed)
        return err_set(e, ERR_CONFLICT, 0, "the template was deleted");
    if (!begun && (!all->maker || all->stopping))
        return err_set(e, ERR_CONFLICT, 0, "template '%s' does not fit any longer: %s",
                       QUOTED(saved->row.name), why);
    if (!begun && all->maker->rebuild(all->maker, saved, why, e))
        return -1;
    (void)snprintf(w->id, sizeof w->id, "%s", id);
    w->next = all->template_waits;
    all->template_waits = w;
    return 0;
}

void template_rebuilt(struct sessions *all, const char *id, const struct saved_image *new,
                      const struct err *e)
{
    struct template_wait *done = NULL, *next;
    for (struct template_wait **at = &all->template_waits; *at;) {
        struct template_wait *w = *at;
        if (strcmp(w->id, id) != 0) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        w->next = done;
        done = w;
    }
    for (; done; done = next) {
        next = done->next;
        done->on_done(done, new, e);
    }
}

/* ---- one run ---- */

static void template_unref(struct template *t)
{
    if (--t->refs > 0)
        return;
    for (struct template **at = &t->all->templates; *at; at = &(*at)->next) {
        if (*at == t) {
            *at = t->next;
            break;
        }
    }
    session_image_unref(t->image);
    session_spec_done(&t->last);
    free(t);
}

static void end_run(struct run *run, const struct err *e)
{
    struct wire_ended end = { .evidence.reason = e ? END_FAILURE : END_CANCEL };
    if (e)
        end.err = *e;
    run_end_in_host(run, &end, e ? ERR_SHOWN(e) : NULL);
}

/* A session in no list. */
static int make_hidden(struct sessions *all, struct session_spec *spec, struct session **ret,
                       struct err *e)
{
    scoped(session_spec) taken = *spec;
    *spec = (struct session_spec){ 0 };
    if (session_make(all, &taken, ret, e))
        return -1;
    session_unlink(*ret);
    (*ret)->for_one_run = true;
    id_make("ses_", (*ret)->id);
    (*ret)->created_ms = (*ret)->used_ms;
    return 0;
}

static int add_cell(struct session *s, struct run *run, struct err *e)
{
    struct cell *c;
    bool silent = !run->spec.options.display && !run_shows_tables(s->spec.language);
    if (cell_new(s, silent, &c, e))
        return -1;
    if (network_policy_copy(&run->spec.network, &s->spec.network, e)) {
        cell_drop(c);
        return -1;
    }
    c->wall_ms = run->spec.limits.v[LIMIT_WALL_MS];
    c->reads_stdin = c->queued = true;
    cell_set_run(c, run);
    run_watch_add(run, &c->watch);
    return 0;
}

static int begin_session(struct sessions *all, struct session_spec *spec, struct run *run,
                         struct err *e)
{
    struct session *s;
    if (make_hidden(all, spec, &s, e))
        return -1;
    if (add_cell(s, run, e)) {
        session_unref(s);
        return -1;
    }
    session_start(s);
    return 0;
}

int template_try(struct sessions *all, struct session_spec *spec, struct session_watch *w,
                 struct session **ret, struct err *e)
{
    if (make_hidden(all, spec, ret, e))
        return -1;
    session_watch_add(*ret, w);
    session_start(*ret);
    return 0;
}

/* The longest time from its start to the end of its only cell. */
static uint64_t life_ms(const struct limits *l)
{
    return l->v[LIMIT_WALL_MS] + START_MS + CELL_GRACE_MS + CELL_GRACE_MS;
}

/* The spec of the next run is that of the last one, as far as anybody can know. */
static struct session_spec spec_of(const struct template *t)
{
    return (struct session_spec){ .language = t->last.language,
                                  .key = text_copy(t->last.key),
                                  .actor = text_copy(t->last.actor),
                                  .limits = t->last.limits,
                                  .cell_limits = t->last.cell_limits,
                                  .idle_ms = t->last.idle_ms,
                                  .image = session_image_ref(t->image) };
}

static void remember(struct template *t, const struct run_spec *r)
{
    session_spec_done(&t->last);
    t->last = (struct session_spec){ .language = r->language,
                                     .key = text_copy(r->key),
                                     .actor = text_copy(r->actor),
                                     .limits = r->limits,
                                     .cell_limits = r->limits,
                                     .idle_ms = life_ms(&r->limits) };
    t->last.limits.v[LIMIT_WALL_MS] = life_ms(&r->limits);
}

static int enter(struct template *t, struct run *run, struct err *e)
{
    remember(t, &run->spec);
    scoped(session_spec) spec = spec_of(t);
    spec.template = run->spec.template;
    struct session *s = spare_take(&t->spare, &spec);
    if (!s)
        return begin_session(t->all, &spec, run, e);
    t->refs--; /* of the spare; the run has another one */
    if (add_cell(s, run, e)) {
        session_end(s, "there is no memory for its run");
        return -1;
    }
    cells_advance(s);
    return 0;
}

/* ---- a spare ---- */

static void on_spare_gone(struct spare *p)
{
    template_unref((struct template *)((char *)p - offsetof(struct template, spare)));
}

static void drop_spare(struct template *t)
{
    if (!t->spare.session)
        return;
    spare_end(&t->spare);
    template_unref(t);
}

/* After a run, for the next one. */
static void refill_spare(struct template *t)
{
    const struct saved_image *saved = images_find(t->all->images, t->id);
    if (!t->image || !t->last.language || !saved || saved->is_removed)
        return;
    scoped(session_spec) spec = spec_of(t);
    if (t->spare.session && !spare_fits(&t->spare, &spec)) {
        spare_end(&t->spare);
        t->refs--; /* the caller has another one */
    }
    if (t->spare.session || !spare_has_room(t->all, t->last.language))
        return;
    t->spare.on_gone = on_spare_gone;
    t->refs++;
    if (!spare_start(t->all, &t->spare, &spec))
        t->refs--;
}

unsigned templates_spares(const struct sessions *all)
{
    unsigned n = 0;
    for (const struct template *t = all->templates; t; t = t->next)
        n += t->spare.session && t->spare.session->state == SESSION_IDLE;
    return n;
}

void templates_stop(struct sessions *all)
{
    struct template *next;
    for (struct template *t = all->templates; t; t = next) {
        next = t->next;
        drop_spare(t);
    }
}

static void begin(struct template *t, struct run *run)
{
    struct err e = { 0 };
    if (enter(t, run, &e))
        end_run(run, &e);
}

/* ---- the image ---- */

static void on_bound_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void drop_waiting(struct waiting_run *w)
{
    for (struct waiting_run **at = &w->template->waiting; *at; at = &(*at)->next) {
        if (*at == w) {
            *at = w->next;
            break;
        }
    }
    run_watch_remove(w->run, &w->watch);
    uv_close((uv_handle_t *)&w->bound, on_bound_closed);
}

static int rebuild(struct template *t, const char *why, struct err *e);

/* It is there, or it failed. */
static void use_image(struct template *t, const struct err *failed)
{
    struct err refused = { 0 };
    const struct err *e = failed;
    if (e && e->code == ERR_CONFLICT && t->waiting) { /* it was damaged */
        if (rebuild(t, e->text, &refused) == 0) {
            template_unref(t);
            return;
        }
        e = &refused;
    }
    while (t->waiting) {
        struct run *run = t->waiting->run;
        t->refs++; /* the run may be the last one */
        drop_waiting(t->waiting);
        if (e)
            end_run(run, e);
        else
            begin(t, run);
        template_unref(t);
    }
    template_unref(t);
}

/* The sessions live until here, also if the service has stopped meanwhile. */
static void on_loaded(struct image_load *l, const struct err *e)
{
    struct template *t = (struct template *)((char *)l - offsetof(struct template, load));
    struct sessions *all = t->all;
    t->loading = false;
    t->image = e ? NULL : l->image;
    use_image(t, e);
    sessions_unuse(all);
}

static void ignore_event(struct run_watch *w, struct run *run, enum run_event event)
{
    (void)w;
    (void)run;
    (void)event;
}

static int load(struct template *t, struct err *e)
{
    struct saved_image *saved = images_find(t->all->images, t->id);
    if (!saved || saved->is_removed)
        return err_set(e, ERR_CONFLICT, 0, "the template was deleted");
    t->load = (struct image_load){ .on_done = on_loaded };
    if (images_load(t->all->images, saved, &t->load, e))
        return -1;
    t->loading = true;
    t->refs++;
    t->all->alive++; /* until on_loaded() */
    return 0;
}

/* The template is made anew all the same, for the next run. */
static void on_bound(uv_timer_t *timer)
{
    struct waiting_run *w = timer->data;
    struct template *t = w->template;
    struct run *run = w->run;
    struct err e = { 0 };
    (void)!err_set(&e, ERR_UNAVAILABLE, 0,
                   "template '%s' was not ready in %llu s (templates.wait), because it %s: try "
                   "again",
                   QUOTED(run->spec.template),
                   (unsigned long long)t->all->limits.template_ms / 1000,
                   t->rebuilding ? "is being made anew" : "is being read");
    t->refs++; /* the run may be the last one */
    drop_waiting(w);
    end_run(run, &e);
    template_unref(t);
}

static int add_waiting(struct template *t, struct run *run, struct err *e)
{
    struct waiting_run *w = calloc(1, sizeof *w);
    if (!w)
        return err_no_memory(e, "a run");
    *w = (struct waiting_run){ .watch.on_event = ignore_event, .template = t, .run = run };
    (void)uv_timer_init(t->all->loop, &w->bound);
    w->bound.data = w;
    (void)uv_timer_start(&w->bound, on_bound, t->all->limits.template_ms, 0);
    run_watch_add(run, &w->watch);
    struct waiting_run **at = &t->waiting;
    while (*at)
        at = &(*at)->next;
    *at = w;
    return 0;
}

static int await_image(struct template *t, struct run *run, struct err *e)
{
    if (!t->loading && !t->rebuilding && load(t, e))
        return -1;
    return add_waiting(t, run, e);
}

/* ---- an image that does not fit ---- */

static void on_rebuilt(struct template_wait *w, const struct saved_image *new, const struct err *e)
{
    struct template *t = (struct template *)((char *)w - offsetof(struct template, rebuild));
    struct err failed = { 0 };
    t->rebuilding = false;
    if (!e) {
        (void)snprintf(t->id, sizeof t->id, "%s", new->row.id);
        if (t->waiting && load(t, &failed))
            e = &failed;
    }
    while (e && t->waiting) {
        struct run *run = t->waiting->run;
        t->refs++; /* the run may be the last one */
        drop_waiting(t->waiting);
        end_run(run, e);
        template_unref(t);
    }
    template_unref(t);
}

/* The runs that wait go on waiting. */
static int rebuild(struct template *t, const char *why, struct err *e)
{
    if (t->rebuilding)
        return 0;
    t->rebuild = (struct template_wait){ .on_done = on_rebuilt };
    if (template_await(t->all, t->id, why, &t->rebuild, e))
        return -1;
    t->rebuilding = true;
    t->refs++;
    drop_spare(t);
    session_image_unref(t->image);
    t->image = NULL;
    return 0;
}

bool template_takes_back(struct session *s, const char *why)
{
    struct cell *c = s->first;
    struct run *run = s->for_one_run && s->is_unfit && c && !c->begun ? c->run : NULL;
    struct err e = { 0 };
    if (!run || run->is_over)
        return false;
    struct template *t = (struct template *)run->spec.host;
    bool is_newest = s->spec.image && strcmp(s->spec.image->id, t->id) == 0;
    t->refs++;
    run_watch_remove(run, &c->watch);
    cell_drop(c);
    if (!is_newest && t->image)
        begin(t, run);
    else if ((is_newest && rebuild(t, why, &e)) || await_image(t, run, &e))
        end_run(run, &e);
    template_unref(t);
    return true;
}

/* ---- the host ---- */

static void on_queued(struct run_host *h, struct run *run)
{
    struct template *t = (struct template *)h;
    struct err e = { 0 };
    if (t->image)
        begin(t, run);
    else if (await_image(t, run, &e))
        end_run(run, &e);
}

static void on_cancel(struct run_host *h, struct run *run)
{
    struct template *t = (struct template *)h;
    for (struct waiting_run *w = t->waiting; w; w = w->next) {
        if (w->run == run) {
            drop_waiting(w);
            end_run(run, NULL);
            return;
        }
    }
    session_end_of_run(run, "its run was cancelled");
}

static void on_freed(struct run_host *h)
{
    struct template *t = (struct template *)h;
    refill_spare(t);
    template_unref(t);
}

int template_host(struct sessions *all, const struct saved_image *saved, struct run_host **ret,
                  struct err *e)
{
    struct template *t = all->templates;
    while (t && strcmp(t->id, saved->row.id) != 0)
        t = t->next;
    if (!t) {
        t = calloc(1, sizeof *t);
        if (!t)
            return err_no_memory(e, "a template");
        t->host = (struct run_host){ on_queued, on_cancel, on_freed, .takes_turns = true };
        t->all = all;
        (void)snprintf(t->id, sizeof t->id, "%s", saved->row.id);
        t->next = all->templates;
        all->templates = t;
    }
    t->refs++;
    *ret = &t->host;
    return 0;
}
