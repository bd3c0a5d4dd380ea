#include "spec/run_options.h"

#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "check.h"

static const struct run_option_def *row_of(const char *key)
{
    for (int i = 0; i < RUN_OPTION_COUNT; i++)
        if (strcmp(run_option_defs[i].key, key) == 0)
            return &run_option_defs[i];
    return NULL;
}

static int parse(struct run_options *o, const char *key, const char *value, struct err *e)
{
    const struct run_option_def *d = row_of(key);
    return CHECK(d) ? run_option_parse(o, d, value, e) : -1;
}

static void test_every_row_sets_its_own_member(void)
{
    scoped(run_options) o = { .compile_limits = compile_limits_default() };
    struct err e = { 0 };
    CHECK_INT(parse(&o, "profile", NULL, &e), 0);
    CHECK(o.profile && !o.check_types && !o.no_cache);
    CHECK_INT(parse(&o, "check_types", NULL, &e), 0);
    CHECK_INT(parse(&o, "no_cache", NULL, &e), 0);
    CHECK(o.check_types && o.no_cache);
    CHECK_INT(parse(&o, "format", "markdown", &e), 0);
    CHECK_INT(o.format, TABLE_MARKDOWN);
    CHECK_INT(parse(&o, "compiler_args", "-O3", &e) || parse(&o, "compiler_args", "-g", &e), 0);
    CHECK_STR(o.compiler_args[1], "-g");
    CHECK_INT(parse(&o, "allow_commands", "ls", &e), 0);
    CHECK(o.allow_commands && strcmp(o.allow_commands[0], "ls") == 0 && !o.allow_commands[1]);
    CHECK_INT(parse(&o, "compile_limits", "timeout=60s", &e), 0);
    CHECK_INT(o.compile_limits.v[LIMIT_WALL_MS], 60000);
    CHECK_INT(o.compile_limits_given, LIMIT_BIT(LIMIT_WALL_MS));
}

static void test_every_row_is_complete_and_named_once(void)
{
    for (int i = 0; i < RUN_OPTION_COUNT; i++) {
        const struct run_option_def *d = &run_option_defs[i];
        /* These are not there: --fix and --fix-with-network of `belljar run` set `fixes`, and
         * `belljar check` sets `checks`. */
        bool in_commands = strcmp(d->key, "fixes") != 0 && strcmp(d->key, "checks") != 0;
        CHECK(d->key && (d->option != NULL) == in_commands && d->help && d->help[0]);
        CHECK((d->metavar == NULL) == (d->kind == RUN_OPTION_BOOL || !in_commands));
        CHECK((d->words != NULL) == (d->kind == RUN_OPTION_CHOICE));
        CHECK((d->max > 0) == (d->kind == RUN_OPTION_LIST));
        for (int k = 0; k < i; k++)
            CHECK(strcmp(d->key, run_option_defs[k].key) != 0 &&
                  (!d->option || !run_option_defs[k].option ||
                   strcmp(d->option, run_option_defs[k].option) != 0));
    }
}

static void test_refused_value_is_named_with_the_accepted_ones(void)
{
    static const struct {
        const char *key, *value, *names;
    } rows[] = {
        { "format", "xml", "table, csv, markdown, json, html" },
        { "compile_limits", "timeout", "timeout, cpu-time, memory" },
        { "compile_limits", "time=1s", "timeout, cpu-time, memory" },
        { "compile_limits", "timeout=0", "out of bounds" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scoped(run_options) o = { 0 };
        struct err e = { 0 };
        CHECK_INT(parse(&o, rows[i].key, rows[i].value, &e), -1);
        CHECK(e.code == ERR_BAD_REQUEST && strstr(e.text, rows[i].names));
    }
}

static void test_limit_of_an_option_is_named_like_the_option(void)
{
    struct limits limits = limits_default();
    limit_set given = 0;
    struct err e = { 0 };
    CHECK_INT(run_limit_parse("stage-limit", "cpu-time=3s", &limits, &given, &e), 0);
    CHECK(given == LIMIT_BIT(LIMIT_CPU_MS) && limits.v[LIMIT_CPU_MS] == 3000);
    static const char *const bad[] = { "", "=", "cpu-time", "cpu_ms=3s", "cpu-times=1s", "=3s" };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK_INT(run_limit_parse("stage-limit", bad[i], &limits, &given, &e), -1);
        CHECK(strstr(e.text, "--stage-limit '") && strstr(e.text, "cpu-shares are the limits"));
    }
    CHECK_INT(run_limit_parse("stage-limit", "cpu-time=soon", &limits, &given, &e), -1);
    CHECK(given == LIMIT_BIT(LIMIT_CPU_MS));
}

static void test_given_options_are_those_that_differ_from_the_default(void)
{
    static const struct {
        const char *key, *value;
    } rows[] = { { "profile", NULL },  { "compiler_args", "-g" },
                 { "format", "csv" },  { "compile_limits", "pids=9" },
                 { "values", "none" }, { "fixes", "try" } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scoped(run_options) o = { .compile_limits = compile_limits_default() };
        struct err e = { 0 };
        for (int k = 0; k < RUN_OPTION_COUNT; k++)
            CHECK(!run_option_is_given(&o, &run_option_defs[k]));
        CHECK_INT(parse(&o, rows[i].key, rows[i].value, &e), 0);
        for (int k = 0; k < RUN_OPTION_COUNT; k++)
            CHECK(run_option_is_given(&o, &run_option_defs[k]) ==
                  (&run_option_defs[k] == row_of(rows[i].key)));
    }
}

static const struct check_test tests[] = {
    TEST(test_limit_of_an_option_is_named_like_the_option),
    TEST(test_given_options_are_those_that_differ_from_the_default),
    TEST(test_every_row_sets_its_own_member),
    TEST(test_every_row_is_complete_and_named_once),
    TEST(test_refused_value_is_named_with_the_accepted_ones),
};
CHECK_MAIN(tests)
