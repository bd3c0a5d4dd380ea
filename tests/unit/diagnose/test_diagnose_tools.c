/* Findings of tools that are not a language, and reports of test runners. */
#include <string.h>

#include "base/array.h"
#include "check.h"
#include "diagnose/core/diagnose.h"
#include "diagnose/core/grammar.h"

static struct diagnosis d; /* large; of the test that runs */

static bool read_text(const struct diagnose_input *in)
{
    struct diagnoser *g = NULL;
    struct err e;
    if (!CHECK(diagnoser_new(&g, &e) == 0))
        return false;
    bool found = diagnose(g, in, &d);
    CHECK_STR(match_broken(g), NULL);
    diagnoser_free(g);
    return found;
}

static bool explain(const char *language, const char *text)
{
    return read_text(&(struct diagnose_input){ .grammar = language,
                                               .language = language,
                                               .text = text,
                                               .len = strlen(text),
                                               .verdict = VERDICT_RUNTIME_ERROR });
}

static const struct {
    const char *text, *language, *type, *file;
    unsigned line;
    size_t further;
    const char *advice; /* a word of the best suggestion; NULL: none is needed */
} findings[] = {
    { "pkg/a.py:7: error: Name \"frob\" is not defined  [name-defined]\n"
      "pkg/b.py:9:5: error: Missing return statement  [return]\n"
      "Found 2 errors in 2 files (checked 4 source files)\n",
      "python", "mypy name-defined", "pkg/a.py", 7, 1, "frob" },
    { "/w/app.py\n  /w/app.py:3:8 - error: Import \"requests\" could not be resolved "
      "(reportMissingImports)\n1 error, 0 warnings\n",
      "python", "pyright reportMissingImports", "/w/app.py", 3, 0, "requests" },
    { "a.py:2:5: F841 Local variable `x` is assigned to but never used\nFound 1 error.\n", "python",
      "ruff F841", "a.py", 2, 0, "`x`" },
    { "./a.py:2:80: E501 line too long (91 > 79 characters)\n", "python", "flake8 E501", "./a.py",
      2, 0, "longer" },
    { "************* Module a\na.py:4:0: C0116: Missing function or method docstring "
      "(missing-function-docstring)\n",
      "python", "pylint C0116", "a.py", 4, 0, "docstring" },
    { "error: cannot format lib/x.py: Cannot parse: 3:9: if a = 2:\n", "python", "black",
      "lib/x.py", 3, 0, NULL },
    { "\n/w/src/view.tsx\n  4:1  warning  Unexpected console statement  no-console\n"
      "  9:3  error    Missing semicolon                       semi\n\n2 problems\n",
      "typescript", "eslint semi", "/w/src/view.tsx", 9, 0, ";" },
    { "[ERROR] /w/src/main/java/A.java:[3,20] package org.json does not exist\n", "java", "maven",
      "/w/src/main/java/A.java", 3, 0, "pom.xml" },
    { "npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://registry.npmjs.org/lodahs\n"
      "npm ERR! 404  'lodahs@*' is not in this registry.\n",
      "javascript", "npm E404", "", 0, 0, "lodahs" },
    { "ERROR: Could not find a version that satisfies the requirement flaskk (from versions: "
      "none)\n",
      "python", "pip", "", 0, 0, "flaskk" },
    { "In run.sh line 3:\ncd build\n^------^ SC2164 (warning): Use 'cd ... || exit' in case cd "
      "fails.\n",
      "bash", "shellcheck SC2164", "run.sh", 3, 0, "exit" },
    { "Program.cs(5,13): error CS0103: The name 'foo' does not exist in the current context "
      "[/w/a.csproj]\n",
      "csharp", "csc CS0103", "Program.cs", 5, 0, "foo" },
    { "e: file:///w/Main.kt:8:5 Unresolved reference: readNumber\n", "kotlin", "kotlinc",
      "/w/Main.kt", 8, 0, "readNumber" },
};

static void test_tools_name_themselves(void)
{
    for (size_t i = 0; i < ARRAY_LEN(findings); i++) {
        if (!CHECK(explain(NULL, findings[i].text)))
            continue;
        CHECK_STR(d.language, findings[i].language);
        CHECK_STR(d.type, findings[i].type);
        CHECK(strstr(findings[i].file, d.location.file) != NULL);
        CHECK_INT(d.location.line, findings[i].line);
        CHECK_INT(d.n_further, findings[i].further);
        if (findings[i].advice)
            CHECK(d.n_suggestions > 0 && strstr(d.suggestions[0].text, findings[i].advice));
    }
}

static void test_a_tool_is_read_although_its_language_is_given(void)
{
    CHECK(explain("python", findings[0].text));
    CHECK_STR(d.type, "mypy name-defined");
}

static const char *const ordinary[] = {
    "app.py:3: warning: unused\n",
    "Found 0 errors\n",
    "[ERROR] nothing here\n",
    "npm notice created a lockfile\n",
    "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips\n",
    "3 examples, 0 failures\n",
};

static void test_lines_that_only_look_like_findings_are_none(void)
{
    for (size_t i = 0; i < ARRAY_LEN(ordinary); i++)
        CHECK(!explain(NULL, ordinary[i]));
}

static const struct {
    const char *text, *language;
    unsigned line, others[2];
} reports[] = {
    { "=== FAILURES ===\n___ test_a ___\n\n    def test_a():\n>       assert f(1) == 2\nE       "
      "assert 1 == 2\n\ntest_f.py:4: AssertionError\n___ test_b ___\n\n>       f()\nE       "
      "TypeError: f() missing 1 required positional argument: 'x'\n\ntest_f.py:7: TypeError\n"
      "___ test_c ___\n\n>       f(3)\nE       ValueError: no\n\nf.py:2: ValueError\n=== short "
      "test "
      "summary info ===\n",
      "python",
      4,
      { 7, 2 } },
    { "--- FAIL: TestA (0.00s)\n    a_test.go:5: got 1\n--- FAIL: TestB (0.00s)\n    --- FAIL: "
      "TestB/sub (0.00s)\n        a_test.go:11: got 2\nFAIL\n",
      "go",
      5,
      { 11 } },
    { "running 2 tests\n\nfailures:\n\n---- t::a stdout ----\nthread 't::a' panicked at "
      "src/lib.rs:9:5:\nassertion failed: f()\n\n---- t::b stdout ----\nthread 't::b' panicked at "
      "src/lib.rs:14:5:\nboom\n\nfailures:\n    t::a\n\ntest result: FAILED. 0 passed; 2 failed\n",
      "rust",
      9,
      { 14 } },
    { "  1) Failure:\nTestA#test_x [t.rb:6]:\nExpected: 1\n  Actual: 2\n\n  2) Error:\n"
      "TestA#test_y:\nZeroDivisionError: divided by 0\n    t.rb:10:in `/'\n\n2 runs, 1 assertions, "
      "1 failures, 1 errors, 0 skips\n",
      "ruby",
      6,
      { 10 } },
    { "Failure: test_x(TestA): <1> expected but was <2>.\nt.rb:6:in `test_x'\n====================="
      "====\nError: test_y(TestA): ZeroDivisionError: divided by 0\nt.rb:10:in `/'\n"
      "2 tests, 1 assertions, 1 failures, 1 errors\n",
      "ruby",
      6,
      { 10 } },
    { "There were 2 failures:\n\n1) ATest::testX\nFailed asserting that 1 is 2.\n\n/w/ATest.php:8\n"
      "\n2) ATest::testY\nFailed asserting that false is true.\n\n/w/ATest.php:13\n\nFAILURES!\n",
      "php",
      8,
      { 13 } },
    { "[ERROR] Failures: \n[ERROR]   CartTest.adds:12 expected: <3> but was: <4>\n[ERROR]   "
      "CartTest.removes:20 expected: <0> but was: <1>\n",
      "java",
      12,
      { 20 } },
};

static void check_report(size_t i)
{
    CHECK_STR(d.language, reports[i].language);
    CHECK_INT(d.location.line, reports[i].line);
    CHECK_INT(d.n_further, 1 + (reports[i].others[1] > 0));
    for (size_t k = 0; k < 2 && reports[i].others[k]; k++)
        CHECK_INT(d.further[k].at.line, reports[i].others[k]);
}

static void test_every_failed_test_of_a_report_is_named(void)
{
    for (size_t i = 0; i < ARRAY_LEN(reports); i++)
        if (CHECK(explain(NULL, reports[i].text)))
            check_report(i);
}

/* Most runners print their report on stdout. */
static void test_a_report_on_stdout_is_read(void)
{
    const struct evidence ended = { .exit_code = 1 };
    for (size_t i = 0; i < ARRAY_LEN(reports); i++)
        if (CHECK(read_text(&(struct diagnose_input){ .grammar = reports[i].language,
                                                      .language = reports[i].language,
                                                      .text = "",
                                                      .printed = reports[i].text,
                                                      .printed_len = strlen(reports[i].text),
                                                      .evidence = &ended,
                                                      .verdict = VERDICT_RUNTIME_ERROR })))
            check_report(i);
}

static void test_frameworks_logs_have_their_errors(void)
{
    CHECK(explain(NULL,
                  "Completed 500 Internal Server Error in 3ms\n\nZeroDivisionError (divided by "
                  "0):\n\napp/models/cart.rb:8:in `/'\napp/models/cart.rb:8:in `mean'\n"));
    CHECK_STR(d.language, "ruby");
    CHECK_STR(d.type, "ZeroDivisionError");
    CHECK_INT(d.location.line, 8);
    CHECK(explain(NULL,
                  "2024/05/01 10:00:00 http: panic serving 127.0.0.1:4: runtime error: index out "
                  "of range [3] with length 2\ngoroutine 9 [running]:\nmain.list(0x1)\n\t"
                  "/w/main.go:31 +0x1d\n"));
    CHECK_STR(d.language, "go");
    CHECK_INT(d.location.line, 31);
    CHECK(explain(NULL, "[2024-03-01 10:00:00] local.ERROR: Undefined variable $x {\"exception\":\""
                        "[object] (ErrorException(code: 0): Undefined variable $x at "
                        "/w/app/A.php:12)\n"));
    CHECK_STR(d.language, "php");
    CHECK_INT(d.location.line, 12);
    CHECK(explain(
        NULL, "Exception in thread \"main\" java.lang.IllegalStateException: closed\n"
              "    at com.acme.Pool.take(Pool.java:40)\n    at com.acme.Main.main(Main.java:3)\n"));
    CHECK_STR(d.message, "closed");
    CHECK_INT(d.location.line, 40);
}

static void test_a_finding_of_clippy_names_its_lint(void)
{
    CHECK(explain(
        "rust", "error: this loop never actually loops\n --> src/main.rs:4:5\n  |\n4 |     loop {\n"
                "  |     ^^^^^^\n  |\n  = help: for further information visit "
                "https://rust-lang.github.io/rust-clippy/master/index.html#never_loop\n"));
    CHECK_STR(d.type, "clippy never_loop");
    CHECK_INT(d.location.line, 4);
    CHECK(d.n_suggestions == 1 && strstr(d.suggestions[0].text, "clippy::never_loop"));
    /* The lint of a later finding is not that of the first. */
    CHECK(explain(
        "rust", "error: expected `;`\n --> src/main.rs:2:9\n\nerror: x\n --> src/main.rs:9:1\n  = "
                "note: `#[deny(clippy::never_loop)]` on by default\n"));
    CHECK_STR(d.type, "");
}

/* The files of containerd: time, stream, and F for a whole line. */
static void test_a_log_of_containerd_is_read(void)
{
    CHECK(explain(NULL,
                  "2024-05-02T10:00:00.1Z stderr F /srv/app/a.js:18\n"
                  "2024-05-02T10:00:00.1Z stderr F   f(user.name);\n"
                  "2024-05-02T10:00:00.1Z stderr F          ^\n"
                  "2024-05-02T10:00:00.1Z stderr F TypeError: Cannot read properties of undefined "
                  "(reading 'name')\n"
                  "2024-05-02T10:00:00.1Z stderr F     at /srv/app/a.js:18:10\n"));
    CHECK_STR(d.language, "javascript");
    CHECK_STR(d.type, "TypeError");
    CHECK_INT(d.location.line, 18);
}

static const struct check_test tests[] = {
    TEST(test_a_finding_of_clippy_names_its_lint),
    TEST(test_a_log_of_containerd_is_read),
    TEST(test_tools_name_themselves),
    TEST(test_a_tool_is_read_although_its_language_is_given),
    TEST(test_lines_that_only_look_like_findings_are_none),
    TEST(test_every_failed_test_of_a_report_is_named),
    TEST(test_a_report_on_stdout_is_read),
    TEST(test_frameworks_logs_have_their_errors),
};
CHECK_MAIN(tests)
