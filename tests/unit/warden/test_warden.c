/* The work of a warden for a keeper that keeps to the protocol. */
#include "warden/warden.h"

#include "base/array.h"
#include "base/clock.h"
#include "check.h"
#include "keeper.h"
#include "spec/bundle.h"

static void run_ends(struct warden *w)
{
    static const struct {
        const char *script;
        int exit_code, signal;
    } rows[] = {
        { "exit 0", 0, 0 }, { "exit 7", 7, 0 }, { "exit 255", 255, 0 }, { "kill -9 $$", 0, SIGKILL }
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scoped(keeper_run) r = keeper_shell(w, i, rows[i].script);
        struct wire_ended end = keeper_wait(w, i);
        CHECK_INT(end.evidence.reason, END_EXIT);
        CHECK_INT(end.evidence.exit_code, rows[i].exit_code);
        CHECK_INT(end.evidence.signal, rows[i].signal);
        CHECK(end.usage.wall_us > 0 && end.err.code == ERR_NONE);
    }
}

static void test_end_of_a_program_is_told_as_the_kernel_saw_it(void)
{
    keeper_at_every_level(run_ends);
}

static void start_is_told(struct warden *w)
{
    struct wire_ended end;
    uint64_t id = 0;
    scoped(keeper_run) r = keeper_shell(w, 77, "exit 0");
    CHECK_INT(keeper_next(w, &id, &end), WIRE_STARTED);
    CHECK_INT(id, 77);
    CHECK_INT(keeper_next(w, &id, &end), WIRE_ENDED);
    CHECK_INT(id, 77);
}

static void test_start_is_told_before_the_end(void)
{
    keeper_at_every_level(start_is_told);
}

static void streams_connect(struct warden *w)
{
    char out[256], error[256];
    scoped(keeper_run) r = keeper_shell(w, 1, "read line; echo \"got $line\"; echo oops >&2");
    CHECK_INT(fd_write_all(r.in, "this\n", 5), 0);
    CHECK(keeper_read(r.out, out, sizeof out) > 0 && keeper_read(r.error, error, sizeof error) > 0);
    CHECK_STR(out, "got this\n");
    CHECK_STR(error, "oops\n");
    CHECK_INT(keeper_wait(w, 1).evidence.exit_code, 0);
}

static void test_streams_connect_keeper_and_program(void)
{
    keeper_at_every_level(streams_connect);
}

static void two_at_once(struct warden *w)
{
    char out[64];
    scoped(keeper_run) a = keeper_shell(w, 1, "echo up; read line; echo $line");
    scoped(keeper_run) b = keeper_shell(w, 2, "echo up; read line; echo $line");
    if (!keeper_is_up(&a) || !keeper_is_up(&b)) /* both live now */
        return;
    CHECK_INT(fd_write_all(b.in, "second\n", 7), 0);
    CHECK_INT(keeper_wait(w, 2).evidence.exit_code, 0);
    CHECK_INT(fd_write_all(a.in, "first\n", 6), 0);
    CHECK_INT(keeper_wait(w, 1).evidence.exit_code, 0);
    CHECK(keeper_read(a.out, out, sizeof out) > 0);
    CHECK_STR(out, "first\n");
    CHECK(keeper_read(b.out, out, sizeof out) > 0);
    CHECK_STR(out, "second\n");
}

static void test_two_runs_at_once_do_not_mix(void)
{
    keeper_at_every_level(two_at_once);
}

static void kill_one(struct warden *w)
{
    struct err e = { 0 };
    char out[64];
    scoped(keeper_run) r = keeper_shell(w, 5, "echo up; sleep 100 & sleep 100 & wait");
    if (!keeper_is_up(&r))
        return;
    CHECK_INT(wire_send_kill(w->fd, &(struct wire_kill){ 6, END_CANCEL }, &e), 0); /* nobody's */
    CHECK_INT(wire_send_kill(w->fd, &(struct wire_kill){ UINT64_MAX, END_OUTPUT }, &e), 0);
    CHECK_INT(wire_send_kill(w->fd, &(struct wire_kill){ 5, END_CANCEL }, &e), 0);
    struct wire_ended end = keeper_wait(w, 5);
    CHECK_INT(end.evidence.reason, END_CANCEL);
    CHECK_INT(end.evidence.signal, SIGKILL);
    CHECK_INT(keeper_read(r.out, out, sizeof out), 0); /* no process of it holds the pipe */
    CHECK_INT(wire_send_kill(w->fd, &(struct wire_kill){ 5, END_CANCEL }, &e), 0); /* too late */
    scoped(keeper_run) next = keeper_shell(w, 5, "exit 0");
    CHECK_INT(keeper_wait(w, 5).evidence.exit_code, 0);
}

static void test_kill_ends_the_whole_run_and_unknown_ids_are_ignored(void)
{
    keeper_at_every_level(kill_one);
}

static void time_out(struct warden *w)
{
    char *argv[] = { (char *)"/bin/sh", (char *)"-c", (char *)"echo early; sleep 100", NULL };
    char out[64];
    struct limits l = limits_default();
    l.v[LIMIT_WALL_MS] = 300;
    uint64_t before = clock_us();
    scoped(keeper_run)
        r = keeper_spawn(w, &(struct keeper_ask){ .id = 1, .argv = argv, .limits = &l });
    struct wire_ended end = keeper_wait(w, 1);
    CHECK_INT(end.evidence.reason, END_WALL);
    CHECK(end.evidence.hits & LIMIT_BIT(LIMIT_WALL_MS));
    CHECK(clock_us() - before >= 300000 && clock_us() - before < 20000000);
    CHECK(keeper_read(r.out, out, sizeof out) > 0);
    CHECK_STR(out, "early\n");
}

static void test_deadline_is_the_wardens_own(void)
{
    keeper_at_every_level(time_out);
}

static void files_in_and_out(struct warden *w)
{
    char *argv[] = { (char *)"/bin/sh", (char *)"-c",
                     (char *)"cat in/data > out; ln -s /etc/passwd link; mkfifo fifo", NULL };
    char *outputs[] = { (char *)"out", (char *)"link", (char *)"fifo", (char *)"never", NULL };
    static const enum output_status statuses[] = { OUTPUT_OK, OUTPUT_NOT_A_FILE, OUTPUT_NOT_A_FILE,
                                                   OUTPUT_MISSING };
    static char bytes[4096];
    struct err e = { 0 };
    scoped(buf) bundle = { 0 };
    CHECK_INT(bundle_add(&bundle, "in/data", 0644, "contents", 8, &e), 0);
    scoped(keeper_run) r = keeper_spawn(
        w, &(struct keeper_ask){ .id = 1, .argv = argv, .outputs = outputs, .bundle = &bundle });
    CHECK_INT(keeper_wait(w, 1).evidence.exit_code, 0);
    ssize_t n = keeper_read(r.outputs, bytes, sizeof bytes);
    if (!CHECK(n > 0))
        return;
    struct buf view = { .data = bytes, .len = (size_t)n };
    struct bundle_entry entry;
    bool more = false;
    size_t pos = 0;
    for (int i = 0; i < 4; i++) {
        if (!CHECK(bundle_next(&view, &pos, &entry, &more, &e) == 0 && more))
            return;
        CHECK_INT(entry.head.status, statuses[i]);
        CHECK(i > 0 || (entry.head.size == 8 && memcmp(entry.bytes, "contents", 8) == 0));
    }
    CHECK(bundle_next(&view, &pos, &entry, &more, &e) == 0 && !more);
}

static void test_files_come_in_and_only_regular_ones_go_out(void)
{
    keeper_at_every_level(files_in_and_out);
}

static void every_file_out(struct warden *w)
{
    char *argv[] = { (char *)"/bin/sh", (char *)"-c",
                     (char *)"mkdir -p a/b; echo 1 > a/b/made; ln -s /etc a/etc; mkfifo a/fifo",
                     NULL };
    char *outputs[] = { (char *)".", NULL };
    static char bytes[4096];
    struct err e = { 0 };
    scoped(buf) bundle = { 0 };
    CHECK_INT(bundle_add(&bundle, "given", 0644, "x", 1, &e), 0);
    scoped(keeper_run) r = keeper_spawn(
        w, &(struct keeper_ask){ .id = 1, .argv = argv, .outputs = outputs, .bundle = &bundle });
    CHECK_INT(keeper_wait(w, 1).evidence.exit_code, 0);
    ssize_t n = keeper_read(r.outputs, bytes, sizeof bytes);
    struct buf view = { .data = bytes, .len = n > 0 ? (size_t)n : 0 };
    struct bundle_entry entry;
    bool more = true;
    int given = 0, made = 0, others = 0;
    for (size_t pos = 0; CHECK_INT(bundle_next(&view, &pos, &entry, &more, &e), 0) && more;) {
        bool ok = entry.head.status == OUTPUT_OK;
        if (ok && entry.head.name_len == 5 && memcmp(entry.name, "given", 5) == 0)
            given++;
        else if (ok && entry.head.name_len == 8 && memcmp(entry.name, "a/b/made", 8) == 0)
            made++;
        else
            others++;
    }
    CHECK(given == 1 && made == 1 && others == 0);
}

static void test_every_file_goes_out_where_all_are_asked_for(void)
{
    keeper_at_every_level(every_file_out);
}

static void layers_are_told(struct warden *w)
{
    const struct isolation *iso = &w->isolation;
    static const layer_set always = LAYER_BIT(LAYER_NO_CAPS) | LAYER_BIT(LAYER_NO_NEW_PRIVS) |
                                    LAYER_BIT(LAYER_SECCOMP) | LAYER_BIT(LAYER_RLIMITS) |
                                    LAYER_BIT(LAYER_ENVIRONMENT) | LAYER_BIT(LAYER_CLOSED_FDS);
    static const layer_set namespaces = LAYER_BIT(LAYER_USER_NS) | LAYER_BIT(LAYER_PID_NS) |
                                        LAYER_BIT(LAYER_MOUNT_NS) | LAYER_BIT(LAYER_NET_NS) |
                                        LAYER_BIT(LAYER_ROOT);
    CHECK_INT(iso->layers & always, always);
    CHECK_INT(iso->layers & namespaces, iso->level == LEVEL_PROCESS ? 0 : namespaces);
    CHECK(!(iso->layers >> LAYER_COUNT_) && !(iso->unenforced >> LIMIT_COUNT));
    bool counted = iso->layers & LAYER_BIT(LAYER_CGROUP_MEMORY);
    CHECK(counted == !(iso->unenforced & LIMIT_BIT(LIMIT_MEMORY)));
    CHECK(counted == (iso->cgroup_version > 0));
    if (iso->level == LEVEL_JAR)
        CHECK(counted && iso->unenforced == 0 && iso->layers & LAYER_BIT(LAYER_OWN_UID));
}

static void test_what_is_promised_fits_the_level(void)
{
    keeper_at_every_level(layers_are_told);
}

static void holds_nothing(struct warden *w)
{
    char byte;
    struct pollfd p = { .fd = keeper_witness, .events = POLLIN };
    scoped(keeper_run) r = keeper_shell(w, 1, "echo up; read line");
    keeper_is_up(&r);
    CHECK_INT(poll(&p, 1, 10000), 1);
    CHECK_INT(read(keeper_witness, &byte, 1),
              0); /* the end: neither warden nor program has it open */
    fd_close(&r.in);
    CHECK_INT(keeper_wait(w, 1).evidence.reason, END_EXIT);
}

static void test_warden_holds_none_of_its_starters_descriptors(void)
{
    keeper_at_every_level(holds_nothing);
}

static const struct check_test tests[] = {
    TEST(test_end_of_a_program_is_told_as_the_kernel_saw_it),
    TEST(test_start_is_told_before_the_end),
    TEST(test_streams_connect_keeper_and_program),
    TEST(test_two_runs_at_once_do_not_mix),
    TEST(test_kill_ends_the_whole_run_and_unknown_ids_are_ignored),
    TEST(test_deadline_is_the_wardens_own),
    TEST(test_files_come_in_and_only_regular_ones_go_out),
    TEST(test_every_file_goes_out_where_all_are_asked_for),
    TEST(test_what_is_promised_fits_the_level),
    TEST(test_warden_holds_none_of_its_starters_descriptors),
};
CHECK_MAIN(tests)
