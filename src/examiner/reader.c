#include "examiner/reader.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "examiner/answer.h"
#include "examiner/checks.h"
#include "examiner/tests.h"
#include "examiner/warm.h"
#include "jar/seccomp.h"
#include "run/profile.h"
#include "run/reports.h"

enum { CPU_SECONDS = 1 };
#ifdef __SANITIZE_ADDRESS__ /* which reserves terabytes */
static const rlim_t MEMORY_MAX = RLIM_INFINITY;
#else
static const rlim_t MEMORY_MAX = (rlim_t)512 << 20;
#endif

void (*reader_stand_in)(const struct question *q);

/* ---- giving up everything ---- */

/* A lower limit of the caller stays. */
static int limit(int resource, rlim_t max, struct err *e)
{
    struct rlimit l = { max, max };
    if (getrlimit(resource, &l) < 0)
        return err_set(e, ERR_KERNEL, 0, "limit a reader");
    l.rlim_max = l.rlim_max < max ? l.rlim_max : max;
    l.rlim_cur = l.rlim_max;
    return setrlimit(resource, &l) < 0 ? err_set(e, ERR_KERNEL, 0, "limit a reader") : 0;
}

static int confine(int fd, pid_t parent, struct err *e)
{
    (void)prctl(PR_SET_NAME, "belljar-reader", 0, 0, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        return err_set(e, ERR_KERNEL, 0, "confine a reader");
    if (getppid() != parent || fd_keep_only(&fd, 1, e))
        return -1;
    for (int i = 0; i <= STDERR_FILENO; i++)
        if (i != fd)
            (void)close(i);
    if (limit(RLIMIT_AS, MEMORY_MAX, e) || limit(RLIMIT_CPU, CPU_SECONDS, e) ||
        limit(RLIMIT_CORE, 0, e) || limit(RLIMIT_NOFILE, 0, e))
        return -1;
    return seccomp_apply(SECCOMP_READER, e);
}

/* ---- the keeper ---- */

static int receive(int fd, struct buf *b)
{
    uint32_t length = 0;
    struct err e;
    if (fd_read_full(fd, &length, sizeof length) != sizeof length || length > QUESTION_MAX ||
        buf_reserve(b, length, &e) || fd_read_full(fd, b->data, length) != (ssize_t)length)
        return -1;
    b->len = length;
    return 0;
}

/* Sends a frame whose head has its place at the beginning of the buffer: one write wakes the keeper
 * once. */
static int send_frame(int fd, uint32_t kind, struct buf *frame)
{
    const struct reader_frame head = { kind, (uint32_t)(frame->len - sizeof head) };
    memcpy(frame->data, &head, sizeof head);
    return fd_write_all(fd, frame->data, frame->len);
}

static int begin_frame(struct buf *frame, struct err *e)
{
    static const struct reader_frame none;
    return buf_add(frame, &none, sizeof none, e);
}

/* Modules are files, which only the keeper can look for. context: the socket. */
static bool ask_for_module(void *context, const char *module)
{
    const int *fd = context;
    scoped(buf) frame = { 0 };
    struct err e;
    char exists = 0;
    size_t n = strlen(module);
    return n > 0 && n < FRAME_MODULE_MAX && begin_frame(&frame, &e) == 0 &&
           buf_add(&frame, module, n, &e) == 0 && send_frame(*fd, FRAME_MODULE, &frame) == 0 &&
           read(*fd, &exists, 1) == 1 && exists == 1;
}

/* ---- the work ---- */

/* The line of the main file that took the most time; 0: unknown. */
static uint32_t hot_line(const char *main_name, const json_t *profile)
{
    char file[256];
    int line = profile_hot_line(profile, file, sizeof file);
    return line > 0 && main_name && strcmp(file, main_name) == 0 ? (uint32_t)line : 0;
}

static void read_report(struct question *q, struct answer *a)
{
    struct report_found found = report_read(q->report, q->report_len);
    if (q->tables)
        a->tables = json_incref(found.tables);
    if (q->profile)
        a->profile = profile_reduce(found.profile);
    if (q->displays)
        a->displays = json_incref(found.displays);
    q->input.statement = found.runs ? found.running + 1 : 0;
    json_decref(found.tables);
    json_decref(found.profile);
    json_decref(found.displays);
}

static void explain(struct diagnoser *g, struct diagnose_input *in, struct answer *a)
{
    struct diagnosis *d = malloc(sizeof *d);
    in->hot_line = hot_line(in->main_name, a->profile);
    if (d && diagnose(g, in, d))
        a->diagnosis = d;
    else
        free(d);
}

void reader_rehearse(struct diagnoser *g, const char *report)
{
    struct question q = { .report = report,
                          .report_len = report ? strlen(report) : 0,
                          .tables = true,
                          .profile = true,
                          .displays = true };
    scoped(buf) out = { 0 };
    scoped(answer) a = { 0 };
    struct err e;
    if (report)
        read_report(&q, &a);
    (void)hot_line("", a.profile);
    a.diagnosis = malloc(sizeof *a.diagnosis);
    if (a.diagnosis)
        warm_reader(g, a.diagnosis);
    (void)!answer_pack(&a, &out, &e);
}

static int serve(int fd, struct diagnoser *g, struct err *e)
{
    struct buf bytes = { 0 }, out = { 0 }; /* the end of the process frees them */
    struct question_read read = { 0 };
    struct question *q = &read.question;
    if (receive(fd, &bytes) || question_unpack(bytes.data, bytes.len, &read, e))
        return -1;
    struct answer a = { .id = q->id };
    if (reader_stand_in)
        reader_stand_in(q);
    if (q->report)
        read_report(q, &a);
    if (read.may_ask) {
        q->input.available = ask_for_module;
        q->input.context = &fd;
    }
    bool explains = q->explain || q->test_runner != TEST_RUNNER_NONE || q->check;
    if (explains && !g && diagnoser_new(&g, e))
        explains = false;
    bool explained = false;
    if (q->test_runner != TEST_RUNNER_NONE)
        a.tests = tests_find(explains ? g : NULL, q, &explained);
    if (q->check)
        a.check = checks_find(explains ? g : NULL, q);
    if (a.tests &&
        q->input.len == 0) { /* a runner without a report, such as one that cannot build */
        q->input.text = q->input.printed;
        q->input.len = q->input.printed_len;
    }
    if (q->explain && explains && !explained)
        explain(g, &q->input, &a);
    return begin_frame(&out, e) || answer_pack(&a, &out, e) || send_frame(fd, FRAME_ANSWER, &out)
               ? -1
               : 0;
}

/* The end of a process takes about as long as a diagnosis, on a CPU that the keeper may need for the
 * answer to its client. So the keeper chooses the time: it closes the socket. */
static void wait_for_the_end(int fd)
{
    char byte;
    while (read(fd, &byte, 1) > 0)
        ;
}

void reader_run(int fd, pid_t parent, struct diagnoser *g)
{
    struct err e;
    if (confine(fd, parent, &e))
        _exit(READER_UNCONFINED);
    if (g)
        reader_rehearse(g, NULL);
    if (serve(fd, g, &e))
        _exit(1);
    wait_for_the_end(fd);
    _exit(0);
}
