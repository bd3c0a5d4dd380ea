#include "jar/reclaim.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "jar/clone.h"

/* About a millisecond to free. */
enum { LARGE_INODES = 512, LARGE_BLOCKS = 1024 };

static bool is_large(int scratch_fd)
{
    struct statfs fs;
    return fstatfs(scratch_fd, &fs) == 0 &&
           (fs.f_files - fs.f_ffree > LARGE_INODES || fs.f_blocks - fs.f_bfree > LARGE_BLOCKS);
}

/* Holds the descriptor until the warden has closed its own, so that this is the last reference. */
_Noreturn static void hold_and_end(int scratch_fd, int go_fd)
{
    const int keep[] = { scratch_fd, go_fd };
    struct err ignored;
    char byte;
    (void)!fd_keep_only(keep, 2, &ignored);
    (void)setpriority(PRIO_PROCESS, 0, 19);
    (void)!read(go_fd, &byte, 1); /* end of file */
    _exit(0);
}

/* 0 in the child. -1 if it cannot be started, or RECLAIM_MAX are busy. */
static pid_t start_child(struct reclaimer *u)
{
    struct err ignored;
    int slot = 0, pidfd = -1;
    reclaim_reap(u);
    while (slot < RECLAIM_MAX && u->pidfds[slot])
        slot++;
    if (slot == RECLAIM_MAX)
        return -1;
    pid_t pid = clone_process(0, -1, &pidfd, &ignored);
    if (pid > 0) {
        u->pidfds[slot] = pidfd;
        u->pids[slot] = pid;
        u->busy++;
    }
    return pid;
}

bool reclaim_tmpfs(struct reclaimer *u, int scratch_fd)
{
    struct err ignored;
    int go[2];
    if (!is_large(scratch_fd) || fd_pipe(go, &ignored))
        return false;
    autoclose int go_read = go[0], go_write = go[1];
    pid_t pid = start_child(u);
    if (pid == 0) {
        (void)close(go_write);
        hold_and_end(scratch_fd, go_read);
    }
    if (pid < 0)
        return false;
    (void)close(scratch_fd);
    return true;
}

/* 0 when it cannot be told. */
static uint64_t removed_cgroups(const struct reclaimer *u)
{
    char text[2048];
    unsigned long long n = 0;
    ssize_t got = u->count_fd >= 0 ? pread(u->count_fd, text, sizeof text - 1, 0) : -1;
    if (got <= 0)
        return 0;
    text[got] = '\0';
    const char *at = strstr(text, u->of_machine ? "\nmemory\t" : "nr_dying_descendants ");
    bool told = at && (u->of_machine ? sscanf(at, " memory %*u %llu", &n)
                                     : sscanf(at, "nr_dying_descendants %llu", &n)) == 1;
    return told ? n : 0;
}

void reclaim_open(struct reclaimer *u, const struct cgroup_host *cgroups)
{
    if (!cgroups || !(cgroups->has & CGROUP_HAS_MEMORY))
        return;
    u->of_machine = cgroups->version == 1;
    u->count_fd = u->of_machine ? open("/proc/cgroups", O_RDONLY | O_CLOEXEC)
                                : openat(cgroups->fd[0], "cgroup.stat", O_RDONLY | O_CLOEXEC);
    u->count_max = removed_cgroups(u) + RECLAIM_LEFT_MAX;
}

/* The kernel may count a process for a moment after its parent has reaped it. */
_Noreturn static void empty_and_remove(struct cgroup *c)
{
    enum { TRIES = 5000, RETRY_US = 1000 };
    int keep[1 + CGROUP_SLOTS] = { c->fd[CGROUP_MEMORY] };
    struct err ignored;
    for (int i = 0; i < CGROUP_SLOTS; i++)
        keep[1 + i] = c->host->fd[i];
    (void)!fd_keep_only(keep, ARRAY_LEN(keep), &ignored);
    (void)setpriority(PRIO_PROCESS, 0, 19);
    cgroup_empty(c);
    for (int tries = 0; cgroup_remove(c) < 0 && tries < TRIES; tries++)
        (void)usleep(RETRY_US);
    _exit(0);
}

bool reclaim_cgroup(struct reclaimer *u, struct cgroup *c)
{
    if (u->count_fd < 0 || removed_cgroups(u) < u->count_max)
        return false;
    pid_t pid = start_child(u);
    if (pid == 0)
        empty_and_remove(c);
    if (pid < 0)
        return false;
    cgroup_close(c);
    return true;
}

static void forget(struct reclaimer *u, int slot, int options)
{
    siginfo_t info = { 0 };
    if (waitid(P_PIDFD, (id_t)u->pidfds[slot], &info, WEXITED | options) == 0 && info.si_pid == 0)
        return; /* still running */
    (void)close(u->pidfds[slot]);
    u->pidfds[slot] = 0;
    u->busy--;
}

void reclaim_reap(struct reclaimer *u)
{
    for (int i = 0; u->busy > 0 && i < RECLAIM_MAX; i++)
        if (u->pidfds[i])
            forget(u, i, WNOHANG);
}

void reclaim_done(struct reclaimer *u)
{
    for (int i = 0; u->busy > 0 && i < RECLAIM_MAX; i++)
        if (u->pidfds[i])
            forget(u, i, 0);
    fd_close(&u->count_fd);
}

bool reclaim_has_child(const struct reclaimer *u, pid_t pid)
{
    for (int i = 0; i < RECLAIM_MAX; i++)
        if (u->pidfds[i] && u->pids[i] == pid)
            return true;
    return false;
}
