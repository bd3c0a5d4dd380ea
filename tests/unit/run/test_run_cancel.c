/* A request to end that meets the end of the program (JAR_RUN-4). The wire and the pipes are real;
 * the test plays the warden. */
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "check.h"
#include "run/jar_run.h"

/* The sink takes this many bytes; -1: it is closed. */
struct reader {
    ssize_t room;
    struct buf got;
};

static ssize_t take(void *context, enum run_stream stream, const char *bytes, size_t n)
{
    struct reader *reader = context;
    struct err e;
    (void)stream;
    if (reader->room < 0)
        return -1;
    size_t taken = (size_t)reader->room < n ? (size_t)reader->room : n;
    reader->room -= (ssize_t)taken;
    return buf_add(&reader->got, bytes, taken, &e) ? -1 : (ssize_t)taken;
}

struct race {
    struct jar_run run;
    struct reader reader;
    int warden_fd;
};

static bool race_begin(struct race *race, ssize_t room, const char *printed)
{
    int wire[2], output[2];
    struct err e;
    *race = (struct race){ .run = JAR_RUN_NONE, .reader.room = room, .warden_fd = -1 };
    if (!CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, wire), 0) ||
        !CHECK_INT(fd_pipe(output, &e), 0))
        return false;
    race->warden_fd = wire[1];
    race->run.id = 7;
    race->run.wire_fd = wire[0];
    race->run.limits = limits_default();
    race->run.sink = take;
    race->run.sink_context = &race->reader;
    race->run.streams[RUN_STDOUT].fd = output[0];
    bool written = CHECK_INT(write(output[1], printed, strlen(printed)), strlen(printed));
    fd_close(&output[1]);
    return written;
}

/* The warden reports this end; then all that is readable is read. */
static enum verdict race_end(struct race *race, struct evidence evidence)
{
    struct err e;
    struct pollfd polls[JAR_RUN_POLLS];
    struct wire_ended end = { .id = race->run.id, .evidence = evidence };
    CHECK_INT(wire_send_ended(race->warden_fd, &end, &e), 0);
    for (int i = 0; i < 10 && !jar_run_is_over(&race->run); i++) {
        jar_run_polls(&race->run, polls);
        CHECK(poll(polls, JAR_RUN_POLLS, 0) >= 0);
        CHECK_INT(jar_run_ready(&race->run, polls, &e), 0);
        CHECK_INT(jar_run_flush(&race->run, &e), 0);
    }
    CHECK(jar_run_is_over(&race->run));
    return jar_run_verdict(&race->run);
}

static void race_done(struct race *race)
{
    fd_close(&race->warden_fd);
    fd_close(&race->run.wire_fd);
    jar_run_done(&race->run);
    buf_done(&race->reader.got);
}

static void test_late_cancel_leaves_the_whole_result(void)
{
    struct race race;
    struct err e;
    if (race_begin(&race, 100, "HELLO\n")) {
        CHECK_INT(jar_run_cancel(&race.run, END_CANCEL, &e), 0);
        CHECK_INT(race_end(&race, (struct evidence){ .reason = END_EXIT }), VERDICT_OK);
        CHECK(race.reader.got.len == 6 && memcmp(race.reader.got.data, "HELLO\n", 6) == 0);
    }
    race_done(&race);
}

static void test_late_cancel_keeps_the_output_of_other_ends(void)
{
    static const struct {
        struct evidence evidence;
        enum verdict verdict;
    } rows[] = {
        { { .reason = END_EXIT, .exit_code = 3 }, VERDICT_RUNTIME_ERROR },
        { { .reason = END_WALL, .signal = 9 }, VERDICT_TIMEOUT },
        { { .reason = END_MEMORY, .signal = 9 }, VERDICT_MEMORY_LIMIT },
        { { .reason = END_CANCEL, .signal = 9 }, VERDICT_CANCELLED },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct race race;
        struct err e;
        if (race_begin(&race, 100, "HELLO\n")) {
            CHECK_INT(jar_run_cancel(&race.run, END_CANCEL, &e), 0);
            CHECK_INT(race_end(&race, rows[i].evidence), rows[i].verdict);
            CHECK_INT(race.reader.got.len, 6);
        }
        race_done(&race);
    }
}

static void test_cancelled_run_does_not_wait_for_a_slow_reader(void)
{
    for (int room = 0; room < 6; room++) {
        struct race race;
        struct err e;
        if (race_begin(&race, room, "HELLO\n")) {
            CHECK_INT(jar_run_cancel(&race.run, END_CANCEL, &e), 0);
            CHECK_INT(race_end(&race, (struct evidence){ .reason = END_EXIT }), VERDICT_CANCELLED);
            CHECK_INT(race.reader.got.len, room);
        }
        race_done(&race);
    }
}

/* The program has ended, only its output waits. */
static void test_cancel_after_the_end_frees_from_a_slow_reader(void)
{
    struct race race;
    struct err e;
    struct pollfd polls[JAR_RUN_POLLS];
    if (race_begin(&race, 2, "HELLO\n")) {
        CHECK_INT(jar_run_read(&race.run, PIPE_STDOUT, &e), 0);
        CHECK_INT(jar_run_read(&race.run, PIPE_STDOUT, &e), 0);
        struct wire_ended end = { .id = race.run.id };
        CHECK_INT(wire_send_ended(race.warden_fd, &end, &e), 0);
        jar_run_polls(&race.run, polls);
        CHECK_INT(poll(polls, JAR_RUN_POLLS, 0), 1);
        CHECK_INT(jar_run_ready(&race.run, polls, &e), 0);
        CHECK(!jar_run_is_over(&race.run));
        CHECK_INT(jar_run_cancel(&race.run, END_CANCEL, &e), 0);
        CHECK_INT(jar_run_flush(&race.run, &e), 0);
        CHECK(jar_run_is_over(&race.run));
        CHECK_INT(jar_run_verdict(&race.run), VERDICT_CANCELLED);
    }
    race_done(&race);
}

static void test_output_without_a_reader_is_no_success(void)
{
    struct race race;
    if (race_begin(&race, -1, "HELLO\n")) {
        CHECK_INT(race_end(&race, (struct evidence){ .reason = END_EXIT }), VERDICT_CANCELLED);
        CHECK(race.run.sink_closed);
    }
    race_done(&race);
}

static const struct check_test tests[] = {
    TEST(test_late_cancel_leaves_the_whole_result),
    TEST(test_late_cancel_keeps_the_output_of_other_ends),
    TEST(test_cancelled_run_does_not_wait_for_a_slow_reader),
    TEST(test_cancel_after_the_end_frees_from_a_slow_reader),
    TEST(test_output_without_a_reader_is_no_success),
};
CHECK_MAIN(tests)
