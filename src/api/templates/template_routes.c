/* /v1/templates: states that runs and sessions begin in. */
#include <string.h>

#include "api/kernel/fields.h"
#include "api/kernel/job.h"
#include "api/runs/network_request.h"
#include "api/templates/template_build.h"
#include "api/templates/template_use.h"
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
    NETWORK_FIELD,
    { "shared", FIELD_BOOL, .help = "true: every key may use it; only its owner changes it" },
    { "permission_mode", FIELD_STRING, .help = "as for a cell" },
    { 0 },
};

static json_t *template_object(const struct saved_image *t)
{
    json_auto_t *detail = t->row.detail ? json_loads(t->row.detail, 0, NULL) : NULL;
    json_int_t rebuilt_ms = json_integer_value(json_object_get(detail, "rebuilt_ms"));
    return json_pack("{s:s, s:s, s:s?, s:b, s:I, s:o, s:o}", "name", t->row.name, "language",
                     t->row.language, "key", t->row.key, "shared", template_is_shared(t), "bytes",
                     (json_int_t)t->row.bytes, "created_at",
                     result_time((uint64_t)t->row.created_ms), "rebuilt_at",
                     result_time((uint64_t)rebuilt_ms));
}

/* ---- POST /v1/templates ---- */

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

static void on_built(struct template_build *b, const struct err *e, const char *field)
{
    struct api_call *c = b->owner;
    if (e)
        api_fail(c, e, field);
    else
        api_reply(c, 201, template_object(b->save.saved));
}

static void post_template(struct api_call *c)
{
    struct err e = { 0 };
    char field[128] = "name", owner[TEMPLATE_OWNER_SIZE];
    template_owner(&c->who, owner);
    const struct template_order order = {
        .api = c->api, .who = &c->who, .body = c->body, .on_done = on_built, .owner = c
    };
    if (check_name(c, owner, api_text(c, "name"), &e) ||
        template_build(&order, NULL, field, sizeof field, &e))
        api_fail(c, &e, field[0] ? field : NULL);
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
    { "rebuilt_at", FIELD_STRING, OR_NULL,
      .help = "time at which it was made anew, because the interpreter or a library had changed" },
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
