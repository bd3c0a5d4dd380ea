#include "api/runs/script_request.h"

#include <stdio.h>
#include <string.h>

#include "run/json.h"
#include "spec/limit.h"

int script_blame(const struct script_request *r, const char *field)
{
    (void)snprintf(r->field, r->field_size, "%s", field);
    return -1;
}

const char *script_text(const struct script_request *r, const char *key)
{
    return json_string_value(json_object_get(r->body, key));
}

void script_see_files(const struct script_request *r, void (*see)(void *arg, const char *name),
                      void *arg)
{
    json_t *files = json_object_get(r->body, "files"), *file;
    const char *name;
    size_t i;
    json_object_foreach(files, name, file)
        see(arg, name);
    json_array_foreach(files, i, file)
        see(arg, json_string_value(json_object_get(file, "name")));
}

/* `files` is an object or a list. */
int script_add_file(const struct script_request *r, const char *name, json_t *content,
                    struct err *e)
{
    if (!json_object_get(r->body, "files"))
        (void)json_object_set_new(r->body, "files", json_object());
    json_t *files = json_object_get(r->body, "files"), *file;
    size_t i;
    bool taken = json_object_get(files, name) != NULL;
    json_array_foreach(files, i, file)
        taken = taken || strcmp(json_string_value(json_object_get(file, "name")), name) == 0;
    if (taken) {
        json_decref(content);
        (void)script_blame(r, "files");
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "file name '%s' is taken by the service here: choose another", name);
    }
    int failed = json_is_array(files)
                     ? json_array_append_new(
                           files, json_pack("{s:s, s:o}", "name", name, "content", content))
                     : json_object_set_new(files, name, content);
    return failed ? err_no_memory(e, "a request") : 0;
}

void script_add_limits(const struct script_request *r, uint64_t wall_ms)
{
    struct limits defaults = compile_limits_default();
    json_t *limits = json_object_get(r->body, "limits");
    bool wall = json_object_get(limits, limit_defs[LIMIT_WALL_MS].key);
    defaults.v[LIMIT_WALL_MS] = defaults.v[LIMIT_CPU_MS] = wall_ms;
    defaults.v[LIMIT_OUTPUT] = r->settings->limit_default.v[LIMIT_OUTPUT];
    if (!limits) {
        limits = json_object();
        (void)json_object_set_new(r->body, "limits", limits);
    }
    for (int i = 0; i < LIMIT_COUNT; i++) {
        uint64_t most = r->settings->limit_max.v[i], value = defaults.v[i];
        if (!json_object_get(limits, limit_defs[i].key) && !(wall && i == LIMIT_CPU_MS))
            json_put(limits, limit_defs[i].key,
                     json_integer((json_int_t)(value < most ? value : most)));
    }
}
