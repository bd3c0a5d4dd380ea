#include "jar/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fdio.h"

int confine_no_new_privs(struct err *e)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_set(e, ERR_KERNEL, errno, "set no_new_privs");
    return 0;
}

int confine_die_first(struct err *e)
{
    return fd_write_file(AT_FDCWD, "/proc/self/oom_score_adj", "500", e);
}

int confine_default_signals(struct err *e)
{
    /* The system call itself: libc reserves two signals and would leave them as our caller had
     * them. */
    struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        uint64_t mask;
    } by_default = { 0 };
    sigset_t none;
    sigemptyset(&none);
    for (int s = 1; s <= 64; s++)
        if (s != SIGKILL && s != SIGSTOP &&
            syscall(SYS_rt_sigaction, s, &by_default, NULL, sizeof by_default.mask) < 0)
            return err_set(e, ERR_KERNEL, errno, "reset signal %d", s);
    if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof by_default.mask) < 0)
        return err_set(e, ERR_KERNEL, errno, "unblock the signals");
    return 0;
}

/* A value above the hard limit of the machine is cut to it. If the caller chose the value, that is
 * an error. */
static int set_rlimit(int resource, uint64_t value, bool exact, const char *name, struct err *e)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)resource, &now) < 0)
        return err_set(e, ERR_KERNEL, errno, "read the limit %s", name);
    if (value > now.rlim_max) {
        if (exact)
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "%s %llu is more than this machine gives: up to %llu", name,
                           (unsigned long long)value, (unsigned long long)now.rlim_max);
        value = now.rlim_max;
    }
    struct rlimit want = { value, value };
    if (setrlimit((__rlimit_resource_t)resource, &want) < 0)
        return err_set(e, ERR_KERNEL, errno, "set the limit %s", name);
    return 0;
}

unsigned confine_job_rlimits(const struct job_spec *job)
{
    return RLIMITS_OF_JOB | (job_is_session(job) ? 0 : RLIMITS_OF_RUN);
}

int confine_rlimits(unsigned which, const struct isolation *iso, const struct limits *limits,
                    uint64_t extra_procs, struct err *e)
{
    const uint64_t *v = limits->v;
    bool no_memory = !(iso->layers & LAYER_BIT(LAYER_CGROUP_MEMORY));
    bool no_pids = !(iso->layers & LAYER_BIT(LAYER_CGROUP_PIDS));
    const struct {
        enum rlimits of;
        int resource;
        uint64_t value;
        bool exact, skip;
        const char *name;
    } rows[] = {
        /* core(5): a handler that core_pattern pipes to runs at 0 and does not run at exactly 1; a
         * file of one byte is not written either way. A handler behind a socket always runs. */
        { RLIMITS_OF_ALL, RLIMIT_CORE, 1, false, false, "core" },
        { RLIMITS_OF_JOB, RLIMIT_NOFILE, v[LIMIT_OPEN_FILES], true, false, "open-files" },
        /* the tmpfs of a jar bounds its files better, and shows when it is full */
        { RLIMITS_OF_JOB, RLIMIT_FSIZE, v[LIMIT_DISK], false, iso->level != LEVEL_PROCESS,
          "file size" },
        { RLIMITS_OF_ALL, RLIMIT_MEMLOCK, 1 << 20, false, false, "locked memory" },
        { RLIMITS_OF_ALL, RLIMIT_MSGQUEUE, 1 << 20, false, false, "message queues" },
        { RLIMITS_OF_ALL, RLIMIT_SIGPENDING, 1024, false, false, "pending signals" },
        { RLIMITS_OF_ALL, RLIMIT_NICE, 0, false, false, "nice" },
        { RLIMITS_OF_ALL, RLIMIT_RTPRIO, 0, false, false, "real-time priority" },
        /* A process past its CPU time dies even if the warden is late. This limit counts ticks,
         * the warden the real time. On a busy or virtual machine ticks can be a fifth too many,
         * and a process that they killed too early would have no known cause of death. Hence the
         * margin. */
        { RLIMITS_OF_RUN, RLIMIT_CPU, (v[LIMIT_CPU_MS] + v[LIMIT_CPU_MS] / 2 + 999) / 1000 + 1,
          false, false, "CPU time" },
        /* well above the limit of the cgroup, if there is one: only the cgroup counts the
         * refusals */
        { RLIMITS_OF_JOB, RLIMIT_NPROC, v[LIMIT_PIDS] + extra_procs + (no_pids ? 0 : 64), false,
          false, "processes" },
        /* only for each process: for machines without a cgroup that counts the tree */
        { RLIMITS_OF_JOB, RLIMIT_DATA, v[LIMIT_MEMORY], false, !no_memory, "memory" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if ((rows[i].of & which) && !rows[i].skip &&
            set_rlimit(rows[i].resource, rows[i].value, rows[i].exact, rows[i].name, e))
            return -1;
    return 0;
}

int confine_fds(const int stdio[3], int channel_fd, int *keep_fd, struct err *e)
{
    int from[SESSION_CHANNEL + 2] = { stdio[0], stdio[1], stdio[2] }, last = 3;
    if (channel_fd >= 0)
        from[last++] = channel_fd;
    from[last] = *keep_fd;
    int high[ARRAY_LEN(from)] = { 0 };
    /* Duplicates first, so that no dup3 below overwrites one that is still needed. */
    for (int i = 0; i <= last; i++) {
        high[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 10);
        if (high[i] < 0)
            return err_set(e, ERR_KERNEL, errno, "duplicate a descriptor");
    }
    *keep_fd = high[last];
    for (int i = 0; i <= last; i++)
        if (dup3(high[i], i, i < last ? 0 : O_CLOEXEC) < 0)
            return err_set(e, ERR_KERNEL, errno, "place descriptor %d", i);
    *keep_fd = last;
    if (close_range((unsigned)last + 1, ~0U, 0) < 0)
        return err_set(e, ERR_KERNEL, errno, "close every other descriptor");
    return 0;
}
