/* The plan of a check, its report, and the word for the whole. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/auto.h"
#include "base/strv.h"
#include "check.h"
#include "checks/checks.h"
#include "run/check_json.h"

static struct check_report report_of(const char *text)
{
    return check_report_of(text, strlen(text));
}

static void test_report_has_one_entry_for_each_tool(void)
{
    struct check_report r = report_of(
        "check python syntax python3 0 4 0\na.py\n\n"
        "check python types mypy not_installed 0 0\n\n\n"
        "check bash syntax bash 2 4 20\nb.sh\ncheck end\ncheck end\n\n"
        "check end\n");
    struct check_entry e;
    CHECK(check_report_next(&r, &e) && e.state == CHECK_OK && e.step == CHECK_SYNTAX);
    CHECK(e.name_len == 4 && strcmp(e.language, "python") == 0 && strcmp(e.tool, "python3") == 0);
    CHECK(check_report_next(&r, &e) && e.state == CHECK_NOT_INSTALLED && e.step == CHECK_TYPES);
    /* A quoted line of the code is no end of the report. */
    CHECK(check_report_next(&r, &e) && e.state == CHECK_FAILED && e.status == 2);
    CHECK(e.text_len == 20 && !r.complete);
    CHECK(!check_report_next(&r, &e) && r.complete);
}

static void test_report_that_is_damaged_is_not_complete(void)
{
    static const char *const damaged[] = {
        "",
        "check end",
        "check end\nmore",
        "nonsense\ncheck end\n",
        "check python syntax python3 0 4 9\na.py\n\ncheck end\n",
        "check python syntax python3 300 4 0\na.py\n\ncheck end\n",
        "check python syntax python3 failed 4 0\na.py\n\ncheck end\n",
        "check python juggle python3 0 4 0\na.py\n\ncheck end\n",
        "check python syntax python3 0 999 0\na.py\n\ncheck end\n",
        "check python syntax python3 0 -1 0\na.py\n\ncheck end\n",
        "check python syntax python3 0 4 4294967297\na.py\n\ncheck end\n",
        "check a-language-with-a-very-long-name-here syntax x 0 0 0\n\n\ncheck end\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(damaged); i++) {
        struct check_report r = report_of(damaged[i]);
        struct check_entry e;
        size_t n = 0;
        while (check_report_next(&r, &e) && n < 10)
            n++;
        if (!CHECK(!r.complete))
            printf("    of: %s\n", damaged[i]);
    }
}

static void test_plan_has_each_language_once_and_no_name_in_its_script(void)
{
    struct check_plan p = { .n = 0 };
    scoped(buf) script = { 0 };
    char **args = NULL;
    struct err e;
    CHECK(check_plan_add(&p, "a$(id).py", NULL, &e) == 0);
    CHECK(check_plan_add(&p, "b.sh", NULL, &e) == 0);
    CHECK(check_plan_add(&p, "c.py", NULL, &e) == 0);
    CHECK(check_plan_add(&p, "c.py", NULL, &e) == 0);
    CHECK(check_plan_add(&p, "notes.txt", NULL, &e) == 0);
    CHECK_INT(p.n, 3);
    CHECK(check_plan_script(&p, &script, &e) == 0 && check_plan_args(&p, &args, &e) == 0);
    CHECK(!strstr(buf_str(&script), "id)") && !strstr(buf_str(&script), "c.py"));
    const char *first = strstr(buf_str(&script), "check_python()");
    CHECK(first && !strstr(first + 1, "check_python()") && strstr(first, "check_bash()"));
    static const char *const wanted[] = { "python", "2", "a$(id).py", "c.py", "bash", "1", "b.sh" };
    CHECK_INT(strv_len(args), ARRAY_LEN(wanted));
    for (size_t i = 0; i < ARRAY_LEN(wanted) && i < strv_len(args); i++)
        CHECK_STR(args[i], wanted[i]);
    strv_free(args);
    check_plan_done(&p);
}

/* {source, complete, cut, languages: [one], risks: []} */
static json_t *check_of(bool complete, const char *syntax, const char *types, const char *imports)
{
    return json_pack("{s:s, s:b, s:b, s:[], s:[{s:s, s:{s:s,s:n,s:n,s:[]}, s:{s:s,s:n,s:n,s:[]}, "
                     "s:{s:s,s:n,s:n,s:[]}}]}",
                     "source", "guest", "complete", complete, "cut", 0, "risks", "languages",
                     "language", "python", "syntax", "state", syntax, "tool", "install", "problems",
                     "types", "state", types, "tool", "install", "problems", "imports", "state",
                     imports, "tool", "install", "problems");
}

static void test_only_a_complete_check_without_a_problem_is_passed(void)
{
    static const struct {
        enum verdict verdict;
        bool complete;
        const char *syntax, *types, *imports, *outcome;
    } rows[] = {
        { VERDICT_OK, true, "ok", "ok", "ok", "passed" },
        { VERDICT_OK, true, "ok", "not_installed", "none", "passed" },
        { VERDICT_OK, false, "ok", "ok", "ok", "unknown" },
        { VERDICT_RUNTIME_ERROR, true, "ok", "ok", "ok", "unknown" },
        { VERDICT_TIMEOUT, true, "ok", "ok", "ok", "stopped" },
        { VERDICT_OK, true, "none", "none", "none", "unknown" },
        { VERDICT_OK, true, "not_installed", "none", "none", "unknown" },
        { VERDICT_OK, true, "ok", "unknown", "ok", "unknown" },
        { VERDICT_OK, true, "failed", "skipped", "ok", "failed" },
        { VERDICT_OK, true, "ok", "failed", "ok", "failed" },
        { VERDICT_OK, false, "ok", "ok", "failed", "failed" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *check = check_of(rows[i].complete, rows[i].syntax, rows[i].types, rows[i].imports);
        CHECK(check_valid(check));
        CHECK_STR(check_outcome(rows[i].verdict, check), rows[i].outcome);
        json_decref(check);
    }
    CHECK_STR(check_outcome(VERDICT_OK, NULL), "unknown");
}

static void test_answer_of_a_stranger_is_checked(void)
{
    json_t *check = check_of(true, "ok", "ok", "ok");
    json_t *syntax = json_object_get(json_array_get(json_object_get(check, "languages"), 0),
                                     "syntax");
    CHECK(check_valid(check));
    (void)json_object_set_new(syntax, "state", json_string("splendid"));
    CHECK(!check_valid(check));
    (void)json_object_set_new(syntax, "state", json_string("ok"));
    (void)json_array_append_new(json_object_get(syntax, "problems"), json_object());
    CHECK(!check_valid(check));
    (void)json_array_clear(json_object_get(syntax, "problems"));
    (void)json_object_set_new(check, "more", json_true());
    CHECK(!check_valid(check));
    (void)json_object_del(check, "more");
    (void)json_object_set_new(check, "source", json_string("belljar"));
    CHECK(!check_valid(check) && !check_valid(NULL));
    json_decref(check);
}

static const struct check_test tests[] = {
    TEST(test_report_has_one_entry_for_each_tool),
    TEST(test_report_that_is_damaged_is_not_complete),
    TEST(test_plan_has_each_language_once_and_no_name_in_its_script),
    TEST(test_only_a_complete_check_without_a_problem_is_passed),
    TEST(test_answer_of_a_stranger_is_checked),
};
CHECK_MAIN(tests)
