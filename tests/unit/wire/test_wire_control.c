/* Messages of a supervisor to its keeper. Nobody else accepts them. */
#include "check.h"
#include "keeper.h"
#include "peer.h"

static struct wire_message message; /* too large for the stack of a test */

static int read_level(uint32_t level)
{
    scoped(pair) p = pair_new();
    struct isolation sent = { .level = (enum level)level }, got;
    struct err e = { 0 };
    CHECK_INT(wire_send_warden(p.a, &sent, p.a, &e), 0);
    CHECK_INT(wire_receive(p.b, &message, &e), 1);
    int rc = wire_read_warden(&message, &got, &e);
    wire_message_done(&message);
    return rc;
}

static void test_warden_has_reached_a_level(void)
{
    CHECK_INT(read_level(LEVEL_AUTO), -1);
    CHECK_INT(read_level(LEVEL_PROCESS), 0);
    CHECK_INT(read_level(LEVEL_JAR), 0);
    CHECK_INT(read_level(LEVEL_COUNT_), -1);
    CHECK_INT(read_level(UINT32_MAX), -1);
}

static void test_warden_comes_with_its_wire(void)
{
    scoped(pair) p = pair_new();
    scoped(pair) wire = pair_new();
    struct isolation sent = { .level = LEVEL_JAR }, got;
    struct err e = { 0 };
    char byte = 'x';
    CHECK_INT(wire_send_warden(p.a, &sent, wire.a, &e), 0);
    CHECK_INT(wire_receive(p.b, &message, &e), 1);
    CHECK_INT(wire_read_warden(&message, &got, &e), 0);
    CHECK(message.fds[0] >= 0 && message.fds[1] == -1);
    CHECK(write(message.fds[0], &byte, 1) == 1 && read(wire.b, &byte, 1) == 1);
    wire_message_done(&message);
}

static void test_settings_up_to_their_bound_are_taken_and_no_more(void)
{
    static char text[WIRE_MAX_TEXT + 2];
    scoped(pair) p = pair_new();
    struct err e = { 0 };
    const char *got;
    memset(text, '#', WIRE_MAX_TEXT);
    CHECK_INT(wire_send_settings(p.a, text, &e), 0);
    CHECK_INT(wire_receive(p.b, &message, &e), 1);
    CHECK_INT(wire_read_settings(&message, &got, &e), 0);
    CHECK_STR(got, text);
    text[WIRE_MAX_TEXT] = '#';
    CHECK_INT(wire_send_settings(p.a, text, &e), -1);
    CHECK_INT(e.code, ERR_TOO_LARGE);
}

/* Sends the content of a packer under a name, and reads it as drain. */
static void test_drain_is_yes_or_no(void)
{
    for (uint32_t now = 0; now < 4; now++) {
        scoped(pair) p = pair_new();
        struct err e = { 0 };
        char bytes[4];
        struct packer b = { .at = bytes, .left = sizeof bytes };
        struct wire_drain d = { 0 };
        pack_u32(&b, now);
        CHECK_INT(wire_send(p.a, WIRE_DRAIN, &b, bytes, NULL, &e), 0);
        CHECK_INT(wire_receive(p.b, &message, &e), 1);
        CHECK_INT(wire_read_drain(&message, &d, &e), now > 1 ? -1 : 0);
        CHECK_INT(d.now, now == 1);
    }
}

static void test_language_has_an_index_and_a_descriptor(void)
{
    scoped(pair) p = pair_new();
    struct err e = { 0 };
    uint32_t index = 0;
    CHECK_INT(wire_send_language(p.a, 7, p.a, &e), 0);
    CHECK_INT(wire_receive(p.b, &message, &e), 1);
    CHECK_INT(wire_read_language(&message, &index, &e), 0);
    CHECK_INT(index, 7);
    CHECK(message.fds[0] >= 0);
    wire_message_done(&message);
}

static int said; /* which of the supervisor's messages is tried */

static void say_to_the_warden(struct warden *w)
{
    struct isolation iso = { .level = LEVEL_JAR };
    struct wire_drain drain = { 0 };
    struct err e = { 0 };
    uint64_t id;
    struct wire_ended end;
    int status = -1;
    if (said == 0)
        CHECK_INT(wire_send_warden(w->fd, &iso, w->fd, &e), 0);
    else if (said == 1)
        CHECK_INT(wire_send_settings(w->fd, "debug = true\n", &e), 0);
    else if (said == 2)
        CHECK_INT(wire_send_drain(w->fd, &drain, &e), 0);
    else
        CHECK_INT(wire_send_language(w->fd, 0, w->fd, &e), 0);
    CHECK_INT(keeper_next(w, &id, &end), -1);
    CHECK(waitpid(w->pid, &status, 0) == w->pid && WIFEXITED(status));
    w->pid = 0;
    warden_stop(w);
}

static void test_warden_drops_a_peer_that_talks_like_a_supervisor(void)
{
    for (said = 0; said < 4; said++)
        keeper_at_every_level(say_to_the_warden);
}

/* A keeper has a session of its own, as guests have at level process; only they are put down. */
static void kill_beside_a_keeper(struct warden *w)
{
    char out[64];
    int ready[2];
    struct err e = { 0 };
    CHECK_INT(fd_pipe(ready, &e), 0);
    pid_t keeper = fork();
    if (keeper == 0) {
        (void)setsid();
        (void)!write(ready[1], "x", 1);
        for (;;)
            (void)pause();
    }
    CHECK(read(ready[0], out, 1) == 1);
    (void)close(ready[0]);
    (void)close(ready[1]);
    scoped(keeper_run) r = keeper_shell(w, 1, "echo up; (sleep 100 & sleep 100) & sleep 100");
    keeper_is_up(&r);
    CHECK_INT(kill(w->pid, SIGKILL), 0);
    w->spared = keeper;
    warden_stop(w);
    CHECK_INT(waitpid(keeper, NULL, WNOHANG), 0);
    CHECK_INT(kill(keeper, SIGKILL), 0);
    CHECK(waitpid(keeper, NULL, 0) == keeper);
    CHECK_INT(keeper_read(r.out, out, sizeof out), 0); /* no guest is left */
    const char *tmp = getenv("TMPDIR");
    autodir DIR *d = tmp ? opendir(tmp) : NULL;
    for (struct dirent *entry; d && (entry = readdir(d));)
        if (strncmp(entry->d_name, "belljar-", 8) == 0)
            CHECK_INT(tree_remove(dirfd(d), entry->d_name, &e), 0);
}

static void test_killed_warden_does_not_take_the_keeper_with_it(void)
{
    keeper_at_every_level(kill_beside_a_keeper);
}

static const struct check_test tests[] = {
    TEST(test_warden_has_reached_a_level),
    TEST(test_warden_comes_with_its_wire),
    TEST(test_settings_up_to_their_bound_are_taken_and_no_more),
    TEST(test_drain_is_yes_or_no),
    TEST(test_language_has_an_index_and_a_descriptor),
    TEST(test_warden_drops_a_peer_that_talks_like_a_supervisor),
    TEST(test_killed_warden_does_not_take_the_keeper_with_it),
};
CHECK_MAIN(tests)
