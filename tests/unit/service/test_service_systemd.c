/* The protocols of systemd, with sockets of the test in its place. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fdio.h"
#include "check.h"
#include "place.h"
#include "service/systemd.h"
#include "wire/wire.h"

static void clear(void)
{
    static const char *const all[] = { "LISTEN_PID",   "LISTEN_FDS",    "LISTEN_FDNAMES",
                                       "WATCHDOG_PID", "WATCHDOG_USEC", "NOTIFY_SOCKET" };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        (void)unsetenv(all[i]);
}

/* Opens the socket that $NOTIFY_SOCKET names. */
static int be_systemd(const struct place *p)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    (void)snprintf(at.sun_path, sizeof at.sun_path, "%s/notify", p->path);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CHECK(bind(fd, (const struct sockaddr *)&at, sizeof at) == 0);
    (void)setenv("NOTIFY_SOCKET", at.sun_path, 1);
    return fd;
}

/* The next message to systemd; "": none. */
static const char *heard(int fd)
{
    static char text[256];
    ssize_t n = recv(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static void test_systemd_hears_of_the_state(void)
{
    struct place p;
    struct systemd s;
    struct err e = { 0 };
    if (!place_init(&p))
        return;
    clear();
    int fd = be_systemd(&p);
    CHECK_INT(systemd_open(&s, &e), 0);
    CHECK(getenv("NOTIFY_SOCKET") == NULL);
    systemd_ready(&s, "jar");
    CHECK(strncmp(heard(fd), "READY=1\nSTATUS=", 15) == 0);
    systemd_reloading(&s);
    CHECK(strncmp(heard(fd), "RELOADING=1\nMONOTONIC_USEC=", 27) == 0);
    systemd_stopping(&s);
    CHECK(strncmp(heard(fd), "STOPPING=1\n", 11) == 0);
    fd_close(&fd);
    systemd_ready(&s, "jar"); /* nobody listens any more */
    CHECK_INT(systemd_open(&s, &e), 0);
    systemd_ready(&s, "jar"); /* nobody ever did */
    CHECK(systemd_due_ms(&s) == UINT64_MAX);
    place_done(&p);
}

static void test_watchdog_hears_from_us_only_while_the_keeper_answers(void)
{
    struct place p;
    struct systemd s;
    struct err e = { 0 };
    int fds[2];
    static struct wire_message m;
    uint32_t question;
    if (!place_init(&p) || !CHECK_INT(wire_pair(fds, &e), 0))
        return;
    clear();
    int fd = be_systemd(&p);
    (void)setenv("WATCHDOG_USEC", "20000", 1);
    CHECK_INT(systemd_open(&s, &e), 0);
    CHECK_INT(s.interval_ms, 10);

    systemd_beat(&s, fds[0], 100); /* a keeper that does not serve yet is not asked */
    CHECK_STR(heard(fd), "WATCHDOG=1");
    CHECK(!s.asked && systemd_due_ms(&s) == 110);
    systemd_beat(&s, fds[0], 109);
    CHECK_STR(heard(fd), "");

    systemd_keeper_serves(&s);
    systemd_beat(&s, fds[0], 110);
    CHECK_STR(heard(fd), "WATCHDOG=1");
    CHECK(s.asked);
    systemd_beat(&s, fds[0], 120); /* no answer: silence, and no second question */
    systemd_beat(&s, fds[0], 130);
    CHECK_STR(heard(fd), "");
    CHECK_INT(wire_receive(fds[1], &m, &e), 1);
    CHECK_INT(wire_read_alive(&m, &question, &e), 0);
    systemd_answered(&s, question + 1);
    CHECK(s.asked);
    systemd_answered(&s, question);
    CHECK_STR(heard(fd), "WATCHDOG=1"); /* late, so at once */
    systemd_beat(&s, fds[0], 140);
    CHECK_STR(heard(fd), "WATCHDOG=1");
    CHECK(s.asked);

    systemd_keeper_gone(&s); /* the supervisor starts another one */
    systemd_beat(&s, -1, 150);
    CHECK_STR(heard(fd), "WATCHDOG=1");
    CHECK(!s.asked);
    fd_close(&fd);
    fd_close(&fds[0]);
    fd_close(&fds[1]);
    place_done(&p);
}

static void test_variables_for_another_process_are_ignored(void)
{
    struct place p;
    struct systemd s;
    struct err e = { 0 };
    if (!place_init(&p))
        return;
    clear();
    int fd = be_systemd(&p);
    (void)setenv("LISTEN_FDS", "2", 1);
    (void)setenv("LISTEN_PID", "1", 1);
    (void)setenv("WATCHDOG_USEC", "20000", 1);
    (void)setenv("WATCHDOG_PID", "1", 1);
    CHECK_INT(systemd_open(&s, &e), 0);
    CHECK_INT(s.n_sockets, 0);
    CHECK_INT(s.interval_ms, 0);
    CHECK(getenv("LISTEN_FDS") == NULL && getenv("WATCHDOG_USEC") == NULL);
    (void)setenv("LISTEN_FDS", "2", 1); /* without a pid it is from nobody */
    CHECK_INT(systemd_open(&s, &e), 0);
    CHECK_INT(s.n_sockets, 0);
    fd_close(&fd);
    place_done(&p);
}

static void test_variables_that_make_no_sense_are_named(void)
{
    static const struct {
        const char *name, *value;
    } bad[] = {
        { "LISTEN_FDS", "many" },    { "LISTEN_FDS", "-1" },      { "LISTEN_FDS", "4000" },
        { "WATCHDOG_USEC", "soon" }, { "WATCHDOG_USEC", "0" },    { "NOTIFY_SOCKET", "vsock:2" },
        { "NOTIFY_SOCKET", "@" },    { "WATCHDOG_USEC", "1999" },
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct systemd s;
        struct err e = { 0 };
        char pid[16];
        clear();
        (void)snprintf(pid, sizeof pid, "%d", (int)getpid());
        (void)setenv("LISTEN_PID", pid, 1);
        (void)setenv(bad[i].name, bad[i].value, 1);
        if (!CHECK_INT(systemd_open(&s, &e), -1))
            printf("    %s=%s\n", bad[i].name, bad[i].value);
        CHECK(strstr(e.text, bad[i].name) && strstr(e.text, bad[i].value));
    }
    clear();
}

static void test_inherited_socket_stays_in_its_directory(void)
{
    struct place p;
    struct listen_address a;
    struct listener l, mine;
    struct err e = { 0 };
    char text[300], shown[LISTEN_TEXT];
    if (!place_init(&p))
        return;
    (void)snprintf(text, sizeof text, "unix:%s/s", p.path);
    CHECK_INT(listen_parse(text, &a, &e), 0);
    CHECK_INT(listener_open(&l, &a, &e), 0);
    int copy = dup(l.fd); /* without CLOEXEC, as systemd leaves it */
    CHECK_INT(listener_inherit(&mine, copy, &e), 0);
    CHECK_STR(listen_format(&mine.address, shown), text);
    CHECK(fcntl(copy, F_GETFD) == FD_CLOEXEC && (fcntl(copy, F_GETFL) & O_NONBLOCK));
    listener_done(&mine);
    CHECK(place_has(&p, "s"));
    listener_done(&l);
    CHECK(!place_has(&p, "s"));

    int other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); /* does not listen */
    CHECK_INT(listener_inherit(&mine, other, &e), -1);
    CHECK(strstr(e.text, "ListenStream=") != NULL);
    fd_close(&other);
    CHECK_INT(listener_inherit(&mine, p.fd, &e), -1); /* a directory */
    place_done(&p);
}

static const struct check_test tests[] = {
    TEST(test_systemd_hears_of_the_state),
    TEST(test_watchdog_hears_from_us_only_while_the_keeper_answers),
    TEST(test_variables_for_another_process_are_ignored),
    TEST(test_variables_that_make_no_sense_are_named),
    TEST(test_inherited_socket_stays_in_its_directory),
};
CHECK_MAIN(tests)
