/* Replacements that no reader could use are not offered. */
#include "check.h"
#include "diagnose/core/diagnose.h"
#include "diagnose/core/grammar.h"

/* Whether a replacement of the only line of a program stays. */
static bool stays(const char *grammar, enum category category, const char *line,
                  const char *replacement)
{
    static struct diagnosis d;
    const struct source_file file = { "main.py", line, strlen(line) };
    const struct diagnose_input in = { .grammar = grammar, .sources = &file, .n_sources = 1 };
    d = (struct diagnosis){ .category = category,
                            .location = { .file = "main.py", .line = 1 },
                            .n_excerpt = 1,
                            .n_suggestions = 1 };
    d.excerpt[0].line = 1;
    (void)snprintf(d.excerpt[0].text, sizeof d.excerpt[0].text, "%s", line);
    (void)snprintf(d.suggestions[0].replacement, sizeof d.suggestions[0].replacement, "%s",
                   replacement);
    suggestions_check(&in, &d);
    return d.suggestions[0].replacement[0] != '\0';
}

/* Of a line that had one character more. */
static bool stays_in_place(const char *grammar, const char *replacement)
{
    char line[256];
    (void)snprintf(line, sizeof line, "%s ?", replacement);
    return stays(grammar, CATEGORY_SYNTAX, line, replacement);
}

static void test_lines_of_python_that_can_be_read_stay(void)
{
    static const char *const good[] = {
        "x = y + 1",
        "if x == 3 and not y:",
        "print(f\"{x!r}\", *args, sep='', **more)",
        "x = 'a' 'b'",
        "match x:",
        "def f(a, *, b=-1) -> int:",
        "return [i for i in x if i is not None]",
        "x[1:-1] @= y  # a b c",
        "lambda x: x",
        "a = b = 0x1f + 1.5e3",
        "@decorator",
        "with open(name) as f:",
        "x = (y +",
        "print(x) if x else None",
        "async with a as b, c as d:",
        "from a import b as c",
        "x = {**a, 'b': 1}",
        "if (n := len(a)) > 10: pass",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!CHECK(stays_in_place("python", good[i])))
            (void)fprintf(stderr, "%s\n", good[i]);
}

static void test_lines_that_python_could_not_read_go(void)
{
    static const char *const bad[] = {
        "x = y z",    "x = = 3",    "if x === 3:", "x = 'a",    "print 'a'", "x =",       "x = 3 $",
        "return a b", "if x =< 3:", "x = a ! b",   "class = 3", "None = 4",  "x = 5 'a'",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!CHECK(!stays_in_place("python", bad[i])))
            (void)fprintf(stderr, "%s\n", bad[i]);
}

static void test_a_line_that_could_be_read_keeps_its_brackets(void)
{
    CHECK(stays("python", CATEGORY_NAME, "f(totl)", "f(total)"));
    CHECK(!stays("python", CATEGORY_TYPE, "f(total)", "f(total"));
    CHECK(!stays("javascript", CATEGORY_TYPE, "f(total);", "f(total));"));
    CHECK(stays("javascript", CATEGORY_TYPE, "a.b.c;", "a?.b.c;"));
    CHECK(!stays("go", CATEGORY_TYPE, "f(\"a\")", "f(\"a)"));
}

static void test_a_name_without_a_value_is_no_replacement(void)
{
    CHECK(!stays("python", CATEGORY_NAME, "total = totl + 1", "total = total + 1"));
    CHECK(stays("python", CATEGORY_NAME, "total = totl + 1", "total = tot + 1"));
}

static void test_a_line_that_is_longer_than_a_replacement_is_not_replaced(void)
{
    char line[300] = "x = '";
    memset(line + 5, 'a', 280);
    CHECK(!stays("perl", CATEGORY_NAME, line, "x = 'aaaa'"));
    CHECK(!stays("perl", CATEGORY_NAME, "x = 1", "x = 1"));
}

static const struct check_test tests[] = {
    TEST(test_lines_of_python_that_can_be_read_stay),
    TEST(test_lines_that_python_could_not_read_go),
    TEST(test_a_line_that_could_be_read_keeps_its_brackets),
    TEST(test_a_name_without_a_value_is_no_replacement),
    TEST(test_a_line_that_is_longer_than_a_replacement_is_not_replaced),
};
CHECK_MAIN(tests)
