/* The store of sessions that outlive a keeper, without jars. */
#include "warden/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "check.h"
#include "place.h"
#include "warden/loop_impl.h"

static struct err e;

static int put(struct kept_store *s, uint64_t id, const char *note)
{
    int fds[KEEP_FDS];
    for (int i = 0; i < KEEP_FDS; i++)
        CHECK((fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0);
    int rc = kept_put(s, &(struct wire_keep){ .id = id, .note = note, .note_len = strlen(note) },
                      fds, &e);
    for (int i = 0; i < KEEP_FDS; i++)
        fd_close(&fds[i]);
    return rc;
}

/* KEPT-1 */
static void test_the_number_of_kept_sessions_is_bounded(void)
{
    struct kept_store s = { 0 };
    int before = open_fds();
    uint64_t id = 0;
    /* Descriptors may be scarcer than the bound: they are not needed here. */
    for (; id < KEPT_MAX; id++) {
        int none[KEEP_FDS] = { -1, -1, -1 };
        CHECK_INT(kept_put(&s, &(struct wire_keep){ .id = id + 1, .note = "" }, none, &e), 0);
    }
    CHECK_INT(put(&s, id + 1, "one more"), -1);
    CHECK_INT(e.code, ERR_PROTOCOL);
    CHECK_INT(s.n, KEPT_MAX);
    CHECK_INT(put(&s, 7, "in place of the first note"), 0);
    CHECK_INT(s.n, KEPT_MAX);
    CHECK_INT(kept_find(&s, 7)->note_len, strlen("in place of the first note"));
    kept_remove(&s, kept_find(&s, 7));
    CHECK_INT(put(&s, id + 1, "there is room"), 0);
    kept_done(&s);
    CHECK_INT(open_fds(), before);
}

/* KEPT-2. The time is given: nobody waits for it. */
static void test_sessions_that_no_keeper_asks_for_are_forgotten_in_time(void)
{
    struct loop *l = calloc(1, sizeof *l);
    int before = open_fds();
    if (!CHECK(l != NULL))
        return;
    l->wire_fd = l->control_fd = l->epoll_fd = l->network.fd = -1;
    CHECK_INT(put(&l->kept, 1, "told"), 0);
    CHECK_INT(put(&l->kept, 2, "not told"), 0);
    uint64_t start = clock_us();
    keepers_lose(l); /* no keeper knows one of them now */
    CHECK(l->kept.adopt_by_us >= start + KEPT_ALONE_US);
    uint64_t due = l->kept.adopt_by_us;
    kept_find(&l->kept, 1)->told = true; /* the next one has asked for the first */
    keepers_end_alone(l, due - 1);
    CHECK_INT(l->kept.n, 2);
    keepers_end_alone(l, due);
    CHECK(l->kept.n == 1 && kept_find(&l->kept, 1) && !kept_find(&l->kept, 2));
    CHECK(l->kept.adopt_by_us == UINT64_MAX);
    kept_done(&l->kept);
    CHECK_INT(open_fds(), before);
    free(l);
}

static const struct check_test tests[] = {
    TEST(test_the_number_of_kept_sessions_is_bounded),
    TEST(test_sessions_that_no_keeper_asks_for_are_forgotten_in_time),
};
CHECK_MAIN(tests)
