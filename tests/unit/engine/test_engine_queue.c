#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "engine/engine_impl.h"

/* admission.c alone: these runs never start. */
static struct err e;

static struct run *run_of(const char *key)
{
    struct run *l = calloc(1, sizeof *l);
    static const struct language plain = { .name = "plain" };
    l->spec.key = (char *)key;
    l->spec.language = &plain;
    l->state = RUN_QUEUED;
    l->is_recorded = true;
    return l;
}

static struct engine engine_with(unsigned max, unsigned queue, unsigned max_per_key)
{
    return (struct engine){ .wire_fd = 0, .limits = { max, queue, max_per_key } };
}

static void end(struct engine *r, struct run *l)
{
    queue_remove(r, l);
    free(l);
}

static void test_keys_are_served_in_turn_not_by_arrival(void)
{
    struct engine r = engine_with(10, 100, 10);
    struct run *a[4], *b;
    for (int i = 0; i < 4; i++) {
        a[i] = run_of("a");
        CHECK(queue_push(&r, a[i], &e) == 0);
    }
    b = run_of("b");
    CHECK(queue_push(&r, b, &e) == 0);
    CHECK(queue_pop(&r) == a[0]);
    CHECK(queue_pop(&r) == b);
    CHECK(queue_pop(&r) == a[1]);
    CHECK(queue_pop(&r) == a[2]);
    CHECK(queue_pop(&r) == a[3]);
    CHECK(queue_pop(&r) == NULL);
    CHECK_INT(r.queue.running, 5);
    for (int i = 0; i < 4; i++)
        end(&r, a[i]);
    end(&r, b);
    CHECK_INT(r.queue.running, 0);
    CHECK(r.queue.lines == NULL);
}

/* The sum of all limits stays within the bounds, and a large run is not overtaken. */
static void test_no_more_is_promised_than_there_is(void)
{
    struct engine r = engine_with(10, 100, 10);
    struct run *runs[4];
    r.limits.memory = 1000;
    r.limits.pids = 64;
    for (int i = 0; i < 4; i++) {
        runs[i] = run_of(i % 2 ? "b" : "a");
        runs[i]->spec.limits.v[LIMIT_MEMORY] = i == 2 ? 700 : 400;
        runs[i]->spec.limits.v[LIMIT_PIDS] = 8;
        CHECK(queue_push(&r, runs[i], &e) == 0);
    }
    CHECK(queue_pop(&r) == runs[0] && queue_pop(&r) == runs[1]);
    CHECK(queue_pop(&r) == NULL); /* 800 of 1000 */
    end(&r, runs[0]);
    CHECK(queue_pop(&r) == NULL); /* 400 + 700 */
    end(&r, runs[1]);
    CHECK(queue_pop(&r) == runs[2] && queue_pop(&r) == NULL);
    CHECK_INT((int)r.queue.memory, 700);
    runs[3]->spec.limits.v[LIMIT_MEMORY] = 300;
    runs[3]->spec.limits.v[LIMIT_PIDS] = 57;
    CHECK(queue_pop(&r) == NULL); /* 8 + 57 */
    runs[3]->spec.limits.v[LIMIT_PIDS] = 56;
    CHECK(queue_pop(&r) == runs[3]);
    end(&r, runs[2]);
    end(&r, runs[3]);
    CHECK(r.queue.memory == 0 && r.queue.pids == 0);
}

/* Otherwise it would never begin, and block the runs of all keys. */
static void test_run_above_a_lowered_bound_gets_its_turn_alone(void)
{
    struct engine r = engine_with(10, 100, 10);
    struct run *small = run_of("a"), *large = run_of("b"), *next = run_of("c");
    r.limits.memory = 1000;
    large->spec.limits.v[LIMIT_MEMORY] = 900;
    small->spec.limits.v[LIMIT_MEMORY] = next->spec.limits.v[LIMIT_MEMORY] = 200;
    CHECK(queue_push(&r, small, &e) == 0 && queue_push(&r, large, &e) == 0 &&
          queue_push(&r, next, &e) == 0);
    CHECK(queue_pop(&r) == small);
    r.limits.memory = 500;
    CHECK(queue_pop(&r) == NULL);
    end(&r, small);
    CHECK(queue_pop(&r) == large && queue_pop(&r) == NULL);
    end(&r, large);
    CHECK(queue_pop(&r) == next);
    end(&r, next);
    CHECK(r.queue.memory == 0);
}

static void test_run_above_the_bound_of_all_is_refused(void)
{
    struct engine r = engine_with(10, 100, 10);
    struct run *run = run_of("a");
    r.limits.memory = 64 << 20;
    run->spec.limits.v[LIMIT_MEMORY] = 65 << 20;
    CHECK_INT(admission_check(&r, &run->spec, SUBMIT_UNBOUNDED, &e), -1);
    CHECK(e.code == ERR_BAD_REQUEST && strstr(e.text, "memory '65m'") &&
          strstr(e.text, "runs.memory '64m'"));
    CHECK_INT(admission_check(&r, &run->spec, SUBMIT_UNBOUNDED | SUBMIT_STORED, &e), 0);
    run->spec.limits.v[LIMIT_MEMORY] = 64 << 20;
    CHECK_INT(admission_check(&r, &run->spec, SUBMIT_UNBOUNDED, &e), 0);
    free(run);
}

/* Runs without a network do not notice that there is no porter. */
static void test_run_with_a_network_waits_for_the_porter_and_holds_up_nobody(void)
{
    struct engine r = engine_with(10, 100, 10);
    struct run *networked = run_of("a"), *plain = run_of("a"), *other = run_of("b");
    networked->spec.network.mode = NETWORK_LIST;
    r.porter.fd = -1;
    CHECK(queue_push(&r, networked, &e) == 0 && queue_push(&r, plain, &e) == 0 &&
          queue_push(&r, other, &e) == 0);
    CHECK(queue_pop(&r) == plain && queue_pop(&r) == other && queue_pop(&r) == NULL);
    CHECK(queue_find_networked(&r) == networked);
    r.porter.fd = 0;
    CHECK(!queue_find_networked(&r));
    CHECK(queue_pop(&r) == networked);
    end(&r, networked);
    end(&r, plain);
    end(&r, other);
}

/* The wait ends with the turn of a run, or when it leaves the queue before. */
static void test_time_in_the_queue_ends_with_the_turn(void)
{
    struct engine r = engine_with(1, 100, 10);
    struct run *first = run_of("a"), *leaves = run_of("a");
    CHECK(queue_push(&r, first, &e) == 0 && queue_push(&r, leaves, &e) == 0);
    first->queued_us -= 5000000;
    leaves->queued_us -= 7000000;
    CHECK(queue_pop(&r) == first);
    CHECK(first->waited_us >= 5000000 && first->waited_us < 60000000);
    uint64_t then = first->waited_us;
    queue_remove(&r, leaves);
    CHECK(leaves->waited_us >= 7000000);
    free(leaves);
    queue_remove(&r, first);
    CHECK(first->waited_us == then);
    free(first);
}

static void test_no_more_run_than_the_maximum_and_the_keys_own(void)
{
    struct engine r = engine_with(3, 100, 2);
    struct run *a[3], *b[3];
    for (int i = 0; i < 3; i++) {
        a[i] = run_of("a");
        b[i] = run_of("b");
        CHECK(queue_push(&r, a[i], &e) == 0);
    }
    for (int i = 0; i < 3; i++)
        CHECK(queue_push(&r, b[i], &e) == 0);
    CHECK(queue_pop(&r) == a[0]);
    CHECK(queue_pop(&r) == b[0]);
    CHECK(queue_pop(&r) == a[1]);
    CHECK(queue_pop(&r) == NULL); /* three run */
    end(&r, b[0]);
    CHECK(queue_pop(&r) == b[1]); /* "a" has two, which is its share */
    end(&r, a[0]);
    CHECK(queue_pop(&r) == a[2]);
    for (int i = 1; i < 3; i++) {
        end(&r, a[i]);
        end(&r, b[i]);
    }
    CHECK_INT(r.queue.running, 0);
    CHECK_INT(r.queue.waiting, 0);
}

static void test_the_line_is_bounded_and_no_key_takes_all_of_it(void)
{
    struct engine r = engine_with(1, 4, 1);
    struct run *l[8];
    CHECK(queue_has_room(&r, "a", 0, 1));
    l[0] = run_of("a");
    CHECK(queue_push(&r, l[0], &e) == 0 && queue_pop(&r) == l[0]);
    for (int i = 1; i <= 2; i++) {
        CHECK(queue_has_room(&r, "a", 0, 1));
        l[i] = run_of("a");
        CHECK(queue_push(&r, l[i], &e) == 0);
    }
    CHECK(!queue_has_room(&r, "a", 0, 1)); /* half of the line */
    CHECK(queue_has_room(&r, "b", 0, 1));
    for (int i = 3; i <= 4; i++) {
        l[i] = run_of("b");
        CHECK(queue_push(&r, l[i], &e) == 0);
    }
    CHECK(!queue_has_room(&r, "c", 0, 1)); /* full */
    for (int i = 0; i <= 4; i++)
        end(&r, l[i]);
    CHECK(queue_has_room(&r, "c", 0, 1));
}

static void test_runs_of_a_batch_do_not_count_against_the_bound(void)
{
    struct engine r = engine_with(1, 1, 1);
    struct run *first = run_of(NULL), *of_batch = run_of(NULL);
    CHECK(queue_push(&r, first, &e) == 0 && queue_pop(&r) == first);
    of_batch->unbounded = true;
    CHECK(queue_push(&r, of_batch, &e) == 0);
    CHECK(queue_has_room(&r, NULL, 0, 1));
    end(&r, first);
    CHECK(queue_pop(&r) == of_batch);
    end(&r, of_batch);
}

static void test_without_a_warden_runs_wait_in_the_bounded_line(void)
{
    struct engine r = engine_with(8, 0, 8);
    r.wire_fd = -1;
    CHECK(!queue_has_room(&r, NULL, 0, 1));
}

static void test_what_is_not_recorded_does_not_run(void)
{
    struct engine r = engine_with(8, 8, 8);
    struct run *l = run_of("a"), *other = run_of("b");
    l->is_recorded = false;
    CHECK(queue_push(&r, l, &e) == 0 && queue_push(&r, other, &e) == 0);
    CHECK(queue_pop(&r) == other);
    CHECK(queue_pop(&r) == NULL);
    l->is_recorded = true;
    CHECK(queue_pop(&r) == l);
    end(&r, l);
    end(&r, other);
}

/* The number of runs that are accepted if n come at once. They wait, since nothing runs them. */
static unsigned taken_at(struct engine *r, unsigned n, const char *key, uint64_t now_ms)
{
    unsigned taken = 0;
    while (n-- > 0) {
        if (!queue_has_room(r, key, 0, now_ms))
            continue;
        CHECK(queue_push(r, run_of(key), &e) == 0);
        taken++;
    }
    return taken;
}

static void end_all(struct engine *r)
{
    while (r->queue.lines)
        end(r, r->queue.lines->first);
}

static void test_burst_is_taken_whole_by_a_service_that_has_room(void)
{
    struct engine r = engine_with(16, 8, 16);
    r.limits.burst = 128;
    CHECK_INT(taken_at(&r, 200, NULL, 1000), 16 + 8 + 128);
    CHECK_INT(taken_at(&r, 50, NULL, 1100), 0);
    end_all(&r);
    CHECK_INT(taken_at(&r, 200, NULL, 1200), 16 + 8); /* it has been full within half a second */
    end_all(&r);
    CHECK_INT(taken_at(&r, 100, "a", 2000), 100); /* of one key as well */
    CHECK_INT(taken_at(&r, 100, "a", 2000), 16 + 4 + 96 - 100);
    end_all(&r);
}

static void test_lasting_overload_keeps_the_line_short(void)
{
    struct engine r = engine_with(8, 4, 8);
    r.limits.burst = 128;
    uint64_t now = 1000;
    unsigned longest = 0;
    CHECK_INT(taken_at(&r, 300, NULL, now), 8 + 4 + 128);
    end_all(&r);
    for (; now < 20000; now += 50) { /* ten come whenever one ends */
        (void)taken_at(&r, 10, NULL, now);
        longest = r.queue.waiting > longest ? r.queue.waiting : longest;
        end(&r, r.queue.lines->first);
    }
    CHECK_INT(longest, 8 + 4);
    end_all(&r);
}

static void test_line_that_is_long_for_long_is_no_burst(void)
{
    struct engine r = engine_with(8, 4, 8);
    r.limits.burst = 128;
    CHECK_INT(taken_at(&r, 60, NULL, 1000), 60);
    for (uint64_t now = 1000; now < 2900; now += 100)
        CHECK_INT(taken_at(&r, 1, NULL, now), 1);
    CHECK_INT(taken_at(&r, 10, NULL, 3000), 0);
    end_all(&r);
}

static void test_burst_of_slow_runs_is_not_taken(void)
{
    struct engine r = engine_with(8, 4, 8);
    r.limits.burst = 128;
    for (int i = 0; i < 100; i++)
        queue_note_duration(&r, 1000);
    CHECK_INT(taken_at(&r, 200, NULL, 1000), 16); /* by then they wait for two seconds */
    CHECK_INT(queue_wait_ms(&r), 2000);
    CHECK_INT(engine_retry_after_s(&r), 2);
    end_all(&r);
}

static void test_line_of_a_named_length_has_no_bursts(void)
{
    struct engine r = engine_with(8, 4, 8);
    CHECK_INT(taken_at(&r, 200, NULL, 1000), 12);
    end_all(&r);
}

static const struct check_test tests[] = {
    TEST(test_keys_are_served_in_turn_not_by_arrival),
    TEST(test_no_more_is_promised_than_there_is),
    TEST(test_run_above_a_lowered_bound_gets_its_turn_alone),
    TEST(test_run_above_the_bound_of_all_is_refused),
    TEST(test_run_with_a_network_waits_for_the_porter_and_holds_up_nobody),
    TEST(test_time_in_the_queue_ends_with_the_turn),
    TEST(test_no_more_run_than_the_maximum_and_the_keys_own),
    TEST(test_the_line_is_bounded_and_no_key_takes_all_of_it),
    TEST(test_runs_of_a_batch_do_not_count_against_the_bound),
    TEST(test_what_is_not_recorded_does_not_run),
    TEST(test_without_a_warden_runs_wait_in_the_bounded_line),
    TEST(test_burst_is_taken_whole_by_a_service_that_has_room),
    TEST(test_lasting_overload_keeps_the_line_short),
    TEST(test_line_that_is_long_for_long_is_no_burst),
    TEST(test_burst_of_slow_runs_is_not_taken),
    TEST(test_line_of_a_named_length_has_no_bursts),
};
CHECK_MAIN(tests)
