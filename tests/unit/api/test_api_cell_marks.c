#include "api/sessions/cell_marks.h"

#include "check.h"

/* The state of a session with `newest` cells and these rollbacks: the number of the rollback that
 * removed the cell, from 1; 0: none. */
static int removed_by(const char *rollbacks, json_int_t newest, json_int_t cell)
{
    struct session_row row = { .rollbacks = (char *)rollbacks };
    struct cell_marks m;
    cell_marks_init(&m, &row, newest);
    const json_t *r = cell_rolled_back_by(&m, cell);
    int number = r ? (int)json_integer_value(json_object_get(r, "at_ms")) : 0;
    cell_marks_done(&m);
    return number;
}

#define R(last, to, at) "{\"last\":" #last ",\"to\":" #to ",\"at_ms\":" #at "}"

static void test_cells_after_the_state_are_removed(void)
{
    CHECK_INT(removed_by(NULL, 3, 2), 0);
    CHECK_INT(removed_by("[" R(5, 2, 1) "]", 5, 2), 0);
    CHECK_INT(removed_by("[" R(5, 2, 1) "]", 5, 3), 1);
    CHECK_INT(removed_by("[" R(5, 2, 1) "]", 7, 5), 1);
    CHECK_INT(removed_by("[" R(5, 2, 1) "]", 7, 6), 0);
}

static void test_a_later_rollback_can_bring_cells_back(void)
{
    const char *both = "[" R(5, 2, 1) "," R(6, 4, 2) "]";
    CHECK_INT(removed_by(both, 6, 4), 0);
    CHECK_INT(removed_by(both, 6, 6), 2);
    CHECK_INT(removed_by("[" R(5, 2, 1) "," R(5, 5, 2) "]", 5, 5), 0);
}

static void test_the_first_removal_counts(void)
{
    const char *both = "[" R(2, 1, 1) "," R(6, -1, 2) "]";
    CHECK_INT(removed_by(both, 10, 2), 1);
    CHECK_INT(removed_by(both, 10, 1), 2);
    CHECK_INT(removed_by(both, 10, 7), 0);
}

static void test_a_session_that_began_anew_has_no_beginning(void)
{
    struct session_row row = { .rollbacks = (char *)"[" R(3, -1, 5) "," R(4, 0, 9) "]" };
    struct cell_marks m;
    cell_marks_init(&m, &row, 4);
    CHECK(cell_marks_reach_beginning(&m));
    cell_marks_done(&m);
    /* a copy that began before the second one */
    cell_marks_init_state(&m, &row, 4, 7);
    CHECK(!cell_marks_reach_beginning(&m));
    CHECK(cell_rolled_back_by(&m, 3) && !cell_rolled_back_by(&m, 4));
    cell_marks_done(&m);
    cell_marks_init_state(&m, &row, 0, 7);
    CHECK(!cell_marks_reach_beginning(&m));
    cell_marks_done(&m);
    cell_marks_init_state(&m, &row, 2, 4); /* before both */
    CHECK(cell_marks_reach_beginning(&m) && !cell_rolled_back_by(&m, 2));
    cell_marks_done(&m);
}

static const struct check_test tests[] = {
    TEST(test_cells_after_the_state_are_removed),
    TEST(test_a_later_rollback_can_bring_cells_back),
    TEST(test_the_first_removal_counts),
    TEST(test_a_session_that_began_anew_has_no_beginning),
};
CHECK_MAIN(tests)
