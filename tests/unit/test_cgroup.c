/* Limits as the kernel has them. Needs cgroups that we may write: root, or a delegated session. */
#include "jar/cgroup.h"

#include <signal.h>
#include <sys/mman.h>

#include "check.h"
#include "child.h"
#include "jar/clone.h"
#include "place.h"

enum { SPARE = 1 };

/* Opens a host, or says why the test cannot be held here. */
static bool host_or_skip(struct cgroup_host *h)
{
    static char why[300];
    struct err e = { 0 };
    if (cgroup_host_open(h, &e) == 0)
        return true;
    CHECK_INT(h->version, 0);
    (void)snprintf(why, sizeof why, "no cgroups that may be written: %s", e.text);
    SKIP(why);
    return false;
}

static bool new_jar(const struct cgroup_host *h, const struct limits *l, struct cgroup *ret)
{
    struct err e = { 0 };
    bool made = CHECK_INT(cgroup_new(h, 3, l, SPARE, ret, &e), 0);
    if (!made)
        printf("    %s\n", e.text);
    return made;
}

/* Removal waits for the kernel to have let go of the dead. */
static void remove_soon(struct cgroup *c)
{
    int rc = -1;
    for (int tries = 0; rc < 0 && tries < 1000; tries++) {
        rc = cgroup_remove(c);
        if (rc < 0)
            (void)usleep(1000);
    }
    CHECK_INT(rc, 0);
}

static void check_nothing_is_left(struct cgroup_host *h)
{
    int base[CGROUP_SLOTS], slots = h->slots;
    char name[sizeof h->name];
    struct stat st;
    (void)snprintf(name, sizeof name, "%s", h->name);
    for (int i = 0; i < slots; i++)
        base[i] = dup(h->base_fd[i]);
    cgroup_host_done(h);
    CHECK(h->version == 0 && h->fd[0] == -1);
    for (int i = 0; i < slots; i++) {
        CHECK(fstatat(base[i], name, &st, 0) < 0 && errno == ENOENT);
        (void)close(base[i]);
    }
    cgroup_host_done(h); /* a closed one is accepted */
}

static const char *file_text(const struct cgroup *c, enum cgroup_slot slot, const char *file)
{
    static char text[256];
    if (fd_read_file(c->fd[c->host->version == 1 ? slot : 0], file, text, sizeof text) < 0)
        return NULL;
    text[strcspn(text, "\n")] = '\0';
    return text;
}

static void check_files(const struct cgroup *c)
{
    static const struct {
        int version;
        enum cgroup_slot slot;
        const char *file, *text;
    } rows[] = {
        { 1, CGROUP_MEMORY, "memory.limit_in_bytes", "67108864" },
        { 1, CGROUP_PIDS, "pids.max", "11" }, /* ten, and one that is ours */
        { 1, CGROUP_CPU, "cpu.cfs_period_us", "20000" },
        { 1, CGROUP_CPU, "cpu.cfs_quota_us", "10000" },
        { 2, 0, "memory.max", "67108864" },
        { 2, 0, "memory.oom.group", "1" },
        { 2, 0, "pids.max", "11" },
        { 2, 0, "cpu.max", "10000 20000" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].version == c->host->version)
            CHECK_STR(file_text(c, rows[i].slot, rows[i].file), rows[i].text);
    if (c->host->version == 2 && file_text(c, 0, "memory.swap.max"))
        CHECK_STR(file_text(c, 0, "memory.swap.max"), "0");
}

static void test_limits_are_in_the_kernels_files(void)
{
    struct cgroup_host h;
    struct cgroup c;
    struct limits l = limits_default();
    if (!host_or_skip(&h))
        return;
    int before = open_fds();
    l.v[LIMIT_MEMORY] = 64 << 20;
    l.v[LIMIT_PIDS] = 10;
    l.v[LIMIT_CPU_PERCENT] = 50;
    if (new_jar(&h, &l, &c)) {
        check_files(&c);
        remove_soon(&c);
    }
    CHECK_INT(open_fds(), before);
    check_nothing_is_left(&h);
}

static void test_every_accepted_value_is_taken_by_the_kernel(void)
{
    struct cgroup_host h;
    if (!host_or_skip(&h))
        return;
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const uint64_t values[] = { limit_defs[i].min, limit_defs[i].max };
        for (int k = 0; k < 2; k++) {
            struct limits l = limits_default();
            struct cgroup c;
            l.v[i] = values[k];
            if (new_jar(&h, &l, &c))
                remove_soon(&c);
            else
                printf("    %s %" PRIu64 "\n", limit_defs[i].key, values[k]);
        }
    }
    check_nothing_is_left(&h);
}

static void test_limit_the_kernel_does_not_take_is_an_error_and_leaves_nothing(void)
{
    struct cgroup_host h;
    struct cgroup c;
    struct err e = { 0 };
    struct limits l = limits_default();
    if (!host_or_skip(&h))
        return;
    l.v[LIMIT_PIDS] = UINT64_MAX / 2;
    int before = open_fds(), inside = entries(h.fd[0], ".");
    CHECK_INT(cgroup_new(&h, 3, &l, SPARE, &c, &e), -1);
    CHECK(strstr(e.text, "pids.max") != NULL);
    CHECK_INT(open_fds(), before);
    CHECK_INT(entries(h.fd[0], "."), inside);
    check_nothing_is_left(&h);
}

static void test_dying_jar_is_not_held_back_by_its_quota(void)
{
    struct cgroup_host h;
    struct cgroup c;
    struct limits l = limits_default();
    if (!host_or_skip(&h))
        return;
    l.v[LIMIT_CPU_PERCENT] = 1;
    if (new_jar(&h, &l, &c)) {
        bool v1 = h.version == 1;
        cgroup_kill(&c);
        CHECK_STR(file_text(&c, CGROUP_CPU, v1 ? "cpu.cfs_quota_us" : "cpu.max"),
                  v1 ? "-1" : "max 100000");
        remove_soon(&c);
    }
    check_nothing_is_left(&h);
}

/* A child in the cgroup that does f() and exits with what it returns. */
static pid_t start_inside(const struct cgroup *c, int (*f)(void))
{
    struct err e = { 0 };
    int pidfd = -1;
    pid_t pid = clone_process(0, cgroup_clone_fd(c), &pidfd, &e);
    if (pid == 0)
        _exit((cgroup_join(c, false, &e) || cgroup_join_cpu(c, &e)) ? 99 : f());
    CHECK(pid > 0);
    fd_close(&pidfd);
    return pid;
}

/* Memory that was really touched, and some work. */
static int use(size_t bytes, uint64_t rounds)
{
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return 1;
    for (size_t i = 0; i < bytes; i += 4096)
        p[i] = 1;
    for (volatile uint64_t i = 0; i < rounds; i++)
        ;
    return 0;
}

static int use_moderately(void)
{
    return use(20 << 20, 50000000);
}

static void test_jar_that_nobody_waits_for_has_a_small_share_until_it_is_wanted(void)
{
    struct cgroup_host h;
    struct cgroup c;
    if (!host_or_skip(&h))
        return;
    const struct limits l = limits_default();
    const char *file = h.version == 1 ? "cpu.shares" : "cpu.weight";
    if ((h.has & CGROUP_HAS_CPU) && new_jar(&h, &l, &c)) {
        cgroup_yield(&c, true);
        CHECK_STR(file_text(&c, CGROUP_CPU, file), h.version == 1 ? "128" : "12");
        cgroup_yield(&c, false);
        CHECK_STR(file_text(&c, CGROUP_CPU, file), h.version == 1 ? "1024" : "100");
        remove_soon(&c);
    }
    check_nothing_is_left(&h);
}

static void test_counters_tell_what_was_used(void)
{
    struct cgroup_host h;
    struct cgroup c;
    struct cgroup_stats s = { 0 };
    struct limits l = limits_default();
    if (!host_or_skip(&h))
        return;
    if (new_jar(&h, &l, &c)) {
        CHECK_INT(child_wait(start_inside(&c, use_moderately)), 0);
        cgroup_read(&c, &s);
        CHECK(s.cpu_us > 1000 && s.cpu_us < 60000000);
        CHECK(s.memory_peak_bytes >= 20 << 20 && s.memory_peak_bytes <= 256 << 20);
        CHECK(s.oom_kills == 0 && s.pids_refused == 0);
        uint64_t peak = s.memory_peak_bytes;
        cgroup_read(&c, &s);
        CHECK(s.memory_peak_bytes >= peak); /* a peak never falls */
        remove_soon(&c);
    }
    check_nothing_is_left(&h);
}

static int use_too_much(void)
{
    return use(64 << 20, 0);
}

static void test_memory_past_the_limit_ends_the_process_and_is_counted(void)
{
    struct cgroup_host h;
    struct cgroup c;
    struct cgroup_stats s = { 0 };
    struct limits l = limits_default();
    if (!host_or_skip(&h))
        return;
    l.v[LIMIT_MEMORY] = limit_defs[LIMIT_MEMORY].min;
    if (new_jar(&h, &l, &c)) {
        CHECK_INT(child_wait(start_inside(&c, use_too_much)), 128 + SIGKILL);
        cgroup_read(&c, &s);
        CHECK(s.oom_kills > 0);
        remove_soon(&c);
    }
    check_nothing_is_left(&h);
}

/* How many children could be had at one time. */
static int fork_many(void)
{
    int n = 0, hold[2];
    if (pipe2(hold, O_CLOEXEC) < 0)
        return 99;
    for (pid_t pid; n < 50 && (pid = fork()) >= 0; n++)
        if (pid == 0) { /* until the parent is gone */
            char byte;
            (void)close(hold[1]);
            _exit((int)read(hold[0], &byte, 1));
        }
    (void)close(hold[1]);
    while (wait(NULL) > 0)
        ;
    return n;
}

static void test_processes_past_the_limit_are_refused_and_counted(void)
{
    struct cgroup_host h;
    struct cgroup c;
    struct cgroup_stats s = { 0 };
    struct limits l = limits_default();
    if (!host_or_skip(&h))
        return;
    l.v[LIMIT_PIDS] = 5;
    if (new_jar(&h, &l, &c)) {
        CHECK_INT(child_wait(start_inside(&c, fork_many)), 5 + SPARE - 1); /* one is the parent */
        cgroup_read(&c, &s);
        CHECK(s.pids_refused > 0);
        remove_soon(&c);
    }
    check_nothing_is_left(&h);
}

static const struct check_test tests[] = {
    TEST(test_limits_are_in_the_kernels_files),
    TEST(test_every_accepted_value_is_taken_by_the_kernel),
    TEST(test_limit_the_kernel_does_not_take_is_an_error_and_leaves_nothing),
    TEST(test_dying_jar_is_not_held_back_by_its_quota),
    TEST(test_jar_that_nobody_waits_for_has_a_small_share_until_it_is_wanted),
    TEST(test_counters_tell_what_was_used),
    TEST(test_memory_past_the_limit_ends_the_process_and_is_counted),
    TEST(test_processes_past_the_limit_are_refused_and_counted),
};
CHECK_MAIN(tests)
