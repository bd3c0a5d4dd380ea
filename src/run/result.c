#include "run/result.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/moment.h"
#include "base/text.h"
#include "run/check_json.h"
#include "run/json.h"
#include "run/tests_json.h"
#include "spec/bundle.h"

json_t *result_limit_set(limit_set set)
{
    json_t *list = json_array();
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (set & LIMIT_BIT(i))
            (void)json_array_append_new(list, json_string(limit_defs[i].key));
    return list;
}

json_t *result_layer_set(layer_set set)
{
    json_t *list = json_array();
    for (int i = 0; i < LAYER_COUNT_; i++)
        if (set & LAYER_BIT(i))
            (void)json_array_append_new(list, json_string(layer_name((enum layer)i)));
    return list;
}

json_t *result_isolation(const struct isolation *iso)
{
    json_t *o = json_object();
    json_put(o, "level", json_string(level_name(iso->level)));
    json_put(o, "layers", result_layer_set(iso->layers));
    json_put(o, "unenforced", result_limit_set(iso->unenforced));
    return o;
}

void result_add_stream(json_t *object, const char *key, const struct buf *bytes)
{
    struct err e;
    if (text_is_utf8(buf_str(bytes), bytes->len)) {
        json_put(object, key, json_stringn_nocheck(buf_str(bytes), bytes->len));
        return;
    }
    scoped(buf) readable = { 0 }, exact = { 0 };
    char base64_key[40];
    (void)snprintf(base64_key, sizeof base64_key, "%s_base64", key);
    if (text_add_utf8(&readable, bytes->data, bytes->len, &e) ||
        text_add_base64(&exact, bytes->data, bytes->len, &e))
        return;
    json_put(object, key, json_stringn_nocheck(readable.data, readable.len));
    json_put(object, base64_key, json_stringn_nocheck(exact.data, exact.len));
}

void result_add_journal(json_t *object, const struct journal *j, uint64_t max)
{
    static const struct {
        enum journal_kind kind;
        const char *key, *cut_key;
    } streams[] = {
        { JOURNAL_STDOUT, "stdout", "stdout_cut" },
        { JOURNAL_STDERR, "stderr", "stderr_cut" },
    };
    for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
        scoped(buf) bytes = { 0 };
        struct err e;
        if (journal_collect(j, streams[i].kind, max, &bytes, &e))
            bytes.len = 0;
        /* Half a character at the end would make the whole text invalid. */
        bool cut = j->stream_bytes[streams[i].kind] > bytes.len;
        if (cut)
            bytes.len = text_whole(bytes.data, bytes.len);
        result_add_stream(object, streams[i].key, &bytes);
        if (cut)
            json_put(object, streams[i].cut_key, json_true());
    }
}

json_t *result_time(uint64_t unix_ms)
{
    char text[MOMENT_SIZE];
    return unix_ms ? json_string(moment_format((int64_t)unix_ms, text)) : json_null();
}

json_t *result_limits(const struct limits *limits)
{
    json_t *o = json_object();
    for (int i = 0; i < LIMIT_COUNT; i++)
        json_put(o, limit_defs[i].key, json_integer((json_int_t)limits->v[i]));
    return o;
}

json_t *result_usage(const struct usage *u)
{
    json_t *o = json_object();
    json_put(o, "wall_ms", json_real((double)u->wall_us / 1000));
    json_put(o, "cpu_ms", json_real((double)u->cpu_us / 1000));
    json_put(o, "memory_peak_bytes", json_integer((json_int_t)u->memory_peak_bytes));
    json_put(o, "pids_peak", json_integer((json_int_t)u->pids_peak));
    return o;
}

json_t *result_files(const struct buf *bundle)
{
    json_t *list = json_array();
    struct bundle_entry entry;
    struct err e;
    bool more = true;
    for (size_t pos = 0; bundle_next_output(bundle, &pos, &entry, &more, &e) == 0 && more;) {
        enum output_status status = (enum output_status)entry.head.status;
        json_t *o = json_object();
        scoped(buf) name = { 0 };
        if (text_add_utf8(&name, entry.name, entry.head.name_len, &e) == 0)
            json_put(o, "name", json_stringn_nocheck(buf_str(&name), name.len));
        json_put(o, "status", json_string(output_status_word(status)));
        json_put(o, "size",
                 status == OUTPUT_OK ? json_integer((json_int_t)entry.head.size) : json_null());
        (void)json_array_append_new(list, o);
    }
    return list;
}

json_t *result_signal(int number)
{
    char text[32];
    const char *name = number ? sigabbrev_np(number) : NULL;
    if (!number)
        return json_null();
    if (name)
        (void)snprintf(text, sizeof text, "SIG%s", name);
    else
        (void)snprintf(text, sizeof text, "SIG%d", number);
    return json_string(text);
}

/* The caller keeps its reference. */
static void put_shared(json_t *o, const char *key, json_t *value)
{
    json_put(o, key, value ? json_incref(value) : json_null());
}

static void put_service(json_t *o, const struct result *r, const struct result_service *s)
{
    json_put(o, "state", json_string("finished"));
    json_put(o, "stdout_bytes", json_integer((json_int_t)s->stdout_bytes));
    json_put(o, "stderr_bytes", json_integer((json_int_t)s->stderr_bytes));
    json_put(o, "timings",
             json_pack("{s:o, s:o, s:o, s:I}", "queued_at", result_time(s->queued_at_ms),
                       "started_at", result_time(r->started_at_ms), "finished_at",
                       result_time(s->finished_at_ms), "queued_ms", (json_int_t)s->waited_ms));
    json_put(o, "thread_id", json_text_or_null(s->thread));
    json_put(o, "artifact_id", json_text_or_null(s->artifact));
    json_put(o, "batch_id", json_text_or_null(s->batch));
    put_shared(o, "metadata", s->metadata);
    if (s->extraction)
        put_shared(o, "taken", s->extraction);
}

/* The network has caps of its own (network.limits_hit), and one word here. */
static json_t *limits_hit(const struct result *r)
{
    json_t *list = result_limit_set(r->evidence.hits);
    if (r->network_limit)
        (void)json_array_append_new(list, json_string("network_limit"));
    return list;
}

json_t *result_json(const struct result *r)
{
    json_t *o = json_object();
    if (!o)
        return NULL;
    json_put(o, "id", json_string(r->id));
    json_put(o, "language", json_string(r->language));
    json_put(o, "version", json_text_or_null(r->version));
    json_put(o, "verdict", json_string(verdict_word(r->verdict)));
    json_put(o, "success", json_boolean(r->verdict == VERDICT_OK));
    json_put(o, "exit_code", json_integer(verdict_exit_code(r->verdict, &r->evidence)));
    json_put(o, "signal", result_signal(r->evidence.signal));
    json_put(o, "stdout_truncated", json_boolean(r->truncated[0]));
    json_put(o, "stderr_truncated", json_boolean(r->truncated[1]));
    json_put(o, "usage", result_usage(&r->usage));
    json_put(o, "limits", result_limits(&r->limits));
    json_put(o, "limits_hit", limits_hit(r));
    json_put(o, "isolation", result_isolation(&r->isolation));
    json_put(o, "files", result_files(r->files));
    json_put(o, "start", json_text_or_null(r->start));
    json_put(o, "started_at", result_time(r->started_at_ms));
    put_shared(o, "compile", r->compile);
    if (r->stages)
        put_shared(o, "stages", r->stages);
    put_shared(o, "diagnosis", r->diagnosis);
    put_shared(o, "tables", r->tables);
    put_shared(o, "profile", r->profile);
    put_shared(o, "displays", r->displays);
    put_shared(o, "network", r->network);
    if (r->test_runner != TEST_RUNNER_NONE) {
        json_put(o, "outcome",
                 json_string(tests_outcome(r->verdict, verdict_exit_code(r->verdict, &r->evidence),
                                           r->test_runner, r->tests)));
        put_shared(o, "tests", r->tests);
    }
    if (r->checks && r->test_runner == TEST_RUNNER_NONE) {
        json_put(o, "outcome", json_string(check_outcome(r->verdict, r->check)));
        put_shared(o, "checks", r->check);
    }
    if (r->error)
        json_put(o, "error", json_string(r->error));
    if (r->service)
        put_service(o, r, r->service);
    if (r->error_code != ERR_NONE)
        json_put(o, "error_code", json_string(err_name(r->error_code)));
    return o;
}

json_t *result_row_json(const struct result_row *r)
{
    json_t *o = json_pack("{s:s, s:s, s:s?, s:s?, s:s?, s:s?, s:s?, s:s?, s:s?}", "id", r->id,
                          "state", r->state, "language", r->language, "verdict", r->verdict,
                          "thread_id", r->thread, "artifact_id", r->artifact, "batch_id", r->batch,
                          "surface", r->surface, "key", r->key);
    json_put(o, "created_at", result_time((uint64_t)r->created_ms));
    json_put(o, "started_at", result_time((uint64_t)r->started_ms));
    json_put(o, "finished_at", result_time((uint64_t)r->finished_ms));
    json_put(o, "usage",
             r->has_usage ? json_pack("{s:f, s:f, s:I}", "wall_ms", (double)r->wall_us / 1000,
                                      "cpu_ms", (double)r->cpu_us / 1000, "memory_peak_bytes",
                                      (json_int_t)r->memory_peak)
                          : json_null());
    return o;
}
