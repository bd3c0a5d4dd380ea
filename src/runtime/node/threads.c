#include "runtime/node/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#pragma weak __rseq_offset /* some C libraries lack it */
#pragma weak __rseq_size
#endif

#include "base/thread.h"
#include "image/listing.h"

enum {
    THREADS_MAX = 128,
    STACK_BYTES = 16 << 10, /* for the few calls before a thread is back on its own stack */
    /* One of the two signals that libc reserves for itself. Only those cannot be blocked by any
     * thread. */
    PARK_SIGNAL = 33,
};

struct parked {
    void *at[5]; /* __builtin_setjmp */
    pid_t id;
    void *tls;
    int *tid; /* where libc keeps it */
    void *robust;
    size_t robust_bytes;
    stack_t alternate;
    int mark;
    atomic_bool is_stopped;
    _Alignas(16) char stack[STACK_BYTES];
};

static struct parked threads[THREADS_MAX];
static atomic_uint n_threads;
static _Atomic(enum { GO_ON, WAIT, END }) wanted; /* of a thread that gets the signal */
static atomic_uint releases;                      /* a futex */
static int (*mark_of_thread)(void);

[[gnu::noinline]] static void wait_or_end(struct parked *t)
{
    unsigned before = atomic_load(&releases);
    bool ends = atomic_load(&wanted) == END;
    atomic_store(&t->is_stopped, true);
    while (!ends && atomic_load(&releases) == before)
        syscall(SYS_futex, &releases, FUTEX_WAIT_PRIVATE, before, NULL, NULL, 0);
    if (ends)
        syscall(SYS_exit, 0);
}

static void park(int number)
{
    (void)number;
    int error = errno;
    if (atomic_load(&wanted) == GO_ON)
        return; /* the signal came too late */
    unsigned i = atomic_fetch_add(&n_threads, 1);
    if (i >= THREADS_MAX)
        _exit(1);
    struct parked *t = &threads[i];
    t->id = (pid_t)syscall(SYS_gettid);
    t->tls = __builtin_thread_pointer();
    t->tid = thread_id_place();
    t->mark = mark_of_thread ? mark_of_thread() : 0;
    syscall(SYS_get_robust_list, 0, &t->robust, &t->robust_bytes);
    syscall(SYS_sigaltstack, NULL, &t->alternate);
    if (__builtin_setjmp(t->at) == 0)
        wait_or_end(t);
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
    t->alternate.ss_flags &= ~SS_ONSTACK;
    syscall(SYS_sigaltstack, &t->alternate, NULL);
    __builtin_longjmp(t->at, 1);
}

/* The kernel's state letter of a thread: 'S' is asleep. */
static char state_of(pid_t tid)
{
    char path[64], text[256];
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return '\0';
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *end = strrchr(text, ')');
    return end && end[1] ? end[2] : '\0';
}

/* Lists the other threads: THREADS_MAX + 1 if there are more, or the list cannot be read. */
static size_t others(pid_t tids[THREADS_MAX])
{
    struct image_listing tasks;
    size_t n = 0;
    pid_t tid, me = (pid_t)syscall(SYS_gettid);
    if (!image_listing_open(&tasks, "/proc/self/task"))
        return THREADS_MAX + 1;
    while (n <= THREADS_MAX && (tid = image_listing_next_number(&tasks)) >= 0) {
        if (tid == me)
            continue;
        if (n < THREADS_MAX)
            tids[n] = tid;
        n++;
    }
    image_listing_close(&tasks);
    return n;
}

static void rest_us(long us)
{
    (void)nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

/* Waits until all threads have been asleep for so long that no wakeup is under way. */
static bool all_idle(void)
{
    enum { IN_A_ROW = 10, TRIES = 400, EVERY_US = 5000 };
    int row = 0;
    for (int i = 0; i < TRIES && row < IN_A_ROW; i++) {
        pid_t tids[THREADS_MAX];
        size_t n = others(tids);
        bool idle = n <= THREADS_MAX;
        for (size_t k = 0; idle && k < n; k++)
            idle = state_of(tids[k]) == 'S';
        row = idle ? row + 1 : 0;
        rest_us(EVERY_US);
    }
    return row >= IN_A_ROW;
}

static const struct parked *find_stopped(pid_t tid)
{
    unsigned n = atomic_load(&n_threads);
    for (unsigned i = 0; i < n && i < THREADS_MAX; i++)
        if (atomic_load(&threads[i].is_stopped) && threads[i].id == tid)
            return &threads[i];
    return NULL;
}

/* Signals each thread once, also one that another thread has started meanwhile, until no thread is
 * left that has not stopped. */
static const char *stop_all(bool ends)
{
    enum { PATIENCE_US = 2000000, LEAST_US = 20, MOST_US = 1000 };
    pid_t tids[THREADS_MAX], signalled[THREADS_MAX];
    size_t n_signalled = 0;
    for (long waited = 0, pause = LEAST_US; waited < PATIENCE_US;) {
        size_t n = others(tids), left = 0;
        if (n > THREADS_MAX)
            return "the interpreter has too many threads";
        for (size_t i = 0; i < n; i++) {
            bool is_new = true;
            for (size_t k = 0; k < n_signalled; k++)
                is_new = is_new && signalled[k] != tids[i];
            if (is_new && n_signalled < THREADS_MAX) {
                signalled[n_signalled++] = tids[i];
                syscall(SYS_tgkill, getpid(), tids[i], PARK_SIGNAL);
            }
            left += ends || is_new || !find_stopped(tids[i]);
        }
        if (left == 0)
            return NULL;
        rest_us(pause);
        waited += pause;
        pause = pause < MOST_US ? pause * 2 : MOST_US;
    }
    return "a thread of the interpreter cannot be stopped";
}

/* The signal of the kernel's own table. */
struct action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

/* sigaction() in libc refuses this signal. The flags that libc passes to the kernel are copied from a
 * signal that it accepts. */
static const char *install(struct action *ret_before)
{
    struct sigaction way = { .sa_handler = park, .sa_flags = SA_RESTART }, before;
    struct action raw = { 0 };
    sigfillset(&way.sa_mask);
    if (sigaction(SIGURG, &way, &before) < 0 ||
        syscall(SYS_rt_sigaction, SIGURG, NULL, &raw, sizeof raw.mask) < 0 ||
        sigaction(SIGURG, &before, NULL) < 0 ||
        syscall(SYS_rt_sigaction, PARK_SIGNAL, &raw, ret_before, sizeof raw.mask) < 0)
        return "the signal that stops threads is not available";
    return NULL;
}

static const char *stop(bool ends, int (*mark)(void))
{
    struct action before;
    const char *wrong = install(&before);
    if (wrong)
        return wrong;
    for (size_t i = 0; i < THREADS_MAX; i++)
        atomic_store(&threads[i].is_stopped, false);
    atomic_store(&n_threads, 0);
    mark_of_thread = mark;
    atomic_store(&wanted, ends ? END : WAIT);
    wrong = stop_all(ends);
    if (wrong) /* our handler stays for a thread that gets its signal later */
        return wrong;
    syscall(SYS_rt_sigaction, PARK_SIGNAL, &before, NULL, sizeof before.mask);
    for (unsigned i = 0; !wrong && i < atomic_load(&n_threads); i++)
        if (!threads[i].tid)
            wrong = "libc keeps thread ids at a place unknown to us";
    return wrong;
}

const char *threads_park(void)
{
    return all_idle() ? stop(true, NULL) : "a thread of the interpreter does not come to rest";
}

const char *threads_end(void)
{
    return stop(true, NULL);
}

const char *threads_hold(int (*mark)(void), unsigned *ret_marked)
{
    const char *wrong = stop(false, mark);
    if (wrong) {
        threads_release();
        return wrong;
    }
    *ret_marked = 0;
    for (unsigned i = 0; i < atomic_load(&n_threads); i++)
        *ret_marked += threads[i].mark != 0;
    return NULL;
}

void threads_release(void)
{
    atomic_store(&wanted, GO_ON);
    atomic_fetch_add(&releases, 1);
    syscall(SYS_futex, &releases, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

const char *threads_revive(void)
{
    const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                      CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID |
                      CLONE_CHILD_CLEARTID;
    const uint64_t all = ~0ull;
    uint64_t before;
    const char *wrong = NULL;
    atomic_store(&wanted, GO_ON);
    atomic_fetch_add(&releases, 1);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    for (unsigned i = 0; i < atomic_load(&n_threads) && !wrong; i++) {
        struct parked *t = &threads[i];
        if (t->mark)
            *t->tid = 0; /* as at the end of a thread: nobody waits for it */
        else if (clone(revived, t->stack + sizeof t->stack, flags, t, t->tid, t->tls, t->tid) < 0)
            wrong = "the interpreter's threads cannot be started";
    }
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    return wrong;
}
