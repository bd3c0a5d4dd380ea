/* Structs of the caller as bodies of requests. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "library/library.h"

/* ---- members ---- */

/* A value of NULL is a failed allocation. Takes it over. */
static int put(json_t *o, const char *key, json_t *value, struct belljar_error **error)
{
    return json_object_set_new(o, key, value) ? library_fail_memory(error) : 0;
}

static int put_text(json_t *o, const char *key, const char *text, size_t len,
                    struct belljar_error **error)
{
    if (!text)
        return 0;
    len = len ? len : strlen(text);
    if (!text_is_utf8(text, len))
        return library_fail(error, BELLJAR_ERROR_BAD_REQUEST,
                            "%s is not UTF-8: other bytes can be in files", key);
    return put(o, key, json_stringn(text, len), error);
}

static int put_list(json_t *o, const char *key, const char *const *list,
                    struct belljar_error **error)
{
    if (!list)
        return 0;
    json_t *array = json_array();
    if (put(o, key, array, error))
        return -1;
    for (; *list; list++) {
        if (!text_is_utf8(*list, strlen(*list)))
            return library_fail(error, BELLJAR_ERROR_BAD_REQUEST, "%s has '%s', which is not UTF-8",
                                key, QUOTED(*list));
        if (json_array_append_new(array, json_string(*list)))
            return library_fail_memory(error);
    }
    return 0;
}

static int put_environment(json_t *o, const char *const *list, struct belljar_error **error)
{
    if (!list)
        return 0;
    json_t *object = json_object();
    if (put(o, "env", object, error))
        return -1;
    for (; *list; list++) {
        const char *sign = strchr(*list, '=');
        if (!sign || sign == *list || !text_is_utf8(*list, strlen(*list)))
            return library_fail(error, BELLJAR_ERROR_BAD_REQUEST,
                                "env has '%s', which is not NAME=VALUE in UTF-8", QUOTED(*list));
        autofree char *name = strndup(*list, (size_t)(sign - *list));
        if (!name || json_object_set_new(object, name, json_string(sign + 1)))
            return library_fail_memory(error);
    }
    return 0;
}

/* Text as it is, other bytes as base64. A zero byte would take six characters. */
static int put_bytes(json_t *o, const char *key, const char *encoding_key, const void *bytes,
                     size_t len, struct belljar_error **error)
{
    scoped(buf) encoded = { 0 };
    struct err e;
    if (!memchr(bytes, 0, len) && text_is_utf8(bytes, len))
        return put(o, key, json_stringn(bytes, len), error);
    if (text_add_base64(&encoded, bytes, len, &e))
        return library_fail_memory(error);
    return put(o, key, json_stringn(buf_str(&encoded), encoded.len), error) ||
                   put(o, encoding_key, json_string("base64"), error)
               ? -1
               : 0;
}

static int put_files(json_t *o, const struct belljar_file *files, size_t n,
                     struct belljar_error **error)
{
    if (n == 0)
        return 0;
    json_t *array = json_array();
    if (put(o, "files", array, error))
        return -1;
    for (size_t i = 0; i < n; i++) {
        const struct belljar_file *f = &files[i];
        json_t *file = json_object();
        if (json_array_append_new(array, file))
            return library_fail_memory(error);
        if (!f->name)
            return library_fail(error, BELLJAR_ERROR_BAD_REQUEST, "file %zu has no name", i);
        if (put_text(file, "name", f->name, 0, error) ||
            put_bytes(file, "content", "encoding", f->bytes ? f->bytes : "", f->len, error) ||
            (f->executable && put(file, "executable", json_true(), error)))
            return -1;
    }
    return 0;
}

#define AT(member) offsetof(struct belljar_limits, member)
static const struct {
    const char *key;
    size_t offset;
} limit_rows[] = {
    { "wall_ms", AT(wall_ms) },         { "cpu_ms", AT(cpu_ms) },
    { "memory", AT(memory_bytes) },     { "pids", AT(pids) },
    { "cpu_percent", AT(cpu_percent) }, { "output", AT(output_bytes) },
    { "disk", AT(disk_bytes) },         { "files", AT(files) },
    { "open_files", AT(open_files) },   { "memory_swap", AT(memory_swap_bytes) },
    { "cpu_shares", AT(cpu_shares) },
};
#undef AT

static int put_limits(json_t *o, const char *key, const struct belljar_limits *given,
                      struct belljar_error **error)
{
    struct belljar_limits l;
    if (!given)
        return 0;
    if (library_take_struct(given, &l, sizeof l, LIBRARY_END(struct belljar_limits, open_files),
                            "belljar_limits", error))
        return -1;
    json_t *object = json_object();
    if (put(o, key, object, error))
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(limit_rows); i++) {
        uint64_t value;
        memcpy(&value, (const char *)&l + limit_rows[i].offset, sizeof value);
        if (value > INT64_MAX)
            return library_fail(error, BELLJAR_ERROR_BAD_REQUEST, "%s.%s is too large", key,
                                limit_rows[i].key);
        if (value && put(object, limit_rows[i].key, json_integer((json_int_t)value), error))
            return -1;
    }
    return 0;
}

static int put_hosts(json_t *o, const char *const *hosts, struct belljar_error **error)
{
    if (!hosts)
        return 0;
    json_t *network = json_object();
    return put(o, "network", network, error) || put_list(network, "allow", hosts, error) ? -1 : 0;
}

static int put_number(json_t *o, const char *key, uint64_t value, struct belljar_error **error)
{
    return value ? put(o, key, json_integer((json_int_t)value), error) : 0;
}

/* The fields that the struct has no members for. */
static int put_more(json_t *o, const char *fields, struct belljar_error **error)
{
    json_error_t why;
    if (!fields)
        return 0;
    json_t *more = json_loads(fields, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(more)) {
        bool is_json = more != NULL;
        json_decref(more);
        return library_fail(error, BELLJAR_ERROR_BAD_REQUEST,
                            "fields_json is not a JSON object%s%s", is_json ? "" : ": ",
                            is_json ? "" : why.text);
    }
    int rc = json_object_update(o, more);
    json_decref(more);
    return rc ? library_fail_memory(error) : 0;
}

static int give(json_t *o, int failed, json_t **ret)
{
    if (failed)
        json_decref(o);
    else
        *ret = o;
    return failed ? -1 : 0;
}

/* ---- requests ---- */

int library_request_json(const struct belljar_request *given, json_t **ret,
                         struct belljar_error **error)
{
    struct belljar_request q;
    if (library_take_struct(given, &q, sizeof q, LIBRARY_END(struct belljar_request, fields_json),
                            "belljar_request", error))
        return -1;
    json_t *o = json_object();
    if (!o)
        return library_fail_memory(error);
    return give(
        o,
        put_text(o, "language", q.language, 0, error) ||
            put_text(o, "code", q.code, q.code_len, error) ||
            put_text(o, "entry", q.entry, 0, error) || put_files(o, q.files, q.n_files, error) ||
            put_list(o, "args", q.args, error) || put_environment(o, q.env, error) ||
            (q.stdin_bytes &&
             put_bytes(o, "stdin", "stdin_encoding", q.stdin_bytes, q.stdin_len, error)) ||
            (q.stdin_open && put(o, "stdin_open", json_true(), error)) ||
            put_list(o, "outputs", q.outputs, error) || put_limits(o, "limits", q.limits, error) ||
            put_text(o, "template", q.template_name, 0, error) ||
            put_hosts(o, q.allow_hosts, error) || put_more(o, q.fields_json, error),
        ret);
}

int library_session_json(const struct belljar_session_options *given, json_t **ret,
                         struct belljar_error **error)
{
    struct belljar_session_options q;
    if (library_take_struct(given, &q, sizeof q,
                            LIBRARY_END(struct belljar_session_options, fields_json),
                            "belljar_session_options", error))
        return -1;
    json_t *o = json_object();
    if (!o)
        return library_fail_memory(error);
    return give(
        o,
        put_text(o, "language", q.language, 0, error) || put_text(o, "name", q.name, 0, error) ||
            put_files(o, q.files, q.n_files, error) || put_environment(o, q.env, error) ||
            put_limits(o, "limits", q.limits, error) ||
            put_limits(o, "cell_limits", q.cell_limits, error) ||
            put_number(o, "idle_s", q.idle_s, error) || put_number(o, "ttl_s", q.ttl_s, error) ||
            put_number(o, "undo", q.undo, error) ||
            put_text(o, "template", q.template_name, 0, error) ||
            put_hosts(o, q.allow_hosts, error) || put_more(o, q.fields_json, error),
        ret);
}

int library_cell_json(const struct belljar_cell *given, json_t **ret, struct belljar_error **error)
{
    struct belljar_cell q;
    if (library_take_struct(given, &q, sizeof q, LIBRARY_END(struct belljar_cell, fields_json),
                            "belljar_cell", error))
        return -1;
    json_t *o = json_object();
    if (!o)
        return library_fail_memory(error);
    return give(
        o,
        put_text(o, "code", q.code ? q.code : "", q.code_len, error) ||
            (q.timeout_ms && put(o, "timeout", json_real((double)q.timeout_ms / 1000), error)) ||
            put_more(o, q.fields_json, error),
        ret);
}
