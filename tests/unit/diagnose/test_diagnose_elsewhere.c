/* Errors that others passed on: containers, build services, logs, runners of tests, notebooks. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "check.h"
#include "diagnose/core/diagnose.h"
#include "diagnose/core/grammar.h"

static struct diagnosis d; /* large; of the test that runs */

static bool explain(const char *text)
{
    struct diagnoser *g = NULL;
    struct err e;
    const struct diagnose_input in = { .text = text,
                                       .len = strlen(text),
                                       .verdict = VERDICT_RUNTIME_ERROR };
    if (!CHECK(diagnoser_new(&g, &e) == 0))
        return false;
    bool found = diagnose(g, &in, &d);
    CHECK_STR(match_broken(g), NULL);
    diagnoser_free(g);
    return found;
}

static const char trace[] = "INFO starting\n"
                            "Traceback (most recent call last):\n"
                            "  File \"/app/main.py\", line 4, in <module>\n"
                            "    print(label(tea))\n"
                            "          ^^^^^^^^^^\n"
                            "  File \"/app/shop.py\", line 6, in label\n"
                            "    return \"costs \" + price\n"
                            "           ~~~~~~~~~^~~~~~~\n"
                            "TypeError: can only concatenate str (not \"int\") to str\n"
                            "INFO stopping\n";

/* The trace with something before and after each line. */
static void dress(const char *before, const char *after, char *out, size_t size)
{
    struct piece rest = PIECE(trace), line;
    size_t n = 0;
    while (next_line(&rest, &line))
        n += (size_t)snprintf(out + n, size - n, "%s%.*s%s\n", before, P(line), after);
}

static void check_trace(const char *text)
{
    if (!CHECK(explain(text)))
        return;
    CHECK_STR(d.language, "python");
    CHECK_STR(d.type, "TypeError");
    CHECK_STR(d.message, "can only concatenate str (not \"int\") to str");
    CHECK_STR(d.location.file, "/app/shop.py");
    CHECK_INT(d.location.line, 6);
    CHECK_INT(d.n_frames, 2);
}

static void test_what_stands_before_lines_is_taken_off(void)
{
    static const char *const before[] = {
        "web-1  | ",
        "app_web.1.x7k2@host-1    | ",
        "[pod/web-7d9-x/app] ",
        "[pod/web-7d9-x/app] 2024-11-15T20:31:05Z ",
        "2024-11-15T20:31:05.1234567Z ",
        "2024-11-15T20:31:05.123456+00:00 app[web.1]: ",
        "2024-11-15 20:31:05,123 ",
        "[2024-11-15T20:31:05.123Z] ",
        "2024-11-15T20:31:05.123456Z 01E ",
        "build\tRun tests\t2024-11-15T20:31:05.1234567Z ",
        "Nov 15 20:31:05 host app[123]: ",
        "Nov  5 20:31:05 host app.service[123]: ",
        "#8 0.512 ",
        "remote: ",
        "[0] ",
        "@acme/web:test: ",
    };
    char text[4096];
    for (size_t i = 0; i < ARRAY_LEN(before); i++) {
        dress(before[i], "", text, sizeof text);
        check_trace(text);
    }
}

static void test_last_words_of_runners_are_no_part_of_the_message(void)
{
    static const char *const words[] = {
        "web-1 exited with code 1",
        "web-1 exited with code 137 (restarting)",
        "2024-11-15T20:31:05.1234567Z ##[error]Process completed with exit code 1.",
        "Error: Process completed with exit code 1.",
        "command terminated with exit code 1",
        "The command \"python main.py\" exited with 1.",
        "exit status 1",
        "make: *** [Makefile:3: test] Error 1",
        "make[2]: *** [Makefile:3: test] Error 1",
        "app.service: Main process exited, code=exited, status=1/FAILURE",
        "npm ERR! code ELIFECYCLE\nnpm ERR! errno 1",
        "npm error code 1",
        "error Command failed with exit code 1.",
        " ELIFECYCLE  Command failed with exit code 1.",
    };
    char text[512];
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        (void)snprintf(text, sizeof text,
                       "Traceback (most recent call last):\n"
                       "  File \"/app/main.py\", line 7, in <module>\n    x = d['k']\n"
                       "KeyError: 'k'\n%s\n",
                       words[i]);
        CHECK(explain(text));
        CHECK_STR(d.message, "'k'");
    }
    CHECK(explain("Traceback (most recent call last):\n"
                  "  File \"/app/main.py\", line 7, in <module>\n    f()\n"
                  "ValueError: the child\nexited with code 3\n"));
    CHECK_STR(d.message, "the child\nexited with code 3");
}

static void test_colours_and_crs_are_taken_off(void)
{
    char text[4096];
    dress("", "\r", text, sizeof text);
    check_trace(text);
    dress("\033[31m", "\033[0m\033[K", text, sizeof text);
    check_trace(text);
    dress("\033]8;;file:///app/shop.py\033\\", "\033]8;;\a", text, sizeof text);
    check_trace(text);
    dress("\033[36mweb-1  |\033[0m ", "\r", text, sizeof text);
    check_trace(text);
}

static void test_escapes_that_never_end_do_no_harm(void)
{
    static const char *const texts[] = { "\033",     "\033[", "\033[31",
                                         "\033]0;x", "a\r",   "\r\n\033]8;;" };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        CHECK(!explain(texts[i]));
}

static void test_without_the_source_the_line_that_is_shown_is_used(void)
{
    CHECK(explain(trace));
    CHECK_STR(d.suggestions[0].replacement, "return f\"costs {price}\"");
}

static void test_pytest_in_its_forms(void)
{
    static const char *const texts[] = {
        "____ test_label ____\n\n    def test_label():\n>       assert "
        "label(tea)\n\ntest_shop.py:9: \n"
        "_ _ _ _ _ _\n\n    def label(item):\n>       return \"costs \" + price\n"
        "E       TypeError: can only concatenate str (not \"int\") to str\n\nshop.py:6: TypeError\n"
        "===== short test summary info =====\n",
        "____ test_label ____\ntest_shop.py:9: in test_label\n    assert label(tea)\nshop.py:6: in "
        "label\n"
        "    return \"costs \" + price\nE   TypeError: can only concatenate str (not \"int\") to "
        "str\n"
        "=== 1 failed ===\n",
        "/app/shop.py:6: TypeError: can only concatenate str (not \"int\") to str\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (!CHECK(explain(texts[i])))
            continue;
        CHECK_STR(d.language, "python");
        CHECK_STR(d.type, "TypeError");
        CHECK_STR(d.message, "can only concatenate str (not \"int\") to str");
        CHECK_INT(d.location.line, 6);
    }
    CHECK(explain("___ test_total ___\ntest_shop.py:5: in test_total\n    assert total(x) == 4\n"
                  "E   assert 3 == 4\nE    +  where 3 = total(x)\n=== 1 failed ===\n"));
    CHECK_STR(d.type, "AssertionError");
    CHECK_INT(d.location.line, 5);
}

static void test_notebooks_of_before(void)
{
    CHECK(explain(
        "-----------------\nValueError          Traceback (most recent call last)\n"
        "<ipython-input-7-9c1> in <module>()\n      3 \n----> 4 load(\"x.csv\")\n\n"
        "~/work/shop.py in load(path)\n     10     rows = read(path)\n---> 11     return "
        "int(rows)\n     12 \n\nValueError: invalid literal for int() with base 10: 'abc'\n"));
    CHECK_STR(d.type, "ValueError");
    CHECK_STR(d.location.file, "~/work/shop.py");
    CHECK_INT(d.location.line, 11);
}

static void test_runners_of_javascript(void)
{
    CHECK(explain(
        " FAIL  src/city.test.js\n  \xE2\x97\x8F finds it\n\n    TypeError: Cannot read properties "
        "of "
        "undefined (reading 'city')\n\n      2 | function city(user) {\n    > 3 |   return "
        "user.address.city;\n        |                       ^\n      4 | }\n\n      at city "
        "(src/city.js:3:23)\n      at Object.<anonymous> (src/city.test.js:7:10)\n      at run "
        "(node_modules/jest-circus/build/run.js:1:1)\n\nTest Suites: 1 failed, 1 total\n"));
    CHECK_STR(d.language, "javascript");
    CHECK_STR(d.type, "TypeError");
    CHECK_STR(d.location.file, "src/city.js");
    CHECK_INT(d.location.line, 3);
    CHECK_INT(d.location.column, 23);

    CHECK(explain(" FAIL  src/a.test.js\n  \xE2\x97\x8F sum\n\n    expect(received).toBe(expected) "
                  "// Object.is "
                  "equality\n\n    Expected: 4\n    Received: 3\n\n      at Object.toBe "
                  "(src/a.test.js:5:21)\n"));
    CHECK_INT(d.category, CATEGORY_ASSERTION);
    CHECK(strstr(d.message, "expected 4, received 3") != NULL);
    CHECK_INT(d.location.line, 5);

    CHECK(explain(
        " FAIL  src/city.test.ts > finds it\nTypeError: Cannot read properties of undefined "
        "(reading 'city')\n \xE2\x9D\xAF city src/city.ts:3:23\n      3|   return "
        "user.address.city;\n"
        " \xE2\x9D\xAF src/city.test.ts:7:10\n"));
    CHECK_STR(d.language, "typescript");
    CHECK_STR(d.location.file, "src/city.ts");
    CHECK_INT(d.location.line, 3);

    CHECK(explain(
        "  1 failing\n\n  1) sum\n       adds:\n\n      AssertionError [ERR_ASSERTION]: 3 == 4\n"
        "      at Context.<anonymous> (test/sum.js:7:12)\n"));
    CHECK_STR(d.type, "AssertionError");
    CHECK_INT(d.location.line, 7);
}

static void test_every_test_of_javascript_that_failed_is_told(void)
{
    CHECK(explain(" FAIL  src/cart.test.js\n  \xE2\x97\x8F cart \xE2\x80\xBA adds up\n\n"
                  "    expect(received).toBe(expected)\n\n    Expected: 6\n    Received: 5\n\n"
                  "      at Object.toBe (src/cart.test.js:10:23)\n\n"
                  "  \xE2\x97\x8F cart \xE2\x80\xBA empty\n\n"
                  "    TypeError: Cannot read properties of undefined (reading 'price')\n\n"
                  "      at lib (node_modules/lib/index.js:1:2)\n"
                  "      at Cart.first (src/cart.js:4:26)\n"
                  "      at Object.<anonymous> (src/cart.test.js:15:14)\n\n"
                  "Tests:       2 failed, 1 passed, 3 total\n"));
    CHECK_INT(d.location.line, 10);
    CHECK_STR(d.message, "expect(received).toBe(expected): expected 6, received 5");
    CHECK_INT(d.n_further, 1);
    CHECK_STR(d.further[0].type, "TypeError");
    CHECK_STR(d.further[0].at.file, "src/cart.js");
    CHECK_INT(d.further[0].at.line, 4);

    CHECK(explain("  2 failing\n\n  1) sum\n       adds:\n\n      AssertionError: 3 == 4\n"
                  "      at Context.<anonymous> (test/sum.js:7:12)\n\n"
                  "  2) sum\n       takes:\n\n      RangeError: too far\n"
                  "      at Context.<anonymous> (test/sum.js:12:3)\n"));
    CHECK_INT(d.location.line, 7);
    CHECK_INT(d.n_further, 1);
    CHECK_STR(d.further[0].message, "too far");
}

/* Of a jar is spoken where there was one. */
static void test_variables_are_not_set_where_it_ran(void)
{
    CHECK(explain("Traceback (most recent call last):\n"
                  "  File \"/app/main.py\", line 4, in <module>\n"
                  "    key = os.environ[\"API_KEY\"]\n"
                  "  File \"<frozen os>\", line 679, in __getitem__\n"
                  "KeyError: 'API_KEY'\n"));
    CHECK_INT(d.location.line, 4);
    CHECK(d.n_suggestions > 0 && strstr(d.suggestions[0].text, "set API_KEY there"));
    for (size_t i = 0; i < d.n_suggestions; i++)
        CHECK(!strstr(d.suggestions[i].text, "jar"));
}

static void test_tables_and_logs_are_no_errors(void)
{
    CHECK(!explain("name | age\n-----+----\nada  | 36\n"));
    CHECK(!explain("2024-11-15T20:31:05Z GET /users 200\nremote: Counting objects: 3, done.\n"));
}

static const struct check_test tests[] = {
    TEST(test_what_stands_before_lines_is_taken_off),
    TEST(test_last_words_of_runners_are_no_part_of_the_message),
    TEST(test_colours_and_crs_are_taken_off),
    TEST(test_escapes_that_never_end_do_no_harm),
    TEST(test_without_the_source_the_line_that_is_shown_is_used),
    TEST(test_pytest_in_its_forms),
    TEST(test_notebooks_of_before),
    TEST(test_runners_of_javascript),
    TEST(test_every_test_of_javascript_that_failed_is_told),
    TEST(test_variables_are_not_set_where_it_ran),
    TEST(test_tables_and_logs_are_no_errors),
};
CHECK_MAIN(tests)
