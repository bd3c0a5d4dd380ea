/* Rebuilds, a few of them side by side, each from the request that made its template:
 *
 *   used, or looked at after the start ─► unfit ─► queue ─► request ─► setup ─► new image, old one goes
 *
 * A template is made anew at most once in PAUSE_MS: an image that never fits makes no loop. */
#include "api/templates/template_rebuild.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/auth.h"
#include "api/templates/template_build.h"
#include "api/templates/template_use.h"
#include "base/auto.h"
#include "base/log.h"
#include "base/strv.h"
#include "base/text.h"
#include "run/json.h"
#include "store/image_rows.h"

enum {
    PAUSE_MS = 60000,
    SPARE_MS = 60000, /* for the parts of a rebuild beside the setup */
    LOOK_AFTER_MS = 1000,
    WHY_MAX = 120,
    AT_ONCE_MAX = 2, /* setups that run side by side; the others wait in line */
};

/* A template that is made anew, or was: its name and its owner stay. */
struct attempt {
    char *name, *owner;
    uint64_t at_ms;    /* of the loop: the end of the last one */
    struct err failed; /* its error, or none */
    struct attempt *next;
};

/* In the queue, the oldest first. */
struct rebuild {
    struct store_job job;
    struct template_keeper *keeper;
    struct rebuild *next;
    char id[ID_SIZE], why[WHY_MAX];
    char *request;
    struct template_build *build; /* NULL: it has not begun */
    uv_timer_t bound;             /* of the build */
    bool is_begun, is_late;
};

struct template_keeper {
    struct template_maker maker; /* first */
    struct api *api;
    struct attempt *attempts;
    struct rebuild *first;
    uv_timer_t look;      /* of the background */
    unsigned open_timers; /* of all rebuilds, too */
    bool loading;         /* `load` is under way */
    /* The background: one template after another. */
    char **ids;
    size_t at;
    struct image_load load;
    struct session_watch watch;
    struct session *tried;
    struct template_wait wait;
    bool closed;
};

/* ---- the attempts ---- */

static struct attempt *attempt_of(struct template_keeper *k, const struct saved_image *saved,
                                  struct err *e)
{
    json_auto_t *detail = saved->row.detail ? json_loads(saved->row.detail, 0, NULL) : NULL;
    const char *owner = json_string_value(json_object_get(detail, "owner"));
    struct attempt *a = k->attempts;
    while (a &&
           (strcmp(a->name, saved->row.name) != 0 || strcmp(a->owner, owner ? owner : "") != 0))
        a = a->next;
    if (a)
        return a;
    a = calloc(1, sizeof *a);
    char *name = strdup(saved->row.name), *whose = strdup(owner ? owner : "");
    if (!a || !name || !whose) {
        free(a);
        free(name);
        free(whose);
        (void)!err_no_memory(e, "a template");
        return NULL;
    }
    *a = (struct attempt){ .name = name, .owner = whose, .next = k->attempts };
    k->attempts = a;
    return a;
}

/* "key:NAME#ID", or "no key": see template_owner(). */
static void identity_of(const char *owner, struct api_identity *ret)
{
    const char *id = strrchr(owner, '#');
    *ret = (struct api_identity){ .scopes = SCOPE_BIT(SCOPE_RUN) };
    if (!id || strncmp(owner, "key:", 4) != 0) {
        (void)snprintf(ret->name, sizeof ret->name, "anonymous");
        (void)snprintf(ret->owner, sizeof ret->owner, "anonymous");
        return;
    }
    (void)snprintf(ret->name, sizeof ret->name, "%.*s", (int)(id - owner), owner);
    (void)snprintf(ret->owner, sizeof ret->owner, "%s", id + 1);
    ret->key = ret->name + 4;
}

/* ---- one rebuild ---- */

static void next(struct template_keeper *k);

static void free_if_unused(struct template_keeper *k)
{
    if (k->closed && k->open_timers == 0 && !k->loading && !k->first)
        free(k);
}

static void on_bound_closed(uv_handle_t *handle)
{
    struct rebuild *r = handle->data;
    struct template_keeper *k = r->keeper;
    free(r->request);
    free(r);
    k->open_timers--;
    free_if_unused(k);
}

static void take_out(struct rebuild *r)
{
    struct rebuild **at = &r->keeper->first;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    uv_close((uv_handle_t *)&r->bound, on_bound_closed);
}

/* Everybody who waits for it goes on, or fails. */
static void finish(struct rebuild *r, const struct saved_image *new, const struct err *e)
{
    struct template_keeper *k = r->keeper;
    struct err told = { 0 };
    struct saved_image *old = images_find(sessions_images(k->api->sessions), r->id);
    struct attempt *a = old ? attempt_of(k, old, &told) : NULL;
    if (e)
        (void)!err_set(&told, ERR_CONFLICT, 0,
                       "template '%s' could not be made anew: %.170s; it does not fit: %s",
                       old ? QUOTED(old->row.name) : "?", e->text, r->why);
    if (a) {
        a->at_ms = uv_now(k->api->loop);
        a->failed = told;
    }
    log_event(e ? LOG_WARN : LOG_INFO, e ? "template.rebuild_failed" : "template.rebuilt",
              "image=%s", r->id);
    if (!e && old && !old->is_removed)
        images_remove(sessions_images(k->api->sessions), old);
    take_out(r);
    template_rebuilt(k->api->sessions, r->id, new, e ? &told : NULL);
    next(k);
}

static void on_built(struct template_build *b, const struct err *e, const char *field)
{
    struct rebuild *r = b->owner;
    struct template_keeper *k = r->keeper;
    struct err failed = { 0 };
    (void)field;
    r->build = NULL;
    if (k->closed) { /* nobody waits, and the sessions may be gone */
        take_out(r);
        return;
    }
    const struct saved_image *old = images_find(sessions_images(k->api->sessions), r->id);
    if (!e && (!old || old->is_removed)) {
        images_remove(sessions_images(k->api->sessions), b->save.saved);
        e = &failed;
        (void)!err_set(&failed, ERR_CONFLICT, 0, "it was deleted meanwhile");
    } else if (e && r->is_late) {
        e = &failed;
        (void)!err_set(&failed, ERR_UNAVAILABLE, 0, "it did not end in time");
    }
    finish(r, e ? NULL : b->save.saved, e);
}

static void on_bound(uv_timer_t *timer)
{
    struct rebuild *r = timer->data;
    r->is_late = true;
    if (r->build)
        template_build_stop(r->build, "the rebuild of its template did not end in time");
}

/* A key that was deleted runs nothing any more. */
static int check_owner(const struct api *api, const struct api_identity *who, struct err *e)
{
    if (!who->key || auth_has_key(api->keys, who->owner, SCOPE_RUN))
        return 0;
    return err_set(e, ERR_CONFLICT, 0,
                   "its setup runs for key '%s', which was deleted or may not run programs: delete "
                   "it, and make it again",
                   who->key);
}

static int begin(struct rebuild *r, struct err *e)
{
    struct template_keeper *k = r->keeper;
    const struct saved_image *old = images_find(sessions_images(k->api->sessions), r->id);
    json_auto_t *body = r->request ? json_loads(r->request, JSON_ALLOW_NUL, NULL) : NULL;
    json_auto_t *detail = old && old->row.detail ? json_loads(old->row.detail, 0, NULL) : NULL;
    const char *owner = json_string_value(json_object_get(detail, "owner"));
    struct api_identity who;
    char field[128];
    if (!body || !old || old->is_removed || !owner)
        return err_set(e, ERR_CONFLICT, 0,
                       "its request is not there: delete it, and make it again");
    identity_of(owner, &who);
    const struct template_order order = {
        .api = k->api, .who = &who, .body = body, .old = old, .on_done = on_built, .owner = r
    };
    if (check_owner(k->api, &who, e) || template_build(&order, &r->build, field, sizeof field, e))
        return -1;
    const struct session *s = r->build->session;
    (void)uv_timer_start(&r->bound, on_bound, s->spec.cell_limits.v[LIMIT_WALL_MS] + SPARE_MS, 0);
    return 0;
}

static int read_request(struct db *db, struct store_job *job, struct err *e)
{
    struct rebuild *r = (struct rebuild *)job;
    return images_request(db, r->id, &r->request, e);
}

static void on_request(struct store_job *job)
{
    struct rebuild *r = (struct rebuild *)job;
    struct err e = job->err;
    if (r->keeper->closed)
        take_out(r);
    else if (e.code != ERR_NONE || begin(r, &e))
        finish(r, NULL, &e);
}

static void next(struct template_keeper *k)
{
    unsigned n = 0;
    for (struct rebuild *r = k->first; r && n < AT_ONCE_MAX; r = r->next, n++) {
        if (r->is_begun)
            continue;
        r->is_begun = true;
        r->job = (struct store_job){ .work = read_request, .done = on_request };
        store_read(k->api->store, &r->job);
    }
}

static int rebuild(struct template_maker *m, const struct saved_image *saved, const char *why,
                   struct err *e)
{
    struct template_keeper *k = (struct template_keeper *)m;
    struct rebuild **end = &k->first;
    const struct attempt *a = attempt_of(k, saved, e);
    if (!a)
        return -1;
    bool is_early = a->at_ms > 0 && uv_now(k->api->loop) - a->at_ms < PAUSE_MS;
    if (is_early && a->failed.code != ERR_NONE) {
        *e = a->failed;
        return -1;
    }
    if (is_early)
        return err_set(e, ERR_CONFLICT, 0,
                       "template '%s' does not fit (%.60s), and was made anew a moment ago: delete "
                       "it, and make it again",
                       QUOTED(saved->row.name), why);
    struct rebuild *r = calloc(1, sizeof *r);
    if (!r)
        return err_no_memory(e, "a template");
    r->keeper = k;
    (void)uv_timer_init(k->api->loop, &r->bound);
    r->bound.data = r;
    k->open_timers++;
    (void)snprintf(r->id, sizeof r->id, "%s", saved->row.id);
    const char *cause = strstr(why, "image: "); /* "its program did not become the image: …" */
    (void)snprintf(r->why, sizeof r->why, "%s", cause ? cause + 7 : why);
    text_end_whole(r->why);
    while (*end)
        end = &(*end)->next;
    *end = r;
    next(k);
    return 0;
}

/* ---- the background ---- */

static void look_at_next(struct template_keeper *k);

static void on_rebuilt(struct template_wait *w, const struct saved_image *new, const struct err *e)
{
    struct template_keeper *k = (struct template_keeper *)((char *)w -
                                                           offsetof(struct template_keeper, wait));
    (void)new;
    if (e)
        log_error(LOG_WARN, "template.rebuild", e);
    look_at_next(k);
}

static void order_rebuild(struct template_keeper *k, const char *why)
{
    struct err e = { 0 };
    k->wait = (struct template_wait){ .on_done = on_rebuilt };
    if (template_await(k->api->sessions, k->ids[k->at - 1], why, &k->wait, &e))
        look_at_next(k);
}

static void on_tried(struct session_watch *w, struct session *s, enum session_event event)
{
    struct template_keeper *k = (struct template_keeper *)((char *)w -
                                                           offsetof(struct template_keeper, watch));
    char why[sizeof s->reason];
    bool is_unfit = s->is_unfit;
    if (event == SESSION_EVENT_STATE && s->state == SESSION_IDLE) {
        session_end(s, "it fits");
        return;
    }
    if (event != SESSION_EVENT_ENDED)
        return;
    (void)snprintf(why, sizeof why, "%s", s->reason);
    k->tried = NULL;
    session_watch_remove(s, w);
    if (is_unfit)
        order_rebuild(k, why);
    else
        look_at_next(k);
}

/* A program becomes the image, and ends. */
static int try_image(struct template_keeper *k, struct session_image *image, struct err *e)
{
    const struct saved_image *saved = images_find(sessions_images(k->api->sessions),
                                                  k->ids[k->at - 1]);
    const struct settings *settings = k->api->settings;
    struct session_spec spec = { .language = saved ? language_find(saved->row.language) : NULL,
                                 .limits = settings->limit_default,
                                 .cell_limits = settings->limit_default,
                                 .idle_ms = SPARE_MS,
                                 .image = image };
    if (!spec.language || !spec.language->session) {
        session_spec_done(&spec);
        return err_set(e, ERR_NOT_FOUND, 0, "its language is not here");
    }
    spec.limits.v[LIMIT_MEMORY] = settings->limit_max.v[LIMIT_MEMORY];
    spec.limits.v[LIMIT_WALL_MS] = SPARE_MS;
    k->watch.on_event = on_tried;
    struct session *s;
    if (template_try(k->api->sessions, &spec, &k->watch, &s, e))
        return -1;
    k->tried = s->state == SESSION_ENDED ? NULL : s;
    return 0;
}

static void on_loaded(struct image_load *l, const struct err *e)
{
    struct template_keeper *k = (struct template_keeper *)((char *)l -
                                                           offsetof(struct template_keeper, load));
    struct err failed = { 0 };
    k->loading = false;
    if (k->closed) {
        session_image_unref(e ? NULL : l->image);
        free_if_unused(k);
    } else if (e && e->code == ERR_CONFLICT) {
        order_rebuild(k, e->text);
    } else if (e || try_image(k, l->image, &failed)) {
        look_at_next(k);
    }
}

static void look_at_next(struct template_keeper *k)
{
    struct images *images = sessions_images(k->api->sessions);
    struct err e = { 0 };
    while (!k->closed && !k->api->draining && k->ids && k->ids[k->at]) {
        struct saved_image *saved = images_find(images, k->ids[k->at++]);
        k->load = (struct image_load){ .on_done = on_loaded };
        k->loading = true; /* it may be there within the call */
        if (saved && !saved->is_removed && images_load(images, saved, &k->load, &e) == 0)
            return;
        k->loading = false;
    }
    if (k->ids)
        log_event(LOG_INFO, "templates.checked", "count=%zu", k->at);
    strv_free(k->ids);
    k->ids = NULL;
}

static void on_look(uv_timer_t *timer)
{
    struct template_keeper *k = timer->data;
    struct err e = { 0 };
    if (!sessions_are_known(k->api->sessions)) {
        (void)uv_timer_start(timer, on_look, LOOK_AFTER_MS, 0);
        return;
    }
    const struct saved_image *s = images_first(sessions_images(k->api->sessions));
    for (; s; s = s->next)
        if (!s->is_removed && strcmp(s->row.kind, TEMPLATE_KIND) == 0 &&
            strv_add(&k->ids, s->row.id, &e))
            break;
    look_at_next(k);
}

/* ---- its life ---- */

int template_rebuild_open(struct api *api, struct err *e)
{
    struct template_keeper *k = calloc(1, sizeof *k);
    if (!k)
        return err_no_memory(e, "the templates");
    k->maker.rebuild = rebuild;
    k->api = api;
    (void)uv_timer_init(api->loop, &k->look);
    k->look.data = k;
    k->open_timers = 1;
    (void)uv_timer_start(&k->look, on_look, LOOK_AFTER_MS, 0);
    templates_set_maker(api->sessions, &k->maker);
    api->templates = k;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct template_keeper *k = handle->data;
    k->open_timers--;
    free_if_unused(k);
}

/* Every job of the store is over, or nobody will hear of it. */
void template_rebuild_close(struct api *api)
{
    struct template_keeper *k = api->templates;
    if (!k)
        return;
    api->templates = NULL;
    templates_set_maker(api->sessions, NULL);
    k->closed = true;
    if (k->tried) {
        session_watch_remove(k->tried, &k->watch);
        session_end(k->tried, "the service is stopping");
    }
    for (struct attempt *a = k->attempts, *after; a; a = after) {
        after = a->next;
        free(a->name);
        free(a->owner);
        free(a);
    }
    k->attempts = NULL;
    strv_free(k->ids);
    k->ids = NULL;
    for (struct rebuild *r = k->first, *after; r; r = after) {
        after = r->next;
        if (!r->is_begun)
            take_out(r);
    }
    uv_close((uv_handle_t *)&k->look, on_closed);
}
