#include "run/stages.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/auto.h"
#include "check.h"
#include "run/command_line.h"
#include "spec/bundle.h"

static const struct language plain = {
    .name = "plain",
    .command = WORDS("/bin/plain", FILE_ARGUMENT),
    .extensions = WORDS(".p"),
    .env = WORDS("PLAIN=1"),
    .version = WORDS("/bin/sh"),
};
static const struct language compiled = {
    .name = "compiled",
    .command = WORDS("./{program}"),
    .compile = WORDS("/bin/cc", "-o", "{program}", "{sources}", "-lm"),
    .compile_env = WORDS("CC_HOME={guest}/compiled"),
    .products = WORDS("program"),
    .check = WORDS("/bin/check", "{args}", FILE_ARGUMENT),
    .profile = WORDS("/bin/profile", FILE_ARGUMENT),
    .extensions = WORDS(".c", ".cc"),
    .env = WORDS("RUNS=1"),
    .version = WORDS("/nonexistent/cc"),
};

static void put(struct buf *b, const char *name, uint32_t mode, const char *text)
{
    struct err e = { 0 };
    CHECK_INT(bundle_add(b, name, mode, text, strlen(text), &e), 0);
}

/* "name:mode:text name:mode:text", in order. */
static const char *listed(const struct buf *b, char *out, size_t size)
{
    struct bundle_entry f;
    struct err e = { 0 };
    bool more = true;
    size_t used = 0;
    out[0] = '\0';
    for (size_t pos = 0; bundle_next(b, &pos, &f, &more, &e) == 0 && more;)
        used += (size_t)snprintf(out + used, size - used, "%s%.*s:%o:%.*s", used ? " " : "",
                                 (int)f.head.name_len, f.name, f.head.mode, (int)f.head.size,
                                 f.bytes);
    return out;
}

static void test_stages_follow_from_the_declaration_and_the_options(void)
{
    struct run_options w = { 0 };
    CHECK_INT(stages_of(&plain, NULL).n, 1);
    CHECK_INT(stages_of(&plain, &w).at[0], STAGE_RUN);
    CHECK_INT(stages_of(&compiled, &w).n, 2);
    CHECK_INT(stages_of(&compiled, &w).at[0], STAGE_COMPILE);
    w.check_types = true;
    CHECK_INT(stages_of(&plain, &w).n, 1);
    struct stages s = stages_of(&compiled, &w);
    CHECK(s.n == 3 && s.at[0] == STAGE_CHECK && s.at[1] == STAGE_COMPILE && s.at[2] == STAGE_RUN);
}

static struct jar_request whole_of(const struct language *l, const struct run_options *w)
{
    static char *args[] = { (char *)"own", NULL }, *env[] = { (char *)"SECRET=1", NULL },
                *outputs[] = { (char *)"out.txt", NULL },
                *sources[] = { (char *)"a.c", (char *)"b.c", NULL };
    return (struct jar_request){ .id = 5,
                                 .language = l,
                                 .main_name = "a.c",
                                 .sources = sources,
                                 .args = args,
                                 .env = env,
                                 .outputs = outputs,
                                 .limits = limits_default(),
                                 .writable_root = true,
                                 .options = w,
                                 .kind = 3,
                                 .bundle_fd = 7 };
}

static void test_compiler_gets_its_own_and_nothing_of_the_callers(void)
{
    char *given[] = { (char *)"-DX", NULL };
    struct run_options w = { .compiler_args = given, .compile_limits = compile_limits_default() };
    struct jar_request whole = whole_of(&compiled, &w);
    struct jar_request q = stage_request(STAGE_COMPILE, &whole);
    struct err e = { 0 };
    scoped(command_line) j = { 0 };
    CHECK(q.id == 5 && q.bundle_fd == 7 && !q.env && !q.writable_root && q.kind == 0);
    CHECK_STR(q.outputs[0], "program");
    CHECK(memcmp(&q.limits, &w.compile_limits, sizeof q.limits) == 0);
    CHECK_INT(command_line_build(&j, &q, LEVEL_JAR, &e), 0);
    static const char *const expected[] = {
        "/bin/cc", "-o", JOB_PROGRAM, "a.c", "b.c", "-lm", "-DX"
    };
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        CHECK_STR(j.argv[i], expected[i]);
    CHECK(j.argv[7] == NULL);
    bool home = false, others = false;
    for (char **entry = j.envp; *entry; entry++) {
        home = home || strcmp(*entry, "CC_HOME=/opt/belljar/compiled") == 0;
        others = others || strncmp(*entry, "RUNS=", 5) == 0 || strncmp(*entry, "SECRET=", 7) == 0;
    }
    CHECK(home && !others);
}

static void test_options_without_limits_mean_the_usual_ones(void)
{
    struct jar_request whole = whole_of(&compiled, NULL);
    struct limits usual = compile_limits_default();
    struct jar_request q = stage_request(STAGE_COMPILE, &whole);
    CHECK(memcmp(&q.limits, &usual, sizeof usual) == 0);
    struct err e = { 0 };
    CHECK_INT(limits_check(&usual, &e), 0);
}

static void test_arguments_go_where_the_command_says(void)
{
    char *given[] = { (char *)"--strict", NULL };
    struct run_options w = { .compiler_args = given };
    struct jar_request whole = whole_of(&compiled, &w);
    struct jar_request q = stage_request(STAGE_CHECK, &whole);
    struct err e = { 0 };
    scoped(command_line) j = { 0 };
    CHECK_INT(command_line_build(&j, &q, LEVEL_JAR, &e), 0);
    CHECK_STR(j.argv[1], "--strict");
    CHECK_STR(j.argv[2], "a.c");
    CHECK(j.argv[3] == NULL && q.outputs == NULL);
}

static void test_program_gets_what_the_caller_asked_for(void)
{
    struct run_options w = { 0 };
    struct jar_request whole = whole_of(&compiled, &w);
    struct jar_request q = stage_request(STAGE_RUN, &whole);
    CHECK(q.env == whole.env && q.args == whole.args && q.outputs == whole.outputs && q.kind == 3);
    CHECK(q.command == NULL && q.writable_root);
    w.profile = true;
    CHECK(stage_request(STAGE_RUN, &whole).command == compiled.profile);
    whole = whole_of(&plain, &w);
    CHECK(stage_request(STAGE_RUN, &whole).command == NULL);
}

static void test_sources_are_the_main_file_and_all_of_its_kind(void)
{
    scoped(buf) files = { 0 };
    struct err e = { 0 };
    put(&files, "a.c", 0644, "");
    put(&files, "-x.c", 0644, "");
    put(&files, "@x.c", 0644, "");
    put(&files, "main.x", 0644, "");
    put(&files, "a.h", 0644, "");
    put(&files, "lib/b.cc", 0644, "");
    put(&files, ".c", 0644, "");
    autofree char **list = NULL;
    CHECK_INT(stage_sources(&compiled, "main.x", &files, &list, &e), 0);
    static const char *const expected[] = { "main.x", "a.c", "./-x.c", "./@x.c", "lib/b.cc" };
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        CHECK_STR(list[i], expected[i]);
    CHECK(list[5] == NULL);
}

static void test_what_was_made_goes_before_a_file_of_its_name(void)
{
    scoped(buf) files = { 0 }, made = { 0 }, merged = { 0 };
    struct err e = { 0 };
    char text[200];
    put(&files, "main.c", 0644, "code");
    put(&files, "program", 0600, "the job's");
    put(&files, "data", 0444, "data");
    put(&made, "program", OUTPUT_OK, "made");
    put(&made, "a", OUTPUT_OK, "more");
    struct err missing = { 0 };
    CHECK_INT(bundle_add_head(&made, "gone", OUTPUT_MISSING, 0, 0, &missing), 0);
    CHECK_INT(stage_merge(&files, &made, &merged, &e), 0);
    CHECK_STR(listed(&merged, text, sizeof text),
              "main.c:644:code data:444:data a:755:more program:755:made");
}

static void test_bundle_that_is_damaged_is_refused(void)
{
    scoped(buf) files = { 0 }, made = { 0 }, merged = { 0 };
    struct err e = { 0 };
    put(&files, "main.c", 0644, "code");
    put(&made, "../x", OUTPUT_OK, "made");
    CHECK_INT(stage_merge(&files, &made, &merged, &e), -1);
    made.len = 5;
    CHECK_INT(stage_merge(&files, &made, &merged, &e), -1);
    CHECK(merged.data == NULL);
}

/* The result of a stage, from the evidence of the warden. */
static struct stage_result ended(struct evidence evidence, enum end_reason asked,
                                 const char *product, enum output_status status)
{
    static struct jar_run r;
    struct buf output[RUN_STREAMS] = { 0 };
    struct stage_result p;
    r = (struct jar_run){ .ended = true,
                          .cancelled = asked == END_CANCEL,
                          .end = { .evidence = evidence } };
    struct err e = { 0 };
    if (product)
        CHECK_INT(bundle_add_head(&r.outputs, product, status, 0, 0, &e), 0);
    stage_result_take(&p, STAGE_COMPILE, &compiled, &r, output);
    buf_done(&r.outputs);
    return p;
}

static void test_how_a_compiler_ended(void)
{
    static const struct {
        struct evidence evidence;
        enum end_reason asked;
        enum output_status status;
        enum verdict verdict;
        bool failed;
        int exit_code;
    } rows[] = {
        { { 0 }, END_EXIT, OUTPUT_OK, VERDICT_OK, false, 0 },
        { { 0 }, END_EXIT, OUTPUT_MISSING, VERDICT_COMPILE_ERROR, true, 1 },
        { { 0 }, END_EXIT, OUTPUT_TOO_LARGE, VERDICT_COMPILE_ERROR, true, 1 },
        { { .exit_code = 3 }, END_EXIT, OUTPUT_MISSING, VERDICT_COMPILE_ERROR, true, 3 },
        { { .signal = 11 }, END_EXIT, OUTPUT_MISSING, VERDICT_COMPILE_ERROR, true, 139 },
        { { .reason = END_WALL, .signal = 9, .hits = LIMIT_BIT(LIMIT_WALL_MS) },
          END_EXIT,
          OUTPUT_OK,
          VERDICT_TIMEOUT,
          true,
          124 },
        { { .reason = END_MEMORY, .signal = 9, .hits = LIMIT_BIT(LIMIT_MEMORY) },
          END_EXIT,
          OUTPUT_OK,
          VERDICT_MEMORY_LIMIT,
          true,
          137 },
        { { .exit_code = 1, .hits = LIMIT_BIT(LIMIT_DISK) },
          END_EXIT,
          OUTPUT_OK,
          VERDICT_DISK_LIMIT,
          true,
          1 },
        { { 0 }, END_CANCEL, OUTPUT_OK, VERDICT_CANCELLED, false, 130 },
        { { .exit_code = 1 }, END_CANCEL, OUTPUT_OK, VERDICT_CANCELLED, false, 130 },
        { { .reason = END_FAILURE }, END_EXIT, OUTPUT_OK, VERDICT_INTERNAL_ERROR, false, 125 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scoped(stage_result) p = ended(rows[i].evidence, rows[i].asked, "program", rows[i].status);
        CHECK_INT(p.verdict, rows[i].verdict);
        CHECK_INT(stage_result_is_failure(&p), rows[i].failed);
        struct evidence ev = stage_result_evidence(&p);
        CHECK_INT(verdict_exit_code(rows[i].failed ? VERDICT_COMPILE_ERROR : p.verdict, &ev),
                  rows[i].exit_code);
        CHECK_INT(ev.hits, rows[i].evidence.hits);
    }
}

static void test_shown_output_is_bounded_and_whole_characters(void)
{
    scoped(stage_result) p = { 0 };
    struct err e = { 0 };
    for (int i = 0; i < 40000; i++)
        CHECK_INT(buf_add(&p.output[RUN_STDERR], "xü", 3, &e), 0);
    json_auto_t *o = stage_result_json(&p, false, NULL);
    size_t n = json_string_length(json_object_get(o, "stderr"));
    CHECK(n <= 64 << 10 && n > (64 << 10) - 4);
    CHECK(json_is_true(json_object_get(o, "stderr_cut")));
    CHECK(json_is_false(json_object_get(o, "stdout_cut")));
    CHECK(json_object_get(o, "stderr_base64") == NULL);
    CHECK(json_is_null(json_object_get(o, "key")));
}

static void test_toolchain_that_is_missing_is_not_found(void)
{
    struct err e = { 0 };
    CHECK_INT(stage_installed(&plain, &e), 0);
    CHECK_INT(stage_installed(&compiled, &e), -1);
    CHECK_INT(e.code, ERR_NOT_FOUND);
}

static void test_files_for_the_program_alone_are_kept_from_its_compiler(void)
{
    struct err e = { 0 };
    char text[200];
    bool has = true;
    scoped(buf) all = { 0 }, seen = { 0 }, alone = { 0 }, joined = { 0 };
    put(&all, "a.c", 0644, "main");
    CHECK_INT(stage_split(&all, &has, &seen, &alone, &e), 0);
    CHECK(!has && seen.len == 0 && alone.len == 0);
    put(&all, "in", 0644 | BUNDLE_RUN_ONLY, "data");
    put(&all, "program", 0644 | BUNDLE_RUN_ONLY, "no program");
    put(&all, "b.c", 0755, "more");
    CHECK_INT(stage_split(&all, &has, &seen, &alone, &e), 0);
    CHECK(has);
    CHECK_STR(listed(&seen, text, sizeof text), "a.c:644:main b.c:755:more");
    put(&seen, "program", 0755, "ELF");
    CHECK_INT(stage_join(&seen, &alone, &joined, &e), 0);
    CHECK_STR(listed(&joined, text, sizeof text),
              "a.c:644:main b.c:755:more program:755:ELF in:1644:data");
    all.len -= 1;
    scoped(buf) none = { 0 };
    CHECK_INT(stage_split(&all, &has, &none, &none, &e), -1);
    CHECK_INT(stage_join(&seen, &all, &none, &e), -1);
}

static const struct check_test tests[] = {
    TEST(test_files_for_the_program_alone_are_kept_from_its_compiler),
    TEST(test_stages_follow_from_the_declaration_and_the_options),
    TEST(test_compiler_gets_its_own_and_nothing_of_the_callers),
    TEST(test_options_without_limits_mean_the_usual_ones),
    TEST(test_arguments_go_where_the_command_says),
    TEST(test_program_gets_what_the_caller_asked_for),
    TEST(test_sources_are_the_main_file_and_all_of_its_kind),
    TEST(test_what_was_made_goes_before_a_file_of_its_name),
    TEST(test_bundle_that_is_damaged_is_refused),
    TEST(test_how_a_compiler_ended),
    TEST(test_shown_output_is_bounded_and_whole_characters),
    TEST(test_toolchain_that_is_missing_is_not_found),
};
CHECK_MAIN(tests)
