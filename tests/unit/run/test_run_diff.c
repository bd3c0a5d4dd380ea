#include "run/diff.h"

#include <stdlib.h>

#include "base/auto.h"
#include "check.h"

static void check_diff(const char *before, const char *after, const char *expected)
{
    json_t *list = diff_lines(before, after);
    autofree char *text = json_dumps(list, JSON_COMPACT | JSON_ENCODE_ANY);
    CHECK_STR(text, expected);
    json_decref(list);
}

static void test_lines_are_marked(void)
{
    check_diff("a\nb\nc\n", "a\nx\nc\n", "[\" a\",\"-b\",\"+x\",\" c\"]");
    check_diff("a\n", "a\nb", "[\" a\",\"+b\"]");
    check_diff("a\nb", "b", "[\"-a\",\" b\"]");
    check_diff("", "a", "[\"+a\"]");
    check_diff("a", "", "[\"-a\"]");
    check_diff("", "", "[]");
    check_diff("a\n\nb", "a\n\nb", "[\" a\",\" \",\" b\"]");
}

static void test_long_texts_have_no_diff(void)
{
    char text[2 * DIFF_LINES_MAX + 3];
    for (size_t i = 0; i < DIFF_LINES_MAX; i++)
        (void)snprintf(text + 2 * i, 3, "a\n");
    json_t *list = diff_lines(text, "a\n");
    CHECK_INT(json_array_size(list), DIFF_LINES_MAX);
    json_decref(list);
    (void)snprintf(text + sizeof text - 3, 3, "a\n");
    list = diff_lines(text, "a\n");
    CHECK(json_is_null(list));
    json_decref(list);
}

static const struct check_test tests[] = {
    TEST(test_lines_are_marked),
    TEST(test_long_texts_have_no_diff),
};
CHECK_MAIN(tests)
