/* tests/unit/lib/keeper.h — a warden at every level there is, and runs asked of it over the bare
 * wire. */
#pragma once

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "check.h"
#include "child.h"
#include "place.h"
#include "warden/warden.h"
#include "wire/wire.h"

/* Our ends of a run's pipes. */
struct keeper_run {
    int in, out, error, outputs;
    int channel; /* of a session; -1: none */
};
#define KEEPER_RUN_NONE    \
    {                      \
        -1, -1, -1, -1, -1 \
    }

[[maybe_unused]] static void keeper_run_done(struct keeper_run *r)
{
    fd_close(&r->in);
    fd_close(&r->out);
    fd_close(&r->error);
    fd_close(&r->outputs);
    fd_close(&r->channel);
}

/* The request; every field except argv may be left out. */
struct keeper_ask {
    uint64_t id;
    char **argv, **outputs;
    const struct limits *limits;
    const struct buf *bundle;
    unsigned kind;
    uint32_t flags;
    char **executes, **reads;
    int replaced; /* 1 + which descriptor of the message is another than it should be */
    int with;     /* that one */
};

[[maybe_unused]] static struct keeper_run keeper_spawn(const struct warden *w,
                                                       const struct keeper_ask *ask)
{
    static char *none[] = { NULL }, *env[] = { (char *)"PATH=/usr/bin:/bin", NULL };
    struct err e = { 0 };
    struct buf empty = { 0 };
    int ends[4][2], pair[2] = { -1, -1 }, theirs[SESSION_FDS];
    int n_fds = ask->flags & JOB_SESSION ? SESSION_FDS : JOB_FDS;
    for (int i = 0; i < 4; i++)
        CHECK_INT(fd_pipe(ends[i], &e), 0);
    if (ask->flags & JOB_SESSION)
        CHECK_INT(wire_pair(pair, &e), 0);
    struct keeper_run r = { ends[0][1], ends[1][0], ends[2][0], ends[3][0], pair[0] };
    theirs[JOB_FD_STDIN] = ends[0][0];
    theirs[JOB_FD_STDOUT] = ends[1][1];
    theirs[JOB_FD_STDERR] = ends[2][1];
    theirs[JOB_FD_OUTPUTS] = ends[3][1];
    theirs[JOB_FD_CHANNEL] = pair[1];
    CHECK_INT(fd_sealed_memory("unit-test", ask->bundle ? ask->bundle : &empty,
                               &theirs[JOB_FD_BUNDLE], &e),
              0);
    struct wire_spawn s = { .id = ask->id,
                            .job.flags = ask->flags,
                            .job.kind = ask->kind,
                            .job.executes = ask->executes,
                            .job.reads = ask->reads,
                            .job.limits = ask->limits ? *ask->limits : limits_default(),
                            .job.argv = ask->argv,
                            .job.envp = env,
                            .job.outputs = ask->outputs ? ask->outputs : none };
    int sent[SESSION_FDS];
    for (int i = 0; i < n_fds; i++)
        sent[i] = ask->replaced == i + 1 ? ask->with : theirs[i];
    CHECK_INT(wire_send_spawn(w->fd, &s, sent, &e), 0);
    for (int i = 0; i < n_fds; i++)
        (void)close(theirs[i]);
    return r;
}

/* /bin/sh -c SCRIPT */
[[maybe_unused]] static struct keeper_run keeper_shell(const struct warden *w, uint64_t id,
                                                       const char *script)
{
    char *argv[] = { (char *)"/bin/sh", (char *)"-c", (char *)script, NULL };
    return keeper_spawn(w, &(struct keeper_ask){ .id = id, .argv = argv });
}

/* The next message: its type, or -1 when the warden is gone or silent for too long. */
[[maybe_unused]] static int keeper_next(const struct warden *w, uint64_t *ret_id,
                                        struct wire_ended *ret_end)
{
    static struct wire_message m;
    struct err e = { 0 };
    struct pollfd p = { .fd = w->fd, .events = POLLIN };
    if (!CHECK(poll(&p, 1, 30000) == 1) || wire_receive(w->fd, &m, &e) != 1)
        return -1;
    struct wire_started started;
    if (m.type == WIRE_STARTED && CHECK_INT(wire_read_started(&m, &started, &e), 0))
        *ret_id = started.id;
    else if (m.type != WIRE_STARTED && CHECK_INT(wire_read_ended(&m, ret_end, &e), 0))
        *ret_id = ret_end->id;
    return (int)m.type;
}

/* Waits for the end of this run, which must be the next to end. */
[[maybe_unused]] static struct wire_ended keeper_wait(const struct warden *w, uint64_t id)
{
    struct wire_ended end = { .evidence.reason = END_REASON_COUNT_ };
    uint64_t told = 0;
    int type;
    do
        type = keeper_next(w, &told, &end);
    while (type == WIRE_STARTED);
    CHECK(type == WIRE_ENDED && told == id);
    return end;
}

/* Everything until nobody holds the other end; -1 when somebody does for too long. */
[[maybe_unused]] static ssize_t keeper_read(int fd, char *out, size_t size)
{
    size_t n = 0;
    for (struct pollfd p = { .fd = fd, .events = POLLIN }; poll(&p, 1, 10000) == 1;) {
        ssize_t got = read(fd, out + n, size - 1 - n);
        if (got <= 0) {
            out[n] = '\0';
            return (ssize_t)n;
        }
        n += (size_t)got;
    }
    return -1;
}

/* Waits until a run has said a line: it is up. */
[[maybe_unused]] static bool keeper_is_up(const struct keeper_run *r)
{
    struct pollfd p = { .fd = r->out, .events = POLLIN };
    char line[8];
    return CHECK(poll(&p, 1, 30000) == 1) && CHECK(read(r->out, line, sizeof line) > 0);
}

struct keeper_levels {
    void (*test)(struct warden *w);
    const struct place *tmp;
    int held; /* levels at which the test was held */
};

/* The kinds that the wardens know; NULL: none. */
static const struct zygote_def *const *keeper_zygotes = NULL;

/* The bounds that they get; NULL: none. */
static const struct run_bounds *keeper_bounds = NULL;

/* A pipe whose other end was open when the warden was started, and is now closed by us. */
static int keeper_witness = -1;

/* Runs the test at one level and looks for leftovers. The test may have stopped the warden. */
static void keeper_hold(struct keeper_levels *all, enum level level)
{
    struct err e = { 0 };
    struct warden w;
    int before = open_fds();
    unsigned failures = check_failures;
    int witness[2];
    CHECK_INT(pipe2(witness, 0), 0);
    int failed = warden_start(level, keeper_zygotes, keeper_bounds, NULL, &w, &e);
    (void)close(witness[1]);
    keeper_witness = witness[0];
    if (!failed) {
        all->held++;
        CHECK_INT(w.isolation.level, level);
        all->test(&w);
        if (w.fd >= 0 || w.pid > 0)
            warden_stop(&w);
    }
    fd_close(&keeper_witness);
    CHECK_INT(open_fds(), before);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    CHECK_INT(entries(all->tmp->fd, "."), 0);
    if (check_failures > failures)
        printf("    at level %s, as uid %u\n", level_name(level), geteuid());
}

/* Here the levels are those of an ordinary user. Exits with the number of levels, or 100 on
 * failure. */
static int keeper_hold_as_ordinary(struct keeper_levels *all)
{
    pid_t pid = fork();
    if (pid == 0) {
        all->held = 0;
        check_failures = 0;
        CHECK(become_ordinary());
        keeper_hold(all, LEVEL_ROOTLESS);
        keeper_hold(all, LEVEL_PROCESS);
        (void)fflush(stdout);
        _exit(check_failures > 0 ? 100 : all->held);
    }
    return child_wait(pid);
}

/* Holds a test at every level this machine has, as root and as an ordinary user. */
[[maybe_unused]] static void keeper_at_every_level(void (*test)(struct warden *w))
{
    struct place tmp;
    static char saved[256];
    const char *before = getenv("TMPDIR");
    (void)snprintf(saved, sizeof saved, "%s", before ? before : "/tmp");
    if (!place_init(&tmp) || !CHECK(fchmod(tmp.fd, 01777) == 0))
        return;
    CHECK_INT(setenv("TMPDIR", tmp.path, 1), 0); /* where level process puts its directories */
    struct keeper_levels all = { .test = test, .tmp = &tmp };
    if (geteuid() == 0)
        for (enum level l = LEVEL_PROCESS; l <= LEVEL_JAR; l++)
            keeper_hold(&all, l);
    int held = keeper_hold_as_ordinary(&all);
    if (CHECK(held >= 0 && held < 100))
        all.held += held;
    CHECK_INT(setenv("TMPDIR", saved, 1), 0);
    place_done(&tmp);
    if (all.held == 0)
        SKIP("no level of isolation is to be had here");
}
