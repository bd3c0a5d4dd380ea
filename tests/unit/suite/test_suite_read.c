/* The outputs in tests/data/suite are those of the real runners, in a jar. */
#include <fcntl.h>
#include <stdlib.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/fdio.h"
#include "check.h"
#include "examiner/answer.h"
#include "run/tests_json.h"
#include "suite/suite.h"

static void read_sample(enum test_runner runner, struct suite_report *ret)
{
    const struct suite_runner *r = suite_runner(runner);
    char path[256];
    scoped(buf) text = { 0 };
    struct err e;
    (void)snprintf(path, sizeof path, DOCS_DIR "/../tests/data/suite/%s.txt", r->name);
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    *ret = (struct suite_report){ 0 };
    if (CHECK(fd >= 0) && CHECK(fd_read_to_buf(fd, 1 << 20, &text, &e) == 0))
        suite_read(r, text.data, text.len, ret);
}

static const struct suite_case *named(const struct suite_report *r, const char *name)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->cases[i].name, name) == 0)
            return &r->cases[i];
    (void)fprintf(stderr, "there is no test '%s' among %zu\n", name, r->n);
    return NULL;
}

/* One row for each test: its outcome, and a piece of its details or message (NULL: it has none). */
struct expected {
    const char *name;
    enum suite_outcome outcome;
    const char *details, *message;
};

static void check_all(enum test_runner runner, const struct expected *rows, size_t n)
{
    scoped(suite_report) r = { 0 };
    read_sample(runner, &r);
    CHECK_INT(r.n, n);
    CHECK(!r.cut && !r.failed);
    for (size_t i = 0; i < n; i++) {
        const struct suite_case *c = named(&r, rows[i].name);
        if (!CHECK(c != NULL))
            continue;
        CHECK_STR(suite_outcomes[c->outcome], suite_outcomes[rows[i].outcome]);
        CHECK(rows[i].details ? c->details && strstr(c->details, rows[i].details) : !c->details);
        CHECK(!rows[i].message || (c->message && strstr(c->message, rows[i].message)));
    }
    json_t *json = tests_json(suite_runner(runner), &r, NULL);
    CHECK(tests_valid(json));
    json_decref(json);
}
#define CHECK_ALL(runner, rows) check_all(runner, rows, sizeof(rows) / sizeof((rows)[0]))

static void test_pytest_is_read(void)
{
    static const struct expected rows[] = {
        { "test_calc.py::test_add", SUITE_PASSED, NULL, NULL },
        { "test_calc.py::test_wrong", SUITE_FAILED, "AssertionError: assert 3 == 4",
          "assert 3 == 4" },
        { "test_calc.py::test_names[x y]", SUITE_PASSED, NULL, NULL },
        { "test_calc.py::test_names[PASSED]", SUITE_FAILED, "'PASSED' == 'x y'", NULL },
        { "test_calc.py::TestDiv::test_zero", SUITE_FAILED, "ZeroDivisionError",
          "division by zero" },
        { "test_calc.py::TestDiv::test_later", SUITE_SKIPPED, NULL, "not now" },
        { "test_calc.py::TestDiv::test_x", SUITE_SKIPPED, NULL, NULL },
        { "test_calc.py::test_setup", SUITE_ERROR, "RuntimeError: no database", "no database" },
        { "sub/test_import.py", SUITE_ERROR, "line 1, in <module>\n    import nothere\n", NULL },
    };
    CHECK_ALL(TEST_RUNNER_PYTEST, rows);
}

static void test_unittest_is_read(void)
{
    static const struct expected rows[] = {
        { "test_broken", SUITE_ERROR, "No module named 'nothere'", NULL },
        { "test_calc.Calc.test_bad", SUITE_FAILED, "AssertionError: 2 != 3", NULL },
        { "test_calc.Calc.test_err", SUITE_ERROR, "KeyError: 'key'", NULL },
        { "test_calc.Calc.test_ok", SUITE_PASSED, NULL, NULL },
        { "test_calc.Calc.test_skip", SUITE_SKIPPED, NULL, "not now" },
        { "test_calc.Calc.test_sub (i=1)", SUITE_FAILED, "AssertionError: 1 == 1", NULL },
        { "test_calc.Calc.test_x", SUITE_PASSED, NULL, NULL },
    };
    CHECK_ALL(TEST_RUNNER_UNITTEST, rows);
}

static void test_node_is_read(void)
{
    static const struct expected rows[] = {
        { "adds", SUITE_PASSED, NULL, NULL },
        { "wrong", SUITE_FAILED,
          "AssertionError: Expected values to be strictly equal:", "strictly equal" },
        { "type error", SUITE_FAILED, "    at TestContext.<anonymous> (/sandbox/a.test.js:6:38)",
          "Cannot read properties of undefined" },
        { "skipped", SUITE_SKIPPED, NULL, "later" },
        { "group > inner ok", SUITE_PASSED, NULL, NULL },
        { "group > inner bad", SUITE_FAILED, "Error: boom # hash", NULL },
        { "b.test.js", SUITE_FAILED, "Error: Cannot find module './missing'", "test failed" },
    };
    CHECK_ALL(TEST_RUNNER_NODE, rows);
}

static void test_go_is_read(void)
{
    static const struct expected rows[] = {
        { "example.com/calc/broken", SUITE_ERROR, "undefined: undefinedName", NULL },
        { "TestAdd", SUITE_PASSED, NULL, NULL },
        { "TestWrong", SUITE_FAILED, "calc_test.go:16: second", "Add(1, 2) = 3, want 4" },
        { "TestTable/n=1", SUITE_PASSED, NULL, NULL },
        { "TestTable/n=2", SUITE_FAILED, "n is 2", "n is 2" },
        { "TestSkip", SUITE_SKIPPED, NULL, "later" },
        { "TestPanic", SUITE_FAILED, "panic: runtime error: index out of range", NULL },
    };
    CHECK_ALL(TEST_RUNNER_GO, rows);
}

static void test_minitest_is_read(void)
{
    static const struct expected rows[] = {
        { "CalcTest#test_ok", SUITE_PASSED, NULL, NULL },
        { "CalcTest#test_skip", SUITE_SKIPPED, NULL, "later" },
        { "CalcTest#test_wrong", SUITE_FAILED, "Expected: 4\n  Actual: 3", "the sum." },
        { "CalcTest#test_error", SUITE_ERROR, "in `test_error': undefined method `upcase'", NULL },
        { "spec style#test_0001_works = fine", SUITE_PASSED, NULL, NULL },
    };
    CHECK_ALL(TEST_RUNNER_MINITEST, rows);
}

static void test_ctest_is_read(void)
{
    static const struct expected rows[] = {
        { "ok", SUITE_PASSED, NULL, NULL },
        { "wrong", SUITE_FAILED, "Assertion `add(1, 2) == 4' failed", "Subprocess aborted" },
        { "crash", SUITE_FAILED, NULL, "SegFault" },
    };
    CHECK_ALL(TEST_RUNNER_CTEST, rows);
}

/* The panic of one test ends the others: they have not got to their end. */
static void test_rspec_is_read(void)
{
    static const struct expected rows[] = {
        { "Calc adds", SUITE_PASSED, NULL, NULL },
        { "Calc is for later", SUITE_SKIPPED, NULL, "Temporarily skipped with xit" },
        { "Calc#add", SUITE_PASSED, NULL,
          NULL }, /* a test printed a line between it and its test */
        { "Calc throws", SUITE_FAILED,
          "calc.rb:4:in `first': undefined method `name' for nil:NilClass (NoMethodError)",
          "undefined method" },
        { "Calc#add is wrong", SUITE_FAILED, "expected: 4\n            got: 3", "expected: 4" },
    };
    CHECK_ALL(TEST_RUNNER_RSPEC, rows);
}

static void test_cargo_is_read(void)
{
    static const struct expected rows[] = {
        { "tests::adds", SUITE_PASSED, NULL, NULL },
        { "tests::later", SUITE_SKIPPED, NULL, "not now" },
        { "tests::bounds", SUITE_FAILED, "index out of bounds: the len is 0",
          "index out of bounds" },
        { "tests::panics", SUITE_PASSED, NULL, NULL },
        { "tests::wrong", SUITE_FAILED, "left: `3`", "assertion failed" },
        { "outside", SUITE_FAILED, "the sum", "the sum" },
    };
    CHECK_ALL(TEST_RUNNER_CARGO, rows);
    scoped(suite_report) r = { 0 };
    read_sample(TEST_RUNNER_CARGO, &r);
    CHECK_STR(named(&r, "tests::bounds")->file, "src/lib.rs");
    CHECK_INT(named(&r, "tests::bounds")->line, 23);
}

static void test_jest_is_read(void)
{
    static const struct expected rows[] = {
        { "calc.test.js > prints", SUITE_PASSED, NULL, NULL },
        { "calc.test.js > calc \xe2\x80\xba adds", SUITE_PASSED, NULL, NULL },
        { "calc.test.js > calc \xe2\x80\xba wrong", SUITE_FAILED,
          "Error: expect(received).toBe(expected) // Object.is equality\nExpected: 4\n",
          "expect(received).toBe(expected)" },
        { "calc.test.js > calc \xe2\x80\xba throws", SUITE_FAILED,
          "TypeError: Cannot read properties of undefined (reading 'name')\n    at name "
          "(calc.js:2:35)",
          "TypeError" },
        { "calc.test.js > calc \xe2\x80\xba later", SUITE_SKIPPED, NULL, NULL },
        { "calc.test.js > calc \xe2\x80\xba much later", SUITE_SKIPPED, NULL, NULL },
        { "broken.test.js", SUITE_ERROR, "Error: Cannot find module './nothing'", NULL },
    };
    CHECK_ALL(TEST_RUNNER_JEST, rows);
}

static void test_vitest_is_read(void)
{
    static const struct expected rows[] = {
        { "vbroken.spec.mjs", SUITE_ERROR, "Error: Cannot find module './nothing.mjs'", NULL },
        { "vit.spec.mjs > vit > adds", SUITE_PASSED, NULL, NULL },
        { "vit.spec.mjs > vit > wrong", SUITE_FAILED,
          "AssertionError: expected { a: 3 } to deeply equal { a: 4 }\n    at "
          "/sandbox/vit.spec.mjs:4",
          "deeply equal" },
        { "vit.spec.mjs > vit > throws", SUITE_FAILED, "TypeError: Cannot read", "Cannot read" },
        { "vit.spec.mjs > vit > later", SUITE_SKIPPED, NULL, NULL },
        { "vit.spec.mjs > vit > prints", SUITE_PASSED, NULL, NULL },
    };
    CHECK_ALL(TEST_RUNNER_VITEST, rows);
}

static void test_a_go_test_without_an_end_is_an_error(void)
{
    static const char text[] = "=== RUN   TestA\n=== PAUSE TestA\n=== RUN   TestB\n--- PASS: TestB "
                               "(0.00s)\n=== CONT  TestA\npanic: boom\nFAIL\tx\t0.1s\n";
    scoped(suite_report) r = { 0 };
    suite_read(suite_runner(TEST_RUNNER_GO), text, strlen(text), &r);
    if (!CHECK_INT(r.n, 2))
        return;
    CHECK_INT(r.cases[0].outcome, SUITE_ERROR);
    CHECK(r.cases[0].details && strstr(r.cases[0].details, "panic: boom"));
    CHECK_INT(r.cases[1].outcome, SUITE_PASSED);
}

static void test_the_output_of_a_test_explains_nothing(void)
{
    scoped(suite_report) r = { 0 };
    read_sample(TEST_RUNNER_PYTEST, &r);
    const struct suite_case *c = named(&r, "test_calc.py::test_names[PASSED]");
    CHECK(c && c->details && !strstr(c->details, "hello"));
    suite_report_done(&r);
    read_sample(TEST_RUNNER_UNITTEST, &r);
    c = named(&r, "test_calc.Calc.test_bad");
    CHECK(c && c->details && !strstr(c->details, "debugging"));
}

/* SUITE-2: a test can print anything. */
static void test_reports_are_bounded(void)
{
    scoped(buf) text = { 0 };
    scoped(suite_report) r = { 0 };
    struct err e;
    CHECK(buf_addf(&text, &e, "=== test session starts ===\n") == 0);
    for (int i = 0; i < SUITE_CASES_MAX + 10; i++)
        CHECK(buf_addf(&text, &e, "a.py::t%d PASSED\n", i) == 0);
    suite_read(suite_runner(TEST_RUNNER_PYTEST), text.data, text.len, &r);
    CHECK_INT(r.n, SUITE_CASES_MAX);
    CHECK(r.cut);
    suite_report_done(&r);
    text.len = 0;
    CHECK(buf_addf(&text, &e, "=== test session starts ===\na.py::\xff%c", 0) == 0);
    for (int i = 0; i < 2 * SUITE_NAME_MAX; i++)
        CHECK(buf_addf(&text, &e, "x") == 0);
    CHECK(buf_addf(&text, &e, " PASSED\n") == 0);
    suite_read(suite_runner(TEST_RUNNER_PYTEST), text.data, text.len, &r);
    CHECK_INT(r.n, 1);
    CHECK(strlen(r.cases[0].name) <= SUITE_NAME_MAX + 2);
    json_t *json = tests_json(suite_runner(TEST_RUNNER_PYTEST), &r, NULL);
    CHECK(tests_valid(json)); /* SUITE-3: JSON holds no other bytes */
    json_decref(json);
}

static void test_both_ends_of_a_long_output_are_read(void)
{
    scoped(buf) text = { 0 };
    scoped(suite_report) r = { 0 };
    struct err e;
    CHECK(buf_addf(&text, &e, "=== test session starts ===\na.py::first PASSED\n") == 0);
    while (text.len < 2 * SUITE_TEXT_MAX)
        CHECK(buf_addf(&text, &e, "a long line of a program that prints a lot\n") == 0);
    CHECK(buf_addf(&text, &e, "a.py::last FAILED\n") == 0);
    suite_read(suite_runner(TEST_RUNNER_PYTEST), text.data, text.len, &r);
    CHECK_INT(r.n, 2);
    CHECK(r.cut);
}

/* TESTS-1: the report of tests alone does not make them good. */
static void test_the_outcome_needs_a_good_verdict(void)
{
    scoped(suite_report) r = { 0 };
    static const char good[] = "=== test session starts ===\na.py::t PASSED\n";
    static const char bad[] = "=== test session starts ===\na.py::t FAILED\n";
    const struct suite_runner *runner = suite_runner(TEST_RUNNER_PYTEST);
    const enum test_runner id = TEST_RUNNER_PYTEST;
    suite_read(runner, good, strlen(good), &r);
    json_t *json = tests_json(runner, &r, NULL);
    CHECK_STR(tests_outcome(VERDICT_OK, 0, id, json), "passed");
    CHECK_STR(tests_outcome(VERDICT_RUNTIME_ERROR, 1, id, json), "failed");
    CHECK_STR(tests_outcome(VERDICT_TIMEOUT, 124, id, json), "stopped");
    CHECK_STR(tests_outcome(VERDICT_OK, 0, id, NULL), "unknown");
    json_decref(json);
    suite_report_done(&r);
    suite_read(runner, bad, strlen(bad), &r);
    json = tests_json(runner, &r, NULL);
    CHECK_STR(tests_outcome(VERDICT_OK, 0, id, json), "failed");
    json_decref(json);
    suite_report_done(&r);
    suite_read(runner, "", 0, &r);
    json = tests_json(runner, &r, NULL);
    CHECK_STR(tests_outcome(VERDICT_OK, 0, id, json), "no_tests");
    CHECK_STR(tests_outcome(VERDICT_RUNTIME_ERROR, 5, id, json), "no_tests");
    CHECK_STR(tests_outcome(VERDICT_RUNTIME_ERROR, 4, id, json), "failed");
    json_decref(json);
}

static void test_an_answer_with_a_wrong_report_is_refused(void)
{
    static const char *const wrong[] = {
        "{\"source\": \"belljar\"}", "{\"total\": 7}",    "{\"passed\": 0}", "{\"runner\": \"x\"}",
        "{\"language\": \"go\"}",    "{\"cases\": [{}]}", "{\"more\": 1}",   "{\"cut\": 0}",
    };
    scoped(suite_report) r = { 0 };
    static const char good[] = "=== test session starts ===\na.py::t PASSED\n";
    suite_read(suite_runner(TEST_RUNNER_PYTEST), good, strlen(good), &r);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        json_t *json = tests_json(suite_runner(TEST_RUNNER_PYTEST), &r, NULL);
        json_t *change = json_loads(wrong[i], 0, NULL);
        CHECK(tests_valid(json));
        (void)json_object_update(json, change);
        CHECK(!tests_valid(json));
        scoped(buf) packed = { 0 };
        scoped(answer) got = { 0 };
        struct err e;
        CHECK(answer_pack(&(struct answer){ .id = 7, .tests = json }, &packed, &e) == 0);
        CHECK(answer_unpack(packed.data, packed.len, 7, &got, &e) == -1); /* ANSWER-1 */
        json_decref(change);
        json_decref(json);
    }
}

static void test_runners_are_found_by_their_files(void)
{
    struct suite_search none = { 0 }, python = { 0 };
    enum test_runner found = TEST_RUNNER_NONE;
    struct err e = { 0 };
    suite_see(&none, "main.py");
    suite_see(&none, "tests/data.json");
    CHECK(suite_choose(&none, &found, &e) == -1);
    CHECK_INT(e.code, ERR_NOT_FOUND);
    CHECK(strstr(e.text, "pytest") != NULL);
    suite_see(&python, "tests/test_a.py");
    if (suite_is_installed(suite_runner(TEST_RUNNER_UNITTEST))) {
        CHECK(suite_choose(&python, &found, &e) == 0);
        CHECK(found == TEST_RUNNER_PYTEST || found == TEST_RUNNER_UNITTEST);
    }
    for (int i = TEST_RUNNER_NONE + 1; i < TEST_RUNNER_COUNT_; i++) {
        const struct suite_runner *r = suite_runner((enum test_runner)i);
        CHECK_STR(r->name, test_runners[i]);
        CHECK(r->language && r->marks && r->tests && r->script && r->places && r->install &&
              r->read);
        CHECK(!r->code == !r->beside);
    }
}

static const struct check_test tests[] = {
    TEST(test_pytest_is_read),
    TEST(test_unittest_is_read),
    TEST(test_node_is_read),
    TEST(test_go_is_read),
    TEST(test_minitest_is_read),
    TEST(test_ctest_is_read),
    TEST(test_rspec_is_read),
    TEST(test_cargo_is_read),
    TEST(test_jest_is_read),
    TEST(test_vitest_is_read),
    TEST(test_a_go_test_without_an_end_is_an_error),
    TEST(test_the_output_of_a_test_explains_nothing),
    TEST(test_reports_are_bounded),
    TEST(test_both_ends_of_a_long_output_are_read),
    TEST(test_the_outcome_needs_a_good_verdict),
    TEST(test_an_answer_with_a_wrong_report_is_refused),
    TEST(test_runners_are_found_by_their_files),
};
CHECK_MAIN(tests)
