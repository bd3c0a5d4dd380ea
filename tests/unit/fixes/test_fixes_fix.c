#include "fixes/fix.h"

#include <stdlib.h>

#include "base/auto.h"
#include "check.h"
#include "fixes/outcome.h"

static bool make(const char *text, uint32_t line, const char *replacement, bool inserts,
                 struct fix *ret)
{
    struct err e = { 0 };
    const struct fix_request q = { .file = "a.py",
                                   .text = text,
                                   .len = strlen(text),
                                   .line = line,
                                   .replacement = replacement,
                                   .inserts = inserts };
    return fix_make(&q, ret, &e) == 0;
}

static void check_text(const char *text, uint32_t line, const char *replacement, bool inserts,
                       const char *expected)
{
    scoped(fix) f = { 0 };
    if (CHECK(make(text, line, replacement, inserts, &f)))
        CHECK_STR(buf_str(&f.text), expected);
}

static void test_a_line_is_replaced_and_the_rest_stays(void)
{
    check_text("a\nb\nc\n", 2, "B", false, "a\nB\nc\n");
    check_text("a\nb", 2, "B", false, "a\nB");
    check_text("a\r\nb\r\nc\r\n", 2, "B", false, "a\r\nB\r\nc\r\n");
    check_text("if x:\n    b\n", 2, "B", false, "if x:\n    B\n");
    check_text("if x:\nb\n", 2, "    b", false, "if x:\n    b\n");
    check_text("    b\n", 1, "b", false, "b\n");
}

static void test_a_line_that_makes_a_name_known_goes_to_the_top(void)
{
    check_text("x\ny\n", 2, "import os", true, "import os\nx\ny\n");
    check_text("#!/bin/x\n\"\"\"Doc\nmore\"\"\"\nfrom __future__ import a\n\nx\n", 6, "import os",
               true, "#!/bin/x\n\"\"\"Doc\nmore\"\"\"\nfrom __future__ import a\nimport os\n\nx\n");
    check_text("package main\n\nfunc main() {}\n", 3, "import \"strings\"", true,
               "package main\nimport \"strings\"\n\nfunc main() {}\n");
    check_text("func f() {\n\tm[1] = 2\n}\n", 2, "m = make(map[int]int)", true,
               "func f() {\n\tm = make(map[int]int)\n\tm[1] = 2\n}\n");
}

static void test_the_difference_is_one_that_patch_takes(void)
{
    scoped(fix) f = { 0 };
    if (!CHECK(make("1\n2\n3\n4\n5\n6\n7\n8\n", 5, "five", false, &f)))
        return;
    CHECK_STR(buf_str(&f.diff),
              "--- a/a.py\n+++ b/a.py\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
    CHECK_INT(f.line, 5);
    CHECK_INT(f.added, 0);
}

/* FIX-2, FIX-3 */
static void test_changes_that_are_large_or_none_are_refused(void)
{
    scoped(fix) f = { 0 };
    size_t n = 1 << 20;
    autofree char *text = malloc(n + 1);
    if (!CHECK(text != NULL))
        return;
    memset(text, 'a', n);
    text[n] = '\0';
    CHECK(!make(text, 1, "b", false, &f)); /* the file is too large */
    text[400 << 10] = '\0';
    CHECK(!make(text, 1, "b", false, &f)); /* and so is the line */
    text[3] = '\n';
    CHECK(make(text, 1, "b", false, &f)); /* no long line is shown */
    CHECK(f.diff.len < 200);
    fix_done(&f);
    f = (struct fix){ 0 };
    CHECK(!make("a\n", 1, "a", false, &f));
    CHECK(!make("a\n", 1, "", false, &f));
    CHECK(!make("a\n", 1, "a\033[2J", false, &f));
    CHECK(!make("a\n", 1, "a\xe2\x80\xae", false, &f)); /* U+202E */
    CHECK(!make("a\n", 2, "b", false, &f));
    CHECK(!make("a\n", 0, "b", false, &f));
    CHECK(!make("", 1, "b", false, &f));
}

static void test_a_line_elsewhere_that_is_more_alike_is_a_place_too(void)
{
    struct fix_place p[FIX_PLACES];
    const char *text = "const count = 0;\nfor (;;) {\n  count++;\n}\n";
    struct fix_request q = {
        .text = text, .len = strlen(text), .line = 3, .replacement = "let count = 0;"
    };
    CHECK_INT(fix_places(&q, p), 2);
    CHECK_INT(p[0].line, 3);
    CHECK_INT(p[1].line, 1);
    q.replacement = "  count--;"; /* the line itself is the most alike */
    CHECK_INT(fix_places(&q, p), 1);
}

static void test_outcomes(void)
{
    const struct run_error key = { VERDICT_RUNTIME_ERROR, "KeyError", "'a'", "main.py", 4 };
    struct run_error after = key;
    CHECK_INT(fix_outcome(&key, &after, 4, 0), FIX_NO_CHANGE);
    after.line = 5;
    CHECK_INT(fix_outcome(&key, &after, 1, 1), FIX_NO_CHANGE); /* a line was inserted before it */
    after.line = 9;
    CHECK_INT(fix_outcome(&key, &after, 4, 0), FIX_MOVES);
    after = key;
    after.message = "'b'";
    CHECK_INT(fix_outcome(&key, &after, 4, 0), FIX_MOVES);
    after.verdict = VERDICT_TIMEOUT;
    CHECK_INT(fix_outcome(&key, &after, 4, 0), FIX_LIMIT);
    after.verdict = VERDICT_OK;
    CHECK_INT(fix_outcome(&key, &after, 4, 0), FIX_CURES);
    after.verdict = VERDICT_CANCELLED;
    CHECK_INT(fix_outcome(&key, &after, 4, 0), FIX_NOT_TRIED);
}

static const struct check_test tests[] = {
    TEST(test_a_line_is_replaced_and_the_rest_stays),
    TEST(test_a_line_that_makes_a_name_known_goes_to_the_top),
    TEST(test_the_difference_is_one_that_patch_takes),
    TEST(test_changes_that_are_large_or_none_are_refused),
    TEST(test_a_line_elsewhere_that_is_more_alike_is_a_place_too),
    TEST(test_outcomes),
};
CHECK_MAIN(tests)
