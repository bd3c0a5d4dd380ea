/* The two messages of a job with a network. */
#include "jar/embryo_job.h"

#include <sys/socket.h>

#include "base/auto.h"
#include "check.h"

static bool pair(int ret[2])
{
    return CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret) == 0);
}

static void test_embryo_goes_on_when_its_network_is_made(void)
{
    struct err e = { 0 };
    int ends[2];
    if (!pair(ends))
        return;
    CHECK_INT(embryo_job_release(ends[0], &e), 0);
    CHECK(embryo_job_await_release(ends[1]));
    fd_close(&ends[0]);
    fd_close(&ends[1]);
}

/* A warden that could not make the network closes its end, or ends the jar. */
static void test_embryo_without_its_network_runs_nothing(void)
{
    int ends[2];
    if (!pair(ends))
        return;
    fd_close(&ends[0]);
    CHECK(!embryo_job_await_release(ends[1]));
    fd_close(&ends[1]);
}

static void test_release_of_an_embryo_that_died_is_an_error(void)
{
    struct err e = { 0 };
    int ends[2];
    if (!pair(ends))
        return;
    fd_close(&ends[1]);
    CHECK_INT(embryo_job_release(ends[0], &e), -1);
    fd_close(&ends[0]);
}

static const struct check_test tests[] = {
    TEST(test_embryo_goes_on_when_its_network_is_made),
    TEST(test_embryo_without_its_network_runs_nothing),
    TEST(test_release_of_an_embryo_that_died_is_an_error),
};
CHECK_MAIN(tests)
