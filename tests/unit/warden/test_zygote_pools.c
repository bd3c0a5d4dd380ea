/* The decision to make one more embryo, without processes. */
#include "base/clock.h"
#include "check.h"
#include "warden/zygote_pools.h"

enum { KIND = 1, MOMENT_US = 10000, PAUSE_APART_US = 100000, RUN_US = 5000, ANSWER_US = 1000 };

static struct jar_host host = { .isolation.level = LEVEL_JAR };
static struct zygote zygote = { .up = true, .fd = -1, .pidfd = -1 };

static struct zygote_pools pools_of_one(uint64_t now)
{
    struct zygote_pools p = { .host = &host, .n = 1 };
    zygote.born_us = now;
    p.kinds[KIND - 1].active = &zygote;
    p.targets = (struct pool_targets){ .zygote_forks = 1000, .zygote_age_ms = 600000 };
    p.targets.kinds[KIND - 1].on = true;
    p.targets.kinds[KIND - 1].ready = 1;
    return p;
}

static void test_an_embryo_is_made_while_one_is_missing(void)
{
    uint64_t now = clock_us();
    struct zygote_pools p = pools_of_one(now);
    CHECK(zygote_pools_want_embryo(&p, KIND, 0, now));
    p.kinds[KIND - 1].state.building = 1;
    CHECK(!zygote_pools_want_embryo(&p, KIND, 1, now));
}

static void test_after_the_start_of_a_session_no_embryo_is_made_for_a_moment(void)
{
    uint64_t now = clock_us();
    struct zygote_pools p = pools_of_one(now);
    zygote_pools_note_session(&p, now);
    CHECK(!zygote_pools_want_embryo(&p, KIND, 0, now));
    CHECK(!zygote_pools_want_embryo(&p, KIND, 0, now + MOMENT_US - 1));
    CHECK(zygote_pools_want_embryo(&p, KIND, 0, now + MOMENT_US));
    CHECK_INT(zygote_pools_maintain(&p, now), now + MOMENT_US); /* it looks again by itself */
}

static void test_sessions_that_begin_without_a_break_do_not_stop_the_making(void)
{
    uint64_t now = clock_us();
    struct zygote_pools p = pools_of_one(now);
    zygote_pools_note_session(&p, now);
    for (uint64_t at = now; at < now + MOMENT_US + PAUSE_APART_US; at += 1000)
        zygote_pools_note_session(&p, at);
    CHECK(zygote_pools_want_embryo(&p, KIND, 0, now + MOMENT_US));
    zygote_pools_note_session(&p, now + MOMENT_US + PAUSE_APART_US);
    CHECK(!zygote_pools_want_embryo(&p, KIND, 0, now + MOMENT_US + PAUSE_APART_US + 1));
}

static void test_a_short_run_does_not_wait_for_the_next_embryo(void)
{
    uint64_t now = clock_us();
    struct zygote_pools p = pools_of_one(now);
    p.targets.kinds[KIND - 1].ready = 2;
    p.kinds[KIND - 1].state.ready = 1;
    CHECK_INT(zygote_pools_note_run(&p, true, now), now + RUN_US);
    CHECK(!zygote_pools_want_embryo(&p, KIND, 0, now + RUN_US - 1));
    CHECK(zygote_pools_want_embryo(&p, KIND, 0, now + RUN_US)); /* a long run delays nothing more */
    CHECK_INT(zygote_pools_maintain(&p, now), now + RUN_US);    /* it looks again by itself */
    CHECK_INT(zygote_pools_note_run(&p, false, now + 2000), now + 2000 + ANSWER_US);
    CHECK(!zygote_pools_want_embryo(&p, KIND, 0, now + 2000));
    CHECK(zygote_pools_want_embryo(&p, KIND, 0, now + 2000 + ANSWER_US));
    /* the end of a long run does not begin a pause */
    CHECK_INT(zygote_pools_note_run(&p, false, now + 9000), now + 2000 + ANSWER_US);
    CHECK(zygote_pools_want_embryo(&p, KIND, 0, now + 9000));
}

static void test_runs_without_a_break_leave_half_of_the_embryos(void)
{
    uint64_t now = clock_us();
    struct zygote_pools p = pools_of_one(now);
    p.targets.kinds[KIND - 1].ready = 4;
    p.kinds[KIND - 1].state.ready = 2;
    zygote_pools_note_run(&p, true, now);
    CHECK(!zygote_pools_want_embryo(&p, KIND, 0, now));
    p.kinds[KIND - 1].state.ready = 1;
    CHECK(zygote_pools_want_embryo(&p, KIND, 0, now));
    p.kinds[KIND - 1].state.building = 1; /* it counts: the half is on its way */
    CHECK(!zygote_pools_want_embryo(&p, KIND, 1, now));
}

static const struct check_test tests[] = {
    TEST(test_an_embryo_is_made_while_one_is_missing),
    TEST(test_after_the_start_of_a_session_no_embryo_is_made_for_a_moment),
    TEST(test_sessions_that_begin_without_a_break_do_not_stop_the_making),
    TEST(test_a_short_run_does_not_wait_for_the_next_embryo),
    TEST(test_runs_without_a_break_leave_half_of_the_embryos),
};
CHECK_MAIN(tests)
