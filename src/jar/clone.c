#include "jar/clone.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __SANITIZE_ADDRESS__ /* the run time of the sanitizers is a library, too */

static bool is_needed(const char *library)
{
    /* The program itself has no name. The kernel's own library has no directory. */
    return !strchr(library, '/') || strstr(library, "/libc.so") || strstr(library, "/ld-linux");
}

static int leave_library(struct dl_phdr_info *info, size_t size, void *page)
{
    const uintptr_t mask = ~(*(const uintptr_t *)page - 1);
    (void)size;
    for (int i = 0; i < info->dlpi_phnum && !is_needed(info->dlpi_name); i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t from = (info->dlpi_addr + part->p_vaddr) & mask;
        uintptr_t to = (info->dlpi_addr + part->p_vaddr + part->p_memsz + ~mask) & mask;
        if (part->p_type == PT_LOAD) /* if it fails, clones cost more */
            /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address out of the linker's list */
            (void)madvise((void *)from, to - from, MADV_DONTFORK);
    }
    return 0;
}

void clone_leave_libraries(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)dl_iterate_phdr(leave_library, &page);
}

#else

void clone_leave_libraries(void)
{
}

#endif

/* Container runtimes answer clone3 with ENOSYS; fork is enough without namespaces and cgroup. A
 * handler of pthread_atfork() may be in a library that the child does not have. */
static pid_t plain_fork(int *ret_pidfd, struct err *e)
{
    pid_t pid = _Fork();
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
