/* The use of memory and CPU over time fits in a bounded buffer that covers the whole run. */
#include "spec/samples.h"

#include "check.h"

static void add(struct samples *s, uint64_t at_us)
{
    samples_add(s, &(struct sample){ .at_us = at_us, .cpu_us = at_us / 2, .memory_bytes = at_us });
}

static void test_samples_come_every_ten_milliseconds_at_first(void)
{
    struct samples s = { 0 };
    CHECK(samples_due_us(&s) == 0);
    add(&s, 0);
    CHECK(samples_due_us(&s) == SAMPLES_FIRST_US);
    add(&s, 10000);
    CHECK(s.n == 2 && samples_due_us(&s) == 20000);
}

static void test_a_long_run_is_covered_by_as_many_samples(void)
{
    struct samples s = { 0 };
    for (uint64_t now = 0; now < 600 * 1000000ull; now = samples_due_us(&s)) {
        add(&s, now);
        CHECK(s.n <= SAMPLES_MAX);
    }
    CHECK(samples_valid(&s));
    CHECK(s.n >= SAMPLES_MAX / 2);
    CHECK(s.at[0].at_us == 0 && s.at[s.n - 1].at_us > 590 * 1000000ull);
    for (uint32_t i = 1; i < s.n; i++) /* evenly */
        CHECK(s.at[i].at_us - s.at[i - 1].at_us == s.interval_us);
}

static void test_what_comes_too_soon_takes_the_place_of_the_last(void)
{
    struct samples s = { 0 };
    add(&s, 0);
    add(&s, 10000);
    add(&s, 15000); /* the end of the run */
    CHECK(s.n == 3);
    add(&s, 16000);
    CHECK(s.n == 3 && s.at[2].at_us == 16000);
}

static void test_samples_out_of_order_are_refused(void)
{
    struct samples s = { 0 };
    add(&s, 0);
    add(&s, 20000);
    CHECK(samples_valid(&s));
    s.at[1].cpu_us = 0;
    s.at[0].cpu_us = 1;
    CHECK(!samples_valid(&s));
    s.at[0] = (struct sample){ .at_us = 30000 };
    CHECK(!samples_valid(&s));
    s.n = SAMPLES_MAX + 1;
    CHECK(!samples_valid(&s));
}

static const struct check_test tests[] = {
    TEST(test_samples_come_every_ten_milliseconds_at_first),
    TEST(test_a_long_run_is_covered_by_as_many_samples),
    TEST(test_what_comes_too_soon_takes_the_place_of_the_last),
    TEST(test_samples_out_of_order_are_refused),
};
CHECK_MAIN(tests)
