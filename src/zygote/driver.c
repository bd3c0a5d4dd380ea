#include "zygote/driver.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/thread.h"
#include "jar/confine.h"
#include "jar/embryo_job.h"
#include "jar/files.h"
#include "jar/inside.h"
#include "zygote/request.h"

enum { RANDOM_BYTES = 16, RSEQ_BYTES = 32, RSEQ_SIGNATURE = 0x53053053 };

struct robust_list_head;
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

/* ---- taking over ---- */

typedef int main_function(int argc, char **argv, char **envp);
typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void),
                           void (*)(void), void *);

static main_function *real_main;

static int our_main(int argc, char **argv, char **envp)
{
    (void)unsetenv("LD_PRELOAD"); /* our children must not inherit it */
    return driver_main(argc, argv, envp, real_main);
}

/* Replaces the function of the C library that calls main(), so that it calls us. Before glibc 2.34,
 * init and fini belong to the program. */
[[gnu::visibility("default")]] int __libc_start_main(main_function *main, int argc, char **argv,
                                                     void (*init)(void), void (*fini)(void),
                                                     void (*rtld_fini)(void), void *stack_end);
int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    start_function *start = (start_function *)dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = main;
    if (!start)
        _exit(127);
    return start(our_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/* ---- the warden's requests ---- */

static void send_hello(const struct err *e)
{
    struct zygote_hello hello = { .err = *e };
    if (send(ZYGOTE_FD, &hello, sizeof hello, MSG_NOSIGNAL) < 0)
        _exit(1);
}

void driver_fail(const char *why)
{
    struct err e;
    (void)!err_set(&e, ERR_UNAVAILABLE, 0, "%s", why);
    send_hello(&e);
    _exit(1);
}

struct request {
    struct zygote_request r;
    int fds[REQUEST_FDS_MAX];
    size_t n_fds;
};

/* Only the warden can write to this socket. When the warden closes it, the zygote ends. */
static void receive(struct request *q)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(REQUEST_FDS_MAX * sizeof(int))];
    } control;
    struct iovec iov = { &q->r, sizeof q->r };
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t n;
    do
        n = recvmsg(ZYGOTE_FD, &msg, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    struct cmsghdr *head = n == (ssize_t)sizeof q->r ? CMSG_FIRSTHDR(&msg) : NULL;
    if (!head || head->cmsg_type != SCM_RIGHTS || (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        _exit(0);
    q->n_fds = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(q->fds, CMSG_DATA(head), q->n_fds * sizeof(int));
    if (q->n_fds != REQUEST_FD_CGROUP + (size_t)q->r.cgroup_slots + (q->r.slate == 1))
        _exit(1);
}

static void close_request(const struct request *q)
{
    for (size_t i = 0; i < q->n_fds; i++)
        (void)close(q->fds[i]);
}

/* ---- forking ---- */

/* A zygote has no rights in its own user namespace, so it cannot choose the namespaces of its
 * children. Only a process that has joined a jar can fork into it, and that process cannot come
 * back. Hence the joiner: a process with its own credentials and namespaces that shares the memory
 * of the zygote, which waits meanwhile. It joins the jar, forks there and ends. The embryo, then an
 * orphan, becomes a child of pid 1 of the joiner's pid namespace, and that is the warden. */
struct join {
    int init_pidfd;
    int *tid_place;
    pid_t embryo; /* -1: see error */
    int error;
    void *back
        [5]; /* the embryo continues here, on the stack of the zygote, not on that of the joiner */
};

static int joiner(void *context)
{
    struct join *b = context;
    const int all = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
                    CLONE_NEWPID;
    if (setns(b->init_pidfd, all) < 0) {
        b->error = errno;
        return 1;
    }
    /* Not fork() of the C library, which would change state in the shared memory. Not clone, whose
     * arguments have another order on each architecture. The kernel updates the thread id that the
     * library keeps. */
    struct clone_args args = { .flags = CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID,
                               .child_tid = (uint64_t)(uintptr_t)b->tid_place,
                               .exit_signal = SIGCHLD };
    long pid = syscall(SYS_clone3, &args, sizeof args);
    if (pid == 0)
        __builtin_longjmp(b->back, 1);
    b->embryo = (pid_t)pid;
    b->error = pid < 0 ? errno : 0;
    return 0;
}

/* 0 in the embryo, its pid in the zygote, -1 on failure. */
[[gnu::noinline]] static pid_t fork_into(int init_pidfd, int *tid_place)
{
    static _Alignas(64) char stack[32 << 10]; /* for two system calls */
    static struct join b;
    b = (struct join){ .init_pidfd = init_pidfd, .tid_place = tid_place, .embryo = -1 };
    if (__builtin_setjmp(b.back))
        return 0;
    pid_t pid = clone(joiner, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &b);
    if (pid < 0)
        return -1;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ; /* once the joiner is reaped, the embryo is a child of the warden */
    errno = b.error;
    return b.embryo;
}

static void report_forked(int report_fd, pid_t pid)
{
    struct report r = { .kind = REPORT_FORKED, .pid = pid };
    (void)!fd_write_all(report_fd, &r, sizeof r);
}

/* ---- the embryo ---- */

_Noreturn static void die(int report_fd, const struct err *e)
{
    report_send(report_fd, REPORT_FAILED, e);
    _exit(127);
}

static void confine(const struct request *q)
{
    struct err e = { 0 };
    const int keep[] = { q->fds[REQUEST_FD_REPORT], q->fds[REQUEST_FD_JOB] };
    int report_fd = q->fds[REQUEST_FD_REPORT];
    struct cgroup_host host = { .version = q->r.cgroup_version, .slots = q->r.cgroup_slots };
    struct cgroup cgroup = { .host = &host };
    for (int i = 0; i < q->r.cgroup_slots; i++)
        cgroup.join_fd[i] = q->fds[REQUEST_FD_CGROUP + i];
    const struct job_spec job = { .flags = q->r.flags, .limits = q->r.limits };
    struct inside in = {
        .iso = &q->r.isolation,
        .job = &job,
        .cgroup = q->r.cgroup_version ? &cgroup : NULL,
        .report_fd = report_fd,
        .init_pidfd = q->fds[REQUEST_FD_INIT],
        .entered = true,
        .kept_fds = keep,
        .n_kept = ARRAY_LEN(keep),
    };
    if (q->r.nice)
        (void)setpriority(PRIO_PROCESS, 0, q->r.nice);
    if (program_confine(&in, &report_fd, &e))
        die(report_fd, &e);
    /* As after an execve: the program and its children may read its files in /proc. */
    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

/* Of this embryo alone. No descriptor of it stays. */
static char *map_slate(const struct request *q)
{
    struct err e;
    if (q->r.slate != 1)
        return NULL;
    void *slate = mmap(NULL, SLATE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, q->fds[q->n_fds - 1],
                       0);
    if (slate == MAP_FAILED) {
        (void)!err_set(&e, ERR_KERNEL, errno, "map a slate");
        die(q->fds[REQUEST_FD_REPORT], &e);
    }
    return slate;
}

/* The number of a session's channel is that of the zygote's socket, which the embryo gives up. The
 * socket for the job takes it, so that no descriptor which a hook opens does. */
static void keep_channel_free(struct request *q)
{
    static_assert((int)SESSION_CHANNEL == (int)ZYGOTE_FD, "the number is in use from the boot on");
    struct err e;
    int *job_fd = &q->fds[REQUEST_FD_JOB];
    if (dup3(*job_fd, SESSION_CHANNEL, O_CLOEXEC) < 0) {
        (void)!err_set(&e, ERR_KERNEL, errno, "place descriptor %d", SESSION_CHANNEL);
        die(q->fds[REQUEST_FD_REPORT], &e);
    }
    (void)close(*job_fd);
    *job_fd = SESSION_CHANNEL;
}

/* Renews the state that a program gets from execve and that a fork copies or loses. */
static void renew_exec_state(const struct request *q, struct robust_list_head *robust,
                             size_t robust_len)
{
    struct err e;
    /* Sixteen random bytes; some programs and libraries make their seeds from them. */
    void *bytes = (void *)getauxval(AT_RANDOM); /* NOLINT(performance-no-int-to-ptr) */
    if (bytes && getrandom(bytes, RANDOM_BYTES, 0) != RANDOM_BYTES) {
        (void)!err_set(&e, ERR_KERNEL, errno, "get random bytes");
        die(q->fds[REQUEST_FD_REPORT], &e);
    }
    /* The thread of the zygote had both, the joiner in between had neither. */
    if (robust)
        (void)syscall(SYS_set_robust_list, robust, robust_len);
    if (&__rseq_offset && &__rseq_size && __rseq_size > 0)
        (void)syscall(SYS_rseq, (char *)__builtin_thread_pointer() + __rseq_offset, RSEQ_BYTES, 0,
                      RSEQ_SIGNATURE);
}

static int unpack(int bundle_fd, struct err *e)
{
    if (bundle_fd < 0)
        return 0;
    autoclose int dir = open("/sandbox", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_set(e, ERR_KERNEL, errno, "open /sandbox");
    return files_unpack(bundle_fd, dir, e);
}

static int count(char **list)
{
    int n = 0;
    while (list[n])
        n++;
    return n;
}

static void place(int fd, int number, int report_fd)
{
    struct err e;
    if (dup2(fd, number) < 0) {
        (void)!err_set(&e, ERR_KERNEL, errno, "place descriptor %d", number);
        die(report_fd, &e);
    }
    (void)close(fd);
}

static void receive_job(const struct request *q, const char *name, struct driver_job *ret_job)
{
    struct err e = { 0 };
    struct job_spec job;
    int fds[SESSION_FDS];
    int report_fd = q->fds[REQUEST_FD_REPORT], job_fd = q->fds[REQUEST_FD_JOB];
    char *bytes = malloc(EMBRYO_JOB_MAX_BYTES); /* never freed: the strings of the job are in it */
    report_send(report_fd, REPORT_READY, &e);
    uint64_t cpu_from_us = clock_thread_cpu_us();
    int got = bytes ? embryo_job_receive(job_fd, bytes, &job, fds, &e) : err_no_memory(&e, "a job");
    if (got == 0)
        _exit(0); /* the warden ends this jar */
    if (got < 0 || unpack(fds[JOB_FD_BUNDLE], &e) ||
        confine_rlimits(confine_job_rlimits(&job), &q->r.isolation, &job.limits, 1, &e))
        die(report_fd, &e);
    fd_close(&fds[JOB_FD_BUNDLE]);
    if (job.flags & JOB_NETWORK && !embryo_job_await_release(job_fd))
        _exit(0);
    (void)close(job_fd);
    for (int i = 0; i < 3; i++)
        place(fds[i], i, report_fd);
    if (job_is_session(&job))
        place(fds[JOB_FD_CHANNEL], SESSION_CHANNEL, report_fd);
    *ret_job = (struct driver_job){
        .argc = count(job.argv), .argv = job.argv, .envp = job.envp, .flags = job.flags
    };
    environ = job.envp;
    (void)prctl(PR_SET_NAME, name, 0, 0, 0);
    /* As after an execve: the program and its children may read its files in /proc. */
    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    report_going(report_fd, cpu_from_us);
    (void)close(report_fd);
}

void driver_serve(const struct driver_hooks *hooks, struct driver_job *ret_job)
{
    struct err none = { 0 };
    struct request q;
    char name[16] = "";
    int *tid_place = thread_id_place();
    struct robust_list_head *robust = NULL;
    size_t robust_len = 0;
    (void)syscall(SYS_get_robust_list, 0, &robust, &robust_len);
    (void)prctl(PR_GET_NAME, name, 0, 0, 0);
    (void)prctl(PR_SET_NAME, "jar-zygote", 0, 0, 0);
    if (!tid_place)
        driver_fail("the C library's thread number was not found");
    send_hello(&none);
    for (;;) {
        struct err e = { 0 };
        receive(&q);
        if (hooks->before_fork)
            hooks->before_fork();
        pid_t pid = fork_into(q.fds[REQUEST_FD_INIT], tid_place);
        if (pid == 0)
            break;
        if (hooks->after_fork_parent)
            hooks->after_fork_parent();
        if (pid > 0) {
            report_forked(q.fds[REQUEST_FD_REPORT], pid);
        } else {
            (void)!err_set(&e, ERR_KERNEL, errno, "fork into a jar");
            report_send(q.fds[REQUEST_FD_REPORT], REPORT_FAILED, &e);
        }
        close_request(&q);
    }
    keep_channel_free(&q);
    (void)prctl(PR_SET_NAME, "jar-embryo", 0, 0, 0);
    char *slate = map_slate(&q);
    renew_exec_state(&q, robust, robust_len);
    if (hooks->family)
        q.r.nice = 0;
    confine(&q);
    if (hooks->embryo)
        hooks->embryo();
    receive_job(&q, name, ret_job);
    ret_job->slate = slate;
}
