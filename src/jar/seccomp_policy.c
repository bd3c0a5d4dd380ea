/* jar/seccomp_policy.c — which system calls a program in a jar may make, and why.
 *
 * Allowed are the calls that Python, Node, bash, the usual tools, compilers, Java, Go, Rust and
 * PostgreSQL need and that can reach only the jar. Refusals are errors that programs understand:
 *   ENOSYS   "this kernel does not have it": libraries try the older way. Also the answer to every call
 *            without a row, so that future calls are refused too.
 *   EPERM    "you may not": calls that could take a jar apart, or in which kernels have had many bugs.
 *            Most of them would fail without capabilities anyway; here they do not get that far.
 *   0        "done": flushing disks, which a jar does not have.
 *   others   the answer of a kernel without that feature, so that programs fall back.
 *
 * Frequent calls have no condition: the kernel then answers from a bitmap, without running the filter
 * (Linux 5.11). */
#include "jar/seccomp_policy.h"
#include "jar/seccomp.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define ALLOW SECCOMP_ALLOW
#define J     SECCOMP_IN_JAR
#define P     SECCOMP_IN_PROCESS
#define I     SECCOMP_IN_INIT
#define X86   SECCOMP_ONLY_X86
#define L     SECCOMP_IN_LISTED
#define C     SECCOMP_IN_NO_OWN_CODE
#define R     SECCOMP_IN_READER
#define W     SECCOMP_IN_WARDEN
#define Z     SECCOMP_IN_ZYGOTE
#define K     SECCOMP_IN_KEEPER
#define S     SECCOMP_IN_SERVICE
#define T     SECCOMP_IN_READS_FILES
#define U     SECCOMP_IN_CLIENT
#define N     SECCOMP_IN_NO_SOCKETS
#define O     SECCOMP_IN_PORTER
#define M     SECCOMP_IN_INJECTOR

/* clang-format off */
#define VALUES(...) (const uint32_t[]){ __VA_ARGS__ }
#define ALWAYS { { 0 } }
#define WHEN(...) { __VA_ARGS__ }
#define MASKED(a, m, ...) { (a), (m), VALUES(__VA_ARGS__), sizeof(VALUES(__VA_ARGS__)) / sizeof(uint32_t) }
#define ONE_OF(a, ...)   MASKED(a, 0xffffffffu, __VA_ARGS__)
#define IS(a, value)     MASKED(a, 0xffffffffu, value)
#define WITHOUT(a, bits) MASKED(a, bits, 0)
#define WITH(a, bits)    MASKED(a, bits, bits)
#define ANYHOW           MASKED(0, 0, 0)
#define NO_POINTER(a)    IS(a, 0), IS((a) | SECCOMP_HIGH, 0)
/* clang-format on */

/* Headers of the build machine may be older than the kernel that Belljar runs on. */
#define NEW_NAMESPACE                                                              \
    (0x00000080u /* time */ | 0x00020000u /* mount */ | 0x02000000u /* cgroup */ | \
     0x04000000u /* uts */ | 0x08000000u /* ipc */ | 0x10000000u /* user */ |      \
     0x20000000u /* pid */ | 0x40000000u /* net */)
#define SOCKET_TYPE       0xfu /* the rest is SOCK_CLOEXEC and SOCK_NONBLOCK */
#define PERSONALITY_QUERY 0xffffffffu
#define EVERY_PROCESS     0xffffffffu /* kill(-1, …) */
#define OWN_GROUP         0u          /* kill(0, …) */
#define MFD_HUGE          0x4u
enum { MADV_COLD_ = 20, MADV_PAGEOUT_, MADV_POPULATE_READ_, MADV_POPULATE_WRITE_ };
enum { MADV_DONTNEED_LOCKED_ = 24, MADV_COLLAPSE_, MADV_GUARD_INSTALL_ = 102, MADV_GUARD_REMOVE_ };
#define FUTEX_OPERATION 0x7fu /* the rest is FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME */
enum { ARCH_SET_GS = 0x1001, ARCH_SET_FS, ARCH_GET_FS, ARCH_GET_GS };
enum { ARCH_GET_CPUID = 0x1011 };
enum { ARCH_GET_XCOMP_SUPP = 0x1021, ARCH_GET_XCOMP_PERM, ARCH_REQ_XCOMP_PERM };
enum { F_SETSIG_ = 10, F_GETSIG_ = 11, F_SETOWN_EX_ = 15, F_GETOWN_EX_ = 16 };
enum { F_GET_RW_HINT_ = 1035, F_SET_RW_HINT_ = 1036 };
enum { SO_TIMESTAMPNS_ = 35, SO_PEEK_OFF_ = 42, SO_INCOMING_CPU_ = 49 };
enum { SO_RCVTIMEO_NEW_ = 66, SO_SNDTIMEO_NEW_ = 67, SO_PASSPIDFD_ = 76 };
enum { TCP_USER_TIMEOUT_ = 18, TCP_NOTSENT_LOWAT_ = 25, TCP_ZEROCOPY_RECEIVE_ = 35 };
enum { IP_BIND_ADDRESS_NO_PORT_ = 24, UDP_CORK_ = 1 };

/* clang-format off */
const struct seccomp_rule seccomp_policy[] = {

/* ---- zygotes: the calls of a joiner, and of an embryo until it is confined ----------------- */
{ ALLOW, Z, "setns clone3", WHEN(ANYHOW), "a joiner enters a jar and forks there" },
{ ALLOW, Z, "unshare", WHEN(IS(0, 0x02000000u)), "the cgroup namespace of an embryo" },
{ ALLOW, Z, "seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self", WHEN(ANYHOW),
  "an embryo confines itself" },
{ ALLOW, Z, "prlimit64 setrlimit", WHEN(ANYHOW), "the limits of an embryo" },
{ ALLOW, Z, "prctl", WHEN(ONE_OF(0, PR_CAPBSET_DROP, PR_CAP_AMBIENT, 40 /* PR_GET_TID_ADDRESS */)), "the same" },
{ ENOTNAM, Z, "prctl", WHEN(IS(0, SECCOMP_ZYGOTE_PROBE)), "an embryo asks whether this filter is here" },
{ ALLOW, Z, "prctl", WHEN(IS(0, PR_SET_MM), IS(1, PR_SET_MM_MAP)), "the environment that /proc shows" },
{ ALLOW, Z, "get_robust_list", WHEN(ANYHOW), "state that a fork loses" },

/* ---- calls of every program ------------------------------------------------------------------ */
{ ALLOW, J|P, "read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek close "
              "close_range dup dup3 flock fallocate ftruncate readahead",
  ALWAYS, "open files" },
{ 0, J|P, "fadvise64", WHEN(IS(3, POSIX_FADV_DONTNEED)),
  "files of /usr leave the page cache, and the next program of anybody waits for the disk" },
{ ALLOW, J|P, "fadvise64", ALWAYS, "open files" },
{ ALLOW, J|P|X86, "dup2 poll select epoll_create epoll_wait pipe eventfd signalfd",
  ALWAYS, "the same, older forms" },
{ ALLOW, J|P, "ppoll pselect6 epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 eventfd2 signalfd4 "
              "timerfd_create timerfd_settime timerfd_gettime",
  ALWAYS, "waiting for events" },
{ ENOSYS, J|P, "inotify_init1 inotify_add_watch inotify_rm_watch",
  ALWAYS, "watches are on inodes: one on /usr shows programs of the host and other jars" },
{ ENOSYS, J|P|X86, "inotify_init", ALWAYS, "the same, older form" },
{ EPERM, J|P, "fcntl", WHEN(ONE_OF(1, F_NOTIFY, F_SETPIPE_SZ)), "the same; pipes are on the keeper's account" },
{ ALLOW, J|P, "fcntl",
  WHEN(ONE_OF(1, F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW,
              F_SETOWN, F_GETOWN, F_SETOWN_EX_, F_GETOWN_EX_, F_SETSIG_, F_GETSIG_, F_GETPIPE_SZ,
              F_ADD_SEALS, F_GET_SEALS, F_GET_RW_HINT_, F_SET_RW_HINT_)),
  "descriptors" },
{ EINVAL, J|P, "fcntl", ALWAYS,
  "leases; locks of a description (F_OFD_…), which the kernel's table of locks ascribes to nobody" },
{ ALLOW, J|P, "pipe2", WHEN(WITHOUT(1, O_EXCL)), "pipes" },
{ ENOPKG, J|P, "pipe2", ALWAYS, "O_NOTIFICATION_PIPE, a watch queue (CVE-2022-0995)" },

{ ALLOW, J|P, "openat openat2 newfstatat fstat statx faccessat faccessat2 getdents64 getcwd chdir fchdir "
              "readlinkat mkdirat unlinkat renameat renameat2 linkat symlinkat umask "
              "fchmod fchown statfs fstatfs",
  ALWAYS, "names and directories: the root and Landlock decide about access" },
{ ALLOW, J|P|X86, "open creat stat lstat access getdents readlink mkdir rmdir unlink rename link symlink",
  ALWAYS, "the same, older forms" },
{ ALLOW, J, "fchmodat fchmodat2=452 fchownat utimensat truncate removexattr lremovexattr",
  ALWAYS, "changing files by name, in a root where all that can be changed is the jar's" },
{ ALLOW, J|X86, "utime utimes futimesat chmod chown lchown", ALWAYS, "the same, older forms" },
{ ALLOW, P, "utimensat", WHEN(NO_POINTER(1)), "by descriptor, as touch does" },
{ EOPNOTSUPP, J, "setxattr lsetxattr", ALWAYS, "as fsetxattr" },
{ EOPNOTSUPP, J|P, "fsetxattr", ALWAYS,
  "the kernel charges nobody for the list of an ACL, 64 KiB a file; a tmpfs before 6.6 answers the same" },
{ EPERM, P, "fchmodat fchmodat2=452 fchownat utimensat truncate setxattr lsetxattr removexattr lremovexattr",
  ALWAYS, "Landlock does not govern these, and the files of the caller have the same uid" },
{ EPERM, P|X86, "utime utimes futimesat chmod chown lchown", ALWAYS, "the same, older forms" },
{ ALLOW, J|P, "getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr fremovexattr",
  ALWAYS, "cp -a and tar ask for attributes" },
{ ALLOW, J|P|X86, "mknod", WHEN(MASKED(1, S_IFMT, 0, S_IFREG, S_IFIFO, S_IFSOCK)), "FIFOs" },
{ ALLOW, J|P, "mknodat", WHEN(MASKED(2, S_IFMT, 0, S_IFREG, S_IFIFO, S_IFSOCK)), "FIFOs" },
{ EPERM, J|P|X86, "mknod", ALWAYS, "device nodes, and overlayfs whiteouts, which are devices" },
{ EPERM, J|P, "mknodat", ALWAYS, "device nodes" },

/* ---- JOB_LISTED: every byte of code comes from a listed file --------------------------------- */
/* The dynamic loader has to be executable, and it maps any file. Without these rows a guest could make a
 * file with a segment of zeros, relocations that fill it and an entry point in it, and that would run even
 * on a noexec mount. */
{ EACCES, C, "mmap", WHEN(WITH(2, PROT_EXEC | PROT_WRITE)), "code that can be written" },
{ EACCES, C, "mmap", WHEN(WITH(2, PROT_EXEC), WITH(3, MAP_ANONYMOUS)), "code that is in no file" },
{ EACCES, C, "mprotect pkey_mprotect", WHEN(WITH(2, PROT_EXEC)), "data that becomes code" },
{ EACCES, C, "shmat", WHEN(WITH(2, SHM_EXEC)), "the same" },
{ ENOSYS, L, "memfd_create", WHEN(ANYHOW), "a file that no rule about files reaches, and that can be executed" },

{ ALLOW, J|P, "munmap mprotect mremap brk msync mincore mlock mlock2 munlock mlockall munlockall "
              "membarrier pkey_mprotect pkey_alloc pkey_free mseal=462",
  ALWAYS, "memory" },
{ ALLOW, J|P, "mmap", WHEN(WITHOUT(3, MAP_HUGETLB)), "memory" },
{ ENOMEM, J|P, "mmap", ALWAYS, "huge pages are the host's reserve and in nobody's memory limit" },
{ ALLOW, J|P, "memfd_create", WHEN(WITHOUT(1, MFD_HUGE)), "files without a name" },
{ ENOMEM, J|P, "memfd_create", ALWAYS, "huge pages, as above" },
{ ALLOW, J|P, "madvise",
  WHEN(ONE_OF(2, MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED, MADV_FREE, MADV_REMOVE,
              MADV_DONTFORK, MADV_DOFORK, MADV_UNMERGEABLE, MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_DONTDUMP,
              MADV_DODUMP, MADV_WIPEONFORK, MADV_KEEPONFORK, MADV_POPULATE_READ_, MADV_POPULATE_WRITE_,
              MADV_DONTNEED_LOCKED_, MADV_COLLAPSE_, MADV_GUARD_INSTALL_, MADV_GUARD_REMOVE_)),
  "every allocator" },
{ 0, J|P, "madvise", WHEN(ONE_OF(2, MADV_COLD_, MADV_PAGEOUT_)),
  "pages of /usr are everybody's: advice to drop them has no effect, as that of fadvise64" },
{ EINVAL, J|P, "madvise", ALWAYS,
  "merging equal pages (KSM) lets one jar find out the memory of another; and advice of later kernels" },

{ ALLOW, J|P, "clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday getitimer setitimer times "
              "timer_create timer_settime timer_gettime timer_getoverrun timer_delete",
  ALWAYS, "time" },
{ ALLOW, J|P|X86, "time alarm", ALWAYS, "the same, older forms" },
{ ALLOW, J|P, "futex",
  WHEN(MASKED(1, FUTEX_OPERATION, FUTEX_WAIT, FUTEX_WAKE, FUTEX_REQUEUE, FUTEX_CMP_REQUEUE, FUTEX_WAKE_OP,
              FUTEX_WAIT_BITSET, FUTEX_WAKE_BITSET)),
  "threads" },
{ ENOSYS, J|P, "futex", ALWAYS,
  "priority inheritance (CVE-2014-3153, CVE-2021-3347): the C library then says that it has none" },
{ ALLOW, J|P, "futex_waitv set_robust_list set_tid_address rseq getrandom restart_syscall "
              "sched_yield getcpu",
  ALWAYS, "threads, and calls of the C library itself" },
{ ALLOW, J|P|X86, "arch_prctl",
  WHEN(ONE_OF(0, ARCH_SET_GS, ARCH_SET_FS, ARCH_GET_FS, ARCH_GET_GS, ARCH_GET_CPUID,
              ARCH_GET_XCOMP_SUPP, ARCH_GET_XCOMP_PERM, ARCH_REQ_XCOMP_PERM)),
  "thread-local storage; AMX registers for numerical code" },
{ EINVAL, J|P|X86, "arch_prctl", ALWAYS, "a second vDSO, shadow stacks: unknown to older kernels" },

/* ---- processes ------------------------------------------------------------------------------- */
/* The program is a child of the warden: with CLONE_PARENT it could give the warden more of them. */
{ ALLOW, J|P, "clone", WHEN(WITHOUT(0, NEW_NAMESPACE | CLONE_PARENT | CLONE_FILES)), "processes" },
{ ALLOW, J|P, "clone", WHEN(WITHOUT(0, NEW_NAMESPACE | CLONE_PARENT), WITH(0, CLONE_THREAD)), "threads" },
{ EPERM, J|P, "clone", ALWAYS,
  "a namespace is a new kernel surface (CVE-2024-1086, CVE-2022-0492); file locks of a process that shared "
  "its descriptors outlive it, and the kernel's table of locks ascribes them to nobody" },
{ ENOSYS, J|P, "clone3", ALWAYS, "its flags are in memory, where a filter cannot look; libc uses clone" },
{ EPERM, J|P, "unshare setns", ALWAYS, "namespaces, as clone" },
{ ALLOW, J|P|X86, "fork vfork", ALWAYS, "processes" },
{ ALLOW, J|P, "execve execveat exit exit_group wait4 waitid getpid gettid getppid getpgid getsid",
  ALWAYS, "processes" },
{ ALLOW, J|P|X86, "getpgrp pause", ALWAYS, "the same, older forms" },
{ ALLOW, J, "setsid setpgid", ALWAYS, "job control" },
{ EPERM, P, "setsid setpgid", ALWAYS, "without a pid namespace, killing the group must reach everything" },
{ ALLOW, J|P, "rt_sigaction rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigpending rt_sigtimedwait "
              "sigaltstack",
  ALWAYS, "signals to oneself" },
{ EPERM, P, "kill", WHEN(ONE_OF(0, EVERY_PROCESS, OWN_GROUP)),
  "all processes of the user; with only one group, timeout(1) would end its caller" },
/* A filter cannot know which process a pid names. At level `process` the uid and the signal scope of
 * Landlock keep signals inside. */
{ ALLOW, J|P, "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open pidfd_send_signal",
  ALWAYS, "signals to others" },

{ ALLOW, J|P, "getuid geteuid getgid getegid getresuid getresgid getgroups capget capset "
              "setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid",
  ALWAYS, "identity: with one uid and no capability there is nothing to change to" },
{ EPERM, J|P, "setgroups", ALWAYS, "nor any group" },
{ EPERM, J|P, "setrlimit", WHEN(IS(0, RLIMIT_CORE)), "1 keeps the host's core handler out; 0 would not" },
{ ALLOW, J|P, "prlimit64", WHEN(IS(1, RLIMIT_CORE), NO_POINTER(2)), "asking" },
{ EPERM, J|P, "prlimit64", WHEN(IS(1, RLIMIT_CORE)), "the same" },
{ ALLOW, J|P, "prlimit64", WHEN(IS(0, 0)), "one's own" },
{ ALLOW, J, "prlimit64", WHEN(NO_POINTER(2)), "asking about others" },
{ EPERM, J|P, "prlimit64", ALWAYS, "others: pid 1 of the jar, and at level process all that the user runs" },
{ ALLOW, J|P, "uname sysinfo getrusage getrlimit setrlimit getpriority "
              "sched_getaffinity sched_getparam sched_getscheduler sched_getattr "
              "sched_get_priority_max sched_get_priority_min sched_rr_get_interval ioprio_get",
  ALWAYS, "asking about oneself; limits only go down" },
{ ALLOW, J, "setpriority sched_setaffinity sched_setparam sched_setscheduler",
  ALWAYS, "priority among the jar's own processes" },
{ ALLOW, P, "sched_setaffinity sched_setparam sched_setscheduler", WHEN(IS(0, 0)), "one's own" },
{ ALLOW, P, "setpriority", WHEN(IS(0, PRIO_PROCESS), IS(1, 0)), "one's own" },
{ EPERM, P, "setpriority sched_setaffinity sched_setparam sched_setscheduler",
  ALWAYS, "other processes of the same user: a CPU limit of 0 ends them" },
{ EPERM, J|P, "sched_setattr ioprio_set", ALWAYS, "clock speed and disk queue belong to all jars" },

{ ALLOW, J|P, "personality", WHEN(ONE_OF(0, PERSONALITY_QUERY, 0)), "asking, and the usual one" },
{ EPERM, J|P, "personality", ALWAYS, "no address randomisation, executable data, a page at 0" },
{ ALLOW, J|P, "prctl",
  WHEN(ONE_OF(0, PR_SET_NAME, PR_GET_NAME, PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_SET_DUMPABLE,
              PR_GET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS, PR_GET_SECCOMP, PR_SET_VMA,
              PR_SET_THP_DISABLE, PR_GET_THP_DISABLE, PR_SET_TIMERSLACK, PR_GET_TIMERSLACK,
              PR_GET_KEEPCAPS, PR_CAPBSET_READ, PR_GET_SECUREBITS, PR_GET_CHILD_SUBREAPER,
              PR_GET_SPECULATION_CTRL)),
  "names of threads and memory, and asking about oneself" },
{ ALLOW, J|P, "prctl",
  WHEN(ONE_OF(0, PR_SVE_SET_VL, PR_SVE_GET_VL, PR_PAC_RESET_KEYS, PR_SET_TAGGED_ADDR_CTRL,
              PR_GET_TAGGED_ADDR_CTRL, PR_PAC_GET_ENABLED_KEYS)),
  "registers and pointers of arm64" },
{ ALLOW, J, "prctl", WHEN(IS(0, PR_SET_CHILD_SUBREAPER)), "supervisors, inside the jar" },
{ EPERM, J|P, "prctl",
  WHEN(ONE_OF(0, PR_SET_SECCOMP, PR_SET_MM, PR_SET_SECUREBITS, PR_SET_KEEPCAPS, PR_CAPBSET_DROP,
              PR_CAP_AMBIENT, PR_SET_SPECULATION_CTRL, PR_SET_PTRACER, PR_SET_SYSCALL_USER_DISPATCH,
              PR_SCHED_CORE, PR_MCE_KILL, PR_SET_IO_FLUSHER, 67 /* PR_SET_MEMORY_MERGE */)),
  "layers of the jar, and merging of pages" },
{ EINVAL, J|P, "prctl", ALWAYS, "also unknown to the kernel" },

/* ---- sockets: the jar's own loopback, and unix ----------------------------------------------- */
{ EACCES, N, "socket socketpair", WHEN(ANYHOW), "JOB_NO_SOCKETS" },
{ ALLOW, J, "socket", WHEN(IS(0, AF_UNIX), MASKED(1, SOCKET_TYPE, SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET)),
  "unix sockets" },
{ ALLOW, J, "socket",
  WHEN(ONE_OF(0, AF_INET, AF_INET6), MASKED(1, SOCKET_TYPE, SOCK_STREAM), ONE_OF(2, 0, IPPROTO_TCP)), "TCP" },
{ ALLOW, J, "socket",
  WHEN(ONE_OF(0, AF_INET, AF_INET6), MASKED(1, SOCKET_TYPE, SOCK_DGRAM), ONE_OF(2, 0, IPPROTO_UDP)), "UDP" },
{ EPERM, J, "socket", WHEN(ONE_OF(0, AF_UNIX, AF_INET, AF_INET6), MASKED(1, SOCKET_TYPE, SOCK_RAW)),
  "raw packets" },
{ EPROTONOSUPPORT, J, "socket", WHEN(ONE_OF(0, AF_UNIX, AF_INET, AF_INET6)),
  "SCTP, DCCP, MPTCP, SMC, L2TP, UDP-Lite: rarely used, often broken" },
{ EAFNOSUPPORT, J, "socket", ALWAYS,
  "netlink, packet, alg, rxrpc, bluetooth…; vsock does not even respect network namespaces" },
{ EPERM, P, "socket", ALWAYS, "without a network namespace every socket is the host's" },
{ ALLOW, J, "socketpair",
  WHEN(IS(0, AF_UNIX), MASKED(1, SOCKET_TYPE, SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET)), "both ends are ours" },
{ ALLOW, P, "socketpair", WHEN(IS(0, AF_UNIX), MASKED(1, SOCKET_TYPE, SOCK_STREAM, SOCK_SEQPACKET)),
  "both ends are ours, and stay so: a datagram could be sent to another address" },
{ ALLOW, S|T, "socketpair", WHEN(IS(0, AF_UNIX), MASKED(1, SOCKET_TYPE, SOCK_SEQPACKET)),
  "the channel of a session; both ends are ours, and such a socket reaches no address" },
{ EAFNOSUPPORT, J|P|S|T, "socketpair", ALWAYS, "no family but unix has pairs that we want" },
{ ALLOW, J, "bind connect listen accept4 accept", ALWAYS, "the jar's own network" },
{ EPERM, P, "bind connect listen accept4 accept", ALWAYS, "a pair needs none of them" },
{ ALLOW, J|P, "shutdown getsockname getpeername", ALWAYS, "sockets" },
{ ALLOW, J|P, "sendto recvfrom", WHEN(WITHOUT(3, MSG_OOB)), "sockets" },
{ ALLOW, J|P, "sendmsg recvmsg", WHEN(WITHOUT(2, MSG_OOB)), "sockets" },
{ ALLOW, J|P, "sendmmsg recvmmsg", WHEN(WITHOUT(3, MSG_OOB)), "sockets" },
{ EOPNOTSUPP, J|P, "sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg",
  ALWAYS, "out-of-band data on unix sockets (CVE-2025-38236)" },
/* The kernel reports on groups later, by a timer: in a network namespace that is used again, to the next jar.
 * Without a network, joining fails with ENODEV anyway, except on the loopback interface by name. */
{ ENODEV, J|P, "setsockopt",
  WHEN(IS(1, IPPROTO_IP), ONE_OF(2, IP_ADD_MEMBERSHIP, IP_ADD_SOURCE_MEMBERSHIP, MCAST_JOIN_GROUP, MCAST_JOIN_SOURCE_GROUP)),
  "multicast groups" },
{ ENODEV, J|P, "setsockopt",
  WHEN(IS(1, IPPROTO_IPV6), ONE_OF(2, IPV6_JOIN_GROUP, IPV6_JOIN_ANYCAST, MCAST_JOIN_GROUP, MCAST_JOIN_SOURCE_GROUP)),
  "multicast groups" },
/* A connection that nobody accepts yet has the receive buffer of its listener, on nobody's account. */
{ 0, J|P, "setsockopt", WHEN(IS(1, SOL_SOCKET), IS(2, SO_RCVBUF)), "the kernel chooses the size" },
{ ALLOW, J|P, "setsockopt",
  WHEN(IS(1, SOL_SOCKET),
       ONE_OF(2, SO_DEBUG, SO_REUSEADDR, SO_DONTROUTE, SO_BROADCAST, SO_SNDBUF, SO_KEEPALIVE, SO_OOBINLINE,
              SO_PRIORITY, SO_LINGER, SO_REUSEPORT, SO_PASSCRED, SO_RCVLOWAT, SO_SNDLOWAT, SO_RCVTIMEO,
              SO_SNDTIMEO, SO_RCVTIMEO_NEW_, SO_SNDTIMEO_NEW_, SO_TIMESTAMP, SO_TIMESTAMPNS_, SO_PEEK_OFF_,
              SO_INCOMING_CPU_, SO_PASSPIDFD_)),
  "sockets" },
{ ALLOW, J|P, "setsockopt",
  WHEN(IS(1, IPPROTO_TCP),
       ONE_OF(2, TCP_NODELAY, TCP_MAXSEG, TCP_CORK, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT, TCP_SYNCNT,
              TCP_LINGER2, TCP_WINDOW_CLAMP, TCP_QUICKACK, TCP_CONGESTION, TCP_USER_TIMEOUT_,
              TCP_NOTSENT_LOWAT_)),
  "TCP" },
{ ALLOW, J|P, "setsockopt",
  WHEN(IS(1, IPPROTO_IP),
       ONE_OF(2, IP_TOS, IP_TTL, IP_RECVTOS, IP_RECVTTL, IP_PKTINFO, IP_MTU_DISCOVER, IP_RECVERR,
              IP_FREEBIND, IP_BIND_ADDRESS_NO_PORT_, IP_MULTICAST_IF, IP_MULTICAST_TTL, IP_MULTICAST_LOOP,
              IP_MULTICAST_ALL)),
  "IPv4" },
{ ALLOW, J|P, "setsockopt",
  WHEN(IS(1, IPPROTO_IPV6),
       ONE_OF(2, IPV6_V6ONLY, IPV6_UNICAST_HOPS, IPV6_MULTICAST_IF, IPV6_MULTICAST_HOPS,
              IPV6_MULTICAST_LOOP, IPV6_MTU_DISCOVER, IPV6_RECVERR, IPV6_RECVPKTINFO, IPV6_RECVHOPLIMIT,
              IPV6_RECVTCLASS, IPV6_TCLASS, IPV6_DONTFRAG)),
  "IPv6" },
{ ALLOW, J|P, "setsockopt", WHEN(IS(1, IPPROTO_UDP), IS(2, UDP_CORK_)), "UDP" },
{ ENOPROTOOPT, J|P, "setsockopt", ALWAYS,
  "programs for the kernel to run, its hands on the sender's pages (SO_ZEROCOPY), kernel TLS and other "
  "layers on TCP (CVE-2023-0461), IPsec in UDP, flow labels, and options invented tomorrow" },
{ ENOPROTOOPT, J|P, "getsockopt", WHEN(IS(1, IPPROTO_TCP), IS(2, TCP_ZEROCOPY_RECEIVE_)),
  "maps the network's pages" },
{ ALLOW, J|P, "getsockopt", ALWAYS, "sockets" },

/* ---- ioctl ----------------------------------------------------------------------------------- */
{ ALLOW, J|P, "ioctl",
  WHEN(ONE_OF(1, TCGETS, FIONBIO, FIOCLEX, FIONREAD, TIOCGWINSZ, FIONCLEX, FIOASYNC, FIOQSIZE, TIOCOUTQ)),
  "any file" },
{ ALLOW, J|P, "ioctl",
  WHEN(ONE_OF(1, TCSETS, TCSETSW, TCSETSF, TCSBRK, TCSBRKP, TCXONC, TCFLSH, TIOCSWINSZ, TIOCGPGRP, TIOCSPGRP,
              TIOCGSID, TIOCGETD, TIOCNOTTY, TIOCEXCL, TIOCNXCL, TIOCPKT, TIOCGPTN, TIOCSPTLCK, TIOCGPTLCK,
              TIOCGPTPEER, 0x802c542a /* TCGETS2 */, 0x402c542b, 0x402c542c, 0x402c542d /* TCSETS2… */)),
  "terminals, of which the program can only have its own" },
{ ALLOW, J, "ioctl", WHEN(IS(1, TIOCSCTTY)), "a terminal of one's own, for shells inside shells" },
{ ALLOW, J, "ioctl",
  WHEN(ONE_OF(1, SIOCGIFCONF, SIOCGIFNAME, SIOCGIFINDEX, SIOCGIFFLAGS, SIOCGIFADDR, SIOCGIFDSTADDR,
              SIOCGIFBRDADDR, SIOCGIFNETMASK, SIOCGIFMTU, SIOCGIFHWADDR, SIOCGIFTXQLEN, SIOCATMARK)),
  "which network interfaces there are" },
{ EPERM, J|P, "ioctl", WHEN(ONE_OF(1, TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD)),
  "typing into a terminal (CVE-2017-5226, CVE-2023-28100), the console, line disciplines" },
{ ENOTTY, J|P, "ioctl", ALWAYS, "the answer of a file that does not know the request" },

/* ---- System V and POSIX message queues ------------------------------------------------------- */
{ ALLOW, J, "shmget", WHEN(WITHOUT(2, SHM_HUGETLB)), "PostgreSQL" },
{ ENOMEM, J, "shmget", ALWAYS, "huge pages, as mmap" },
{ ALLOW, J, "shmat shmdt shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl",
  ALWAYS, "in the jar's own ipc namespace" },
{ ENOSYS, P, "shmget shmat shmdt shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl",
  ALWAYS, "without a namespace they are the host's, and outlive the program" },
{ ENOSYS, J|P, "mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr", ALWAYS,
  "Landlock refuses their files, which are on a mount of the kernel's own: no program could use one" },

/* ---- refused so that programs take another way ----------------------------------------------- */
{ EINVAL, J|P, "sendfile splice", ALWAYS,
  "moving pages of the page cache (CVE-2022-0847 and its like); EINVAL, as Go falls back on nothing else" },
{ ENOSYS, J|P, "vmsplice tee copy_file_range", ALWAYS, "the same; cp, Node, Java and Rust fall back" },
{ 0, J|P, "sync syncfs fsync fdatasync sync_file_range", ALWAYS,
  "files of a jar are temporary; the disks are the host's, and any readable file could flush them" },
{ ENOSYS, J|P, "io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents", ALWAYS,
  "old asynchronous I/O: a second door to fsync and to unusual code" },
{ ENOSYS, J|P, "landlock_create_ruleset landlock_add_rule landlock_restrict_self", ALWAYS,
  "sandboxes inside the sandbox" },
{ ENOSYS, J|P, "mbind set_mempolicy get_mempolicy set_mempolicy_home_node remap_file_pages get_robust_list",
  ALWAYS, "libnuma takes this for a machine of one node" },

/* ---- refused: taking the jar apart ----------------------------------------------------------- */
{ EPERM, J|P, "mount umount2 pivot_root chroot open_tree move_mount fsopen fsconfig fsmount fspick "
              "mount_setattr",
  ALWAYS, "the root is built, and stays (CVE-2021-30465, CVE-2022-0492)" },
{ EPERM, J|P|W, "open_by_handle_at name_to_handle_at", ALWAYS, "any inode of the host by its number" },
{ EPERM, J|P|W, "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_getfd",
  ALWAYS, "the inside of other processes" },
{ EPERM, J|P, "seccomp", ALWAYS, "filters are programs that the kernel runs" },
{ EPERM, J|P, "sethostname setdomainname", ALWAYS, "the jar's name is given" },

/* ---- refused: the machine -------------------------------------------------------------------- */
{ EPERM, J|P|W, "reboot kexec_load kexec_file_load init_module finit_module delete_module swapon swapoff acct "
              "quotactl quotactl_fd syslog vhangup nfsservctl",
  ALWAYS, "administration" },
{ EPERM, J|P|W, "settimeofday clock_settime adjtimex clock_adjtime", ALWAYS, "the host's clock" },
{ EPERM, J|P|W|X86, "iopl ioperm modify_ldt uselib", ALWAYS, "ports, segments, a.out" },

/* ---- refused: where kernels have broken most ------------------------------------------------- */
{ EPERM, J|P|W, "io_uring_setup io_uring_enter io_uring_register", ALWAYS,
  "system calls that no filter sees (CVE-2022-29582, CVE-2023-2598)" },
{ EPERM, J|P|W, "bpf perf_event_open userfaultfd", ALWAYS, "CVE-2021-3490, CVE-2013-2094, every race won" },
{ EPERM, J|P|W, "add_key request_key keyctl", ALWAYS, "keyrings are not in a namespace (CVE-2016-0728)" },
{ EPERM, J|P|W, "fanotify_init fanotify_mark lookup_dcookie", ALWAYS, "watching the host's files" },
{ EPERM, J|P|W, "migrate_pages move_pages memfd_secret", ALWAYS, "places of memory, and memory that the host cannot see" },

/* ---- pid 1 of the jar ------------------------------------------------------------------------ */
{ ALLOW, I, "wait4 waitid read write close ppoll kill exit exit_group rt_sigaction rt_sigprocmask "
            "rt_sigreturn rt_sigsuspend rt_sigtimedwait restart_syscall",
  ALWAYS, "it reaps, and ends" },
{ ALLOW, I|X86, "poll pause", ALWAYS, "the same, older forms" },
{ ALLOW, I, "mmap munmap mprotect madvise brk futex sigaltstack getpid gettid clock_gettime sched_yield",
  ALWAYS, "calls of the C library and the sanitizers, on memory only" },

/* ---- a reader of output of guests --------------------------------------------------------- */
{ ALLOW, R, "read write close exit exit_group", ALWAYS, "its one socket, and its end" },
{ EACCES, R, "mmap mprotect", WHEN(WITH(2, PROT_EXEC)), "code that was not there before" },
{ ALLOW, R, "mmap mprotect munmap mremap madvise brk futex sigaltstack rt_sigaction rt_sigprocmask "
            "rt_sigreturn restart_syscall getpid gettid clock_gettime sched_yield",
  ALWAYS, "calls of the C library and the sanitizers, on memory only" },

/* ---- the parent of injectors: it forks them, and they narrow themselves ------------------------ */
{ ALLOW, M, "clone", WHEN(WITHOUT(0, NEW_NAMESPACE | CLONE_PARENT | CLONE_FILES | CLONE_VM)), "injectors" },
{ EPERM, M, "clone", ALWAYS, "everything else" },
{ ALLOW, M, "seccomp", ALWAYS, "the narrower filter" },
{ ALLOW, M, "prctl", WHEN(IS(0, PR_GET_NO_NEW_PRIVS)), "asked before it" },

/* ---- keepers: they read requests of strangers and output of guests --------------------------- */
{ ALLOW, K, "read write readv writev pread64 pwrite64 lseek close close_range dup ftruncate fstat",
  ALWAYS, "descriptors that it has" },
{ ALLOW, K|X86, "poll epoll_wait", ALWAYS, "waiting, older forms" },
{ ALLOW, K, "ppoll epoll_create1 epoll_ctl epoll_pwait eventfd2 signalfd4", ALWAYS, "waiting for events" },
{ EPERM, K, "fcntl", WHEN(ONE_OF(1, F_NOTIFY, F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETLEASE)), "signals by way of files" },
{ ALLOW, K, "fcntl", ALWAYS, "descriptors, and the locks of the database" },
{ ALLOW, K, "pipe2", WHEN(WITHOUT(1, O_EXCL)), "pipes of a jar" },
{ ENOPKG, K, "pipe2", ALWAYS, "watch queues" },
{ ALLOW, K, "memfd_create", WHEN(WITHOUT(1, MFD_HUGE)), "bundles" },
{ ENOMEM, K, "memfd_create", ALWAYS, "huge pages" },
{ EPERM, K, "mmap", WHEN(WITH(2, PROT_EXEC)), "code" },
{ ALLOW, K, "mmap", WHEN(WITHOUT(3, MAP_HUGETLB)), "memory" },
{ ENOMEM, K, "mmap", ALWAYS, "huge pages" },
{ EPERM, K, "mprotect", WHEN(WITH(2, PROT_EXEC)), "data that becomes code" },
{ ALLOW, K, "mprotect munmap mremap brk madvise", ALWAYS, "memory" },
{ ALLOW, K, "futex set_robust_list rseq getrandom restart_syscall sched_yield sched_getaffinity clock_gettime "
            "clock_getres clock_nanosleep nanosleep gettimeofday getpid gettid getppid getuid geteuid getgid getegid "
            "getcpu getrusage sysinfo uname rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack exit exit_group",
  ALWAYS, "calls of the C library" },
{ ALLOW, K|X86, "time", ALWAYS, "the same, older form" },
{ ALLOW, K, "tgkill", WHEN(IS(2, SIGABRT)), "abort()" },
{ EPERM, K, "tgkill", ALWAYS, "signals" },
{ ALLOW, K, "prlimit64", WHEN(IS(0, 0), NO_POINTER(2)), "asking" },
{ EPERM, K, "prlimit64", ALWAYS, "the rest" },
{ ALLOW, K, "prctl", WHEN(ONE_OF(0, PR_SET_NAME, PR_SET_VMA, 66 /* PR_GET_MDWE */)), "names of threads and memory" },
{ EPERM, K, "prctl", ALWAYS, "the rest" },
{ ALLOW, K, "ioctl", WHEN(ONE_OF(1, TCGETS, TIOCGWINSZ, FIONBIO, FIONREAD, FIOCLEX)), "is it a terminal?" },
{ ENOTTY, K, "ioctl", ALWAYS, "devices" },
{ ALLOW, K, "sendmsg recvmsg", WHEN(WITHOUT(2, MSG_OOB)), "the wire, and clients" },
{ ALLOW, K, "sendto recvfrom", WHEN(WITHOUT(3, MSG_OOB)), "the same" },
{ EOPNOTSUPP, K, "sendmsg recvmsg sendto recvfrom", ALWAYS, "out-of-band data" },
{ ALLOW, K, "shutdown getsockname getpeername getsockopt", ALWAYS, "sockets that it has" },

{ ALLOW, T, "openat newfstatat statx faccessat faccessat2 getdents64 readlinkat", ALWAYS,
  "names: Landlock decides which files it reads" },
{ ALLOW, T|X86, "open stat lstat access readlink", ALWAYS, "the same, older forms" },
{ ALLOW, T, "fchmod", ALWAYS, "programs open their pipes by name" },
{ ALLOW, U, "newfstatat", WHEN(WITH(3, 0x1000 /* AT_EMPTY_PATH */)), "fstat()" },
{ EACCES, U, "newfstatat", ALWAYS, "no file has a name here" },
{ ALLOW, U, "socket", WHEN(IS(0, AF_UNIX), MASKED(1, SOCKET_TYPE, SOCK_STREAM)), "the socket of the service" },
{ EPERM, U, "socket", ALWAYS, "the network" },
{ ALLOW, U, "connect", ALWAYS, "the socket of the service" },
{ ALLOW, U, "setsockopt", WHEN(IS(1, SOL_SOCKET), ONE_OF(2, SO_SNDTIMEO, SO_RCVTIMEO)), "how long it waits" },
{ ENOPROTOOPT, U, "setsockopt", ALWAYS, "the rest" },

{ ALLOW, S, "mkdirat unlinkat renameat renameat2 linkat fchown flock fallocate fsync fdatasync statfs fstatfs "
            "getcwd umask",
  ALWAYS, "its data and the directory of /execute" },
{ ALLOW, S|X86, "mkdir unlink rmdir rename", ALWAYS, "the same, older forms" },
{ ALLOW, S, "utimensat", ALWAYS, "the age of compiled programs" },
{ ALLOW, S, "splice", ALWAYS, "output of a session, into its file" },
{ ALLOW, S, "accept4 listen", ALWAYS, "clients, on sockets that it inherited" },
{ ALLOW, S, "setsockopt", WHEN(IS(1, IPPROTO_TCP), ONE_OF(2, TCP_NODELAY, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT)),
  "answers without delay" },
{ ALLOW, S, "setsockopt", WHEN(IS(1, SOL_SOCKET), ONE_OF(2, SO_KEEPALIVE, SO_SNDBUF, SO_RCVBUF, SO_LINGER)), "the same" },
{ ENOPROTOOPT, S, "setsockopt", ALWAYS, "the rest" },
{ ALLOW, O, "socket", WHEN(ONE_OF(0, AF_INET, AF_INET6), MASKED(1, SOCKET_TYPE, SOCK_STREAM, SOCK_DGRAM)),
  "connections to the outside, and questions to name servers" },
{ EAFNOSUPPORT, O, "socket", ALWAYS, "other networks" },
{ ALLOW, O, "socketpair", WHEN(IS(0, AF_UNIX), MASKED(1, SOCKET_TYPE, SOCK_STREAM, SOCK_SEQPACKET)), "to the injector" },
{ EAFNOSUPPORT, O, "socketpair", ALWAYS, "no family but unix has pairs that we want" },
{ ALLOW, O, "connect accept4", ALWAYS, "to addresses that the gate has judged; guests" },
{ ALLOW, O, "setsockopt", WHEN(IS(1, IPPROTO_TCP), IS(2, TCP_NODELAY)), "bytes without delay" },
{ ALLOW, O, "setsockopt", WHEN(IS(1, SOL_SOCKET), ONE_OF(2, SO_RCVBUF, SO_SNDBUF, SO_LINGER)), "buffers, and resets" },
{ ENOPROTOOPT, O, "setsockopt", ALWAYS, "the rest" },
{ ALLOW, O, "splice", ALWAYS, "bytes from socket to socket" },

{ ALLOW, S, "clone", WHEN(WITH(0, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)), "threads of the store and of libuv" },
{ EPERM, S, "clone", ALWAYS, "processes" },
};
/* clang-format on */

const size_t seccomp_policy_rules = sizeof(seccomp_policy) / sizeof(seccomp_policy[0]);
