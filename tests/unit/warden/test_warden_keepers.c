/* One keeper after another, and the sessions that outlive one. */
#include "base/array.h"
#include "check.h"
#include "session.h"

/* The warden gets a keeper with a wire of its own; w->fd is then the supervisor's. The tests use
 * the wire as that of a warden. */
static struct warden new_keeper(const struct warden *w)
{
    struct err e = { 0 };
    int fds[2];
    struct warden keeper = *w;
    CHECK_INT(wire_pair(fds, &e), 0);
    CHECK_INT(wire_send_keeper(w->fd, 1, fds[1], &e), 0);
    (void)close(fds[1]);
    keeper.fd = fds[0];
    return keeper;
}

static void keep(const struct warden *w, uint64_t id, const struct keeper_run *r, const char *note)
{
    struct err e = { 0 };
    const struct wire_keep k = { .id = id, .note = note, .note_len = strlen(note) };
    CHECK_INT(wire_send_keep(w->fd, &k, (const int[]){ r->out, r->error, r->channel }, &e), 0);
}

/* The next message; its type, or -1. */
static int next_message(const struct warden *w, struct wire_message *m)
{
    struct err e = { 0 };
    struct pollfd p = { .fd = w->fd, .events = POLLIN };
    return poll(&p, 1, 30000) == 1 && wire_receive(w->fd, m, &e) == 1 ? (int)m->type : -1;
}

/* Asks for a session that the last keeper left. False: there is none. */
static bool adopt(const struct warden *w, uint64_t after, struct wire_kept *ret, char note[64],
                  struct keeper_run *ret_run)
{
    static struct wire_message m;
    struct err e = { 0 };
    CHECK_INT(wire_send_adopt(w->fd, after, &e), 0);
    int type = next_message(w, &m);
    if (type != WIRE_KEPT) {
        CHECK_INT(type, WIRE_ADOPTED);
        return false;
    }
    CHECK_INT(wire_read_kept(&m, ret, &e), 0);
    (void)snprintf(note, 64, "%.*s", (int)ret->note_len, ret->note);
    *ret_run = (struct keeper_run){ -1, m.fds[0], m.fds[1], -1, m.fds[2] };
    return true;
}

static void check_alive(const struct keeper_run *r)
{
    CHECK_INT(send(r->channel, "alive\n", 6, MSG_NOSIGNAL), 6);
    CHECK_STR(receive(r), "alive\n");
}

#define ECHOES "echo up >&3; while :; do dd bs=64 count=1 <&3 >&3 2>/dev/null; done"

/* Of two sessions and a run, the kept session alone lives on. The other two end with the keeper,
 * which is visible by their pipes. */
static void survivor(struct warden *w)
{
    char note[64], out[8];
    struct wire_kept kept = { 0 };
    struct limits l = limits_default();
    if (!has_sessions(w))
        return;
    l.v[LIMIT_WALL_MS] = 600000;
    struct warden first = new_keeper(w);
    scoped(keeper_run) lives = KEEPER_RUN_NONE, ends = KEEPER_RUN_NONE;
    scoped(keeper_run) run = keeper_shell(&first, 3, "sleep 1000");
    if (!begin(&first, 1, ECHOES, &l, &lives) || !begin(&first, 2, ECHOES, &l, &ends))
        return;
    keep(&first, 1, &lives, "an earlier note");
    keep(&first, 1, &lives, "a note");
    arm(&first, 1, (struct cell_limits){ .number = 77 });
    keeper_run_done(&lives);
    fd_close(&first.fd);
    CHECK_INT(keeper_read(run.out, out, sizeof out), 0);
    CHECK_STR(receive(&ends), "");
    for (int round = 0; round < 2; round++) { /* it survives the next keeper too */
        struct warden next = new_keeper(w);
        scoped(keeper_run) adopted = KEEPER_RUN_NONE, none = KEEPER_RUN_NONE;
        if (CHECK(adopt(&next, 0, &kept, note, &adopted))) {
            CHECK(kept.id == 1 && kept.started && kept.start == START_COLD && kept.cell == 77);
            CHECK_STR(note, "a note");
            check_alive(&adopted);
        }
        CHECK(!adopt(&next, kept.id, &kept, note, &none));
        scoped(keeper_run) other = keeper_shell(&next, 1000, "exit 3");
        CHECK_INT(keeper_wait(&next, 1000).evidence.exit_code, 3);
        if (round == 1) {
            CHECK_INT(disarm(&next, 1).number, 77);
            end(&next, 1);
        }
        fd_close(&next.fd);
    }
    struct warden last = new_keeper(w);
    scoped(keeper_run) none = KEEPER_RUN_NONE;
    CHECK(!adopt(&last, 0, &kept, note, &none));
    fd_close(&last.fd);
}

static void test_kept_session_survives_its_keeper_and_other_jars_do_not(void)
{
    keeper_at_every_level(survivor);
}

/* Its output and its end wait for the next keeper. */
static void late_end(struct warden *w)
{
    static struct wire_message m;
    char note[64], out[64];
    struct wire_kept kept = { 0 };
    struct wire_ended ended = { 0 };
    struct err e = { 0 };
    if (!has_sessions(w))
        return;
    struct warden first = new_keeper(w);
    scoped(keeper_run) r = KEEPER_RUN_NONE, adopted = KEEPER_RUN_NONE, none = KEEPER_RUN_NONE;
    if (!begin(&first, 5, "echo up >&3; dd bs=64 count=1 <&3 2>/dev/null; echo bye; exit 9", NULL,
               &r))
        return;
    keep(&first, 5, &r, "");
    arm(&first, 5, (struct cell_limits){ .number = 6 });
    CHECK_INT(send(r.channel, "go\n", 3, MSG_NOSIGNAL), 3);
    struct pollfd p = { .fd = r.error, .events = POLLIN };
    fd_close(&first.fd);
    CHECK(poll(&p, 1, 30000) == 1); /* its process is dead */
    keeper_run_done(&r);
    struct warden next = new_keeper(w);
    if (CHECK(adopt(&next, 0, &kept, note, &adopted)) && CHECK(kept.id == 5 && kept.started)) {
        CHECK(keeper_read(adopted.out, out, sizeof out) > 0);
        CHECK_STR(out, "go\nbye\n");
        CHECK_INT(cell_end(&next, 5).number, 6);
        CHECK(next_message(&next, &m) == WIRE_ENDED && wire_read_ended(&m, &ended, &e) == 0);
        CHECK(ended.id == 5 && ended.evidence.exit_code == 9);
    }
    CHECK(!adopt(&next, 0, &kept, note, &none));
    fd_close(&next.fd);
}

static void test_end_of_a_kept_session_waits_for_the_next_keeper(void)
{
    keeper_at_every_level(late_end);
}

/* The cell has ended, but nobody was there to hear it: its deadline and its grace time pass. */
static void unheard(struct warden *w)
{
    enum { GRACE_MS = 1500 };
    char note[64];
    struct wire_kept kept = { 0 };
    if (!has_sessions(w))
        return;
    struct warden first = new_keeper(w);
    scoped(keeper_run) r = KEEPER_RUN_NONE, adopted = KEEPER_RUN_NONE;
    if (!begin(&first, 1, "trap '' INT; " ECHOES, NULL, &r))
        return;
    keep(&first, 1, &r, "");
    arm(&first, 1, (struct cell_limits){ .number = 4, .wall_ms = 50, .grace_ms = GRACE_MS });
    fd_close(&first.fd);
    (void)usleep((GRACE_MS + 500) * 1000);
    keeper_run_done(&r);
    struct warden next = new_keeper(w);
    if (CHECK(adopt(&next, 0, &kept, note, &adopted)) && CHECK_INT(kept.cell, 4)) {
        struct cell_usage u = disarm(&next, 1);
        CHECK(u.number == 4 && u.interrupted == CELL_WALL);
        check_alive(&adopted);
        arm(&next, 1, (struct cell_limits){ .number = 5, .wall_ms = 50, .grace_ms = 100 });
        CHECK_INT(cell_end(&next, 1).number, 5); /* with a keeper the bounds hold again */
        CHECK_INT(keeper_wait(&next, 1).evidence.reason, END_WALL);
    }
    fd_close(&next.fd);
}

static void test_cell_that_ended_without_a_keeper_does_not_cost_its_session(void)
{
    keeper_at_every_level(unheard);
}

/* KEPT-4. The warden is stopped while the keeper ends a session and dies, so that it reads of the
 * death before the jar is gone. In the second round it has an answer to send first, and notices the
 * death by that. */
static void ended_session(struct warden *w)
{
    char note[64];
    struct wire_kept kept = { 0 };
    struct err e = { 0 };
    struct limits l = limits_default();
    l.v[LIMIT_WALL_MS] = 600000;
    for (int round = 0; has_sessions(w) && round < 2; round++) {
        struct warden first = new_keeper(w);
        scoped(keeper_run) ends = KEEPER_RUN_NONE, lives = KEEPER_RUN_NONE;
        scoped(keeper_run) adopted = KEEPER_RUN_NONE, none = KEEPER_RUN_NONE;
        if (!begin(&first, 1, ECHOES, &l, &ends) || !begin(&first, 2, ECHOES, &l, &lives))
            return;
        keep(&first, 1, &ends, "ends");
        keep(&first, 2, &lives, "lives");
        (void)memory_now(&first, 2); /* the warden has read all that was sent */
        CHECK_INT(kill(w->pid, SIGSTOP), 0);
        if (round == 1)
            CHECK_INT(wire_send_measure(first.fd, 2, &e), 0);
        CHECK_INT(wire_send_kill(first.fd, &(struct wire_kill){ 1, END_CANCEL }, &e), 0);
        fd_close(&first.fd);
        struct warden next = new_keeper(w);
        CHECK_INT(kill(w->pid, SIGCONT), 0);
        CHECK_STR(receive(&ends), "");
        if (CHECK(adopt(&next, 0, &kept, note, &adopted)) && CHECK_INT(kept.id, 2))
            check_alive(&adopted);
        CHECK(!adopt(&next, kept.id, &kept, note, &none));
        end(&next, 2);
        fd_close(&next.fd);
    }
}

static void test_session_that_its_keeper_ended_is_not_kept(void)
{
    keeper_at_every_level(ended_session);
}

/* A keeper that was handed over is not the supervisor, and keeps only sessions and their own
 * descriptors. */
static void bad_keepers(struct warden *w)
{
    static struct wire_message m;
    struct err e = { 0 };
    if (!has_sessions(w))
        return;
    for (int i = 0; i < 4; i++) {
        struct warden keeper = new_keeper(w);
        scoped(keeper_run) r = KEEPER_RUN_NONE, run = KEEPER_RUN_NONE;
        if (!begin(&keeper, 1, ECHOES, NULL, &r))
            return;
        run = keeper_shell(&keeper, 2, "sleep 1000");
        int odd = open("/dev/null", O_RDWR | O_CLOEXEC);
        const int ends[][3] = { { r.out, r.error, r.channel },
                                { odd, r.error, r.channel },
                                { r.out, r.error, r.out } };
        const struct wire_keep k = { .id = i == 0 ? 2 : 1, .note = "x", .note_len = 1 };
        if (i == 3)
            CHECK_INT(wire_send_keeper(keeper.fd, 1, odd, &e), 0);
        else
            CHECK_INT(wire_send_keep(keeper.fd, &k, ends[i], &e), 0);
        int type;
        while ((type = next_message(&keeper, &m)) == WIRE_STARTED)
            ;
        CHECK_INT(type, -1); /* dropped */
        CHECK_STR(receive(&r), "");
        (void)close(odd);
        fd_close(&keeper.fd);
    }
    struct warden keeper = new_keeper(w);
    scoped(keeper_run) other = keeper_shell(&keeper, 1, "exit 3");
    CHECK_INT(keeper_wait(&keeper, 1).evidence.exit_code, 3);
    fd_close(&keeper.fd);
}

static void test_keeper_that_keeps_other_things_is_dropped(void)
{
    keeper_at_every_level(bad_keepers);
}

static const struct check_test tests[] = {
    TEST(test_kept_session_survives_its_keeper_and_other_jars_do_not),
    TEST(test_end_of_a_kept_session_waits_for_the_next_keeper),
    TEST(test_session_that_its_keeper_ended_is_not_kept),
    TEST(test_cell_that_ended_without_a_keeper_does_not_cost_its_session),
    TEST(test_keeper_that_keeps_other_things_is_dropped),
};
CHECK_MAIN(tests)
