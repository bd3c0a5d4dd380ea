/* Zygotes of a warden: programs that wait for their job, and the death of one of these
 * processes. */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/ptrace.h>

#include "base/array.h"
#include "base/clock.h"
#include "check.h"
#include "keeper.h"
#include "spec/bundle.h"
#include "wire/wire.h"

/* DRIVER_DIR comes from the build. */
static const struct zygote_def shell = {
    .name = "shell",
    .files = (const char *const[]){ DRIVER_DIR "/belljar-plain.so", NULL },
    .argv = (const char *const[]){ "/bin/bash", NULL },
    .env = (const char *const[]){ NULL },
};
static const struct zygote_def lost = {
    .name = "lost",
    .files = (const char *const[]){ DRIVER_DIR "/no-such-driver.so", NULL },
    .argv = (const char *const[]){ "/bin/bash", NULL },
    .env = (const char *const[]){ NULL },
};
static const struct zygote_def broken = {
    .name = "broken",
    .files = (const char *const[]){ DRIVER_DIR "/belljar-plain.so", NULL },
    .argv = (const char *const[]){ "/bin/no-such-interpreter", NULL },
    .env = (const char *const[]){ NULL },
};
static const struct zygote_def quiet = {
    .name = "quiet",
    .files = (const char *const[]){ DRIVER_DIR "/belljar-plain.so", NULL },
    .argv = (const char *const[]){ "/bin/bash", NULL },
    .env = (const char *const[]){ NULL },
    .no_sockets = true,
};
enum { SHELL = 1, LOST, BROKEN, QUIET };
static const struct zygote_def *const kinds[] = { &shell, &lost, &broken, &quiet, NULL };

static struct pool_targets aim(bool on, uint32_t ready, uint64_t forks)
{
    struct pool_targets t = { .limits = limits_default(),
                              .zygote_forks = forks,
                              .zygote_age_ms = 600000 };
    for (int i = 0; i < 3; i++) {
        t.kinds[i].on = on;
        t.kinds[i].ready = i == 0 ? ready : 0;
    }
    return t;
}

/* Tells the targets and hears of the pools; ends of runs must not be on their way. */
static struct wire_pools ask(const struct warden *w, struct pool_targets t)
{
    static struct wire_message m;
    struct wire_pools p = { 0 };
    struct err e = { 0 };
    CHECK_INT(wire_send_targets(w->fd, &t, &e), 0);
    if (CHECK_INT(wire_receive(w->fd, &m, &e), 1) && CHECK_INT(m.type, WIRE_POOLS))
        CHECK_INT(wire_read_pools(&m, &p, &e), 0);
    return p;
}

/* Until so many are ready of the shell, and no more; false when that takes too long. */
static bool settle(const struct warden *w, struct pool_targets t, enum zygote_state zygote)
{
    for (int tries = 0; tries < 1000; tries++) {
        struct pool_state s = ask(w, t).state[0];
        if (s.zygote == zygote && s.ready == t.kinds[0].ready && s.building == 0)
            return true;
        (void)usleep(10000);
    }
    return false;
}

struct told {
    enum start start;
    struct wire_ended end;
    char out[512];
};

/* One script, from asking to its end. */
static struct told hear_out(const struct warden *w, uint64_t id, struct keeper_run *r)
{
    static struct wire_message m;
    struct told t = { .start = START_COUNT_ };
    struct err e = { 0 };
    for (bool over = false; !over;) {
        struct wire_started started;
        struct pollfd p = { .fd = w->fd, .events = POLLIN };
        if (!CHECK(poll(&p, 1, 30000) == 1) || !CHECK_INT(wire_receive(w->fd, &m, &e), 1))
            break;
        if (m.type == WIRE_STARTED && CHECK_INT(wire_read_started(&m, &started, &e), 0))
            t.start = started.start;
        else if (m.type == WIRE_ENDED && CHECK_INT(wire_read_ended(&m, &t.end, &e), 0))
            over = true;
    }
    CHECK(t.end.id == id);
    CHECK_STR(t.end.err.text, "");
    (void)keeper_read(r->out, t.out, sizeof t.out);
    return t;
}

static struct keeper_run start(const struct warden *w, uint64_t id, unsigned kind,
                               const char *script, const struct limits *limits)
{
    scoped(buf) files = { 0 };
    struct err e = { 0 };
    char *argv[] = { (char *)"/bin/bash", (char *)"main.sh", (char *)"one", (char *)"two", NULL };
    CHECK_INT(bundle_add(&files, "main.sh", 0644, script, strlen(script), &e), 0);
    return keeper_spawn(
        w, &(struct keeper_ask){
               .id = id, .argv = argv, .kind = kind, .bundle = &files, .limits = limits });
}

static struct told run(const struct warden *w, uint64_t id, unsigned kind, const char *script)
{
    scoped(keeper_run) r = start(w, id, kind, script, NULL);
    return hear_out(w, id, &r);
}

/* A process of the warden's by its name, seen from here; 0 when there is none. */
static pid_t find(const struct warden *w, const char *name)
{
    char path[64], text[8192], comm[64];
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)w->pid, (int)w->pid);
    if (fd_read_file(AT_FDCWD, path, text, sizeof text) <= 0)
        return 0;
    for (char *at = text, *end; *at; at = end + 1) {
        pid_t pid = (pid_t)strtol(at, &end, 10);
        if (end == at)
            break;
        (void)snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
        if (fd_read_file(AT_FDCWD, path, comm, sizeof comm) > 0 &&
            strncmp(comm, name, strlen(name)) == 0)
            return pid;
    }
    return 0;
}

static bool sealed(const struct warden *w)
{
    return w->isolation.level != LEVEL_PROCESS;
}

/* ---- */

static void warm_runs(struct warden *w)
{
    struct pool_targets t = aim(true, 2, 1000);
    if (!sealed(w)) {
        struct told cold = run(w, 1, SHELL, "echo $1");
        CHECK_INT(cold.start, START_COLD);
        CHECK_STR(cold.out, "one\n");
        return;
    }
    CHECK(settle(w, t, ZYGOTE_UP));
    for (uint64_t id = 1; id < 6; id++) {
        struct told x = run(w, id, SHELL, "echo \"$0 $* $PWD\"; ls; exit 7");
        CHECK_INT(x.start, START_WARM);
        CHECK_INT(x.end.evidence.exit_code, 7);
        CHECK_STR(x.out, "main.sh one two /sandbox\nmain.sh\n");
        CHECK(settle(w, t, ZYGOTE_UP));
    }
    struct wire_pools p = ask(w, t);
    CHECK(p.kinds == 4 && p.state[0].starts[START_WARM] == 5);
    CHECK_INT((int)p.state[0].forks, 7 + (int)p.state[0].discarded);
}

static void test_job_goes_to_an_embryo_that_waits_and_another_takes_its_place(void)
{
    keeper_at_every_level(warm_runs);
}

static void hatched_runs(struct warden *w)
{
    if (!sealed(w))
        return;
    CHECK(settle(w, aim(true, 0, 1000), ZYGOTE_UP));
    for (uint64_t id = 1; id < 4; id++) {
        struct told x = run(w, id, SHELL, "echo $2; cat main.sh | wc -l");
        CHECK_INT(x.start, START_HATCHED);
        CHECK_STR(x.out, "two\n0\n");
    }
}

static void test_without_one_that_waits_one_is_hatched(void)
{
    keeper_at_every_level(hatched_runs);
}

static void same_seal(struct warden *w)
{
    static const char script[] =
        "grep -E 'Cap|Seccomp:|NoNewPrivs|Uid|Gid|Groups|NSpid' /proc/self/status; umask; ulimit "
        "-a; "
        "ls /proc/self/fd /; env | sort; cat /proc/self/oom_score_adj; nice; hostname; trap -p";
    if (!sealed(w))
        return;
    struct told cold = run(w, 1, 0, script);
    CHECK(settle(w, aim(true, 1, 1000), ZYGOTE_UP));
    struct told warm = run(w, 2, SHELL, script);
    CHECK(cold.start == START_COLD && warm.start == START_WARM);
    CHECK(strlen(cold.out) > 300);
    CHECK_STR(warm.out, cold.out);
}

static void test_embryo_is_sealed_as_any_program_is(void)
{
    keeper_at_every_level(same_seal);
}

static void own_limits(struct warden *w)
{
    struct limits l = limits_default();
    l.v[LIMIT_DISK] = 1 << 20;
    l.v[LIMIT_FILES] = 20;
    l.v[LIMIT_OPEN_FILES] = 33;
    l.v[LIMIT_MEMORY] = 512 << 20;
    l.v[LIMIT_WALL_MS] = 300;
    if (!sealed(w))
        return;
    CHECK(settle(w, aim(true, 1, 1000), ZYGOTE_UP));
    scoped(keeper_run)
        r = start(w, 5, SHELL,
                  "ulimit -n; head -c 2000000 /dev/zero > big 2>/dev/null || echo full; "
                  "rm -f big; for i in $(seq 40); do : > f$i || break; done 2>/dev/null; "
                  "ls f* | wc -l; sleep 5",
                  &l);
    struct told x = hear_out(w, 5, &r);
    CHECK_INT(x.start, START_WARM);
    CHECK_INT(x.end.evidence.reason, END_WALL);
    CHECK(strncmp(x.out, "33\nfull\n", 8) == 0);
    long files = strtol(x.out + 8, NULL, 10);
    CHECK(files >= 10 && files <= 20);
}

static void test_limits_are_the_jobs_not_the_embryos(void)
{
    keeper_at_every_level(own_limits);
}

static void zygote_dies(struct warden *w)
{
    struct pool_targets t = aim(true, 1, 1000);
    if (!sealed(w))
        return;
    for (int round = 0; round < 3; round++) {
        CHECK(settle(w, t, ZYGOTE_UP));
        pid_t zygote = find(w, "jar-zygote");
        CHECK(zygote > 0 && kill(zygote, SIGKILL) == 0);
        struct told x = run(w, 10 + (uint64_t)round, SHELL, "echo here");
        CHECK_STR(x.out, "here\n");
    }
    CHECK(settle(w, t, ZYGOTE_UP));
    struct pool_state s = ask(w, t).state[0];
    CHECK_INT((int)s.deaths, 3);
    CHECK_INT((int)s.zygotes, 4);
}

static void test_zygote_that_dies_is_replaced(void)
{
    keeper_at_every_level(zygote_dies);
}

static void dies_while_asked(struct warden *w)
{
    if (!sealed(w))
        return;
    CHECK(settle(w, aim(true, 0, 1000), ZYGOTE_UP));
    pid_t zygote = find(w, "jar-zygote");
    CHECK(zygote > 0 && kill(zygote, SIGSTOP) == 0);
    scoped(keeper_run) r = start(w, 3, SHELL, "echo here", NULL);
    (void)usleep(50000); /* it has been asked, and does not answer */
    CHECK_INT(kill(zygote, SIGKILL), 0);
    struct told x = hear_out(w, 3, &r);
    CHECK_INT(x.start, START_COLD);
    CHECK_STR(x.out, "here\n");
}

static void test_run_that_waits_for_a_zygote_that_dies_starts_cold(void)
{
    keeper_at_every_level(dies_while_asked);
}

static void hangs_while_asked(struct warden *w)
{
    if (!sealed(w))
        return;
    CHECK(settle(w, aim(true, 0, 1000), ZYGOTE_UP));
    pid_t zygote = find(w, "jar-zygote");
    CHECK(zygote > 0 && kill(zygote, SIGSTOP) == 0);
    struct told x = run(w, 3, SHELL, "echo here");
    CHECK_INT(x.start, START_COLD);
    CHECK_STR(x.out, "here\n");
    CHECK(settle(w, aim(true, 0, 1000), ZYGOTE_UP));
    CHECK_INT(run(w, 4, SHELL, "echo again").start, START_HATCHED);
}

static void test_zygote_that_does_not_answer_is_replaced_and_its_run_starts_cold(void)
{
    keeper_at_every_level(hangs_while_asked);
}

static bool is_zombie(pid_t pid)
{
    char path[64], text[512];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    ssize_t n = fd_read_file(AT_FDCWD, path, text, sizeof text);
    const char *state = n > 0 ? strstr(text, ") ") : NULL;
    return state && state[2] == 'Z';
}

/* A tracer keeps the dead zygote from its parent. So the warden cannot know that it is dead, and must
 * not have started the program either. */
static void is_killed_first(struct warden *w)
{
    int status;
    if (!sealed(w))
        return;
    CHECK(settle(w, aim(true, 0, 1000), ZYGOTE_UP));
    pid_t zygote = find(w, "jar-zygote");
    if (!CHECK(zygote > 0) || ptrace(PTRACE_SEIZE, zygote, NULL, NULL) < 0 ||
        ptrace(PTRACE_INTERRUPT, zygote, NULL, NULL) < 0) {
        puts("# skipped: this user may not trace a zygote");
        return;
    }
    scoped(keeper_run) r = start(w, 3, SHELL, "echo here", NULL);
    for (int i = 0; i < 3000 && !is_zombie(zygote); i++)
        (void)usleep(10000);
    CHECK(is_zombie(zygote));
    struct pollfd output = { .fd = r.out, .events = POLLIN };
    CHECK_INT(poll(&output, 1, 300), 0);
    while (waitpid(zygote, &status, __WALL) == zygote && WIFSTOPPED(status))
        ;
    struct told x = hear_out(w, 3, &r);
    CHECK_INT(x.start, START_COLD);
    CHECK_STR(x.out, "here\n");
}

static void test_zygote_that_does_not_answer_is_killed_before_its_run_starts_cold(void)
{
    keeper_at_every_level(is_killed_first);
}

static void bad_job(struct warden *w)
{
    char *argv[] = { (char *)"no/absolute/path", NULL };
    struct pool_targets t = aim(true, 3, 1000);
    scoped(buf) files = { 0 };
    struct err e = { 0 };
    if (!sealed(w))
        return;
    CHECK(settle(w, t, ZYGOTE_UP));
    CHECK_INT(bundle_add(&files, "main.sh", 0644, "", 0, &e), 0);
    scoped(keeper_run) r = keeper_spawn(
        w, &(struct keeper_ask){ .id = 5, .argv = argv, .kind = SHELL, .bundle = &files });
    static struct wire_message m;
    struct wire_ended end = { 0 };
    CHECK_INT(wire_receive(w->fd, &m, &e), 1);
    CHECK(wire_read_ended(&m, &end, &e) == 0 && strstr(end.err.text, "absolute") != NULL);
    CHECK(settle(w, t, ZYGOTE_UP));
    CHECK_INT((int)ask(w, t).state[0].discarded, 1);
}

static void test_job_that_no_embryo_can_take_costs_one(void)
{
    keeper_at_every_level(bad_job);
}

static void embryo_dies(struct warden *w)
{
    struct pool_targets t = aim(true, 1, 1000);
    if (!sealed(w))
        return;
    CHECK(settle(w, t, ZYGOTE_UP));
    pid_t embryo = find(w, "jar-embryo");
    CHECK(embryo > 0 && kill(embryo, SIGKILL) == 0);
    while (ask(w, t).state[0].discarded == 0)
        (void)usleep(1000);
    CHECK(settle(w, t, ZYGOTE_UP));
    CHECK_INT(run(w, 4, SHELL, "exit 3").end.evidence.exit_code, 3);
}

static void test_embryo_that_dies_is_replaced(void)
{
    keeper_at_every_level(embryo_dies);
}

static void net_of(pid_t pid, char out[64])
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/ns/net", (int)pid);
    ssize_t n = readlink(path, out, 63);
    out[n > 0 ? n : 0] = '\0';
}

static void rights(struct warden *w)
{
    static const char *const lines[] = { "CapInh:\t0000000000000000", "CapPrm:\t0000000000000000",
                                         "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000",
                                         "CapAmb:\t0000000000000000", "NoNewPrivs:\t1" };
    char path[64], text[4096], ours[64], its[64];
    if (!sealed(w))
        return;
    CHECK(settle(w, aim(true, 0, 1000), ZYGOTE_UP));
    pid_t zygote = find(w, "jar-zygote");
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)zygote);
    CHECK(fd_read_file(AT_FDCWD, path, text, sizeof text) > 0);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        CHECK(strstr(text, lines[i]) != NULL);
    net_of(w->pid, ours);
    net_of(zygote, its);
    CHECK(geteuid() != 0 || strncmp(its, "net:[", 5) == 0);
    CHECK(strcmp(ours, its) != 0);
}

static void test_zygote_has_no_right_and_no_network(void)
{
    keeper_at_every_level(rights);
}

static void zygotes_change(struct warden *w)
{
    struct pool_targets t = aim(true, 1, 3);
    if (!sealed(w))
        return;
    for (uint64_t id = 1; id < 12; id++) {
        CHECK(settle(w, t, ZYGOTE_UP));
        CHECK_INT(run(w, id, SHELL, "exit 5").end.evidence.exit_code, 5);
    }
    CHECK(settle(w, t, ZYGOTE_UP));
    struct pool_state s = ask(w, t).state[0];
    CHECK(s.zygotes >= 3 && s.deaths == 0 && s.starts[START_COLD] == 0);
}

static void test_zygote_is_made_anew_after_so_many_forks(void)
{
    keeper_at_every_level(zygotes_change);
}

static void switched_off(struct warden *w)
{
    if (!sealed(w))
        return;
    CHECK(settle(w, aim(true, 3, 1000), ZYGOTE_UP));
    CHECK(settle(w, aim(false, 0, 1000), ZYGOTE_OFF));
    for (int tries = 0; tries < 1000 && (find(w, "jar-") || find(w, "bash")); tries++)
        (void)usleep(1000);
    CHECK_INT(find(w, "jar-"), 0);
    CHECK_INT(run(w, 9, SHELL, "exit 0").start, START_COLD);
}

static void test_nothing_is_kept_once_it_is_switched_off(void)
{
    keeper_at_every_level(switched_off);
}

static void no_zygote(struct warden *w)
{
    struct pool_targets t = aim(true, 0, 1000);
    if (!sealed(w))
        return;
    CHECK(settle(w, t, ZYGOTE_UP));
    struct wire_pools p = ask(w, t);
    CHECK_INT(p.state[LOST - 1].zygote, ZYGOTE_FAILED);
    CHECK(strstr(p.state[LOST - 1].why, "no-such-driver.so") != NULL);
    for (int tries = 0; tries < 500 && p.state[BROKEN - 1].zygote != ZYGOTE_FAILED; tries++) {
        (void)usleep(10000);
        p = ask(w, t);
    }
    CHECK(strstr(p.state[BROKEN - 1].why, "no-such-interpreter") != NULL);
    CHECK_INT(run(w, 1, LOST, "exit 0").start, START_COLD);
    CHECK_INT(run(w, 2, BROKEN, "exit 0").start, START_COLD);
    CHECK_INT(run(w, 3, ZYGOTE_KINDS_MAX, "exit 0").start, START_COLD);
}

static void fails_beside(struct warden *w)
{
    enum { ROUNDS = 15, READY = 3 };
    if (!sealed(w))
        return;
    for (int i = 0; i < ROUNDS;
         i++) { /* each time the broken kind is tried anew while embryos are made */
        CHECK(settle(w, aim(true, READY, 1000), ZYGOTE_UP));
        CHECK_INT((int)ask(w, aim(true, READY, 1000)).state[0].discarded, READY * i);
        CHECK(settle(w, aim(false, 0, 1000), ZYGOTE_OFF));
    }
}

static void test_zygote_that_fails_costs_no_embryo_of_another(void)
{
    keeper_at_every_level(fails_beside);
}

static void test_kind_without_a_zygote_starts_cold_and_says_why(void)
{
    keeper_at_every_level(no_zygote);
}

/* ---- parts that are used again ---- */

static const char which_net[] = "readlink /proc/self/ns/net";

static void nets(struct warden *w)
{
    char own[64], now[64];
    if (!sealed(w))
        return;
    CHECK(settle(w, aim(true, 0, 1000), ZYGOTE_UP));
    net_of(w->pid, own);
    struct told first = run(w, 1, SHELL, which_net);
    struct told second = run(w, 2, SHELL, which_net);
    CHECK_STR(second.out, first.out);
    static const char *const uses[] = {
        "(echo hello > /dev/udp/127.0.0.1/7) 2>/dev/null", /* a packet */
        "(exec 3<> /dev/tcp/127.0.0.1/7) 2>/dev/null",     /* a connection that is refused */
        "(exec 3<> /dev/tcp/192.0.2.1/7) 2>/dev/null",     /* one that has no way out */
    };
    for (size_t i = 0; i < ARRAY_LEN(uses); i++) {
        char script[128];
        (void)snprintf(script, sizeof script, "%s; %s", uses[i], which_net);
        struct told used = run(w, 10 + i, SHELL, script);
        struct told after = run(w, 20 + i, SHELL, which_net);
        CHECK(strncmp(used.out, "net:[", 5) == 0 && strcmp(used.out, after.out) != 0);
        net_of(w->pid, now); /* it was in there to look */
        CHECK_STR(now, own);
    }
}

static void test_network_namespace_is_used_again_only_if_it_reads_like_a_new_one(void)
{
    keeper_at_every_level(nets);
}

static void counters(struct warden *w)
{
    if (!sealed(w) || w->isolation.cgroup_version == 0)
        return;
    CHECK(settle(w, aim(true, 0, 1000), ZYGOTE_UP));
    struct told large = run(w, 1, SHELL,
                            "x=$(head -c 20000000 /dev/zero | tr '\\0' a); echo ${#x}");
    struct told small = run(w, 2, SHELL, "echo small");
    struct told again = run(w, 3, SHELL, "echo small");
    CHECK(large.end.usage.memory_peak_bytes > 10 << 20);
    CHECK(small.end.usage.memory_peak_bytes < 5 << 20 &&
          again.end.usage.memory_peak_bytes < 5 << 20);
    CHECK(again.end.usage.cpu_us < large.end.usage.cpu_us && again.end.usage.pids_peak == 1);
}

static void test_counters_of_one_run_are_not_carried_over_to_the_next(void)
{
    keeper_at_every_level(counters);
}

/* A job gets an embryo only if both have sockets, or both have none. */
static const struct sockets_case {
    unsigned kind;
    uint32_t flags;
    bool cold;
} sockets_cases[] = {
    { 0, JOB_NO_SOCKETS, true }, { QUIET, JOB_NO_SOCKETS, false },
    { QUIET, 0, true },          { SHELL, JOB_NO_SOCKETS, true },
    { SHELL, 0, false },
};

static struct told try_socket(const struct warden *w, uint64_t id, const struct sockets_case *c)
{
    static const char script[] = "(exec 3<>/dev/tcp/127.0.0.1/9) 2>&1";
    scoped(buf) files = { 0 };
    struct err e = { 0 };
    char *argv[] = { (char *)"/bin/bash", (char *)"main.sh", NULL };
    CHECK_INT(bundle_add(&files, "main.sh", 0644, script, strlen(script), &e), 0);
    scoped(keeper_run) r = keeper_spawn(
        w, &(struct keeper_ask){
               .id = id, .argv = argv, .kind = c->kind, .flags = c->flags, .bundle = &files });
    return hear_out(w, id, &r);
}

static void sockets(struct warden *w)
{
    if (!sealed(w))
        return; /* no program has sockets there */
    /* a waiting embryo first, and then one that is forked for the job */
    for (uint32_t ready = 0; ready < 2; ready++) {
        struct pool_targets t = aim(true, ready, 1000);
        t.kinds[QUIET - 1].on = true;
        t.kinds[QUIET - 1].ready = ready;
        for (int tries = 0; tries < 1000; tries++) {
            struct pool_state s = ask(w, t).state[QUIET - 1];
            if (s.zygote == ZYGOTE_UP && s.ready == ready && s.building == 0)
                break;
            (void)usleep(10000);
        }
        CHECK(settle(w, t, ZYGOTE_UP));
        for (size_t i = 0; i < ARRAY_LEN(sockets_cases); i++) {
            const struct sockets_case *c = &sockets_cases[i];
            struct told told = try_socket(w, i + 1, c);
            const char *answer = c->flags & JOB_NO_SOCKETS ? "Permission denied"
                                                           : "Connection refused";
            CHECK(strstr(told.out, answer));
            CHECK((told.start == START_COLD) == c->cold);
        }
    }
}

static void test_job_without_sockets_gets_none_warm_or_cold(void)
{
    keeper_at_every_level(sockets);
}

static const struct check_test tests[] = {
    TEST(test_job_goes_to_an_embryo_that_waits_and_another_takes_its_place),
    TEST(test_without_one_that_waits_one_is_hatched),
    TEST(test_embryo_is_sealed_as_any_program_is),
    TEST(test_limits_are_the_jobs_not_the_embryos),
    TEST(test_zygote_that_dies_is_replaced),
    TEST(test_run_that_waits_for_a_zygote_that_dies_starts_cold),
    TEST(test_zygote_that_does_not_answer_is_replaced_and_its_run_starts_cold),
    TEST(test_zygote_that_does_not_answer_is_killed_before_its_run_starts_cold),
    TEST(test_job_that_no_embryo_can_take_costs_one),
    TEST(test_embryo_that_dies_is_replaced),
    TEST(test_zygote_has_no_right_and_no_network),
    TEST(test_zygote_is_made_anew_after_so_many_forks),
    TEST(test_nothing_is_kept_once_it_is_switched_off),
    TEST(test_kind_without_a_zygote_starts_cold_and_says_why),
    TEST(test_zygote_that_fails_costs_no_embryo_of_another),
    TEST(test_network_namespace_is_used_again_only_if_it_reads_like_a_new_one),
    TEST(test_counters_of_one_run_are_not_carried_over_to_the_next),
    TEST(test_job_without_sockets_gets_none_warm_or_cold),
};

int main(int argc, char **argv)
{
    keeper_zygotes = kinds;
    return check_run_all(tests, ARRAY_LEN(tests), argc > 1 ? argv[1] : "");
}
