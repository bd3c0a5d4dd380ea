/* The report of a jar is not trusted: each field is accepted or refused. */
#include "run/reports.h"
#include "spec/job.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/auto.h"
#include "check.h"
#include "spec/bundle.h"

static const char good[] =
    "{\"columns\":[{\"name\":\"a\",\"type\":\"integer\"}],\"rows\":[[1],[null],[\"x\"],[true],[1.5]"
    ","
    "[{\"base64\":\"AA==\"}]],\"row_count\":6,\"truncated\":false,\"line\":1}";

static bool taken(const char *text)
{
    struct report_found f = report_read(text, strlen(text));
    bool yes = f.tables != NULL;
    json_decref(f.tables);
    json_decref(f.profile);
    return yes;
}

static void test_tables_that_are_well_formed_are_taken(void)
{
    char text[1024];
    CHECK(taken("{\"tables\":[]}"));
    (void)snprintf(text, sizeof text, "{\"tables\":[%s,%s]}", good, good);
    CHECK(taken(text));
    /* SQLite's texts may hold a NUL, and one of them is no reason to lose all */
    CHECK(taken(
        "{\"tables\":[{\"columns\":[{\"name\":\"a\",\"type\":\"text\"}],\"rows\":[[\"a\\u0000b\"]],"
        "\"row_count\":1,\"truncated\":false}]}"));
}

static void test_tables_that_are_not_are_none(void)
{
    static const char *const bad[] = {
        "",
        "null",
        "[]",
        "{",
        "{\"tables\":{}}",
        "{\"tables\":[1]}",
        "{\"tables\":[{}]}",
        "{\"tables\":[],\"tables\":[]}",
        "{\"tables\":[{\"columns\":[],\"rows\":[],\"row_count\":0}]}",
        "{\"tables\":[{\"columns\":[],\"rows\":[],\"row_count\":-1,\"truncated\":false}]}",
        "{\"tables\":[{\"columns\":[],\"rows\":[[]],\"row_count\":0,\"truncated\":false}]}",
        "{\"tables\":[{\"columns\":[],\"rows\":[[1]],\"row_count\":1,\"truncated\":false}]}",
        "{\"tables\":[{\"columns\":[],\"rows\":[],\"row_count\":0,\"truncated\":0}]}",
        "{\"tables\":[{\"columns\":[],\"rows\":[],\"row_count\":0,\"truncated\":false,\"verdict\":"
        "\"ok\"}]}",
        "{\"tables\":[{\"columns\":[],\"rows\":[],\"row_count\":0,\"truncated\":false,\"line\":0}]"
        "}",
        "{\"tables\":[{\"columns\":[{\"name\":\"a\"}],\"rows\":[],\"row_count\":0,\"truncated\":"
        "false}]}",
        "{\"tables\":[{\"columns\":[{\"name\":1,\"type\":\"x\"}],\"rows\":[],\"row_count\":0,"
        "\"truncated\":"
        "false}]}",
        "{\"tables\":[{\"columns\":[{\"name\":\"a\",\"type\":\"x\"}],\"rows\":[[[1]]],\"row_"
        "count\":1,"
        "\"truncated\":false}]}",
        "{\"tables\":[{\"columns\":[{\"name\":\"a\",\"type\":\"x\"}],\"rows\":[[{\"b\":1}]],\"row_"
        "count\":1,"
        "\"truncated\":false}]}",
        "{\"tables\":[{\"columns\":[{\"name\":\"a\",\"type\":\"x\"}],\"rows\":[[{\"base64\":1}]],"
        "\"row_count\":1,\"truncated\":false}]}",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (!CHECK(!taken(bad[i])))
            printf("    %s\n", bad[i]);
}

static void test_reports_have_bounds(void)
{
    scoped(buf) text = { 0 };
    struct err e;
    CHECK_INT(buf_addf(&text, &e, "{\"tables\":["), 0);
    for (int i = 0; i <= REPORT_TABLES_MAX; i++)
        CHECK_INT(buf_addf(&text, &e, "%s%s", i ? "," : "", good), 0);
    CHECK_INT(buf_addf(&text, &e, "]}"), 0);
    CHECK(!taken(text.data));
    text.len = 0;
    CHECK_INT(buf_addf(&text, &e, "{\"tables\":[]%*s}", REPORT_MAX_BYTES, ""), 0);
    CHECK(!taken(text.data));
}

static void test_report_is_taken_out_of_the_outputs(void)
{
    scoped(buf) b = { 0 }, report = { 0 };
    struct err e = { 0 };
    size_t pos = 0;
    struct bundle_entry f;
    bool more = false;
    static const char text[] = "{\"tables\":[],\"profile\":{}}";
    CHECK_INT(bundle_add(&b, "a", OUTPUT_OK, "1", 1, &e), 0);
    CHECK_INT(bundle_add(&b, REPORT_FILE, OUTPUT_OK, text, sizeof text - 1, &e), 0);
    CHECK_INT(bundle_add_head(&b, "b", OUTPUT_MISSING, 0, 0, &e), 0);
    CHECK_INT(bundle_add(&b, REPORT_FILE, OUTPUT_OK, "{", 1, &e), 0);
    CHECK_INT(report_cut(&b, &report, &e), 0);
    CHECK(report.len == sizeof text - 1 && memcmp(report.data, text, report.len) == 0);
    CHECK(bundle_next(&b, &pos, &f, &more, &e) == 0 && more && f.name[0] == 'a');
    CHECK(bundle_next(&b, &pos, &f, &more, &e) == 0 && more && f.name[0] == 'b');
    CHECK(bundle_next(&b, &pos, &f, &more, &e) == 0 && !more);
}

static void test_whereabouts_are_taken_out_of_the_outputs(void)
{
    scoped(buf) b = { 0 }, found = { 0 };
    struct err e = { 0 };
    size_t pos = 0;
    struct bundle_entry f;
    bool more = false;
    CHECK_INT(bundle_add_head(&b, WHEREABOUTS_FILE, OUTPUT_MISSING, 0, 0, &e), 0);
    CHECK_INT(bundle_add(&b, "a", OUTPUT_OK, "1", 1, &e), 0);
    CHECK_INT(bundle_add(&b, WHEREABOUTS_FILE, OUTPUT_OK, "At\n", 3, &e), 0);
    CHECK_INT(whereabouts_cut(&b, &found, &e), 0);
    CHECK(found.len == 3 && memcmp(found.data, "At\n", 3) == 0);
    CHECK(bundle_next(&b, &pos, &f, &more, &e) == 0 && more && f.name[0] == 'a');
    CHECK(bundle_next(&b, &pos, &f, &more, &e) == 0 && !more);
}

static void test_report_is_asked_for_where_one_is_expected(void)
{
    static const struct language silent = { .name = "x" },
                                 telling = { .name = "y", .reports = true };
    static const char *const profiler[] = { "/p", NULL };
    static const struct language measured = { .name = "z", .profile = profiler };
    static char a[] = "a", report[] = REPORT_FILE;
    char *const one[] = { a, NULL }, *const own[] = { report, NULL };
    const struct run_options profile = { .profile = true };
    CHECK(!report_expected(&silent, NULL) && report_expected(&telling, NULL));
    CHECK(!report_expected(&measured, NULL) && report_expected(&measured, &profile));
    char **list = report_outputs(&silent, NULL, one);
    CHECK(list && list[0] == a && !list[1]);
    free(list);
    list = report_outputs(&telling, NULL, one);
    CHECK(list && list[0] == a && strcmp(list[1], REPORT_FILE) == 0 && !list[2]);
    free(list);
    list = report_outputs(&telling, NULL, own);
    CHECK(list && list[0] == report && !list[1]);
    free(list);
    list = report_outputs(&silent, NULL, NULL);
    CHECK(list && !list[0]);
    free(list);
}

static const struct check_test tests[] = {
    TEST(test_tables_that_are_well_formed_are_taken),
    TEST(test_tables_that_are_not_are_none),
    TEST(test_reports_have_bounds),
    TEST(test_report_is_taken_out_of_the_outputs),
    TEST(test_whereabouts_are_taken_out_of_the_outputs),
    TEST(test_report_is_asked_for_where_one_is_expected),
};
CHECK_MAIN(tests)
