/* Limits as the kernel has them. Needs cgroups that we may write: root, or a delegated session. */
#include "jar/cgroup.h"

#include <linux/magic.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/statfs.h>

#include "base/array.h"
#include "check.h"
#include "child.h"
#include "jar/clone.h"
#include "jar/reclaim.h"
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
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
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

static void test_swap_and_shares_are_in_the_kernels_files(void)
{
    struct cgroup_host h;
    struct cgroup c;
    struct limits l = limits_default(), plain = l;
    struct err e = { 0 };
    if (!host_or_skip(&h))
        return;
    bool v1 = h.version == 1;
    const char *shares = v1 ? "cpu.shares" : "cpu.weight";
    const char *swap = v1 ? "memory.memsw.limit_in_bytes" : "memory.swap.max";
    l.v[LIMIT_MEMORY] = 64 << 20;
    l.v[LIMIT_MEMORY_SWAP] = 32 << 20;
    l.v[LIMIT_CPU_SHARES] = 512;
    if (new_jar(&h, &l, &c)) {
        bool counts = file_text(&c, CGROUP_MEMORY, swap) !=
                      NULL; /* whether the kernel counts swap */
        CHECK_STR(file_text(&c, CGROUP_CPU, shares), v1 ? "512" : "50");
        cgroup_yield(&c, true);
        CHECK_STR(file_text(&c, CGROUP_CPU, shares), v1 ? "64" : "6");
        cgroup_yield(&c, false);
        CHECK_STR(file_text(&c, CGROUP_CPU, shares), v1 ? "512" : "50");
        if (counts)
            CHECK_STR(file_text(&c, CGROUP_MEMORY, swap), v1 ? "100663296" : "33554432");
        /* the next run in the same cgroup has neither */
        CHECK_INT(cgroup_set_limits(&c, &plain, SPARE, &e), 0);
        CHECK_STR(file_text(&c, CGROUP_CPU, shares), v1 ? "1024" : "100");
        if (counts)
            CHECK_STR(file_text(&c, CGROUP_MEMORY, swap), v1 ? "268435456" : "0");
        if (v1)
            CHECK_STR(file_text(&c, CGROUP_MEMORY, "memory.swappiness"), "0");
        remove_soon(&c);
    }
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

/* A child in the cgroup that calls f() and exits with its result. */
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

static int wait_for_a_signal(void)
{
    return pause();
}

/* More of them than are signalled at once. A process of the same parent outside is left alone. */
static void test_each_process_of_a_jar_is_killed_and_no_other_one(void)
{
    enum { CHILDREN = 300 };
    struct cgroup_host h;
    struct cgroup c;
    struct limits l = limits_default();
    pid_t children[CHILDREN], listed[2 * CHILDREN];
    int status = 0;
    if (!host_or_skip(&h))
        return;
    l.v[LIMIT_PIDS] = CHILDREN;
    if (new_jar(&h, &l, &c)) {
        pid_t outside = fork();
        if (outside == 0)
            _exit(wait_for_a_signal());
        for (size_t i = 0; i < CHILDREN; i++)
            children[i] = start_inside(&c, wait_for_a_signal);
        for (int tries = 0; cgroup_list(&c, listed, ARRAY_LEN(listed)) < CHILDREN && tries < 5000;
             tries++)
            (void)usleep(1000);
        CHECK_INT((int)cgroup_list(&c, listed, 7), 7);
        int before = open_fds();
        cgroup_kill(&c);
        CHECK_INT(open_fds(), before);
        for (size_t i = 0; i < CHILDREN; i++) {
            CHECK_INT(waitpid(children[i], &status, 0), children[i]);
            CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        }
        CHECK_INT((int)cgroup_list(&c, listed, ARRAY_LEN(listed)), 0);
        CHECK_INT(waitpid(outside, &status, WNOHANG), 0);
        CHECK_INT(kill(outside, SIGKILL), 0);
        CHECK_INT(waitpid(outside, &status, 0), outside);
        remove_soon(&c);
    }
    check_nothing_is_left(&h);
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

/* ---- files of v2, as the kernel of Debian 12 (6.1) wrote them, on any version of this machine
 * ---- */

/* Of a cgroup with memory.oom.group, after a fork that was refused and a kill for memory. */
static const struct {
    const char *name, *text;
} v2_files[] = {
    { "cpu.stat", "usage_usec 2705512\nuser_usec 1421154\nsystem_usec 1284358\nnr_periods 0\n"
                  "nr_throttled 0\nthrottled_usec 0\nnr_bursts 0\nburst_usec 0\n" },
    { "memory.current", "61440\n" },
    { "memory.peak", "33554432\n" },
    { "memory.events", "low 0\nhigh 0\nmax 18\noom 1\noom_kill 2\noom_group_kill 1\n" },
    { "pids.current", "2\n" },
    { "pids.peak", "3\n" },
    { "pids.events", "max 1\n" },
};

/* A cgroup of v2: a directory with such files, without the files that this kernel lacks. */
static bool v2_place(struct place *p, const char *missing)
{
    bool made = place_init(p);
    for (size_t i = 0; made && i < ARRAY_LEN(v2_files); i++)
        if (!strstr(missing, v2_files[i].name))
            made = place_file(p, v2_files[i].name, v2_files[i].text, 0644);
    return made;
}

static struct cgroup v2_cgroup(const struct cgroup_host *h, const struct place *p)
{
    struct cgroup c = { .shares = limit_defs[LIMIT_CPU_SHARES].def,
                        .host = h,
                        .fd = { p->fd, -1, -1, -1 } };
    for (int i = 0; i < CGROUP_STATS; i++)
        c.stat_fd[i] = -1;
    return c;
}

static void v2_done(struct cgroup *c, struct place *p)
{
    for (int i = 0; i < CGROUP_STATS; i++)
        if (c->stat_fd[i] >= 0)
            (void)close(c->stat_fd[i]);
    place_done(p);
}

static void test_counters_of_v2_are_read_as_the_kernel_writes_them(void)
{
    const struct cgroup_host h = { .version = 2, .slots = 1, .has = CGROUP_HAS_ALL };
    struct cgroup_stats s = { 0 };
    uint64_t memory = 0, pids = 0;
    struct place p;
    if (!v2_place(&p, ""))
        return;
    struct cgroup c = v2_cgroup(&h, &p);
    cgroup_read(&c, &s);
    CHECK_INT(s.cpu_us, 2705512); /* microseconds already, and not user's or system's */
    CHECK_INT(s.memory_peak_bytes, 32 << 20);
    CHECK_INT(s.pids_now, 2);
    CHECK_INT(s.pids_peak, 3);
    CHECK_INT(s.oom_kills, 2); /* not oom, and not oom_group_kill */
    CHECK_INT(s.pids_refused, 1);
    cgroup_read_now(&c, &memory, &pids);
    CHECK(memory == 61440 && pids == 2);
    CHECK(!cgroup_renew(&c, &c.limits, 0)); /* its counters cannot be set back */
    v2_done(&c, &p);
}

static void test_peaks_are_what_was_seen_where_the_kernel_keeps_none(void)
{
    const struct cgroup_host h = { .version = 2, .slots = 1, .has = CGROUP_HAS_ALL };
    struct cgroup_stats s = { .memory_peak_bytes = 1 << 20, .pids_peak = 1, .oom_kills = 7 };
    struct place p;
    if (!v2_place(&p, "memory.peak pids.peak memory.events"))
        return;
    struct cgroup c = v2_cgroup(&h, &p);
    cgroup_read(&c, &s);
    CHECK(s.memory_peak_bytes == 1 << 20 && s.pids_peak == 2);
    CHECK_INT(s.oom_kills, 7); /* a value that cannot be read stays as it was */
    v2_done(&c, &p);
}

static void test_less_memory_than_is_held_is_refused_before_the_kernel_kills_for_it(void)
{
    const struct cgroup_host h = { .version = 2, .slots = 1, .has = CGROUP_HAS_ALL };
    struct limits l = limits_default();
    struct err e = { 0 };
    char text[64];
    struct place p;
    if (!v2_place(&p, "memory.current") || !place_file(&p, "memory.current", "33554433\n", 0644) ||
        !place_file(&p, "memory.max", "max\n", 0644))
        return;
    struct cgroup c = v2_cgroup(&h, &p);
    c.limits = l;
    l.v[LIMIT_MEMORY] = 32 << 20;
    CHECK_INT(cgroup_set_limits(&c, &l, 1, &e), -1);
    CHECK(e.sys == EBUSY && strstr(e.text, "33554433"));
    CHECK(fd_read_file(p.fd, "memory.max", text, sizeof text) > 0 && strcmp(text, "max\n") == 0);
    l.v[LIMIT_MEMORY]++;
    CHECK_INT(cgroup_set_limits(&c, &l, 1, &e), 0);
    CHECK(fd_read_file(p.fd, "memory.max", text, sizeof text) > 0 &&
          strncmp(text, "33554433", 8) == 0);
    v2_done(&c, &p);
}

static void test_pages_of_files_are_freed_and_removed_ones_counted_by_files_of_v2(void)
{
    struct cgroup_host h = { .version = 2, .slots = 1, .has = CGROUP_HAS_ALL };
    struct reclaimer u = RECLAIMER_INIT;
    struct place p;
    char text[64];
    if (!v2_place(&p, "") || !place_file(&p, "memory.reclaim", "", 0644) ||
        !place_file(&p, "cgroup.stat", "nr_descendants 7\nnr_dying_descendants 30\n", 0644))
        return;
    struct cgroup c = v2_cgroup(&h, &p);
    c.limits = limits_default();
    c.limits.v[LIMIT_MEMORY] = 32 << 20;
    cgroup_empty(&c);
    CHECK(fd_read_file(p.fd, "memory.reclaim", text, sizeof text) > 0);
    CHECK_STR(text, "33554432");
    h.fd[0] = p.fd;
    reclaim_open(&u, &h);
    CHECK_INT(u.count_max, 30 + RECLAIM_LEFT_MAX);
    reclaim_done(&u);
    v2_done(&c, &p);
}

static int hold_and_stop(void)
{
    return use(32 << 20, 0) || raise(SIGSTOP);
}

/* The same of a real cgroup, of whichever version. */
static void test_less_memory_than_is_held_is_an_error_and_kills_nobody(void)
{
    struct cgroup_host h;
    struct cgroup c;
    struct limits l = limits_default();
    struct err e = { 0 };
    if (!host_or_skip(&h))
        return;
    if ((h.has & CGROUP_HAS_MEMORY) && new_jar(&h, &l, &c)) {
        int status = 0;
        pid_t pid = start_inside(&c, hold_and_stop);
        CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
        l.v[LIMIT_MEMORY] = 16 << 20;
        CHECK_INT(cgroup_set_limits(&c, &l, SPARE, &e), -1);
        CHECK_INT(e.sys, EBUSY);
        (void)kill(pid, SIGCONT);
        CHECK_INT(child_wait(pid), 0);
        remove_soon(&c);
    }
    check_nothing_is_left(&h);
}

/* ---- pages of files ---- */

enum { PAGE = 4096, COLD_BYTES = 4 << 20, COLD_PAGES = COLD_BYTES / PAGE };
static int cold_fd = -1;

/* How many pages of the cold file are in memory. */
static size_t resident_pages(void)
{
    static unsigned char pages[COLD_PAGES];
    size_t n = 0;
    void *p = mmap(NULL, COLD_BYTES, PROT_READ, MAP_SHARED, cold_fd, 0);
    CHECK(p != MAP_FAILED && mincore(p, COLD_BYTES, pages) == 0);
    (void)munmap(p, COLD_BYTES);
    for (size_t i = 0; i < COLD_PAGES; i++)
        n += pages[i] & 1;
    return n;
}

/* A file on a disk, with no page in memory. */
static bool make_cold_file(const struct place *p)
{
    static char block[COLD_BYTES];
    struct statfs fs;
    if (fstatfs(p->fd, &fs) < 0 || fs.f_type == TMPFS_MAGIC) {
        SKIP("the directory for temporary files is not on a disk");
        return false;
    }
    memset(block, 'x', sizeof block);
    cold_fd = openat(p->fd, "cold", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(cold_fd >= 0 && write(cold_fd, block, sizeof block) == COLD_BYTES && fsync(cold_fd) == 0);
    for (int tries = 0; tries < 100 && resident_pages() > 0; tries++) {
        (void)posix_fadvise(cold_fd, 0, 0, POSIX_FADV_DONTNEED);
        (void)usleep(1000);
    }
    return CHECK_INT(resident_pages(), 0);
}

static int read_cold_file(void)
{
    static char block[COLD_BYTES];
    return pread(cold_fd, block, sizeof block, 0) != COLD_BYTES;
}

/* The first reader of a file is charged for its pages, and these would keep its removed cgroup in
 * the kernel. */
static void test_pages_of_files_are_freed_with_the_jar_when_many_removed_ones_are_left(void)
{
    struct cgroup_host h;
    struct cgroup c;
    struct place p;
    struct limits l = limits_default();
    struct reclaimer u = RECLAIMER_INIT;
    if (!host_or_skip(&h) || !place_init(&p))
        return;
    int inside = entries(h.fd[0], ".");
    if ((h.has & CGROUP_HAS_MEMORY) && make_cold_file(&p) && new_jar(&h, &l, &c)) {
        CHECK_INT(child_wait(start_inside(&c, read_cold_file)), 0);
        reclaim_open(&u, &h);
        CHECK(!reclaim_cgroup(&u, &c)); /* there are few */
        CHECK_INT(resident_pages(), COLD_PAGES);
        u.count_max = 0;
        CHECK(reclaim_cgroup(&u, &c));
        reclaim_done(&u);
        CHECK(u.count_fd == -1 && u.busy == 0);
        CHECK(resident_pages() < COLD_PAGES / 4);
        CHECK_INT(entries(h.fd[0], "."), inside);
    }
    fd_close(&cold_fd);
    place_done(&p);
    check_nothing_is_left(&h);
}

static const struct check_test tests[] = {
    TEST(test_limits_are_in_the_kernels_files),
    TEST(test_swap_and_shares_are_in_the_kernels_files),
    TEST(test_every_accepted_value_is_taken_by_the_kernel),
    TEST(test_limit_the_kernel_does_not_take_is_an_error_and_leaves_nothing),
    TEST(test_dying_jar_is_not_held_back_by_its_quota),
    TEST(test_each_process_of_a_jar_is_killed_and_no_other_one),
    TEST(test_jar_that_nobody_waits_for_has_a_small_share_until_it_is_wanted),
    TEST(test_counters_tell_what_was_used),
    TEST(test_memory_past_the_limit_ends_the_process_and_is_counted),
    TEST(test_processes_past_the_limit_are_refused_and_counted),
    TEST(test_counters_of_v2_are_read_as_the_kernel_writes_them),
    TEST(test_peaks_are_what_was_seen_where_the_kernel_keeps_none),
    TEST(test_less_memory_than_is_held_is_refused_before_the_kernel_kills_for_it),
    TEST(test_pages_of_files_are_freed_and_removed_ones_counted_by_files_of_v2),
    TEST(test_less_memory_than_is_held_is_an_error_and_kills_nobody),
    TEST(test_pages_of_files_are_freed_with_the_jar_when_many_removed_ones_are_left),
};
CHECK_MAIN(tests)
