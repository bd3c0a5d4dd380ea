/* Requests that the warden refuses: the answer says why, and the next run is served. */
#include <sys/mman.h>

#include "base/array.h"
#include "check.h"
#include "keeper.h"

static bool still_serves(struct warden *w)
{
    scoped(keeper_run) r = keeper_shell(w, 1000, "exit 3");
    struct wire_ended end = keeper_wait(w, 1000);
    return CHECK(end.evidence.reason == END_EXIT && end.evidence.exit_code == 3);
}

/* A run that could not begin is an answer, and the next one is served. */
static void check_refused(struct warden *w, const struct keeper_ask *ask, enum err_code code,
                          const char *word)
{
    char out[64];
    scoped(keeper_run) r = keeper_spawn(w, ask);
    struct wire_ended end = keeper_wait(w, ask->id);
    CHECK_INT(end.evidence.reason, END_FAILURE);
    CHECK_STR(err_name(end.err.code), err_name(code));
    if (!CHECK(strstr(end.err.text, word) != NULL))
        printf("    %s\n", end.err.text);
    CHECK_INT(keeper_read(r.out, out, sizeof out), 0);
}

/* Every descriptor of the message in turn is one that leads somewhere else. */
static void odd_descriptors(struct warden *w)
{
    static const char *const words[] = { "not a pipe", "not a pipe", "not a pipe", "sealed",
                                         "not a pipe" };
    char *argv[] = { (char *)"/bin/true", NULL };
    char fifo[300];
    (void)snprintf(fifo, sizeof fifo, "%s/fifo", getenv("TMPDIR"));
    CHECK_INT(mkfifo(fifo, 0600), 0);
    int odd[] = { open("/dev/null", O_RDWR | O_CLOEXEC), open(fifo, O_RDWR | O_CLOEXEC),
                  open("/", O_PATH | O_CLOEXEC), memfd_create("unit-test", MFD_CLOEXEC) };
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        for (int at = 0; at < 5; at++)
            check_refused(
                w,
                &(struct keeper_ask){ .id = 1, .argv = argv, .replaced = at + 1, .with = odd[i] },
                ERR_PROTOCOL, words[at]);
        fd_close(&odd[i]);
    }
    CHECK_INT(unlink(fifo), 0);
    still_serves(w);
}

static void test_descriptors_that_lead_elsewhere_are_refused(void)
{
    keeper_at_every_level(odd_descriptors);
}

static void wrong_way_round(struct warden *w)
{
    char *argv[] = { (char *)"/bin/true", NULL };
    struct err e = { 0 };
    int ends[2];
    CHECK_INT(fd_pipe(ends, &e), 0);
    for (int at = 0; at < 3; at++)
        check_refused(
            w,
            &(struct keeper_ask){
                .id = 1, .argv = argv, .replaced = at + 1, .with = ends[at == 0 ? 1 : 0] },
            ERR_PROTOCOL, "not a pipe");
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static void test_pipes_the_wrong_way_round_are_refused(void)
{
    keeper_at_every_level(wrong_way_round);
}

static void odd_limits(struct warden *w)
{
    char *argv[] = { (char *)"/bin/true", NULL };
    for (int i = 0; i < LIMIT_COUNT; i++) {
        struct limits l = limits_default();
        l.v[i] = limit_defs[i].max + 1;
        check_refused(w, &(struct keeper_ask){ .id = 1, .argv = argv, .limits = &l },
                      ERR_BAD_REQUEST, limit_defs[i].key);
        if (limit_defs[i].min == 0)
            continue; /* 0 is a value of it */
        l.v[i] = 0;
        check_refused(w, &(struct keeper_ask){ .id = 1, .argv = argv, .limits = &l },
                      ERR_BAD_REQUEST, limit_defs[i].key);
    }
    still_serves(w);
}

static void over_the_bounds(struct warden *w)
{
    char *argv[] = { (char *)"/bin/true", NULL };
    for (int i = 0; i < LIMIT_COUNT; i++) {
        struct limits l = limits_default();
        l.v[i]++;
        check_refused(w, &(struct keeper_ask){ .id = 1, .argv = argv, .limits = &l },
                      ERR_BAD_REQUEST, limit_defs[i].key);
    }
    still_serves(w);
}

/* A keeper that was taken over gets no more than the operator gives. */
static void test_bounds_of_the_operator_are_checked_by_the_warden(void)
{
    static struct run_bounds bounds;
    bounds.most = limits_default();
    keeper_bounds = &bounds;
    keeper_at_every_level(over_the_bounds);
    keeper_bounds = NULL;
}

static void test_limits_are_checked_again_by_the_warden(void)
{
    keeper_at_every_level(odd_limits);
}

static void odd_programs(struct warden *w)
{
    char *missing[] = { (char *)"/no/such/program", NULL }, *nothing[] = { NULL };
    char *relative[] = { (char *)"bin/true", NULL },
         *plain_file[] = { (char *)"/usr/lib/os-release", NULL };
    check_refused(w, &(struct keeper_ask){ .id = 1, .argv = missing }, ERR_NOT_FOUND,
                  "/no/such/program");
    check_refused(w, &(struct keeper_ask){ .id = 1, .argv = relative }, ERR_BAD_REQUEST,
                  "absolute");
    check_refused(w, &(struct keeper_ask){ .id = 1, .argv = nothing }, ERR_BAD_REQUEST, "absolute");
    check_refused(w, &(struct keeper_ask){ .id = 1, .argv = plain_file }, ERR_KERNEL, "os-release");
    still_serves(w);
}

static void test_program_that_cannot_start_is_told_by_name(void)
{
    keeper_at_every_level(odd_programs);
}

static void odd_files(struct warden *w)
{
    char *argv[] = { (char *)"/bin/true", NULL };
    struct buf cut = { .data = (char *)"cut", .len = 3 };
    check_refused(w, &(struct keeper_ask){ .id = 1, .argv = argv, .bundle = &cut }, ERR_PROTOCOL,
                  "bundle");
    still_serves(w);
}

static void test_files_that_are_no_bundle_are_refused(void)
{
    keeper_at_every_level(odd_files);
}

/* A list that cannot be enforced starts no run. With a list that can, only listed programs start,
 * not even the program itself without an entry. */
static void odd_lists(struct warden *w)
{
    char *argv[] = { (char *)"/bin/true", NULL }, *none[] = { NULL };
    struct keeper_ask ask = { .id = 1, .argv = argv, .flags = JOB_LISTED, .reads = none };
    if (w->isolation.level == LEVEL_PROCESS) {
        ask.executes = none;
        check_refused(w, &ask, ERR_BAD_REQUEST, "Landlock");
        return (void)still_serves(w);
    }
    static const char *const bad[] = { "/sandbox/x", "bin/true", "/usr/../etc/passwd", "" };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char *paths[] = { (char *)bad[i], NULL };
        ask.executes = paths;
        check_refused(w, &ask, ERR_BAD_REQUEST, "cannot be listed");
    }
    char *missing[] = { (char *)"/usr/no/such/file", NULL };
    ask.executes = missing;
    check_refused(w, &ask, ERR_KERNEL, "/usr/no/such/file");
    ask.executes = none;
    check_refused(w, &ask, ERR_KERNEL, "/bin/true");
    still_serves(w);
}

static void test_list_that_cannot_be_held_is_refused(void)
{
    keeper_at_every_level(odd_lists);
}

static const struct check_test tests[] = {
    TEST(test_descriptors_that_lead_elsewhere_are_refused),
    TEST(test_pipes_the_wrong_way_round_are_refused),
    TEST(test_limits_are_checked_again_by_the_warden),
    TEST(test_bounds_of_the_operator_are_checked_by_the_warden),
    TEST(test_program_that_cannot_start_is_told_by_name),
    TEST(test_files_that_are_no_bundle_are_refused),
    TEST(test_list_that_cannot_be_held_is_refused),
};
CHECK_MAIN(tests)
