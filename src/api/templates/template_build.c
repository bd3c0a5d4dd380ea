/* A template is made by a session that runs its setup, and kept as the image of that session. */
#include "api/templates/template_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/storage.h"
#include "api/runs/run_spec.h"
#include "api/sessions/cell_submit.h"
#include "api/sessions/session_find.h"
#include "api/templates/template_use.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"
#include "run/json.h"
#include "run/result.h"

static struct template_build *of_run_watch(struct run_watch *w)
{
    return (struct template_build *)((char *)w - offsetof(struct template_build, run_watch));
}

static void build_free(struct template_build *b)
{
    session_image_unref(b->capture.image);
    json_decref(b->capture.not_carried);
    json_decref(b->request.body);
    free(b->save.row.detail);
    free(b->save.row.request);
    free(b);
}

/* The answer, and the end of the session. */
static void end_build(struct template_build *b, const struct err *e, const char *field)
{
    struct session *s = b->session;
    if (b->ended)
        return;
    b->ended = true;
    b->on_done(b, e, field);
    if (s) {
        session_watch_remove(s, &b->watch);
        session_end(s, "its template is made");
    }
    build_free(b);
}

static void on_saved(struct image_save *save, const struct err *e)
{
    struct template_build *b = (struct template_build *)((char *)save -
                                                         offsetof(struct template_build, save));
    end_build(b, e, NULL);
}

static void on_captured(struct session_capture *c, const struct err *e)
{
    struct template_build *b = (struct template_build *)((char *)c -
                                                         offsetof(struct template_build, capture));
    struct err failed = { 0 };
    if (e) {
        end_build(b, e, NULL);
        return;
    }
    b->save.image = c->image;
    b->save.on_done = on_saved;
    if (images_save(sessions_images(b->request.api->sessions), &b->save, &failed))
        end_build(b, &failed, NULL);
}

/* "ended with 'runtime_error' (NameError: …): GET …" */
static void tell_failure(const struct run *run, struct err *e)
{
    const json_t *d = json_object_get(run->result_json, "diagnosis");
    const char *type = json_string_value(json_object_get(d, "type"));
    const char *message = json_string_value(json_object_get(d, "message"));
    char cause[100] = "";
    if (type && message)
        (void)snprintf(cause, sizeof cause, " (%.30s: %.60s)", QUOTED(type), QUOTED(message));
    (void)!err_set(e, ERR_CONFLICT, 0,
                   "the setup ended with '%s'%s: GET /v1/runs/%s has its output and diagnosis",
                   verdict_word(run->result.verdict), cause, run->id);
}

static void on_setup_event(struct run_watch *w, struct run *run, enum run_event event)
{
    struct template_build *b = of_run_watch(w);
    struct err e = { 0 };
    if (event != RUN_EVENT_DONE)
        return;
    if (run->result.verdict != VERDICT_OK)
        tell_failure(run, &e);
    run_watch_remove(run, w);
    if (e.code != ERR_NONE) {
        end_build(b, &e, "setup");
        return;
    }
    b->capture = (struct session_capture){ .on_done = on_captured, .strict = true };
    if (!b->session || session_capture(b->session, &b->capture, &e)) {
        if (e.code == ERR_NONE)
            (void)!err_set(&e, ERR_UNAVAILABLE, 0, "the session of the setup ended early");
        end_build(b, &e, NULL);
    }
}

static void run_setup(struct template_build *b)
{
    struct api_call *c = &b->request;
    struct err e = { 0 };
    char field[128] = "";
    struct run *run;
    struct cell_request request = { .code = json_object_get(c->body, "setup"),
                                    .permission_mode = api_text(c, "permission_mode"),
                                    .wall_ms = b->session->spec.cell_limits.v[LIMIT_WALL_MS] };
    b->submitted = true;
    if (cell_submit(c, b->session, &request, &run, field, sizeof field, &e)) {
        end_build(b, &e, field[0] ? field : NULL);
        return;
    }
    b->run_watch.on_event = on_setup_event;
    run_watch_add(run, &b->run_watch);
}

static void on_session_event(struct session_watch *w, struct session *s, enum session_event event)
{
    struct template_build *b = (struct template_build *)w;
    struct err e = { 0 };
    if (event == SESSION_EVENT_ENDED) {
        b->session = NULL;
        session_watch_remove(s, w);
        if (!b->submitted) { /* otherwise the end of the cell tells */
            (void)!err_set(&e, ERR_UNAVAILABLE, 0, "the session of the setup did not start: %s",
                           s->reason);
            end_build(b, &e, NULL);
        }
    } else if (s->state == SESSION_IDLE && !b->submitted) {
        run_setup(b);
    }
}

/* The session that runs the setup. */
static int make_spec(struct api_call *c, struct session_spec *ret, char *field, size_t size,
                     struct err *e)
{
    static const char *const of_template[] = { "name", "setup", "shared", "permission_mode" };
    json_auto_t *body = json_copy(c->body);
    for (size_t i = 0; i < ARRAY_LEN(of_template); i++)
        (void)json_object_del(body, of_template[i]);
    if (session_spec_from_json(c, body, ret, field, size, e))
        return -1;
    if (!ret->language->forks) {
        (void)snprintf(field, size, "language");
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "language '%s' has no templates: its sessions cannot be copied",
                       ret->language->name);
    }
    if (asprintf(&ret->name, "template %s", api_text(c, "name")) < 0) {
        ret->name = NULL;
        return err_no_memory(e, "a template");
    }
    return 0;
}

/* Key, name and language belong to the request, which lives as long as the build. */
static int fill_row(struct template_build *b, const struct saved_image *old,
                    const struct language *l, struct err *e)
{
    struct api_call *c = &b->request;
    struct image_row *r = &b->save.row;
    char owner[TEMPLATE_OWNER_SIZE];
    template_owner(&c->who, owner);
    json_t *detail = json_pack("{s:b, s:s}", "shared", run_flag(c->body, "shared", false), "owner",
                               owner);
    if (old)
        json_put(detail, "rebuilt_ms", json_integer(clock_unix_ms()));
    r->key = (char *)c->who.key;
    r->kind = (char *)TEMPLATE_KIND;
    r->name = (char *)api_text(c, "name");
    r->language = (char *)l->name;
    r->created_ms = old ? old->row.created_ms : 0;
    r->detail = json_line(detail);
    r->request = json_line(json_incref(c->body));
    return r->detail && r->request ? 0 : err_no_memory(e, "a template");
}

static void take_order(struct template_build *b, const struct template_order *o)
{
    b->on_done = o->on_done;
    b->owner = o->owner;
    b->request.api = o->api;
    b->request.who = *o->who;
    if (o->who->key)
        b->request.who.key = b->request.who.name + (o->who->key - o->who->name);
    b->request.body = json_incref(o->body);
    b->watch.on_event = on_session_event;
}

int template_build(const struct template_order *order, struct template_build **ret, char *field,
                   size_t size, struct err *e)
{
    scoped(session_spec) spec = { 0 };
    struct template_build *b = calloc(1, sizeof *b);
    if (!b)
        return err_no_memory(e, "a template");
    take_order(b, order);
    field[0] = '\0';
    if (make_spec(&b->request, &spec, field, size, e) ||
        fill_row(b, order->old, spec.language, e) || storage_check(order->api, e) ||
        session_new(order->api->sessions, &spec, &b->watch, &b->session, e)) {
        build_free(b);
        return -1;
    }
    if (ret)
        *ret = b;
    return 0;
}

void template_build_stop(struct template_build *b, const char *reason)
{
    if (b->session)
        session_end(b->session, reason);
}
