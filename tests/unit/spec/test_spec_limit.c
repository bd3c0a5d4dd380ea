#include "spec/limit.h"

#include "base/array.h"
#include "check.h"

#define MIB (1ULL << 20)
#define GIB (1ULL << 30)

/* A value in the smallest unit, so that any number can be written. */
static const char *plain(enum unit_kind kind, uint64_t value, char *out, size_t size)
{
    (void)snprintf(out, size, "%" PRIu64 "%s", value, kind == UNIT_MS ? "ms" : "");
    return out;
}

/* Written out again: a bound that changes is a promise that changes. */
static void test_limit_table_is_what_is_promised(void)
{
    static const struct {
        enum limit_id id;
        const char *key, *option;
        uint64_t min, max, def;
    } rows[] = {
        { LIMIT_WALL_MS, "wall_ms", "timeout", 1, 86400000, 10000 },
        { LIMIT_CPU_MS, "cpu_ms", "cpu-time", 1, 86400000, 10000 },
        { LIMIT_MEMORY, "memory", "memory", 8 * MIB, 1024 * GIB, 256 * MIB },
        { LIMIT_PIDS, "pids", "pids", 1, 4096, 64 },
        { LIMIT_CPU_PERCENT, "cpu_percent", "cpu-percent", 1, 6400, 100 },
        { LIMIT_OUTPUT, "output", "output", 1, GIB, 16 * MIB },
        { LIMIT_DISK, "disk", "disk", 65536, 1024 * GIB, 64 * MIB },
        { LIMIT_FILES, "files", "files", 16, 10000000, 10000 },
        { LIMIT_OPEN_FILES, "open_files", "open-files", 8, 65536, 1024 },
        { LIMIT_MEMORY_SWAP, "memory_swap", "memory-swap", 0, 1024 * GIB, 0 },
        { LIMIT_CPU_SHARES, "cpu_shares", "cpu-shares", 2, 262144, 1024 },
    };
    CHECK_INT(ARRAY_LEN(rows), LIMIT_COUNT);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct limit_def *d = &limit_defs[rows[i].id];
        CHECK_STR(d->key, rows[i].key);
        CHECK_STR(d->option, rows[i].option);
        CHECK_INT(d->min, rows[i].min);
        CHECK_INT(d->max, rows[i].max);
        CHECK_INT(d->def, rows[i].def);
    }
}

static void test_every_limit_has_a_default_within_bounds_and_words_for_people(void)
{
    struct limits defaults = limits_default();
    struct err e = { 0 };
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const struct limit_def *d = &limit_defs[i];
        CHECK(d->min >= 1 || i == LIMIT_MEMORY_SWAP); /* 0 is never "no limit" */
        CHECK(d->min <= d->def && d->def <= d->max);
        CHECK_INT(defaults.v[i], d->def);
        CHECK(d->help && d->help[0] && d->metavar && d->metavar[0]);
    }
    CHECK_INT(limits_check(&defaults, &e), 0);
}

static void test_every_limit_takes_its_bounds(void)
{
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const struct limit_def *d = &limit_defs[i];
        const uint64_t good[] = { d->min, d->max, d->def, d->min + 1, d->max - 1 };
        for (size_t k = 0; k < ARRAY_LEN(good); k++) {
            struct limits l = limits_default();
            struct err e = { 0 };
            char text[32];
            CHECK_INT(
                limit_parse((enum limit_id)i, plain(d->unit, good[k], text, sizeof text), &l, &e),
                0);
            CHECK_INT(l.v[i], good[k]);
            (void)unit_format(d->unit, good[k], text, sizeof text);
            CHECK_INT(limit_parse((enum limit_id)i, text, &l, &e), 0);
            CHECK_INT(l.v[i], good[k]);
            CHECK_INT(limits_check(&l, &e), 0);
        }
    }
}

/* The name, the value and both bounds: enough to correct the request. */
static void check_says_all(const struct limit_def *d, const char *name, const char *value,
                           const struct err *e)
{
    char min[32], max[32];
    bool all = strstr(e->text, name) && strstr(e->text, value) &&
               strstr(e->text, unit_format(d->unit, d->min, min, sizeof min)) &&
               strstr(e->text, unit_format(d->unit, d->max, max, sizeof max));
    if (!CHECK(all))
        printf("    %s\n", e->text);
    CHECK_INT(e->code, ERR_BAD_REQUEST);
}

static void test_one_past_a_bound_is_refused_with_option_value_and_bounds(void)
{
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const struct limit_def *d = &limit_defs[i];
        const uint64_t bad[] = { d->min - 1, d->max + 1, 0, d->max * 1000 };
        for (size_t k = 0; k < ARRAY_LEN(bad); k++) {
            struct limits l = limits_default();
            struct err e = { 0 };
            char text[32];
            if (d->min == 0 && (k == 0 || k == 2))
                continue; /* there is no value below, and 0 is one */
            (void)plain(d->unit, bad[k], text, sizeof text);
            CHECK_INT(limit_parse((enum limit_id)i, text, &l, &e), -1);
            check_says_all(d, d->option, text, &e);
            CHECK_INT(l.v[i], d->def);
        }
    }
}

static void test_numbers_from_outside_are_held_to_the_same_bounds(void)
{
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const struct limit_def *d = &limit_defs[i];
        const uint64_t bad[] = { d->min - 1, d->max + 1, 0, UINT64_MAX, (uint64_t)INT64_MAX };
        for (size_t k = 0; k < ARRAY_LEN(bad); k++) {
            struct limits l = limits_default();
            struct err e = { 0 };
            char shown[32];
            if (d->min == 0 && bad[k] == 0)
                continue; /* it is a value */
            l.v[i] = bad[k];
            CHECK_INT(limits_check(&l, &e), -1);
            check_says_all(d, d->key, unit_format(d->unit, bad[k], shown, sizeof shown), &e);
        }
    }
}

static void test_what_is_no_number_is_refused_with_what_is_accepted(void)
{
    static const char *const bad[] = {
        "",     "-1",  "nan", "inf",  "1e308", "abc",       "1 0",
        "0x40", "64,", "+64", "none", "null",  "unlimited", "99999999999999999999999999",
    };
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const struct limit_def *d = &limit_defs[i];
        for (size_t k = 0; k < ARRAY_LEN(bad); k++) {
            struct limits l = limits_default();
            struct err e = { 0 };
            CHECK_INT(limit_parse((enum limit_id)i, bad[k], &l, &e), -1);
            CHECK(strstr(e.text, d->option) && strstr(e.text, bad[k]) &&
                  strstr(e.text, unit_accepted(d->unit)));
            CHECK_INT(e.code, ERR_BAD_REQUEST);
            CHECK_INT(l.v[i], d->def);
        }
    }
}

static void test_hostile_value_stays_on_one_line_of_bounded_length(void)
{
    struct limits l = limits_default();
    struct err e = { 0 };
    char text[4096];
    memset(text, '\n', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHECK_INT(limit_parse(LIMIT_MEMORY, text, &l, &e), -1);
    CHECK(strchr(e.text, '\n') == NULL);
    CHECK(strstr(e.text, unit_accepted(UNIT_BYTES)) != NULL);
    CHECK_INT(limit_parse(LIMIT_MEMORY, "\x1B[31m1", &l, &e), -1);
    CHECK(strchr(e.text, '\x1B') == NULL);
}

static void test_keys_and_options_are_each_used_once(void)
{
    for (int i = 0; i < LIMIT_COUNT; i++)
        for (int k = 0; k < i; k++)
            CHECK(strcmp(limit_defs[i].key, limit_defs[k].key) != 0 &&
                  strcmp(limit_defs[i].option, limit_defs[k].option) != 0);
    CHECK(LIMIT_COUNT <= 32); /* a limit_set holds them all */
}

static void test_cpu_time_follows_the_wall_time(void)
{
    static const struct {
        limit_set given;
        uint64_t wall, most, cpu;
    } rows[] = {
        { LIMIT_BIT(LIMIT_WALL_MS), 60000, 300000, 60000 },
        { LIMIT_BIT(LIMIT_WALL_MS), 60000, 30000, 30000 },
        { LIMIT_BIT(LIMIT_WALL_MS), 1000, 300000, 10000 },
        { LIMIT_BIT(LIMIT_WALL_MS) | LIMIT_BIT(LIMIT_CPU_MS), 60000, 300000, 10000 },
        { 0, 60000, 300000, 10000 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct limits l = limits_default();
        l.v[LIMIT_WALL_MS] = rows[i].wall;
        limits_raise_cpu(&l, rows[i].given, rows[i].most);
        CHECK_INT(l.v[LIMIT_CPU_MS], rows[i].cpu);
    }
}

static const struct check_test tests[] = {
    TEST(test_cpu_time_follows_the_wall_time),
    TEST(test_limit_table_is_what_is_promised),
    TEST(test_every_limit_has_a_default_within_bounds_and_words_for_people),
    TEST(test_every_limit_takes_its_bounds),
    TEST(test_one_past_a_bound_is_refused_with_option_value_and_bounds),
    TEST(test_numbers_from_outside_are_held_to_the_same_bounds),
    TEST(test_what_is_no_number_is_refused_with_what_is_accepted),
    TEST(test_hostile_value_stays_on_one_line_of_bounded_length),
    TEST(test_keys_and_options_are_each_used_once),
};
CHECK_MAIN(tests)
