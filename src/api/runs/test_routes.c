/* /v1/tests: the tests of a project, or tests beside code. The request becomes a run: a script of
 * bash beside the files, whose output is read as the report of the test runner. */
#include <stdio.h>
#include <string.h>

#include "api/kernel/api.h"
#include "api/kernel/fields.h"
#include "api/runs/network_request.h"
#include "api/runs/result_fields.h"
#include "api/runs/run_post.h"
#include "api/runs/run_spec.h"
#include "api/runs/script_request.h"
#include "api/runs/stream.h"
#include "base/array.h"
#include "base/text.h"
#include "run/json.h"
#include "spec/bundle.h"
#include "spec/permission.h"
#include "suite/suite.h"

#define SCRIPT ".belljar-test.sh"

/* One request while it is made into that of a run. */
struct tests_builder {
    struct script_request request;
    enum test_runner runner;
};

static int blame(const struct tests_builder *b, const char *field)
{
    return script_blame(&b->request, field);
}

static const char *text_of(const struct tests_builder *b, const char *key)
{
    return script_text(&b->request, key);
}

/* ---- the runner ---- */

static void see(void *arg, const char *name)
{
    suite_see(arg, name);
}

static int runner_of_language(struct tests_builder *b, struct err *e)
{
    const char *name = text_of(b, "language");
    const struct language *l = name ? language_find(name) : NULL;
    char known[160];
    (void)blame(b, "language");
    if (!name)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'language' is missing: 'code' and 'tests' need it, such as \"python\"");
    if (!l)
        return language_refuse(name, e);
    b->runner = suite_of_language(l->name);
    if (b->runner != TEST_RUNNER_NONE)
        return 0;
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "no test runner takes %s code with tests beside it: send 'files' and "
                   "'test_runner', one of %s",
                   l->name, suite_list(known, sizeof known));
}

static int choose_runner(struct tests_builder *b, struct err *e)
{
    const char *given = text_of(b, "test_runner");
    for (int i = TEST_RUNNER_NONE + 1; given && i < TEST_RUNNER_COUNT_; i++)
        if (strcmp(test_runners[i], given) == 0)
            b->runner = (enum test_runner)i;
    if (b->runner == TEST_RUNNER_NONE && json_object_get(b->request.body, "tests"))
        return runner_of_language(b, e);
    if (b->runner == TEST_RUNNER_NONE) {
        struct suite_search s = { 0 };
        script_see_files(&b->request, see, &s);
        return suite_choose(&s, &b->runner, e) ? blame(b, "files") : 0;
    }
    const struct suite_runner *r = suite_runner(b->runner);
    if (json_object_get(b->request.body, "tests") && !r->code) {
        (void)blame(b, "test_runner");
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' needs a project: send 'files' in place of 'code' and 'tests'",
                       r->name);
    }
    if (suite_is_installed(r))
        return 0;
    (void)blame(b, "test_runner");
    return suite_refuse(r, e);
}

/* ---- the files ---- */

static int add_files(struct tests_builder *b, struct err *e)
{
    const struct suite_runner *r = suite_runner(b->runner);
    json_t *code = json_object_get(b->request.body, "code"),
           *tests = json_object_get(b->request.body, "tests");
    if (code && script_add_file(&b->request, r->code, json_incref(code), e))
        return -1;
    if (tests && script_add_file(&b->request, r->beside, json_incref(tests), e))
        return -1;
    return script_add_file(&b->request, SCRIPT, json_string(r->script), e);
}

static int check_parts(const struct tests_builder *b, struct err *e)
{
    bool code = json_object_get(b->request.body, "code"),
         tests = json_object_get(b->request.body, "tests");
    if (code != tests) {
        (void)blame(b, code ? "tests" : "code");
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' is missing: 'code' and 'tests' go together, or 'files' is a project",
                       code ? "tests" : "code");
    }
    if (code || json_object_get(b->request.body, "files"))
        return 0;
    (void)blame(b, "files");
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "there are no tests: give 'files', or 'language', 'code' and 'tests'");
}

/* Makes the body of POST /v1/runs, in place. */
static int make_run(struct tests_builder *b, struct err *e)
{
    enum { WALL_MS = 120000 };
    json_t *body = b->request.body;
    static const char *const gone[] = { "code", "tests", "language" };
    if (check_parts(b, e) || choose_runner(b, e) || add_files(b, e))
        return -1;
    script_add_limits(&b->request, WALL_MS); /* tests may compile their project */
    for (size_t i = 0; i < ARRAY_LEN(gone); i++)
        (void)json_object_del(body, gone[i]);
    json_put(body, "language", json_string("bash"));
    json_put(body, "entry", json_string(SCRIPT));
    json_put(body, "test_runner", json_string(test_runners[b->runner]));
    b->request.field[0] = '\0';
    return 0;
}

/* In a thread, for a large body. */
static int prepare_tests(struct api_call *c, const struct api *here, const struct buf *bytes,
                         char *field, size_t size, struct err *e)
{
    struct tests_builder b = { .request = { c->body, here->settings, field, size } };
    return make_run(&b, e) ? -1 : run_prepare(c, here, bytes, field, size, e);
}

static void post_tests(struct api_call *c)
{
    char field[128] = "";
    struct err e = { 0 };
    struct tests_builder b = { .request = { c->body, c->api->settings, field, sizeof field } };
    if (!c->prepared && make_run(&b, &e))
        api_fail(c, &e, field[0] ? field : NULL);
    else
        run_post(c);
}

/* ---- fields ---- */

static const struct api_field tests_fields[] = {
    { "language", FIELD_STRING, .min = 1, .max = 64,
      .help = "of `code` and `tests`; name or alias (GET /v1/languages)", .also = "lang" },
    { "code", FIELD_STRING, .min = 1, .max = (double)BUNDLE_FILE_MAX_BYTES,
      .help = "the code under test; its file is main.py, main.js, …, by its language" },
    { "tests", FIELD_STRING, .min = 1, .max = (double)BUNDLE_FILE_MAX_BYTES,
      .help = "the tests, in a file beside it; they import the code" },
    { "files", FIELD_FILES, .max = BUNDLE_FILES_MAX - 3,
      .help = "the files of a project, by name; or files beside `code`", .also = "file" },
    { "test_runner", FIELD_STRING, .one_of = &test_runners[TEST_RUNNER_NONE + 1],
      .help = "the test runner; found by the files or the language if absent",
      .also = "runner,framework" },
    { "args", FIELD_STRINGS, .max = 1000, .help = "arguments of the test runner",
      .also = "argv,arguments" },
    { "env", FIELD_STRING_MAP, .max = 1000, .help = "environment beyond the built-in one",
      .also = "environment,env_vars" },
    { "limits", FIELD_LIMITS, .help = "limits of the run; those of a compiler if absent",
      .also = "timeout=limits.wall_ms,memory=limits.memory" },
    NETWORK_FIELD,
    SUBMISSION_FIELDS /* each row ends with a comma */
    { 0 },
};

const struct api_route test_routes[] = {
    { METHOD_POST, "/v1/tests", SCOPE_RUN, .body = tests_fields, .flags = ROUTE_EARLY,
      .handle = post_tests, .prepare = prepare_tests,
      .summary = "Run the tests of a project, or tests beside code, in a jar",
      .replies = REPLIES(
          { 200, .fields = result_reply,
            .help = "the result with `outcome` and `tests`, or events" },
          EVENT_REPLIES(event_reply),
          { 202, .fields = run_accepted_reply, .help = "the run goes on: wait was false" }) },
    { 0 },
};
