#include <stdlib.h>

#include "check.h"
#include "engine/runner_impl.h"

/* queue.c alone: runs that never start. */
static struct err e;

static struct live *run_of(const char *key)
{
    struct live *l = calloc(1, sizeof *l);
    l->x.spec.key = (char *)key;
    l->x.state = RUN_QUEUED;
    l->recorded = true;
    return l;
}

static struct runner runner_with(unsigned max, unsigned queue, unsigned max_per_key)
{
    return (struct runner){ .wire_fd = 0, .limits = { max, queue, max_per_key } };
}

static void end(struct runner *r, struct live *l)
{
    queue_leave(r, l);
    free(l);
}

static void test_keys_are_served_in_turn_not_by_arrival(void)
{
    struct runner r = runner_with(10, 100, 10);
    struct live *a[4], *b;
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
    CHECK(r.queue.turns == NULL);
}

static void test_no_more_run_than_the_maximum_and_the_keys_own(void)
{
    struct runner r = runner_with(3, 100, 2);
    struct live *a[3], *b[3];
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
    struct runner r = runner_with(1, 4, 1);
    struct live *l[8];
    CHECK(queue_has_room(&r, "a", 0));
    l[0] = run_of("a");
    CHECK(queue_push(&r, l[0], &e) == 0 && queue_pop(&r) == l[0]);
    for (int i = 1; i <= 2; i++) {
        CHECK(queue_has_room(&r, "a", 0));
        l[i] = run_of("a");
        CHECK(queue_push(&r, l[i], &e) == 0);
    }
    CHECK(!queue_has_room(&r, "a", 0)); /* half of the line */
    CHECK(queue_has_room(&r, "b", 0));
    for (int i = 3; i <= 4; i++) {
        l[i] = run_of("b");
        CHECK(queue_push(&r, l[i], &e) == 0);
    }
    CHECK(!queue_has_room(&r, "c", 0)); /* full */
    for (int i = 0; i <= 4; i++)
        end(&r, l[i]);
    CHECK(queue_has_room(&r, "c", 0));
}

static void test_runs_of_a_batch_do_not_count_against_the_bound(void)
{
    struct runner r = runner_with(1, 1, 1);
    struct live *first = run_of(NULL), *of_batch = run_of(NULL);
    CHECK(queue_push(&r, first, &e) == 0 && queue_pop(&r) == first);
    of_batch->patient = true;
    CHECK(queue_push(&r, of_batch, &e) == 0);
    CHECK(queue_has_room(&r, NULL, 0));
    end(&r, first);
    CHECK(queue_pop(&r) == of_batch);
    end(&r, of_batch);
}

static void test_without_a_warden_runs_wait_in_the_bounded_line(void)
{
    struct runner r = runner_with(8, 0, 8);
    r.wire_fd = -1;
    CHECK(!queue_has_room(&r, NULL, 0));
}

static void test_what_is_not_recorded_does_not_run(void)
{
    struct runner r = runner_with(8, 8, 8);
    struct live *l = run_of("a"), *other = run_of("b");
    l->recorded = false;
    CHECK(queue_push(&r, l, &e) == 0 && queue_push(&r, other, &e) == 0);
    CHECK(queue_pop(&r) == other);
    CHECK(queue_pop(&r) == NULL);
    l->recorded = true;
    CHECK(queue_pop(&r) == l);
    end(&r, l);
    end(&r, other);
}

static const struct check_test tests[] = {
    TEST(test_keys_are_served_in_turn_not_by_arrival),
    TEST(test_no_more_run_than_the_maximum_and_the_keys_own),
    TEST(test_the_line_is_bounded_and_no_key_takes_all_of_it),
    TEST(test_runs_of_a_batch_do_not_count_against_the_bound),
    TEST(test_what_is_not_recorded_does_not_run),
    TEST(test_without_a_warden_runs_wait_in_the_bounded_line),
};
CHECK_MAIN(tests)
