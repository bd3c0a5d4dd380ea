/* tests/unit/lib/check.h — the whole of our test harness. A failed CHECK prints its place and its
 * values, and the test goes on: one run shows every broken promise.
 *
 *     static void test_a_promise(void)
 *     {
 *         CHECK(answer() == 42);
 *         CHECK_STR(name(), "belljar");
 *     }
 *
 *     static const struct check_test tests[] = {
 *         TEST(test_a_promise),
 *     };
 *     CHECK_MAIN(tests)
 *
 * A test that is missing from the table is an unused static function, which the compiler reports.
 * CHECK, CHECK_STR and CHECK_INT are true when they hold: `if (!CHECK(p)) return;`. */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct check_test {
    const char *name;
    void (*run)(void);
};

#define TEST(function) { #function, function }

#define CHECK(expr)     check_that((expr), __FILE__, __LINE__, #expr)
#define CHECK_STR(a, b) check_str((a), (b), __FILE__, __LINE__, #a " == " #b)
#define CHECK_INT(a, b) check_int((intmax_t)(a), (intmax_t)(b), __FILE__, __LINE__, #a " == " #b)

/* Says why a test cannot be held on this machine; the test should return after it. */
#define SKIP(why) ((void)(check_skipped = (why)))

#define CHECK_MAIN(table)                                                 \
    int main(int argc, char **argv)                                       \
    {                                                                     \
        return check_run_all((table), sizeof(table) / sizeof((table)[0]), \
                             argc > 1 ? argv[1] : "");                    \
    }

/* Of the test that is running now. */
static unsigned check_failures;
static const char *check_skipped;

static inline bool check_that(bool holds, const char *file, int line, const char *expr)
{
    if (!holds) {
        printf("%s:%d: %s\n", file, line, expr);
        check_failures++;
    }
    return holds;
}

[[maybe_unused]] static bool check_str(const char *a, const char *b, const char *file, int line,
                                       const char *expr)
{
    bool same = a == b || (a && b && strcmp(a, b) == 0);
    if (!check_that(same, file, line, expr))
        printf("    left:  \"%s\"\n    right: \"%s\"\n", a ? a : "(null)", b ? b : "(null)");
    return same;
}

[[maybe_unused]] static bool check_int(intmax_t a, intmax_t b, const char *file, int line,
                                       const char *expr)
{
    if (!check_that(a == b, file, line, expr))
        printf("    left:  %" PRIdMAX "\n    right: %" PRIdMAX "\n", a, b);
    return a == b;
}

/* Runs the tests whose name contains `only`. Lines are flushed one by one, so that a crash loses
 * nothing and a child that was forked repeats nothing. */
static inline int check_run_all(const struct check_test *tests, size_t count, const char *only)
{
    unsigned passed = 0, failed = 0, skipped = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < count; i++) {
        if (!strstr(tests[i].name, only))
            continue;
        check_failures = 0;
        check_skipped = NULL;
        tests[i].run();
        if (check_failures > 0) {
            printf("FAIL %s\n", tests[i].name);
            failed++;
        } else if (check_skipped) {
            printf("skip %s: %s\n", tests[i].name, check_skipped);
            skipped++;
        } else {
            printf("ok %s\n", tests[i].name);
            passed++;
        }
    }
    printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
    return failed > 0;
}
