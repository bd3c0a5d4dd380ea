#include "api/runs/debug_report.h"

#include <string.h>

#include "run/json.h"
#include "spec/verdict.h"

const char *const debug_error_types[] = { "unknown",          "timeout",       "execution_failure",
                                          "python_exception", "sandbox_error", NULL };

static const char *text_of(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

/* Which of the five it is: time first, then what is ours, then what the program raised. */
static const char *error_type(const json_t *result, const json_t *diagnosis)
{
    const char *verdict = text_of(result, "verdict"), *type = text_of(diagnosis, "type");
    if (is(verdict, verdict_word(VERDICT_TIMEOUT)) ||
        is(verdict, verdict_word(VERDICT_CPU_TIMEOUT)))
        return "timeout";
    if (is(verdict, verdict_word(VERDICT_INTERNAL_ERROR)) ||
        is(verdict, verdict_word(VERDICT_REJECTED)) ||
        json_is_true(json_object_get(diagnosis, "sandbox")))
        return "sandbox_error";
    bool raised = type && strncmp(type, "exit ", 5) != 0 && strncmp(type, "SIG", 3) != 0;
    if (is(text_of(result, "language"), "python") &&
        is(verdict, verdict_word(VERDICT_RUNTIME_ERROR)) && raised)
        return "python_exception";
    return verdict ? "execution_failure" : "unknown";
}

static json_t *analysis(const json_t *result, const json_t *diagnosis, bool failed)
{
    json_t *o = json_object();
    const char *type = failed ? error_type(result, diagnosis) : "unknown";
    const char *message = text_of(diagnosis, "message"), *exception = text_of(diagnosis, "type");
    const json_t *best = json_array_get(json_object_get(diagnosis, "suggestions"), 0);
    json_put(o, "is_error", json_boolean(failed));
    json_put(o, "error_type", json_string(type));
    if (!failed)
        return o;
    if (text_of(best, "text"))
        json_put(o, "suggestion", json_string(text_of(best, "text")));
    if (is(type, "python_exception") && exception)
        json_put(o, "exception", json_string(exception));
    if (message || text_of(result, "error"))
        json_put(o, "error",
                 json_string(text_of(result, "error") ? text_of(result, "error") : message));
    return o;
}

/* Names of what was fetched. */
static json_t *output_files(const json_t *files)
{
    json_t *names = json_array();
    size_t i;
    const json_t *file;
    json_array_foreach(files, i, file) {
        if (is(text_of(file, "status"), "ok"))
            (void)json_array_append(names, json_object_get(file, "name"));
    }
    return names;
}

static json_t *report(const json_t *result, const json_t *diagnosis, bool failed)
{
    json_t *o = json_object();
    const json_t *usage = json_object_get(result, "usage"),
                 *started = json_object_get(result, "started_at");
    const char *message = text_of(result, "error") ? text_of(result, "error")
                                                   : text_of(diagnosis, "message");
    json_put(o, "status", json_string(failed ? "failure" : "success"));
    (void)json_object_set(o, "exit_code", json_object_get(result, "exit_code"));
    json_put(o, "execution_time",
             json_real(json_number_value(json_object_get(usage, "wall_ms")) / 1000));
    (void)json_object_set(o, "timestamp", started ? (json_t *)started : json_null());
    (void)json_object_set(o, "language", json_object_get(result, "language"));
    (void)json_object_set(o, "container_id", json_object_get(result, "id"));
    json_put(o, "output",
             json_pack("{s:O?, s:O?}", "stdout", json_object_get(result, "stdout"), "stderr",
                       json_object_get(result, "stderr")));
    (void)json_object_set(o, "resource_usage", usage ? (json_t *)usage : json_null());
    if (failed) {
        json_put(o, "error_type", json_string(error_type(result, diagnosis)));
        if (message)
            json_put(o, "error_message", json_string(message));
    }
    json_t *names = output_files(json_object_get(result, "files"));
    if (json_array_size(names) > 0)
        json_put(o, "output_files", names);
    else
        json_decref(names);
    return o;
}

json_t *debug_report(const json_t *result)
{
    const json_t *diagnosis = json_object_get(result, "diagnosis");
    bool failed = !is(text_of(result, "verdict"), verdict_word(VERDICT_OK));
    return json_pack("{s:o, s:o}", "analysis", analysis(result, diagnosis, failed), "report",
                     report(result, diagnosis, failed));
}
