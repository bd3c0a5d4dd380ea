#include "api/runs/debug_report.h"

#include <string.h>

#include "api/runs/result_fields.h"
#include "run/json.h"
#include "spec/verdict.h"

static const char *const error_types[] = { "unknown",          "timeout",       "execution_failure",
                                           "python_exception", "sandbox_error", NULL };
static const struct api_field analysis_reply[] = {
    { "is_error", FIELD_BOOL, ALWAYS, .help = "false if the run ended well" },
    { "error_type", FIELD_STRING, ALWAYS, .one_of = error_types,
      .help = "unknown if the run ended well" },
    { "suggestion", FIELD_STRING, .help = "the best suggestion" },
    { "exception", FIELD_STRING, .help = "of python_exception: the type of the exception" },
    { "error", FIELD_STRING, .help = "the message of the error" },
    { 0 },
};
static const char *const report_status_words[] = { "success", "failure", NULL };
static const struct api_field report_output_reply[] = {
    { "stdout", FIELD_DATA, OR_NULL, .help = "up to 1 MiB" },
    { "stderr", FIELD_DATA, OR_NULL, .help = "up to 1 MiB" },
    { 0 },
};
static const struct api_field report_reply[] = {
    { "status", FIELD_STRING, ALWAYS, .one_of = report_status_words, .help = "how the run ended" },
    { "exit_code", FIELD_INT, .nullable = true, .help = "as in the result" },
    { "execution_time", FIELD_NUMBER, ALWAYS, .help = "in seconds" },
    { "timestamp", FIELD_STRING, OR_NULL, .help = "time at which the program started" },
    { "language", FIELD_STRING, ALWAYS, .help = "language of the run" },
    { "container_id", FIELD_STRING, ALWAYS, .help = "id of the run" },
    { "output", FIELD_OBJECT, ALWAYS, .fields = report_output_reply,
      .help = "the output of the program" },
    { "resource_usage", FIELD_OBJECT, OR_NULL, .fields = usage_reply,
      .help = "resources that the run used" },
    { "error_type", FIELD_STRING, .one_of = error_types, .help = "as in the analysis" },
    { "error_message", FIELD_STRING, .help = "the message of the error" },
    { "output_files", FIELD_STRINGS, .help = "names of the outputs that were fetched" },
    { 0 },
};
const struct api_field debug_report_reply[] = {
    { "analysis", FIELD_OBJECT, ALWAYS, .fields = analysis_reply, .help = "the failure" },
    { "report", FIELD_OBJECT, ALWAYS, .fields = report_reply, .help = "the run" },
    { .schema = "DebugReport" },
};

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

/* One of the five, by priority: a timeout, the sandbox, an exception of the program. */
static const char *error_type(const json_t *result, const json_t *diagnosis)
{
    const char *verdict = json_find_text(result, "verdict"),
               *type = json_find_text(diagnosis, "type");
    if (is(verdict, verdict_word(VERDICT_TIMEOUT)) ||
        is(verdict, verdict_word(VERDICT_CPU_TIMEOUT)))
        return "timeout";
    if (is(verdict, verdict_word(VERDICT_INTERNAL_ERROR)) ||
        is(verdict, verdict_word(VERDICT_REJECTED)) ||
        json_is_true(json_object_get(diagnosis, "sandbox")))
        return "sandbox_error";
    bool raised = type && strncmp(type, "exit ", 5) != 0 && strncmp(type, "SIG", 3) != 0;
    if (is(json_find_text(result, "language"), "python") &&
        is(verdict, verdict_word(VERDICT_RUNTIME_ERROR)) && raised)
        return "python_exception";
    return verdict ? "execution_failure" : "unknown";
}

static json_t *analysis(const json_t *result, const json_t *diagnosis, bool failed)
{
    json_t *o = json_object();
    const char *type = failed ? error_type(result, diagnosis) : "unknown";
    const char *message = json_find_text(diagnosis, "message"),
               *exception = json_find_text(diagnosis, "type");
    const json_t *best = json_array_get(json_object_get(diagnosis, "suggestions"), 0);
    json_put(o, "is_error", json_boolean(failed));
    json_put(o, "error_type", json_string(type));
    if (!failed)
        return o;
    if (json_find_text(best, "text"))
        json_put(o, "suggestion", json_string(json_find_text(best, "text")));
    if (is(type, "python_exception") && exception)
        json_put(o, "exception", json_string(exception));
    if (message || json_find_text(result, "error"))
        json_put(o, "error",
                 json_string(json_find_text(result, "error") ? json_find_text(result, "error")
                                                             : message));
    return o;
}

static json_t *output_files(const json_t *files)
{
    json_t *names = json_array();
    size_t i;
    const json_t *file;
    json_array_foreach(files, i, file) {
        if (is(json_find_text(file, "status"), "ok"))
            (void)json_array_append(names, json_object_get(file, "name"));
    }
    return names;
}

static json_t *report(const json_t *result, const json_t *diagnosis, bool failed)
{
    json_t *o = json_object();
    const json_t *usage = json_object_get(result, "usage"),
                 *started = json_object_get(result, "started_at");
    const char *message = json_find_text(result, "error") ? json_find_text(result, "error")
                                                          : json_find_text(diagnosis, "message");
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
    bool failed = !is(json_find_text(result, "verdict"), verdict_word(VERDICT_OK));
    return json_pack("{s:o, s:o}", "analysis", analysis(result, diagnosis, failed), "report",
                     report(result, diagnosis, failed));
}
