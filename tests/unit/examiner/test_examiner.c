/* Readers: their findings, the calls that code in them can make, and the loss of an answer when a
 * reader crashes or never answers. */
#include "examiner/examiner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "check.h"
#include "child.h"
#include "examiner/exchange.h"
#include "examiner/reader.h"

enum { ID = 77, PATIENCE_MS = 20000 };

static const char traceback[] = "Traceback (most recent call last):\n"
                                "  File \"/sandbox/main.py\", line 2, in <module>\n"
                                "    print(totl)\nNameError: name 'totl' is not defined\n";
static const char program[] = "total = 1\nprint(totl)\n";

static struct question question(void)
{
    static const struct source_file file = { "main.py", program, sizeof program - 1 };
    return (struct question){ .id = ID,
                              .explain = true,
                              .input = { .language = "python",
                                         .grammar = "python",
                                         .text = traceback,
                                         .len = sizeof traceback - 1,
                                         .main_name = "main.py",
                                         .sources = &file,
                                         .n_sources = 1,
                                         .verdict = VERDICT_RUNTIME_ERROR } };
}

static int reader_of(int examiner)
{
    struct pollfd p = { .fd = examiner, .events = POLLIN };
    return poll(&p, 1, PATIENCE_MS) == 1 ? examiner_next_reader(examiner) : -1;
}

static bool ask(int examiner, struct answer *ret)
{
    scoped(buf) packed = { 0 };
    struct err e;
    struct question q = question();
    int reader = reader_of(examiner);
    return CHECK(reader >= 0) && CHECK_INT(question_pack(&q, &packed, &e), 0) &&
           exchange_run(reader, ID, &packed, &(struct modules){ 0 }, ret);
}

/* The same, on a machine that may be too busy for the first. */
static bool ask_patiently(int examiner, struct answer *ret)
{
    for (int i = 0; i < 5; i++)
        if (ask(examiner, ret))
            return true;
    return false;
}

static void test_answer_of_a_reader_is_that_of_the_diagnoser(void)
{
    scoped(answer) a = { 0 };
    struct err e;
    struct diagnoser *g = NULL;
    autofree struct diagnosis *d = malloc(sizeof *d);
    autoclose int examiner = -1;
    struct question q = question();
    if (!CHECK_INT(examiner_start(&examiner, &e), 0) || !CHECK(ask_patiently(examiner, &a)) ||
        !CHECK(a.diagnosis) || !CHECK(d && diagnoser_new(&g, &e) == 0))
        return;
    CHECK(diagnose(g, &q.input, d));
    CHECK_STR(a.diagnosis->message, d->message);
    CHECK_INT(a.diagnosis->location.line, 2);
    CHECK_INT(a.diagnosis->n_suggestions, d->n_suggestions);
    CHECK_STR(a.diagnosis->suggestions[0].text, d->suggestions[0].text);
    CHECK(a.diagnosis->suggestions[0].confidence == d->suggestions[0].confidence);
    CHECK_INT(a.diagnosis->n_excerpt, d->n_excerpt);
    diagnoser_free(g);
}

static void test_report_is_read_by_a_reader(void)
{
    static const char report[] =
        "{\"tables\":[{\"columns\":[{\"name\":\"a\",\"type\":\"text\"}],\"rows\":[[\"x\\u0000y\"],"
        "[1.5],[null],[{\"base64\":\"AA==\"}]],\"row_count\":4,\"truncated\":false}],"
        "\"profile\":{\"sampled_ms\":5,\"samples\":5,\"lines\":[{\"file\":\"main.py\",\"line\":3,"
        "\"self_ms\":4,\"text\":\"x\"}]}}";
    scoped(answer) a = { 0 };
    scoped(buf) packed = { 0 };
    struct err e;
    int reader;
    struct question q = {
        .id = ID, .report = report, .report_len = sizeof report - 1, .tables = true, .profile = true
    };
    if (!CHECK_INT(question_pack(&q, &packed, &e), 0) ||
        !CHECK_INT(examiner_one_reader(&reader, &e), 0) ||
        !CHECK(exchange_run(reader, ID, &packed, &(struct modules){ 0 }, &a)))
        return;
    const json_t *rows = json_object_get(json_array_get(a.tables, 0), "rows");
    CHECK_INT(json_array_size(rows), 4);
    CHECK_INT(json_string_length(json_array_get(json_array_get(rows, 0), 0)), 3);
    CHECK_INT(json_array_size(json_object_get(a.profile, "lines")), 1);
    CHECK(!a.diagnosis);
}

/* ---- code in a reader ---- */

/* The calls that an attacker would like to make, and their answers: 0, or an errno. */
enum attempt {
    OPEN,
    OPEN_OLD,
    EXECUTE,
    SOCKET,
    CONNECT,
    SIGNAL,
    FORK,
    OWN_CODE,
    DUMP_MEMORY,
    MAKE_FILE,
    ATTEMPTS
};
static struct shared {
    int answers[ATTEMPTS], fds;
    unsigned asked;
    pid_t reader;
} * shared;

static int errno_of(long result)
{
    return result < 0 ? errno : 0;
}

static void try_everything(const struct question *q)
{
    static char *const no_words[] = { NULL };
    struct sockaddr_un place = { .sun_family = AF_UNIX, .sun_path = "/run/belljar.sock" };
    (void)q;
    int *a = shared->answers;
    a[OPEN] = errno_of(syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY, 0));
#ifdef SYS_open
    a[OPEN_OLD] = errno_of(syscall(SYS_open, "/etc/passwd", O_RDONLY, 0));
#endif
    a[SOCKET] = errno_of(syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0));
    a[CONNECT] = errno_of(syscall(SYS_connect, 3, &place, sizeof place));
    a[SIGNAL] = errno_of(syscall(SYS_kill, getppid(), 0));
    a[OWN_CODE] = errno_of(
        (long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == -1
            ? -1
            : 0);
    a[DUMP_MEMORY] = errno_of(syscall(SYS_process_vm_readv, getpid(), NULL, 0, NULL, 0, 0));
    a[MAKE_FILE] = errno_of(syscall(SYS_memfd_create, "x", 0));
    a[FORK] = errno_of(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    for (int fd = 0; fd < 1024; fd++)
        shared->fds += write(fd, "", 0) == 0 || errno != EBADF;
    a[EXECUTE] = errno_of(syscall(SYS_execve, "/bin/true", no_words, no_words));
    shared->asked++;
}

static void test_code_in_a_reader_has_memory_and_one_socket(void)
{
    scoped(answer) a = { 0 };
    struct err e;
    autoclose int examiner = -1;
    memset(shared, 0, sizeof *shared);
    reader_stand_in = try_everything;
    CHECK(examiner_start(&examiner, &e) == 0 && ask_patiently(examiner, &a) && a.diagnosis);
    reader_stand_in = NULL;
    CHECK(shared->asked >= 1);
    CHECK_INT(shared->fds, shared->asked);
    for (int i = 0; i < ATTEMPTS; i++)
        if (!CHECK(shared->answers[i] == (i == OWN_CODE ? EACCES : ENOSYS)))
            printf("attempt %d: errno %d\n", i, shared->answers[i]);
}

static void crash_once(const struct question *q)
{
    (void)q;
    if (shared->asked++ == 0)
        abort();
}

static void loop_once(const struct question *q)
{
    (void)q;
    shared->reader = getpid();
    if (shared->asked++ == 0)
        for (volatile unsigned i = 0;; i++)
            ;
}

static void test_reader_that_crashes_loses_one_answer(void)
{
    scoped(answer) lost = { 0 }, next = { 0 };
    struct err e;
    autoclose int examiner = -1;
    memset(shared, 0, sizeof *shared);
    reader_stand_in = crash_once;
    CHECK_INT(examiner_start(&examiner, &e), 0);
    CHECK(!ask(examiner, &lost) && !lost.diagnosis);
    CHECK(ask_patiently(examiner, &next) && next.diagnosis);
    reader_stand_in = NULL;
}

/* Ended, whether or not somebody has reaped it: its new parent may take its time. */
static bool is_gone(pid_t pid)
{
    char path[64], text[256];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    for (int i = 0; i < PATIENCE_MS / 10; i++, usleep(10000))
        if (fd_read_file(AT_FDCWD, path, text, sizeof text) <= 0 || strstr(text, ") Z "))
            return true;
    return false;
}

static void test_reader_that_never_answers_is_killed(void)
{
    scoped(answer) lost = { 0 }, next = { 0 };
    struct err e;
    autoclose int examiner = -1;
    memset(shared, 0, sizeof *shared);
    reader_stand_in = loop_once;
    CHECK_INT(examiner_start(&examiner, &e), 0);
    CHECK(!ask(examiner, &lost) && !lost.diagnosis);
    CHECK(shared->reader > 0 && is_gone(shared->reader));
    CHECK(ask_patiently(examiner, &next) && next.diagnosis);
    reader_stand_in = NULL;
}

static void test_readers_end_with_their_keeper(void)
{
    struct err e;
    int examiner = -1;
    memset(shared, 0, sizeof *shared);
    reader_stand_in = loop_once;
    shared->asked = 1; /* note the number, and answer */
    scoped(answer) a = { 0 };
    CHECK(examiner_start(&examiner, &e) == 0 && ask_patiently(examiner, &a));
    reader_stand_in = NULL;
    fd_close(&examiner);
    CHECK(shared->reader > 0 && is_gone(shared->reader));
    CHECK(waitpid(-1, NULL, 0) > 0); /* the examiner */
}

/* ---- answers of strangers ---- */

static struct answer sample(void)
{
    struct answer a = { .id = ID, .diagnosis = calloc(1, sizeof *a.diagnosis) };
    struct diagnosis *d = a.diagnosis;
    if (!d)
        abort();
    (void)snprintf(d->message, sizeof d->message, "name 'x' is not defined");
    d->category = CATEGORY_NAME;
    d->verdict = VERDICT_RUNTIME_ERROR;
    d->n_frames = d->n_causes = d->n_further = d->n_excerpt = d->n_suggestions = 2;
    d->n_values = 2;
    d->values[1] = (struct value){ .name = "x", .n_shape = 2, .shape = { 3, 4 } };
    d->suggestions[0].confidence = 0.5;
    a.tables = json_loads("[{\"columns\":[],\"rows\":[[],[]],\"row_count\":2,\"truncated\":true}]",
                          0, NULL);
    a.profile = json_loads("{\"sampled_ms\":1.5,\"lines\":[{\"line\":1}]}", 0, NULL);
    return a;
}

static bool accepted(const struct answer *a)
{
    scoped(buf) b = { 0 };
    scoped(answer) back = { 0 };
    struct err e;
    CHECK_INT(answer_pack(a, &b, &e), 0);
    return answer_unpack(b.data, b.len, ID, &back, &e) == 0;
}

static void test_answer_with_a_wrong_field_is_none(void)
{
    scoped(answer) a = sample();
    struct diagnosis *d = a.diagnosis;
    CHECK(accepted(&a));
    a.id = ID + 1; /* to another question */
    CHECK(!accepted(&a));
    a.id = ID;
    d->category = CATEGORY_COUNT_;
    CHECK(!accepted(&a));
    d->category = CATEGORY_NAME;
    d->verdict = VERDICT_COUNT_;
    CHECK(!accepted(&a));
    d->verdict = VERDICT_TIMEOUT;
    static const double wrong[] = { -1, 2, __builtin_nan(""), __builtin_inf() };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        d->suggestions[0].confidence = wrong[i];
        CHECK(!accepted(&a));
    }
    d->suggestions[0].confidence = 1;
    CHECK(accepted(&a));
    (void)json_array_append_new(a.tables, json_integer(1));
    CHECK(!accepted(&a));
}

static void test_answer_that_is_cut_or_changed_never_crashes(void)
{
    scoped(answer) a = sample();
    scoped(buf) b = { 0 };
    struct err e;
    CHECK_INT(answer_pack(&a, &b, &e), 0);
    for (size_t n = 0; n < b.len; n++) {
        scoped(answer) back = { 0 };
        CHECK(answer_unpack(b.data, n, ID, &back, &e) != 0);
    }
    for (size_t i = 0; i < b.len; i++) {
        scoped(answer) back = { 0 };
        char kept = b.data[i];
        b.data[i] = (char)~kept;
        (void)!answer_unpack(b.data, b.len, ID, &back, &e);
        b.data[i] = kept;
    }
    CHECK(accepted(&a));
}

static void test_nested_json_is_refused(void)
{
    scoped(answer) a = { .id = ID };
    a.profile = json_object();
    json_t *inner = a.profile;
    for (int i = 0; i < 40; i++) {
        json_t *next = json_object();
        (void)json_object_set_new(inner, "x", next);
        inner = next;
    }
    scoped(buf) b = { 0 };
    scoped(answer) back = { 0 };
    struct err e;
    CHECK_INT(answer_pack(&a, &b, &e), 0); /* without it */
    CHECK(answer_unpack(b.data, b.len, ID, &back, &e) == 0 && !back.profile);
}

static const struct check_test tests[] = {
    TEST(test_answer_of_a_reader_is_that_of_the_diagnoser),
    TEST(test_report_is_read_by_a_reader),
    TEST(test_code_in_a_reader_has_memory_and_one_socket),
    TEST(test_reader_that_crashes_loses_one_answer),
    TEST(test_reader_that_never_answers_is_killed),
    TEST(test_readers_end_with_their_keeper),
    TEST(test_answer_with_a_wrong_field_is_none),
    TEST(test_answer_that_is_cut_or_changed_never_crashes),
    TEST(test_nested_json_is_refused),
};

int main(int argc, char **argv)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    return check_run_all(tests, ARRAY_LEN(tests), argc > 1 ? argv[1] : "");
}
