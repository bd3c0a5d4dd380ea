/* A porter, and keepers that were taken over. */
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "check.h"
#include "porter/client.h"
#include "porter/porter.h"
#include "wire/wire.h"

enum { PATIENCE_MS = 60000 };

static struct porter_process porter = PORTER_PROCESS_INIT;
static struct network_policy policy;

static void begin(void)
{
    struct err e = { 0 };
    struct porter_setup setup = { .match_sni = true, .uid = geteuid() };
    policy = (struct network_policy){ .caps = network_caps_default() };
    CHECK_INT(network_policy_add(&policy, NETWORK_TCP, "web.example.org:80", &e), 0);
    CHECK_INT(porter_start(&setup, &porter, &e), 0);
}

static void end(void)
{
    porter_stop(&porter);
    network_policy_done(&policy);
}

static struct porter_client keeper(void)
{
    struct err e = { 0 };
    struct porter_client c = PORTER_CLIENT_INIT;
    CHECK_INT(wire_new_keeper(porter.fd, 1, &c.fd, &e), 0);
    return c;
}

static bool is_readable(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    return poll(&p, 1, PATIENCE_MS) == 1;
}

/* Opens a network and lets it go: a porter that serves says that it is closed. */
static bool porter_serves(void)
{
    struct porter_client c = keeper();
    struct plumbing plumbing;
    struct porter_event event;
    struct err e = { 0 };
    int fd = -1;
    CHECK_INT(porter_client_open(&c, 7, &policy, &plumbing, &fd, &e), 0);
    fd_close(&fd);
    bool serves = is_readable(c.fd) && porter_client_read(&c, &event, &e) == 1 && event.closed &&
                  event.id == 7;
    porter_client_done(&c);
    return serves;
}

static void test_end_of_the_descriptor_is_the_end_of_the_network(void)
{
    begin();
    CHECK(porter_serves());
    end();
}

/* The warden says it while it clears the jar. The keeper still holds its end. */
static void test_end_of_the_program_is_the_end_of_an_idle_network(void)
{
    const struct plumbing_head head = { .first = PLUMBING_END_HEAD };
    begin();
    struct porter_client c = keeper();
    struct plumbing plumbing;
    struct porter_event event = { 0 };
    struct err e = { 0 };
    int fd = -1;
    CHECK_INT(porter_client_open(&c, 7, &policy, &plumbing, &fd, &e), 0);
    CHECK_INT(send(fd, &head, sizeof head, 0), sizeof head);
    CHECK(is_readable(c.fd) && porter_client_read(&c, &event, &e) == 1);
    CHECK(event.closed && event.id == 7);
    fd_close(&fd);
    porter_client_done(&c);
    end();
}

/* The keeper is dropped: its socket is at its end. */
static void check_dropped(int socket_fd)
{
    struct porter_client c = keeper();
    scoped(buf) bytes = { 0 };
    struct err e = { 0 };
    char byte;
    CHECK_INT(network_policy_encode(&policy, &bytes, &e), 0);
    struct wire_net x = { .id = 1, .bytes = bytes.data, .n = bytes.len };
    CHECK_INT(wire_send_net_open(c.fd, &x, socket_fd, &e), 0);
    CHECK(is_readable(c.fd));
    CHECK(recv(c.fd, &byte, 1, 0) <= 0);
    porter_client_done(&c);
}

static void test_way_for_sockets_that_is_no_pair_of_packets_is_refused(void)
{
    int ends[2];
    struct err e = { 0 };
    begin();
    CHECK_INT(fd_pipe(ends, &e), 0);
    check_dropped(ends[0]);
    fd_close(&ends[0]);
    fd_close(&ends[1]);
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    check_dropped(ends[0]);
    fd_close(&ends[0]);
    fd_close(&ends[1]);
    CHECK(porter_serves());
    end();
}

static void send_as(uint32_t number, int to_fd, int socket_fd, uint32_t listeners)
{
    struct plumbing_head head = { .first = number, .all = PLUMBED_LISTENERS + listeners };
    struct iovec part = { &head, sizeof head };
    CHECK(fd_send(to_fd, &part, 1, &socket_fd, 1, 0) > 0);
}

/* A listener that waits, with one connection in its queue. */
static int waiting_listener(int *ret_client)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *ret_client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    CHECK_INT(listen(fd, 8), 0);
    CHECK_INT(getsockname(fd, (struct sockaddr *)&at, &n), 0);
    CHECK_INT(connect(*ret_client, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

static bool hand_over_listener(bool is_taken)
{
    struct porter_client c = keeper();
    struct plumbing plumbing;
    struct err e = { 0 };
    int fd = -1, client, listener = waiting_listener(&client);
    CHECK_INT(porter_client_open(&c, 1, &policy, &plumbing, &fd, &e), 0);
    send_as(PLUMBED_DNS_TCP, fd, listener, plumbing.n);
    /* It waits for nobody. The first answer may come in one turn of its loop with the datagram, and
     * before it; the second one comes after. */
    bool well = CHECK(porter_serves()) && CHECK(porter_serves());
    struct sockaddr_in at;
    socklen_t n = sizeof at;
    CHECK_INT(fd_set_nonblock(listener, &e), 0);
    int left = accept4(listener, (struct sockaddr *)&at, &n, SOCK_CLOEXEC);
    well = CHECK((left >= 0) == !is_taken) && well;
    fd_close(&left);
    fd_close(&fd);
    fd_close(&listener);
    fd_close(&client);
    porter_client_done(&c);
    return well;
}

static void test_listener_of_the_machine_is_refused(void)
{
    begin();
    hand_over_listener(false);
    end();
}

static bool enter_own_network(void)
{
    struct ifreq up = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
    if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
        return false;
    autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &up) == 0;
}

/* In a namespace of its own, as that of a jar. */
static void test_listener_that_waits_does_not_hold_the_porter(void)
{
    int status;
    begin();
    pid_t pid = fork();
    if (pid == 0) {
        if (!enter_own_network())
            _exit(77);
        _exit(hand_over_listener(true) ? 0 : 1);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 1);
    if (WEXITSTATUS(status) == 77)
        SKIP("this machine gives no network namespace");
    end();
}

static const struct check_test tests[] = {
    TEST(test_end_of_the_descriptor_is_the_end_of_the_network),
    TEST(test_end_of_the_program_is_the_end_of_an_idle_network),
    TEST(test_way_for_sockets_that_is_no_pair_of_packets_is_refused),
    TEST(test_listener_of_the_machine_is_refused),
    TEST(test_listener_that_waits_does_not_hold_the_porter),
};
CHECK_MAIN(tests)
