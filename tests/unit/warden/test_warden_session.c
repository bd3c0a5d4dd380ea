/* Sessions: programs that stay, with a channel to the keeper. */
#include <sys/un.h>

#include "base/array.h"
#include "check.h"
#include "session.h"

/* DRIVER_DIR comes from the build. */
static const struct zygote_def shell = {
    .name = "shell",
    .files = (const char *const[]){ DRIVER_DIR "/belljar-plain.so", NULL },
    .argv = (const char *const[]){ "/bin/bash", NULL },
    .env = (const char *const[]){ NULL },
};
enum { SHELL = 1 };
static const struct zygote_def *const kinds[] = { &shell, NULL };

/* Prints its descriptors, its limit of CPU time and its stdin, and then echoes frames. dd
 * copies whole datagrams. */
static const char echo[] =
    "ls /proc/$$/fd > list; echo $(grep -v 255 list) $(ulimit -t); cat; echo up\n"
    "while :; do dd bs=4096 count=1 <&3 >&3 2>/dev/null; done";

static void check_echo(struct warden *w, uint64_t id, struct keeper_run *r)
{
    char line[64] = "";
    struct err e = { 0 };
    fd_close(&r->in);
    struct pollfd p = { .fd = r->out, .events = POLLIN };
    for (size_t n = 0; !strstr(line, "up\n") && n < sizeof line - 1;) {
        ssize_t got = poll(&p, 1, 30000) == 1 ? read(r->out, line + n, sizeof line - 1 - n) : -1;
        if (!CHECK(got > 0))
            return;
        n += (size_t)got;
        line[n] = '\0';
    }
    CHECK_STR(line, "0 1 2 3 unlimited\nup\n");
    for (int i = 0; i < 3; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "frame %d\n", i);
        CHECK_INT(send(r->channel, text, strlen(text), MSG_NOSIGNAL), (int)strlen(text));
        CHECK_STR(receive(r), text);
    }
    CHECK_INT(wire_send_kill(w->fd, &(struct wire_kill){ id, END_CANCEL }, &e), 0);
    CHECK_INT(keeper_wait(w, id).evidence.reason, END_CANCEL);
    CHECK_STR(receive(r), ""); /* no process holds the other end */
}

static void cold_channel(struct warden *w)
{
    if (!has_sessions(w))
        return;
    scoped(keeper_run) r = session(w, 1, 0, echo, NULL);
    check_echo(w, 1, &r);
}

static void test_program_of_a_session_finds_its_channel_at_three(void)
{
    keeper_at_every_level(cold_channel);
}

/* The same in an embryo: one that is hatched, and one that waits. */
static void warm_channel(struct warden *w)
{
    static struct wire_message m;
    struct err e = { 0 };
    struct pool_targets t = { .limits = limits_default(),
                              .zygote_forks = 1000,
                              .zygote_age_ms = 600000,
                              .kinds[0] = { .on = true, .ready = 1 } };
    struct wire_pools p = { 0 };
    if (!has_sessions(w))
        return;
    for (int tries = 0; tries < 1000 && p.state[0].ready == 0; tries++) {
        (void)usleep(10000);
        CHECK_INT(wire_send_targets(w->fd, &t, &e), 0);
        CHECK(wire_receive(w->fd, &m, &e) == 1 && wire_read_pools(&m, &p, &e) == 0);
    }
    CHECK_INT(p.state[0].ready, 1);
    for (uint64_t id = 1; id < 4; id++) {
        scoped(keeper_run) r = session(w, id, SHELL, echo, NULL);
        check_echo(w, id, &r);
    }
    CHECK_INT(wire_send_targets(w->fd, &t, &e), 0);
    CHECK(wire_receive(w->fd, &m, &e) == 1 && wire_read_pools(&m, &p, &e) == 0);
    CHECK(p.state[0].starts[START_WARM] >= 1 && p.state[0].starts[START_COLD] == 0);
}

static void test_embryo_finds_its_channel_at_three(void)
{
    keeper_at_every_level(warm_channel);
}

static void check_refused(struct warden *w, const struct keeper_ask *ask, const char *word)
{
    scoped(keeper_run) r = keeper_spawn(w, ask);
    struct wire_ended end = keeper_wait(w, ask->id);
    CHECK_INT(end.evidence.reason, END_FAILURE);
    if (!CHECK(strstr(end.err.text, word) != NULL))
        printf("    %s\n", end.err.text);
}

/* A socket of this type with a name in the directory for temporary files, connected to itself. */
static void named_pair(int type, int ret_fds[2])
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    (void)snprintf(a.sun_path, sizeof a.sun_path, "%s/named", getenv("TMPDIR"));
    int listener = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    CHECK(bind(listener, (struct sockaddr *)&a, sizeof a) == 0 && listen(listener, 1) == 0);
    ret_fds[0] = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    CHECK_INT(connect(ret_fds[0], (struct sockaddr *)&a, sizeof a), 0);
    ret_fds[1] = accept(listener, NULL, NULL);
    CHECK_INT(unlink(a.sun_path), 0);
    (void)close(listener);
}

/* A socket with a name leads to a service of the host. */
static void odd_channels(struct warden *w)
{
    char *argv[] = { (char *)"/bin/true", NULL };
    int stream[2], named[2];
    struct keeper_ask ask = {
        .id = 1, .argv = argv, .flags = JOB_SESSION, .replaced = JOB_FD_CHANNEL + 1
    };
    if (!has_sessions(w)) {
        ask.replaced = 0;
        check_refused(w, &ask, "a session needs level jar or rootless");
        return;
    }
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream), 0);
    named_pair(SOCK_SEQPACKET, named);
    int odd[] = { stream[0],
                  stream[1],
                  named[0],
                  named[1],
                  open("/dev/null", O_RDWR | O_CLOEXEC),
                  open("/", O_PATH | O_CLOEXEC),
                  socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0),
                  socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        ask.with = odd[i];
        check_refused(w, &ask, "channel");
        fd_close(&odd[i]);
    }
}

static void test_channel_that_leads_elsewhere_is_refused(void)
{
    keeper_at_every_level(odd_channels);
}

/* The wall time of a session is its life, which may be longer than a run of this service. */
static void long_life(struct warden *w)
{
    char *argv[] = { (char *)"/bin/true", NULL };
    struct limits l = limits_default();
    if (!has_sessions(w))
        return;
    l.v[LIMIT_WALL_MS] = limit_defs[LIMIT_WALL_MS].max;
    scoped(keeper_run) r = session(w, 1, 0, "exit 4", &l);
    CHECK_INT(keeper_wait(w, 1).evidence.exit_code, 4);
    l.v[LIMIT_MEMORY]++;
    check_refused(w,
                  &(struct keeper_ask){ .id = 2, .argv = argv, .flags = JOB_SESSION, .limits = &l },
                  "memory");
    l = limits_default();
    l.v[LIMIT_WALL_MS] = 300;
    scoped(keeper_run) brief = session(w, 3, 0, "sleep 100", &l);
    CHECK_INT(keeper_wait(w, 3).evidence.reason, END_WALL);
}

static void test_wall_time_of_a_session_is_its_life(void)
{
    static struct run_bounds bounds;
    bounds.most = limits_default();
    keeper_bounds = &bounds;
    keeper_at_every_level(long_life);
    keeper_bounds = NULL;
}

/* ---- cells ---- */

#define LOOPS   "echo up >&3; while :; do :; done"
#define HANDLES "trap 'echo interrupted >&3' INT; "
#define IGNORES "trap '' INT; "

static void measured_session(struct warden *w)
{
    struct err e = { 0 };
    scoped(keeper_run) r = KEEPER_RUN_NONE;
    if (!has_sessions(w) || !begin(w, 1, HANDLES LOOPS, NULL, &r))
        return;
    CHECK_INT(wire_send_measure(w->fd, 77, &e), 0); /* there is no such jar: no answer */
    uint64_t between = memory_now(w, 1);
    arm(w, 1, (struct cell_limits){ .number = 1 });
    CHECK((between > 0) == (memory_now(w, 1) > 0)); /* 0: this machine has no cgroup for it */
    struct cell_usage u = disarm(w, 1);
    CHECK_INT(u.number, 1);
    CHECK((between > 0) == (u.memory_bytes > 0));
    end(w, 1);
}

static void test_memory_of_a_session_is_told_between_and_during_cells(void)
{
    keeper_at_every_level(measured_session);
}

static void interrupted_cells(struct warden *w)
{
    static const struct {
        const char *script;
        struct cell_limits limits;
        enum cell_interrupt why;
    } rows[] = {
        { HANDLES LOOPS, { .number = 1, .wall_ms = 100 }, CELL_WALL },
        { HANDLES LOOPS, { .number = 1, .cpu_ms = 100 }, CELL_CPU },
        { HANDLES LOOPS, { .number = 1 }, CELL_ASKED },
    };
    struct err e = { 0 };
    struct limits l = limits_default();
    l.v[LIMIT_WALL_MS] = l.v[LIMIT_CPU_MS] = 600000;
    for (size_t i = 0; has_sessions(w) && i < ARRAY_LEN(rows); i++) {
        scoped(keeper_run) r = KEEPER_RUN_NONE;
        if (!begin(w, i, rows[i].script, &l, &r))
            return;
        for (uint64_t number = 1; number < 3; number++) {
            struct cell_limits limits = rows[i].limits;
            limits.number = number;
            arm(w, i, limits);
            if (rows[i].why == CELL_ASKED)
                CHECK_INT(wire_send_interrupt(w->fd, i, &e), 0);
            CHECK_STR(receive(&r), "interrupted\n");
            struct cell_usage u = disarm(w, i);
            CHECK_INT(u.number, number);
            CHECK_INT(u.interrupted, rows[i].why);
            CHECK(u.wall_us >= rows[i].limits.wall_ms * 1000 || rows[i].why != CELL_WALL);
            CHECK(u.cpu_us >= rows[i].limits.cpu_ms * 1000 || rows[i].why != CELL_CPU);
        }
        end(w, i);
    }
}

static void test_deadline_of_a_cell_interrupts_it_and_the_session_lives_on(void)
{
    keeper_at_every_level(interrupted_cells);
}

/* This program loses SIGINT. It is reminded until its cell ends, and not in the next one. */
static void reminded_cell(struct warden *w)
{
    struct err e = { 0 };
    char word[64];
    struct limits l = limits_default();
    l.v[LIMIT_WALL_MS] = l.v[LIMIT_CPU_MS] = 600000;
    scoped(keeper_run) r = KEEPER_RUN_NONE;
    if (!has_sessions(w) || !begin(w, 1, IGNORES "trap 'echo reminded >&3' URG; " LOOPS, &l, &r))
        return;
    arm(w, 1, (struct cell_limits){ .number = 1 });
    CHECK_INT(wire_send_interrupt(w->fd, 1, &e), 0);
    for (int i = 0; i < 3; i++)
        CHECK_STR(receive(&r), "reminded\n");
    CHECK_INT(disarm(w, 1).interrupted, CELL_ASKED);
    while (recv(r.channel, word, sizeof word, MSG_DONTWAIT) > 0) {
    }
    arm(w, 1, (struct cell_limits){ .number = 2 });
    struct pollfd p = { .fd = r.channel, .events = POLLIN };
    int late = 0;
    while (late < 5 && poll(&p, 1, 400) == 1 && recv(r.channel, word, sizeof word, 0) > 0)
        late++;
    CHECK(late <= 2); /* one that was being handled, and one that was pending */
    CHECK_INT(disarm(w, 1).interrupted, CELL_NOT_INTERRUPTED);
    end(w, 1);
}

static void test_interrupted_cell_is_reminded_until_it_ends(void)
{
    keeper_at_every_level(reminded_cell);
}

static void stubborn_cells(struct warden *w)
{
    static const struct {
        struct cell_limits limits;
        enum cell_interrupt why;
        enum end_reason reason;
        limit_set hit;
    } rows[] = {
        { { .number = 5, .wall_ms = 100, .grace_ms = 200 },
          CELL_WALL,
          END_WALL,
          LIMIT_BIT(LIMIT_WALL_MS) },
        { { .number = 5, .cpu_ms = 100, .grace_ms = 200 },
          CELL_CPU,
          END_CPU,
          LIMIT_BIT(LIMIT_CPU_MS) },
        { { .number = 5, .grace_ms = 200 }, CELL_ASKED, END_CANCEL, 0 },
    };
    struct err e = { 0 };
    struct limits l = limits_default();
    l.v[LIMIT_WALL_MS] = l.v[LIMIT_CPU_MS] = 600000;
    for (size_t i = 0; has_sessions(w) && i < ARRAY_LEN(rows); i++) {
        scoped(keeper_run) r = KEEPER_RUN_NONE;
        if (!begin(w, i, IGNORES LOOPS, &l, &r))
            return;
        arm(w, i, rows[i].limits);
        for (int k = 0; k < 3 && rows[i].why == CELL_ASKED; k++)
            CHECK_INT(wire_send_interrupt(w->fd, i, &e), 0);
        struct cell_usage u = cell_end(w, i);
        CHECK(u.number == 5 && u.interrupted == rows[i].why && u.wall_us >= 200000);
        struct wire_ended ended = keeper_wait(w, i);
        CHECK_INT(ended.evidence.reason, rows[i].reason);
        CHECK_INT(ended.evidence.hits & (LIMIT_BIT(LIMIT_WALL_MS) | LIMIT_BIT(LIMIT_CPU_MS)),
                  rows[i].hit);
    }
}

static void test_cell_that_ignores_its_interrupt_ends_the_session(void)
{
    keeper_at_every_level(stubborn_cells);
}

/* No SIGINT goes to a program that has no cell: this one would die of it. */
static void between_cells(struct warden *w)
{
    struct err e = { 0 };
    struct limits l = limits_default();
    if (!has_sessions(w))
        return;
    l.v[LIMIT_WALL_MS] = 600000;
    l.v[LIMIT_CPU_MS] = 300;
    scoped(keeper_run) r = KEEPER_RUN_NONE, busy = KEEPER_RUN_NONE;
    if (!begin(w, 1, "echo up >&3; dd bs=64 count=1 <&3 >&3 2>/dev/null; sleep 1000", &l, &r))
        return;
    CHECK_INT(wire_send_interrupt(w->fd, 1, &e), 0);
    arm(w, 1, (struct cell_limits){ .number = 1 });
    CHECK_INT(send(r.channel, "alive\n", 6, MSG_NOSIGNAL), 6);
    CHECK_STR(receive(&r), "alive\n");
    struct cell_usage u = disarm(w, 1);
    CHECK(u.number == 1 && u.interrupted == CELL_NOT_INTERRUPTED);
    CHECK_INT(wire_send_interrupt(w->fd, 1, &e), 0);
    CHECK_INT(wire_send_cell(w->fd, 1, &(struct cell_limits){ 0 }, &e), 0); /* no answer */
    end(w, 1);
    if (!begin(w, 2, LOOPS, &l, &busy))
        return;
    struct wire_ended ended = keeper_wait(w, 2);
    CHECK_INT(ended.evidence.reason, END_CPU);
    CHECK(ended.evidence.hits & LIMIT_BIT(LIMIT_CPU_MS));
    CHECK(ended.usage.cpu_us >= 300000 && ended.usage.cpu_us < 5000000);
}

static void test_cpu_time_between_two_cells_is_bounded(void)
{
    keeper_at_every_level(between_cells);
}

/* Memory of one cell is not counted for the next one; a child that needs too much dies alone. */
static void usage_of_cells(struct warden *w)
{
    static const char script[] =
        "trap : INT; echo up >&3\n"
        "while word=$(dd bs=64 count=1 <&3 2>/dev/null) && [ -n \"$word\" ]; do\n"
        "  case $word in\n"
        "  large) x=$(head -c 20000000 /dev/zero | tr '\\0' a); unset x ;;\n"
        "  hungry) (x=$(head -c 80000000 /dev/zero | tr '\\0' a)) 2> /dev/null ;;\n"
        "  esac; echo done >&3\ndone";
    static const char *const words[] = { "small", "large", "small", "hungry", "small" };
    struct cell_usage u[ARRAY_LEN(words)];
    struct limits l = limits_default();
    l.v[LIMIT_MEMORY] = 80 << 20;
    scoped(keeper_run) r = KEEPER_RUN_NONE;
    if (!has_sessions(w) || !(w->isolation.layers & LAYER_BIT(LAYER_CGROUP_MEMORY)) ||
        !begin(w, 1, script, &l, &r))
        return;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        arm(w, 1, (struct cell_limits){ .number = i + 1 });
        CHECK_INT(send(r.channel, words[i], strlen(words[i]), MSG_NOSIGNAL), (int)strlen(words[i]));
        CHECK_STR(receive(&r), "done\n");
        u[i] = disarm(w, 1);
        CHECK(u[i].number == i + 1 && u[i].pids >= 1 && u[i].memory_bytes > 0);
        CHECK(u[i].disk_bytes > 0 && u[i].disk_bytes < 1 << 20);
        CHECK_INT(u[i].oom_kills > 0, i == 3);
    }
    CHECK(u[1].memory_peak_bytes > 10 << 20);
    CHECK(w->isolation.cgroup_version == 2 || u[2].memory_peak_bytes < u[1].memory_peak_bytes);
    CHECK(u[1].cpu_us > u[2].cpu_us);
    end(w, 1);
}

static void test_usage_of_a_cell_is_its_own(void)
{
    keeper_at_every_level(usage_of_cells);
}

/* A keeper that breaks the protocol is dropped. */
static void check_dropped(struct warden *w, uint64_t id, const struct cell_limits *limits)
{
    static struct wire_message m;
    struct err e = { 0 };
    CHECK_INT(wire_send_cell(w->fd, id, limits, &e), 0);
    int got;
    while ((got = wire_receive(w->fd, &m, &e)) == 1)
        wire_message_done(&m);
    CHECK_INT(got, 0);
    warden_stop(w);
}

static const struct {
    bool session, twice;
    struct cell_limits limits;
} bad_cells[] = {
    { false, false, { 1, 1000, 1000, 1000 } },
    { true, true, { 1, 1000, 1000, 1000 } },
    { true, false, { 1, 0, 1000, 1000 } },
    { true, false, { 1, 1000, 0, 1000 } },
    { true, false, { 1, 10001, 1000, 1000 } },
    { true, false, { 1, 1000, 10001, 1000 } },
    { true, false, { 1, 1000, 1000, CELL_GRACE_MAX_MS + 1 } },
    { true, false, { 1, UINT64_MAX, UINT64_MAX, UINT64_MAX } },
};
static size_t bad_cell;

static void one_bad_cell(struct warden *w)
{
    if (!has_sessions(w))
        return;
    char *argv[] = { (char *)"/bin/sleep", (char *)"1000", NULL };
    scoped(keeper_run) r = keeper_spawn(
        w, &(struct keeper_ask){
               .id = 1, .argv = argv, .flags = bad_cells[bad_cell].session ? JOB_SESSION : 0 });
    if (bad_cells[bad_cell].twice)
        arm(w, 1, (struct cell_limits){ .number = 1, .wall_ms = 1000, .cpu_ms = 1000 });
    check_dropped(w, 1, &bad_cells[bad_cell].limits);
}

static void test_cell_beyond_the_bounds_of_the_operator_drops_the_keeper(void)
{
    static struct run_bounds bounds;
    bounds.most = limits_default();
    keeper_bounds = &bounds;
    for (bad_cell = 0; bad_cell < ARRAY_LEN(bad_cells); bad_cell++)
        keeper_at_every_level(one_bad_cell);
    keeper_bounds = NULL;
}

static const struct check_test tests[] = {
    TEST(test_memory_of_a_session_is_told_between_and_during_cells),
    TEST(test_program_of_a_session_finds_its_channel_at_three),
    TEST(test_embryo_finds_its_channel_at_three),
    TEST(test_channel_that_leads_elsewhere_is_refused),
    TEST(test_wall_time_of_a_session_is_its_life),
    TEST(test_deadline_of_a_cell_interrupts_it_and_the_session_lives_on),
    TEST(test_interrupted_cell_is_reminded_until_it_ends),
    TEST(test_cell_that_ignores_its_interrupt_ends_the_session),
    TEST(test_cpu_time_between_two_cells_is_bounded),
    TEST(test_usage_of_a_cell_is_its_own),
    TEST(test_cell_beyond_the_bounds_of_the_operator_drops_the_keeper),
};

int main(int argc, char **argv)
{
    keeper_zygotes = kinds;
    return check_run_all(tests, ARRAY_LEN(tests), argc > 1 ? argv[1] : "");
}
