/* Results: the JSON object of the service, and the exact bytes of the streams. */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "library/library.h"

struct belljar_result {
    json_t *object;
    struct buf out, err;
    char *text; /* of the object, once it was asked for */
};

struct belljar_result *library_result(json_t *object, struct buf *out, struct buf *err)
{
    struct belljar_result *r = calloc(1, sizeof *r);
    if (!r) {
        json_decref(object);
        return NULL;
    }
    *r = (struct belljar_result){ .object = object, .out = *out, .err = *err };
    *out = *err = (struct buf){ 0 };
    return r;
}

void belljar_result_free(struct belljar_result *result)
{
    if (!result)
        return;
    json_decref(result->object);
    buf_done(&result->out);
    buf_done(&result->err);
    free(result->text);
    free(result);
}

/* ---- members ---- */

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static uint64_t count_of(const json_t *object, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(object, key));
    return n > 0 ? (uint64_t)n : 0;
}

static int small_of(const json_t *object, const char *key)
{
    uint64_t n = count_of(object, key);
    return n <= INT32_MAX ? (int)n : 0;
}

const char *belljar_result_verdict(const struct belljar_result *result)
{
    const char *verdict = text_of(result->object, "verdict");
    return verdict ? verdict : "internal_error";
}

int belljar_result_ok(const struct belljar_result *result)
{
    return strcmp(belljar_result_verdict(result), "ok") == 0;
}

int belljar_result_exit_code(const struct belljar_result *result)
{
    const json_t *code = json_object_get(result->object, "exit_code");
    return json_is_integer(code) ? (int)json_integer_value(code) : -1;
}

const char *belljar_result_signal(const struct belljar_result *result)
{
    return text_of(result->object, "signal");
}

static const void *bytes_of(const struct buf *b, size_t *ret_len)
{
    if (ret_len)
        *ret_len = b->len;
    return buf_str(b);
}

const void *belljar_result_stdout(const struct belljar_result *result, size_t *ret_len)
{
    return bytes_of(&result->out, ret_len);
}

const void *belljar_result_stderr(const struct belljar_result *result, size_t *ret_len)
{
    return bytes_of(&result->err, ret_len);
}

const char *belljar_result_id(const struct belljar_result *result)
{
    const char *id = text_of(result->object, "id");
    return id ? id : "";
}

const char *belljar_result_start(const struct belljar_result *result)
{
    return text_of(result->object, "start");
}

void belljar_result_usage(const struct belljar_result *result, struct belljar_usage *ret)
{
    const json_t *usage = json_object_get(result->object, "usage");
    const struct belljar_usage own = {
        .wall_ms = json_number_value(json_object_get(usage, "wall_ms")),
        .cpu_ms = json_number_value(json_object_get(usage, "cpu_ms")),
        .memory_peak_bytes = count_of(usage, "memory_peak_bytes"),
        .pids_peak = count_of(usage, "pids_peak"),
    };
    library_give_struct(ret, &own, sizeof own);
}

int belljar_result_diagnosis(const struct belljar_result *result, struct belljar_diagnosis *ret)
{
    const json_t *d = json_object_get(result->object, "diagnosis");
    const json_t *place = json_object_get(d, "location");
    const json_t *first = json_array_get(json_object_get(d, "suggestions"), 0);
    const struct belljar_diagnosis own = {
        .type = text_of(d, "type"),
        .message = text_of(d, "message"),
        .category = text_of(d, "category"),
        .file = text_of(place, "file"),
        .line = small_of(place, "line"),
        .column = small_of(place, "column"),
        .hint = text_of(first, "text"),
    };
    if (ret)
        library_give_struct(ret, &own, sizeof own);
    return json_is_object(d);
}

/* ---- outputs ---- */

size_t belljar_result_n_files(const struct belljar_result *result)
{
    return json_array_size(json_object_get(result->object, "files"));
}

const char *belljar_result_file(const struct belljar_result *result, size_t index,
                                uint64_t *ret_len)
{
    const json_t *file = json_array_get(json_object_get(result->object, "files"), index);
    if (ret_len)
        *ret_len = count_of(file, "size");
    return text_of(file, "name");
}

int belljar_fetch(struct belljar *handle, const struct belljar_result *result, const char *name,
                  struct belljar_bytes **ret, struct belljar_error **error)
{
    scoped(buf) path = { 0 }, body = { 0 };
    struct err e = { 0 };
    if (buf_addf(&path, &e, "/v1/runs/%s/files/", belljar_result_id(result)) ||
        client_add_escaped(&path, name, &e))
        return library_fail_err(error, &e);
    const struct client_request q = { .method = "GET",
                                      .path = buf_str(&path),
                                      .body_max = LIBRARY_ANSWER_MAX };
    return library_ask(handle, &q, &body, error) || library_bytes(&body, ret, error) ? -1 : 0;
}

/* ---- cells ---- */

const char *belljar_result_status(const struct belljar_result *result)
{
    return text_of(result->object, "status");
}

unsigned belljar_result_cell(const struct belljar_result *result)
{
    return (unsigned)small_of(result->object, "cell");
}

const char *belljar_result_value(const struct belljar_result *result, const char *mime_type)
{
    return text_of(json_object_get(result->object, "result"), mime_type);
}

const char *belljar_result_json(struct belljar_result *result)
{
    if (!result->text)
        result->text = json_dumps(result->object, JSON_COMPACT);
    return result->text;
}
