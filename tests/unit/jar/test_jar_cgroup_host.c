/* The owner of each directory among the cgroups, and the removal of leftovers. */
#include <signal.h>

#include "check.h"
#include "child.h"
#include "jar/cgroup.h"

#include "place.h"
#include <errno.h>

static bool host_or_skip(struct cgroup_host *h)
{
    static char why[300];
    struct err e = { 0 };
    if (cgroup_host_open(h, &e) == 0)
        return true;
    (void)snprintf(why, sizeof why, "no cgroups that may be written: %s", e.text);
    SKIP(why);
    return false;
}

static bool exists(const struct cgroup_host *h, int slot, const char *name)
{
    struct stat st;
    return fstatat(h->base_fd[slot], name, &st, 0) == 0;
}

static void test_directory_names_its_owner_and_goes_with_it(void)
{
    struct cgroup_host h;
    char expected[32];
    int before = open_fds();
    if (!host_or_skip(&h))
        return;
    (void)snprintf(expected, sizeof expected, "belljar-%d-", (int)getpid());
    CHECK_INT(strncmp(h.name, expected, strlen(expected)), 0);
    CHECK(h.version == 1 ? h.slots == CGROUP_SLOTS : h.version == 2 && h.slots == 1);
    for (int i = 0; i < h.slots; i++)
        CHECK(exists(&h, i, h.name));
    cgroup_host_done(&h);
    CHECK_INT(open_fds(), before);
}

/* Another process with a host and a jar of its own; its name comes through the pipe. */
static pid_t start_neighbour(int ret_fd[2], char *name, size_t size)
{
    struct err e = { 0 };
    if (!CHECK(fd_pipe(ret_fd, &e) == 0))
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        struct cgroup_host h;
        struct cgroup c;
        struct limits l = limits_default();
        if (cgroup_host_open(&h, &e) || cgroup_new(&h, 0, &l, 0, &c, &e))
            _exit(1);
        (void)!write(ret_fd[1], h.name, strlen(h.name) + 1);
        (void)pause();
        _exit(0);
    }
    (void)close(ret_fd[1]);
    CHECK(read(ret_fd[0], name, size) > 0);
    return pid;
}

static void test_what_a_killed_process_left_is_cleared_and_the_livings_is_not(void)
{
    struct cgroup_host h;
    char name[64] = "none";
    int fds[2];
    if (!host_or_skip(&h)) /* found out first: whether it can be done here */
        return;
    cgroup_host_done(&h);
    pid_t pid = start_neighbour(fds, name, sizeof name);
    CHECK(host_or_skip(&h));
    for (int i = 0; i < h.slots; i++)
        CHECK(exists(&h, i, name)); /* it lives */
    cgroup_host_done(&h);
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(child_wait(pid), 128 + SIGKILL);
    CHECK(host_or_skip(&h));
    for (int i = 0; i < h.slots; i++)
        CHECK(!exists(&h, i, name));
    cgroup_host_done(&h);
    (void)close(fds[0]);
}

static void test_jars_left_inside_go_with_their_host(void)
{
    struct cgroup_host h;
    struct cgroup c[3];
    struct err e = { 0 };
    struct limits l = limits_default();
    if (!host_or_skip(&h))
        return;
    int base = dup(h.base_fd[0]), before = open_fds();
    char name[sizeof h.name];
    struct stat st;
    (void)snprintf(name, sizeof name, "%s", h.name);
    for (uint64_t i = 0; i < 3; i++)
        CHECK_INT(cgroup_new(&h, i, &l, 0, &c[i], &e), 0);
    struct cgroup_host copy = h;
    cgroup_host_done(&h);
    CHECK(fstatat(base, name, &st, 0) < 0 && errno == ENOENT);
    for (int i = 0; i < 3; i++) {
        c[i].host = &copy;
        copy.slots = 0; /* only its descriptors are left to close */
        (void)cgroup_remove(&c[i]);
    }
    CHECK(open_fds() < before);
    (void)close(base);
}

static void test_jar_with_a_living_process_is_not_removed_and_then_is(void)
{
    struct cgroup_host h;
    struct cgroup c;
    struct err e = { 0 };
    struct limits l = limits_default();
    int ready[2];
    char byte;
    if (!host_or_skip(&h))
        return;
    if (h.version != 1) {
        cgroup_host_done(&h);
        return SKIP("on cgroup v2 processes are born inside, see test_cgroup");
    }
    if (!CHECK(cgroup_new(&h, 0, &l, 0, &c, &e) == 0 && fd_pipe(ready, &e) == 0))
        return;
    pid_t pid = fork();
    if (pid == 0) {
        byte = cgroup_join(&c, false, &e) == 0;
        (void)!write(ready[1], &byte, 1);
        (void)pause();
        _exit(0);
    }
    CHECK(read(ready[0], &byte, 1) == 1 && byte);
    CHECK_INT(cgroup_remove(&c), -1);
    CHECK_INT(kill(pid, SIGKILL), 0);
    (void)child_wait(pid);
    int rc = -1;
    for (int tries = 0; rc < 0 && tries < 1000; tries++, (void)usleep(1000))
        rc = cgroup_remove(&c);
    CHECK_INT(rc, 0);
    (void)close(ready[0]);
    (void)close(ready[1]);
    cgroup_host_done(&h);
}

static void open_without_rights(void *unused)
{
    (void)unused;
    struct cgroup_host h;
    struct err e = { 0 };
    CHECK(become_ordinary());
    int before = open_fds();
    if (cgroup_host_open(&h, &e) == 0) { /* delegated: also fine */
        cgroup_host_done(&h);
    } else {
        CHECK_INT(e.code, ERR_UNAVAILABLE);
        CHECK(e.text[0] != '\0' && h.version == 0);
    }
    CHECK_INT(open_fds(), before);
}

static void test_without_rights_it_says_what_is_missing_and_leaves_nothing(void)
{
    CHECK_INT(in_child(open_without_rights, NULL), 0);
}

static void test_process_may_have_two_places(void)
{
    struct cgroup_host a, b;
    struct err e = { 0 };
    if (cgroup_host_open(&a, &e))
        return SKIP("cgroups are not ours to make here");
    CHECK_INT(cgroup_host_open(&b, &e), 0);
    CHECK(strcmp(a.name, b.name) != 0);
    cgroup_host_done(&b);
    CHECK(fcntl(a.fd[0], F_GETFD) >= 0 && unlinkat(a.base_fd[0], a.name, 0) < 0 && errno != ENOENT);
    cgroup_host_done(&a);
}

static const struct check_test tests[] = {
    TEST(test_process_may_have_two_places),
    TEST(test_directory_names_its_owner_and_goes_with_it),
    TEST(test_what_a_killed_process_left_is_cleared_and_the_livings_is_not),
    TEST(test_jars_left_inside_go_with_their_host),
    TEST(test_jar_with_a_living_process_is_not_removed_and_then_is),
    TEST(test_without_rights_it_says_what_is_missing_and_leaves_nothing),
};
CHECK_MAIN(tests)
