/* The states of a jar, and the transitions between them. Runs in: warden. */
#include "jar/jar.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/tree.h"
#include "jar/inside.h"
#include "jar/jar_impl.h"

enum {
    SETUP_US = 30 * 1000000,   /* a longer set-up has failed */
    FORK_US = 5 * 1000000,     /* a zygote that needs longer to fork does not answer */
    COLLECT_US = 30 * 1000000, /* to read outputs and, at level process, to remove the files */
    SWEEP_US = 10 * 1000000,   /* to end the processes that a job has left */
    REST_US = 60 * 1000000,    /* without another job */
    RETRY_US = 1000,           /* between attempts at a step that only needs time */
    REMOVE_TRIES = 5000,
};

/* Without a job the jar is idle, with these limits. */
static int jar_new(struct jar_host *h, struct embryo_source *source, const struct limits *limits,
                   const struct job_spec *job, const int *fds, struct jar **ret_jar, struct err *e)
{
    struct jar *j = calloc(1, sizeof *j);
    if (!j)
        return err_no_memory(e, "a jar");
    *j = (struct jar){ .host = h,
                       .job = { .flags = source && source->no_sockets ? JOB_NO_SOCKETS : 0,
                                .limits = *limits },
                       .source = h->isolation.level == LEVEL_PROCESS ? NULL : source,
                       .idle = !job,
                       .fds = { -1, -1, -1, -1, -1, -1 },
                       .scratch_fd = -1,
                       .slate_fd = -1,
                       .net_fd = -1,
                       .job_fd = -1,
                       .init_pidfd = -1,
                       .program_pidfd = -1,
                       .collector_pidfd = -1,
                       .sweeper_pidfd = -1,
                       .plumber_pidfd = -1,
                       .plumber_error_fd = -1,
                       .end_fd = -1,
                       .report_fd = -1,
                       .watch = WATCH_INIT,
                       .due_us = clock_us() + SETUP_US };
    if (jar_build(j, job, fds, e)) {
        jar_free(j);
        return -1;
    }
    *ret_jar = j;
    return 0;
}

int jar_spawn(struct jar_host *h, struct embryo_source *source, const struct job_spec *job,
              const int fds[SESSION_FDS], struct jar **ret_jar, struct err *e)
{
    bool cold = job->flags & (JOB_WRITABLE_ROOT | JOB_LISTED) ||
                (source && source->no_sockets != (bool)(job->flags & JOB_NO_SOCKETS));
    return jar_new(h, cold ? NULL : source, &job->limits, job, fds, ret_jar, e);
}

int jar_new_idle(struct jar_host *h, struct embryo_source *source, const struct limits *limits,
                 struct jar **ret_jar, struct err *e)
{
    if (h->isolation.level == LEVEL_PROCESS)
        return err_set(e, ERR_BAD_REQUEST, 0, "there are no embryos at level process");
    return jar_new(h, source, limits, NULL, NULL, ret_jar, e);
}

static void reap(int pidfd)
{
    siginfo_t info;
    if (pidfd >= 0)
        (void)waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED);
}

/* By the count of the kernel only init is left, and that dies at once. */
static bool is_alone(const struct jar *j)
{
    return j->has_cgroup && j->program_reaped && j->stats.pids_now == 1 && !jar_on_host(j);
}

static void hasten(struct jar *j, bool on)
{
    if (j->hastens == on)
        return;
    j->hastens = on;
    cgroup_host_hasten(j->host->cgroups, on);
}

static void send_kill(struct jar *j)
{
    if (j->init_pidfd >= 0)
        (void)pidfd_send_signal(j->init_pidfd, SIGKILL, NULL, 0);
    if (j->has_cgroup && !is_alone(j)) {
        hasten(j, true);
        cgroup_kill(&j->cgroup);
    }
    jar_kill_plumber(j);
    if (j->program_pidfd >= 0 && !j->program_reaped) {
        /* At level process the filter denies setsid and setpgid, so the group is the whole tree.
         * The kernel signals a group as one: no fork slips through. Before the program has made its
         * own session there is no such group yet, hence both. */
        if (jar_on_host(j))
            (void)kill(-j->program, SIGKILL);
        (void)pidfd_send_signal(j->program_pidfd, SIGKILL, NULL, 0);
    }
}

void jar_kill(struct jar *j, enum end_reason reason)
{
    if (j->state >= CLEARING || j->outcome.evidence.reason != END_EXIT)
        return;
    j->outcome.evidence.reason = reason;
    send_kill(j);
}

/* Kills everything inside. The program itself is reaped already, or was never started. */
static void begin_clearing(struct jar *j, uint64_t now_us)
{
    struct err ignored;
    send_kill(j);
    jar_tell_end(j);
    (void)!jar_reap_plumber(j, &ignored); /* it was killed */
    fd_close(&j->report_fd);
    fd_close(&j->job_fd);
    watch_done(&j->watch, &j->host->watch);
    jar_release_job(j);
    j->state = CLEARING;
    j->due_us = j->init_pidfd >= 0 ? now_us + SETUP_US : now_us;
}

/* The next report, if there is one. Notes when the pipe is closed. */
static bool next_report(struct jar *j, struct report *ret)
{
    ssize_t n;
    do
        n = read(j->report_fd, ret, sizeof *ret);
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)sizeof *ret) {
        ret->err.text[sizeof ret->err.text - 1] = '\0';
        return true;
    }
    j->report_closed = n >= 0 || errno != EAGAIN;
    return false;
}

/* Reads all reports. -1 when a process failed, or ended without a report. */
static int read_reports(struct jar *j, const char *who, struct err *e)
{
    struct report r;
    while (next_report(j, &r)) {
        if (r.kind == REPORT_FAILED) {
            j->failure = r.err;
            if (r.err.code == ERR_NONE)
                (void)!err_set(&j->failure, ERR_KERNEL, 0, "%s failed", who);
        }
        if (r.kind == REPORT_FORKED && jar_adopt_embryo(j, r.pid, e))
            return -1;
        j->reported_ready = j->reported_ready || r.kind == REPORT_READY;
        if (r.kind == REPORT_GOING) {
            j->reported_going = true;
            j->going_at_us = r.at_us;
            j->start_cpu_us = r.cpu_us;
        }
    }
    /* An embryo may fail before its zygote has reported its pid. Both reports are needed: without
     * the pid we would have a child that we do not know. */
    if (j->failure.code != ERR_NONE && (j->report_closed || j->state != FORKING)) {
        *e = j->failure;
        return -1;
    }
    if (j->report_closed && !j->reported_ready && !j->reported_going)
        return err_set(e, ERR_KERNEL, 0, "%s died while starting", who);
    return 0;
}

/* Kills the program, if there is one. It is reaped like a program that has run. */
static void fail_setup(struct jar *j, const struct err *why, uint64_t now_us)
{
    if (j->outcome.evidence.reason == END_EXIT)
        jar_fail(j, why);
    send_kill(j);
    if (j->program_pidfd < 0) {
        begin_clearing(j, now_us);
        return;
    }
    fd_close(&j->report_fd);
    fd_close(&j->job_fd);
    j->state = RUNNING;
    j->deadline_us = UINT64_MAX;
    j->due_us = now_us + SETUP_US;
}

static int start_after_init(struct jar *j, struct err *e)
{
    j->reported_ready = false;
    if (j->source && jar_request_embryo(j, e) == 0) {
        j->due_us = clock_us() + FORK_US;
        return 0;
    }
    if (j->idle)
        return -1;
    fd_close(&j->job_fd);
    j->source = NULL;
    return jar_hand_over(j, e);
}

static void on_init_report(struct jar *j, uint64_t now_us)
{
    struct err e = { 0 };
    int failed = read_reports(j, "the jar's init", &e);
    if (!failed && !j->reported_ready)
        return;
    if (j->outcome.evidence.reason != END_EXIT)
        begin_clearing(j, now_us); /* it was killed meanwhile */
    else if (failed || start_after_init(j, &e))
        fail_setup(j, &e, now_us);
}

/* The embryo for this job does not come. As long as none was forked the jar is still clean: the job
 * starts cold. */
static void on_fork_failed(struct jar *j, struct err *e, uint64_t now_us)
{
    bool wanted = j->outcome.evidence.reason == END_EXIT;
    if (!wanted || j->idle || j->program_pidfd >= 0) {
        fail_setup(j, e, now_us);
        return;
    }
    fd_close(&j->job_fd);
    j->source = NULL;
    j->failure = (struct err){ 0 };
    j->due_us = now_us + SETUP_US;
    if (jar_hand_over(j, e))
        fail_setup(j, e, now_us);
}

static void on_embryo_report(struct jar *j, uint64_t now_us)
{
    struct err e = { 0 };
    if (read_reports(j, "the embryo", &e)) {
        on_fork_failed(j, &e, now_us);
        return;
    }
    if (!j->reported_ready || j->program_pidfd < 0) {
        if (j->report_closed)
            on_fork_failed(j, &e, now_us);
        return;
    }
    if (j->outcome.evidence.reason != END_EXIT) {
        fail_setup(j, &e, now_us);
        return;
    }
    j->state = READY;
    j->due_us = UINT64_MAX;
    if (!j->idle && jar_hand_over(j, &e))
        fail_setup(j, &e, now_us);
    else if (!j->idle)
        j->due_us = now_us + SETUP_US;
}

/* An embryo sends no report while it waits: a readable pipe means that it died. */
static void on_embryo_death(struct jar *j, uint64_t now_us)
{
    struct err e;
    (void)!err_set(&e, ERR_KERNEL, 0, "the embryo died before its job came");
    fail_setup(j, &e, now_us);
}

/* The routes and sockets are there, before the guest is. */
static void on_plumber_exit(struct jar *j, uint64_t now_us)
{
    struct err e = { 0 };
    int failed = jar_reap_plumber(j, &e);
    if (failed || j->outcome.evidence.reason != END_EXIT || jar_hand_over(j, &e))
        fail_setup(j, &e, now_us);
}

/* The program has reported its start, perhaps long before we read the report. The numbers are those
 * of a process in the jar, and so they are bounded by our own. */
static void note_start(struct jar *j, uint64_t now_us)
{
    uint64_t earliest = j->handed_over_us < now_us ? j->handed_over_us : now_us;
    uint64_t at = j->going_at_us < now_us ? j->going_at_us : now_us;
    uint64_t most = now_us - earliest;
    j->started_us = at > earliest ? at : earliest;
    j->cpu_before_us += j->start_cpu_us < most ? j->start_cpu_us : most;
    j->deadline_us = j->started_us + j->job.limits.v[LIMIT_WALL_MS] * 1000;
    if (!j->cell.limits.number)
        j->cell.cpu_from_us = j->cpu_before_us;
}

/* The program reports just before execve, which closes the pipe. An error follows if execve
 * fails. */
static void on_program_report(struct jar *j, uint64_t now_us)
{
    struct err e = { 0 };
    bool failed = read_reports(j, "the program", &e) || (j->report_closed && !j->reported_going);
    if (!failed && !j->report_closed)
        return;
    if (failed && e.code == ERR_NONE)
        (void)!err_set(&e, ERR_KERNEL, 0, "the program died while starting");
    fd_close(&j->report_fd);
    if (failed && j->outcome.evidence.reason == END_EXIT)
        jar_fail(j, &e);
    if (failed)
        send_kill(j);
    j->started = !failed;
    note_start(j, now_us);
    j->state = RUNNING;
    jar_take_sample(j, now_us);
    j->busy = true;
    jar_plan_look(j, now_us);
}

/* Set-up takes too long: its processes are killed, which closes the pipe of reports. */
static void on_setup_due(struct jar *j, uint64_t now_us)
{
    struct err e;
    (void)!err_set(&e, ERR_KERNEL, 0, "the jar was not ready in %d s", SETUP_US / 1000000);
    jar_fail(j, &e);
    send_kill(j);
    j->due_us = now_us + (uint64_t)RETRY_US * 100;
}

/* The first time, the zygote is late: its owner may end it (jar_is_overdue()). Then the embryo is
 * late. */
static void on_fork_due(struct jar *j, uint64_t now_us)
{
    if (j->overdue) {
        on_setup_due(j, now_us);
        return;
    }
    j->overdue = true;
    j->due_us = now_us + SETUP_US;
}

static void on_program_exit(struct jar *j, uint64_t now_us)
{
    struct err ignored;
    jar_reap_program(j, now_us);
    if (!jar_may_rest(j) || jar_start_sweeper(j, &ignored)) {
        begin_clearing(j, now_us);
        return;
    }
    fd_close(&j->report_fd);
    jar_release_job(j);
    j->state = SWEEPING;
    j->due_us = now_us + SWEEP_US;
}

static void begin_rest(struct jar *j, uint64_t now_us)
{
    fd_close(&j->fds[JOB_FD_OUTPUTS]);
    j->state = RESTING;
    j->due_us = now_us + REST_US;
}

/* A jar with a process of the last job ends: the next job must not meet that process. */
static void on_sweeper_exit(struct jar *j, uint64_t now_us)
{
    bool swept = jar_end_sweeper(j);
    if (!swept || j->outcome.evidence.reason != END_EXIT) {
        begin_clearing(j, now_us);
        return;
    }
    if (!jar_start_collector(j)) {
        begin_rest(j, now_us);
        return;
    }
    j->collects_for_rest = true;
    j->state = COLLECTING;
    j->due_us = now_us + COLLECT_US;
}

static void on_sweeper_due(struct jar *j, uint64_t now_us)
{
    (void)pidfd_send_signal(j->sweeper_pidfd, SIGKILL, NULL, 0);
    j->due_us = now_us + SWEEP_US;
}

static void on_rest_due(struct jar *j, uint64_t now_us)
{
    jar_kill(j, END_CANCEL);
    begin_clearing(j, now_us);
}

/* The last reference to a tmpfs frees it. A large one is freed in a process of its own, and the jar
 * does not wait for that: no process can reach the files any more. */
static void release_files(struct jar *j)
{
    if (jar_on_host(j) || j->scratch_fd < 0)
        return;
    if (reclaim_tmpfs(&j->host->reclaimer, j->scratch_fd))
        j->scratch_fd = -1;
    fd_close(&j->scratch_fd);
}

/* No process is left and no limit was met: later jars may use these parts. */
static void keep_spares(struct jar *j)
{
    struct spares *s = &j->host->spares;
    if (j->outcome.evidence.hits || j->outcome.evidence.reason == END_FAILURE || j->jobs_before > 0)
        return;
    if (j->net_fd >= 0 && !j->plumbed)
        spares_put_net(s, fd_take(&j->net_fd));
    if (j->has_cgroup && spares_put_cgroup(s, &j->cgroup))
        j->has_cgroup = false;
}

static void remove_cgroup(struct jar *j, uint64_t now_us)
{
    release_files(j);
    if (j->remove_tries == 0) {
        keep_spares(j);
        if (j->has_cgroup && reclaim_cgroup(&j->host->reclaimer, &j->cgroup))
            j->has_cgroup = false;
    }
    /* The kernel may count a process for a moment after its parent has reaped it. */
    if (j->has_cgroup && cgroup_remove(&j->cgroup) < 0 && j->remove_tries++ < REMOVE_TRIES) {
        j->state = REMOVING;
        j->due_us = now_us + RETRY_US;
        return;
    }
    j->has_cgroup = false;
    j->state = GONE;
    j->due_us = UINT64_MAX;
}

static void collect_or_remove(struct jar *j, uint64_t now_us)
{
    jar_end_clerks(j);
    hasten(j, false);
    if (!jar_start_collector(j)) {
        remove_cgroup(j, now_us);
        return;
    }
    j->state = COLLECTING;
    j->due_us = now_us + COLLECT_US;
}

/* With init, everything in its pid namespace is gone. */
static void on_init_exit(struct jar *j, uint64_t now_us)
{
    reap(j->init_pidfd);
    fd_close(&j->init_pidfd);
    collect_or_remove(j, now_us);
}

/* Level process: orphans of the group are our children; ECHILD means that none is left. */
static bool group_is_gone(const struct jar *j)
{
    siginfo_t info = { 0 };
    if (j->program <= 0)
        return true;
    while (waitid(P_PGID, (id_t)j->program, &info, WEXITED | WNOHANG) == 0) {
        if (info.si_pid == 0)
            return false;
        info.si_pid = 0;
    }
    return true;
}

static void on_clearing_due(struct jar *j, uint64_t now_us)
{
    if (!jar_on_host(j) && j->init_pidfd >= 0) {
        j->due_us = now_us + SETUP_US; /* init is still dying */
        return;
    }
    if (jar_on_host(j) && !group_is_gone(j)) {
        j->due_us = now_us + RETRY_US;
        return;
    }
    collect_or_remove(j, now_us);
}

static void on_collector_due(struct jar *j, uint64_t now_us)
{
    (void)pidfd_send_signal(j->collector_pidfd, SIGKILL, NULL, 0);
    j->due_us = now_us + COLLECT_US;
}

static void on_collector_exit(struct jar *j, uint64_t now_us)
{
    jar_end_collector(j);
    if (!j->collects_for_rest) {
        remove_cgroup(j, now_us);
        return;
    }
    j->collects_for_rest = false;
    if (j->outcome.evidence.reason == END_EXIT)
        begin_rest(j, now_us);
    else
        begin_clearing(j, now_us); /* the outputs were lost, or it was killed meanwhile */
}

/* For each state: the handler of its event (see jar_fd()), and the handler of its deadline. */
static const struct {
    void (*on_ready)(struct jar *j, uint64_t now_us);
    void (*on_due)(struct jar *j, uint64_t now_us);
} states[] = {
    [BUILDING] = { on_init_report, on_setup_due },
    [FORKING] = { on_embryo_report, on_fork_due },
    [READY] = { on_embryo_death, NULL },
    [PLUMBING] = { on_plumber_exit, on_setup_due },
    [STARTING] = { on_program_report, on_setup_due },
    [RUNNING] = { on_program_exit, jar_on_tick },
    [SWEEPING] = { on_sweeper_exit, on_sweeper_due },
    [RESTING] = { begin_clearing, on_rest_due },
    [CLEARING] = { on_init_exit, on_clearing_due },
    [COLLECTING] = { on_collector_exit, on_collector_due },
    [REMOVING] = { NULL, remove_cgroup },
    [GONE] = { NULL, NULL },
};

int jar_fd(const struct jar *j)
{
    const int fds[] = {
        [BUILDING] = j->report_fd,         [FORKING] = j->report_fd,  [READY] = j->report_fd,
        [PLUMBING] = j->plumber_pidfd,     [STARTING] = j->report_fd, [RUNNING] = j->program_pidfd,
        [SWEEPING] = j->sweeper_pidfd,     [RESTING] = j->init_pidfd, [CLEARING] = j->init_pidfd,
        [COLLECTING] = j->collector_pidfd, [REMOVING] = -1,           [GONE] = -1,
    };
    return fds[j->state];
}

static bool is_readable(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    return fd >= 0 && poll(&p, 1, 0) > 0;
}

void jar_advance(struct jar *j, uint64_t now_us)
{
    jar_check_clerks(j, now_us);
    if (is_readable(jar_fd(j)))
        states[j->state].on_ready(j, now_us);
    else if (now_us >= j->due_us && states[j->state].on_due)
        states[j->state].on_due(j, now_us);
}

uint64_t jar_due_us(const struct jar *j)
{
    uint64_t clerks = jar_clerks_due_us(j), plumber = jar_plumber_due_us(j);
    uint64_t helpers = clerks < plumber ? clerks : plumber;
    return helpers < j->due_us ? helpers : j->due_us;
}

bool jar_is_ready(const struct jar *j)
{
    return j->state == READY && j->outcome.evidence.reason == END_EXIT; /* and it was not killed */
}

int jar_assign(struct jar *j, const struct job_spec *job, const int fds[SESSION_FDS], struct err *e)
{
    if (!jar_is_ready(j))
        return err_set(e, ERR_UNAVAILABLE, 0, "the embryo is not ready");
    if (jar_accept_job(j, job, fds, e)) {
        fail_setup(j, e, clock_us());
        return -1;
    }
    j->due_us = clock_us() + SETUP_US;
    return 0;
}

void jar_source_gone(struct jar *j, const struct embryo_source *s)
{
    struct err e;
    if (j->source != s)
        return;
    if (j->state == FORKING && j->program_pidfd < 0) {
        (void)!err_set(&e, ERR_KERNEL, 0, "the zygote died");
        on_fork_failed(j, &e, clock_us());
    } else if (j->state == BUILDING) {
        j->source = NULL;
        if (j->idle)
            jar_kill(j, END_CANCEL);
    }
}

bool jar_was_forked(const struct jar *j)
{
    return j->source != NULL;
}

bool jar_is_overdue(const struct jar *j)
{
    return j->state == FORKING && j->overdue && j->program_pidfd < 0;
}

bool jar_awaits_embryo(const struct jar *j, const struct embryo_source *s)
{
    return j->source == s && (j->state == BUILDING || j->state == FORKING);
}

pid_t jar_init_awaiting_embryo(const struct jar *j)
{
    return j->state == FORKING && j->program_pidfd < 0 ? j->init : 0;
}

bool jar_has_child(const struct jar *j, pid_t pid)
{
    return (pid == j->init && j->init_pidfd >= 0) || (pid == j->program && !j->program_reaped) ||
           (pid == j->collector && j->collector_pidfd >= 0) ||
           (pid == j->sweeper && j->sweeper_pidfd >= 0) ||
           (pid == j->plumber && j->plumber_pidfd >= 0) || jar_has_clerk(j, pid);
}

bool jar_rests(const struct jar *j)
{
    return j->state == RESTING &&
           j->outcome.evidence.reason == END_EXIT; /* and it was not killed */
}

int jar_next(struct jar *j, const struct job_spec *job, const int fds[SESSION_FDS], struct err *e)
{
    uint64_t now = clock_us();
    if (!jar_rests(j))
        return err_set(e, ERR_UNAVAILABLE, 0, "the jar of the earlier stages has ended");
    jar_forget_last(j);
    if (jar_accept_next(j, job, fds, e)) {
        jar_fail(j, e);
        begin_clearing(j, now);
        return -1;
    }
    j->due_us = now + SETUP_US;
    return 0;
}

bool jar_has_started(const struct jar *j)
{
    return j->started;
}

bool jar_is_gone(const struct jar *j)
{
    return j->state == GONE;
}

const struct jar_outcome *jar_outcome(const struct jar *j)
{
    return &j->outcome;
}

struct samples *jar_take_samples(struct jar *j)
{
    struct samples *s = j->samples;
    j->samples = NULL;
    return s;
}

static bool has_ended(int pidfd)
{
    siginfo_t info = { 0 };
    return waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid != 0;
}

/* The zygote may have forked an embryo that it has not reported, and init cannot end before we have
 * reaped that. If the zygote died without a report, the embryo is one of our children that has
 * ended; the others are being ended too. */
static void await_embryo(struct jar *j)
{
    struct err ignored;
    (void)!read_reports(j, "the embryo", &ignored);
    if (j->program_pidfd < 0 && j->report_closed)
        (void)waitpid(-1, NULL, WNOHANG);
    if (j->program_pidfd >= 0)
        (void)pidfd_send_signal(j->program_pidfd, SIGKILL, NULL, 0);
    else
        (void)usleep(RETRY_US);
}

/* Waits only for processes that have just been killed. The program first: init cannot end before we
 * have reaped our children in its pid namespace. */
static void kill_and_reap(struct jar *j)
{
    send_kill(j);
    if (j->collector_pidfd >= 0)
        (void)pidfd_send_signal(j->collector_pidfd, SIGKILL, NULL, 0);
    if (j->sweeper_pidfd >= 0)
        (void)pidfd_send_signal(j->sweeper_pidfd, SIGKILL, NULL, 0);
    (void)jar_end_sweeper(j); /* before init, which cannot end before it */
    while (j->state == FORKING && j->program_pidfd < 0 && !has_ended(j->init_pidfd))
        await_embryo(j);
    if (!j->program_reaped)
        reap(j->program_pidfd);
    j->program_reaped = true;
    reap(j->init_pidfd);
    while (jar_on_host(j) && !group_is_gone(j))
        (void)usleep(RETRY_US);
    reap(j->collector_pidfd);
    struct err ignored;
    (void)!jar_reap_plumber(j, &ignored);
    jar_end_clerks(j);
    for (int tries = 0; j->has_cgroup && cgroup_remove(&j->cgroup) < 0 && tries < REMOVE_TRIES;
         tries++)
        (void)usleep(RETRY_US);
}

void jar_free(struct jar *j)
{
    if (!j)
        return;
    if (j->state != GONE)
        kill_and_reap(j);
    hasten(j, false);
    if (j->home[0] && rmdir(j->home) < 0) { /* the collector has not removed it */
        struct err ignored;
        (void)!tree_remove(j->scratch_fd, "work", &ignored);
        (void)!tree_remove(j->scratch_fd, "tmp", &ignored);
        (void)rmdir(j->home);
    }
    jar_release_job(j);
    jar_forget_network(j);
    fd_close(&j->fds[JOB_FD_OUTPUTS]);
    fd_close(&j->scratch_fd);
    fd_close(&j->slate_fd);
    fd_close(&j->net_fd);
    fd_close(&j->end_fd);
    fd_close(&j->job_fd);
    fd_close(&j->init_pidfd);
    fd_close(&j->program_pidfd);
    fd_close(&j->collector_pidfd);
    fd_close(&j->report_fd);
    watch_done(&j->watch, &j->host->watch);
    if (j->has_uid)
        uids_give_back(&j->host->uids, j->uid);
    job_spec_done(&j->job);
    free(j->samples);
    free(j);
}
