/* The line of cells of a session, before a cell is submitted. */
#include <string.h>

#include "check.h"
#include "session/session.h"

static void test_a_session_that_ended_takes_no_cell(void)
{
    struct session s = { .id = "ses_1", .state = SESSION_ENDED, .reason = "it was deleted" };
    struct err e = { 0 };
    CHECK_INT(session_check_room(&s, &e), -1);
    CHECK_INT((int)e.code, (int)ERR_GONE);
    CHECK(strstr(e.text, "it was deleted") != NULL);
    s.state = SESSION_IDLE;
    CHECK_INT(session_check_room(&s, &e), 0);
}

static const struct check_test tests[] = {
    TEST(test_a_session_that_ended_takes_no_cell),
};
CHECK_MAIN(tests)
