#include "spec/isolation.h"

#include "base/array.h"
#include "check.h"

static void test_level_names_are_read_and_written_the_same(void)
{
    static const char *const names[] = { "auto", "process", "rootless", "jar" };
    CHECK_INT(ARRAY_LEN(names), LEVEL_COUNT_);
    for (int i = 0; i < LEVEL_COUNT_; i++) {
        enum level l = LEVEL_COUNT_;
        CHECK_STR(level_name((enum level)i), names[i]);
        CHECK_INT(level_parse(names[i], &l), 0);
        CHECK_INT(l, i);
    }
}

/* A stronger level compares greater: "at least rootless" can be asked. */
static void test_levels_are_ordered_by_strength(void)
{
    CHECK(LEVEL_PROCESS < LEVEL_ROOTLESS && LEVEL_ROOTLESS < LEVEL_JAR);
    CHECK_INT(LEVELS_TO_TRY, LEVEL_COUNT_ - 1); /* all but auto itself */
    for (int i = 1; i < LEVELS_TO_TRY; i++)
        CHECK(levels_best_first[i - 1] > levels_best_first[i]);
}

static void test_unknown_level_is_refused_and_changes_nothing(void)
{
    static const char *const bad[] = {
        "", "JAR", "Jar", "jar ", " jar", "ja", "jars", "none", "0"
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        enum level l = LEVEL_ROOTLESS;
        CHECK_INT(level_parse(bad[i], &l), -1);
        CHECK_INT(l, LEVEL_ROOTLESS);
    }
    CHECK_STR(level_name((enum level)LEVEL_COUNT_), "unknown");
    CHECK_STR(level_name((enum level)(-1)), "unknown");
}

/* Written out again: results name them. */
static void test_layer_names_are_what_results_promise(void)
{
    static const char *const names[] = {
        "user_ns",      "pid_ns",     "mount_ns",    "net_ns",     "ipc_ns",
        "uts_ns",       "cgroup_ns",  "root",        "own_uid",    "no_caps",
        "no_new_privs", "seccomp",    "landlock",    "rlimits",    "cgroup_memory",
        "cgroup_pids",  "cgroup_cpu", "environment", "closed_fds", "own_session",
    };
    CHECK_INT(ARRAY_LEN(names), LAYER_COUNT_);
    for (int i = 0; i < LAYER_COUNT_; i++) {
        CHECK_STR(layer_name((enum layer)i), names[i]);
        CHECK(layer_what((enum layer)i)[0] != '\0');
    }
}

static void test_every_layer_has_a_bit_of_its_own(void)
{
    layer_set seen = 0;
    for (int i = 0; i < LAYER_COUNT_; i++) {
        CHECK(LAYER_BIT(i) != 0 && (seen & LAYER_BIT(i)) == 0);
        seen |= LAYER_BIT(i);
    }
}

static void test_unknown_layer_reads_past_no_table(void)
{
    CHECK_STR(layer_name((enum layer)LAYER_COUNT_), "unknown");
    CHECK_STR(layer_name((enum layer)(-1)), "unknown");
    CHECK_STR(layer_what((enum layer)1000000), "unknown");
}

static const struct check_test tests[] = {
    TEST(test_level_names_are_read_and_written_the_same),
    TEST(test_levels_are_ordered_by_strength),
    TEST(test_unknown_level_is_refused_and_changes_nothing),
    TEST(test_layer_names_are_what_results_promise),
    TEST(test_every_layer_has_a_bit_of_its_own),
    TEST(test_unknown_layer_reads_past_no_table),
};
CHECK_MAIN(tests)
