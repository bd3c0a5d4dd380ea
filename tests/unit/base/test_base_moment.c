#include "base/moment.h"

#include "base/array.h"
#include "base/id.h"
#include "check.h"

static void test_moment_is_a_time_or_how_long_ago(void)
{
    static const struct {
        const char *text;
        int64_t ms; /* -1: refused */
    } rows[] = {
        { "1970-01-01T00:00:01Z", 1000 },
        { "1970-01-02T00:00:00.25Z", 86400250 },
        { "1970-01-01T00:00:01+00:00", 1000 },
        { "1970-01-01T00:00:01", 1000 },
        { "1970-01-01 00:00:01", 1000 },
        { "1970-01-01T00:01", 60000 },
        { "1970-01-02", 86400000 },
        { "12345", 12345 },
        { "1h", 6400000 },
        { "500ms", 9999500 },
        { "9999h", 0 },
        { "1970-01-01T00:00:01+02:00", -1 },
        { "1970-01-01x", -1 },
        { "-1", -1 },
        { "", -1 },
        { "now", -1 },
        { "99999999999999999999", -1 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t ms = -1;
        int failed = moment_parse(rows[i].text, 10000000, &ms);
        if (!CHECK_INT(failed, rows[i].ms < 0 ? -1 : 0) || !CHECK_INT(ms, rows[i].ms))
            printf("    %s\n", rows[i].text);
    }
}

static void test_moment_is_written_as_it_is_read(void)
{
    char text[MOMENT_SIZE];
    int64_t ms = 0;
    CHECK_STR(moment_format(1700000000123, text), "2023-11-14T22:13:20.123Z");
    CHECK_INT(moment_parse(text, 0, &ms), 0);
    CHECK_INT(ms, 1700000000123);
    CHECK_STR(moment_format(INT64_MAX, text), "292278994-08-17T07:12:55.807Z");
}

static void test_ids_are_ordered_and_not_the_same(void)
{
    char a[ID_SIZE], b[ID_SIZE];
    id_make("run_", a);
    id_make("run_", b);
    CHECK_INT(strlen(a), 4 + 11 + 16);
    CHECK_INT(strspn(a + 4, "0123456789abcdef"), 27);
    CHECK(strncmp(a, b, 15) <= 0);
    CHECK(strcmp(a, b) != 0);
}

static const struct check_test tests[] = {
    TEST(test_moment_is_a_time_or_how_long_ago),
    TEST(test_moment_is_written_as_it_is_read),
    TEST(test_ids_are_ordered_and_not_the_same),
};
CHECK_MAIN(tests)
