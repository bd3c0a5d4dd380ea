#include "jar/clone.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Container runtimes answer clone3 with ENOSYS; fork is enough without namespaces and cgroup. */
static pid_t plain_fork(int *ret_pidfd, struct err *e)
{
    pid_t pid = fork();
    if (pid < 0)
        return err_set(e, ERR_KERNEL, errno, "fork");
    if (pid == 0)
        return 0;
    int fd = pidfd_open(pid, 0);
    if (fd < 0) {
        int saved = errno;
        (void)kill(pid, SIGKILL); /* our unreaped child: no other process has this pid */
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
        return err_set(e, ERR_KERNEL, saved, "open a pidfd");
    }
    *ret_pidfd = fd;
    return pid;
}

pid_t clone_process(uint64_t namespaces, int cgroup_fd, int *ret_pidfd, struct err *e)
{
    if (namespaces == 0 && cgroup_fd < 0)
        return plain_fork(ret_pidfd, e);
    int pidfd = -1;
    struct clone_args args = { .flags = namespaces | CLONE_PIDFD,
                               .pidfd = (uint64_t)(uintptr_t)&pidfd,
                               .exit_signal = SIGCHLD };
    if (cgroup_fd >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (__u64)(unsigned)cgroup_fd;
    }
    pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
    if (pid < 0)
        return err_set(e, ERR_KERNEL, errno, "make a process with its own namespaces");
    if (pid > 0)
        *ret_pidfd = pidfd;
    return pid;
}
