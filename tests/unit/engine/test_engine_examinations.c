/* Examinations on the loop of a keeper. The test plays the examiner and its readers. */
#include "engine/examinations.h"

#include <fcntl.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "check.h"
#include "engine/engine_impl.h"
#include "examiner/examiner.h"
#include "examiner/reader.h"
#include "peer.h"
#include "place.h"

enum { PATIENCE_MS = 20000 };

struct desk {
    struct place place;
    uv_loop_t loop;
    struct store *store;
    uv_poll_t store_poll;
    struct engine *engine;
    int examiner; /* the test's end */
};

/* An examination, and its end. */
struct asked {
    struct examination examination; /* first */
    unsigned ends;
    bool answered;
};

static void on_done(struct examination *x, const struct answer *answer)
{
    struct asked *a = (struct asked *)x;
    a->ends++;
    a->answered = answer != NULL;
}

static void ask(struct desk *d, struct asked *a, const char *key)
{
    struct err e;
    *a = (struct asked){ .examination = {
                             .id = examination_id(d->engine), .key = key, .on_done = on_done } };
    CHECK_INT(buf_add(&a->examination.question, "question", 8, &e), 0);
    examine(d->engine, &a->examination);
}

static void on_store(uv_poll_t *poll, int status, int events)
{
    struct desk *d = poll->data;
    (void)status;
    (void)events;
    store_dispatch(d->store);
}

static bool desk_init(struct desk *d)
{
    static const struct engine_limits limits = { 8, 8, 8, 0, 8, 1 << 20, 0, 0, false };
    struct err e = { 0 };
    int fds[2];
    *d = (struct desk){ .examiner = -1 };
    if (!place_init(&d->place) || !CHECK_INT(uv_loop_init(&d->loop), 0) ||
        !CHECK_INT(store_open(&d->store, d->place.path, &e), 0) ||
        !CHECK_INT(engine_new(&d->engine, &d->loop, d->store, d->place.fd, &limits, &e), 0) ||
        !CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0))
        return false;
    d->examiner = fds[1];
    d->store_poll.data = d;
    CHECK_INT(uv_poll_init(&d->loop, &d->store_poll, store_fd(d->store)), 0);
    CHECK_INT(uv_poll_start(&d->store_poll, UV_READABLE, on_store), 0);
    return CHECK_INT(engine_set_examiner(d->engine, fds[0], &e), 0);
}

static void desk_done(struct desk *d)
{
    fd_close(&d->examiner);
    uv_close((uv_handle_t *)&d->store_poll, NULL);
    store_close(d->store);
    engine_free(d->engine);
    for (int i = 0; i < 3; i++)
        (void)uv_run(&d->loop, UV_RUN_NOWAIT);
    CHECK_INT(uv_loop_close(&d->loop), 0);
    place_done(&d->place);
}

/* Gives the keeper a reader; the test's end of its socket. */
static int give_reader(struct desk *d)
{
    int fds[2];
    char byte = 0;
    struct iovec part = { &byte, 1 };
    if (!CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0))
        return -1;
    CHECK_INT(fd_send(d->examiner, &part, 1, &fds[0], 1, 0), 1);
    (void)close(fds[0]);
    return fds[1];
}

/* Turns the loop until the condition holds. */
#define EVENTUALLY(d, condition)                                                            \
    do {                                                                                    \
        for (uint64_t until = clock_ms() + PATIENCE_MS; !(condition) && clock_ms() < until; \
             usleep(1000))                                                                  \
            (void)uv_run(&(d)->loop, UV_RUN_NOWAIT);                                        \
        CHECK(condition);                                                                   \
    } while (0)

static bool has_question(int reader)
{
    int n = 0;
    return ioctl(reader, FIONREAD, &n) == 0 && n > 0;
}

/* Answers as a reader would, with `padding` bytes of JSON text; turns the loop until all is read. */
static void answer(struct desk *d, int reader, const struct asked *a, size_t padding)
{
    scoped(answer) what = { .id = a->examination.id };
    scoped(buf) out = { 0 };
    struct err e;
    struct reader_frame head = { FRAME_ANSWER, 0 };
    autofree char *text = calloc(1, padding + 1);
    if (!CHECK(text))
        return;
    memset(text, 'x', padding);
    if (padding > 0)
        what.profile = json_pack("{s:s}", "text", text);
    CHECK_INT(buf_add(&out, &head, sizeof head, &e), 0);
    CHECK_INT(answer_pack(&what, &out, &e), 0);
    head.length = (uint32_t)(out.len - sizeof head);
    memcpy(out.data, &head, sizeof head);
    for (size_t sent = 0; sent < out.len;) {
        ssize_t n = write(reader, out.data + sent, out.len - sent);
        sent += n > 0 ? (size_t)n : 0;
        (void)uv_run(&d->loop, UV_RUN_NOWAIT);
    }
    int unread = 1;
    EVENTUALLY(d, ioctl(reader, TIOCOUTQ, &unread) == 0 && unread == 0);
}

/* ---- tests ---- */

/* EXAMINATION-1 */
static void test_closing_ends_every_examination_once(void)
{
    struct desk d;
    struct asked at_work, waiting;
    if (!desk_init(&d))
        return;
    autoclose int reader = give_reader(&d);
    ask(&d, &at_work, "a");
    EVENTUALLY(&d, has_question(reader));
    ask(&d, &waiting, "a");
    engine_end_examinations(d.engine);
    CHECK(at_work.ends == 1 && !at_work.answered);
    CHECK(waiting.ends == 1 && !waiting.answered);
    ask(&d, &waiting, "a"); /* from here on they end at once */
    CHECK(waiting.ends == 1 && !waiting.answered);
    desk_done(&d);
    CHECK(at_work.ends == 1 && waiting.ends == 1);
}

/* EXAMINATION-3 */
static void test_losses_pause_their_own_key_alone(void)
{
    struct desk d;
    struct asked bad, good;
    if (!desk_init(&d))
        return;
    for (int i = 0; i < EXAMINATION_LOSSES_MAX; i++) {
        int reader = give_reader(&d);
        ask(&d, &bad, "bad");
        EVENTUALLY(&d, has_question(reader));
        (void)close(reader);
        EVENTUALLY(&d, bad.ends == 1);
        CHECK(!bad.answered);
    }
    autoclose int reader = give_reader(&d);
    ask(&d, &bad, "bad");
    CHECK(bad.ends == 1 && !bad.answered && !has_question(reader)); /* it is not even asked */
    ask(&d, &good, "good");
    EVENTUALLY(&d, has_question(reader));
    answer(&d, reader, &good, 0);
    EVENTUALLY(&d, good.ends == 1);
    CHECK(good.answered);
    desk_done(&d);
}

/* EXAMINATION-3 */
static void test_a_key_leaves_a_reader_for_others(void)
{
    struct desk d;
    struct asked many[EXAMINER_READERS], other;
    int readers[EXAMINER_READERS], asked = 0;
    if (!desk_init(&d))
        return;
    for (int i = 0; i < EXAMINER_READERS; i++)
        readers[i] = give_reader(&d);
    for (int i = 0; i < EXAMINER_READERS; i++)
        ask(&d, &many[i], "busy");
    for (int i = 0; i < 20; i++, usleep(1000))
        (void)uv_run(&d.loop, UV_RUN_NOWAIT);
    for (int i = 0; i < EXAMINER_READERS; i++)
        asked += has_question(readers[i]);
    CHECK_INT(asked, EXAMINER_READERS - 1);
    ask(&d, &other, NULL);
    asked = 0;
    for (int i = 0; i < EXAMINER_READERS; i++)
        asked += has_question(readers[i]);
    CHECK_INT(asked, EXAMINER_READERS);
    engine_end_examinations(d.engine);
    CHECK_INT(other.ends, 1);
    for (int i = 0; i < EXAMINER_READERS; i++) {
        CHECK_INT(many[i].ends, 1);
        (void)close(readers[i]);
    }
    desk_done(&d);
}

/* A keeper without a free descriptor loses the socket of a reader, and not its examiner. */
static void test_a_lack_of_descriptors_costs_one_reader(void)
{
    struct desk d;
    struct asked a;
    struct rlimit before, none;
    if (!desk_init(&d))
        return;
    autoclose int lost = give_reader(&d);
    autoclose int spare = open("/dev/null", O_RDONLY | O_CLOEXEC); /* the lowest free number */
    if (!CHECK(spare >= 0) || !CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0))
        return;
    none = (struct rlimit){ (rlim_t)spare, before.rlim_max };
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
    EVENTUALLY(&d, d.engine->examinations.listen_at_ms > 0);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK(d.engine->examinations.examiner_fd >= 0);
    autoclose int reader = give_reader(&d);
    ask(&d, &a, NULL);
    EVENTUALLY(&d, has_question(reader));
    answer(&d, reader, &a, 0);
    EVENTUALLY(&d, a.ends == 1);
    CHECK(a.answered);
    desk_done(&d);
}

static sem_t gate;

static void block(uv_work_t *work)
{
    (void)work;
    (void)sem_wait(&gate);
}

static void on_unblocked(uv_work_t *work, int status)
{
    (void)status;
    *(bool *)work->data = true;
}

/* EXAMINATION-4: while every thread of the pool is busy, a large answer waits and a small one does
 * not. */
static void test_large_answers_are_unpacked_in_the_pool(void)
{
    struct desk d;
    struct asked large, small;
    uv_work_t work;
    bool unblocked = false;
    if (!desk_init(&d) || !CHECK_INT(sem_init(&gate, 0, 0), 0))
        return;
    work.data = &unblocked;
    CHECK_INT(uv_queue_work(&d.loop, &work, block, on_unblocked), 0);
    autoclose int first = give_reader(&d);
    ask(&d, &large, NULL);
    EVENTUALLY(&d, has_question(first));
    answer(&d, first, &large, EXAMINATION_UNPACK_MAX + 1);
    autoclose int second = give_reader(&d);
    ask(&d, &small, NULL);
    EVENTUALLY(&d, has_question(second));
    answer(&d, second, &small, EXAMINATION_UNPACK_MAX / 2);
    EVENTUALLY(&d, small.ends == 1);
    CHECK(small.answered && large.ends == 0);
    CHECK_INT(sem_post(&gate), 0);
    EVENTUALLY(&d, large.ends == 1 && unblocked);
    CHECK(large.answered);
    desk_done(&d);
}

/* The engine may close while a thread unpacks. */
static void test_closing_ends_an_examination_whose_answer_is_unpacked(void)
{
    struct desk d;
    struct asked large;
    uv_work_t work;
    bool unblocked = false;
    if (!desk_init(&d) || !CHECK_INT(sem_init(&gate, 0, 0), 0))
        return;
    work.data = &unblocked;
    CHECK_INT(uv_queue_work(&d.loop, &work, block, on_unblocked), 0);
    autoclose int reader = give_reader(&d);
    ask(&d, &large, NULL);
    EVENTUALLY(&d, has_question(reader));
    answer(&d, reader, &large, EXAMINATION_UNPACK_MAX + 1);
    CHECK_INT(large.ends, 0);
    engine_end_examinations(d.engine);
    CHECK(large.ends == 1 && !large.answered);
    CHECK_INT(sem_post(&gate), 0);
    char question[64];
    CHECK(read(reader, question, sizeof question) > 0);
    EVENTUALLY(&d, unblocked && read(reader, question, sizeof question) == 0); /* it is closed */
    desk_done(&d);
    CHECK_INT(large.ends, 1);
}

static void test_pauses_forget_the_oldest_key(void)
{
    static struct examination_pauses p;
    char key[16];
    for (int i = 0; i <= EXAMINATION_PAUSES; i++) {
        (void)snprintf(key, sizeof key, "key%d", i);
        for (int k = 0; k < EXAMINATION_LOSSES_MAX; k++)
            pauses_note_loss(&p, key, 100 + (uint64_t)i);
        CHECK(pauses_have(&p, key, 100 + (uint64_t)i));
    }
    CHECK(!pauses_have(&p, "key0", 101) && pauses_have(&p, "key1", 101));
    CHECK(!pauses_have(&p, NULL, 101) && !pauses_have(&p, "key1", 101 + EXAMINATION_PAUSE_MS));
    pauses_note_answer(&p, "key1");
    CHECK(!pauses_have(&p, "key1", 101));
}

static const struct check_test tests[] = {
    TEST(test_closing_ends_every_examination_once),
    TEST(test_losses_pause_their_own_key_alone),
    TEST(test_a_key_leaves_a_reader_for_others),
    TEST(test_a_lack_of_descriptors_costs_one_reader),
    TEST(test_large_answers_are_unpacked_in_the_pool),
    TEST(test_closing_ends_an_examination_whose_answer_is_unpacked),
    TEST(test_pauses_forget_the_oldest_key),
};

int main(int argc, char **argv)
{
    (void)setenv("UV_THREADPOOL_SIZE", "1", 1); /* so that one piece of work makes it busy */
    return check_run_all(tests, ARRAY_LEN(tests), argc > 1 ? argv[1] : "");
}
