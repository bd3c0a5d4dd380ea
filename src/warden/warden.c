/* Starts and stops a warden. Runs in: the process that needs one, and the warden itself. */
#include "warden/warden.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/process.h"
#include "jar/clone.h"
#include "jar/confinement.h"
#include "warden/loop.h"
#include "wire/wire.h"

/* An ordinary user becomes root of a new user namespace. The kernel requires that groups are given
 * up. */
static int become_namespace_root(uid_t uid, gid_t gid, struct err *e)
{
    char map[48];
    if (fd_write_file(AT_FDCWD, "/proc/self/setgroups", "deny", e))
        return -1;
    (void)snprintf(map, sizeof map, "0 %u 1", uid);
    if (fd_write_file(AT_FDCWD, "/proc/self/uid_map", map, e))
        return -1;
    (void)snprintf(map, sizeof map, "0 %u 1", gid);
    if (fd_write_file(AT_FDCWD, "/proc/self/gid_map", map, e))
        return -1;
    if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
        return err_set(e, ERR_KERNEL, errno, "become root of a user namespace");
    return 0;
}

/* Starts a session of its own: the keeper decides about a Ctrl-C at the terminal. Closes every
 * descriptor of the caller: a reader of the caller's output must not wait for us, and the files of
 * the caller are not ours. */
static int prepare_process(int wire_fd, const struct cgroup_host *cgroups, struct err *e)
{
    int keep[1 + 2 * CGROUP_SLOTS] = { wire_fd };
    for (int i = 0; i < CGROUP_SLOTS; i++) {
        keep[1 + i] = cgroups ? cgroups->fd[i] : -1;
        keep[1 + CGROUP_SLOTS + i] = cgroups ? cgroups->base_fd[i] : -1;
    }
    if (fd_keep_only(keep, ARRAY_LEN(keep), e) || process_null_fds(3, e))
        return -1;
    (void)setsid();
    (void)prctl(PR_SET_NAME, "belljar-warden", 0, 0, 0);
    static const int ignored[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                   SIGPIPE, SIGTSTP, SIGUSR1, SIGUSR2 };
    for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
        (void)signal(ignored[i], SIG_IGN);
    (void)signal(SIGCHLD, SIG_DFL);   /* if it were ignored, there would be no wait statuses */
    (void)process_raise_open_files(); /* a jar needs about thirty */
    return 0;
}

/* A look that comes late lets a jar take memory that no cgroup charges for, so we go before other
 * processes if we have the right. Our children start without that. A cgroup takes no process with a
 * real-time policy, so we leave that of our caller; the niceness of our caller is for jars too. */
static void take_priority(void)
{
    enum { PROMPT = -10 };
    const struct sched_param none = { 0 };
    (void)sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &none);
    if (getpriority(PRIO_PROCESS, 0) == 0)
        (void)setpriority(PRIO_PROCESS, 0, PROMPT);
}

struct warden_args {
    enum level level;
    bool new_user;
    uid_t uid;
    gid_t gid;
    struct cgroup_host *cgroups;
    const struct zygote_def *const *zygotes;
    const struct run_bounds *bounds; /* or NULL */
    char *const *mount_roots;        /* or NULL */
};

static int open_host(int fd, const struct warden_args *b, struct jar_host *host,
                     struct zygote_pools *pools, struct err *e)
{
    size_t n = 0;
    if ((b->new_user && become_namespace_root(b->uid, b->gid, e)) ||
        prepare_process(fd, b->cgroups, e))
        return -1;
    while (b->zygotes && b->zygotes[n])
        n++;
    zygote_pools_open(pools, b->zygotes, n); /* while the files of the host are visible */
    if (jar_host_open(host, b->level, b->cgroups, b->mount_roots, e))
        return -1;
    if (b->bounds) {
        host->most = b->bounds->most;
        host->terminals = b->bounds->terminals;
    }
    zygote_pools_init(pools, host);
    clone_leave_libraries();
    take_priority(); /* last: the host's right to renice was tried */
    return fd_set_nonblock(fd, e) || confinement_enter(ROLE_WARDEN, NULL, e) ? -1 : 0;
}

_Noreturn static void warden_main(int fd, const struct warden_args *b)
{
    static struct zygote_pools pools;
    struct wire_hello hello = { 0 };
    struct jar_host host;
    struct err e = { 0 };
    struct cgroup_host *cgroups = b->cgroups;
    int failed = open_host(fd, b, &host, &pools, &hello.err);
    if (!failed)
        hello.isolation = host.isolation;
    if (wire_send_hello(fd, &hello, &e) == 0 && !failed)
        warden_loop(fd, &host, &pools);
    zygote_pools_done(&pools);
    if (!failed)
        jar_host_done(&host);
    if (cgroups)
        cgroup_host_done(cgroups); /* our parent does it too, if it is still alive */
    _exit(failed ? 1 : 0);
}

static int read_hello(struct warden *w, struct err *e)
{
    struct wire_message m;
    struct wire_hello hello;
    int got = wire_receive(w->fd, &m, e);
    if (got == 0)
        return err_set(e, ERR_UNAVAILABLE, 0, "the warden died while starting");
    if (got < 0 || wire_read_hello(&m, &hello, e))
        return -1;
    if (hello.err.code != ERR_NONE) {
        *e = hello.err;
        return -1;
    }
    w->isolation = hello.isolation;
    return 0;
}

int warden_start(enum level level, const struct zygote_def *const *zygotes,
                 const struct run_bounds *bounds, char *const *mount_roots, struct warden *ret,
                 struct err *e)
{
    struct warden w = { .fd = -1, .cgroups = CGROUP_HOST_INIT };
    uid_t uid = geteuid();
    gid_t gid = getegid();
    bool new_user = level != LEVEL_PROCESS && uid != 0;
    uint64_t flags = level == LEVEL_PROCESS ? 0 : CLONE_NEWPID | CLONE_NEWNS;
    if (level == LEVEL_JAR && uid != 0)
        return err_set(e, ERR_UNAVAILABLE, 0, "it needs root");
    bool limited = cgroup_host_open(&w.cgroups, e) == 0;
    if (!limited && level == LEVEL_JAR)
        return -1;
    if (limited && bounds && cgroup_host_bound(&w.cgroups, bounds->memory, bounds->pids, e)) {
        cgroup_host_done(&w.cgroups);
        return -1;
    }
    int fds[2], pidfd = -1;
    if (wire_pair(fds, e)) {
        cgroup_host_done(&w.cgroups);
        return -1;
    }
    w.fd = fds[0];
    autoclose int theirs = fds[1];
    if (level == LEVEL_PROCESS && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0) {
        (void)!err_set(e, ERR_UNAVAILABLE, errno, "become a subreaper");
        warden_stop(&w);
        return -1;
    }
    w.pid = clone_process(flags | (new_user ? CLONE_NEWUSER : 0), -1, &pidfd, e);
    if (w.pid == 0) {
        const struct warden_args b = { .level = level,
                                       .new_user = new_user,
                                       .uid = uid,
                                       .gid = gid,
                                       .cgroups = limited ? &w.cgroups : NULL,
                                       .zygotes = zygotes,
                                       .bounds = bounds,
                                       .mount_roots = mount_roots };
        warden_main(theirs, &b);
    }
    fd_close(&pidfd);
    fd_close(&theirs);
    if (w.pid < 0 || read_hello(&w, e)) {
        warden_stop(&w);
        return -1;
    }
    *ret = w;
    return 0;
}

/* Kills the children that have left our session, as every guest at level process has, except the
 * one to spare. True when there was any. */
static bool kill_other_sessions(pid_t spared)
{
    pid_t children[1024];
    size_t n = process_children(children, ARRAY_LEN(children));
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        pid_t pid = children[i], group = getpgid(pid);
        if (pid <= 1 || group <= 1 || pid == spared || getsid(pid) == getsid(0))
            continue;
        any = true;
        (void)kill(-group, SIGKILL);
        (void)kill(pid, SIGKILL); /* our unreaped child: no other process has this pid */
        (void)waitpid(pid, NULL, WNOHANG);
    }
    return any;
}

/* Level process has no pid namespace that dies with its warden. The processes that a killed warden
 * leaves come to us, the next subreaper, and are killed here, group by group. */
static void kill_orphans(pid_t spared)
{
    for (int round = 0; round < 2000 && kill_other_sessions(spared); round++)
        (void)usleep(1000);
}

void warden_stop(struct warden *w)
{
    fd_close(&w->fd);
    int status = 0;
    if (w->pid > 0)
        while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
            ;
    if (w->isolation.level == LEVEL_PROCESS && WIFSIGNALED(status)) {
        kill_orphans(w->spared);
        jar_remove_homes();
    }
    w->pid = 0;
    cgroup_host_done(&w->cgroups);
}
