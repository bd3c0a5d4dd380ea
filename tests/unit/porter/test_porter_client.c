#include "porter/client.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "check.h"
#include "wire/wire.h"

enum { JARS = 400 };

static struct network_policy long_policy(void)
{
    struct network_policy p = { .caps = network_caps_default() };
    struct err e;
    char rule[64];
    for (int i = 0; i < 200; i++) {
        (void)snprintf(rule, sizeof rule, "host-with-a-long-name-%d.example.org:443", i);
        CHECK_INT(network_policy_add(&p, NETWORK_TCP, rule, &e), 0);
    }
    return p;
}

/* Reads everything that is there. Returns the number of messages; the descriptor of jar `of` goes to
 * *ret_fd. */
static int take_all(int fd, uint64_t *next, uint64_t of, int *ret_fd)
{
    struct wire_message *m = malloc(sizeof *m);
    struct wire_net x;
    struct err e;
    int n = 0;
    while (wire_receive(fd, m, &e) > 0) {
        CHECK_INT(wire_read_net(m, WIRE_NET_OPEN, &x, &e), 0);
        CHECK(x.id == (*next)++);
        if (x.id == of)
            *ret_fd = fd_take(&m->fds[0]);
        wire_message_done(m);
        n++;
    }
    free(m);
    return n;
}

/* PORTER_LINK-1, PORTER_LINK-2 */
static void test_porter_that_is_slow_loses_no_message_and_no_end(void)
{
    int ends[2], held[JARS], theirs = -1;
    struct err e = { 0 };
    struct plumbing plumbing;
    uint64_t next = 0;
    scoped(network_policy) policy = long_policy();
    CHECK_INT(wire_pair(ends, &e), 0);
    CHECK_INT(fd_set_nonblock(ends[0], &e), 0);
    CHECK_INT(fd_set_nonblock(ends[1], &e), 0);
    struct porter_client c = { .fd = ends[0] };
    for (int i = 0; i < JARS; i++)
        CHECK_INT(porter_client_open(&c, (uint64_t)i, &policy, &plumbing, &held[i], &e), 0);
    CHECK(c.first && porter_client_due_ms(&c) != UINT64_MAX);
    int n = take_all(ends[1], &next, JARS - 1, &theirs);
    CHECK(n > 0 && n < JARS);
    for (int i = 0; n < JARS && i < JARS; i++) {
        CHECK_INT(porter_client_flush(&c, &e), 0);
        n += take_all(ends[1], &next, JARS - 1, &theirs);
    }
    CHECK_INT(n, JARS);
    CHECK(!c.first && porter_client_due_ms(&c) == UINT64_MAX);
    struct pollfd p = { .fd = theirs, .events = POLLIN };
    CHECK_INT(poll(&p, 1, 0), 0);
    for (int i = 0; i < JARS; i++)
        fd_close(&held[i]);
    CHECK_INT(poll(&p, 1, 0), 1);
    CHECK(p.revents & POLLHUP);
    fd_close(&theirs);
    fd_close(&ends[1]);
    CHECK_INT(porter_client_open(&c, JARS, &policy, &plumbing, &held[0], &e), -1);
    porter_client_done(&c);
}

static const struct check_test tests[] = {
    TEST(test_porter_that_is_slow_loses_no_message_and_no_end),
};
CHECK_MAIN(tests)
