/* Sessions: programs that stay, with a channel to the keeper. */
#include <sys/socket.h>
#include <sys/un.h>

#include "base/array.h"
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
enum { SHELL = 1 };
static const struct zygote_def *const kinds[] = { &shell, NULL };

static bool has_sessions(const struct warden *w)
{
    return w->isolation.level != LEVEL_PROCESS;
}

static struct keeper_run session(const struct warden *w, uint64_t id, unsigned kind,
                                 const char *script, const struct limits *limits)
{
    scoped(buf) files = { 0 };
    struct err e = { 0 };
    char *argv[] = { (char *)"/bin/bash", (char *)"main.sh", NULL };
    CHECK_INT(bundle_add(&files, "main.sh", 0644, script, strlen(script), &e), 0);
    return keeper_spawn(w, &(struct keeper_ask){ .id = id,
                                                 .argv = argv,
                                                 .kind = kind,
                                                 .flags = JOB_SESSION,
                                                 .bundle = &files,
                                                 .limits = limits });
}

/* The next datagram of the program; "" when there is none. */
static const char *receive(const struct keeper_run *r)
{
    static char text[4096];
    struct pollfd p = { .fd = r->channel, .events = POLLIN };
    ssize_t n = poll(&p, 1, 30000) == 1 ? recv(r->channel, text, sizeof text - 1, 0) : -1;
    text[n > 0 ? n : 0] = '\0';
    return text;
}

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

static const struct check_test tests[] = {
    TEST(test_program_of_a_session_finds_its_channel_at_three),
    TEST(test_embryo_finds_its_channel_at_three),
    TEST(test_channel_that_leads_elsewhere_is_refused),
    TEST(test_wall_time_of_a_session_is_its_life),
};

int main(int argc, char **argv)
{
    keeper_zygotes = kinds;
    return check_run_all(tests, ARRAY_LEN(tests), argc > 1 ? argv[1] : "");
}
