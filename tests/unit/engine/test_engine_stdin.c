#include <stdlib.h>

#include "base/auto.h"
#include "check.h"
#include "engine/engine_impl.h"

enum { PIECE = 1 << 20 };

/* A run in a jar whose stdin is open; nobody watches its pipe. */
static struct run *run_that_reads(void)
{
    struct run *l = calloc(1, sizeof *l);
    l->has_jar = true;
    l->spec.stdin_open = true;
    return l;
}

static void test_stdin_that_was_read_is_not_kept(void)
{
    static char piece[PIECE];
    struct err e;
    autofree struct run *l = run_that_reads();
    for (int i = 0; i < 50; i++) {
        CHECK_INT(run_write_stdin(l, piece, sizeof piece, false, &e), 0);
        l->stdin_from = l->stdin_bytes.len -
                        1; /* the program reads on and never quite catches up */
    }
    CHECK(l->stdin_bytes.cap <= 4 * sizeof piece);
    buf_done(&l->stdin_bytes);
    buf_done(&l->stdin_tail);
}

static void test_stdin_that_is_not_read_is_bounded(void)
{
    static char piece[PIECE];
    struct err e;
    autofree struct run *l = run_that_reads();
    CHECK_INT(run_write_stdin(l, piece, sizeof piece, false, &e), 0);
    CHECK_INT(run_write_stdin(l, piece, sizeof piece, false, &e), 0);
    CHECK_INT(run_write_stdin(l, piece, sizeof piece, false, &e), -1);
    CHECK_INT(e.code, ERR_BUSY);
    buf_done(&l->stdin_bytes);
    buf_done(&l->stdin_tail);
}

/* The thread that writes the row of a run reads its spec meanwhile. */
static void test_stdin_before_the_start_leaves_the_spec_alone(void)
{
    struct err e;
    autofree struct run *l = run_that_reads();
    l->has_jar = false;
    CHECK_INT(run_write_stdin(l, "more", 4, false, &e), 0);
    CHECK_INT(run_write_stdin(l, "last", 4, true, &e), 0);
    CHECK(l->spec.stdin_bytes.len == 0 && l->spec.stdin_open);
    CHECK_STR(buf_str(&l->stdin_bytes), "morelast");
    CHECK_INT(run_write_stdin(l, "late", 4, false, &e), -1);
    CHECK_INT(e.code, ERR_CONFLICT);
    buf_done(&l->stdin_bytes);
    buf_done(&l->stdin_tail);
}

static const struct check_test tests[] = {
    TEST(test_stdin_that_was_read_is_not_kept),
    TEST(test_stdin_that_is_not_read_is_bounded),
    TEST(test_stdin_before_the_start_leaves_the_spec_alone),
};
CHECK_MAIN(tests)
