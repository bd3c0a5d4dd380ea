/* The filters, each in a child of its own. tests/escape/test_syscalls.py tests the answer to every
 * single call. The tests here are for the promises of jar/seccomp.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jar/seccomp.h"

#include "check.h"

enum { DONE = 0, NO_FILTER = 250 };

/* 0, or the errno of a raw call, small enough for an exit status. */
static int errno_of(long result)
{
    return result < 0 ? errno : DONE;
}

static int ended(pid_t pid)
{
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1000;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* The result of `body` under `older`, if there is one, and then `profile`; or minus the signal that
 * ended it. */
static int under_both(const enum seccomp_profile *older, enum seccomp_profile profile,
                      int (*body)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        struct err e;
        struct rlimit no_core = { 0, 0 };
        if (setrlimit(RLIMIT_CORE, &no_core) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            (older && seccomp_apply(*older, &e) != 0) || seccomp_apply(profile, &e) != 0)
            _exit(NO_FILTER);
        _exit(body());
    }
    return ended(pid);
}

static int under(enum seccomp_profile profile, int (*body)(void))
{
    return under_both(NULL, profile, body);
}

static int in_embryo(enum seccomp_profile profile, int (*body)(void))
{
    static const enum seccomp_profile zygote = SECCOMP_ZYGOTE;
    return under_both(&zygote, profile, body);
}

/* ---- applying
 * ---------------------------------------------------------------------------------- */

static void test_apply_without_no_new_privs_is_refused(void)
{
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0) {
        SKIP("no_new_privs is already set here");
        return;
    }
    struct err e = { 0 };
    CHECK_INT(seccomp_apply(SECCOMP_JAR, &e), -1);
    CHECK_INT(e.code, ERR_KERNEL);
    CHECK(strstr(e.text, "no_new_privs") != NULL);
    CHECK_INT(prctl(PR_GET_SECCOMP, 0, 0, 0, 0), 0);
    CHECK_INT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0); /* it does not help itself, either */
}

static int apply_unknown_profile(void)
{
    struct err e = { 0 };
    return seccomp_apply(SECCOMP_PROFILES, &e) == -1 && e.sys == EINVAL ? DONE : 1;
}

static void test_apply_of_an_unknown_profile_is_refused(void)
{
    CHECK_INT(under(SECCOMP_JAR, apply_unknown_profile), DONE);
}

static int apply_again(void)
{
    struct err e = { 0 };
    return seccomp_apply(SECCOMP_INIT, &e) == -1 ? e.sys : DONE;
}

static void test_a_filter_cannot_be_followed_by_another(void)
{
    CHECK_INT(under(SECCOMP_JAR, apply_again), EPERM);
    CHECK_INT(under(SECCOMP_PROCESS, apply_again), EPERM);
}

/* ---- refused calls
 * ------------------------------------------------------------------------------ */

static int new_namespaces(void)
{
    static const int flags[] = { CLONE_NEWNS,  CLONE_NEWUTS, CLONE_NEWIPC,    CLONE_NEWUSER,
                                 CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP, 0x80 /* time */ };
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (errno_of(syscall(SYS_unshare, flags[i])) != EPERM ||
            errno_of(syscall(SYS_clone, flags[i] | SIGCHLD, 0, 0, 0, 0)) != EPERM)
            return 1;
    return errno_of(syscall(SYS_clone3, NULL, 0)) == ENOSYS ? DONE : 2;
}

/* Locks of such a process would outlive it, and nobody could count them. */
static int shared_descriptors(void)
{
    static const int flags[] = { CLONE_FILES, CLONE_FILES | CLONE_FS };
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (errno_of(syscall(SYS_clone, flags[i] | SIGCHLD, 0, 0, 0, 0)) != EPERM)
            return 1;
    return DONE;
}

static void test_only_threads_share_descriptors(void)
{
    CHECK_INT(under(SECCOMP_JAR, shared_descriptors), DONE);
    CHECK_INT(under(SECCOMP_PROCESS, shared_descriptors), DONE);
}

static void test_no_namespace_can_be_made(void)
{
    CHECK_INT(under(SECCOMP_JAR, new_namespaces), DONE);
    CHECK_INT(under(SECCOMP_PROCESS, new_namespaces), DONE);
}

/* The arguments are such that root, without the filter, would be told EFAULT. */
static int administer(void)
{
    void *nowhere = (void *)1; /* NOLINT(performance-no-int-to-ptr) */
    return errno_of(syscall(SYS_mount, nowhere, nowhere, nowhere, 0, nowhere)) == EPERM &&
                   errno_of(syscall(SYS_swapon, nowhere, 0)) == EPERM &&
                   errno_of(syscall(SYS_init_module, nowhere, 1, nowhere)) == EPERM &&
                   errno_of(syscall(SYS_bpf, 0, nowhere, 1)) == EPERM &&
                   errno_of(syscall(SYS_io_uring_setup, 1, nowhere)) == EPERM
               ? DONE
               : 1;
}

static void test_administration_is_refused_to_root_as_well(void)
{
    CHECK_INT(under(SECCOMP_JAR, administer), DONE);
    CHECK_INT(under(SECCOMP_PROCESS, administer), DONE);
}

static int move_pages_between_files(void)
{
    return errno_of(syscall(SYS_splice, -1, NULL, -1, NULL, 1, 0)) == EINVAL &&
                   errno_of(syscall(SYS_sendfile, -1, -1, NULL, 1)) == EINVAL &&
                   errno_of(syscall(SYS_vmsplice, -1, NULL, 0, 0)) == ENOSYS &&
                   errno_of(syscall(SYS_tee, -1, -1, 1, 0)) == ENOSYS
               ? DONE
               : 1;
}

static void test_page_cache_movers_make_programs_fall_back(void)
{
    CHECK_INT(under(SECCOMP_JAR, move_pages_between_files), DONE);
}

static int flush(void)
{
    return errno_of(syscall(SYS_syncfs, -1)) | errno_of(syscall(SYS_fsync, -1));
}

static void test_flushing_succeeds_without_being_done(void)
{
    CHECK_INT(under(SECCOMP_JAR, flush), DONE); /* done, it would be EBADF */
}

static int inject_with_high_bits(void)
{
    const unsigned long tiocsti = 0x5412;
    for (unsigned bit = 32; bit < 64; bit++)
        if (errno_of(syscall(SYS_ioctl, -1, tiocsti | 1UL << bit, "x")) != EPERM)
            return 1;
    return errno_of(syscall(SYS_ioctl, -1, tiocsti, "x"));
}

static void test_arguments_are_compared_on_their_low_half(void)
{
    CHECK_INT(under(SECCOMP_JAR, inject_with_high_bits), EPERM);
    CHECK_INT(under(SECCOMP_PROCESS, inject_with_high_bits), EPERM);
}

static int invented_call(void)
{
    return errno_of(syscall(999));
}

static void test_calls_without_a_row_do_not_exist(void)
{
    CHECK_INT(under(SECCOMP_JAR, invented_call), ENOSYS);
    CHECK_INT(under(SECCOMP_PROCESS, invented_call), ENOSYS);
    CHECK_INT(under(SECCOMP_INIT, invented_call), ENOSYS);
}

#if defined(__x86_64__)
static int call_by_i386(void)
{
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20 /* getpid */) : "memory");
    return (int)(result & 0x7f);
}

static int call_by_x32(void)
{
    return errno_of(syscall(0x40000000 | SYS_getpid));
}

static void test_other_entries_of_the_kernel_are_closed(void)
{
    int signal = under(SECCOMP_JAR, call_by_i386);
    CHECK(signal == -SIGSYS || signal == -SIGSEGV); /* the latter: a kernel without that entry */
    CHECK_INT(under(SECCOMP_JAR, call_by_x32), ENOSYS);
}
#endif

/* ---- how the profiles differ
 * ----------------------------------------------------------------------- */

static int tcp_socket(void)
{
    return errno_of(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int vsock_socket(void)
{
    return errno_of(socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int pair(void)
{
    int fds[2];
    return errno_of(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds));
}

static int own_session(void)
{
    return errno_of(setsid());
}

static int own_group(void)
{
    return errno_of(setpgid(0, 0));
}

static void test_without_namespaces_there_are_no_sockets_and_no_sessions(void)
{
    CHECK_INT(under(SECCOMP_JAR, tcp_socket), DONE);
    CHECK_INT(under(SECCOMP_JAR, vsock_socket), EAFNOSUPPORT);
    CHECK_INT(under(SECCOMP_JAR, own_session), DONE);
    CHECK_INT(under(SECCOMP_JAR, own_group), DONE);

    CHECK_INT(under(SECCOMP_PROCESS, tcp_socket), EPERM);
    CHECK_INT(under(SECCOMP_PROCESS, vsock_socket), EPERM);
    CHECK_INT(under(SECCOMP_PROCESS, pair), DONE);
    CHECK_INT(under(SECCOMP_PROCESS, own_session), EPERM);
    CHECK_INT(under(SECCOMP_PROCESS, own_group), EPERM);
}

static int open_a_file(void)
{
    return errno_of(open("/", O_RDONLY | O_CLOEXEC));
}

static int execute_a_file(void)
{
    return errno_of(execl("/bin/true", "true", NULL));
}

static int reap(void)
{
    return waitpid(-1, NULL, 0) == -1 && errno == ECHILD ? DONE : 1;
}

static void test_pid_1_can_reap_and_nothing_else(void)
{
    CHECK_INT(under(SECCOMP_INIT, reap), DONE);
    CHECK_INT(under(SECCOMP_INIT, open_a_file), ENOSYS);
    CHECK_INT(under(SECCOMP_INIT, execute_a_file), ENOSYS);
    CHECK_INT(under(SECCOMP_INIT, tcp_socket), ENOSYS);
}

/* ---- calls that must work
 * ------------------------------------------------------------------------ */

static void *nothing(void *arg)
{
    return arg;
}

static int thread_and_program(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/true", "true", NULL);
        _exit(1);
    }
    return ended(pid);
}

static void test_threads_and_programs_start(void)
{
    CHECK_INT(under(SECCOMP_JAR, thread_and_program), DONE);
    CHECK_INT(under(SECCOMP_PROCESS, thread_and_program), DONE);
}

/* ---- where commands are listed
 * ------------------------------------------------------------------------ */

static int code_from_nowhere(void)
{
    const int rwx = PROT_READ | PROT_WRITE | PROT_EXEC, own = MAP_PRIVATE | MAP_ANONYMOUS;
    void *data = mmap(NULL, 4096, PROT_READ | PROT_WRITE, own, -1, 0);
    return mmap(NULL, 4096, rwx, own, -1, 0) != MAP_FAILED ||
                   mmap(NULL, 4096, PROT_READ | PROT_EXEC, own, -1, 0) != MAP_FAILED ||
                   data == MAP_FAILED || mprotect(data, 4096, PROT_READ | PROT_EXEC) == 0
               ? DONE
               : errno;
}

static int code_from_a_file(void)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    return code == MAP_FAILED ? errno : DONE;
}

static int writable_code_from_a_file(void)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, fd, 0);
    return code == MAP_FAILED ? errno : DONE;
}

static int memory_file(void)
{
    return errno_of(syscall(SYS_memfd_create, "x", 0));
}

/* ---- the short filter of embryos
 * --------------------------------------------------------------- */

static int new_socket(void)
{
    return errno_of(syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0));
}

/* The calls that the filter of a zygote allows more than that of a jar. */
static int calls_of_a_zygote(void)
{
    struct rlimit same;
    if (new_namespaces() != DONE || apply_again() != EPERM)
        return 1;
    if (errno_of(syscall(SYS_setns, -1, 0)) != EPERM || getrlimit(RLIMIT_NOFILE, &same) != 0)
        return 2;
    return errno_of(syscall(SYS_prctl, SECCOMP_ZYGOTE_PROBE, 0, 0, 0, 0)) != ENOTNAM ? DONE : 3;
}

static void test_an_embryo_has_the_filter_of_its_jar(void)
{
    CHECK_INT(in_embryo(SECCOMP_JAR, calls_of_a_zygote), DONE);
    CHECK_INT(in_embryo(SECCOMP_JAR, administer), DONE);
    CHECK_INT(in_embryo(SECCOMP_JAR, shared_descriptors), DONE);
    CHECK_INT(in_embryo(SECCOMP_JAR, new_socket), DONE);
    CHECK_INT(in_embryo(SECCOMP_JAR, thread_and_program), DONE);
    CHECK_INT(in_embryo(SECCOMP_NO_SOCKETS, calls_of_a_zygote), DONE);
    CHECK_INT(in_embryo(SECCOMP_NO_SOCKETS, new_socket), EACCES);
}

/* The short filter alone would allow all of this. */
static void test_no_embryo_but_one_of_a_confined_zygote_has_the_short_filter(void)
{
    CHECK_INT(under(SECCOMP_EMBRYO, administer), 1);
    CHECK_INT(under(SECCOMP_JAR, administer), DONE);
    CHECK_INT(under(SECCOMP_NO_SOCKETS, administer), DONE);
}

static void test_listed_code_comes_from_files_alone(void)
{
    CHECK_INT(under(SECCOMP_LISTED, code_from_nowhere), EACCES);
    CHECK_INT(under(SECCOMP_LISTED, writable_code_from_a_file), EACCES);
    CHECK_INT(under(SECCOMP_LISTED, code_from_a_file), DONE);
    CHECK_INT(under(SECCOMP_LISTED, memory_file), ENOSYS);
    CHECK_INT(under(SECCOMP_LISTED, thread_and_program), DONE);
    CHECK_INT(under(SECCOMP_LISTED, new_namespaces), DONE); /* and the rest is as in any jar */
    CHECK_INT(under(SECCOMP_LISTED, vsock_socket), EAFNOSUPPORT);
    CHECK_INT(under(SECCOMP_LISTED_OWN_CODE, code_from_nowhere), DONE);
    CHECK_INT(under(SECCOMP_LISTED_OWN_CODE, memory_file), ENOSYS);
    CHECK_INT(under(SECCOMP_LISTED_OWN_CODE, thread_and_program), DONE);
    CHECK_INT(under(SECCOMP_JAR, code_from_nowhere), DONE);
    CHECK_INT(under(SECCOMP_JAR, memory_file), DONE);
}

static const struct check_test tests[] = {
    TEST(test_an_embryo_has_the_filter_of_its_jar),
    TEST(test_no_embryo_but_one_of_a_confined_zygote_has_the_short_filter),
    TEST(test_listed_code_comes_from_files_alone),
    TEST(test_apply_without_no_new_privs_is_refused),
    TEST(test_apply_of_an_unknown_profile_is_refused),
    TEST(test_a_filter_cannot_be_followed_by_another),
    TEST(test_only_threads_share_descriptors),
    TEST(test_no_namespace_can_be_made),
    TEST(test_administration_is_refused_to_root_as_well),
    TEST(test_page_cache_movers_make_programs_fall_back),
    TEST(test_flushing_succeeds_without_being_done),
    TEST(test_arguments_are_compared_on_their_low_half),
    TEST(test_calls_without_a_row_do_not_exist),
#if defined(__x86_64__)
    TEST(test_other_entries_of_the_kernel_are_closed),
#endif
    TEST(test_without_namespaces_there_are_no_sockets_and_no_sessions),
    TEST(test_pid_1_can_reap_and_nothing_else),
    TEST(test_threads_and_programs_start),
};
CHECK_MAIN(tests)
