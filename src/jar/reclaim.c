#include "jar/reclaim.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

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

bool reclaim_tmpfs(struct reclaimer *u, int scratch_fd)
{
    struct err ignored;
    int go[2], slot = 0, pidfd = -1;
    if (!is_large(scratch_fd))
        return false;
    reclaim_reap(u);
    while (slot < RECLAIM_MAX && u->pidfds[slot])
        slot++;
    if (slot == RECLAIM_MAX || fd_pipe(go, &ignored))
        return false;
    autoclose int go_read = go[0], go_write = go[1];
    pid_t pid = clone_process(0, -1, &pidfd, &ignored);
    if (pid == 0) {
        (void)close(go_write);
        hold_and_end(scratch_fd, go_read);
    }
    if (pid < 0)
        return false;
    u->pidfds[slot] = pidfd;
    u->pids[slot] = pid;
    u->busy++;
    (void)close(scratch_fd);
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
}

bool reclaim_has_child(const struct reclaimer *u, pid_t pid)
{
    for (int i = 0; i < RECLAIM_MAX; i++)
        if (u->pidfds[i] && u->pids[i] == pid)
            return true;
    return false;
}
