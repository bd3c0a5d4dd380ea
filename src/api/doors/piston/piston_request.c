#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/doors/piston/piston.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"
#include "runtime/language.h"
#include "spec/bundle.h"

/* ---- limits ---- */

enum constrained { STAGE_OF_COMPILER, STAGE_OF_PROGRAM };
static const char *const stage_words[] = { "compile", "run" };

static const struct {
    const char *name; /* after "run_" or "compile_" */
    enum limit_id limit;
} constraints[] = {
    { "memory_limit", LIMIT_MEMORY },
    { "timeout", LIMIT_WALL_MS },
    { "cpu_time", LIMIT_CPU_MS },
};

/* A number of the request for a limit of ours. -1 as a memory limit means none, which is the maximum
 * here. A number below our minimum is the minimum. Fractions of a millisecond are rounded up. */
static int take_constraint(const struct settings *s, const json_t *body, enum constrained stage,
                           size_t i, json_t *limits, struct err *e)
{
    enum limit_id id = constraints[i].limit;
    uint64_t max = s->limit_max.v[id], min = limit_defs[id].min;
    char name[40];
    (void)snprintf(name, sizeof name, "%s_%s", stage_words[stage], constraints[i].name);
    const json_t *value = json_object_get(body, name);
    if (!value || json_is_null(value))
        return 0;
    if (!json_is_number(value))
        return err_set(e, ERR_BAD_REQUEST, 0, "If specified, %s must be a number", name);
    double n = ceil(json_number_value(value));
    if (n == 0)
        return 0;
    if (n == -1 && id == LIMIT_MEMORY)
        n = (double)max;
    if (n < 0)
        return err_set(e, ERR_BAD_REQUEST, 0, "%s must be non-negative", name);
    if (n > (double)max)
        return err_set(e, ERR_BAD_REQUEST, 0, "%s cannot exceed the configured limit of %llu", name,
                       (unsigned long long)max);
    json_put(limits, limit_defs[id].key,
             json_integer((json_int_t)(n < (double)min ? (double)min : n)));
    return 0;
}

static int add_limits(const struct api *api, const json_t *body, const struct language *l,
                      json_t *request, struct err *e)
{
    static const char *const keys[] = { "compile_limits", "limits" };
    for (int stage = STAGE_OF_COMPILER; stage <= STAGE_OF_PROGRAM; stage++) {
        json_auto_t *limits = json_object();
        for (size_t i = 0; i < ARRAY_LEN(constraints); i++)
            if (take_constraint(api->settings, body, (enum constrained)stage, i, limits, e))
                return -1;
        if (json_object_size(limits) > 0 && (stage == STAGE_OF_PROGRAM || l->compile))
            (void)json_object_set(request, keys[stage], limits);
    }
    return 0;
}

/* ---- files ---- */

/* As in Piston, any other word means utf8. */
static const char *encoding_of(const json_t *file)
{
    const char *word = json_find_text(file, "encoding");
    return word && (strcmp(word, "base64") == 0 || strcmp(word, "hex") == 0) ? word : "utf8";
}

static bool is_code(const json_t *file)
{
    return strcmp(encoding_of(file), "utf8") == 0;
}

/* Compilers know a source by its extension, and clients may send none. A public type of Java must
 * be in a file of its name. */
static void name_of_file(const struct language *l, const json_t *file, size_t i, size_t n_code,
                         char *out, size_t size)
{
    const json_t *content = json_object_get(file, "content");
    const char *name = json_find_text(file, "name");
    char main_name[MAIN_NAME_SIZE];
    bool picky = l->compile || strcmp(l->name, "typescript") == 0;
    if (name && name[0])
        (void)snprintf(out, size, "%s", name);
    else
        (void)snprintf(out, size, "file%zu.code", i);
    if (!is_code(file) || !picky)
        return;
    if (l->public_types && n_code == 1)
        (void)snprintf(out, size, "%s",
                       language_main_name(l, json_string_value(content),
                                          json_string_length(content), main_name));
    else if (!language_has(l, out, strlen(out)))
        (void)snprintf(out + strlen(out), size - strlen(out), "%s", l->extensions[0]);
}

static int decode_hex(const json_t *content, struct buf *b, struct err *e)
{
    static const char digits[] = "0123456789abcdef";
    const char *text = json_string_value(content);
    size_t n = json_string_length(content);
    for (size_t i = 0; i + 1 < n; i += 2) {
        const char *high = strchr(digits, text[i] | 0x20),
                   *low = strchr(digits, text[i + 1] | 0x20);
        if (!high || !low || !text[i] || !text[i + 1])
            return err_set(e, ERR_BAD_REQUEST, 0, "is not hex: pairs of 0-9 and a-f are accepted");
        char byte = (char)((high - digits) << 4 | (low - digits));
        if (buf_add(b, &byte, 1, e))
            return -1;
    }
    if (n % 2)
        return err_set(e, ERR_BAD_REQUEST, 0, "is not hex: it has an odd number of digits");
    return 0;
}

static json_t *content_of(const json_t *file, bool is_main, struct err *e)
{
    json_t *content = json_object_get(file, "content");
    scoped(buf) bytes = { 0 };
    scoped(buf) text = { 0 };
    if (is_main && json_string_length(content) == 0)
        return json_string("\n"); /* an empty program is a program, too */
    if (strcmp(encoding_of(file), "hex") != 0)
        return json_incref(content);
    if (decode_hex(content, &bytes, e) || text_add_base64(&text, buf_str(&bytes), bytes.len, e))
        return NULL;
    return json_stringn(buf_str(&text), text.len);
}

static int add_file(const struct language *l, const json_t *file, size_t i, size_t n_code,
                    json_t *request, json_t *files, struct err *e)
{
    char name[BUNDLE_NAME_MAX + 24];
    bool is_main = is_code(file) && !json_object_get(request, "entry");
    if (json_find_text(file, "name") && strlen(json_find_text(file, "name")) >= sizeof name - 16)
        return err_set(e, ERR_BAD_REQUEST, 0, "files[%zu].name is longer than %zu bytes", i,
                       sizeof name - 17);
    name_of_file(l, file, i, n_code, name, sizeof name);
    *e = (struct err){ 0 };
    json_t *content = content_of(file, is_main, e);
    if (!content)
        return e->code ? err_wrap(e, "files[%zu].content", i) : err_no_memory(e, "the files");
    json_t *o = json_pack("{s:s, s:o}", "name", name, "content", content);
    if (!o)
        return err_set(e, ERR_BAD_REQUEST, 0, "files[%zu].name is not a name of a file", i);
    if (!is_code(file))
        json_put(o, "encoding", json_string("base64"));
    (void)json_array_append_new(files, o);
    if (is_main)
        json_put(request, "entry", json_string(name));
    return 0;
}

static int add_files(const struct language *l, const json_t *list, json_t *request, struct err *e)
{
    const json_t *file;
    size_t i, n_code = 0;
    json_t *files = json_array();
    json_array_foreach(list, i, file)
        n_code += is_code(file);
    (void)json_object_set_new(request, "files", files);
    if (n_code == 0)
        return err_set(e, ERR_BAD_REQUEST, 0, "files must include at least one utf8 encoded file");
    json_array_foreach(list, i, file)
        if (add_file(l, file, i, n_code, request, files, e))
            return -1;
    return 0;
}

/* ---- the rest ---- */

static int check_types(const json_t *body, struct err *e)
{
    const json_t *files = json_object_get(body, "files"), *args = json_object_get(body, "args");
    const json_t *input = json_object_get(body, "stdin"), *value;
    size_t i;
    if (!json_find_text(body, "language") || !json_find_text(body, "language")[0])
        return err_set(e, ERR_BAD_REQUEST, 0, "language is required as a string");
    if (!json_find_text(body, "version") || !json_find_text(body, "version")[0])
        return err_set(e, ERR_BAD_REQUEST, 0, "version is required as a string");
    if (!json_is_array(files))
        return err_set(e, ERR_BAD_REQUEST, 0, "files is required as an array");
    json_array_foreach(files, i, value)
        if (!json_is_string(json_object_get(value, "content")))
            return err_set(e, ERR_BAD_REQUEST, 0, "files[%zu].content is required as a string", i);
    if (args && !json_is_null(args) && !json_is_array(args))
        return err_set(e, ERR_BAD_REQUEST, 0, "args must be an array of strings");
    json_array_foreach(args, i, value)
        if (!json_is_string(value))
            return err_set(e, ERR_BAD_REQUEST, 0, "args[%zu] must be a string", i);
    if (input && !json_is_null(input) && !json_is_string(input))
        return err_set(e, ERR_BAD_REQUEST, 0, "stdin must be a string");
    return 0;
}

/* With a newline at its end, as in Piston. */
static int add_stdin(const json_t *body, json_t *request, struct err *e)
{
    const json_t *given = json_object_get(body, "stdin");
    const char *text = json_is_string(given) ? json_string_value(given) : "";
    size_t n = json_string_length(given);
    scoped(buf) b = { 0 };
    if (buf_add(&b, text, n, e) ||
        ((n == 0 || buf_str(&b)[n - 1] != '\n') && buf_add(&b, "\n", 1, e)))
        return -1;
    json_put(request, "stdin", json_stringn_nocheck(buf_str(&b), b.len));
    return 0;
}

int piston_request(const struct api *api, const json_t *body, bool stdin_open,
                   struct piston_runtime *ret_runtime, json_t **ret, struct err *e)
{
    if (check_types(body, e))
        return -1;
    const char *name = json_find_text(body, "language"), *range = json_find_text(body, "version");
    if (!piston_find(api->engine, name, range, ret_runtime) || !ret_runtime->is_installed)
        return err_set(e, ERR_BAD_REQUEST, 0, "%s-%s runtime is unknown", QUOTED(name),
                       QUOTED(range));
    const struct language *l = ret_runtime->language;
    json_auto_t *request = json_pack("{s:s}", "language", l->name);
    json_t *args = json_object_get(body, "args");
    if (!request)
        return err_no_memory(e, "the request");
    if (json_is_array(args))
        (void)json_object_set(request, "args", args);
    if (stdin_open)
        json_put(request, "stdin_open", json_true());
    if (add_files(l, json_object_get(body, "files"), request, e) ||
        add_limits(api, body, l, request, e) || (!stdin_open && add_stdin(body, request, e)))
        return -1;
    *ret = json_incref(request);
    return 0;
}
