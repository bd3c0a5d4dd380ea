/* A jar between two jobs. A sweeper kills every process that the last job has left, so that the next
 * job meets files of it and no process. It is in the pid namespace of the jar, where kill(-1) reaches
 * all processes but init and itself; the kernel signals them as one, so no fork slips through. It is
 * in no other namespace of the jar and has the rights of the warden: it runs no code of a guest and
 * reads nothing of one. A guest that has its uid (level rootless) can kill it, and then the jar ends.
 * Runs in: warden, and the sweeper. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "jar/as_owner.h"
#include "jar/clone.h"
#include "jar/jar_impl.h"

enum { SWEPT = 0, PROCESSES_LEFT = 1 };
enum { SWEEP_TRIES = 5000, SWEEP_PAUSE_US = 500 };

_Noreturn static void sweeper_main(void)
{
    (void)prctl(PR_SET_NAME, "jar-sweeper", 0, 0, 0);
    /* Our parent is outside our pid namespace. Otherwise we would be in that of the warden, and
     * would kill every jar. */
    if (getppid() != 0)
        _exit(PROCESSES_LEFT);
    for (int i = 0; i < SWEEP_TRIES; i++) {
        if (kill(-1, SIGKILL) < 0)
            _exit(errno == ESRCH ? SWEPT : PROCESSES_LEFT);
        (void)usleep(SWEEP_PAUSE_US); /* init reaps them */
    }
    _exit(PROCESSES_LEFT);
}

/* A limit that ends a job kills init, and with it the jar. */
bool jar_may_rest(const struct jar *j)
{
    const limit_set deadly = LIMIT_BIT(LIMIT_WALL_MS) | LIMIT_BIT(LIMIT_CPU_MS) |
                             LIMIT_BIT(LIMIT_MEMORY);
    const struct evidence *ev = &j->outcome.evidence;
    return j->job.flags & JOB_STAYS && j->started && !jar_on_host(j) && ev->reason == END_EXIT &&
           !(ev->hits & deadly);
}

int jar_start_sweeper(struct jar *j, struct err *e)
{
    if (as_owner_setns(j->host, j->init_pidfd, CLONE_NEWPID) < 0)
        return err_set(e, ERR_KERNEL, errno, "enter the jar's pid namespace");
    pid_t pid = clone_process(0, -1, &j->sweeper_pidfd, e);
    if (pid == 0)
        sweeper_main();
    if (setns(j->host->own_pid_ns_fd, CLONE_NEWPID) < 0)
        abort(); /* our next child would be in this jar: such a warden must not go on */
    j->sweeper = pid;
    return pid < 0 ? -1 : 0;
}

bool jar_end_sweeper(struct jar *j)
{
    siginfo_t info = { 0 };
    if (j->sweeper_pidfd < 0)
        return false;
    bool reaped = waitid(P_PIDFD, (id_t)j->sweeper_pidfd, &info, WEXITED) == 0;
    fd_close(&j->sweeper_pidfd);
    return reaped && info.si_code == CLD_EXITED && info.si_status == SWEPT;
}

void jar_forget_last(struct jar *j)
{
    if (j->has_cgroup) {
        (void)cgroup_reset_peak(&j->cgroup);
        cgroup_read(&j->cgroup, &j->stats);
    }
    j->from = j->stats;
    j->jobs_before++;
    fd_close(&j->program_pidfd);
    j->program = 0;
    j->program_reaped = j->started = j->reported_ready = j->reported_going = false;
    j->failure = (struct err){ 0 };
    j->outcome = (struct jar_outcome){ 0 };
    j->lead_us = j->needed_us = j->foresee_us = j->asked_us = 0;
    j->source = NULL;
    j->unpacked = false; /* the program does it */
    free(j->samples);
    j->samples = NULL;
}
