/* Answers against their tables: objects as the service makes them have the fields that the tables
 * declare. */
#include "api/approvals/approvals_impl.h"
#include "api/kernel/core.h"
#include "api/kernel/reply.h"
#include "api/meta/meta.h"
#include "api/runs/result_fields.h"
#include "api/runs/run_result.h"
#include "base/array.h"
#include "base/auto.h"
#include "check.h"
#include "run/json.h"
#include "run/stages.h"
#include "spec/bundle.h"
#include "spec/pool.h"

/* Every key of a real answer is in the table and has the type of the table. Every required key is
 * there. */
static void check_reply(const json_t *answer, const struct api_field *fields)
{
    struct err e = { 0 };
    char field[128];
    if (!CHECK_INT(api_validate(answer, fields, false, field, sizeof field, &e), 0))
        printf("    %s: %s\n", field, e.text);
}

static struct result made_up(const struct buf *files)
{
    return (struct result){
        .id = "run_1",
        .language = "python",
        .version = "3.12",
        .verdict = VERDICT_OK,
        .limits = limits_default(),
        .isolation = { .level = LEVEL_JAR, .layers = ~0u >> (32 - LAYER_COUNT_) },
        .files = files,
        .started_at_ms = 1700000000000,
    };
}

static void test_result_is_as_its_table_says(void)
{
    scoped(buf) files = { 0 };
    struct err e = { 0 };
    CHECK_INT(bundle_add(&files, "a.txt", OUTPUT_OK, "x", 1, &e), 0);
    CHECK_INT(bundle_add_head(&files, "b", OUTPUT_MISSING, 0, 0, &e), 0);
    struct result r = made_up(&files);
    for (int v = 0; v < VERDICT_COUNT_; v++) {
        r.verdict = (enum verdict)v;
        r.evidence = (struct evidence){ .signal = v % 2 ? 9 : 0, .hits = LIMIT_BIT(LIMIT_PIDS) };
        r.error = v == VERDICT_INTERNAL_ERROR ? "why" : NULL;
        r.started_at_ms = v == VERDICT_REJECTED ? 0 : 1700000000000;
        r.start = v == VERDICT_REJECTED ? NULL : start_word((enum start)(v % START_COUNT_));
        r.version = v % 3 ? "3.12" : NULL;
        json_auto_t *o = result_json(&r);
        check_reply(o, result_reply);
    }
    for (int l = LEVEL_PROCESS; l < LEVEL_COUNT_; l++) {
        r.isolation = (struct isolation){ .level = (enum level)l,
                                          .unenforced = LIMIT_BIT(LIMIT_COUNT) - 1 };
        json_auto_t *o = result_json(&r);
        check_reply(o, result_reply);
    }
}

static void test_table_of_a_result_says_nothing_that_is_not_there(void)
{
    /* Fields that the service adds, and forms of streams that are not UTF-8. */
    static const char *const beside[] = {
        "state",      "stdout_base64", "stderr_base64", "stdout_cut",
        "stderr_cut", "stdout_bytes",  "stderr_bytes",  "timings",
        "thread_id",  "artifact_id",   "batch_id",      "metadata",
        "taken",      "error_code",    "fixes",         "stages",
    };
    scoped(buf) files = { 0 };
    scoped(buf) out = { 0 };
    struct result r = made_up(&files);
    r.error = "why";
    r.test_runner = TEST_RUNNER_PYTEST;
    json_auto_t *o = result_json(&r);
    result_add_stream(o, "stdout", &out);
    result_add_stream(o, "stderr", &out);
    check_reply(o, result_reply);
    r.test_runner = TEST_RUNNER_NONE; /* either of them */
    r.checks = true;
    json_auto_t *check = result_json(&r);
    check_reply(check, result_reply);
    CHECK(json_is_null(json_object_get(check, "checks")) && !json_object_get(check, "tests"));
    CHECK_STR(json_string_value(json_object_get(check, "outcome")), "unknown");
    (void)json_object_update_missing(o, check);
    for (size_t i = 0; i < ARRAY_LEN(beside); i++) {
        CHECK(json_object_get(o, beside[i]) == NULL);
        json_put(o, beside[i], json_null());
    }
    for (const struct api_field *f = result_reply; f->name; f++)
        if (!CHECK(json_object_get(o, f->name) != NULL))
            printf("    %s\n", f->name);
}

static void test_what_a_compiler_did_is_as_its_table_says(void)
{
    scoped(buf) files = { 0 };
    struct err e = { 0 };
    scoped(stage_result) p = { .verdict = VERDICT_TIMEOUT, .evidence = { .reason = END_WALL } };
    CHECK_INT(buf_add(&p.output[RUN_STDERR], "\xff", 1, &e), 0);
    struct result r = made_up(&files);
    json_auto_t *compile = stage_result_json(&p, true, "abc");
    r.compile = compile;
    json_auto_t *o = result_json(&r);
    check_reply(o, result_reply);
    CHECK(json_object_get(json_object_get(o, "compile"), "stderr_base64") != NULL);
}

static void test_pools_are_as_their_table_says(void)
{
    static const struct engine_pools pools = {
        .n = 2,
        .kinds = { { "python", 3, { .zygote = ZYGOTE_UP, .ready = 2, .building = 1, .forks = 9 } },
                   { "other", 0, { .zygote = ZYGOTE_FAILED, .why = "no driver" } } },
        .starts = { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 } },
    };
    json_auto_t *o = meta_pools(&pools);
    CHECK_INT(json_object_size(o), 2);
    json_t *python = json_object_get(o, "python"), *other = json_object_get(o, "other");
    check_reply(python, pool_reply);
    check_reply(other, pool_reply);
    for (const struct api_field *f = pool_reply; f->name; f++)
        CHECK(json_object_get(python, f->name) != NULL);
    CHECK(json_is_null(json_object_get(python, "why")));
    CHECK_STR(json_string_value(json_object_get(other, "why")), "no driver");
    CHECK_INT(json_integer_value(json_object_get(python, "target")), 3);
    json_t *starts = json_object_get(python, "starts");
    CHECK_INT(json_integer_value(json_object_get(starts, "cold")), 4);
    CHECK_INT(json_integer_value(json_object_get(starts, "warm")), 6);
}

static void test_row_of_the_history_is_as_its_table_says(void)
{
    struct run_record row = { .id = (char *)"run_1",
                              .language = (char *)"python",
                              .created_ms = 1 };
    for (int s = 0; s < RUN_STATE_COUNT_; s++) {
        row.state = (enum run_state)s;
        row.verdict = s == RUN_FINISHED ? (char *)"ok" : NULL;
        json_auto_t *o = run_row_object(&row);
        check_reply(o, run_row_reply);
    }
    json_auto_t *o = run_row_object(&row);
    json_put(o, "error", json_string("of an interrupted one"));
    for (const struct api_field *f = run_row_reply; f->name; f++)
        if (!CHECK(json_object_get(o, f->name) != NULL))
            printf("    %s\n", f->name);
}

static void test_approval_is_as_its_table_says(void)
{
    static char input[] = "{\"code\":\"1\"}";
    static char risks[] = "[{\"kind\":\"network\",\"line\":1,\"column\":2,\"excerpt\":\"x\","
                          "\"why\":\"y\"}]";
    struct approval_row row = {
        .id = (char *)"apr_1", .tool = (char *)"execute", .input = input, .risks = risks
    };
    for (int d = 0; d < DECISION_COUNT_; d++) {
        row.decision = (enum decision)d;
        json_auto_t *o = approval_object(&row, true);
        check_reply(o, approval_reply);
        CHECK_INT(json_object_size(o), 17);
    }
}

static void test_errors_are_as_their_tables_say(void)
{
    for (int s = STYLE_V1; s < STYLE_COUNT_; s++) {
        json_auto_t *o = error_json((enum error_style)s,
                                    &(struct error_parts){ "busy", 503, "later", NULL });
        check_reply(o, error_replies[s]);
    }
}

static void test_every_route_says_how_it_answers(void)
{
    for (const struct api_route *const *t = api_tables; *t; t++)
        for (const struct api_route *r = *t; r->path; r++)
            if (!CHECK(r->replies && r->replies[0].status >= 200 && r->summary))
                printf("    %s\n", r->path);
}

static void check_help(const char *of, const struct api_field *fields)
{
    for (const struct api_field *f = fields; f && f->name; f++) {
        if (!CHECK(f->help != NULL))
            printf("    %s: %s\n", of, f->name);
        check_help(of, f->fields);
    }
}

static void test_every_answer_has_a_name_and_words_for_its_fields(void)
{
    for (const struct api_route *const *t = api_tables; *t; t++)
        for (const struct api_route *r = *t; r->path; r++)
            for (const struct route_reply *reply = r->replies; reply->status; reply++) {
                const struct api_field *last = reply->fields;
                while (last && last->name)
                    last++;
                if (!CHECK(!last || last->schema))
                    printf("    %s\n", r->path);
                check_help(r->path, reply->fields);
            }
}

static const struct check_test tests[] = {
    TEST(test_result_is_as_its_table_says),
    TEST(test_table_of_a_result_says_nothing_that_is_not_there),
    TEST(test_what_a_compiler_did_is_as_its_table_says),
    TEST(test_pools_are_as_their_table_says),
    TEST(test_row_of_the_history_is_as_its_table_says),
    TEST(test_approval_is_as_its_table_says),
    TEST(test_errors_are_as_their_tables_say),
    TEST(test_every_route_says_how_it_answers),
    TEST(test_every_answer_has_a_name_and_words_for_its_fields),
};
CHECK_MAIN(tests)
