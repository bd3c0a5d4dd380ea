#include "image/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "check.h"
#include "image/bounds.h"
#include "place.h"

struct losses {
    struct image_losses base; /* the first member */
    char text[4096];
};

static void add_loss(struct image_losses *base, const char *name)
{
    struct losses *l = (struct losses *)base;
    size_t n = strlen(l->text);
    (void)snprintf(l->text + n, sizeof l->text - n, "%s\n", name);
}

static struct losses losses;
static char why[IMAGE_WHY];

static bool make_file(const char *name, const char *text)
{
    autoclose int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return CHECK(fd >= 0) && CHECK(fd_write_all(fd, text, strlen(text)) == 0);
}

/* Runs the test in a child, because all descriptors are replaced there. It begins in a folder of its
 * own, without descriptors of the test's parents. */
static void run_apart(void (*run)(void))
{
    struct place p;
    int status = 0;
    if (!place_init(&p))
        return;
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        losses = (struct losses){ .base.add = add_loss };
        CHECK(fchdir(p.fd) == 0 && close_range(3, ~0U, 0) == 0);
        run();
        (void)fflush(stdout);
        _exit(check_failures > 0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_INT(status, 0);
    place_done(&p);
}

/* Takes all descriptors and makes them anew, as another process would. */
static void make_anew(int channel)
{
    struct image_roles roles;
    struct image_descriptors *d = image_descriptors_new();
    const int skipped[] = { 77 };
    CHECK(dup2(0, skipped[0]) == skipped[0]);
    image_roles_find(&roles, (const int[IMAGE_ROLES]){ 0, 1, 2, channel });
    if (!CHECK(d != NULL) ||
        !CHECK(image_descriptors_take(d, &roles, true, skipped, 1, &losses.base, why) == 0))
        return;
    int own = fcntl(channel, F_DUPFD_CLOEXEC, 150);
    image_descriptors_restore(d, own);
    CHECK(fcntl(skipped[0], F_GETFD) < 0 && fcntl(own, F_GETFD) < 0);
    image_descriptors_free(d);
}

static void contents(void)
{
    int ends[2], channel[2], loop = epoll_create1(EPOLL_CLOEXEC);
    int counter = eventfd(5, EFD_NONBLOCK | EFD_CLOEXEC);
    char text[16] = "";
    uint64_t count = 0;
    struct epoll_event event = { .events = EPOLLIN, .data.u64 = 0x123456789abcdef };
    CHECK(pipe(ends) == 0 && make_file("f", "hello world"));
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) == 0);
    int other = fcntl(ends[1], F_DUPFD_CLOEXEC, 120);
    int file = open("f", O_RDWR | O_APPEND | O_CLOEXEC);
    CHECK(lseek(file, 6, SEEK_SET) == 6 && write(ends[1], "unread", 6) == 6);
    CHECK(epoll_ctl(loop, EPOLL_CTL_ADD, ends[0], &event) == 0);
    make_anew(channel[0]);
    /* Only the other end of the channel, which the host has in a session. */
    CHECK(strncmp(losses.text, "a socket (descriptor ", 21) == 0);
    CHECK(strcspn(losses.text, "\n") == strlen(losses.text) - 1);
    CHECK(read(file, text, 5) == 5);
    CHECK_STR(text, "world");
    CHECK(fcntl(file, F_GETFL) & O_APPEND && fcntl(file, F_GETFD) == FD_CLOEXEC);
    CHECK(read(counter, &count, sizeof count) == sizeof count && count == 5);
    CHECK(read(counter, &count, sizeof count) < 0 && errno == EAGAIN);
    CHECK(epoll_wait(loop, &event, 1, 0) == 1 && event.data.u64 == 0x123456789abcdef);
    memset(text, 0, sizeof text);
    CHECK(read(ends[0], text, sizeof text) == 6);
    CHECK_STR(text, "unread");
    CHECK(write(other, "more", 4) == 4 && read(ends[0], text, 4) == 4);
    CHECK(epoll_wait(loop, &event, 1, 0) == 0);
    CHECK(fcntl(ends[1], F_GETFD) == 0 && fcntl(other, F_GETFD) == FD_CLOEXEC);
    CHECK(open("f", O_RDONLY | O_CLOEXEC) >= 0); /* the working directory */
}

static void test_descriptors_come_back_with_their_contents(void)
{
    run_apart(contents);
}

static void duplicates(void)
{
    char byte;
    CHECK(make_file("f", "abcdefgh"));
    int first = open("f", O_RDWR | O_CLOEXEC), apart = open("f", O_RDWR | O_CLOEXEC);
    int second = dup(first), written = open("f", O_WRONLY | O_CLOEXEC);
    CHECK(lseek(first, 2, SEEK_SET) == 2 && lseek(apart, 2, SEEK_SET) == 2);
    CHECK(lseek(written, 2, SEEK_SET) == 2);
    make_anew(0);
    CHECK_STR(losses.text, "");
    CHECK(read(first, &byte, 1) == 1 && byte == 'c');
    CHECK(read(second, &byte, 1) == 1 && byte == 'd');
    CHECK(read(apart, &byte, 1) == 1 && byte == 'c');
    CHECK_INT(lseek(written, 0, SEEK_CUR), 2);
    CHECK(fcntl(first, F_GETFD) == FD_CLOEXEC && fcntl(second, F_GETFD) == 0);
}

static void test_duplicates_have_one_position_again(void)
{
    run_apart(duplicates);
}

static void bounds(void)
{
    struct rlimit now, files = { 100, 200 }, processor = { 1000, 1000 };
    image_bounds_begin();
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
    int first = nice(0);
    CHECK_INT(nice(3), first + 3);
    image_bounds_take(&losses.base);
    CHECK_STR(losses.text, "");
    /* The jar of a copy has other limits. */
    files = (struct rlimit){ 64, 150 };
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
    image_bounds_restore();
    CHECK(getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur == 100 && now.rlim_max == 150);
    CHECK_INT(nice(0), first + 6); /* it was not a new process */
    CHECK(setrlimit(RLIMIT_CPU, &processor) == 0);
    image_bounds_take(&losses.base);
    CHECK_STR(losses.text, "the limit of CPU time (setrlimit)\n");
}

static void test_limits_that_a_program_changed_come_back(void)
{
    run_apart(bounds);
}

static void inodes(void)
{
    struct stat st, other;
    CHECK(make_file("f", "x") && make_file("g", "x"));
    autoclose int fd = open("f", O_RDONLY | O_CLOEXEC);
    CHECK(image_inodes_stat("f", &st) == 0 && image_inodes_stat("g", &other) == 0);
    const ino_t known = st.st_ino;
    for (int generation = 0; generation < 3; generation++) {
        struct image_renamed *rows = calloc(1, sizeof *rows);
        if (!CHECK(rows != NULL))
            return;
        rows[0].known = image_inode_of(fd); /* as it is in the image */
        CHECK(rename("f", "old") == 0 && make_file("f", "x") && unlink("old") == 0);
        CHECK(dup2(open("f", O_RDONLY | O_CLOEXEC), fd) == fd);
        rows[0].real = image_inode_of(fd);
        image_inodes_renew(rows, 1);
        CHECK(image_inodes_stat("f", &st) == 0 && st.st_ino == known);
        CHECK(image_inodes_fstat(fd, &st) == 0 && st.st_ino == known);
        /* No other file has a number that one of before had. */
        CHECK(image_inodes_stat("g", &st) == 0 && st.st_ino != other.st_ino);
    }
}

static void test_a_file_that_is_open_again_has_the_number_that_is_known(void)
{
    run_apart(inodes);
}

static void dead_ends(void)
{
    int pair[2], ends[2], listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char byte;
    CHECK(make_file("gone", "x"));
    int gone = open("gone", O_RDONLY | O_CLOEXEC);
    CHECK(unlink("gone") == 0 && pipe2(ends, O_CLOEXEC) == 0 && close(ends[1]) == 0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    CHECK(bind(listening, &(struct sockaddr){ .sa_family = AF_UNIX }, sizeof(sa_family_t)) == 0 &&
          listen(listening, 1) == 0);
    make_anew(0);
    CHECK(strstr(losses.text, "gone (deleted) (descriptor ") != NULL);
    CHECK(strstr(losses.text, "a pipe (descriptor ") != NULL);
    CHECK(strstr(losses.text, "a socket (descriptor ") != NULL);
    CHECK(read(gone, &byte, 1) == 0 && read(ends[0], &byte, 1) == 0 &&
          read(pair[0], &byte, 1) == 0);
    CHECK(send(pair[0], "x", 1, MSG_NOSIGNAL) < 0);
    /* No event loop is woken for a server that nobody can reach. */
    int loop = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = { .events = EPOLLIN };
    CHECK(epoll_ctl(loop, EPOLL_CTL_ADD, listening, &event) == 0);
    CHECK(epoll_wait(loop, &event, 1, 0) == 0);
}

static void test_things_without_a_name_become_dead_ends(void)
{
    run_apart(dead_ends);
}

static void children(void)
{
    char want[64];
    int ends[2];
    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    pid_t kept = fork();
    if (kept == 0) {
        char byte;
        (void)close(ends[1]);
        _exit((int)read(ends[0], &byte, 1));
    }
    pid_t skipped = fork();
    if (skipped == 0) {
        char byte;
        (void)close(ends[1]);
        _exit((int)read(ends[0], &byte, 1));
    }
    image_children(&skipped, 1, &losses.base);
    (void)snprintf(want, sizeof want, "the process %d (test_image_desc)\n", (int)kept);
    CHECK_STR(losses.text, want);
    (void)close(ends[1]);
    CHECK(waitpid(kept, NULL, 0) == kept && waitpid(skipped, NULL, 0) == skipped);
}

static void test_a_process_that_a_program_started_is_named(void)
{
    run_apart(children);
}

static const struct check_test tests[] = {
    TEST(test_descriptors_come_back_with_their_contents),
    TEST(test_duplicates_have_one_position_again),
    TEST(test_limits_that_a_program_changed_come_back),
    TEST(test_a_file_that_is_open_again_has_the_number_that_is_known),
    TEST(test_things_without_a_name_become_dead_ends),
    TEST(test_a_process_that_a_program_started_is_named),
};
CHECK_MAIN(tests)
