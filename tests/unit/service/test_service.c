#include <linux/capability.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "check.h"
#include "child.h"
#include "place.h"
#include "service/backoff.h"
#include "service/execute_dir.h"
#include "service/listen.h"
#include "service/state.h"

/* ---- addresses ---- */

static void test_addresses_are_read_and_written_the_same(void)
{
    static const struct {
        const char *text, *written;
        bool local;
    } rows[] = {
        { "127.0.0.1:6000", "127.0.0.1:6000", true },
        { "127.9.9.9:1", "127.9.9.9:1", true },
        { "localhost:6080", "127.0.0.1:6080", true },
        { "7001", "127.0.0.1:7001", true },
        { "0.0.0.0:6000", "0.0.0.0:6000", false },
        { "192.168.1.2:65535", "192.168.1.2:65535", false },
        { "128.0.0.1:6000", "128.0.0.1:6000", false },
        { "[::1]:6000", "[::1]:6000", true },
        { "[::]:6000", "[::]:6000", false },
        { "[::ffff:127.0.0.1]:6000", "[::ffff:127.0.0.1]:6000", true },
        { "[::ffff:10.0.0.1]:6000", "[::ffff:10.0.0.1]:6000", false },
        { "unix:/run/x.sock", "unix:/run/x.sock", true },
        { "unix:x:1", "unix:x:1", true },
        { "127.0.0.1:0", "127.0.0.1:0", true },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct listen_address a;
        struct err e = { 0 };
        char text[LISTEN_TEXT];
        CHECK_INT(listen_parse(rows[i].text, &a, &e), 0);
        CHECK_STR(listen_format(&a, text), rows[i].written);
        if (!CHECK(listen_is_local(&a) == rows[i].local))
            printf("    %s\n", rows[i].text);
    }
}

static void test_what_is_no_address_is_refused_saying_what_is(void)
{
    static const char *const bad[] = {
        "",           ":",          ":6000",        "127.0.0.1",     "127.0.0.1:",
        "example:80", "1.2.3:80",   "127.0.0.1:-1", "::1:6000",      "[::1:6000",
        "[::1]",      "[]:80",      "[1.2.3.4]:80", "127.0.0.1:80 ", "127.0.0.1:+1",
        "unix:",      " 1.2.3.4:1", "1.2.3.4:1a",   "[::1%lo]:80",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct listen_address a;
        struct err e = { 0 };
        if (!CHECK(listen_parse(bad[i], &a, &e) == -1))
            printf("    '%s'\n", bad[i]);
        CHECK(strstr(e.text, "127.0.0.1:6000") != NULL);
    }
}

static void test_port_out_of_range_is_named_with_the_range(void)
{
    static const char *const bad[] = { "127.0.0.1:65536", "[::1]:99999", "99999",
                                       "127.0.0.1:99999999999999999999" };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct listen_address a;
        struct err e = { 0 };
        CHECK_INT(listen_parse(bad[i], &a, &e), -1);
        CHECK(strstr(e.text, bad[i]) && strstr(e.text, "is out of range: 0 to 65535"));
    }
}

static void test_listener_has_the_port_the_kernel_chose(void)
{
    struct listen_address a;
    struct listener l, second;
    struct err e = { 0 };
    char text[LISTEN_TEXT];
    CHECK_INT(listen_parse("127.0.0.1:0", &a, &e), 0);
    if (!CHECK_INT(listener_open(&l, &a, &e), 0))
        return;
    CHECK(ntohs(l.address.at.v4.sin_port) != 0);
    CHECK_INT(listener_open(&second, &l.address, &e), -1);
    CHECK_INT(e.code, ERR_CONFLICT);
    CHECK(strstr(e.text, listen_format(&l.address, text)) && strstr(e.text, "--listen"));
    listener_done(&l);
}

static void test_unix_socket_is_its_owners_and_a_stale_one_is_replaced(void)
{
    struct place p;
    struct listen_address a;
    struct listener l, second;
    struct err e = { 0 };
    struct stat st = { 0 };
    char text[300];
    if (!place_init(&p))
        return;
    (void)snprintf(text, sizeof text, "unix:%s/s", p.path);
    CHECK_INT(listen_parse(text, &a, &e), 0);
    CHECK_INT(listener_open(&l, &a, &e), 0);
    CHECK(fstatat(p.fd, "s", &st, 0) == 0 && (st.st_mode & 07777) == 0600);
    CHECK_INT(listener_open(&second, &a, &e), -1); /* somebody listens */
    CHECK_INT(e.code, ERR_CONFLICT);
    fd_close(&l.fd); /* as if it had been killed */
    CHECK_INT(listener_open(&second, &a, &e), 0);
    listener_done(&second);
    CHECK(!place_has(&p, "s"));
    CHECK(place_file(&p, "s", "mine", 0600));
    CHECK_INT(listener_open(&second, &a, &e), -1);
    CHECK(strstr(e.text, "no socket") && place_has(&p, "s"));
    place_done(&p);
}

/* ---- starting again ---- */

static void test_what_dies_is_started_at_once_then_later_and_later(void)
{
    static const uint64_t delays[] = { 0, 100, 200, 400, 800, 1600, 3200, 5000, 5000 };
    struct backoff b = { 0 };
    uint64_t now = 1000;
    for (size_t i = 0; i < ARRAY_LEN(delays); i++) {
        backoff_up(&b, now);
        CHECK_INT(b.due_ms, 0);
        now += 10;
        backoff_down(&b, now);
        CHECK_INT(b.due_ms, now + delays[i]);
    }
    backoff_down(&b, now); /* could not be started */
    CHECK_INT(b.due_ms, now + 5000);
    backoff_up(&b, now);
    backoff_down(&b, now + 30000); /* was well */
    CHECK_INT(b.due_ms, now + 30000);
}

/* ---- state ---- */

static void test_state_is_made_and_held_by_one(void)
{
    struct place p;
    struct state s, other;
    struct err e = { 0 };
    struct stat st = { 0 };
    char path[300], pid[32];
    if (!place_init(&p))
        return;
    (void)snprintf(path, sizeof path, "%s/a/b/", p.path);
    CHECK_INT(state_holder(path), 0);
    CHECK_INT(state_open(&s, path, &e), 0);
    CHECK(s.path[strlen(s.path) - 1] == 'b');
    CHECK(fstat(s.dir_fd, &st) == 0 && (st.st_mode & 07777) == 0755);
    CHECK_INT(state_lock(&s, &e), 0);
    CHECK_INT(state_holder(s.path), getpid());
    CHECK_INT(state_open(&other, path, &e), 0);
    CHECK_INT(state_lock(&other, &e), -1);
    (void)snprintf(pid, sizeof pid, "pid %d", (int)getpid());
    CHECK(e.code == ERR_CONFLICT && strstr(e.text, pid));
    state_done(&s);
    CHECK_INT(state_holder(other.path), 0);
    CHECK_INT(state_lock(&other, &e), 0);
    state_done(&other);
    place_done(&p);
}

static void test_state_of_others_or_open_to_them_is_refused(void)
{
    struct place p;
    struct state s;
    struct err e = { 0 };
    char path[300];
    if (!place_init(&p))
        return;
    (void)snprintf(path, sizeof path, "%s/open", p.path);
    CHECK(mkdirat(p.fd, "open", 0700) == 0 && fchmodat(p.fd, "open", 0777, 0) == 0);
    CHECK_INT(state_open(&s, path, &e), -1);
    CHECK(strstr(e.text, "go-w") != NULL);
    CHECK(symlinkat("open", p.fd, "link") == 0);
    (void)snprintf(path, sizeof path, "%s/link/", p.path);
    CHECK_INT(state_open(&s, path, &e), -1);
    if (geteuid() == 0) {
        (void)snprintf(path, sizeof path, "%s/theirs", p.path);
        CHECK(mkdirat(p.fd, "theirs", 0755) == 0 && fchownat(p.fd, "theirs", 1000, 1000, 0) == 0);
        CHECK_INT(state_open(&s, path, &e), -1);
        CHECK(strstr(e.text, "uid 1000") != NULL);
    }
    place_done(&p);
}

/* A uid that a keeper of a service may have; that of this process if it is not root. */
static uid_t keeper_for_tests(void)
{
    return geteuid() == 0 ? 0x78000007u : geteuid();
}

static void test_data_belong_to_the_keeper_and_are_closed_to_others(void)
{
    struct place p;
    struct state s;
    struct err e = { 0 };
    struct stat st = { 0 };
    char path[300];
    uid_t keeper = keeper_for_tests();
    if (!place_init(&p))
        return;
    (void)snprintf(path, sizeof path, "%s/s", p.path);
    CHECK_INT(state_open(&s, path, &e), 0);
    CHECK_INT(state_data(&s, keeper, &e), 0);
    CHECK(fstatat(s.dir_fd, "data", &st, 0) == 0 && st.st_uid == keeper);
    CHECK(fchmodat(s.dir_fd, "data", 0755, 0) == 0);
    CHECK_INT(state_data(&s, keeper, &e), 0);
    CHECK(fstatat(s.dir_fd, "data", &st, 0) == 0 && (st.st_mode & 07777) == 0700);
    if (geteuid() == 0) {
        CHECK_INT(state_data(&s, 0, &e), 0); /* taken back */
        CHECK(fstatat(s.dir_fd, "data", &st, 0) == 0 && st.st_uid == 0);
        CHECK(fchownat(s.dir_fd, "data", 1000, 1000, 0) == 0);
        CHECK_INT(state_data(&s, keeper, &e), -1);
        CHECK(strstr(e.text, "uid 1000") && strstr(e.text, "chown"));
    }
    state_done(&s);
    place_done(&p);
}

static uid_t owner_of(int dir_fd, const char *name)
{
    struct stat st = { 0 };
    CHECK(fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0);
    return st.st_uid;
}

struct data_for {
    struct state *state;
    uid_t owner;
};

static void make_data(void *context)
{
    struct data_for *d = context;
    struct err e = { 0 };
    CHECK_INT(state_data(d->state, d->owner, &e), 0);
    CHECK_STR(e.text, "");
}

/* The unit of systemd leaves root no right over the files of others. */
static void keep_capabilities_of_the_unit(void)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct set[2] = { 0 };
    set[0].permitted = set[0].effective = 1U << CAP_SETUID | 1U << CAP_SETGID | 1U << CAP_SETPCAP |
                                          1U << CAP_SYS_ADMIN | 1U << CAP_KILL;
    CHECK_INT(syscall(SYS_capset, &head, set), 0);
}

static void make_data_in_the_unit(void *context)
{
    keep_capabilities_of_the_unit();
    make_data(context);
}

static void give_data(struct state *s, uid_t to, bool as_in_the_unit)
{
    struct data_for d = { s, to };
    CHECK_INT(in_child(as_in_the_unit ? make_data_in_the_unit : make_data, &d), 0);
}

/* The links that a keeper could plant before its files are handed over by root. */
static void give_data_away(bool as_in_the_unit)
{
    enum { OLD = 0x70000000, NEW = 0x78000009 };
    struct place p;
    struct state s;
    struct err e = { 0 };
    char path[300];
    if (!place_init(&p))
        return;
    (void)snprintf(path, sizeof path, "%s/s", p.path);
    CHECK_INT(state_open(&s, path, &e), 0);
    give_data(&s, OLD, as_in_the_unit);
    static const char *const files[] = { "s/data/db", "s/data/output/run", "victim", "twin" };
    CHECK(mkdirat(p.fd, "s/data/output", 0700) == 0);
    CHECK(fchownat(p.fd, "s/data/output", OLD, OLD, 0) == 0);
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        autoclose int fd = openat(p.fd, files[i], O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        CHECK(fd >= 0 && fchown(fd, i == 2 ? 0 : OLD, OLD) == 0);
    }
    CHECK(symlinkat("../../victim", p.fd, "s/data/link") == 0);
    CHECK(fchownat(p.fd, "s/data/link", OLD, OLD, AT_SYMLINK_NOFOLLOW) == 0);
    CHECK(symlinkat("../..", p.fd, "s/data/up") == 0);
    CHECK(linkat(p.fd, "victim", p.fd, "s/data/hard", 0) == 0); /* root's */
    CHECK(linkat(p.fd, "twin", p.fd, "s/data/twin", 0) == 0); /* of another service with that uid */
    give_data(&s, NEW, as_in_the_unit);
    CHECK_INT(owner_of(p.fd, "s/data"), NEW);
    CHECK_INT(owner_of(p.fd, "s/data/db"), NEW);
    CHECK_INT(owner_of(p.fd, "s/data/output"), NEW);
    CHECK_INT(owner_of(p.fd, "s/data/output/run"), NEW);
    CHECK_INT(owner_of(p.fd, "s/data/link"), NEW);
    CHECK_INT(owner_of(p.fd, "victim"), 0);
    CHECK_INT(owner_of(p.fd, "twin"), OLD);
    CHECK_INT(owner_of(p.fd, "s"), 0);
    state_done(&s);
    place_done(&p);
}

static void test_data_change_hands_and_no_link_leads_out(void)
{
    if (geteuid() != 0)
        return SKIP("only root can give files to another uid");
    give_data_away(false);
}

/* Other ways to the same end: the owner makes its directory, and a user namespace has the two uids. */
static void test_data_change_hands_without_the_right_to_change_owners(void)
{
    if (geteuid() != 0)
        return SKIP("only root can give files to another uid");
    give_data_away(true);
}

/* A file of a third uid, which the child cannot reach either. */
static void test_namespace_of_two_uids_reaches_no_third_one(void)
{
    enum { OLD = 0x78000001, NEW = 0x78000002, THIRD = 0x78000003 };
    struct place p;
    struct state s;
    struct err e = { 0 };
    char path[300];
    if (geteuid() != 0)
        return SKIP("only root can give files to another uid");
    if (!place_init(&p))
        return;
    (void)snprintf(path, sizeof path, "%s/s", p.path);
    CHECK_INT(state_open(&s, path, &e), 0);
    CHECK(mkdirat(p.fd, "s/data.new", 0770) == 0); /* as a crash leaves it */
    CHECK(mkdirat(p.fd, "s/data.new/d", 0770) == 0);
    CHECK(fchownat(p.fd, "s/data.new/d", OLD, 0, 0) == 0);
    give_data(&s, OLD, true);
    CHECK(!place_has(&p, "s/data.new"));
    CHECK(mkdirat(p.fd, "s/data/other", 0700) == 0);
    CHECK(fchownat(p.fd, "s/data/other", THIRD, THIRD, 0) == 0);
    give_data(&s, NEW, true);
    CHECK_INT(owner_of(p.fd, "s/data"), NEW);
    CHECK_INT(owner_of(p.fd, "s/data/other"), THIRD);
    state_done(&s);
    place_done(&p);
}

static void test_uid_of_the_keeper_is_kept_beside_the_data(void)
{
    struct place p;
    struct state s;
    struct err e = { 0 };
    struct stat st = { 0 };
    char path[300];
    uid_t uid = 1;
    if (!place_init(&p))
        return;
    (void)snprintf(path, sizeof path, "%s/s", p.path);
    CHECK_INT(state_open(&s, path, &e), 0);
    CHECK_INT(state_read_keeper(&s, &uid, &e), 0);
    CHECK_INT(uid, 0); /* none yet */
    CHECK_INT(state_write_keeper(&s, 0x78000001, false, &e), 0);
    CHECK_INT(state_write_keeper(&s, 0x78000002, false, &e), 0); /* the first one stays */
    CHECK_INT(state_read_keeper(&s, &uid, &e), 0);
    CHECK_INT(uid, 0x78000001);
    CHECK_INT(state_write_keeper(&s, 0x78000003, true, &e), 0);
    CHECK_INT(state_read_keeper(&s, &uid, &e), 0);
    CHECK_INT(uid, 0x78000003);
    CHECK(fstatat(s.dir_fd, "keeper", &st, 0) == 0 && (st.st_mode & 07777) == 0600);
    static const char *const wrong[] = { "0\n", "1000\n", "6165634816\n", "x", "" };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        autoclose int fd = openat(s.dir_fd, "keeper", O_WRONLY | O_TRUNC | O_CLOEXEC);
        CHECK(fd >= 0 && write(fd, wrong[i], strlen(wrong[i])) == (ssize_t)strlen(wrong[i]));
        CHECK_INT(state_read_keeper(&s, &uid, &e), -1);
        CHECK(strstr(e.text, "remove the file") != NULL);
    }
    CHECK(unlinkat(s.dir_fd, "keeper", 0) == 0 && symlinkat("lock", s.dir_fd, "keeper") == 0);
    CHECK_INT(state_read_keeper(&s, &uid, &e), -1);
    state_done(&s);
    place_done(&p);
}

/* Opens and closes; the error, or the owner in *owner and the mode in *mode. */
static struct err open_workspace(const char *path, uid_t keeper, uid_t *owner, mode_t *mode)
{
    struct err e = { 0 };
    struct stat st = { 0 };
    int fd = -1;
    if (execute_dir_open(path, keeper, &fd, &e) == 0) {
        CHECK(fstat(fd, &st) == 0);
        *owner = st.st_uid;
        *mode = st.st_mode & 07777;
        fd_close(&fd);
    }
    return e;
}

static void make_workspaces(void *unused)
{
    (void)unused;
    static const char *const names[] = { "w", "no/w", "a/b/c/d" };
    struct place p;
    char path[300];
    if (!place_init(&p))
        return;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        uid_t owner = 0, keeper = keeper_for_tests();
        mode_t mode = 0, mask = umask(077);
        (void)snprintf(path, sizeof path, "%s/%s", p.path, names[i]);
        CHECK_INT(open_workspace(path, keeper, &owner, &mode).code, ERR_NONE);
        (void)umask(mask);
        CHECK(owner == keeper);
        CHECK_INT(mode, 0750);
    }
    CHECK(place_file(&p, "file", "x", 0644));
    (void)snprintf(path, sizeof path, "%s/file/w", p.path);
    uid_t owner;
    mode_t mode;
    struct err e = open_workspace(path, keeper_for_tests(), &owner, &mode);
    CHECK(e.code != ERR_NONE && strstr(e.text, "execute.workspace"));
    place_done(&p);
}

static void test_workspace_is_made_for_the_keeper_at_any_depth(void)
{
    make_workspaces(NULL);
}

static void make_workspaces_in_the_unit(void *unused)
{
    keep_capabilities_of_the_unit();
    make_workspaces(unused);
}

static void test_workspace_is_made_without_the_right_to_change_owners(void)
{
    if (geteuid() != 0)
        return SKIP("only root can give files to another uid");
    CHECK_INT(in_child(make_workspaces_in_the_unit, NULL), 0);
}

static void test_workspace_of_others_is_used_if_the_keeper_can_write_or_refused(void)
{
    struct place p;
    char path[300];
    uid_t owner = 0, keeper = keeper_for_tests();
    mode_t mode;
    struct err e;
    if (geteuid() != 0 || !place_init(&p))
        return;
    (void)snprintf(path, sizeof path, "%s/w", p.path);
    CHECK(mkdir(path, 0755) == 0); /* root's, and empty: given to the keeper */
    CHECK_INT(open_workspace(path, keeper, &owner, &mode).code, ERR_NONE);
    CHECK(owner == keeper);
    CHECK(chown(path, 0x70000000, 0x70000000) == 0); /* as older versions made it */
    CHECK_INT(open_workspace(path, keeper, &owner, &mode).code, ERR_NONE);
    CHECK(owner == keeper);
    CHECK(chown(path, 1000, 1000) == 0);
    e = open_workspace(path, keeper, &owner, &mode);
    CHECK_INT(e.code, ERR_DENIED);
    CHECK(strstr(e.text, "chown -R") && strstr(e.text, "uid 1000"));
    CHECK(chmod(path, 0777) == 0); /* writable for all: usable as it is */
    CHECK_INT(open_workspace(path, keeper, &owner, &mode).code, ERR_NONE);
    CHECK(owner == 1000);
    CHECK(chown(path, 0, 0) == 0 && chmod(path, 0755) == 0 && place_file(&p, "w/f", "x", 0644));
    e = open_workspace(path, keeper, &owner, &mode); /* files of root's stay root's */
    CHECK_INT(e.code, ERR_DENIED);
    place_done(&p);
}

static const struct check_test tests[] = {
    TEST(test_addresses_are_read_and_written_the_same),
    TEST(test_what_is_no_address_is_refused_saying_what_is),
    TEST(test_port_out_of_range_is_named_with_the_range),
    TEST(test_listener_has_the_port_the_kernel_chose),
    TEST(test_unix_socket_is_its_owners_and_a_stale_one_is_replaced),
    TEST(test_what_dies_is_started_at_once_then_later_and_later),
    TEST(test_state_is_made_and_held_by_one),
    TEST(test_state_of_others_or_open_to_them_is_refused),
    TEST(test_data_belong_to_the_keeper_and_are_closed_to_others),
    TEST(test_data_change_hands_and_no_link_leads_out),
    TEST(test_data_change_hands_without_the_right_to_change_owners),
    TEST(test_namespace_of_two_uids_reaches_no_third_one),
    TEST(test_workspace_is_made_without_the_right_to_change_owners),
    TEST(test_uid_of_the_keeper_is_kept_beside_the_data),
    TEST(test_workspace_is_made_for_the_keeper_at_any_depth),
    TEST(test_workspace_of_others_is_used_if_the_keeper_can_write_or_refused),
};
CHECK_MAIN(tests)
