#include "api/runs/fix_request.h"

#include <stdio.h>
#include <string.h>

#include "api/runs/fixes.h"
#include "api/runs/run_spec.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"
#include "spec/bundle.h"

static bool stdin_is_cut(const struct run *run)
{
    return run->spec.stdin_open && run->stdin_tail.len >= STDIN_TEXT_MAX;
}

const char *fix_refusal(const struct run *run)
{
    const struct run_spec *s = &run->spec;
    switch (run->result.verdict) {
    case VERDICT_CANCELLED:
    case VERDICT_REJECTED:
    case VERDICT_INTERNAL_ERROR:
        return "the program did not run to its end";
    default:
        break;
    }
    if (s->network.mode != NETWORK_NONE && s->options.fixes != FIXES_TRY_NETWORK)
        return "the run has a network, and each try would use it again: \"fixes\": "
               "\"try_with_network\" allows that";
    if (!s->request || strlen(s->request) > API_LARGE_BYTES)
        return "the request is too large: runs of up to 256 KiB are tried";
    if (stdin_is_cut(run))
        return "its stdin is too long: up to 64 KiB that came during the run are kept";
    return NULL;
}

bool fix_source(const struct run *run, const char *file, const char **ret, size_t *ret_len)
{
    struct bundle_entry f;
    struct err e;
    bool more = true;
    for (size_t pos = 0; bundle_next(&run->spec.bundle, &pos, &f, &more, &e) == 0 && more;) {
        if (!bundle_is_named(&f, file))
            continue;
        *ret = f.bytes;
        *ret_len = (size_t)f.head.size;
        return text_is_utf8(f.bytes, *ret_len) && !memchr(f.bytes, '\0', *ret_len);
    }
    return false;
}

static json_t *changed_file(json_t *file, const char *text, size_t len)
{
    json_t *o = json_is_object(file) ? json_copy(file) : json_object();
    json_put(o, "content", json_stringn(text, len));
    json_put(o, "encoding", json_string("utf-8"));
    return o;
}

/* The file in "files", which is an object or a list. */
static bool change_in_files(json_t *files, const char *name, const char *text, size_t len)
{
    size_t i;
    json_t *file;
    if (json_is_object(files)) {
        file = json_object_get(files, name);
        return file && json_object_set_new(files, name, changed_file(file, text, len)) == 0;
    }
    json_array_foreach(files, i, file) {
        const char *its = json_string_value(json_object_get(file, "name"));
        if (its && strcmp(its, name) == 0)
            return json_array_set_new(files, i, changed_file(file, text, len)) == 0;
    }
    return false;
}

/* The program of a request with `code` has a name that the language gives it. */
static bool change(const struct run *run, json_t *request, const char *file, const char *text,
                   size_t len)
{
    if (change_in_files(json_object_get(request, "files"), file, text, len))
        return true;
    return json_object_get(request, "code") && strcmp(file, run->spec.main_name) == 0 &&
           json_object_set_new(request, "code", json_stringn(text, len)) == 0;
}

/* All of stdin, which partly came while the program ran. */
static int put_stdin(const struct run *run, json_t *request, struct err *e)
{
    scoped(buf) text = { 0 };
    const struct buf *tail = &run->stdin_tail;
    if (!run->spec.stdin_open)
        return 0;
    (void)json_object_del(request, "stdin_open");
    if (text_add_base64(&text, buf_str(tail), tail->len, e))
        return -1;
    json_put(request, "stdin", json_stringn(buf_str(&text), text.len));
    json_put(request, "stdin_encoding", json_string("base64"));
    return 0;
}

json_t *fix_request_of(const struct run *run, const char *file, const char *text, size_t len,
                       const char **ret_mode, struct err *e)
{
    static const char *const dropped[] = { "wait",   "stream",  "cancel_on_disconnect",
                                           "fixes",  "outputs", "profile",
                                           "values", "metadata" };
    const struct run_spec *s = &run->spec;
    uint64_t wall_ms = s->limits.v[LIMIT_WALL_MS];
    json_auto_t *request = json_loads(s->request, 0, NULL);
    if (!json_is_object(request)) {
        (void)!err_no_memory(e, "a try");
        return NULL;
    }
    for (size_t i = 0; i < ARRAY_LEN(dropped); i++)
        (void)json_object_del(request, dropped[i]);
    json_t *code = json_object_get(request, "code");
    if (code && s->code) /* a part of a text ran, perhaps */
        json_put(request, "code", json_string(s->code));
    json_put(request, "language", json_string(s->language->name));
    json_put(request, "limits",
             run_wall_limit(json_object_get(request, "limits"),
                            wall_ms < FIXES_MS ? wall_ms : FIXES_MS));
    if (put_stdin(run, request, e))
        return NULL;
    if (file && !change(run, request, file, text, len)) {
        (void)!err_set(e, ERR_BAD_REQUEST, 0, "'%s' is no file of the request", QUOTED(file));
        return NULL;
    }
    *ret_mode = json_string_value(json_object_get(request, "permission_mode"));
    return json_incref(request);
}

int fix_request_spec(const struct api *api, const struct run *run, const json_t *request,
                     const char *surface, struct run_spec *ret, struct err *e)
{
    const struct run_spec *s = &run->spec;
    struct api_identity who = { .max_runs = s->key_max_runs,
                                .scopes = SCOPE_BIT(SCOPE_RUN) |
                                          (s->may_approve ? SCOPE_BIT(SCOPE_APPROVE) : 0) };
    char field[128];
    const char *owner = s->requester ? strrchr(s->requester, '#') : NULL;
    (void)snprintf(who.name, sizeof who.name, "%s", s->actor ? s->actor : "");
    (void)snprintf(who.owner, sizeof who.owner, "%s", owner && s->key ? owner + 1 : "");
    who.key = s->key;
    return run_spec_from_json(api, &who, request, surface, ret, field, sizeof field, e);
}
