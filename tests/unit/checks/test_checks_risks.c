#include "checks/risks.h"

#include <stdlib.h>

#include "base/auto.h"
#include "check.h"

static json_t *find(const char *language, const char *code)
{
    json_t *list = risks_find(language, code, strlen(code));
    CHECK(list != NULL);
    return list;
}

/* The first finding's kind, line and column; kind NULL: none at all. */
static void check_finds(const char *language, const char *code, const char *kind, int line,
                        int column)
{
    json_t *list = find(language, code);
    const json_t *first = json_array_get(list, 0);
    const char *found = json_string_value(json_object_get(first, "kind"));
    if (!CHECK_STR(found, kind))
        printf("    of: %s\n", code);
    if (kind) {
        CHECK_INT(json_integer_value(json_object_get(first, "line")), line);
        CHECK_INT(json_integer_value(json_object_get(first, "column")), column);
        CHECK(json_string_length(json_object_get(first, "why")) > 0);
    }
    json_decref(list);
}

static void test_risky_words_are_found_where_they_stand(void)
{
    check_finds("python", "import socket", "network", 1, 8);
    check_finds("python", "x = 1\n  os.remove('a')", "file_deletion", 2, 3);
    check_finds("python", "shutil.rmtree('a')", "file_deletion", 1, 8);
    check_finds("python", "import subprocess", "process", 1, 8);
    check_finds("python", "os.execvp('a', [])", "process", 1, 1);
    check_finds("python", "eval(x)", "dynamic_code", 1, 1);
    check_finds("python", "os.system('rm -rf /')", "process", 1, 1);
    check_finds("javascript", "await fetch(u)", "network", 1, 7);
    check_finds("javascript", "require('child_process')", "process", 1, 10);
    check_finds("javascript", "fs.rmSync('a')", "file_deletion", 1, 4);
    check_finds("javascript", "new Function('x')", "dynamic_code", 1, 5);
    check_finds("bash", "rm -rf x", "file_deletion", 1, 1);
    check_finds("bash", "exec 3<>/dev/tcp/a/1", "network", 1, 9);
    check_finds("bash", "echo eA== | base64 -d | sh", "dynamic_code", 1, 13);
    check_finds("cobol", "eval", "dynamic_code", 1, 1);
}

static void test_parts_of_words_are_not_found(void)
{
    check_finds("python", "evaluate(x); my_socket = 1; websocket = 2", NULL, 0, 0);
    check_finds("python", "re.compile('a'); model.eval()", NULL, 0, 0);
    check_finds("bash", "echo farm; format", NULL, 0, 0);
    check_finds("javascript", "prefetch(x)", NULL, 0, 0);
}

static void test_comments_are_passed_over(void)
{
    check_finds("python", "x = 1 # eval(x)", NULL, 0, 0);
    check_finds("python", "x = '#'; eval(x)", "dynamic_code", 1, 10);
    check_finds("javascript", "x // eval(x)", NULL, 0, 0);
    check_finds("bash", "echo $# ; eval x", "dynamic_code", 1, 11);
}

static void test_findings_and_excerpts_are_bounded(void)
{
    char code[20000];
    size_t used = 0;
    for (int i = 0; i < 1000; i++)
        used += (size_t)snprintf(code + used, sizeof code - used, "eval(a)\n");
    json_t *list = risks_find("python", code, used);
    CHECK_INT(json_array_size(list), RISKS_MAX);
    json_decref(list);
    (void)snprintf(code, sizeof code, "eval(%01000d", 0);
    list = risks_find("python", code, 1000);
    CHECK_INT(json_string_length(json_object_get(json_array_get(list, 0), "excerpt")),
              RISK_EXCERPT_MAX);
    json_decref(list);
}

static void test_what_was_not_looked_at_is_said(void)
{
    size_t n = RISK_SCAN_MAX + 10;
    autofree char *code = calloc(1, n);
    if (!CHECK(code != NULL))
        return;
    memset(code, '\n', n);
    json_t *list = risks_find("python", code, n);
    CHECK_STR(json_string_value(json_object_get(json_array_get(list, 0), "kind")), "not_looked_at");
    json_decref(list);
}

static void test_bytes_that_are_no_text_do_no_harm(void)
{
    json_t *list = risks_find("python", "\xff\0eval(\xff)\n", 9);
    CHECK_INT(json_array_size(list), 1);
    json_decref(list);
    list = risks_find("python", "", 0);
    CHECK_INT(json_array_size(list), 0);
    json_decref(list);
}

static const struct check_test tests[] = {
    TEST(test_risky_words_are_found_where_they_stand),
    TEST(test_parts_of_words_are_not_found),
    TEST(test_comments_are_passed_over),
    TEST(test_findings_and_excerpts_are_bounded),
    TEST(test_what_was_not_looked_at_is_said),
    TEST(test_bytes_that_are_no_text_do_no_harm),
};
CHECK_MAIN(tests)
