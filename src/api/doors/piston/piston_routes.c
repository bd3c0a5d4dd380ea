/* /api/v2: the interface of Piston, with its sentences and its order of checks, because its
 * clients know them. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/doors/door_submit.h"
#include "api/doors/piston/piston.h"
#include "api/kernel/door.h"
#include "api/kernel/json_in.h"
#include "api/runs/result_fields.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"
#include "runtime/language.h"

/* ---- runtimes and packages ---- */

static json_t *words_json(const char *const *words)
{
    json_t *list = json_array();
    for (; *words; words++)
        (void)json_array_append_new(list, json_string(*words));
    return list;
}

static void get_runtimes(struct api_call *c)
{
    json_t *list = json_array();
    char version[PISTON_VERSION_SIZE];
    for (size_t i = 0; languages[i]; i++) {
        struct piston_runtime r = piston_runtime_at(c->api->engine, i);
        if (r.is_installed && !r.is_pending)
            (void)json_array_append_new(list,
                                        json_pack("{s:s, s:s, s:o, s:s*}", "language", r.name,
                                                  "version", piston_version(&r, version), "aliases",
                                                  words_json(r.aliases), "runtime", r.runtime));
    }
    api_reply(c, 200, list);
}

static void get_packages(struct api_call *c)
{
    json_t *list = json_array();
    char version[PISTON_VERSION_SIZE];
    for (size_t i = 0; languages[i]; i++) {
        struct piston_runtime r = piston_runtime_at(c->api->engine, i);
        (void)json_array_append_new(list, json_pack("{s:s, s:s, s:b}", "language", r.name,
                                                    "language_version", piston_version(&r, version),
                                                    "installed", r.is_installed));
    }
    api_reply(c, 200, list);
}

/* Piston's 415 and its sentence. On the loop: a thread has no exchange. */
static int check_type(const struct api_call *c, struct err *e)
{
    static const char type[] = "application/json";
    const char *given = http_request_header(&c->http->request, "Content-Type");
    if (!given || strncasecmp(given, type, sizeof type - 1) != 0)
        return err_set(e, ERR_MEDIA_TYPE, 0, "requests must be of type application/json");
    return 0;
}

static int read_body(const struct buf *bytes, json_t **ret, struct err *e)
{
    if (bytes->len == 0) {
        *ret = json_object();
        return *ret ? 0 : err_no_memory(e, "the request");
    }
    return json_in_object(buf_str(bytes), bytes->len, ret, e);
}

/* Finds the package that a request names. -1: the call was answered. */
static int find_package(struct api_call *c, struct piston_runtime *ret)
{
    struct err e = { 0 };
    json_t *body = NULL;
    if (check_type(c, &e) || read_body(&c->http->request.body, &body, &e)) {
        api_fail(c, &e, NULL);
        return -1;
    }
    const char *name = json_string_value(json_object_get(body, "language"));
    const char *range = json_string_value(json_object_get(body, "version"));
    if (!name || !range || !piston_find(c->api->engine, name, range, ret))
        (void)!err_set(&e, ERR_NOT_FOUND, 0, "Requested package %s-%s does not exist",
                       name ? QUOTED(name) : "undefined", range ? QUOTED(range) : "undefined");
    json_decref(body);
    if (e.code == ERR_NONE)
        return 0;
    api_fail(c, &e, NULL);
    return -1;
}

/* The service may write nothing outside its data: languages are packages of the machine. */
static void post_package(struct api_call *c)
{
    struct piston_runtime r;
    struct err e = { 0 };
    if (find_package(c, &r))
        return;
    if (r.is_installed)
        (void)!err_set(&e, ERR_CONFLICT, 0, "Package already installed");
    else
        (void)!err_set(&e, ERR_DENIED, 0,
                       "the service installs nothing: 'belljar languages install %s' on its "
                       "machine does",
                       r.language->name);
    api_fail(c, &e, NULL);
}

static void delete_package(struct api_call *c)
{
    struct piston_runtime r;
    struct err e = { 0 };
    if (find_package(c, &r))
        return;
    if (!r.is_installed)
        (void)!err_set(&e, ERR_CONFLICT, 0, "Package not installed");
    else
        (void)!err_set(&e, ERR_DENIED, 0,
                       "the service removes nothing: '%s' is a package of its machine",
                       r.language->name);
    api_fail(c, &e, NULL);
}

/* ---- execute ---- */

struct execution {
    struct run_watch watch; /* first: on_event() gets it */
    struct door_submission submission;
    struct api_call *call;
    struct run *run;
    struct piston_runtime runtime;
};

static json_t *make_result(void *context)
{
    const struct execution *x = context;
    return piston_result(x->run, &x->runtime);
}

static void result_made(void *context)
{
    struct execution *x = context;
    run_watch_remove(x->run, &x->watch);
    free(x);
}

/* The JSON has the output twice, so a thread makes it. */
static void on_run_event(struct run_watch *w, struct run *run, enum run_event event)
{
    struct execution *x = (struct execution *)w;
    if (event != RUN_EVENT_DONE)
        return;
    if (run->record_err.code == ERR_NONE) {
        api_reply_made(x->call, 200, make_result, result_made, x);
        return;
    }
    api_fail(x->call, &run->record_err, NULL);
    result_made(x);
}

static void on_submitted(struct door_submission *s, struct run *run, const struct err *e,
                         const char *field)
{
    struct execution *x = (struct execution *)((char *)s - offsetof(struct execution, submission));
    x->run = run;
    if (run)
        return;
    api_fail(x->call, e, field);
    free(x);
}

static void body_free(void *prepared)
{
    json_decref(prepared);
}

/* In a thread, for a large body. */
static int prepare_execution(struct api_call *c, const struct api *here, const struct buf *bytes,
                             char *field, size_t size, struct err *e)
{
    json_t *body = NULL;
    (void)here;
    (void)field;
    (void)size;
    if (read_body(bytes, &body, e))
        return -1;
    c->prepared = body;
    c->prepared_free = body_free;
    return 0;
}

static void execute(struct api_call *c)
{
    struct err e = { 0 };
    bool is_large = c->prepared;
    json_t *request = NULL;
    autofree struct execution *x = calloc(1, sizeof *x);
    if (!x) {
        api_fail_no_memory(c);
        return;
    }
    if (check_type(c, &e) ||
        (!is_large && prepare_execution(c, c->api, &c->http->request.body, NULL, 0, &e)) ||
        piston_request(c->api, c->prepared, false, &x->runtime, &request, &e)) {
        api_fail(c, &e, NULL);
        return;
    }
    json_decref(c->prepared);
    c->prepared = NULL;
    x->call = c;
    x->watch.on_event = on_run_event;
    x->submission = (struct door_submission){ .api = c->api,
                                              .who = &c->who,
                                              .request = request,
                                              .surface = "piston",
                                              .is_large = is_large,
                                              .watch = &x->watch,
                                              .done = on_submitted };
    struct execution *taken = x;
    x = NULL;
    door_submit(&taken->submission);
}

/* ---- tables ---- */

static const struct api_field runtime_reply[] = {
    { "language", FIELD_STRING, ALWAYS, .help = "Piston's name of the language" },
    { "version", FIELD_STRING, ALWAYS, .help = "its version on this machine" },
    { "aliases", FIELD_STRINGS, ALWAYS, .help = "other names" },
    { "runtime", FIELD_STRING, .help = "such as node or gcc" },
    { .schema = "PistonRuntime" },
};
static const struct api_field package_reply[] = {
    { "language", FIELD_STRING, ALWAYS, .help = "Piston's name of the language" },
    { "language_version", FIELD_STRING, ALWAYS, .help = "0.0.0 if it is not installed" },
    { "installed", FIELD_BOOL, ALWAYS, .help = "whether programs of it run here" },
    { .schema = "PistonPackage" },
};
static const struct api_field stage_reply[] = {
    { "stdout", FIELD_DATA, ALWAYS, .help = "its output" },
    { "stderr", FIELD_DATA, ALWAYS, .help = "its output of errors" },
    { "output", FIELD_DATA, ALWAYS, .help = "both, in the order in which they came" },
    { "code", FIELD_INT, OR_NULL, .help = "exit code; null after a signal" },
    { "signal", FIELD_STRING, OR_NULL, .help = "such as SIGSEGV" },
    { "message", FIELD_STRING, OR_NULL, .help = "the reason of a failure" },
    { "status", FIELD_STRING, OR_NULL, .help = "null, RE, SG, TO, OL, EL or XX" },
    { "cpu_time", FIELD_INT, ALWAYS, .help = "milliseconds" },
    { "wall_time", FIELD_INT, ALWAYS, .help = "milliseconds" },
    { "memory", FIELD_INT, ALWAYS, .help = "bytes" },
    { .schema = "PistonStage" },
};
static const struct api_field execute_reply_fields[] = {
    { "language", FIELD_STRING, ALWAYS, .help = "Piston's name of the language" },
    { "version", FIELD_STRING, ALWAYS, .help = "the version that ran" },
    { "run", FIELD_OBJECT, ALWAYS, .fields = stage_reply, .help = "the program" },
    { "compile", FIELD_OBJECT, .fields = stage_reply, .help = "the compiler, if there is one" },
    { .schema = "PistonResult" },
};

const struct api_route piston_routes[] = {
    { METHOD_GET, "/api/v2/runtimes", SCOPE_ANY, STYLE_PISTON, .handle = get_runtimes,
      .summary = "The installed languages (Piston)",
      .replies = REPLIES({ 200, .fields = runtime_reply, .list = true }) },
    { METHOD_GET, "/api/v2/packages", SCOPE_ANY, STYLE_PISTON, .handle = get_packages,
      .summary = "All languages (Piston)",
      .replies = REPLIES({ 200, .fields = package_reply, .list = true }) },
    { METHOD_POST, "/api/v2/packages", SCOPE_ADMIN, STYLE_PISTON, .flags = ROUTE_RAW,
      .handle = post_package, .summary = "Refused: the service installs nothing (Piston)",
      .replies = REPLIES({ 200, .fields = package_reply }) },
    { METHOD_DELETE, "/api/v2/packages", SCOPE_ADMIN, STYLE_PISTON, .flags = ROUTE_RAW,
      .handle = delete_package, .summary = "Refused: the service removes nothing (Piston)",
      .replies = REPLIES({ 200, .fields = package_reply }) },
    { METHOD_POST, "/api/v2/execute", SCOPE_RUN, STYLE_PISTON, .flags = ROUTE_RAW,
      .prepare = prepare_execution, .handle = execute, .summary = "Run a program (Piston)",
      .replies = REPLIES({ 200, .fields = execute_reply_fields }) },
    { 0 },
};

extern const struct api_door piston_door;
const struct api_door piston_door = {
    .name = "piston",
    .setting = offsetof(struct settings, doors_piston),
    .style = STYLE_PISTON,
    .paths = (const char *const[]){ "/api/v2", NULL },
    .tables = (const struct api_route *const[]){ piston_routes, piston_connect_routes, NULL },
};
