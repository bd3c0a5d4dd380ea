/* Reads the outputs and, at level process, removes the files, in a process that has no more rights
 * than the guest had: the jar's own uid, no capability, and the filter of a
 * guest that may not have sockets. It starts when every
 * process of the jar is dead.
 * Runs in: warden, and the collector. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/caps.h"
#include "base/tree.h"
#include "jar/clone.h"
#include "jar/confine.h"
#include "jar/files.h"
#include "jar/jar_impl.h"
#include "jar/seccomp.h"
#include "spec/bundle.h"

enum { COLLECTED = 0, OUTPUTS_LOST = 1, FILES_LEFT = 2 };

static bool wants_outputs(const struct jar *j)
{
    return j->started && (j->job.outputs[0] || jar_has_whereabouts(j)) &&
           j->outcome.evidence.reason != END_FAILURE;
}

int jar_confine_beside(const struct jar *j, const int stdio[3], int *keep_fd, struct err *e)
{
    if (confine_default_signals(e) || confine_fds(stdio, -1, keep_fd, e) || caps_drop_bounding(e))
        return -1;
    if (j->has_uid &&
        (setresgid(j->uid, j->uid, j->uid) < 0 || setresuid(j->uid, j->uid, j->uid) < 0))
        return err_set(e, ERR_KERNEL, errno, "become the jar's user");
    return confine_no_new_privs(e) || caps_clear(0, e) || seccomp_apply(SECCOMP_PROCESS, e) ? -1
                                                                                            : 0;
}

/* A directory of the scratch file system: no part of it but the directory itself is reachable from
 * inside, so the guest cannot have put a link in its place. */
static int open_place(int scratch_fd, const char *name)
{
    return openat(scratch_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool wants_tmp(const struct jar *j)
{
    for (char *const *name = j->job.outputs; *name; name++)
        if (output_is_in_tmp(*name))
            return true;
    return false;
}

static int collect(const struct jar *j, int scratch_fd, struct err *e)
{
    bool tmp_wanted = wants_tmp(j);
    autoclose int dir = open_place(scratch_fd, jar_on_host(j) ? "work" : "sandbox");
    autoclose int tmp = tmp_wanted ? open_place(scratch_fd, "tmp") : -1;
    if (dir < 0 || (tmp_wanted && tmp < 0))
        return err_set(e, ERR_KERNEL, errno, "open the files of the jar");
    if (files_collect(dir, tmp, j->job.outputs, 1, e))
        return -1;
    return jar_has_whereabouts(j)
               ? files_collect_small(dir, WHEREABOUTS_FILE, WHEREABOUTS_MAX, 1, e)
               : 0;
}

_Noreturn static void collector_main(struct jar *j)
{
    struct err e = { 0 };
    const int fd = j->fds[JOB_FD_OUTPUTS], stdio[3] = { fd, fd, fd };
    int keep = j->scratch_fd;
    bool on_host = jar_on_host(j), wanted = wants_outputs(j);
    if (jar_confine_beside(j, stdio, &keep, &e))
        _exit(OUTPUTS_LOST);
    int status = wanted && collect(j, keep, &e) ? OUTPUTS_LOST : COLLECTED;
    if (on_host && (tree_remove(keep, "work", &e) || tree_remove(keep, "tmp", &e)))
        status = status == COLLECTED ? FILES_LEFT : status;
    _exit(status);
}

bool jar_start_collector(struct jar *j)
{
    struct err e = { 0 };
    jar_send_slate(j);
    if (j->scratch_fd < 0 || (!wants_outputs(j) && !jar_on_host(j)))
        return false;
    pid_t pid = clone_process(0, -1, &j->collector_pidfd, &e);
    if (pid == 0)
        collector_main(j);
    j->collector = pid;
    fd_close(&j->fds[JOB_FD_OUTPUTS]);
    if (pid < 0)
        jar_fail(j, &e);
    return pid > 0;
}

void jar_end_collector(struct jar *j)
{
    siginfo_t info = { 0 };
    struct err e;
    bool reaped = waitid(P_PIDFD, (id_t)j->collector_pidfd, &info, WEXITED) == 0;
    fd_close(&j->collector_pidfd);
    /* jar_free() removes the files that it left on the host. */
    if (reaped && info.si_code == CLD_EXITED &&
        (info.si_status == COLLECTED || info.si_status == FILES_LEFT))
        return;
    (void)!err_set(&e, ERR_KERNEL, 0, "the outputs could not be read");
    if (wants_outputs(j))
        jar_fail(j, &e);
}
