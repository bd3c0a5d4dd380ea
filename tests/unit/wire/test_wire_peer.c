/* Bytes of a peer that are no message, and the descriptors that come with them. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/array.h"
#include "check.h"
#include "child.h"
#include "peer.h"
#include "place.h"
#include "wire/wire.h"

static struct wire_message message; /* too large for the stack of a test */

/* A head and `body` zeros. */
static void send_head(int fd, struct peer_head head, size_t body, size_t n_fds)
{
    static char bytes[sizeof head + WIRE_MAX_BYTES + 1];
    memcpy(bytes, &head, sizeof head);
    peer_send(fd, bytes, sizeof head + body, n_fds);
}

static const struct peer_head started = { WIRE_VERSION, WIRE_STARTED, 8 };

static void test_head_that_is_not_ours_is_refused(void)
{
    static const struct peer_head bad[] = {
        { 0, WIRE_STARTED, 8 },
        { WIRE_VERSION + 1, WIRE_STARTED, 8 },
        { UINT32_MAX, WIRE_STARTED, 8 },
        { WIRE_VERSION, WIRE_TYPE_COUNT_, 8 },
        { WIRE_VERSION, UINT32_MAX, 8 },
        { WIRE_VERSION, 0x80000000, 8 },
        { WIRE_VERSION, WIRE_STARTED, 0 },
        { WIRE_VERSION, WIRE_STARTED, 7 },
        { WIRE_VERSION, WIRE_STARTED, 9 },
        { WIRE_VERSION, WIRE_STARTED, UINT32_MAX },
    };
    scoped(pair) p = pair_new();
    int before = open_fds();
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        for (size_t n_fds = 0; n_fds < 3; n_fds++) {
            struct err e = { 0 };
            send_head(p.a, bad[i], 8, n_fds);
            CHECK_INT(wire_receive(p.b, &message, &e), -1);
            CHECK_INT(e.code, ERR_PROTOCOL);
            CHECK_INT(open_fds(), before);
        }
}

static void test_wrong_number_of_descriptors_is_refused_and_none_stays_open(void)
{
    static const size_t wanted[WIRE_TYPE_COUNT_] = {
        [WIRE_SPAWN] = 5, [WIRE_NEXT] = 5,    [WIRE_SESSION] = 6,  [WIRE_KEEP] = 3,
        [WIRE_KEPT] = 3,  [WIRE_WARDEN] = 1,  [WIRE_LANGUAGE] = 1, [WIRE_KEEPER] = 1,
        [WIRE_FILES] = 2, [WIRE_NETWORK] = 1, [WIRE_PORTER] = 1,   [WIRE_NET_OPEN] = 1,
        [WIRE_PLUMB] = 1,
    };
    static const size_t counts[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 100, 253 };
    scoped(pair) p = pair_new();
    int before = open_fds();
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        for (int type = 0; type < WIRE_TYPE_COUNT_; type++) {
            struct err e = { 0 };
            bool right = counts[i] == wanted[type];
            send_head(p.a, (struct peer_head){ WIRE_VERSION, (uint32_t)type, 8 }, 8, counts[i]);
            int got = wire_receive(p.b, &message, &e);
            if (!CHECK(got == (right ? 1 : -1)))
                printf("    type %d with %zu\n", type, counts[i]);
            if (got == 1) {
                CHECK_INT(open_fds(), before + (int)counts[i]);
                wire_message_done(&message);
            }
            CHECK_INT(open_fds(), before);
        }
    }
}

static void receive_without_room(void *unused)
{
    (void)unused;
    scoped(pair) p = pair_new();
    struct err e = { 0 };
    struct rlimit few;
    CHECK(getrlimit(RLIMIT_NOFILE, &few) == 0 && close_range((unsigned)p.b + 1, ~0U, 0) == 0);
    send_head(p.a, (struct peer_head){ WIRE_VERSION, WIRE_SPAWN, 8 }, 8, 5);
    few.rlim_cur = 4 + (rlim_t)p.b; /* room for three of five, if those below are all open */
    for (int fd = 0; fd < p.b; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)dup2(0, fd);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
    CHECK_INT(wire_receive(p.b, &message, &e), -1);
    CHECK_INT(e.code, ERR_PROTOCOL);
    CHECK_INT(open_fds(), p.b + 1);
}

static void test_descriptors_that_find_no_room_are_missed(void)
{
    CHECK_INT(in_child(receive_without_room, NULL), 0);
}

static void test_descriptors_arrive_in_order_and_closed_on_exec(void)
{
    scoped(pair) p = pair_new();
    struct err e = { 0 };
    char *none[] = { NULL };
    struct wire_spawn s = { .job.argv = none, .job.envp = none, .job.outputs = none };
    int fds[5];
    for (int i = 0; i < 5; i++) {
        fds[i] = memfd_create("unit-test", 0); /* not CLOEXEC on this side */
        CHECK_INT(ftruncate(fds[i], 100 + i), 0);
    }
    CHECK_INT(wire_send_spawn(p.a, &s, fds, &e), 0);
    CHECK_INT(wire_receive(p.b, &message, &e), 1);
    for (int i = 0; i < 5; i++) {
        struct stat st;
        CHECK(fstat(message.fds[i], &st) == 0 && st.st_size == 100 + i);
        CHECK_INT(fcntl(message.fds[i], F_GETFD), FD_CLOEXEC);
        (void)close(fds[i]);
    }
    CHECK_INT(message.fds[5], -1);
    wire_message_done(&message);
    wire_message_done(&message); /* forgets the descriptors that it closed */
}

/* Sends the packed bytes, receives them, and reads them with f. */
#define READ_PACKED(type, packer_, bytes_, fds_, read_, result)          \
    ({                                                                   \
        scoped(pair) p_ = pair_new();                                    \
        struct err e_ = { 0 };                                           \
        CHECK_INT(wire_send(p_.a, type, packer_, bytes_, fds_, &e_), 0); \
        CHECK_INT(wire_receive(p_.b, &message, &e_), 1);                 \
        int rc_ = read_(&message, result, &e_);                          \
        wire_message_done(&message);                                     \
        rc_;                                                             \
    })

static void test_keeper_may_only_end_a_run_for_its_own_reasons(void)
{
    for (uint32_t reason = 0; reason < END_REASON_COUNT_ + 2; reason++) {
        char bytes[64];
        struct wire_kill k;
        struct packer b = { .at = bytes, .left = sizeof bytes };
        pack_u64(&b, 1);
        pack_u32(&b, reason);
        bool may = reason == END_OUTPUT || reason == END_CANCEL;
        CHECK_INT(READ_PACKED(WIRE_KILL, &b, bytes, NULL, wire_read_kill, &k), may ? 0 : -1);
    }
}

static void test_error_of_the_peer_fits_ours_or_is_refused(void)
{
    static const struct {
        uint32_t code;
        size_t text;
        bool good;
    } rows[] = {
        { ERR_KERNEL, 0, true },     { ERR_KERNEL, 239, true },    { ERR_KERNEL, 240, false },
        { ERR_KERNEL, 5000, false }, { ERR_COUNT_ - 1, 10, true }, { ERR_COUNT_, 10, false },
        { UINT32_MAX, 10, false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char bytes[8192], text[5001] = { 0 };
        struct wire_hello h;
        struct packer b = { .at = bytes, .left = sizeof bytes };
        memset(text, 't', rows[i].text);
        pack_u32(&b, rows[i].code);
        pack_u32(&b, 0);
        pack_str(&b, text);
        for (int k = 0; k < 5; k++)
            pack_u32(&b, 0);
        CHECK_INT(READ_PACKED(WIRE_HELLO, &b, bytes, NULL, wire_read_hello, &h),
                  rows[i].good ? 0 : -1);
    }
}

/* A spawn message with these flags and this kind; list bad_list (of six) holds a string with a NUL
 * inside. The fourth and fifth are there if it is listed, or if one of them is the bad one; the last,
 * its mounts, only if it is the bad one. */
static int read_spawn_with(uint32_t flags, uint32_t kind, int bad_list)
{
    char bytes[512];
    struct wire_spawn s = { 0 };
    struct packer b = { .at = bytes, .left = sizeof bytes };
    pack_u64(&b, 1);
    pack_u32(&b, 0); /* not a next job */
    pack_u32(&b, flags);
    pack_u32(&b, kind);
    for (int i = 0; i < LIMIT_COUNT; i++)
        pack_u64(&b, limit_defs[i].def);
    for (int i = 0; i < 6; i++) {
        bool empty = i != bad_list && (i == 5 || (i >= 3 && !(flags & JOB_LISTED)));
        pack_u32(&b, !empty);
        if (!empty)
            pack_bytes(&b, i == bad_list ? "/bin\0sh" : "/bin/sh", 8);
    }
    int rc = READ_PACKED(WIRE_SPAWN, &b, bytes, ((const int[5]){ 0 }), wire_read_spawn, &s);
    CHECK((s.job.argv && s.job.envp && s.job.outputs) == (rc == 0));
    wire_spawn_done(&s);
    return rc;
}

static void test_string_with_a_nul_inside_is_refused(void)
{
    CHECK_INT(read_spawn_with(0, 0, -1), 0);
    for (int list = 0; list < 6; list++) {
        CHECK_INT(read_spawn_with(0, 0, list), -1);
        CHECK_INT(read_spawn_with(JOB_LISTED, 0, list), -1);
    }
}

static void test_flag_that_nobody_knows_is_refused(void)
{
    /* Of these, one goes with a list, and one with another message. */
    const uint32_t by_itself = JOB_FLAGS_ALL & ~(uint32_t)(JOB_OWN_CODE | JOB_SESSION);
    for (int bit = 0; bit < 32; bit++)
        CHECK_INT(read_spawn_with(1U << bit, 0, -1), 1U << bit & by_itself ? 0 : -1);
}

/* A list is for a cold start in a sealed root. */
static void test_list_that_makes_no_sense_is_refused(void)
{
    CHECK_INT(read_spawn_with(JOB_LISTED | JOB_OWN_CODE, 0, -1), 0);
    CHECK_INT(read_spawn_with(JOB_LISTED, 1, -1), -1);
    CHECK_INT(read_spawn_with(JOB_LISTED | JOB_WRITABLE_ROOT, 0, -1), -1);
    CHECK_INT(read_spawn_with(JOB_OWN_CODE, 0, -1), -1);
    CHECK_INT(read_spawn_with(0, 1, -1), 0);
}

static void test_message_of_full_size_passes_and_one_byte_more_does_not(void)
{
    scoped(pair) p = pair_new();
    struct err e = { 0 };
    struct peer_head full = { WIRE_VERSION, WIRE_STARTED, WIRE_MAX_BYTES };
    send_head(p.a, full, WIRE_MAX_BYTES, 0);
    CHECK_INT(wire_receive(p.b, &message, &e), 1);
    CHECK_INT(message.len, WIRE_MAX_BYTES);
    full.len++;
    send_head(p.a, full, WIRE_MAX_BYTES + 1, 0);
    CHECK_INT(wire_receive(p.b, &message, &e), -1);
    full.len--; /* the message has the length that it names, but its last field is cut off */
    send_head(p.a, full, WIRE_MAX_BYTES + 1, 0);
    CHECK_INT(wire_receive(p.b, &message, &e), -1);
}

static void test_too_large_a_message_is_not_sent(void)
{
    scoped(pair) p = pair_new();
    struct err e = { 0 };
    static char large[WIRE_MAX_BYTES];
    memset(large, 'a', sizeof large - 1);
    char *argv[] = { large, NULL }, *none[] = { NULL };
    struct wire_spawn s = { .job.argv = argv, .job.envp = none, .job.outputs = none };
    CHECK_INT(wire_send_spawn(p.a, &s, (const int[5]){ 0 }, &e), -1);
    CHECK_INT(e.code, ERR_TOO_LARGE);
    CHECK_INT(recv(p.b, large, sizeof large, MSG_DONTWAIT), -1);
}

static void test_closed_peer_is_no_message_and_no_error(void)
{
    struct err e = { 0 };
    for (int unread = 0; unread < 2; unread++) {
        scoped(pair) p = pair_new();
        if (unread) /* closing with our words unread resets the connection */
            send_head(p.b, started, 8, 0);
        fd_close(&p.a);
        CHECK_INT(wire_receive(p.b, &message, &e), 0);
    }
}

static void test_words_sent_before_closing_still_arrive(void)
{
    scoped(pair) p = pair_new();
    struct err e = { 0 };
    struct wire_started s = { 0 };
    CHECK_INT(wire_send_started(p.a, &(struct wire_started){ 5, START_WARM }, &e), 0);
    fd_close(&p.a);
    CHECK_INT(wire_receive(p.b, &message, &e), 1);
    CHECK(wire_read_started(&message, &s, &e) == 0 && s.id == 5 && s.start == START_WARM);
    CHECK_INT(wire_receive(p.b, &message, &e), 0);
}

static void send_to_closed(void *unused)
{
    (void)unused;
    scoped(pair) p = pair_new();
    struct err e = { 0 };
    (void)signal(SIGPIPE, SIG_DFL); /* which would end us */
    fd_close(&p.b);
    CHECK_INT(wire_send_started(p.a, &(struct wire_started){ .id = 1 }, &e), -1);
    CHECK_INT(e.code, ERR_UNAVAILABLE);
    CHECK(strstr(e.text, "started") != NULL);
}

static void test_sending_to_a_closed_peer_says_so_and_raises_no_signal(void)
{
    CHECK_INT(in_child(send_to_closed, NULL), 0);
}

static void test_pair_is_closed_on_exec(void)
{
    scoped(pair) p = pair_new();
    CHECK(fcntl(p.a, F_GETFD) == FD_CLOEXEC && fcntl(p.b, F_GETFD) == FD_CLOEXEC);
}

static void test_empty_datagram_with_descriptors_is_refused_and_none_stays_open(void)
{
    scoped(pair) p = pair_new();
    struct err e = { 0 };
    int before = open_fds();
    peer_send(p.a, "", 0, 5);
    CHECK_INT(wire_receive(p.b, &message, &e), -1);
    CHECK_INT(open_fds(), before);
}

static const struct check_test tests[] = {
    TEST(test_empty_datagram_with_descriptors_is_refused_and_none_stays_open),
    TEST(test_head_that_is_not_ours_is_refused),
    TEST(test_wrong_number_of_descriptors_is_refused_and_none_stays_open),
    TEST(test_descriptors_that_find_no_room_are_missed),
    TEST(test_descriptors_arrive_in_order_and_closed_on_exec),
    TEST(test_keeper_may_only_end_a_run_for_its_own_reasons),
    TEST(test_error_of_the_peer_fits_ours_or_is_refused),
    TEST(test_string_with_a_nul_inside_is_refused),
    TEST(test_flag_that_nobody_knows_is_refused),
    TEST(test_list_that_makes_no_sense_is_refused),
    TEST(test_message_of_full_size_passes_and_one_byte_more_does_not),
    TEST(test_too_large_a_message_is_not_sent),
    TEST(test_closed_peer_is_no_message_and_no_error),
    TEST(test_words_sent_before_closing_still_arrive),
    TEST(test_sending_to_a_closed_peer_says_so_and_raises_no_signal),
    TEST(test_pair_is_closed_on_exec),
};
CHECK_MAIN(tests)
