/* Each test gives something up for good, so each runs in a child. */
#include "jar/confine.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/array.h"
#include "check.h"
#include "child.h"
#include "place.h"

/* The hexadecimal number behind a field such as "CapEff:" of our status. */
static uint64_t status_field(const char *field)
{
    char text[4096];
    if (!CHECK(fd_read_file(AT_FDCWD, "/proc/self/status", text, sizeof text) > 0))
        return UINT64_MAX;
    const char *at = strstr(text, field);
    return CHECK(at != NULL) ? strtoull(at + strlen(field), NULL, 16) : UINT64_MAX;
}

static void die_first(void *unused)
{
    (void)unused;
    struct err e = { 0 };
    char text[16];
    CHECK_INT(confine_die_first(&e), 0);
    CHECK(fd_read_file(AT_FDCWD, "/proc/self/oom_score_adj", text, sizeof text) > 0);
    CHECK_STR(text, "500\n");
}

static void test_guests_go_first_when_the_hosts_memory_runs_out(void)
{
    CHECK_INT(in_child(die_first, NULL), 0);
}

static void no_new_privs(void *unused)
{
    (void)unused;
    struct err e = { 0 };
    CHECK_INT(confine_no_new_privs(&e), 0);
    CHECK_INT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
}

static void test_no_new_privs_is_set(void)
{
    CHECK_INT(in_child(no_new_privs, NULL), 0);
}

static void reset_signals(void *unused)
{
    (void)unused;
    struct err e = { 0 };
    sigset_t all;
    for (int s = 1; s < NSIG; s++)
        (void)signal(s, SIG_IGN);
    CHECK(sigfillset(&all) == 0 && sigprocmask(SIG_SETMASK, &all, NULL) == 0);
    CHECK(status_field("SigIgn:") != 0 && status_field("SigBlk:") != 0);
    CHECK_INT(confine_default_signals(&e), 0);
    CHECK(status_field("SigIgn:") == 0 && status_field("SigBlk:") == 0);
    CHECK(status_field("SigCgt:") == 0);
}

static void test_every_signal_is_at_its_default_and_none_blocked(void)
{
    CHECK_INT(in_child(reset_signals, NULL), 0);
}

static bool rlimit_is(int resource, uint64_t value)
{
    struct rlimit now;
    if (!CHECK(getrlimit((__rlimit_resource_t)resource, &now) == 0))
        return false;
    return CHECK_INT(now.rlim_cur, value) && CHECK_INT(now.rlim_max, value);
}

/* With no allocation after it: the memory limit leaves a sanitizer nothing to allocate from. */
static void set_rlimits(void *layers)
{
    struct err e = { 0 };
    struct isolation iso = { .level = LEVEL_JAR, .layers = *(layer_set *)layers };
    struct limits l = limits_default();
    struct rlimit before, after;
    bool cgroup = iso.layers & LAYER_BIT(LAYER_CGROUP_MEMORY);
    CHECK_INT(getrlimit(RLIMIT_DATA, &before), 0);
    l.v[LIMIT_OPEN_FILES] = 100;
    l.v[LIMIT_CPU_MS] = 2500;
    CHECK_INT(confine_rlimits(RLIMITS_OF_ALL | RLIMITS_OF_JOB | RLIMITS_OF_RUN, &iso, &l, 5, &e),
              0);
    rlimit_is(RLIMIT_CORE, 1); /* the one value at which no handler is started either */
    rlimit_is(RLIMIT_NOFILE, 100);
    rlimit_is(
        RLIMIT_CPU,
        5); /* half as much again, in whole seconds, and one more: the warden is to be the first */
    rlimit_is(RLIMIT_NICE, 0);
    rlimit_is(RLIMIT_RTPRIO, 0);
    rlimit_is(RLIMIT_NPROC, 64 + 5 + (cgroup ? 64 : 0));
    CHECK_INT(getrlimit(RLIMIT_DATA, &after), 0);
    CHECK(after.rlim_max == (cgroup ? before.rlim_max : l.v[LIMIT_MEMORY]));
}

static void test_limits_of_a_process_are_set_soft_and_hard(void)
{
    layer_set with_cgroup = LAYERS_OF_CGROUPS, without = 0;
    CHECK_INT(in_child(set_rlimits, &with_cgroup), 0);
    CHECK_INT(in_child(set_rlimits, &without), 0);
}

static void bound_files(void *unused)
{
    (void)unused;
    struct err e = { 0 };
    struct isolation iso = { .level = LEVEL_PROCESS, .layers = LAYER_BIT(LAYER_CGROUP_MEMORY) };
    struct limits l = limits_default();
    CHECK_INT(confine_rlimits(RLIMITS_OF_ALL | RLIMITS_OF_JOB | RLIMITS_OF_RUN, &iso, &l, 0, &e),
              0);
    rlimit_is(RLIMIT_FSIZE, l.v[LIMIT_DISK]);
}

static void test_size_of_a_file_is_bounded_where_no_file_system_does(void)
{
    CHECK_INT(in_child(bound_files, NULL), 0);
}

static void ask_for_too_many_files(void *unused)
{
    (void)unused;
    struct err e = { 0 };
    struct isolation iso = { .layers = LAYER_BIT(LAYER_CGROUP_MEMORY) };
    struct limits l = limits_default();
    struct rlimit few = { 64, 64 };
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
    l.v[LIMIT_OPEN_FILES] = 65;
    CHECK_INT(confine_rlimits(RLIMITS_OF_ALL | RLIMITS_OF_JOB | RLIMITS_OF_RUN, &iso, &l, 0, &e),
              -1);
    CHECK_INT(e.code, ERR_BAD_REQUEST);
    CHECK(strstr(e.text, "open-files") && strstr(e.text, "65") && strstr(e.text, "64"));
    l.v[LIMIT_OPEN_FILES] = 64;
    CHECK_INT(confine_rlimits(RLIMITS_OF_ALL | RLIMITS_OF_JOB | RLIMITS_OF_RUN, &iso, &l, 0, &e),
              0);
}

static void test_more_open_files_than_the_machine_gives_is_refused_not_cut(void)
{
    CHECK_INT(in_child(ask_for_too_many_files, NULL), 0);
}

static int sized_file(off_t size)
{
    int fd = memfd_create("unit-test", 0); /* on purpose without CLOEXEC */
    CHECK(fd >= 0 && ftruncate(fd, size) == 0);
    return fd;
}

static void check_sizes(const off_t sizes[4])
{
    for (int i = 0; i < 4; i++) {
        struct stat st;
        CHECK(fstat(i, &st) == 0 && st.st_size == sizes[i]);
        CHECK_INT(fcntl(i, F_GETFD), i < 3 ? 0 : FD_CLOEXEC);
    }
    CHECK_INT(open_fds(), 4);
}

/* Descriptors 0 to 3 are files of sizes 10 to 13 and take each other's places as the order says. */
static void shuffle_fds(void *order)
{
    const int *from = order;
    struct err e = { 0 };
    int keep = from[3];
    for (int i = 0; i < 4; i++) {
        int fd = sized_file(10 + i);
        CHECK_INT(dup2(fd, i), i);
        if (fd > 3)
            (void)close(fd);
    }
    (void)dup2(0, 200);
    (void)dup2(0, 1000);
    CHECK_INT(confine_fds(from, -1, &keep, &e), 0);
    CHECK_INT(keep, 3);
    const off_t sizes[4] = { 10 + from[0], 10 + from[1], 10 + from[2], 10 + from[3] };
    check_sizes(sizes);
}

static void test_descriptors_are_exactly_the_four_in_any_order(void)
{
    static int orders[][4] = {
        { 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 1, 2, 3, 0 }, { 2, 0, 1, 3 },
        { 1, 0, 3, 2 }, { 0, 0, 0, 0 }, { 3, 3, 3, 3 },
    };
    for (size_t i = 0; i < ARRAY_LEN(orders); i++)
        if (!CHECK_INT(in_child(shuffle_fds, orders[i]), 0))
            printf("    order %zu\n", i);
}

static void high_fds(void *unused)
{
    (void)unused;
    struct err e = { 0 };
    const off_t sizes[4] = { 10, 11, 12, 13 };
    int at[4], keep;
    for (int i = 0; i < 4; i++)
        CHECK_INT(dup2(sized_file(sizes[i]), 300 + i), at[i] = 300 + i);
    keep = at[3];
    CHECK_INT(confine_fds(at, -1, &keep, &e), 0);
    check_sizes(sizes);
}

static void test_descriptors_from_anywhere_come_to_their_places(void)
{
    CHECK_INT(in_child(high_fds, NULL), 0);
}

static void bad_fd(void *unused)
{
    (void)unused;
    struct err e = { 0 };
    int keep = 1;
    CHECK_INT(confine_fds((const int[3]){ 0, 900, 2 }, -1, &keep, &e), -1);
    CHECK_INT(e.sys, EBADF);
    CHECK(fcntl(keep, F_GETFD) >= 0); /* the error can still be told */
}

static void test_missing_descriptor_is_an_error_that_can_be_told(void)
{
    CHECK_INT(in_child(bad_fd, NULL), 0);
}

static const struct check_test tests[] = {
    TEST(test_guests_go_first_when_the_hosts_memory_runs_out),
    TEST(test_no_new_privs_is_set),
    TEST(test_every_signal_is_at_its_default_and_none_blocked),
    TEST(test_limits_of_a_process_are_set_soft_and_hard),
    TEST(test_size_of_a_file_is_bounded_where_no_file_system_does),
    TEST(test_more_open_files_than_the_machine_gives_is_refused_not_cut),
    TEST(test_descriptors_are_exactly_the_four_in_any_order),
    TEST(test_descriptors_from_anywhere_come_to_their_places),
    TEST(test_missing_descriptor_is_an_error_that_can_be_told),
};
CHECK_MAIN(tests)
