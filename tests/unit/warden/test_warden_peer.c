/* A peer that breaks the protocol or goes away is dropped, and nothing is left. */
#include "check.h"
#include "keeper.h"
#include "peer.h"

static bool still_serves(struct warden *w)
{
    scoped(keeper_run) r = keeper_shell(w, 1000, "exit 3");
    struct wire_ended end = keeper_wait(w, 1000);
    return CHECK(end.evidence.reason == END_EXIT && end.evidence.exit_code == 3);
}

/* Reads the last messages of the warden until it is gone. */
static void check_dropped(struct warden *w, struct keeper_run *r)
{
    struct wire_ended end;
    char out[64];
    uint64_t id;
    int status = -1, messages = 0;
    while (keeper_next(w, &id, &end) >= 0)
        CHECK(++messages < 1000);
    CHECK_INT(keeper_read(r->out, out, sizeof out), 0); /* no process of the run is left */
    CHECK(waitpid(w->pid, &status, 0) == w->pid && WIFEXITED(status));
    w->pid = 0;
    int base = w->cgroups.version ? dup(w->cgroups.base_fd[0]) : -1;
    struct stat st;
    if (base >= 0)
        CHECK(fstatat(base, w->cgroups.name, &st, 0) < 0 && errno == ENOENT);
    fd_close(&base);
    keeper_run_done(r);
    warden_stop(w);
}

static const char trees[] = "echo up; (sleep 100 & sleep 100) & sleep 100 & sleep 100";

static void send_nonsense(struct warden *w, int kind)
{
    static char bytes[256];
    struct peer_head head = { WIRE_VERSION, WIRE_SPAWN, 0 };
    struct wire_hello hello = { 0 };
    struct wire_ended end = { 0 };
    struct err e = { 0 };
    memset(bytes, 'x', sizeof bytes);
    switch (kind) {
    case 0:
        peer_send(w->fd, bytes, 1, 0);
        break;
    case 1:
        peer_send(w->fd, bytes, sizeof bytes, 0);
        break;
    case 2:
        peer_send(w->fd, bytes, sizeof bytes, PEER_FDS_MAX);
        break;
    case 3:
        peer_send(w->fd, &head, sizeof head, 5);
        break; /* a spawn that says nothing */
    case 4:
        peer_send(w->fd, &head, sizeof head, 0);
        break;
    case 5:
        CHECK_INT(wire_send_hello(w->fd, &hello, &e), 0);
        break; /* not the keeper's words */
    case 6:
        CHECK_INT(wire_send_ended(w->fd, &end, &e), 0);
        break;
    case 7:
        CHECK_INT(wire_send_started(w->fd, &(struct wire_started){ .id = 1 }, &e), 0);
        break;
    case 8:
        CHECK_INT(wire_send_kill(w->fd, &(struct wire_kill){ 1, END_WALL }, &e), 0);
        break;
    case 9:
        peer_send(w->fd, bytes, 0, 0);
        break; /* nothing at all reads as the end */
    default:
        CHECK(false);
    }
}
enum { KINDS_OF_NONSENSE = 10 };

static int nonsense; /* the kind that is tried now */

static void break_protocol(struct warden *w)
{
    struct keeper_run r = keeper_shell(w, 1, trees);
    keeper_is_up(&r);
    send_nonsense(w, nonsense);
    check_dropped(w, &r);
}

static void test_peer_that_breaks_the_protocol_is_dropped_and_nothing_is_left(void)
{
    for (nonsense = 0; nonsense < KINDS_OF_NONSENSE; nonsense++)
        keeper_at_every_level(break_protocol);
}

static void repeat_an_id(struct warden *w)
{
    struct keeper_run r = keeper_shell(w, 1, trees);
    keeper_is_up(&r);
    scoped(keeper_run) same = keeper_shell(w, 1, "exit 0");
    check_dropped(w, &r);
}

static void test_peer_that_uses_an_id_twice_is_dropped(void)
{
    keeper_at_every_level(repeat_an_id);
}

static void go_away(struct warden *w)
{
    char out[64];
    scoped(keeper_run) r = keeper_shell(w, 1, trees);
    keeper_is_up(&r);
    warden_stop(w);
    CHECK_INT(keeper_read(r.out, out, sizeof out), 0);
}

static void test_peer_that_goes_away_leaves_nothing_running(void)
{
    keeper_at_every_level(go_away);
}

static void clear_directories(void)
{
    const char *tmp = getenv("TMPDIR");
    autodir DIR *d = tmp ? opendir(tmp) : NULL;
    struct err e = { 0 };
    if (!CHECK(d != NULL))
        return;
    for (struct dirent *entry; d && (entry = readdir(d));)
        if (strncmp(entry->d_name, "belljar-", 8) == 0)
            CHECK_INT(tree_remove(dirfd(d), entry->d_name, &e), 0);
}

static void kill_the_warden(struct warden *w)
{
    char out[64];
    scoped(keeper_run) r = keeper_shell(w, 1, trees);
    keeper_is_up(&r);
    CHECK_INT(kill(w->pid, SIGKILL), 0);
    warden_stop(w);
    CHECK_INT(keeper_read(r.out, out, sizeof out), 0);
    if (w->isolation.level == LEVEL_PROCESS)
        clear_directories(); /* which nobody was left to remove */
}

static void test_killed_warden_takes_every_run_with_it(void)
{
    keeper_at_every_level(kill_the_warden);
}

/* Answers that nobody takes fill the wire; the warden does not wait for room. */
static void never_listen(struct warden *w)
{
    char *relative[] = { (char *)"true", NULL };
    struct err e = { 0 };
    char *none[] = { NULL };
    struct wire_spawn s = {
        .job.limits = limits_default(), .job.argv = relative, .job.envp = none, .job.outputs = none
    };
    struct keeper_run r = keeper_shell(w, 1, trees);
    keeper_is_up(&r);
    int sent = 0;
    const int fds[5] = { r.in, r.in, r.in, r.in, r.in };
    for (int waits = 0; sent < 20000 && waits < 60000;) {
        s.id = (uint64_t)sent + 2;
        if (wire_send_spawn(w->fd, &s, fds, &e) == 0)
            sent++;
        else if (e.sys != ETOOMANYREFS)
            break;
        /* an ordinary user's descriptors on their way are counted: until the warden has taken
         * some */
        else
            waits += usleep(1000) == 0;
    }
    CHECK(sent < 20000 && e.code == ERR_UNAVAILABLE);
    check_dropped(w, &r);
}

static void test_peer_that_does_not_listen_is_dropped(void)
{
    keeper_at_every_level(never_listen);
}

static void ignore_the_outputs(struct warden *w)
{
    char *argv[] = { (char *)"/bin/sh", (char *)"-c",
                     (char *)"mkdir -p a/b; head -c 1000000 /dev/zero > out", NULL };
    char *outputs[] = { (char *)"out", NULL };
    scoped(keeper_run)
        r = keeper_spawn(w, &(struct keeper_ask){ .id = 1, .argv = argv, .outputs = outputs });
    fd_close(&r.outputs);
    CHECK_INT(keeper_wait(w, 1).evidence.exit_code, 0);
    still_serves(w);
}

static void test_outputs_that_nobody_reads_leave_nothing(void)
{
    keeper_at_every_level(ignore_the_outputs);
}

static const struct check_test tests[] = {
    TEST(test_peer_that_breaks_the_protocol_is_dropped_and_nothing_is_left),
    TEST(test_peer_that_uses_an_id_twice_is_dropped),
    TEST(test_peer_that_goes_away_leaves_nothing_running),
    TEST(test_killed_warden_takes_every_run_with_it),
    TEST(test_peer_that_does_not_listen_is_dropped),
    TEST(test_outputs_that_nobody_reads_leave_nothing),
};
CHECK_MAIN(tests)
