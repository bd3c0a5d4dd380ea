#include "wire/wire.h"

#include "base/array.h"
#include "check.h"
#include "network_messages.h"
#include "peer.h"

enum { HEAD = sizeof(struct peer_head) };

static char *words[] = { (char *)"/bin/true", (char *)"", (char *)"a b\n", NULL };
static char *no_words[] = { NULL };

/* One of each message is sent and read. The senders fix the content, and the readers compare it. */
static int send_hello(int fd, struct err *e)
{
    struct wire_hello h = { .err = { ERR_UNAVAILABLE, 13, "no cgroup" },
                            .isolation = { LEVEL_ROOTLESS, 0x12345, 0x3F, 7, 2 } };
    return wire_send_hello(fd, &h, e);
}

static int read_hello(const struct wire_message *m, struct err *e)
{
    struct wire_hello h;
    if (wire_read_hello(m, &h, e))
        return -1;
    CHECK(h.err.code == ERR_UNAVAILABLE && h.err.sys == 13 && h.isolation.level == LEVEL_ROOTLESS);
    CHECK(h.isolation.layers == 0x12345 && h.isolation.unenforced == 0x3F);
    CHECK(h.isolation.landlock_abi == 7 && h.isolation.cgroup_version == 2);
    CHECK_STR(h.err.text, "no cgroup");
    return 0;
}

static int send_job_as(int fd, bool is_next, uint32_t flags, struct err *e)
{
    struct wire_spawn s = { .id = UINT64_MAX,
                            .is_next = is_next,
                            .job.flags = flags,
                            .job.limits = limits_default(),
                            .job.argv = words,
                            .job.envp = no_words,
                            .job.outputs = words + 1 };
    return wire_send_spawn(fd, &s, (const int[6]){ 0, 1, 2, 0, 1, 2 }, e);
}

static int send_job(int fd, uint32_t flags, struct err *e)
{
    return send_job_as(fd, false, flags, e);
}

static int send_spawn(int fd, struct err *e)
{
    return send_job(fd, JOB_WRITABLE_ROOT, e);
}

static int send_session(int fd, struct err *e)
{
    return send_job(fd, JOB_SESSION, e);
}

static int send_next(int fd, struct err *e)
{
    return send_job_as(fd, true, JOB_WRITABLE_ROOT, e);
}

static int read_spawn(const struct wire_message *m, struct err *e)
{
    struct wire_spawn s = { 0 };
    if (wire_read_spawn(m, &s, e))
        return CHECK(!s.job.argv && !s.job.envp && !s.job.outputs) ? -1 : -2;
    struct limits l = limits_default();
    bool session = m->type == WIRE_SESSION;
    CHECK_INT(s.is_next, m->type == WIRE_NEXT);
    CHECK(s.id == UINT64_MAX && s.job.flags == (session ? JOB_SESSION : JOB_WRITABLE_ROOT));
    CHECK(memcmp(&s.job.limits, &l, sizeof l) == 0);
    CHECK_STR(s.job.argv[0], "/bin/true");
    CHECK_STR(s.job.argv[1], "");
    CHECK_STR(s.job.argv[2], "a b\n");
    CHECK(s.job.argv[3] == NULL && s.job.envp[0] == NULL);
    CHECK_STR(s.job.outputs[1], "a b\n");
    wire_spawn_done(&s);
    return 0;
}

static int send_cell(int fd, struct err *e)
{
    return wire_send_cell(fd, 3, &(struct cell_limits){ 4, 5, 6, 7 }, e);
}

static int read_cell(const struct wire_message *m, struct err *e)
{
    struct wire_cell c;
    if (wire_read_cell(m, &c, e))
        return -1;
    CHECK(c.id == 3 && c.limits.number == 4 && c.limits.wall_ms == 5 && c.limits.cpu_ms == 6 &&
          c.limits.grace_ms == 7);
    return 0;
}

static const struct cell_usage some_usage = { 4, CELL_CPU, 1, 2, 3, 5, 6, 7, 8 };

static int send_cell_end(int fd, struct err *e)
{
    return wire_send_cell_end(fd, 3, &some_usage, e);
}

static int read_cell_end(const struct wire_message *m, struct err *e)
{
    struct wire_cell_end x;
    if (wire_read_cell_end(m, &x, e))
        return -1;
    const struct cell_usage *u = &x.usage;
    CHECK(x.id == 3 && u->number == 4 && u->interrupted == CELL_CPU && u->wall_us == 1 &&
          u->cpu_us == 2 && u->memory_bytes == 3 && u->memory_peak_bytes == 5 && u->pids == 6 &&
          u->oom_kills == 7 && u->disk_bytes == 8);
    return 0;
}

static int send_measure(int fd, struct err *e)
{
    return wire_send_measure(fd, 9, e);
}

static int read_measure(const struct wire_message *m, struct err *e)
{
    uint64_t id;
    if (wire_read_measure(m, &id, e))
        return -1;
    CHECK_INT(id, 9);
    return 0;
}

static int send_measured(int fd, struct err *e)
{
    return wire_send_measured(fd, &(struct wire_measured){ 9, 10, 11, { 12, 13, 14, 15 } }, e);
}

static int read_measured(const struct wire_message *m, struct err *e)
{
    struct wire_measured x;
    if (wire_read_measured(m, &x, e))
        return -1;
    CHECK(x.id == 9 && x.memory_bytes == 10 && x.pids == 11 && x.usage.wall_us == 12);
    CHECK(x.usage.cpu_us == 13 && x.usage.memory_peak_bytes == 14 && x.usage.pids_peak == 15);
    return 0;
}

static int send_files(int fd, struct err *e)
{
    return wire_send_files(fd, &(struct wire_files){ 9, LIVE_READ, "a/b" }, (const int[]){ 0, 1 },
                           e);
}

static int read_files(const struct wire_message *m, struct err *e)
{
    struct wire_files f;
    if (wire_read_files(m, &f, e))
        return -1;
    CHECK(f.id == 9 && f.operation == LIVE_READ);
    CHECK_STR(f.path, "a/b");
    return 0;
}

static int send_interrupt(int fd, struct err *e)
{
    return wire_send_interrupt(fd, 9, e);
}

static int read_interrupt(const struct wire_message *m, struct err *e)
{
    uint64_t id;
    if (wire_read_interrupt(m, &id, e))
        return -1;
    CHECK_INT(id, 9);
    return 0;
}

static int send_keeper(int fd, struct err *e)
{
    return wire_send_keeper(fd, 7, 0, e);
}

static int read_keeper(const struct wire_message *m, struct err *e)
{
    uint32_t number = 7;
    int rc = wire_read_keeper(m, &number, e);
    CHECK_INT(number, 7);
    return rc;
}

static int send_adopted(int fd, struct err *e)
{
    return wire_send_adopted(fd, 8, e);
}

static int read_adopted(const struct wire_message *m, struct err *e)
{
    uint32_t kept = 8;
    int rc = wire_read_adopted(m, &kept, e);
    CHECK_INT(kept, 8);
    return rc;
}

static int send_keep(int fd, struct err *e)
{
    const struct wire_keep k = { .id = 5, .note = "a\0b", .note_len = 3 };
    return wire_send_keep(fd, &k, (const int[]){ 0, 1, 2 }, e);
}

static int read_keep(const struct wire_message *m, struct err *e)
{
    struct wire_keep k;
    if (wire_read_keep(m, &k, e))
        return -1;
    CHECK(k.id == 5 && k.note_len == 3 && memcmp(k.note, "a\0b", 3) == 0);
    return 0;
}

static int send_adopt(int fd, struct err *e)
{
    return wire_send_adopt(fd, 9, e);
}

static int read_adopt(const struct wire_message *m, struct err *e)
{
    uint64_t after;
    if (wire_read_adopt(m, &after, e))
        return -1;
    CHECK_INT(after, 9);
    return 0;
}

static int send_kept(int fd, struct err *e)
{
    const struct wire_kept k = {
        .id = 5, .started = true, .start = START_WARM, .cell = 6, .note = "note", .note_len = 4
    };
    return wire_send_kept(fd, &k, (const int[]){ 0, 1, 2 }, e);
}

static int read_kept(const struct wire_message *m, struct err *e)
{
    struct wire_kept k;
    if (wire_read_kept(m, &k, e))
        return -1;
    CHECK(k.id == 5 && k.started && k.start == START_WARM && k.cell == 6);
    CHECK(k.note_len == 4 && memcmp(k.note, "note", 4) == 0);
    return 0;
}

static void test_note_that_is_too_long_is_refused(void)
{
    static char note[KEEP_NOTE_MAX + 1];
    struct err e = { 0 };
    const struct wire_keep k = { .id = 5, .note = note, .note_len = sizeof note };
    CHECK_INT(wire_send_keep(0, &k, (const int[]){ 0, 1, 2 }, &e), -1);
    CHECK_INT(e.code, ERR_TOO_LARGE);
}

/* The flag and the number of descriptors belong together. */
static void test_session_has_one_descriptor_more(void)
{
    int fds[2];
    struct err e = { 0 };
    static struct wire_message m;
    struct wire_spawn got = { 0 };
    CHECK_INT(wire_pair(fds, &e), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(i == 0 ? send_session(fds[0], &e) : send_spawn(fds[0], &e), 0);
        CHECK_INT(wire_receive(fds[1], &m, &e), 1);
        CHECK_INT(m.type, i == 0 ? WIRE_SESSION : WIRE_SPAWN);
        m.type = i == 0 ? WIRE_SPAWN : WIRE_SESSION;
        CHECK_INT(wire_read_spawn(&m, &got, &e), -1);
        wire_message_done(&m);
    }
    (void)close(fds[0]);
    (void)close(fds[1]);
}

static void test_list_of_commands_arrives(void)
{
    int fds[2];
    struct err e = { 0 };
    static struct wire_message m;
    char *executes[] = { (char *)"/usr/bin/ls", NULL }, *reads[] = { (char *)"/usr/lib/x", NULL };
    struct wire_spawn s = { .job.flags = JOB_LISTED | JOB_OWN_CODE,
                            .job.limits = limits_default(),
                            .job.argv = words,
                            .job.envp = no_words,
                            .job.outputs = no_words,
                            .job.executes = executes,
                            .job.reads = reads },
                      got = { 0 };
    CHECK_INT(wire_pair(fds, &e), 0);
    CHECK_INT(wire_send_spawn(fds[0], &s, (const int[5]){ 0, 1, 2, 0, 1 }, &e), 0);
    CHECK_INT(wire_receive(fds[1], &m, &e), 1);
    if (CHECK_INT(wire_read_spawn(&m, &got, &e), 0)) {
        CHECK(got.job.flags == s.job.flags && got.job.executes[1] == NULL &&
              got.job.reads[1] == NULL);
        CHECK_STR(got.job.executes[0], "/usr/bin/ls");
        CHECK_STR(got.job.reads[0], "/usr/lib/x");
    }
    wire_spawn_done(&got);
    wire_message_done(&m);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

static int send_kill(int fd, struct err *e)
{
    return wire_send_kill(fd, &(struct wire_kill){ 7, END_CANCEL }, e);
}

static int read_kill(const struct wire_message *m, struct err *e)
{
    struct wire_kill k;
    if (wire_read_kill(m, &k, e))
        return -1;
    CHECK(k.id == 7 && k.reason == END_CANCEL);
    return 0;
}

static int send_started(int fd, struct err *e)
{
    return wire_send_started(fd, &(struct wire_started){ 0x1122334455667788, START_HATCHED }, e);
}

static int read_started(const struct wire_message *m, struct err *e)
{
    struct wire_started s;
    if (wire_read_started(m, &s, e))
        return -1;
    CHECK(s.id == 0x1122334455667788 && s.start == START_HATCHED);
    return 0;
}

static const struct pool_targets targets = { .kinds = { { true, 3 }, { false, 0 }, { true, 512 } },
                                             .limits = { .v = { 1, 2, 3 } },
                                             .zygote_forks = 1000,
                                             .zygote_age_ms = 60000 };

static int send_targets(int fd, struct err *e)
{
    return wire_send_targets(fd, &targets, e);
}

static int read_targets(const struct wire_message *m, struct err *e)
{
    struct pool_targets t;
    if (wire_read_targets(m, &t, e))
        return -1;
    CHECK(t.kinds[0].on && t.kinds[0].ready == 3 && !t.kinds[1].on && t.kinds[2].ready == 512);
    CHECK(t.limits.v[2] == 3 && t.zygote_forks == 1000 && t.zygote_age_ms == 60000);
    return 0;
}

static const struct wire_pools pools = {
    .kinds = 2,
    .state = { { ZYGOTE_UP, 4, 1, { 1, 2, 3 }, 7, 2, 1, 5, "" },
               { ZYGOTE_FAILED, 0, 0, { 9, 0, 0 }, 0, 1, 1, 0, "no such module" } }
};

static int send_pools(int fd, struct err *e)
{
    return wire_send_pools(fd, &pools, e);
}

static int read_pools(const struct wire_message *m, struct err *e)
{
    struct wire_pools p;
    if (wire_read_pools(m, &p, e))
        return -1;
    CHECK(p.kinds == 2 && p.state[0].zygote == ZYGOTE_UP && p.state[0].ready == 4);
    CHECK(p.state[0].starts[START_WARM] == 3 && p.state[0].forks == 7 && p.state[0].discarded == 5);
    CHECK(p.state[1].zygote == ZYGOTE_FAILED && strcmp(p.state[1].why, "no such module") == 0);
    return 0;
}

static const struct wire_ended ended = { .id = 9,
                                         .err = { ERR_KERNEL, 28, "full" },
                                         .evidence = { END_WALL, 255, 31, 0x1FF, HOARD_LOCKS },
                                         .usage = { 1, UINT64_MAX, 3, 4 } };

static int send_ended(int fd, struct err *e)
{
    return wire_send_ended(fd, &ended, e);
}

static int read_ended(const struct wire_message *m, struct err *e)
{
    struct wire_ended x;
    if (wire_read_ended(m, &x, e))
        return -1;
    CHECK(x.id == 9 && x.err.code == ERR_KERNEL && x.err.sys == 28);
    CHECK_STR(x.err.text, "full");
    CHECK(memcmp(&x.evidence, &ended.evidence, sizeof x.evidence) == 0);
    CHECK(memcmp(&x.usage, &ended.usage, sizeof x.usage) == 0);
    return 0;
}

static const struct isolation promised = { LEVEL_JAR, 0xFFFFF, 0x1, 6, 2 };

static int send_warden(int fd, struct err *e)
{
    return wire_send_warden(fd, &promised, 0, e);
}

static int read_warden(const struct wire_message *m, struct err *e)
{
    struct isolation got;
    if (wire_read_warden(m, &got, e))
        return -1;
    CHECK(memcmp(&got, &promised, sizeof got) == 0);
    return 0;
}

static int send_settings(int fd, struct err *e)
{
    return wire_send_settings(fd, "runs.max = 5\n", e);
}

static int read_settings(const struct wire_message *m, struct err *e)
{
    const char *text;
    if (wire_read_settings(m, &text, e))
        return -1;
    CHECK_STR(text, "runs.max = 5\n");
    return 0;
}

static int send_alive(int fd, struct err *e)
{
    return wire_send_alive(fd, 77, e);
}
static int read_alive(const struct wire_message *m, struct err *e)
{
    uint32_t number;
    if (wire_read_alive(m, &number, e))
        return -1;
    CHECK_INT(number, 77);
    return 0;
}

static int send_drain(int fd, struct err *e)
{
    return wire_send_drain(fd, &(struct wire_drain){ .now = true }, e);
}

static int read_drain(const struct wire_message *m, struct err *e)
{
    struct wire_drain d;
    if (wire_read_drain(m, &d, e))
        return -1;
    CHECK(d.now);
    return 0;
}

static int send_language(int fd, struct err *e)
{
    return wire_send_language(fd, 7, 0, e);
}

static int read_language(const struct wire_message *m, struct err *e)
{
    uint32_t index;
    if (wire_read_language(m, &index, e))
        return -1;
    CHECK_INT(index, 7);
    return 0;
}

static int send_seal(int fd, struct err *e)
{
    return wire_send_seal(
        fd, &(struct wire_seal){ .seq = 7, .removed = 3, .head = { 1, 2, [31] = 9 } }, e);
}

static int read_seal(const struct wire_message *m, struct err *e)
{
    struct wire_seal s;
    if (wire_read_seal(m, &s, e))
        return -1;
    CHECK(s.seq == 7 && s.removed == 3 && s.head[0] == 1 && s.head[1] == 2 && s.head[31] == 9);
    return 0;
}

static const struct samples two_samples = { .n = 2,
                                            .interval_us = 10000,
                                            .at = { { 0, 1, 2, 3 }, { 10000, 5, UINT64_MAX, 7 } } };

static int send_samples(int fd, struct err *e)
{
    return wire_send_samples(fd, 9, &two_samples, e);
}

static int read_samples(const struct wire_message *m, struct err *e)
{
    struct wire_samples x;
    if (wire_read_samples(m, &x, e))
        return -1;
    CHECK(x.id == 9 && x.samples.n == 2 && x.samples.interval_us == 10000);
    CHECK(x.samples.at[1].memory_bytes == UINT64_MAX && x.samples.at[1].pids == 7);
    return 0;
}

static const struct kind {
    int (*send)(int fd, struct err *e);
    int (*read)(const struct wire_message *m, struct err *e);
    size_t n_fds;
} kinds[WIRE_TYPE_COUNT_] = {
    [WIRE_HELLO] = { send_hello, read_hello, 0 },
    [WIRE_SPAWN] = { send_spawn, read_spawn, 5 },
    [WIRE_NEXT] = { send_next, read_spawn, 5 },
    [WIRE_KEEPER] = { send_keeper, read_keeper, 1 },
    [WIRE_KEEP] = { send_keep, read_keep, 3 },
    [WIRE_ADOPT] = { send_adopt, read_adopt, 0 },
    [WIRE_KEPT] = { send_kept, read_kept, 3 },
    [WIRE_ADOPTED] = { send_adopted, read_adopted, 0 },
    [WIRE_CELL] = { send_cell, read_cell, 0 },
    [WIRE_CELL_END] = { send_cell_end, read_cell_end, 0 },
    [WIRE_INTERRUPT] = { send_interrupt, read_interrupt, 0 },
    [WIRE_MEASURE] = { send_measure, read_measure, 0 },
    [WIRE_MEASURED] = { send_measured, read_measured, 0 },
    [WIRE_NETWORK] = { send_network, read_network, 1 },
    [WIRE_PORTER] = { send_porter, read_porter, 1 },
    [WIRE_PORTER_LOST] = { send_porter_lost, read_porter_lost, 0 },
    [WIRE_NET_OPEN] = { send_net_open, read_net_open, 1 },
    [WIRE_NET_CHANGE] = { send_net_change, read_net_change, 0 },
    [WIRE_NET_RECORD] = { send_net_record, read_net_record, 0 },
    [WIRE_PLUMB] = { send_plumb, read_plumb, 1 },
    [WIRE_PLUMBED] = { send_plumbed, read_plumbed, 0 },
    [WIRE_NET_CHANGED] = { send_net_changed, read_net_changed, 0 },
    [WIRE_NET_CLOSED] = { send_net_closed, read_net_closed, 0 },
    [WIRE_FILES] = { send_files, read_files, 2 },
    [WIRE_SESSION] = { send_session, read_spawn, 6 },
    [WIRE_KILL] = { send_kill, read_kill, 0 },
    [WIRE_STARTED] = { send_started, read_started, 0 },
    [WIRE_ENDED] = { send_ended, read_ended, 0 },
    [WIRE_WARDEN] = { send_warden, read_warden, 1 },
    [WIRE_SETTINGS] = { send_settings, read_settings, 0 },
    [WIRE_ALIVE] = { send_alive, read_alive, 0 },
    [WIRE_STOPPED] = { wire_send_stopped, wire_read_stopped, 0 },
    [WIRE_DRAIN] = { send_drain, read_drain, 0 },
    [WIRE_LANGUAGE] = { send_language, read_language, 1 },
    [WIRE_TARGETS] = { send_targets, read_targets, 0 },
    [WIRE_POOLS] = { send_pools, read_pools, 0 },
    [WIRE_SAMPLES] = { send_samples, read_samples, 0 },
    [WIRE_SEAL] = { send_seal, read_seal, 0 },
};

static struct wire_message message; /* too large for the stack of a test */
static char datagram[HEAD + WIRE_MAX_BYTES + 16];

static void test_every_message_comes_back_as_it_was(void)
{
    scoped(pair) p = pair_new();
    for (int i = 0; i < WIRE_TYPE_COUNT_; i++) {
        struct err e = { 0 };
        CHECK_INT(kinds[i].send(p.a, &e), 0);
        CHECK_INT(wire_receive(p.b, &message, &e), 1);
        CHECK_INT(message.type, i);
        CHECK_INT(kinds[i].read(&message, &e), 0);
        wire_message_done(&message);
    }
}

/* More than there may be, and time that goes backwards. */
static void test_samples_that_cannot_be_are_refused(void)
{
    scoped(pair) p = pair_new();
    static struct samples many = { .n = SAMPLES_MAX };
    struct samples back = two_samples;
    struct err e = { 0 };
    back.at[1].at_us = 0;
    back.at[0].at_us = 5;
    CHECK_INT(wire_send_samples(p.a, 1, &many, &e), 0);
    CHECK_INT(wire_receive(p.b, &message, &e), 1);
    CHECK_INT(kinds[WIRE_SAMPLES].send(p.a, &e), 0);
    struct wire_samples x;
    CHECK_INT(wire_read_samples(&message, &x, &e), 0);
    wire_message_done(&message);
    CHECK_INT(wire_receive(p.b, &message, &e), 1);
    wire_message_done(&message);
    CHECK_INT(wire_send_samples(p.a, 1, &back, &e), 0);
    CHECK_INT(wire_receive(p.b, &message, &e), 1);
    CHECK_INT(wire_read_samples(&message, &x, &e), -1);
    wire_message_done(&message);
}

/* Every port of every address would be the full network. */
static void test_every_port_is_of_one_address_and_of_tcp(void)
{
    static const struct {
        uint32_t ipv4;
        uint8_t protocol;
        int rc;
    } rows[] = { { SYNTHETIC_NET + 7, PLUMBING_TCP, 0 },
                 { SYNTHETIC_NET + 7, PLUMBING_UDP, -1 },
                 { 0, PLUMBING_TCP, -1 } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scoped(pair) ends = pair_new();
        static struct wire_network x;
        struct plumbing p = { .n = 1, .at = { { .protocol = rows[i].protocol } } };
        struct err e;
        plumbing_set_ipv4(p.at[0].address, rows[i].ipv4);
        CHECK_INT(wire_send_network(ends.a, 9, &p, 0, &e), 0);
        CHECK_INT(wire_receive(ends.b, &message, &e), 1);
        CHECK_INT(wire_read_network(&message, &x, &e), rows[i].rc);
        wire_message_done(&message);
    }
}

static void test_message_read_as_another_is_refused(void)
{
    scoped(pair) p = pair_new();
    for (int i = 0; i < WIRE_TYPE_COUNT_; i++) {
        struct err e = { 0 };
        CHECK_INT(kinds[i].send(p.a, &e), 0);
        CHECK_INT(wire_receive(p.b, &message, &e), 1);
        for (int k = 0; k < WIRE_TYPE_COUNT_; k++)
            CHECK_INT(kinds[k].read(&message, &e), kinds[k].read == kinds[i].read ? 0 : -1);
        wire_message_done(&message);
    }
}

/* The datagram of this message as it is on the wire. */
static size_t capture(const struct kind *kind)
{
    scoped(pair) p = pair_new();
    struct err e = { 0 };
    CHECK_INT(kind->send(p.a, &e), 0);
    ssize_t n = recv(p.b, datagram, sizeof datagram,
                     0); /* without room for them, descriptors are dropped */
    CHECK(n > HEAD);
    return (size_t)n;
}

static void put_length(size_t n)
{
    uint32_t len = (uint32_t)(n - HEAD);
    memcpy(datagram + 8, &len, sizeof len);
}

/* The results of the receiver and the reader: 0 only if both accept. */
static int deliver(const struct pair *p, const struct kind *kind, size_t n)
{
    struct err e = { 0 };
    peer_send(p->a, datagram, n, kind->n_fds);
    int got = wire_receive(p->b, &message, &e);
    int rc = got == 1 ? kind->read(&message, &e) : -1;
    if (rc)
        CHECK_INT(e.code, ERR_PROTOCOL);
    wire_message_done(&message);
    return rc;
}

static void test_every_cut_is_refused_also_with_an_honest_length(void)
{
    scoped(pair) p = pair_new();
    for (int i = 0; i < WIRE_TYPE_COUNT_; i++) {
        size_t n = capture(&kinds[i]);
        for (size_t cut = 1; cut < n; cut++) {
            CHECK_INT(deliver(&p, &kinds[i], cut), -1); /* the head promises more */
            if (cut < HEAD)
                continue;
            put_length(cut);
            if (!CHECK(deliver(&p, &kinds[i], cut) == -1))
                printf("    type %d cut at %zu\n", i, cut);
            put_length(n);
        }
        CHECK_INT(deliver(&p, &kinds[i], n), 0);
    }
}

static void test_every_byte_more_is_refused_also_with_an_honest_length(void)
{
    scoped(pair) p = pair_new();
    for (int i = 0; i < WIRE_TYPE_COUNT_; i++) {
        size_t n = capture(&kinds[i]);
        for (int extra = 0; extra < 256; extra++) {
            datagram[n] = (char)extra;
            CHECK_INT(deliver(&p, &kinds[i], n + 1), -1);
            put_length(n + 1);
            CHECK_INT(deliver(&p, &kinds[i], n + 1), -1);
            put_length(n);
        }
    }
}

static void test_right_words_under_a_wrong_name_are_refused(void)
{
    scoped(pair) p = pair_new();
    for (int i = 0; i < WIRE_TYPE_COUNT_; i++) {
        size_t n = capture(&kinds[i]);
        for (uint32_t other = 0; other < WIRE_TYPE_COUNT_; other++) {
            memcpy(datagram + 4, &other, sizeof other);
            CHECK_INT(deliver(&p, &kinds[i], n), other == (uint32_t)i ? 0 : -1);
        }
    }
}

/* Messages about a run name it first; the others, and cut ones, name none. */
static void test_id_of_a_message_is_the_run_that_it_is_about(void)
{
    struct err e = { 0 };
    uint64_t id = 1;
    for (int type = 0; type < WIRE_TYPE_COUNT_; type++) {
        bool about_run = type == WIRE_STARTED || type == WIRE_ENDED || type == WIRE_SAMPLES ||
                         type == WIRE_CELL_END || type == WIRE_MEASURED || type == WIRE_PLUMBED;
        message = (struct wire_message){ .type = (enum wire_type)type, .len = 9 };
        message.bytes[0] = 7;
        CHECK_INT(wire_message_id(&message, &id, &e), about_run ? 0 : -1);
        CHECK_INT(id, about_run ? 7 : 1);
        id = 1;
        message.len = 7;
        CHECK_INT(wire_message_id(&message, &id, &e), -1);
    }
}

static const struct check_test tests[] = {
    TEST(test_session_has_one_descriptor_more),
    TEST(test_note_that_is_too_long_is_refused),
    TEST(test_list_of_commands_arrives),
    TEST(test_every_message_comes_back_as_it_was),
    TEST(test_every_port_is_of_one_address_and_of_tcp),
    TEST(test_message_read_as_another_is_refused),
    TEST(test_id_of_a_message_is_the_run_that_it_is_about),
    TEST(test_samples_that_cannot_be_are_refused),
    TEST(test_every_cut_is_refused_also_with_an_honest_length),
    TEST(test_right_words_under_a_wrong_name_are_refused),
    TEST(test_every_byte_more_is_refused_also_with_an_honest_length),
};
CHECK_MAIN(tests)
