#include "api/templates/template_use.h"

#include <stdio.h>
#include <string.h>

#include "api/sessions/session_find.h"
#include "base/array.h"
#include "base/strv.h"
#include "base/text.h"

/* All callers without a key are one owner, as they are for sessions. */
static const char without_key[] = "no key";

void template_owner(const struct api_identity *who, char out[TEMPLATE_OWNER_SIZE])
{
    (void)snprintf(out, TEMPLATE_OWNER_SIZE, "%s%s%s", who->key ? who->name : without_key,
                   who->key ? "#" : "", who->key ? who->owner : "");
}

static const char *owner_of(const struct run_spec *spec)
{
    return spec->key ? spec->requester : without_key;
}

/* "a, b, c": the templates that an owner may use; cut if there are many. */
static const char *names_of(const struct api *api, const char *owner, char *out, size_t size)
{
    size_t at = 0;
    out[0] = '\0';
    const struct saved_image *s = images_first(sessions_images(api->sessions));
    for (; s && at + 2 < size; s = s->next) {
        if (s->is_removed || strcmp(s->row.kind, TEMPLATE_KIND) != 0 ||
            (!template_is_of(s, owner) && !template_is_shared(s)))
            continue;
        int n = snprintf(out + at, size - at, "%s%s", at ? ", " : "", s->row.name);
        at += n > 0 ? (size_t)n : 0;
    }
    return out[0] ? out : "none";
}

int template_named(const struct api *api, const char *owner, const char *name,
                   struct saved_image **ret, struct err *e)
{
    char known[120];
    unsigned n;
    *ret = template_find(api->sessions, owner, name, &n);
    if (*ret)
        return 0;
    if (n > 1)
        return err_set(e, ERR_CONFLICT, 0,
                       "%u keys share a template '%s': name one of them as 'KEY/%s', where GET "
                       "/v1/templates shows its key, or make one of your own",
                       n, QUOTED(name), QUOTED(name));
    return err_set(e, ERR_NOT_FOUND, 0,
                   "there is no template '%s': yours are %s; POST /v1/templates makes one",
                   QUOTED(name), names_of(api, owner, known, sizeof known));
}

int template_check(const struct api *api, const json_t *request, const struct run_spec *spec,
                   char *field, size_t size, struct err *e)
{
    const char *name = json_string_value(json_object_get(request, "template"));
    struct saved_image *saved;
    if (!name || !api->engine || template_named(api, owner_of(spec), name, &saved, e) == 0)
        return 0;
    (void)snprintf(field, size, "template");
    return -1;
}

const char *template_language(const struct api *api, const json_t *request,
                              const struct run_spec *spec)
{
    const char *name = json_string_value(json_object_get(request, "template"));
    unsigned n;
    const struct saved_image *saved = name && api->engine
                                          ? template_find(api->sessions, owner_of(spec), name, &n)
                                          : NULL;
    return saved ? saved->row.language : NULL;
}

/* The state of the program is that of the image: these belong to its start. */
static const char *const not_with_template[] = { "outputs",        "stdin_open",    "profile",
                                                 "allow_commands", "compiler_args", "read_only",
                                                 "mounts" };

static int check_fields(const json_t *request, char *field, size_t size, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(not_with_template); i++) {
        const json_t *v = json_object_get(request, not_with_template[i]);
        bool is_default = strcmp(not_with_template[i], "read_only") == 0 ? !json_is_false(v)
                                                                         : !json_is_true(v);
        if (is_default && json_array_size(v) == 0 && json_object_size(v) == 0)
            continue;
        (void)snprintf(field, size, "%s", not_with_template[i]);
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' and 'template' do not go together: the program of a template has "
                       "started already; put it into the setup of the template, or use a session",
                       field);
    }
    return 0;
}

static int check_args(const struct run_spec *spec, char *field, size_t size, struct err *e)
{
    if (strv_len(spec->args) == 0 || run_inputs_have_args(spec->language))
        return 0;
    (void)snprintf(field, size, "args");
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "'args' and 'template' do not go together in '%s', where they are values of "
                   "parameters: write them into the program",
                   spec->language->name);
}

int template_apply(const struct api *api, const json_t *request, struct run_spec *spec, char *field,
                   size_t size, struct err *e)
{
    const char *name = json_string_value(json_object_get(request, "template"));
    struct saved_image *saved;
    if (!name || !api->engine)
        return 0;
    if (template_check(api, request, spec, field, size, e))
        return -1;
    if (template_named(api, owner_of(spec), name, &saved, e))
        return -1;
    if (strcmp(saved->row.language, spec->language->name) != 0) {
        (void)snprintf(field, size, "language");
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "template '%s' is of the language '%s', and the program of '%s': give the "
                       "same language, or none",
                       QUOTED(name), saved->row.language, spec->language->name);
    }
    if (check_fields(request, field, size, e) || check_args(spec, field, size, e) ||
        session_check_open_files(&spec->limits, field, size, e))
        return -1;
    if (!spec->code) {
        (void)snprintf(field, size, "code");
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the program is not UTF-8 text, and a template runs text");
    }
    spec->template = strdup(name);
    spec->template_image = strdup(saved->row.id);
    spec->template_key = text_copy(saved->row.key);
    if (!spec->template || !spec->template_image || (saved->row.key && !spec->template_key))
        return err_no_memory(e, "a request");
    return template_host(api->sessions, saved, &spec->host, e);
}
