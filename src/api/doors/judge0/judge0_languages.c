#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/doors/judge0/judge0.h"
#include "api/kernel/reply.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"
#include "run/json.h"
#include "runtime/language.h"

/* Ids of Judge0. Old ids of a language stand for the version that is installed. */
static const struct {
    int id;
    bool is_old; /* not in the list of GET /languages */
    const char *ours;
    const char *name, *inner; /* "C (GCC 12.2.0)": its name, and the words before the version */
} rows[] = {
    { 46, false, "bash", "Bash", "" },
    { 50, false, "c", "C", "GCC " },
    { 54, false, "cpp", "C++", "GCC " },
    { 60, false, "go", "Go", "" },
    { 62, false, "java", "Java", "OpenJDK " },
    { 63, false, "javascript", "JavaScript", "Node.js " },
    { 64, false, "lua", "Lua", "" },
    { 68, false, "php", "PHP", "" },
    { 71, false, "python", "Python", "" },
    { 72, false, "ruby", "Ruby", "" },
    { 73, false, "rust", "Rust", "" },
    { 74, false, "typescript", "TypeScript", "" },
    { 80, false, "r", "R", "" },
    { 82, false, "sqlite", "SQL", "SQLite " },
    { 85, false, "perl", "Perl", "" },
    { JUDGE0_MULTI_FILE, false, "bash", "Multi-file program", NULL },
    { 48, true, "c", "C", "GCC " },
    { 49, true, "c", "C", "GCC " },
    { 75, true, "c", "C", "GCC " },
    { 103, true, "c", "C", "GCC " },
    { 52, true, "cpp", "C++", "GCC " },
    { 53, true, "cpp", "C++", "GCC " },
    { 76, true, "cpp", "C++", "GCC " },
    { 105, true, "cpp", "C++", "GCC " },
    { 95, true, "go", "Go", "" },
    { 106, true, "go", "Go", "" },
    { 107, true, "go", "Go", "" },
    { 91, true, "java", "Java", "OpenJDK " },
    { 93, true, "javascript", "JavaScript", "Node.js " },
    { 97, true, "javascript", "JavaScript", "Node.js " },
    { 102, true, "javascript", "JavaScript", "Node.js " },
    { 98, true, "php", "PHP", "" },
    { 92, true, "python", "Python", "" },
    { 100, true, "python", "Python", "" },
    { 109, true, "python", "Python", "" },
    { 108, true, "rust", "Rust", "" },
    { 94, true, "typescript", "TypeScript", "" },
    { 101, true, "typescript", "TypeScript", "" },
    { 99, true, "r", "R", "" },
};

static const char *const statuses[JUDGE0_STATUS_COUNT_] = {
    [JUDGE0_QUEUED] = "In Queue",
    [JUDGE0_PROCESSING] = "Processing",
    [JUDGE0_ACCEPTED] = "Accepted",
    [JUDGE0_WRONG_ANSWER] = "Wrong Answer",
    [JUDGE0_TIME_LIMIT] = "Time Limit Exceeded",
    [JUDGE0_COMPILATION] = "Compilation Error",
    [JUDGE0_SIGSEGV] = "Runtime Error (SIGSEGV)",
    [JUDGE0_SIGXFSZ] = "Runtime Error (SIGXFSZ)",
    [JUDGE0_SIGFPE] = "Runtime Error (SIGFPE)",
    [JUDGE0_SIGABRT] = "Runtime Error (SIGABRT)",
    [JUDGE0_NZEC] = "Runtime Error (NZEC)",
    [JUDGE0_OTHER] = "Runtime Error (Other)",
    [JUDGE0_INTERNAL] = "Internal Error",
    [JUDGE0_EXEC_FORMAT] = "Exec Format Error",
};

json_t *judge0_status_json(enum judge0_status s)
{
    return json_pack("{s:i, s:s}", "id", (int)s, "description", statuses[s]);
}

static size_t row_of(int64_t id)
{
    size_t i = 0;
    while (i < ARRAY_LEN(rows) && rows[i].id != id)
        i++;
    return i;
}

const struct language *judge0_language(int64_t id)
{
    size_t i = row_of(id);
    return i < ARRAY_LEN(rows) ? language_find(rows[i].ours) : NULL;
}

const char *judge0_language_name(const struct engine *engine, int64_t id,
                                 char out[JUDGE0_NAME_SIZE])
{
    size_t i = row_of(id);
    const struct language *l = judge0_language(id);
    const char *version = l && engine ? engine_version(engine, l) : NULL;
    if (i == ARRAY_LEN(rows) || !rows[i].inner)
        (void)snprintf(out, JUDGE0_NAME_SIZE, "%s", i < ARRAY_LEN(rows) ? rows[i].name : "?");
    else
        (void)snprintf(out, JUDGE0_NAME_SIZE, "%s (%s%s)", rows[i].name, rows[i].inner,
                       version ? version : "not installed");
    return out;
}

/* ---- routes ---- */

static json_t *language_json(const struct api *api, size_t i, bool with_archived)
{
    char name[JUDGE0_NAME_SIZE];
    const struct language *l = judge0_language(rows[i].id);
    json_t *o = json_pack("{s:i, s:s}", "id", rows[i].id, "name",
                          judge0_language_name(api->engine, rows[i].id, name));
    if (with_archived)
        json_put(o, "is_archived", json_boolean(!l || !engine_may_run(api->engine, l)));
    return o;
}

static void list_languages(struct api_call *c, bool all)
{
    json_t *list = json_array();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct language *l = judge0_language(rows[i].id);
        if (all || (!rows[i].is_old && l && engine_may_run(c->api->engine, l)))
            (void)json_array_append_new(list, language_json(c->api, i, all));
    }
    api_reply(c, 200, list);
}

static void get_languages(struct api_call *c)
{
    list_languages(c, false);
}

static void get_all_languages(struct api_call *c)
{
    list_languages(c, true);
}

static json_t *command_json(const char *const *command)
{
    scoped(buf) text = { 0 };
    struct err e;
    for (; command && *command; command++)
        if (buf_addf(&text, &e, "%s%s", text.len ? " " : "", *command))
            return NULL;
    return text.len ? json_string(buf_str(&text)) : json_null();
}

static void get_language(struct api_call *c)
{
    struct err e = { 0 };
    char *end;
    long id = strtol(c->params[0], &end, 10);
    size_t i = row_of(*end ? -1 : id);
    const struct language *l = judge0_language(*end ? -1 : id);
    if (i == ARRAY_LEN(rows) || !l) {
        (void)!err_set(&e, ERR_NOT_FOUND, 0,
                       "language with id %s doesn't exist; GET /languages/all lists all ids",
                       QUOTED(c->params[0]));
        api_fail(c, &e, NULL);
        return;
    }
    bool multi = id == JUDGE0_MULTI_FILE;
    json_t *o = language_json(c->api, i, true);
    json_put(o, "source_file", multi ? json_null() : json_string(l->main_file));
    json_put(o, "compile_cmd", multi ? json_null() : command_json(l->compile));
    json_put(o, "run_cmd", multi ? json_null() : command_json(l->command));
    api_reply(c, 200, o);
}

static void get_statuses(struct api_call *c)
{
    json_t *list = json_array();
    for (int s = JUDGE0_QUEUED; s < JUDGE0_STATUS_COUNT_; s++)
        (void)json_array_append_new(list, judge0_status_json((enum judge0_status)s));
    api_reply(c, 200, list);
}

static void get_about(struct api_call *c)
{
    api_reply(c, 200,
              json_pack("{s:s, s:s, s:s, s:s}", "version", "1.13.1", "homepage", "Belljar",
                        "source_code", "", "maintainer", "Belljar behind the door of Judge0"));
}

/* Facts about the machine are not for clients. */
static void get_system_info(struct api_call *c)
{
    const struct isolation *iso = engine_isolation(c->api->engine);
    api_reply(c, 200,
              json_pack("{s:s, s:s?}", "Architecture", "x86_64", "Isolation",
                        iso ? level_name(iso->level) : NULL));
}

static void get_config_info(struct api_call *c)
{
    json_t *o = json_pack("{s:b, s:i, s:b, s:b, s:b, s:b, s:i, s:b}", "enable_wait_result", 1,
                          "max_queue_size", (int)c->api->settings->runs_queue,
                          "enable_compiler_options", 1, "enable_command_line_arguments", 1,
                          "enable_submission_delete", 0, "enable_callbacks", 1,
                          "max_submission_batch_size", 20, "enable_batched_submissions", 1);
    for (const struct judge0_limit *l = judge0_limits; l->name; l++) {
        char name[64];
        (void)snprintf(name, sizeof name, "max_%s", l->name);
        json_put(o, l->name, l->is_seconds ? json_real(l->def) : json_integer((json_int_t)l->def));
        json_put(o, name, l->is_seconds ? json_real(l->most) : json_integer((json_int_t)l->most));
    }
    api_reply(c, 200, o);
}

static void get_workers(struct api_call *c)
{
    struct engine_counts n = engine_counts(c->api->engine);
    unsigned max = (unsigned)settings_runs_max(c->api->settings);
    api_reply(c, 200,
              json_pack("[{s:s, s:i, s:i, s:i, s:i, s:i, s:i}]", "queue", "default", "size",
                        (int)n.queued, "available", (int)max, "idle",
                        (int)(n.running < max ? max - n.running : 0), "working", (int)n.running,
                        "paused", 0, "failed", (int)n.finished[VERDICT_INTERNAL_ERROR]));
}

static void get_statistics(struct api_call *c)
{
    struct engine_counts n = engine_counts(c->api->engine);
    uint64_t finished = 0;
    for (int v = 0; v < VERDICT_COUNT_; v++)
        finished += n.finished[v];
    api_reply(c, 200,
              json_pack("{s:o, s:{s:I, s:i, s:i}}", "created_at",
                        result_time((uint64_t)clock_unix_ms()), "submissions", "total",
                        (json_int_t)finished, "queued", (int)n.queued, "processing",
                        (int)n.running));
}

static const struct api_field language_reply[] = {
    { "id", FIELD_INT, ALWAYS, .help = "Judge0's id of the language" },
    { "name", FIELD_STRING, ALWAYS, .help = "with its version" },
    { "is_archived", FIELD_BOOL, .help = "true if it is not installed" },
    { "source_file", FIELD_STRING, .nullable = true, .help = "name of the main file" },
    { "compile_cmd", FIELD_STRING, .nullable = true, .help = "null if it is not compiled" },
    { "run_cmd", FIELD_STRING, .nullable = true, .help = "the command of a run" },
    { .schema = "Judge0Language" },
};
static const struct api_field status_reply[] = {
    { "id", FIELD_INT, ALWAYS, .help = "1 to 14" },
    { "description", FIELD_STRING, ALWAYS, .help = "such as Accepted" },
    { .schema = "Judge0Status" },
};
static const struct api_field any_reply[] = {
    { "version", FIELD_ANY, .help = "and other fields, as Judge0 has them" },
    { .schema = "Judge0Info" },
};
#define INFO(path_, scope_, handle_, summary_)                                                    \
    {                                                                                             \
        METHOD_GET, path_, scope_, STYLE_JUDGE0, .handle = (handle_), .flags = ROUTE_LENIENT,     \
                                                 .summary = (summary_),                           \
                                                 .replies = REPLIES({ 200, .fields = any_reply }) \
    }

const struct api_route judge0_info_routes[] = {
    { METHOD_GET, "/languages", SCOPE_ANY, STYLE_JUDGE0, .flags = ROUTE_LENIENT,
      .handle = get_languages, .summary = "The installed languages (Judge0)",
      .replies = REPLIES({ 200, .fields = language_reply, .list = true }) },
    { METHOD_GET, "/languages/all", SCOPE_ANY, STYLE_JUDGE0, .flags = ROUTE_LENIENT,
      .handle = get_all_languages, .summary = "All ids of languages (Judge0)",
      .replies = REPLIES({ 200, .fields = language_reply, .list = true }) },
    { METHOD_GET, "/languages/{id}", SCOPE_ANY, STYLE_JUDGE0, .flags = ROUTE_LENIENT,
      .handle = get_language, .summary = "One language (Judge0)",
      .replies = REPLIES({ 200, .fields = language_reply }) },
    { METHOD_GET, "/statuses", SCOPE_ANY, STYLE_JUDGE0, .flags = ROUTE_LENIENT,
      .handle = get_statuses, .summary = "All statuses (Judge0)",
      .replies = REPLIES({ 200, .fields = status_reply, .list = true }) },
    INFO("/about", SCOPE_ANY, get_about, "The interface (Judge0)"),
    INFO("/system_info", SCOPE_ANY, get_system_info, "The machine (Judge0)"),
    INFO("/config_info", SCOPE_ANY, get_config_info, "Limits of submissions (Judge0)"),
    INFO("/workers", SCOPE_ANY, get_workers, "The queue (Judge0)"),
    INFO("/statistics", SCOPE_ADMIN, get_statistics, "Counts of runs (Judge0)"),
    { 0 },
};
