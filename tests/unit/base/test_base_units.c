#include "base/units.h"

#include "base/array.h"
#include "check.h"

#define REFUSED UINT64_MAX
#define KIB     (1ULL << 10)
#define MIB     (1ULL << 20)
#define GIB     (1ULL << 30)
#define TIB     (1ULL << 40)

struct row {
    const char *text;
    uint64_t value;
};

static void check_rows(enum unit_kind kind, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t value = 42;
        int rc = unit_parse(kind, rows[i].text, &value);
        bool refused = rows[i].value == REFUSED;
        if (!CHECK(rc == (refused ? -1 : 0)) || !CHECK(value == (refused ? 42 : rows[i].value)))
            printf("    '%s' gave %d, %" PRIu64 "\n", rows[i].text, rc, value);
    }
}
#define CHECK_ROWS(kind, rows) check_rows(kind, rows, sizeof(rows) / sizeof((rows)[0]))

static void test_sizes_are_read_as_people_write_them(void)
{
    static const struct row rows[] = {
        { "0", 0 },
        { "1", 1 },
        { "65536", 65536 },
        { "1b", 1 },
        { "1B", 1 },
        { "64k", 64 * KIB },
        { "64K", 64 * KIB },
        { "64kb", 64 * KIB },
        { "64KiB", 64 * KIB },
        { "512m", 512 * MIB },
        { "512MB", 512 * MIB },
        { "512mib", 512 * MIB },
        { "1g", GIB },
        { "1Gib", GIB },
        { "1.5g", 3 * GIB / 2 },
        { "0.5k", 512 },
        { "1.250m", 1310720 },
        { "1t", TIB },
        { "1TiB", TIB },
        { "007", 7 },
        { "00000000000000000000000000000001k", KIB },
    };
    CHECK_ROWS(UNIT_BYTES, rows);
}

static void test_durations_are_read_as_people_write_them(void)
{
    static const struct row rows[] = {
        { "0", 0 },           { "10", 10000 },    { "10s", 10000 },      { "10S", 10000 },
        { "500ms", 500 },     { "500MS", 500 },   { "500Ms", 500 },      { "2m", 120000 },
        { "2M", 120000 },     { "1h", 3600000 },  { "24H", 86400000 },   { "2.5", 2500 },
        { "0.001", 1 },       { "0.5s", 500 },    { "1.5m", 90000 },     { "1.25h", 4500000 },
        { "10.000s", 10000 }, { "1d", 86400000 }, { "30D", 2592000000 },
    };
    CHECK_ROWS(UNIT_MS, rows);
}

static void test_counts_are_whole_numbers_without_unit(void)
{
    static const struct row rows[] = {
        { "0", 0 },           { "64", 64 },       { "4096", 4096 },   { "64.5", REFUSED },
        { "64k", REFUSED },   { "64m", REFUSED }, { "64s", REFUSED }, { "64b", REFUSED },
        { "0.001", REFUSED }, { "1d", REFUSED },
    };
    CHECK_ROWS(UNIT_COUNT, rows);
}

/* Values that are wrong in every unit. */
static void test_nonsense_is_refused_by_every_kind(void)
{
    static const struct row rows[] = {
        { "", REFUSED },           { " ", REFUSED },
        { "-1", REFUSED },         { "+1", REFUSED },
        { "-0", REFUSED },         { "--1", REFUSED },
        { "nan", REFUSED },        { "NaN", REFUSED },
        { "inf", REFUSED },        { "-inf", REFUSED },
        { "infinity", REFUSED },   { "1e308", REFUSED },
        { "1e3", REFUSED },        { "1E3", REFUSED },
        { "0x10", REFUSED },       { "0b1", REFUSED },
        { "k", REFUSED },          { "s", REFUSED },
        { ".", REFUSED },          { ".5", REFUSED },
        { "1.", REFUSED },         { "1.s", REFUSED },
        { "1..5", REFUSED },       { "1.5.5", REFUSED },
        { "1,5", REFUSED },        { "1,000", REFUSED },
        { "1_000", REFUSED },      { "1'000", REFUSED },
        { " 1", REFUSED },         { "1 ", REFUSED },
        { "\t1", REFUSED },        { "1\n", REFUSED },
        { "10 s", REFUSED },       { "10 k", REFUSED },
        { "10sec", REFUSED },      { "10min", REFUSED },
        { "1w", REFUSED },         { "1dd", REFUSED },
        { "1us", REFUSED },        { "1p", REFUSED },
        { "1kk", REFUSED },        { "1kmb", REFUSED },
        { "1ib", REFUSED },        { "1bb", REFUSED },
        { "1kbb", REFUSED },       { "1ms1", REFUSED },
        { "1s5", REFUSED },        { "1h30m", REFUSED },
        { "1k-", REFUSED },        { "1.-5", REFUSED },
        { "max", REFUSED },        { "unlimited", REFUSED },
        { "none", REFUSED },       { "\xEF\xBC\x91", REFUSED }, /* full-width one */
        { "1\xC2\xA0s", REFUSED },                              /* no-break space */
    };
    CHECK_ROWS(UNIT_COUNT, rows);
    CHECK_ROWS(UNIT_BYTES, rows);
    CHECK_ROWS(UNIT_MS, rows);
}

static void test_numbers_that_do_not_fit_are_refused_not_wrapped(void)
{
    static const struct row bytes[] = {
        { "8388607t", 8388607 * TIB },
        { "8388608t", REFUSED },  /* 2^63 */
        { "16777216t", REFUSED }, /* 2^64, which would wrap to 0 */
        { "18446744073709551616", REFUSED },
        { "18446744073709551617", REFUSED },
        { "99999999999999999999999999999999999999999999", REFUSED },
        { "18446744073709551t", REFUSED },
    };
    static const struct row times[] = {
        { "18446744073709551616ms", REFUSED },
        { "18446744073709551h", REFUSED },
        { "9999999999999999999", REFUSED },
    };
    static const struct row counts[] = {
        { "4294967296", 4294967296 }, /* not cut to 32 bits */
        { "18446744073709551616", REFUSED },
        { "18446744073709551680", REFUSED }, /* 2^64 + 64 */
    };
    CHECK_ROWS(UNIT_BYTES, bytes);
    CHECK_ROWS(UNIT_MS, times);
    CHECK_ROWS(UNIT_COUNT, counts);
}

static void test_decimals_finer_than_counted_are_refused_not_cut(void)
{
    static const struct row times[] = {
        { "1.9999s", REFUSED },
        { "0.0009s", REFUSED },
        { "1.0000000000000000000000000000000000000000000000000000000000000000001s", REFUSED },
        { "1.50000000000000000000000000000s", 1500 },
    };
    static const struct row counts[] = { { "64.0001", REFUSED } };
    CHECK_ROWS(UNIT_MS, times);
    CHECK_ROWS(UNIT_COUNT, counts);
}

static void test_formatting_is_short_and_exact(void)
{
    static const struct {
        enum unit_kind kind;
        uint64_t value;
        const char *text;
    } rows[] = {
        { UNIT_BYTES, 0, "0" },
        { UNIT_BYTES, 1, "1" },
        { UNIT_BYTES, 1023, "1023" },
        { UNIT_BYTES, 1024, "1k" },
        { UNIT_BYTES, 1025, "1025" },
        { UNIT_BYTES, 256 * MIB, "256m" },
        { UNIT_BYTES, 1536 * MIB, "1536m" },
        { UNIT_BYTES, GIB, "1g" },
        { UNIT_BYTES, 1024 * GIB, "1t" },
        { UNIT_BYTES, UINT64_MAX, "18446744073709551615" },
        { UNIT_MS, 0, "0ms" },
        { UNIT_MS, 1, "1ms" },
        { UNIT_MS, 999, "999ms" },
        { UNIT_MS, 1000, "1s" },
        { UNIT_MS, 1500, "1500ms" },
        { UNIT_MS, 10000, "10s" },
        { UNIT_MS, 60000, "1m" },
        { UNIT_MS, 90000, "90s" },
        { UNIT_MS, 86400000, "24h" },
        { UNIT_COUNT, 0, "0" },
        { UNIT_COUNT, 65536, "65536" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char out[32];
        CHECK_STR(unit_format(rows[i].kind, rows[i].value, out, sizeof out), rows[i].text);
    }
}

static void test_what_was_formatted_reads_as_the_same_value(void)
{
    static const enum unit_kind kinds[] = { UNIT_COUNT, UNIT_BYTES, UNIT_MS };
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        for (uint64_t value = 1; value < 1ULL << 42; value = value * 3 + 1) {
            char out[32];
            uint64_t back = 0;
            CHECK_INT(unit_parse(kinds[k], unit_format(kinds[k], value, out, sizeof out), &back),
                      0);
            CHECK_INT(back, value);
        }
    }
}

static void test_formatting_stays_inside_its_buffer(void)
{
    char out[8];
    memset(out, '#', sizeof out);
    CHECK_STR(unit_format(UNIT_BYTES, 123456789, out, 4), "123");
    CHECK_INT(out[4], '#');
}

static void test_every_kind_says_what_it_accepts(void)
{
    CHECK(strstr(unit_accepted(UNIT_BYTES), "512m") != NULL);
    CHECK(strstr(unit_accepted(UNIT_MS), "500ms") != NULL);
    CHECK(strstr(unit_accepted(UNIT_COUNT), "whole number") != NULL);
}

static const struct check_test tests[] = {
    TEST(test_sizes_are_read_as_people_write_them),
    TEST(test_durations_are_read_as_people_write_them),
    TEST(test_counts_are_whole_numbers_without_unit),
    TEST(test_nonsense_is_refused_by_every_kind),
    TEST(test_numbers_that_do_not_fit_are_refused_not_wrapped),
    TEST(test_decimals_finer_than_counted_are_refused_not_cut),
    TEST(test_formatting_is_short_and_exact),
    TEST(test_what_was_formatted_reads_as_the_same_value),
    TEST(test_formatting_stays_inside_its_buffer),
    TEST(test_every_kind_says_what_it_accepts),
};
CHECK_MAIN(tests)
