#include "runtime/node/threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#pragma weak __rseq_offset /* some C libraries lack it */
#pragma weak __rseq_size
#endif

#include "zygote/driver.h"

enum {
    THREADS_MAX = 32,
    STACK_BYTES = 16 << 10, /* for the few calls before a thread is back on its own stack */
    /* One of the two signals that libc reserves for itself. Only those cannot be blocked by any
     * thread. */
    PARK_SIGNAL = 33,
};

struct parked {
    void *at[5]; /* __builtin_setjmp */
    void *tls;
    int *tid; /* where libc keeps it */
    void *robust;
    size_t robust_bytes;
    _Alignas(16) char stack[STACK_BYTES];
};

static struct parked threads[THREADS_MAX];
static atomic_uint n_threads;

static void park(int number)
{
    (void)number;
    int error = errno;
    unsigned i = atomic_fetch_add(&n_threads, 1);
    if (i >= THREADS_MAX)
        _exit(1);
    struct parked *t = &threads[i];
    t->tls = __builtin_thread_pointer();
    t->tid = driver_thread_id_place();
    syscall(SYS_get_robust_list, 0, &t->robust, &t->robust_bytes);
    if (__builtin_setjmp(t->at) == 0)
        syscall(SYS_exit, 0);
    errno = error;
}

/* libc registers restartable sequences for each thread, if it supports them. The kernel dropped the
 * registration when the thread ended. */
static void rseq_again(char *tls)
{
#if __has_include(<sys/rseq.h>)
    enum { RSEQ_BYTES = 32 };
    if (&__rseq_offset && &__rseq_size && __rseq_size > 0)
        syscall(SYS_rseq, tls + __rseq_offset, RSEQ_BYTES, 0, RSEQ_SIG);
#else
    (void)tls;
#endif
}

/* The first code of a revived thread. Its thread-local storage is already its own. */
static int revived(void *arg)
{
    struct parked *t = arg;
    syscall(SYS_set_robust_list, t->robust, t->robust_bytes);
    rseq_again(t->tls);
    __builtin_longjmp(t->at, 1);
}

/* The kernel's state letter of a thread: 'S' is asleep. */
static char state_of(const char *tid)
{
    char path[64], text[256];
    (void)snprintf(path, sizeof path, "/proc/self/task/%s/stat", tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return '\0';
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *end = strrchr(text, ')');
    return end && end[1] ? end[2] : '\0';
}

/* Lists the other threads. *ret_idle: all of them are asleep. */
static size_t others(pid_t tids[THREADS_MAX], bool *ret_idle)
{
    size_t n = 0;
    DIR *tasks = opendir("/proc/self/task");
    *ret_idle = tasks != NULL;
    for (struct dirent *d; tasks && n < THREADS_MAX && (d = readdir(tasks));) {
        pid_t tid = (pid_t)strtol(d->d_name, NULL, 10); /* "." is 0 */
        if (tid <= 0 || tid == (pid_t)syscall(SYS_gettid))
            continue;
        tids[n++] = tid;
        *ret_idle = *ret_idle && state_of(d->d_name) == 'S';
    }
    if (tasks)
        closedir(tasks);
    return n;
}

static void rest(long ms)
{
    (void)nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* Waits until all threads have been asleep for so long that no wakeup is under way. */
static bool all_idle(void)
{
    enum { IN_A_ROW = 10, TRIES = 400, EVERY_MS = 5 };
    int row = 0;
    for (int i = 0; i < TRIES && row < IN_A_ROW; i++) {
        bool idle;
        pid_t tids[THREADS_MAX];
        (void)others(tids, &idle);
        row = idle ? row + 1 : 0;
        rest(EVERY_MS);
    }
    return row >= IN_A_ROW;
}

const char *threads_park(void)
{
    enum { TRIES = 1000 };
    bool idle;
    pid_t tids[THREADS_MAX];
    if (!all_idle())
        return "a thread of the interpreter does not come to rest";
    struct sigaction way = { .sa_handler = park }, before;
    sigfillset(&way.sa_mask);
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } raw = { 0 }, old;
    /* sigaction() in libc refuses this signal. The flags that libc passes to the kernel are copied
     * from a signal that it accepts. */
    if (sigaction(SIGURG, &way, &before) < 0 ||
        syscall(SYS_rt_sigaction, SIGURG, NULL, &raw, sizeof raw.mask) < 0 ||
        sigaction(SIGURG, &before, NULL) < 0 ||
        syscall(SYS_rt_sigaction, PARK_SIGNAL, &raw, &old, sizeof raw.mask) < 0)
        return "the signal that stops threads is not available";
    size_t n = others(tids, &idle), left = n;
    for (size_t i = 0; i < n; i++)
        syscall(SYS_tgkill, getpid(), tids[i], PARK_SIGNAL);
    for (int i = 0; i < TRIES && (left = others(tids, &idle)) > 0; i++)
        rest(1);
    syscall(SYS_rt_sigaction, PARK_SIGNAL, &old, NULL, sizeof raw.mask);
    if (left > 0 || atomic_load(&n_threads) != n)
        return "a thread of the interpreter cannot be stopped";
    for (size_t i = 0; i < n; i++)
        if (!threads[i].tid)
            return "libc keeps thread ids at a place unknown to us";
    return NULL;
}

const char *threads_revive(void)
{
    const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                      CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID |
                      CLONE_CHILD_CLEARTID;
    const uint64_t all = ~0ull;
    uint64_t before;
    const char *wrong = NULL;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    for (unsigned i = 0; i < atomic_load(&n_threads) && !wrong; i++) {
        struct parked *t = &threads[i];
        if (clone(revived, t->stack + sizeof t->stack, flags, t, t->tid, t->tls, t->tid) < 0)
            wrong = "the interpreter's threads cannot be started";
    }
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    return wrong;
}
