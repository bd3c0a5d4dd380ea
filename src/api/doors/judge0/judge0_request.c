#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/doors/judge0/judge0.h"
#include "api/runs/run_spec.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"
#include "runtime/language.h"

enum { ARGUMENTS_MAX = 512 };

enum { CPU_TIME, CPU_EXTRA, WALL_TIME, MEMORY, STACK, PROCESSES, FILE_SIZE, RUNS, LIMITS_N };
const struct judge0_limit judge0_limits[] = {
    [CPU_TIME] = { "cpu_time_limit", 5, 0, 15, true, false },
    [CPU_EXTRA] = { "cpu_extra_time", 1, 0, 5, true, false },
    [WALL_TIME] = { "wall_time_limit", 10, 1, 20, true, false },
    [MEMORY] = { "memory_limit", 128000, 2048, 512000, false, false },
    [STACK] = { "stack_limit", 64000, 0, 128000, false, false },
    [PROCESSES] = { "max_processes_and_or_threads", 60, 0, 120, false, true },
    [FILE_SIZE] = { "max_file_size", 1024, 0, 4096, false, false },
    [RUNS] = { "number_of_runs", 1, 0, 20, false, true },
    [LIMITS_N] = { 0 },
};

/* One submission while its request is made. */
struct builder {
    const struct api *api;
    const struct api_identity *who;
    const json_t *given;
    bool base64;
    json_t *request, *metadata, *errors;
    const struct language *language;
    int64_t language_id;
    double limits[LIMITS_N];
};

json_t *judge0_errors(const char *field, const char *message)
{
    struct err e;
    scoped(buf) text = { 0 };
    if (text_add_utf8(&text, message, strlen(message), &e))
        return NULL;
    return json_pack("{s:[s]}", field, buf_str(&text));
}

[[gnu::format(printf, 3, 4)]] static void refuse(struct builder *b, const char *field,
                                                 const char *fmt, ...)
{
    char message[300];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    json_t *list = json_object_get(b->errors, field);
    if (!list) {
        list = json_array();
        (void)json_object_set_new(b->errors, field, list);
    }
    (void)json_array_append_new(list, json_string(message));
}

const char *judge0_field(const char *field)
{
    static const struct {
        const char *ours, *theirs;
    } rows[] = {
        { "limits.wall_ms", "wall_time_limit" },
        { "limits.cpu_ms", "cpu_time_limit" },
        { "limits.memory", "memory_limit" },
        { "limits.pids", "max_processes_and_or_threads" },
        { "limits.output", "max_file_size" },
        { "limits", "memory_limit" },
        { "compile", "compiler_options" },
        { "args", "command_line_arguments" },
        { "stdin", "stdin" },
        { "network", "enable_network" },
        { "language", "language_id" },
        { "files", "additional_files" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strncmp(field, rows[i].ours, strlen(rows[i].ours)) == 0)
            return rows[i].theirs;
    return "source_code";
}

/* ---- values ---- */

static const json_t *value_of(const struct builder *b, const char *name)
{
    const json_t *v = json_object_get(b->given, name);
    return json_is_null(v) ? NULL : v;
}

/* A number, also as text: Rails takes both. */
static bool number_of(const json_t *v, double *ret)
{
    char *end;
    const char *text = json_string_value(v);
    if (json_is_number(v)) {
        *ret = json_number_value(v);
        return true;
    }
    if (!text || !text[0] || strlen(text) > 30)
        return false;
    *ret = strtod(text, &end);
    return *end == '\0' && isfinite(*ret);
}

static void put_number(json_t *o, const struct judge0_limit *l, double n)
{
    json_put(o, l->name, l->is_seconds ? json_real(n) : json_integer((json_int_t)n));
}

static void take_limit(struct builder *b, size_t i)
{
    const struct judge0_limit *l = &judge0_limits[i];
    const json_t *v = value_of(b, l->name);
    double n = l->def;
    int digits = l->is_seconds ? 1 : 0;
    if (v && !number_of(v, &n))
        refuse(b, l->name, "is not a number");
    else if (!l->is_seconds && n != floor(n))
        refuse(b, l->name, "must be an integer");
    else if (l->above && n <= l->least)
        refuse(b, l->name, "must be greater than %.*f", digits, l->least);
    else if (n < l->least)
        refuse(b, l->name, "must be greater than or equal to %.*f", digits, l->least);
    else if (n > l->most)
        refuse(b, l->name, "must be less than or equal to %.*f", digits, l->most);
    b->limits[i] = n;
    put_number(b->metadata, l, n);
}

static void take_flag(struct builder *b, const char *name, bool otherwise)
{
    const json_t *v = value_of(b, name);
    bool on = v ? json_is_true(v) ||
                      (json_is_string(v) && strcmp(json_string_value(v), "true") == 0)
                : otherwise;
    json_put(b->metadata, name, json_boolean(on));
}

/* Line breaks are part of base64 here: Judge0 sends them, too. */
static int decode(const char *text, size_t n, struct buf *out, struct err *e)
{
    scoped(buf) joined = { 0 };
    if (buf_reserve(&joined, n + 4, e))
        return -1;
    for (size_t i = 0; i < n; i++)
        if (!strchr(" \t\r\n", text[i]) || text[i] == '\0')
            joined.data[joined.len++] = text[i];
    while (joined.len % 4)
        joined.data[joined.len++] = '=';
    return text_base64_decode(joined.data, joined.len, out, e);
}

/* The bytes of a text field; false if it is absent or refused. */
static bool bytes_of(struct builder *b, const char *name, bool base64, struct buf *ret)
{
    const json_t *v = value_of(b, name);
    struct err e = { 0 };
    if (!v)
        return false;
    if (!json_is_string(v)) {
        refuse(b, name, "must be a string");
        return false;
    }
    const char *text = json_string_value(v);
    size_t n = json_string_length(v);
    if (base64 ? decode(text, n, ret, &e) : buf_add(ret, text, n, &e)) {
        refuse(b, name, "is not base64: %s", e.text);
        return false;
    }
    return true;
}

static json_t *base64_json(const struct buf *bytes)
{
    scoped(buf) text = { 0 };
    struct err e;
    if (text_add_base64(&text, buf_str(bytes), bytes->len, &e))
        return NULL;
    return json_stringn(buf_str(&text), text.len);
}

/* Splits as a shell does: blanks, quotes, backslashes. No shell sees the words. */
static json_t *words_of(const char *text)
{
    json_t *list = json_array();
    struct err e;
    const char *at = text;
    for (;;) {
        scoped(buf) word = { 0 };
        char quote = '\0';
        bool is_word = false;
        at += strspn(at, " \t\r\n");
        for (; *at && (quote || !strchr(" \t\r\n", *at)); at++) {
            is_word = true;
            if (quote ? *at == quote : *at == '\'' || *at == '"') {
                quote = quote ? '\0' : *at;
                continue;
            }
            at += *at == '\\' && quote != '\'' && at[1];
            if (buf_add(&word, at, 1, &e))
                return list;
        }
        if (!is_word)
            return list;
        (void)json_array_append_new(list, json_string(buf_str(&word)));
    }
}

/* Text that becomes words. NULL: absent. */
static json_t *take_words(struct builder *b, const char *name)
{
    const char *text = json_string_value(value_of(b, name));
    json_put(b->metadata, name, json_text_or_null(text));
    if (!text)
        return NULL;
    if (strlen(text) > ARGUMENTS_MAX)
        refuse(b, name, "is too long (maximum is %d characters)", ARGUMENTS_MAX);
    return words_of(text);
}

/* ---- the program ---- */

/* The scripts of the archive: `compile`, which may be missing, and `run`. */
static const char multi_file[] = "if [ -f compile ]; then\n"
                                 "    /bin/bash compile >.compile_output 2>&1 || "
                                 "{ echo $? >.compile_failed; exit 1; }\n"
                                 "fi\n"
                                 "exec /bin/bash run \"$@\"\n";

static void add_program(struct builder *b, const char *name, json_t *content, const char *encoding)
{
    json_t *files = json_object_get(b->request, "files");
    (void)json_array_append_new(files, json_pack("{s:s, s:o, s:s}", "name", name, "content",
                                                 content, "encoding", encoding));
    json_put(b->request, "entry", json_string(name));
}

static void take_additional_files(struct builder *b)
{
    scoped(buf) zip = { 0 };
    struct err e = { 0 };
    if (!bytes_of(b, "additional_files", true, &zip))
        return;
    if (judge0_unzip(buf_str(&zip), zip.len, json_object_get(b->request, "files"), &e))
        refuse(b, "additional_files", "%s", e.text);
}

static void take_source(struct builder *b)
{
    scoped(buf) source = { 0 };
    char name[MAIN_NAME_SIZE];
    bool given = bytes_of(b, "source_code", b->base64, &source);
    if (b->language_id == JUDGE0_MULTI_FILE) {
        if (!value_of(b, "additional_files"))
            refuse(b, "additional_files", "can't be blank");
        if (given && source.len > 0)
            refuse(b, "source_code", "should be blank");
        add_program(b, ".multi-file", json_string(multi_file), "utf-8");
        json_put(b->request, "outputs", json_pack("[s, s]", ".compile_output", ".compile_failed"));
        return;
    }
    if (source.len == 0) {
        if (!json_object_get(b->errors, "source_code"))
            refuse(b, "source_code", "can't be blank");
        return;
    }
    if (b->language)
        add_program(b, language_main_name(b->language, buf_str(&source), source.len, name),
                    base64_json(&source), "base64");
}

static void take_language(struct builder *b)
{
    const json_t *v = value_of(b, "language_id");
    double id = 0;
    if (!v) {
        refuse(b, "language_id", "can't be blank");
        return;
    }
    if (!number_of(v, &id) || id != floor(id) || fabs(id) > 1e9) {
        refuse(b, "language_id", "is not a number");
        return;
    }
    b->language_id = (int64_t)id;
    b->language = judge0_language(b->language_id);
    if (!b->language)
        refuse(b, "language_id", "language with id %lld doesn't exist", (long long)b->language_id);
    else if (b->api->engine && !engine_may_run(b->api->engine, b->language))
        refuse(b, "language_id", "language with id %lld is archived and cannot be used anymore",
               (long long)b->language_id);
    json_put(b->metadata, "language_id", json_integer(b->language_id));
    if (b->language)
        json_put(b->request, "language", json_string(b->language->name));
}

/* ---- the rest ---- */

static uint64_t within(enum limit_id id, double n)
{
    const struct limit_def *d = &limit_defs[id];
    return n < (double)d->min ? d->min : (uint64_t)n;
}

static void put_limits(struct builder *b)
{
    const struct {
        enum limit_id id;
        double n;
    } all[] = {
        { LIMIT_WALL_MS, ceil(b->limits[WALL_TIME] * 1000) },
        { LIMIT_CPU_MS, ceil(b->limits[CPU_TIME] * 1000) },
        { LIMIT_MEMORY, b->limits[MEMORY] * 1024 },
        { LIMIT_PIDS, b->limits[PROCESSES] },
        { LIMIT_OUTPUT, b->limits[FILE_SIZE] * 1024 },
    };
    json_t *limits = json_object();
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        json_put(limits, limit_defs[all[i].id].key,
                 json_integer((json_int_t)within(all[i].id, all[i].n)));
    json_put(b->request, "limits", limits);
}

static void take_stdin(struct builder *b)
{
    scoped(buf) input = { 0 };
    scoped(buf) expected = { 0 };
    if (bytes_of(b, "stdin", b->base64, &input)) {
        json_put(b->request, "stdin", base64_json(&input));
        json_put(b->request, "stdin_encoding", json_string("base64"));
    }
    if (bytes_of(b, "expected_output", b->base64, &expected))
        json_put(b->metadata, "expected_output", base64_json(&expected));
}

static void take_options(struct builder *b)
{
    json_auto_t *compiler = take_words(b, "compiler_options");
    json_auto_t *args = take_words(b, "command_line_arguments");
    if (args)
        (void)json_object_set(b->request, "args", args);
    if (compiler && json_array_size(compiler) > 0 && b->language && b->language->compile)
        (void)json_object_set(b->request, "compiler_args", compiler);
    take_flag(b, "redirect_stderr_to_stdout", false);
    take_flag(b, "enable_per_process_and_thread_time_limit", false);
    take_flag(b, "enable_per_process_and_thread_memory_limit", false);
    take_flag(b, "enable_network", false);
    if (json_is_true(json_object_get(b->metadata, "enable_network")))
        json_put(b->request, "network", json_string("full"));
}

/* Checked now, so that the client learns at once that the callback cannot be sent. */
static void take_callback(struct builder *b)
{
    const json_t *v = value_of(b, "callback_url");
    struct err e = { 0 };
    struct run_spec spec = { 0 };
    char field[128];
    if (!v)
        return;
    const char *url = json_string_value(v);
    json_t *request = judge0_callback_request(url ? url : "", NULL, &e);
    if (request)
        (void)(run_spec_from_json(b->api, b->who, request, "judge0", &spec, field, sizeof field, &e)
                   ? 0
                   : (run_spec_done(&spec), 0));
    json_decref(request);
    if (e.code != ERR_NONE)
        refuse(b, "callback_url", "%s", e.text);
    json_put(b->metadata, "callback_url", json_text_or_null(url));
}

json_t *judge0_request(const struct api *api, const struct api_identity *who,
                       const json_t *submission, bool base64, json_t **ret_errors)
{
    struct builder b = { .api = api,
                         .who = who,
                         .given = submission,
                         .base64 = base64,
                         .request = json_pack("{s:[]}", "files"),
                         .metadata = json_object(),
                         .errors = json_object() };
    take_language(&b);
    take_source(&b);
    take_additional_files(&b);
    for (size_t i = 0; i < LIMITS_N; i++)
        take_limit(&b, i);
    take_stdin(&b);
    take_options(&b);
    take_callback(&b);
    put_limits(&b);
    json_put(b.request, "metadata", json_pack("{s:o}", "judge0", b.metadata));
    if (json_object_size(b.errors) > 0) {
        *ret_errors = b.errors;
        json_decref(b.request);
        return NULL;
    }
    json_decref(b.errors);
    return b.request;
}
