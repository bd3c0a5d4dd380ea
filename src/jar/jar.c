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
#include "jar/state.h"

enum {
    SETUP_US = 30 * 1000000,   /* a set-up that takes longer has failed */
    COLLECT_US = 30 * 1000000, /* for reading outputs and, at level process, removing the files */
    RETRY_US = 1000,           /* how often something that only needs time is tried again */
    REMOVE_TRIES = 5000,
};

int jar_spawn(struct jar_host *h, const struct jar_spec *spec, struct jar **ret_jar, struct err *e)
{
    struct jar *j = calloc(1, sizeof *j);
    if (!j)
        return err_set(e, ERR_NO_MEMORY, 0, "no memory for a jar");
    *j = (struct jar){ .host = h,
                       .stdio = { -1, -1, -1 },
                       .bundle_fd = -1,
                       .outputs_fd = -1,
                       .scratch_fd = -1,
                       .init_pidfd = -1,
                       .program_pidfd = -1,
                       .collector_pidfd = -1,
                       .report_fd = -1,
                       .due_us = clock_us() + SETUP_US };
    if (jar_build(j, spec, e)) {
        jar_free(j);
        return -1;
    }
    *ret_jar = j;
    return 0;
}

static void wait_for(int pidfd)
{
    siginfo_t info;
    if (pidfd >= 0)
        (void)waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED);
}

static void send_kill(struct jar *j)
{
    if (j->has_cgroup)
        cgroup_kill(&j->cgroup);
    if (j->init_pidfd >= 0)
        (void)pidfd_send_signal(j->init_pidfd, SIGKILL, NULL, 0);
    if (j->program_pidfd >= 0 && !j->program_reaped) {
        /* At level process the filter denies setsid and setpgid, so the group is the whole tree, and the kernel signals
         * a group as one: no fork slips through. Until the program has made its own session there is no such group
         * yet, hence both. */
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

/* Everything inside dies; the program itself is reaped by now, or never was. */
static void clear(struct jar *j, uint64_t now_us)
{
    send_kill(j);
    fd_close(&j->report_fd);
    jar_close_job(j);
    j->state = CLEARING;
    j->due_us = j->init_pidfd >= 0 ? now_us + SETUP_US : now_us;
}

/* The report so far. True when there is no more to come: the other side has closed. */
static bool report_complete(struct jar *j)
{
    for (;;) {
        ssize_t n = read(j->report_fd, (char *)j->reports + j->report_len,
                         sizeof j->reports - j->report_len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0 || errno != EAGAIN;
        j->report_len += (size_t)n;
    }
}

/* What the last whole report says; a process that closed without one died. */
static struct err report_result(struct jar *j, const char *who)
{
    struct err e = { 0 };
    size_t whole = j->report_len / sizeof e;
    if (whole == 0)
        (void)!err_set(&e, ERR_KERNEL, 0, "%s died while starting", who);
    else
        e = j->reports[whole - 1];
    e.text[sizeof e.text - 1] = '\0';
    return e;
}

static void init_ready(struct jar *j, uint64_t now_us)
{
    if (!report_complete(j))
        return;
    struct err e = report_result(j, "the jar's init");
    bool wanted = j->outcome.evidence.reason == END_EXIT;
    if (wanted && e.code == ERR_NONE && jar_start_program(j, &e) == 0)
        return;
    if (wanted)
        jar_fail(j, &e);
    clear(j, now_us);
}

/* The program says "here I go" just before execve, which closes the pipe; an error may follow if execve returns. */
static void program_ready(struct jar *j, uint64_t now_us)
{
    if (!report_complete(j))
        return;
    struct err e = report_result(j, "the program");
    fd_close(&j->report_fd);
    if (e.code != ERR_NONE && j->outcome.evidence.reason == END_EXIT)
        jar_fail(j, &e);
    if (e.code != ERR_NONE)
        send_kill(j);
    j->started = e.code == ERR_NONE;
    j->started_us = now_us;
    j->deadline_us = now_us + j->limits.v[LIMIT_WALL_MS] * 1000;
    j->state = RUNNING;
    j->due_us = jar_next_look(j, now_us);
}

/* Set-up takes too long: what there is dies, and its report ends with it. */
static void late(struct jar *j, uint64_t now_us)
{
    struct err e;
    (void)!err_set(&e, ERR_KERNEL, 0, "the jar was not ready in %d s", SETUP_US / 1000000);
    jar_fail(j, &e);
    send_kill(j);
    j->due_us = now_us + (uint64_t)RETRY_US * 100;
}

static void program_ended(struct jar *j, uint64_t now_us)
{
    jar_reap_program(j, now_us);
    clear(j, now_us);
}

/* The last reference to a tmpfs frees it, a microsecond an inode: in our time if it is small, in a process of its own
 * if the guest made it large. The jar does not wait for that, nothing of it can be reached any more. */
static void let_go_of_files(struct jar *j)
{
    if (jar_on_host(j) || j->scratch_fd < 0)
        return;
    if (undertaker_take(&j->host->undertaker, j->scratch_fd))
        j->scratch_fd = -1;
    fd_close(&j->scratch_fd);
}

static void remove_cgroup(struct jar *j, uint64_t now_us)
{
    let_go_of_files(j);
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

static void empty(struct jar *j, uint64_t now_us)
{
    if (!jar_collect(j)) {
        remove_cgroup(j, now_us);
        return;
    }
    j->state = COLLECTING;
    j->due_us = now_us + COLLECT_US;
}

/* With init, everything in its pid namespace is gone. */
static void init_gone(struct jar *j, uint64_t now_us)
{
    wait_for(j->init_pidfd);
    fd_close(&j->init_pidfd);
    empty(j, now_us);
}

/* Level process: every orphan of the group has come to us; ECHILD says that none is left. */
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

static void look_for_orphans(struct jar *j, uint64_t now_us)
{
    if (!jar_on_host(j) && j->init_pidfd >= 0) {
        j->due_us = now_us + SETUP_US; /* init takes its time to die: nothing to do but wait */
        return;
    }
    if (jar_on_host(j) && !group_is_gone(j)) {
        j->due_us = now_us + RETRY_US;
        return;
    }
    empty(j, now_us);
}

static void collector_late(struct jar *j, uint64_t now_us)
{
    (void)pidfd_send_signal(j->collector_pidfd, SIGKILL, NULL, 0);
    j->due_us = now_us + COLLECT_US;
}

static void collector_ended(struct jar *j, uint64_t now_us)
{
    jar_collected(j);
    remove_cgroup(j, now_us);
}

/* What each state waits for, and what is done when that happens or when the time is up. */
static const struct {
    void (*ready)(struct jar *j, uint64_t now_us);
    void (*due)(struct jar *j, uint64_t now_us);
} states[] = {
    [BUILDING] = { init_ready, late },
    [STARTING] = { program_ready, late },
    [RUNNING] = { program_ended, jar_tick },
    [CLEARING] = { init_gone, look_for_orphans },
    [COLLECTING] = { collector_ended, collector_late },
    [REMOVING] = { NULL, remove_cgroup },
    [GONE] = { NULL, NULL },
};

int jar_fd(const struct jar *j)
{
    const int fds[] = {
        [BUILDING] = j->report_fd,
        [STARTING] = j->report_fd,
        [RUNNING] = j->program_pidfd,
        [CLEARING] = j->init_pidfd,
        [COLLECTING] = j->collector_pidfd,
        [REMOVING] = -1,
        [GONE] = -1,
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
    if (is_readable(jar_fd(j)))
        states[j->state].ready(j, now_us);
    else if (now_us >= j->due_us && states[j->state].due)
        states[j->state].due(j, now_us);
}

uint64_t jar_due_us(const struct jar *j)
{
    return j->due_us;
}

bool jar_started(const struct jar *j)
{
    return j->started;
}

bool jar_gone(const struct jar *j)
{
    return j->state == GONE;
}

const struct jar_outcome *jar_outcome(const struct jar *j)
{
    return &j->outcome;
}

/* Waits, but only for processes that have just been killed. The program first: init cannot end before we have reaped
 * what was born in its pid namespace as our child. */
static void put_down(struct jar *j)
{
    send_kill(j);
    if (j->collector_pidfd >= 0)
        (void)pidfd_send_signal(j->collector_pidfd, SIGKILL, NULL, 0);
    if (!j->program_reaped)
        wait_for(j->program_pidfd);
    j->program_reaped = true;
    wait_for(j->init_pidfd);
    while (jar_on_host(j) && !group_is_gone(j))
        (void)usleep(RETRY_US);
    wait_for(j->collector_pidfd);
    for (int tries = 0; j->has_cgroup && cgroup_remove(&j->cgroup) < 0 && tries < REMOVE_TRIES;
         tries++)
        (void)usleep(RETRY_US);
}

void jar_free(struct jar *j)
{
    if (!j)
        return;
    if (j->state != GONE)
        put_down(j);
    if (j->home[0] && rmdir(j->home) < 0) { /* the collector did not get to it */
        struct err ignored;
        (void)!tree_remove(j->scratch_fd, "work", &ignored);
        (void)!tree_remove(j->scratch_fd, "tmp", &ignored);
        (void)rmdir(j->home);
    }
    jar_close_job(j);
    fd_close(&j->outputs_fd);
    fd_close(&j->scratch_fd);
    fd_close(&j->init_pidfd);
    fd_close(&j->program_pidfd);
    fd_close(&j->collector_pidfd);
    fd_close(&j->report_fd);
    if (j->has_uid)
        uids_give_back(&j->host->uids, j->uid);
    for (char **name = j->outputs; name && *name; name++)
        free(*name);
    free(j->outputs);
    free(j);
}
