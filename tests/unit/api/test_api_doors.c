#include "api/doors/judge0/judge0.h"
#include "api/doors/piston/semver.h"
#include "check.h"

static bool within(const char *version, const char *range)
{
    struct semver v;
    CHECK(semver_read(version, &v));
    return semver_within(&v, range);
}

static void test_semver_ranges_are_those_of_npm(void)
{
    static const struct {
        const char *version, *range;
        bool is_within;
    } rows[] = {
        { "3.11.2", "*", true },          { "3.11.2", "", true },
        { "3.11.2", "x", true },          { "3.11.2", "3", true },
        { "3.11.2", "3.x", true },        { "3.11.2", "3.*.*", true },
        { "3.11.2", "3.11", true },       { "3.11.2", "3.11.2", true },
        { "3.11.2", "=3.11.2", true },    { "3.11.2", "v3.11.2", true },
        { "3.11.2", "3.11.1", false },    { "3.11.2", "2", false },
        { "3.11.2", ">=3", true },        { "3.11.2", ">3", false },
        { "4.0.0", ">3", true },          { "3.11.2", ">3.11.1", true },
        { "3.11.2", ">3.11.2", false },   { "3.11.2", "<4", true },
        { "3.11.2", "<3.11.2", false },   { "3.11.2", "<=3.11", true },
        { "3.11.2", "<=3.10", false },    { "3.11.2", "^3.0.0", true },
        { "3.11.2", "^2", false },        { "0.2.3", "^0.2.1", true },
        { "0.3.0", "^0.2.1", false },     { "0.0.3", "^0.0.3", true },
        { "0.0.4", "^0.0.3", false },     { "0.9.0", "^0", true },
        { "1.2.9", "~1.2.3", true },      { "1.3.0", "~1.2.3", false },
        { "1.9.0", "~1", true },          { "1.2.9", "~> 1.2", true },
        { "2.3.9", "1.2 - 2.3", true },   { "2.4.0", "1.2 - 2.3", false },
        { "2.4.0", "1.2.3 - 2", true },   { "1.2.2", "1.2.3 - 2", false },
        { "3.1.0", ">=3 <3.2", true },    { "3.2.0", ">= 3  <3.2", false },
        { "3.2.0", "<3 || >=3.1", true }, { "3.0.5", "<3 || >=3.1", false },
        { "3.2.0", "what", false },       { "3.2.0", "3.2.0-rc1", false },
        { "3.2.0", "3 |", false },        { "3.2.0", "99999999999999999999", false },
        { "3.2.0", "<*", false },         { "3.2.0", ">*", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!CHECK(within(rows[i].version, rows[i].range) == rows[i].is_within))
            CHECK_STR(rows[i].range, "as expected");
}

static void test_semver_finds_the_version_in_a_text(void)
{
    struct semver v;
    CHECK(semver_read("Python 3.11.2", &v) && v.part[0] == 3 && v.part[1] == 11 && v.part[2] == 2);
    CHECK(semver_read("17", &v) && v.part[0] == 17 && v.part[1] == 0);
    CHECK(semver_read("5.4.", &v) && v.part[1] == 4);
    CHECK(!semver_read("none", &v) && !semver_read("", &v));
}

static void test_unzip_refuses_bytes_that_are_no_archive(void)
{
    json_auto_t *files = json_array();
    struct err e = { 0 };
    char end[22] = "PK\5\6";
    CHECK(judge0_unzip("", 0, files, &e) == -1);
    CHECK(judge0_unzip("PK\5\6", 4, files, &e) == -1);
    CHECK(judge0_unzip(end, sizeof end, files, &e) == 0 && json_array_size(files) == 0);
    end[10] = 1; /* one file, of which there is no entry */
    CHECK(judge0_unzip(end, sizeof end, files, &e) == -1);
    memset(end + 16, 0xff, 4); /* the directory is behind the end */
    CHECK(judge0_unzip(end, sizeof end, files, &e) == -1);
}

static const struct check_test tests[] = {
    TEST(test_semver_ranges_are_those_of_npm),
    TEST(test_semver_finds_the_version_in_a_text),
    TEST(test_unzip_refuses_bytes_that_are_no_archive),
};
CHECK_MAIN(tests)
