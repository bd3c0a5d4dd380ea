/* syscall_probe: which system calls get through, one by one.
 *
 *     syscall_probe under the filter that is already on: in a jar
 *     syscall_probe PROFILE under the filter of that profile alone: jar, process, init, listed,
 *     listed-own-code, no-sockets, reader, command-keeper, client-keeper, service-keeper, porter, injector-parent, injector,
 *     zygote
 *
 * Makes every call from 0 to 600 by the native entry, by i386's (int 0x80) and by x32's, each in a
 * child of its own, and some calls with the arguments that decide. A line for each:
 *
 *     native 56 clone allowed ENTRY NUMBER NAME VERDICT
 *     arg socket family=40 EAFNOSUPPORT arg CALL ARGUMENT VERDICT
 *
 * Verdicts: allowed, killed (SIGSYS), zero (answered 0 without a call), absent (no such entry in
 * this kernel), unfiltered (this kernel does not ask), or the errno of the refusal. To tell the
 * filter's answer from the kernel's, arguments are chosen so that the kernel itself would say
 * something else: EFAULT, EBADF, ESRCH. Mostly all of them are -1: a bad file, a bad pointer, no
 * such process, unknown flags. Used by tests/escape/test_syscalls.py. */
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jar/seccomp.h"

#if !defined(__x86_64__)
int main(void)
{
    fprintf(stderr, "syscall_probe: the golden list is for x86_64\n");
    return 77;
}
#else

enum { LAST = 600, X32 = 0x40000000, NOBODY = 0x7fffffff };
/* The exit status of a child; below 134 it is an errno. */
enum { SAW_SUCCESS = 200, SAW_ZERO, EXITED_BY_CALL, NO_FILTER };

static const char *const first_names = /* 0… */
    "read write open close stat fstat lstat poll lseek mmap mprotect munmap brk "
    "rt_sigaction rt_sigprocmask rt_sigreturn ioctl pread64 pwrite64 readv writev access "
    "pipe select sched_yield mremap msync mincore madvise shmget shmat shmctl dup dup2 "
    "pause nanosleep getitimer alarm setitimer getpid sendfile socket connect accept sendto "
    "recvfrom sendmsg recvmsg shutdown bind listen getsockname getpeername socketpair "
    "setsockopt getsockopt clone fork vfork execve exit wait4 kill uname semget semop "
    "semctl shmdt msgget msgsnd msgrcv msgctl fcntl flock fsync fdatasync truncate "
    "ftruncate getdents getcwd chdir fchdir rename mkdir rmdir creat link unlink symlink "
    "readlink chmod fchmod chown fchown lchown umask gettimeofday getrlimit getrusage "
    "sysinfo times ptrace getuid syslog getgid setuid setgid geteuid getegid setpgid "
    "getppid getpgrp setsid setreuid setregid getgroups setgroups setresuid getresuid "
    "setresgid getresgid getpgid setfsuid setfsgid getsid capget capset rt_sigpending "
    "rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend sigaltstack utime mknod uselib "
    "personality ustat statfs fstatfs sysfs getpriority setpriority sched_setparam "
    "sched_getparam sched_setscheduler sched_getscheduler sched_get_priority_max "
    "sched_get_priority_min sched_rr_get_interval mlock munlock mlockall munlockall vhangup "
    "modify_ldt pivot_root _sysctl prctl arch_prctl adjtimex setrlimit chroot sync acct "
    "settimeofday mount umount2 swapon swapoff reboot sethostname setdomainname iopl ioperm "
    "create_module init_module delete_module get_kernel_syms query_module quotactl "
    "nfsservctl getpmsg putpmsg afs_syscall tuxcall security gettid readahead setxattr "
    "lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr "
    "removexattr lremovexattr fremovexattr tkill time futex sched_setaffinity "
    "sched_getaffinity set_thread_area io_setup io_destroy io_getevents io_submit io_cancel "
    "get_thread_area lookup_dcookie epoll_create epoll_ctl_old epoll_wait_old "
    "remap_file_pages getdents64 set_tid_address restart_syscall semtimedop fadvise64 "
    "timer_create timer_settime timer_gettime timer_getoverrun timer_delete clock_settime "
    "clock_gettime clock_getres clock_nanosleep exit_group epoll_wait epoll_ctl tgkill "
    "utimes vserver mbind set_mempolicy get_mempolicy mq_open mq_unlink mq_timedsend "
    "mq_timedreceive mq_notify mq_getsetattr kexec_load waitid add_key request_key keyctl "
    "ioprio_set ioprio_get inotify_init inotify_add_watch inotify_rm_watch migrate_pages "
    "openat mkdirat mknodat fchownat futimesat newfstatat unlinkat renameat linkat "
    "symlinkat readlinkat fchmodat faccessat pselect6 ppoll unshare set_robust_list "
    "get_robust_list splice tee sync_file_range vmsplice move_pages utimensat epoll_pwait "
    "signalfd timerfd_create eventfd fallocate timerfd_settime timerfd_gettime accept4 "
    "signalfd4 eventfd2 epoll_create1 dup3 pipe2 inotify_init1 preadv pwritev "
    "rt_tgsigqueueinfo perf_event_open recvmmsg fanotify_init fanotify_mark prlimit64 "
    "name_to_handle_at open_by_handle_at clock_adjtime syncfs sendmmsg setns getcpu "
    "process_vm_readv process_vm_writev kcmp finit_module sched_setattr sched_getattr "
    "renameat2 seccomp getrandom memfd_create kexec_file_load bpf execveat userfaultfd "
    "membarrier mlock2 copy_file_range preadv2 pwritev2 pkey_mprotect pkey_alloc pkey_free "
    "statx io_pgetevents rseq "
    "uretprobe uprobe";
static const char *const unified_names = /* 424…: the same numbers everywhere */
    "pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount "
    "fsopen fsconfig fsmount fspick pidfd_open clone3 close_range openat2 pidfd_getfd "
    "faccessat2 process_madvise epoll_pwait2 mount_setattr quotactl_fd "
    "landlock_create_ruleset landlock_add_rule landlock_restrict_self memfd_secret "
    "process_mrelease futex_waitv set_mempolicy_home_node cachestat fchmodat2 "
    "map_shadow_stack futex_wake futex_wait futex_requeue statmount listmount "
    "lsm_get_self_attr lsm_set_self_attr lsm_list_modules mseal setxattrat getxattrat "
    "listxattrat removexattrat open_tree_attr file_getattr file_setattr listns";

enum entry { NATIVE, I386, X32_ENTRY };

struct probe {
    enum entry entry;
    long number;
    long args[6];
};

/* Inlined to the last: after vfork a child runs on its parent's stack. */
#define INLINE static inline __attribute__((always_inline))

INLINE long native_call(long number, const long a[6])
{
    register long r10 __asm__("r10"), r8 __asm__("r8"), r9 __asm__("r9");
    long result;
    r10 = a[3];
    r8 = a[4];
    r9 = a[5];
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* The sixth argument would be ebp, which the compiler may need; no answer depends on it. */
INLINE long i386_call(long number, const long a[6])
{
    long result;
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(number), "b"(a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]), "D"(a[4])
                     : "r8", "r9", "r10", "r11", "memory");
    return result;
}

[[gnu::noreturn]]
INLINE void leave(long status)
{
    for (;;)
        native_call(SYS_exit_group, (const long[6]){ status });
}

/* NULL: the filter of the profile is not ours to set. */
static const enum seccomp_profile *profile;

[[gnu::noreturn]]
static void child(const struct probe *p)
{
    struct itimerval soon = { .it_value = { .tv_usec = 200000 } }; /* for pause() */
    struct rlimit none = { 0, 0 };
    struct err e;
    (void)signal(SIGALRM, SIG_DFL);
    (void)setitimer(ITIMER_REAL, &soon, NULL);
    (void)setrlimit(RLIMIT_CORE, &none);
    if (profile &&
        (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || seccomp_apply(*profile, &e) != 0))
        leave(NO_FILTER);
    long result;
    if (p->entry == I386)
        result = i386_call(p->number, p->args);
    else
        result = native_call(p->number | (p->entry == X32_ENTRY ? X32 : 0), p->args);
    if (result < 0 && result > -134)
        leave(-result);
    leave(result == 0 ? SAW_ZERO : SAW_SUCCESS);
}

/* The answer that the child saw, or minus the signal that ended it. */
static int try(const struct probe *p)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        child(p);
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        perror("syscall_probe: fork");
        exit(1);
    }
    if (WIFSIGNALED(status))
        return -WTERMSIG(status);
    if (WEXITSTATUS(status) == NO_FILTER) {
        fprintf(stderr, "syscall_probe: the filter could not be set\n");
        exit(1);
    }
    return WEXITSTATUS(status);
}

static const char *errno_name(int saw)
{
    const char *name = strerrorname_np(saw);
    return name ? name : "unknown";
}

/* ---- every number
 * ------------------------------------------------------------------------------ */

/* Calls for which six times -1 would block, do something, or get the filter's own answer to such
 * arguments. `refusal`: this result is the filter's, as the kernel's would be another. */
static const struct special {
    long number;
    long args[6];
    int refusal;
} specials[] = {
    { SYS_exit, { EXITED_BY_CALL }, 0 },
    { SYS_exit_group, { EXITED_BY_CALL }, 0 },
    { SYS_clone, { SIGCHLD }, 0 },
    { SYS_kill, { NOBODY, 0 }, 0 },
    { SYS_setpgid, { 0, 0 }, 0 },
    { SYS_set_tid_address, { 0 }, 0 },
    { SYS_alarm, { 0 }, 0 },
    { SYS_futex, { 0, 1 /* FUTEX_WAKE */, 1 }, 0 },
    { SYS_prctl, { PR_GET_DUMPABLE }, 0 },
    { SYS_arch_prctl, { 0x1003 /* ARCH_GET_FS */, -1 }, 0 },
    { SYS_prlimit64, { 0, -1, 0, 0 }, 0 },
    { SYS_setpriority, { PRIO_PROCESS, 0, 19 }, 0 },
    { SYS_sched_setaffinity, { 0, 8, -1 }, 0 },
    { SYS_sched_setparam, { 0, -1 }, 0 },
    { SYS_sched_setscheduler, { 0, -1, -1 }, 0 },
    { SYS_mmap, { 0, 0, 0, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0 }, 0 },
    { SYS_memfd_create, { -1, 0 }, 0 },
    { SYS_pipe2, { -1, 0 }, 0 },
    { SYS_mknod, { -1, S_IFIFO }, 0 },
    { SYS_mknodat, { -1, -1, S_IFIFO }, 0 },
    { SYS_ioctl, { -1, TCGETS, -1 }, 0 },
    { SYS_socket, { AF_UNIX, SOCK_STREAM, 0 }, 0 },
    { SYS_socketpair, { AF_UNIX, SOCK_STREAM, 0, -1 }, 0 },
    { SYS_sendto, { -1, -1, 0, 0, -1, -1 }, 0 },
    { SYS_recvfrom, { -1, -1, 0, 0, -1, -1 }, 0 },
    { SYS_sendmsg, { -1, -1, 0 }, 0 },
    { SYS_recvmsg, { -1, -1, 0 }, 0 },
    { SYS_sendmmsg, { -1, -1, 1, 0 }, 0 },
    { SYS_recvmmsg, { -1, -1, 1, 0, 0 }, 0 },
    { SYS_shmget, { 0x62656c6c, 1, 0 }, 0 },
    { SYS_msgget, { 0x62656c6c, 0 }, 0 },
    { SYS_sendfile, { -1, -1, 0, 1 }, EINVAL },
    { SYS_splice, { -1, 0, -1, 0, 1, 0 }, EINVAL },
    { SYS_setxattr, { 0 }, EOPNOTSUPP }, /* the kernel says EFAULT, or EBADF */
    { SYS_lsetxattr, { 0 }, EOPNOTSUPP },
    { SYS_fsetxattr, { -1 }, EOPNOTSUPP },
    { SYS_sync, { 0 }, SAW_ZERO },
    { SYS_syncfs, { -1 }, SAW_ZERO },
    { SYS_fsync, { -1 }, SAW_ZERO },
    { SYS_fdatasync, { -1 }, SAW_ZERO },
    { SYS_sync_file_range, { -1 }, SAW_ZERO },
};

static const struct special *special_of(long number)
{
    for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++)
        if (specials[i].number == number)
            return &specials[i];
    return NULL;
}

static const char *verdict_of_number(int saw, long number, const struct special *special)
{
    if (saw == -SIGSYS)
        return "killed";
    /* Trampolines of a tracer outside: since 6.14 these two do not pass through any filter. Called
     * from elsewhere they do nothing. */
    if ((number == 335 && saw == -SIGILL) || (number == 336 && saw == ENXIO))
        return "unfiltered";
    if (special && special->refusal == saw)
        return saw == SAW_ZERO ? "zero" : errno_name(saw);
    /* The kernel's own answer to any arguments where RLIMIT_MEMLOCK is 0. */
    if (saw == ENOSYS || (saw == EPERM && number != SYS_mlock))
        return errno_name(saw);
    return "allowed";
}

static const char *verdict_of_foreign(int saw)
{
    if (saw == -SIGSYS)
        return "killed";
    if (saw == -SIGSEGV) /* a kernel without IA32 emulation does not know int 0x80 */
        return "absent";
    return saw == ENOSYS ? "ENOSYS" : "allowed";
}

static void print_name(long number)
{
    const char *names = number >= 424 ? unified_names : number <= 336 ? first_names : "";
    for (long skip = number >= 424 ? number - 424 : number; *names && skip > 0; skip--)
        names += strcspn(names, " ") + 1;
    if (*names)
        printf("%.*s", (int)strcspn(names, " "), names);
    else
        printf("-");
}

static void probe_numbers(void)
{
    for (long n = 0; n <= LAST; n++) {
        const struct special *special = special_of(n);
        struct probe p = { NATIVE, n, { -1, -1, -1, -1, -1, -1 } };
        if (special)
            memcpy(p.args, special->args, sizeof(p.args));
        int saw = try(&p);
        printf("native %ld ", n);
        print_name(n);
        printf(" %s\n", verdict_of_number(saw, n, special));
    }
    for (long n = 0; n <= LAST; n++) {
        struct probe p = { I386, n, { -1, -1, -1, -1, -1, -1 } };
        printf("i386 %ld - %s\n", n, verdict_of_foreign(try(&p)));
    }
    for (long n = 0; n <= LAST; n++) {
        struct probe p = { X32_ENTRY, n, { -1, -1, -1, -1, -1, -1 } };
        printf("x32 %ld - %s\n", n, verdict_of_foreign(try(&p)));
    }
}

/* ---- arguments that decide
 * ----------------------------------------------------------------------- */

#define HIGH (1L << 32) /* the kernel cuts an int; a filter must not look further than it does */

static const struct {
    const char *call, *argument;
    long number;
    long args[6];
} arguments[] = {
    { "socket", "tcp", SYS_socket, { AF_INET, SOCK_STREAM, IPPROTO_TCP } },
    { "socket", "udp+cloexec", SYS_socket, { AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP } },
    { "socket", "unix+nonblock", SYS_socket, { AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0 } },
    { "socket", "unix+high", SYS_socket, { AF_UNIX | HIGH, SOCK_STREAM | HIGH, 0 } },
    { "socket", "vsock+high", SYS_socket, { AF_VSOCK | HIGH, SOCK_STREAM, 0 } },
    { "socket", "unix-raw", SYS_socket, { AF_UNIX, SOCK_RAW, 0 } },
    { "socket", "inet-raw", SYS_socket, { AF_INET, SOCK_RAW, IPPROTO_ICMP } },
    { "socket", "inet-raw+high", SYS_socket, { AF_INET, SOCK_RAW | HIGH, IPPROTO_ICMP } },
    { "socket", "inet6-raw", SYS_socket, { AF_INET6, SOCK_RAW, 58 } },
    { "socket", "inet-packet", SYS_socket, { AF_INET, 10, 0 } },
    { "socket", "ping", SYS_socket, { AF_INET, SOCK_DGRAM, IPPROTO_ICMP } },
    { "socket", "sctp", SYS_socket, { AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP } },
    { "socket", "sctp-stream", SYS_socket, { AF_INET, SOCK_STREAM, IPPROTO_SCTP } },
    { "socket", "mptcp", SYS_socket, { AF_INET, SOCK_STREAM, 262 } },
    { "socket", "smc", SYS_socket, { AF_INET, SOCK_STREAM, 256 } },
    { "socket", "l2tp", SYS_socket, { AF_INET, SOCK_DGRAM, 115 } },
    { "socket", "udplite", SYS_socket, { AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE } },
    { "socket", "dccp", SYS_socket, { AF_INET, 6, IPPROTO_DCCP } },
    { "socketpair", "seqpacket", SYS_socketpair, { AF_UNIX, SOCK_SEQPACKET, 0, -1 } },
    { "socketpair", "dgram", SYS_socketpair, { AF_UNIX, SOCK_DGRAM, 0, -1 } },
    { "socketpair", "tipc", SYS_socketpair, { AF_TIPC, SOCK_STREAM, 0, -1 } },
    { "sendto", "MSG_OOB", SYS_sendto, { -1, -1, 0, MSG_OOB, 0, 0 } },
    { "sendto", "MSG_OOB+high", SYS_sendto, { -1, -1, 0, MSG_OOB | HIGH, 0, 0 } },
    { "sendto", "MSG_NOSIGNAL", SYS_sendto, { -1, -1, 0, MSG_NOSIGNAL, 0, 0 } },
    { "recvfrom", "MSG_OOB", SYS_recvfrom, { -1, -1, 0, MSG_OOB | MSG_PEEK, 0, 0 } },
    { "sendmsg", "MSG_OOB", SYS_sendmsg, { -1, -1, MSG_OOB } },
    { "recvmsg", "MSG_OOB", SYS_recvmsg, { -1, -1, MSG_OOB } },
    { "sendmmsg", "MSG_OOB", SYS_sendmmsg, { -1, -1, 1, MSG_OOB } },
    { "recvmmsg", "MSG_OOB", SYS_recvmmsg, { -1, -1, 1, MSG_OOB, 0 } },
    { "setsockopt", "SO_REUSEADDR", SYS_setsockopt, { -1, SOL_SOCKET, SO_REUSEADDR, -1, 4 } },
    { "setsockopt", "SO_ATTACH_FILTER", SYS_setsockopt, { -1, SOL_SOCKET, 26, -1, 4 } },
    { "setsockopt", "SO_ATTACH_BPF+high", SYS_setsockopt, { -1, SOL_SOCKET, 50 | HIGH, -1, 4 } },
    { "setsockopt", "SO_ZEROCOPY", SYS_setsockopt, { -1, SOL_SOCKET, 60, -1, 4 } },
    { "setsockopt", "TCP_NODELAY", SYS_setsockopt, { -1, IPPROTO_TCP, 1, -1, 4 } },
    { "setsockopt", "TCP_ULP", SYS_setsockopt, { -1, IPPROTO_TCP, 31, -1, 4 } },
    { "setsockopt", "UDP_ENCAP", SYS_setsockopt, { -1, IPPROTO_UDP, 100, -1, 4 } },
    { "getsockopt", "TCP_ZEROCOPY_RECEIVE", SYS_getsockopt, { -1, IPPROTO_TCP, 35, -1, -1 } },

    { "clone", "files", SYS_clone, { CLONE_FS | CLONE_FILES | SIGCHLD } },
    { "clone", "newtime", SYS_clone, { 0x80 } },
    { "clone", "newns", SYS_clone, { CLONE_NEWNS | SIGCHLD } },
    { "clone", "newcgroup", SYS_clone, { CLONE_NEWCGROUP | SIGCHLD } },
    { "clone", "newuts", SYS_clone, { CLONE_NEWUTS | SIGCHLD } },
    { "clone", "newipc", SYS_clone, { CLONE_NEWIPC | SIGCHLD } },
    { "clone", "newuser", SYS_clone, { CLONE_NEWUSER | SIGCHLD } },
    { "clone", "newuser+high", SYS_clone, { CLONE_NEWUSER | SIGCHLD | HIGH } },
    { "clone", "newpid", SYS_clone, { CLONE_NEWPID | SIGCHLD } },
    { "clone", "newnet", SYS_clone, { CLONE_NEWNET | SIGCHLD } },
    { "clone", "all", SYS_clone, { CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | SIGCHLD } },
    { "clone", "parent", SYS_clone, { CLONE_PARENT } },

    { "ioctl", "FIONREAD", SYS_ioctl, { -1, FIONREAD, -1 } },
    { "ioctl", "TCGETS+high", SYS_ioctl, { -1, TCGETS | HIGH, -1 } },
    { "ioctl", "TIOCSTI", SYS_ioctl, { -1, TIOCSTI, -1 } },
    { "ioctl", "TIOCSTI+high", SYS_ioctl, { -1, TIOCSTI | HIGH, -1 } },
    { "ioctl", "TIOCSTI+top", SYS_ioctl, { -1, TIOCSTI | (long)(1UL << 63), -1 } },
    { "ioctl", "TIOCLINUX", SYS_ioctl, { -1, TIOCLINUX, -1 } },
    { "ioctl", "TIOCLINUX+high", SYS_ioctl, { -1, TIOCLINUX | HIGH, -1 } },
    { "ioctl", "TIOCCONS", SYS_ioctl, { -1, TIOCCONS, -1 } },
    { "ioctl", "TIOCSETD", SYS_ioctl, { -1, TIOCSETD, -1 } },
    { "ioctl", "TIOCSETD+high", SYS_ioctl, { -1, TIOCSETD | HIGH, -1 } },
    { "ioctl", "TIOCSCTTY", SYS_ioctl, { -1, TIOCSCTTY, -1 } },
    { "ioctl", "SIOCGIFCONF", SYS_ioctl, { -1, 0x8912, -1 } },
    { "ioctl", "SIOCSIFFLAGS", SYS_ioctl, { -1, 0x8914, -1 } },
    { "ioctl", "FICLONE", SYS_ioctl, { -1, 0x40049409, -1 } },
    { "ioctl", "FIFREEZE", SYS_ioctl, { -1, 0xc0045877, -1 } },
    { "ioctl", "NS_GET_USERNS", SYS_ioctl, { -1, 0xb701, -1 } },
    { "ioctl", "unknown", SYS_ioctl, { -1, 0x12345678, -1 } },

    { "prctl", "PR_SET_NAME", SYS_prctl, { PR_SET_NAME, -1 } },
    { "prctl", "PR_SET_NAME+high", SYS_prctl, { PR_SET_NAME | HIGH, -1 } },
    { "prctl", "PR_GET_PDEATHSIG", SYS_prctl, { PR_GET_PDEATHSIG, -1 } },
    { "prctl", "PR_SET_CHILD_SUBREAPER", SYS_prctl, { PR_SET_CHILD_SUBREAPER, 1 } },
    { "prctl", "PR_SET_SECCOMP", SYS_prctl, { PR_SET_SECCOMP, 2, -1 } },
    { "prctl", "PR_SET_SECCOMP+high", SYS_prctl, { PR_SET_SECCOMP | HIGH, 2, -1 } },
    { "prctl", "PR_SET_MM", SYS_prctl, { PR_SET_MM, -1, -1, -1, -1 } },
    { "prctl", "PR_SET_MM+high", SYS_prctl, { PR_SET_MM | HIGH, -1, -1, -1, -1 } },
    { "prctl", "PR_SET_SECUREBITS", SYS_prctl, { PR_SET_SECUREBITS, -1 } },
    { "prctl", "PR_CAP_AMBIENT", SYS_prctl, { PR_CAP_AMBIENT, -1 } },
    { "prctl", "PR_CAPBSET_DROP", SYS_prctl, { PR_CAPBSET_DROP, -1 } },
    { "prctl", "PR_SET_PTRACER", SYS_prctl, { PR_SET_PTRACER, NOBODY } },
    { "prctl", "PR_SET_SPECULATION_CTRL", SYS_prctl, { PR_SET_SPECULATION_CTRL, -1 } },
    { "prctl", "PR_SET_SYSCALL_USER_DISPATCH", SYS_prctl, { PR_SET_SYSCALL_USER_DISPATCH, -1 } },
    { "prctl", "PR_SCHED_CORE", SYS_prctl, { PR_SCHED_CORE, -1 } },
    { "prctl", "PR_MCE_KILL", SYS_prctl, { PR_MCE_KILL, -1 } },
    { "prctl", "PR_SET_IO_FLUSHER", SYS_prctl, { PR_SET_IO_FLUSHER, -1 } },
    { "prctl", "PR_SET_MEMORY_MERGE", SYS_prctl, { 67, -1 } },
    { "prctl", "unknown", SYS_prctl, { 99999 } },
    { "arch_prctl", "ARCH_MAP_VDSO_64", SYS_arch_prctl, { 0x2003, 0 } },

    { "mknodat", "plain", SYS_mknodat, { -1, -1, 0600 } },
    { "mknodat", "regular", SYS_mknodat, { -1, -1, S_IFREG | 0600 } },
    { "mknodat", "fifo", SYS_mknodat, { -1, -1, S_IFIFO | 0600 } },
    { "mknodat", "socket", SYS_mknodat, { -1, -1, S_IFSOCK | 0600 } },
    { "mknodat", "char", SYS_mknodat, { -1, -1, S_IFCHR | 0600, 0x101 } },
    { "mknodat", "char+high", SYS_mknodat, { -1, -1, S_IFCHR | 0600 | HIGH, 0x101 } },
    { "mknodat", "char+bit16", SYS_mknodat, { -1, -1, S_IFCHR | 0600 | 0x10000, 0x101 } },
    { "mknodat", "whiteout", SYS_mknodat, { -1, -1, S_IFCHR, 0 } },
    { "mknodat", "block", SYS_mknodat, { -1, -1, S_IFBLK | 0600, 0x800 } },
    { "mknod", "fifo", SYS_mknod, { -1, S_IFIFO | 0600 } },
    { "mknod", "char", SYS_mknod, { -1, S_IFCHR | 0600, 0x101 } },
    { "mknod", "block+high", SYS_mknod, { -1, S_IFBLK | 0600 | HIGH, 0x800 } },

    { "personality", "query", SYS_personality, { 0xffffffff } },
    { "personality", "linux", SYS_personality, { 0 } },
    { "personality", "no-randomize", SYS_personality, { 0x40000 } },
    { "personality", "no-randomize+high", SYS_personality, { 0x40000 | HIGH } },
    { "personality", "read-implies-exec", SYS_personality, { 0x400000 } },
    { "personality", "linux32", SYS_personality, { 8 } },

    { "mmap", "hugetlb", SYS_mmap, { 0, 1 << 21, 0, MAP_PRIVATE | MAP_ANON | MAP_HUGETLB, -1 } },
    { "mmap", "code-of-a-file", SYS_mmap, { 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, -1 } },
    { "mmap", "code-to-write", SYS_mmap, { 0, 4096, PROT_WRITE | PROT_EXEC, MAP_PRIVATE, -1 } },
    { "mmap", "code-of-no-file", SYS_mmap, { 0, 4096, PROT_EXEC, MAP_PRIVATE | MAP_ANON, -1 } },
    { "mprotect", "data-to-code", SYS_mprotect, { 0, 0, PROT_EXEC } },
    { "mprotect", "data-to-code+high", SYS_mprotect, { 0, 0, PROT_EXEC | HIGH } },
    { "pkey_mprotect", "data-to-code", SYS_pkey_mprotect, { 0, 0, PROT_EXEC, -1 } },
    { "memfd_create", "hugetlb", SYS_memfd_create, { -1, 4 } },
    { "shmget", "hugetlb", SYS_shmget, { 0x62656c6c, 1, SHM_HUGETLB } },
    { "madvise", "dontneed", SYS_madvise, { 0, 0, MADV_DONTNEED } },
    { "madvise", "mergeable", SYS_madvise, { 0, 0, 12 } },
    /* the kernel itself would answer EINVAL: the address is odd */
    { "madvise", "cold", SYS_madvise, { 1, 4096, 20 } },
    { "madvise", "pageout", SYS_madvise, { 1, 4096, 21 } },
    { "futex", "wait-bitset+flags", SYS_futex, { 0, 9 | 128 | 256, 0, 0, 0, 1 } },
    { "futex", "lock-pi", SYS_futex, { 0, 6 } },
    { "futex", "unlock-pi+private", SYS_futex, { 0, 7 | 128 } },
    { "futex", "requeue-pi", SYS_futex, { 0, 12 } },
    { "pipe2", "cloexec", SYS_pipe2, { -1, O_CLOEXEC } },
    { "pipe2", "notification", SYS_pipe2, { -1, O_EXCL } },
    { "kill", "everybody", SYS_kill, { -1, 0 } },
    { "kill", "everybody+high", SYS_kill, { 0xffffffff, 0 } },
    { "kill", "group", SYS_kill, { 0, 0 } },
    { "prlimit64", "another", SYS_prlimit64, { NOBODY, RLIMIT_CPU, 0, 0 } },
    { "prlimit64", "another+set", SYS_prlimit64, { NOBODY, RLIMIT_CPU, 1, 0 } },
    { "setpriority", "another", SYS_setpriority, { PRIO_PROCESS, NOBODY, 19 } },
    { "sched_setaffinity", "another", SYS_sched_setaffinity, { NOBODY, 8, -1 } },
};

static const char *verdict_of_argument(int saw)
{
    static const int harmless[] = { EFAULT, EBADF, ESRCH, ENOENT };
    if (saw == -SIGSYS)
        return "killed";
    if (saw < 0 || saw == SAW_SUCCESS || saw == SAW_ZERO)
        return "allowed";
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
        if (saw == harmless[i])
            return "allowed";
    return errno_name(saw);
}

static void probe_arguments(void)
{
    for (long family = 0; family <= 45; family++) {
        struct probe p = { NATIVE, SYS_socket, { family, SOCK_STREAM, 0 } };
        printf("arg socket family=%ld %s\n", family, verdict_of_argument(try(&p)));
    }
    for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
        struct probe p = { NATIVE, arguments[i].number, { 0 } };
        memcpy(p.args, arguments[i].args, sizeof(p.args));
        printf("arg %s %s %s\n", arguments[i].call, arguments[i].argument,
               verdict_of_argument(try(&p)));
    }
}

int main(int argc, char **argv)
{
    static const char *const names[SECCOMP_PROFILES] = {
        [SECCOMP_JAR] = "jar",
        [SECCOMP_NO_SOCKETS] = "no-sockets",
        [SECCOMP_PROCESS] = "process",
        [SECCOMP_INIT] = "init",
        [SECCOMP_LISTED] = "listed",
        [SECCOMP_LISTED_OWN_CODE] = "listed-own-code",
        [SECCOMP_READER] = "reader",
        [SECCOMP_COMMAND_KEEPER] = "command-keeper",
        [SECCOMP_CLIENT_KEEPER] = "client-keeper",
        [SECCOMP_SERVICE_KEEPER] = "service-keeper",
        [SECCOMP_PORTER] = "porter",
        [SECCOMP_INJECTOR_PARENT] = "injector-parent",
        [SECCOMP_INJECTOR] = "injector",
        [SECCOMP_WARDEN] =
            "", /* it allows most calls: to try them would be an attempt on the machine */
        [SECCOMP_ZYGOTE] = "zygote",
    };
    static enum seccomp_profile chosen;
    for (chosen = 0; argc == 2 && chosen < SECCOMP_PROFILES; chosen++) {
        if (strcmp(argv[1], names[chosen]) == 0) {
            profile = &chosen;
            break;
        }
    }
    if (argc > 2 || (argc == 2 && !profile)) {
        fprintf(stderr, "usage: syscall_probe [jar|process|init]\n");
        return 64;
    }
    /* Without any filter this would be an attempt on the machine, vhangup() first. */
    if (!profile && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2) {
        fprintf(stderr, "syscall_probe: there is no filter here; name a profile\n");
        return 1;
    }
    probe_numbers();
    probe_arguments();
    return fflush(stdout) == 0 ? 0 : 1;
}

#endif
