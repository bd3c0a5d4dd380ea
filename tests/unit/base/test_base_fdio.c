#include "base/fdio.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "base/array.h"
#include "base/clock.h"
#include "check.h"
#include "child.h"
#include "place.h"

static void test_read_full_gathers_what_comes_in_pieces(void)
{
    int fds[2];
    struct err e = { 0 };
    char bytes[8];
    if (!CHECK(fd_pipe(fds, &e) == 0))
        return;
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 5; i++) {
            (void)usleep(2000);
            (void)!write(fds[1], "ab", 2);
        }
        _exit(0);
    }
    (void)close(fds[1]);
    CHECK_INT(fd_read_full(fds[0], bytes, sizeof bytes), 8);
    CHECK(memcmp(bytes, "abababab", 8) == 0);
    CHECK_INT(fd_read_full(fds[0], bytes, sizeof bytes), 2); /* the end came first */
    CHECK_INT(fd_read_full(fds[0], bytes, sizeof bytes), 0);
    CHECK_INT(child_wait(pid), 0);
    (void)close(fds[0]);
}

static void wake(int signal_number)
{
    (void)signal_number;
}

/* A signal every millisecond, delivered without SA_RESTART: each read and write is interrupted. */
static void start_interrupting(void)
{
    struct sigaction action = { .sa_handler = wake };
    struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
}

/* Not sleep, which an interruption would end. */
static void let_pass(uint64_t ms)
{
    for (uint64_t until = clock_us() + ms * 1000; clock_us() < until;)
        (void)usleep(1000);
}

static void interrupted_transfer(void *unused)
{
    (void)unused;
    int fds[2];
    struct err e = { 0 };
    static char sent[1 << 20], got[1 << 20];
    memset(sent, 'q', sizeof sent);
    if (!CHECK(fd_pipe(fds, &e) == 0))
        return;
    pid_t pid = fork();
    start_interrupting(); /* timers do not pass on to children: both sides start their own */
    if (pid == 0) {
        (void)close(fds[0]);
        let_pass(20); /* the reader waits in vain, */
        _exit(fd_write_all(fds[1], sent, sizeof sent) ? 1 : 0);
    }
    (void)close(fds[1]);
    CHECK_INT(fd_read_full(fds[0], got, 1), 1);
    let_pass(20); /* and then the writer, before a full pipe */
    CHECK_INT(fd_read_full(fds[0], got + 1, sizeof got - 1), sizeof got - 1);
    CHECK(memcmp(sent, got, sizeof got) == 0);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    CHECK_INT(status, 0);
}

static void test_interruptions_lose_nothing(void)
{
    CHECK_INT(in_child(interrupted_transfer, NULL), 0);
}

static void test_failures_leave_errno_to_the_caller(void)
{
    char byte;
    errno = 0;
    CHECK_INT(fd_read_full(-1, &byte, 1), -1);
    CHECK_INT(errno, EBADF);
    errno = 0;
    CHECK_INT(fd_write_all(-1, "x", 1), -1);
    CHECK_INT(errno, EBADF);
    CHECK_INT(fd_write_all(-1, NULL, 0), 0);
    CHECK_INT(fd_read_full(-1, NULL, 0), 0);
}

static void test_writing_to_nobody_is_an_error(void)
{
    int fds[2];
    struct err e = { 0 };
    if (!CHECK(fd_pipe(fds, &e) == 0))
        return;
    (void)close(fds[0]);
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    CHECK_INT(fd_write_all(fds[1], "x", 1), -1);
    CHECK_INT(errno, EPIPE);
    (void)signal(SIGPIPE, before);
    (void)close(fds[1]);
}

static void test_small_file_is_cut_and_terminated(void)
{
    struct place p;
    char out[8];
    if (!place_init(&p))
        return;
    place_file(&p, "long", "0123456789", 0644);
    place_file(&p, "empty", "", 0644);
    memset(out, '#', sizeof out);
    CHECK_INT(fd_read_file(p.fd, "long", out, 5), 4);
    CHECK_STR(out, "0123");
    CHECK_INT(out[5], '#');
    CHECK_INT(fd_read_file(p.fd, "empty", out, sizeof out), 0);
    CHECK_STR(out, "");
    CHECK_INT(fd_read_file(p.fd, "long", out, 1), 0);
    CHECK_STR(out, "");
    CHECK_INT(fd_read_file(p.fd, "missing", out, sizeof out), -1);
    CHECK_INT(errno, ENOENT);
    CHECK_INT(fd_read_file(p.fd, ".", out, sizeof out), -1);
    place_done(&p);
}

static void test_write_file_makes_no_file_and_names_the_one_it_meant(void)
{
    struct place p;
    struct err e = { 0 };
    char out[32];
    if (!place_init(&p))
        return;
    CHECK_INT(fd_write_file(p.fd, "pids.max", "64", &e), -1);
    CHECK(strstr(e.text, "pids.max") != NULL);
    CHECK_INT(e.sys, ENOENT);
    CHECK(!place_has(&p, "pids.max"));
    place_file(&p, "pids.max", "", 0644);
    CHECK_INT(fd_write_file(p.fd, "pids.max", "64", &e), 0);
    CHECK_INT(fd_read_file(p.fd, "pids.max", out, sizeof out), 2);
    CHECK_STR(out, "64");
    CHECK_INT(fd_write_file(AT_FDCWD, "/dev/full", "64", &e), -1);
    CHECK(strstr(e.text, "/dev/full") != NULL && strstr(e.text, "64") != NULL);
    CHECK_INT(e.sys, ENOSPC);
    place_done(&p);
}

static int memory_of(size_t size)
{
    int fd = memfd_create("unit-test", MFD_CLOEXEC);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
    return fd;
}

static void test_more_than_the_bound_is_refused_exactly_there(void)
{
    static const size_t bounds[] = { 0, 1, 100, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, 1 << 20 };
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
        scoped(buf) fits = { 0 }, over = { 0 };
        struct err e = { 0 };
        autoclose int exact = memory_of(bounds[i]), larger = memory_of(bounds[i] + 1);
        CHECK_INT(fd_read_to_buf(exact, bounds[i], &fits, &e), 0);
        CHECK_INT(fits.len, bounds[i]);
        CHECK_INT(fd_read_to_buf(larger, bounds[i], &over, &e), -1);
        CHECK_INT(e.code, ERR_TOO_LARGE);
    }
}

static void test_endless_input_is_not_read_to_its_end(void)
{
    scoped(buf) b = { 0 };
    struct err e = { 0 };
    autoclose int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    CHECK_INT(fd_read_to_buf(fd, 1 << 20, &b, &e), -1);
    CHECK_INT(e.code, ERR_TOO_LARGE);
    CHECK(b.len <= (1 << 20) + (1 << 16));
}

static void test_reading_appends_and_counts_only_what_is_new(void)
{
    scoped(buf) b = { 0 };
    struct err e = { 0 };
    autoclose int fd = memory_of(3), dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_INT(buf_add(&b, "head", 4, &e), 0);
    CHECK_INT(fd_read_to_buf(fd, 3, &b, &e), 0);
    CHECK_INT(b.len, 7);
    CHECK(memcmp(b.data, "head\0\0\0", 8) == 0);
    CHECK_INT(fd_read_to_buf(dir, 3, &b, &e), -1);
    CHECK_INT(e.sys, EISDIR);
}

static void test_new_descriptors_do_not_survive_exec(void)
{
    int fds[2];
    struct err e = { 0 };
    struct buf none = { 0 };
    autoclose int memory = -1;
    CHECK_INT(fd_pipe(fds, &e), 0);
    CHECK_INT(fcntl(fds[0], F_GETFD) & fcntl(fds[1], F_GETFD), FD_CLOEXEC);
    CHECK_INT(fd_sealed_memory("unit-test", &none, &memory, &e), 0);
    CHECK_INT(fcntl(memory, F_GETFD), FD_CLOEXEC);
    CHECK_INT(fd_set_nonblock(fds[0], &e), 0);
    CHECK(fcntl(fds[0], F_GETFL) & O_NONBLOCK);
    char byte;
    CHECK_INT(read(fds[0], &byte, 1), -1);
    CHECK_INT(errno, EAGAIN);
    CHECK_INT(fd_set_nonblock(-1, &e), -1);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

static void keep_some(void *unused)
{
    (void)unused;
    struct err e = { 0 };
    static const int kept[] = {
        20, -1, 7, 4, 20, 1, 300
    }; /* in no order, one twice, one not open */
    for (int fd = 3; fd < 60; fd++)
        CHECK_INT(dup2(0, fd), fd);
    CHECK_INT(fd_keep_only(kept, ARRAY_LEN(kept), &e), 0);
    for (int fd = 0; fd < 60; fd++)
        CHECK((fcntl(fd, F_GETFD) >= 0) == (fd < 3 || fd == 4 || fd == 7 || fd == 20));
    CHECK_INT(fd_keep_only(NULL, 0, &e), 0);
    CHECK_INT(open_fds(), 3);
}

static void test_keep_only_keeps_the_named_and_the_standard_ones(void)
{
    CHECK_INT(in_child(keep_some, NULL), 0);
}

#define CHECK_REFUSED(expr) CHECK((expr) < 0 && errno == EPERM)

static void test_sealed_memory_cannot_be_changed_by_anybody(void)
{
    scoped(buf) b = { 0 };
    struct err e = { 0 };
    autoclose int fd = -1;
    char out[8], again[40];
    CHECK_INT(buf_add(&b, "sealed", 6, &e), 0);
    if (!CHECK(fd_sealed_memory("unit-test", &b, &fd, &e) == 0))
        return;
    CHECK_INT(fd_read_full(fd, out, sizeof out), 6); /* from its beginning */
    CHECK(memcmp(out, "sealed", 6) == 0);
    CHECK_REFUSED(pwrite(fd, "X", 1, 0));
    CHECK_REFUSED(pwrite(fd, "X", 1, 6));
    CHECK_REFUSED(ftruncate(fd, 0));
    CHECK_REFUSED(ftruncate(fd, 100));
    CHECK_REFUSED(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 6));
    CHECK_REFUSED(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE));
    CHECK(mmap(NULL, 6, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
    (void)snprintf(again, sizeof again, "/proc/self/fd/%d", fd);
    autoclose int reopened = open(again, O_RDWR | O_CLOEXEC);
    if (reopened >= 0)
        CHECK_REFUSED(pwrite(reopened, "X", 1, 0));
    CHECK_INT(pread(fd, out, sizeof out, 0), 6);
    CHECK(memcmp(out, "sealed", 6) == 0);
}

static const struct check_test tests[] = {
    TEST(test_read_full_gathers_what_comes_in_pieces),
    TEST(test_interruptions_lose_nothing),
    TEST(test_failures_leave_errno_to_the_caller),
    TEST(test_writing_to_nobody_is_an_error),
    TEST(test_small_file_is_cut_and_terminated),
    TEST(test_write_file_makes_no_file_and_names_the_one_it_meant),
    TEST(test_more_than_the_bound_is_refused_exactly_there),
    TEST(test_endless_input_is_not_read_to_its_end),
    TEST(test_reading_appends_and_counts_only_what_is_new),
    TEST(test_new_descriptors_do_not_survive_exec),
    TEST(test_keep_only_keeps_the_named_and_the_standard_ones),
    TEST(test_sealed_memory_cannot_be_changed_by_anybody),
};
CHECK_MAIN(tests)
