/* A profile comes from the counters of the kernel and from a report of the guest, which may hold
 * anything. */
#include "run/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "check.h"

static const struct isolation sealed = { .level = LEVEL_JAR, .cgroup_version = 2 };

static json_t *made_of(const char *text)
{
    json_t *reported = json_loads(text, JSON_DECODE_ANY, NULL);
    json_t *p = profile_make(reported, NULL, &sealed);
    json_decref(reported);
    CHECK(p);
    return p;
}

static size_t rows(const json_t *p, const char *key)
{
    CHECK(json_is_array(json_object_get(p, key)));
    return json_array_size(json_object_get(p, key));
}

static const char *text_at(const json_t *p, const char *key, size_t i, const char *field)
{
    return json_string_value(json_object_get(json_array_get(json_object_get(p, key), i), field));
}

static void test_own_code_comes_first_and_hottest_first(void)
{
    json_t *p = made_of(
        "{\"sampled_ms\":100,\"samples\":50,\"functions\":["
        "{\"function\":\"lib\",\"file\":\"/usr/lib/"
        "x.py\",\"line\":1,\"self_ms\":60,\"total_ms\":60},"
        "{\"function\":\"cool\",\"file\":\"main.py\",\"line\":5,\"self_ms\":10,\"total_ms\":10},"
        "{\"function\":\"hot\",\"file\":\"main.py\",\"line\":2,\"self_ms\":30,\"total_ms\":90}],"
        "\"lines\":[{\"file\":\"main.py\",\"line\":3,\"self_ms\":90,\"text\":\"x\"}],"
        "\"stacks\":[{\"stack\":\"a;b\",\"ms\":5}]}");
    char file[64];
    CHECK_STR(text_at(p, "functions", 0, "function"), "hot");
    CHECK_STR(text_at(p, "functions", 1, "function"), "cool");
    CHECK_STR(text_at(p, "functions", 2, "function"), "lib");
    CHECK(profile_hot_line(p, file, sizeof file) == 3);
    CHECK_STR(file, "main.py");
    CHECK(rows(p, "stacks") == 1 && rows(p, "timeline") == 0);
    json_decref(p);
}

static void test_what_is_not_a_profile_is_an_empty_one(void)
{
    static const char *const bad[] = {
        "null",
        "[]",
        "7",
        "{}",
        "{\"sampled_ms\":\"1\",\"samples\":1,\"functions\":[]}",
        "{\"sampled_ms\":-1,\"samples\":1,\"functions\":[{\"function\":\"f\"}]}",
        "{\"sampled_ms\":1e300,\"samples\":1}",
        "{\"sampled_ms\":1,\"samples\":1,\"functions\":{},\"lines\":7,\"stacks\":\"x\"}",
        "{\"sampled_ms\":1,\"samples\":1,\"functions\":[1,null,[],{}],\"stacks\":[{}]}",
        "{\"sampled_ms\":1,\"samples\":1,\"lines\":[[[]]]}",
        "{\"sampled_ms\":1,\"samples\":1,\"functions\":[{\"function\":1,\"self_ms\":1}]}",
        "{\"sampled_ms\":1,\"samples\":1,\"lines\":[{\"file\":\"f\",\"line\":-4,\"self_ms\":1}]}",
        "{\"sampled_ms\":1,\"samples\":1,\"lines\":[{\"file\":\"f\",\"line\":4,\"self_ms\":-1}]}",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char file[8];
        json_t *p = made_of(bad[i]);
        CHECK(rows(p, "functions") == 0 && rows(p, "lines") == 0 && rows(p, "stacks") == 0);
        CHECK(profile_hot_line(p, file, sizeof file) == -1);
        json_decref(p);
    }
}

static void test_a_gap_to_what_the_kernel_counted_is_told(void)
{
    static const struct {
        unsigned cpu_ms;
        double sampled_ms;
        bool told;
    } cases[] = { { 400, 1, false },    { 3000, 2900, false }, { 3000, 1600, false },
                  { 3000, 1400, true }, { 600, 0, true },      { 0, 0, false } };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct samples s = { .n = 2 };
        s.at[1] = (struct sample){ .at_us = 1000000, .cpu_us = cases[i].cpu_ms * UINT64_C(1000) };
        json_t *reported = json_pack("{s:f, s:i}", "sampled_ms", cases[i].sampled_ms, "samples", 1);
        json_t *p = profile_make(reported, &s, &sealed);
        CHECK(json_is_string(json_object_get(p, "note")) == cases[i].told);
        json_decref(p);
        (void)json_object_set_new(reported, "ran_ms",
                                  json_real(cases[i].sampled_ms)); /* it waited */
        (void)json_object_set_new(reported, "sampled_ms", json_real(9000));
        p = profile_make(reported, &s, &sealed);
        CHECK(json_is_string(json_object_get(p, "note")) == cases[i].told);
        json_decref(p);
        p = profile_make(NULL, &s,
                         &sealed); /* of a language without a profiler nothing is missing */
        CHECK(json_is_null(json_object_get(p, "note")));
        json_decref(p);
        json_decref(reported);
    }
}

static void test_a_huge_report_is_cut(void)
{
    json_t *reported = json_pack("{s:f, s:i}", "sampled_ms", 10.0, "samples", 5),
           *list = json_array();
    static char name[100001];
    memset(name, 'x', 100000);
    name[100000] = '\0';
    for (int i = 0; i < 5000; i++)
        (void)json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:f, s:f}", "function",
                                                    i % 500 ? "f" : name, "file", "main.py", "line",
                                                    i, "self_ms", 1.0, "total_ms", 1.0));
    (void)json_object_set_new(reported, "functions", list);
    json_t *p = profile_make(reported, NULL, &sealed);
    CHECK(rows(p, "functions") == PROFILE_ROWS_MAX);
    for (size_t i = 0; i < PROFILE_ROWS_MAX; i++)
        CHECK(strlen(text_at(p, "functions", i, "function")) <= PROFILE_TEXT_MAX);
    json_decref(p);
    json_decref(reported);
}

static void test_no_control_characters_reach_a_terminal(void)
{
    json_t *p = made_of(
        "{\"sampled_ms\":1,\"samples\":1,\"lines\":[{\"file\":\"a\\u001b[2J\",\"line\":1,"
        "\"self_ms\":1,\"text\":\"\\u009b31m\\u007f\\nü\"}]}");
    CHECK_STR(text_at(p, "lines", 0, "file"), "a [2J");
    CHECK_STR(text_at(p, "lines", 0, "text"), "  31m  ü");
    json_decref(p);
}

static void test_percentages_are_of_the_whole_and_never_more(void)
{
    json_t *p = made_of(
        "{\"sampled_ms\":10,\"samples\":1,\"lines\":[{\"file\":\"a\",\"line\":1,\"self_ms\":900},"
        "{\"file\":\"a\",\"line\":2,\"self_ms\":2.5}]}");
    const json_t *lines = json_object_get(p, "lines");
    CHECK(json_number_value(json_object_get(json_array_get(lines, 0), "percent")) == 100);
    CHECK(json_number_value(json_object_get(json_array_get(lines, 1), "percent")) == 25);
    json_decref(p);
}

static void test_the_timeline_is_the_kernels(void)
{
    struct samples s = { 0 };
    samples_add(&s, &(struct sample){ .at_us = 0 });
    samples_add(
        &s, &(struct sample){ .at_us = 10000, .cpu_us = 5000, .memory_bytes = 4096, .pids = 2 });
    json_t *p = profile_make(NULL, &s, &sealed);
    const json_t *last = json_array_get(json_object_get(p, "timeline"), 1);
    CHECK(rows(p, "timeline") == 2);
    CHECK(json_number_value(json_object_get(last, "cpu_percent")) == 50);
    CHECK(json_integer_value(json_object_get(last, "memory_bytes")) == 4096);
    CHECK(json_integer_value(json_object_get(last, "pids")) == 2);
    CHECK(json_is_null(json_object_get(p, "note")));
    json_decref(p);
    p = profile_make(NULL, &s, &(struct isolation){ .level = LEVEL_PROCESS });
    CHECK(json_is_string(json_object_get(p, "note")));
    json_decref(p);
}

static void test_no_profile_unless_it_was_asked_for(void)
{
    struct samples s = { 0 };
    CHECK(profile_take(json_object(), false, &s, &sealed) == NULL);
    CHECK(profile_take(json_object(), true, NULL, &sealed) == NULL);
    json_t *p = profile_take(NULL, true, &s, &sealed);
    CHECK(json_is_object(p));
    json_decref(p);
}

static const struct check_test tests[] = {
    TEST(test_own_code_comes_first_and_hottest_first),
    TEST(test_what_is_not_a_profile_is_an_empty_one),
    TEST(test_a_gap_to_what_the_kernel_counted_is_told),
    TEST(test_a_huge_report_is_cut),
    TEST(test_no_control_characters_reach_a_terminal),
    TEST(test_percentages_are_of_the_whole_and_never_more),
    TEST(test_the_timeline_is_the_kernels),
    TEST(test_no_profile_unless_it_was_asked_for),
};
CHECK_MAIN(tests)
