/* /v1/templates: states that runs and sessions begin in. A template is made by a session that runs
 * its setup, and kept as the image of that session. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/fields.h"
#include "api/kernel/job.h"
#include "api/kernel/storage.h"
#include "api/runs/run_spec.h"
#include "api/sessions/cell_submit.h"
#include "api/sessions/session_find.h"
#include "api/templates/template_use.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"
#include "run/result.h"
#include "spec/bundle.h"

enum { NAME_MAX_BYTES = 100, TEMPLATES_PER_OWNER = 100 };

static const struct api_field create_fields[] = {
    { "name", FIELD_STRING, .required = true, .min = 1, .max = NAME_MAX_BYTES,
      .help = "letters, digits, '.', '_' and '-'" },
    { "language", FIELD_STRING, .required = true, .min = 1, .max = 64,
      .help = "a language whose sessions can be forked", .also = "lang,language_id,runtime" },
    { "setup", FIELD_STRING, .required = true, .max = (double)BUNDLE_FILE_MAX_BYTES,
      .help = "the code that makes the state: imports, data, a model", .also = "code,source" },
    { "files", FIELD_FILES, .max = BUNDLE_FILES_MAX, .help = "files in /sandbox, by name" },
    { "env", FIELD_STRING_MAP, .max = 1000, .help = "environment beyond the built-in one" },
    { "limits", FIELD_LIMITS, .help = "limits of the setup: memory, pids, disk and others",
      .also = "memory=limits.memory" },
    { "cell_limits", FIELD_LIMITS, .help = "limits of the setup: wall_ms, cpu_ms and output",
      .also = "timeout=cell_limits.wall_ms" },
    { "shared", FIELD_BOOL, .help = "true: every key may use it; only its owner changes it" },
    { "permission_mode", FIELD_STRING, .help = "as for a cell" },
    { 0 },
};

static json_t *template_object(const struct saved_image *t)
{
    return json_pack("{s:s, s:s, s:s?, s:b, s:I, s:o}", "name", t->row.name, "language",
                     t->row.language, "key", t->row.key, "shared", template_is_shared(t), "bytes",
                     (json_int_t)t->row.bytes, "created_at",
                     result_time((uint64_t)t->row.created_ms));
}

/* ---- POST /v1/templates ---- */

/* From the request to the image. */
struct template_build {
    struct session_watch watch;
    struct run_watch run_watch;
    struct session_capture capture;
    struct image_save save;
    struct api_call *call;
    struct session *session; /* NULL: it is over */
    bool submitted, ended;
};

static struct template_build *of_run_watch(struct run_watch *w)
{
    return (struct template_build *)((char *)w - offsetof(struct template_build, run_watch));
}

/* The answer, and the end of the session. */
static void end_build(struct template_build *b, const struct err *e, const char *field)
{
    struct session *s = b->session;
    if (b->ended)
        return;
    b->ended = true;
    if (e)
        api_fail(b->call, e, field);
    else
        api_reply(b->call, 201, template_object(b->save.saved));
    if (s) {
        session_watch_remove(s, &b->watch);
        session_end(s, "its template is made");
    }
    session_image_unref(b->capture.image);
    json_decref(b->capture.not_carried);
    free(b->save.row.detail);
    free(b->save.row.request);
    free(b);
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
    if (images_save(sessions_images(b->call->api->sessions), &b->save, &failed))
        end_build(b, &failed, NULL);
}

static void on_setup_event(struct run_watch *w, struct run *run, enum run_event event)
{
    struct template_build *b = of_run_watch(w);
    struct err e = { 0 };
    if (event != RUN_EVENT_DONE)
        return;
    enum verdict verdict = run->result.verdict;
    char id[ID_SIZE];
    (void)snprintf(id, sizeof id, "%s", run->id);
    run_watch_remove(run, w);
    if (verdict != VERDICT_OK) {
        (void)!err_set(&e, ERR_CONFLICT, 0,
                       "the setup of the template ended with '%s': GET /v1/runs/%s has its output "
                       "and its diagnosis",
                       verdict_word(verdict), id);
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
    struct api_call *c = b->call;
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

static int check_name(const struct api_call *c, const char *owner, const char *name, struct err *e)
{
    const char *accepted = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    unsigned n = 0;
    if (strspn(name, accepted) != strlen(name))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the name '%s' has other characters than letters, digits, '.', '_' and '-'",
                       QUOTED(name));
    const struct saved_image *s = images_first(sessions_images(c->api->sessions));
    for (; s; s = s->next) {
        if (s->is_removed || strcmp(s->row.kind, TEMPLATE_KIND) != 0 || !template_is_of(s, owner))
            continue;
        n++;
        if (strcmp(s->row.name, name) == 0)
            return err_set(e, ERR_CONFLICT, 0,
                           "there is a template '%s' already: delete it first, or choose another "
                           "name",
                           QUOTED(name));
    }
    if (n >= TEMPLATES_PER_OWNER)
        return err_set(e, ERR_QUOTA, 0,
                       "this key has %u templates, which is the maximum: delete one", n);
    return 0;
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

/* Key, name and language belong to the call, which lives as long as the build. */
static int fill_row(struct template_build *b, const char *owner, const struct language *l,
                    struct err *e)
{
    struct api_call *c = b->call;
    struct image_row *r = &b->save.row;
    r->key = (char *)c->who.key;
    r->kind = (char *)TEMPLATE_KIND;
    r->name = (char *)api_text(c, "name");
    r->language = (char *)l->name;
    r->detail = json_line(
        json_pack("{s:b, s:s}", "shared", run_flag(c->body, "shared", false), "owner", owner));
    r->request = json_line(json_incref(c->body));
    return r->detail && r->request ? 0 : err_no_memory(e, "a template");
}

static int begin_build(struct template_build *b, char *field, size_t size, struct err *e)
{
    struct api_call *c = b->call;
    scoped(session_spec) spec = { 0 };
    char owner[TEMPLATE_OWNER_SIZE];
    template_owner(&c->who, owner);
    (void)snprintf(field, size, "name");
    if (check_name(c, owner, api_text(c, "name"), e))
        return -1;
    field[0] = '\0';
    if (make_spec(c, &spec, field, size, e) || fill_row(b, owner, spec.language, e) ||
        storage_check(c->api, e))
        return -1;
    b->watch.on_event = on_session_event;
    return session_new(c->api->sessions, &spec, &b->watch, &b->session, e);
}

static void post_template(struct api_call *c)
{
    struct err e = { 0 };
    char field[128] = "";
    struct template_build *b = calloc(1, sizeof *b);
    if (!b) {
        api_fail_no_memory(c);
        return;
    }
    b->call = c;
    if (begin_build(b, field, sizeof field, &e))
        end_build(b, &e, field[0] ? field : NULL);
}

/* ---- the others ---- */

static bool may_use(const struct api_call *c, const struct saved_image *s, const char *owner)
{
    return !s->is_removed && strcmp(s->row.kind, TEMPLATE_KIND) == 0 &&
           (template_is_of(s, owner) || template_is_shared(s) ||
            (c->who.scopes & SCOPE_BIT(SCOPE_ADMIN)));
}

static void list_templates(struct api_call *c)
{
    json_t *list = json_array();
    char owner[TEMPLATE_OWNER_SIZE];
    template_owner(&c->who, owner);
    const struct saved_image *s = images_first(sessions_images(c->api->sessions));
    for (; s; s = s->next)
        if (may_use(c, s, owner))
            (void)json_array_append_new(list, template_object(s));
    api_reply(c, 200, json_pack("{s:o}", "templates", list));
}

static struct saved_image *template_of_path(struct api_call *c)
{
    struct err e = { 0 };
    struct saved_image *t;
    char owner[TEMPLATE_OWNER_SIZE];
    template_owner(&c->who, owner);
    if (template_named(c->api, owner, c->params[0], &t, &e) == 0)
        return t;
    api_fail(c, &e, NULL);
    return NULL;
}

static void get_template(struct api_call *c)
{
    const struct saved_image *t = template_of_path(c);
    if (t)
        api_reply(c, 200, template_object(t));
}

static void delete_template(struct api_call *c)
{
    struct err e = { 0 };
    char owner[TEMPLATE_OWNER_SIZE];
    struct saved_image *t = template_of_path(c);
    if (!t)
        return;
    template_owner(&c->who, owner);
    if (!template_is_of(t, owner) && !(c->who.scopes & SCOPE_BIT(SCOPE_ADMIN))) {
        (void)!err_set(&e, ERR_DENIED, 0,
                       "template '%s' belongs to another key: only it, and keys "
                       "with scope admin, delete it",
                       QUOTED(t->row.name));
        api_fail(c, &e, NULL);
        return;
    }
    json_t *gone = template_object(t);
    images_remove(sessions_images(c->api->sessions), t);
    api_reply_after_writes(c, 200, gone);
}

static const struct api_field template_reply[] = {
    { "name", FIELD_STRING, ALWAYS, .help = "of the template" },
    { "language", FIELD_STRING, ALWAYS, .help = "of its setup, and of programs that begin in it" },
    { "key", FIELD_STRING, .help = "the key that made it, or null" },
    { "shared", FIELD_BOOL, ALWAYS, .help = "every key may use it" },
    { "bytes", FIELD_INT, ALWAYS, .help = "size of its image on the disk" },
    { "created_at", FIELD_STRING, ALWAYS, .help = "time" },
    { .schema = "Template" },
};
static const struct api_field list_reply[] = {
    { "templates", FIELD_OBJECTS, ALWAYS, .fields = template_reply, .help = "the oldest first" },
    { .schema = "TemplateList" },
};

const struct api_route template_routes[] = {
    { METHOD_POST, "/v1/templates", SCOPE_RUN, .body = create_fields, .handle = post_template,
      .summary = "Runs a setup once, and keeps its state for runs and sessions to begin in",
      .replies = REPLIES({ 201, .fields = template_reply }) },
    { METHOD_GET, "/v1/templates", SCOPE_RUN, .handle = list_templates,
      .summary = "The templates of the caller, and the shared ones",
      .replies = REPLIES({ 200, .fields = list_reply }) },
    { METHOD_GET, "/v1/templates/{name}", SCOPE_RUN, .handle = get_template,
      .summary = "One template", .replies = REPLIES({ 200, .fields = template_reply }) },
    { METHOD_DELETE, "/v1/templates/{name}", SCOPE_RUN, .handle = delete_template,
      .summary = "Deletes a template; runs that have begun in it go on",
      .replies = REPLIES({ 200, .fields = template_reply }) },
    { 0 },
};
