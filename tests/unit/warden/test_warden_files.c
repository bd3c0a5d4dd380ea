/* Clerks: processes that reach the files of a session while it runs. */
#include <sys/mman.h>

#include "base/array.h"
#include "check.h"
#include "keeper.h"
#include "spec/bundle.h"
#include "wire/wire.h"

/* A file that fills the pipe of its reader, and a small one. */
static const char script[] = "head -c 1000000 /dev/zero > big; printf small > small; echo up\n"
                             "exec sleep 1000";
/* Every process of the jar that a guest can reach is stopped. */
static const char stopped[] = "printf small > small; echo up; kill -STOP -1; kill -STOP $$";

static bool begin(const struct warden *w, uint64_t id, const char *text, struct keeper_run *ret)
{
    scoped(buf) files = { 0 };
    struct err e = { 0 };
    char *argv[] = { (char *)"/bin/bash", (char *)"main.sh", NULL };
    struct limits limits = limits_default();
    limits.v[LIMIT_WALL_MS] = 100000; /* its life */
    CHECK_INT(bundle_add(&files, "main.sh", 0644, text, strlen(text), &e), 0);
    *ret = keeper_spawn(
        w, &(struct keeper_ask){
               .id = id, .argv = argv, .flags = JOB_SESSION, .bundle = &files, .limits = &limits });
    static struct wire_message m;
    return keeper_is_up(ret) && CHECK(wire_receive(w->fd, &m, &e) == 1 && m.type == WIRE_STARTED);
}

/* Our end of the pipe for the answer. */
static int ask(const struct warden *w, uint64_t id, enum live_file_operation operation,
               const char *path, const char *bytes)
{
    int ends[2];
    struct err e = { 0 };
    struct buf body = { .data = (char *)bytes, .len = bytes ? strlen(bytes) : 0 };
    autoclose int memory = -1;
    CHECK_INT(fd_pipe(ends, &e), 0);
    CHECK_INT(fd_sealed_memory("unit-test", &body, &memory, &e), 0);
    const int fds[2] = { ends[1], bytes ? memory : ends[1] };
    CHECK_INT(wire_send_files(w->fd, &(struct wire_files){ id, operation, path }, fds, &e), 0);
    (void)close(ends[1]);
    return ends[0];
}

/* The error of a request, and the payload of its answer. */
static enum err_code answer_of(const struct warden *w, uint64_t id,
                               enum live_file_operation operation, const char *path,
                               const char *bytes, char *out, size_t size)
{
    scoped(buf) answer = { 0 };
    struct live_file_record last = { 0 };
    struct err e = { 0 };
    autoclose int fd = ask(w, id, operation, path, bytes);
    CHECK_INT(fd_read_to_buf(fd, LIVE_ANSWER_MAX, &answer, &e), 0);
    if (live_answer_read(&answer, path, &last, &e) == 0)
        (void)snprintf(out, size, "%.*s", (int)last.size, answer.data);
    return e.code;
}

static void check_answers(const struct warden *w, uint64_t id)
{
    char text[64] = "";
    CHECK_INT(answer_of(w, id, LIVE_READ, "small", NULL, text, sizeof text), ERR_NONE);
    CHECK_STR(text, "small");
    CHECK_INT(answer_of(w, id, LIVE_WRITE, "new/file", "mine", text, sizeof text), ERR_NONE);
    CHECK_INT(answer_of(w, id, LIVE_READ, "new/file", NULL, text, sizeof text), ERR_NONE);
    CHECK_STR(text, "mine");
    CHECK_INT(answer_of(w, id, LIVE_REMOVE, "new/file", NULL, text, sizeof text), ERR_NONE);
    CHECK_INT(answer_of(w, id, LIVE_READ, "new/file", NULL, text, sizeof text), ERR_NOT_FOUND);
}

static void end(const struct warden *w, uint64_t id)
{
    struct err e = { 0 };
    CHECK_INT(wire_send_kill(w->fd, &(struct wire_kill){ id, END_CANCEL }, &e), 0);
    CHECK_INT(keeper_wait(w, id).evidence.reason, END_CANCEL);
}

static bool has_sessions(const struct warden *w)
{
    return w->isolation.level != LEVEL_PROCESS;
}

static void stopped_session(struct warden *w)
{
    scoped(keeper_run) r = KEEPER_RUN_NONE;
    if (!has_sessions(w) || !begin(w, 1, stopped, &r))
        return;
    check_answers(w, 1);
    end(w, 1);
    char text[64];
    CHECK_INT(answer_of(w, 1, LIVE_READ, "small", NULL, text, sizeof text), ERR_UNAVAILABLE);
}

static void test_files_of_a_stopped_session_are_reached(void)
{
    keeper_at_every_level(stopped_session);
}

/* ---- its rights ---- */

/* The value of a line of /proc/PID/status; "" if there is none. */
static const char *status_of(int pid, const char *key, char *out, size_t size)
{
    char path[64], text[8192] = "", line[64];
    (void)snprintf(path, sizeof path, "/proc/%d/status", pid);
    (void)!fd_read_file(AT_FDCWD, path, text, sizeof text);
    (void)snprintf(line, sizeof line, "\n%s:\t", key);
    const char *at = strstr(text, line);
    (void)snprintf(out, size, "%.*s", at ? (int)strcspn(at + strlen(line), "\n") : 0,
                   at ? at + strlen(line) : "");
    return out;
}

static long filters_of(int pid)
{
    char value[32];
    return strtol(status_of(pid, "Seccomp_filters", value, sizeof value), NULL, 10);
}

/* A child of the warden in its own pid namespace (the clerk), or the program of the jar. The warden
 * has helpers for a moment, which have no filter of their own. */
static int child_of(const struct warden *w, bool clerk)
{
    char path[64], pids[1024] = "", ns[96];
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", w->pid, w->pid);
    (void)!fd_read_file(AT_FDCWD, path, pids, sizeof pids);
    char *save = NULL;
    for (char *p = strtok_r(pids, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
        int levels[4] = { 0 };
        int n = sscanf(status_of((int)strtol(p, NULL, 10), "NSpid", ns, sizeof ns), "%d %d %d %d",
                       &levels[0], &levels[1], &levels[2], &levels[3]);
        if (n >= 2 && (clerk ? n == 2 && filters_of(levels[0]) > filters_of(w->pid)
                             : n == 3 && levels[2] != 1))
            return levels[0];
    }
    return 0;
}

static void check_rights(const struct warden *w, int clerk)
{
    static const struct {
        const char *key, *value;
    } rows[] = { { "CapEff", "0000000000000000" },
                 { "CapPrm", "0000000000000000" },
                 { "CapInh", "0000000000000000" },
                 { "CapAmb", "0000000000000000" },
                 { "NoNewPrivs", "1" },
                 { "Seccomp", "2" } };
    char value[96], of_program[96], path[64], groups[2][4096] = { "", "" };
    int program = child_of(w, false);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK_STR(status_of(clerk, rows[i].key, value, sizeof value), rows[i].value);
    /* One filter of its own, besides that of the warden. */
    CHECK_INT(filters_of(clerk), filters_of(w->pid) + 1);
    if (!CHECK(program > 0))
        return;
    CHECK_STR(status_of(clerk, "Uid", value, sizeof value),
              status_of(program, "Uid", of_program, sizeof of_program));
    CHECK_STR(status_of(clerk, "Gid", value, sizeof value),
              status_of(program, "Gid", of_program, sizeof of_program));
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "/proc/%d/cgroup", i == 0 ? clerk : program);
        CHECK(fd_read_file(AT_FDCWD, path, groups[i], sizeof groups[i]) > 0);
    }
    CHECK_STR(groups[0], groups[1]);
}

static bool is_there(int pid)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d", pid);
    autoclose int fd = open(path, O_PATH | O_CLOEXEC);
    return fd >= 0;
}

/* A clerk that nobody reads from is a guest with the guest's rights, and dies with the jar. */
static void unread(struct warden *w)
{
    scoped(keeper_run) r = KEEPER_RUN_NONE;
    if (!has_sessions(w) || !begin(w, 1, script, &r))
        return;
    autoclose int fd = ask(w, 1, LIVE_READ, "big", NULL);
    struct pollfd p = { .fd = fd, .events = POLLIN };
    CHECK_INT(poll(&p, 1, 30000), 1);
    int clerk = child_of(w, true);
    if (CHECK(clerk > 0))
        check_rights(w, clerk);
    check_answers(w, 1); /* another one is not held up */
    end(w, 1);
    CHECK(!is_there(clerk));
}

static void test_clerk_has_the_rights_of_its_guest_and_dies_with_the_jar(void)
{
    keeper_at_every_level(unread);
}

/* Once is enough: it takes 10 s. */
static void overdue(struct warden *w)
{
    scoped(keeper_run) r = KEEPER_RUN_NONE;
    if (w->isolation.level != LEVEL_JAR || !begin(w, 1, script, &r))
        return;
    int fds[12]; /* more than there may be at a time: the rest is not answered */
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = ask(w, 1, LIVE_READ, "big", NULL);
    unsigned unanswered = 0;
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        struct pollfd p = { .fd = fds[i], .events = POLLIN };
        char byte;
        CHECK_INT(poll(&p, 1, 30000), 1);
        unanswered += read(fds[i], &byte, 1) == 0;
    }
    CHECK_INT(unanswered, 4);
    int clerk = child_of(w, true);
    CHECK(clerk > 0);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) { /* poll() without an event waits for the end */
        struct pollfd p = { .fd = fds[i], .events = 0 };
        CHECK_INT(poll(&p, 1, 60000), 1);
        (void)close(fds[i]);
    }
    check_answers(w, 1);
    CHECK(!is_there(clerk));
    end(w, 1);
}

static void test_clerks_are_bounded_in_time_and_number(void)
{
    keeper_at_every_level(overdue);
}

/* ---- a keeper that breaks the protocol ---- */

static void bad_requests(struct warden *w)
{
    struct err e = { 0 };
    if (!has_sessions(w))
        return;
    for (uint32_t i = 0; i < 8; i++) {
        struct warden keeper = *w;
        scoped(keeper_run) r = KEEPER_RUN_NONE, run = KEEPER_RUN_NONE;
        int ends[2];
        CHECK_INT(wire_new_keeper(w->fd, i + 1, &keeper.fd, &e), 0);
        if (!begin(&keeper, 1, script, &r))
            return;
        run = keeper_shell(&keeper, 2, "echo up; exec sleep 1000");
        CHECK(keeper_is_up(&run));
        CHECK_INT(fd_pipe(ends, &e), 0);
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        int open_memory = memfd_create("unit-test", MFD_CLOEXEC);
        const struct {
            struct wire_files files;
            int fds[2];
        } rows[] = {
            { { 1, LIVE_READ, "../x" }, { ends[1], ends[1] } },
            { { 1, LIVE_READ, "/etc/passwd" }, { ends[1], ends[1] } },
            { { 1, LIVE_REMOVE, "" }, { ends[1], ends[1] } },
            { { 1, LIVE_READ, "small" }, { null, ends[1] } },
            { { 1, LIVE_READ, "small" }, { ends[1], null } },
            { { 1, LIVE_READ, "small" }, { ends[0], ends[1] } },
            { { 1, LIVE_WRITE, "small" }, { ends[1], open_memory } },
            { { 2, LIVE_READ, "small" }, { ends[1], ends[1] } }, /* no session */
        };
        CHECK_INT(wire_send_files(keeper.fd, &rows[i].files, rows[i].fds, &e), 0);
        static struct wire_message m;
        int got;
        while ((got = wire_receive(keeper.fd, &m, &e)) == 1 && m.type == WIRE_STARTED)
            ;
        if (!CHECK(got <= 0))
            printf("    request %u was accepted\n", i);
        (void)close(null);
        (void)close(open_memory);
        (void)close(ends[0]);
        (void)close(ends[1]);
        fd_close(&keeper.fd);
    }
}

static void test_request_about_files_that_breaks_the_protocol_drops_the_keeper(void)
{
    keeper_at_every_level(bad_requests);
}

static const struct check_test tests[] = {
    TEST(test_files_of_a_stopped_session_are_reached),
    TEST(test_clerk_has_the_rights_of_its_guest_and_dies_with_the_jar),
    TEST(test_clerks_are_bounded_in_time_and_number),
    TEST(test_request_about_files_that_breaks_the_protocol_drops_the_keeper),
};
CHECK_MAIN(tests)
