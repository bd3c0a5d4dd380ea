/* /v1/checks: finds the mistakes in code, and executes no line of it. The request becomes a run: a
 * script of bash beside the files, which starts the parsers and type checkers of the languages. */
#include <stdlib.h>
#include <string.h>

#include "api/kernel/api.h"
#include "api/kernel/fields.h"
#include "api/runs/result_fields.h"
#include "api/runs/run_post.h"
#include "api/runs/run_spec.h"
#include "api/runs/script_request.h"
#include "api/runs/stream.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/strv.h"
#include "checks/checks.h"
#include "run/command_line.h"
#include "run/json.h"
#include "spec/bundle.h"
#include "spec/permission.h"

/* One request while it is made into that of a run. */
struct check_builder {
    struct script_request request;
    const struct engine *engine; /* NULL: there is none yet */
    struct check_plan plan;
    struct err seen;
};

static int no_code(const struct check_builder *b, const char *field, struct err *e)
{
    (void)script_blame(&b->request, field);
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "there is no code to check: give 'language' and 'code', or 'files' with names "
                   "such as main.py");
}

/* ---- the files ---- */

static void see(void *arg, const char *name)
{
    struct check_builder *b = arg;
    if (b->seen.code == ERR_NONE && check_plan_add(&b->plan, name, NULL, &b->seen) == 0)
        b->seen.code = ERR_NONE;
}

/* `code` becomes a file with the name that a run gives it. */
static int add_code(struct check_builder *b, struct err *e)
{
    json_t *code = json_object_get(b->request.body, "code");
    const char *given = script_text(&b->request, "language"), *text = json_string_value(code);
    const struct language *l = given  ? language_find(given)
                               : code ? language_infer(text, json_string_length(code))
                                      : NULL;
    char name[MAIN_NAME_SIZE];
    if (given && !l) {
        (void)script_blame(&b->request, "language");
        return language_refuse(given, e);
    }
    if (!code)
        return 0;
    if (!l) {
        (void)script_blame(&b->request, "language");
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'language' is missing, and the code looks like no single language: give "
                       "it, such as \"python\"");
    }
    (void)language_main_name(l, text, json_string_length(code), name);
    return script_add_file(&b->request, name, json_incref(code), e);
}

static int plan(struct check_builder *b, struct err *e)
{
    if (add_code(b, e))
        return -1;
    script_see_files(&b->request, see, b);
    if (b->seen.code != ERR_NONE) {
        (void)script_blame(&b->request, "files");
        *e = b->seen;
        return -1;
    }
    return b->plan.n > 0
               ? 0
               : no_code(b, json_object_get(b->request.body, "files") ? "files" : "code", e);
}

/* ---- the run ---- */

static json_t *words_json(char *const *words)
{
    json_t *list = json_array();
    for (; words && *words; words++)
        (void)json_array_append_new(list, json_string(*words));
    return list;
}

/* Where jars do not see our programs at their usual place. */
static void add_guest(const struct check_builder *b)
{
    char dir[4200];
    enum level level = b->engine ? engine_isolation(b->engine)->level : LEVEL_JAR;
    if (level == LEVEL_PROCESS)
        json_put(b->request.body, "env",
                 json_pack("{s:s}", CHECKS_GUEST, guest_dir(level, dir, sizeof dir)));
}

/* Makes the body of POST /v1/runs, in place. */
static int make_body(struct check_builder *b, struct err *e)
{
    enum { WALL_MS = 60000 };
    json_t *body = b->request.body;
    scoped(buf) script = { 0 };
    char **words = NULL;
    if (plan(b, e) || check_plan_script(&b->plan, &script, e) ||
        check_plan_args(&b->plan, &words, e))
        return -1;
    json_put(body, "args", words_json(words));
    add_guest(b);
    strv_free(words);
    if (script_add_file(&b->request, CHECKS_SCRIPT, json_string(buf_str(&script)), e))
        return -1;
    script_add_limits(&b->request, WALL_MS);
    (void)json_object_del(body, "code");
    json_put(body, "language", json_string("bash"));
    json_put(body, "entry", json_string(CHECKS_SCRIPT));
    json_put(body, "checks", json_true());
    b->request.field[0] = '\0';
    return 0;
}

static int make_run(struct api_call *c, const struct api *api, char *field, size_t size,
                    struct err *e)
{
    autofree struct check_builder *b = calloc(1, sizeof *b);
    if (!b)
        return err_no_memory(e, "a check");
    b->request = (struct script_request){ c->body, api->settings, field, size };
    b->engine = api->engine;
    int failed = make_body(b, e);
    check_plan_done(&b->plan);
    return failed;
}

/* In a thread, for a large body. */
static int prepare_check(struct api_call *c, const struct api *here, const struct buf *bytes,
                         char *field, size_t size, struct err *e)
{
    return make_run(c, here, field, size, e) ? -1 : run_prepare(c, here, bytes, field, size, e);
}

static void post_checks(struct api_call *c)
{
    char field[128] = "";
    struct err e = { 0 };
    if (!c->prepared && make_run(c, c->api, field, sizeof field, &e))
        api_fail(c, &e, field[0] ? field : NULL);
    else
        run_post(c);
}

/* ---- fields ---- */

static const struct api_field check_fields[] = {
    { "language", FIELD_STRING, .min = 1, .max = 64,
      .help = "of `code`; name or alias (GET /v1/languages); inferred if absent", .also = "lang" },
    { "code", FIELD_STRING, .min = 1, .max = (double)BUNDLE_FILE_MAX_BYTES,
      .help = "the code; its file is main.py, main.js, …, by its language" },
    { "files", FIELD_FILES, .max = BUNDLE_FILES_MAX - 2,
      .help = "the files of a project, by name; or files beside `code`. Up to 500 with code",
      .also = "file" },
    { "limits", FIELD_LIMITS, .help = "limits of the run; those of a compiler if absent",
      .also = "timeout=limits.wall_ms,memory=limits.memory" },
    SUBMISSION_FIELDS /* each row ends with a comma */
    { 0 },
};

const struct api_route check_routes[] = {
    { METHOD_POST, "/v1/checks", SCOPE_RUN, .body = check_fields, .flags = ROUTE_EARLY,
      .handle = post_checks, .prepare = prepare_check,
      .summary = "Check code without running it: syntax, types, missing imports, risks",
      .replies = REPLIES(
          { 200, .fields = result_reply,
            .help = "the result with `outcome` and `checks`, or events" },
          EVENT_REPLIES(event_reply),
          { 202, .fields = run_accepted_reply, .help = "the run goes on: wait was false" }) },
    { 0 },
};
