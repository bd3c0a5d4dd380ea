#include "bench/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/process.h"
#include "base/tree.h"
#include "bench/die.h"

enum { TERM_AFTER_MS = 3000, KILL_AFTER_MS = 15000, GIVE_UP_AFTER_MS = 20000 };

/* On a disk, like the state of a service, and not in /tmp if that is memory. Readable by others,
 * because the keeper is another user. */
static int make_dir(char *ret, size_t size, struct err *e)
{
    struct statfs tmp;
    const char *parent = getenv("TMPDIR");
    if (!parent || !*parent)
        parent = statfs("/tmp", &tmp) == 0 && tmp.f_type != TMPFS_MAGIC ? "/tmp" : "/var/tmp";
    if ((size_t)snprintf(ret, size, "%s/bench-belljar.XXXXXX", parent) >= size)
        return err_set(e, ERR_BAD_REQUEST, 0, "$TMPDIR is too long");
    if (!mkdtemp(ret) || chmod(ret, 0755) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a directory %s", ret);
    return 0;
}

static void remove_dir(const char *dir)
{
    struct err e = { 0 };
    if (tree_remove(AT_FDCWD, dir, &e))
        (void)fprintf(stderr, "bench: %s\n", e.text);
}

/* Sends the signal to all processes that the measuring process left and that we inherited, as the
 * kernel lists them. */
static void signal_children(int number)
{
    pid_t children[512];
    size_t n = process_children(children, ARRAY_LEN(children));
    for (size_t i = 0; i < n; i++)
        (void)kill(children[i], number);
}

/* Services got SIGTERM when their parent died. A second one makes them cancel their runs. */
static void end_children(void)
{
    uint64_t begin = clock_ms();
    bool asked = false;
    for (;;) {
        pid_t got = waitpid(-1, NULL, WNOHANG);
        if (got < 0 && errno == ECHILD)
            return;
        if (got > 0)
            continue;
        uint64_t waited = clock_ms() - begin;
        if (waited > GIVE_UP_AFTER_MS) {
            (void)fprintf(stderr, "bench: processes that were started do not end\n");
            return;
        }
        if (waited > TERM_AFTER_MS && !asked) {
            signal_children(SIGTERM);
            asked = true;
        }
        /* again, because the children of the killed ones are now ours */
        if (waited > KILL_AFTER_MS)
            signal_children(SIGKILL);
        const struct timespec moment = { .tv_nsec = 5000000 };
        (void)nanosleep(&moment, NULL);
    }
}

/* A session of its own: Ctrl-C reaches only this process, which passes it on. */
[[gnu::noreturn]] static void measure(const struct bench_options *o, const char *dir,
                                      const char *belljar, const sigset_t *before)
{
    (void)setsid();
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || sigprocmask(SIG_SETMASK, before, NULL) < 0)
        _exit(BENCH_FAILED);
    int status = bench_measure(o, dir, belljar);
    (void)fflush(stdout);
    _exit(status);
}

static int wait_for(pid_t child, const sigset_t *waited, const sigset_t *ending)
{
    int status;
    for (;;) {
        int got = sigwaitinfo(waited, NULL);
        if (got > 0 && sigismember(ending, got)) {
            (void)kill(child, SIGKILL);
            (void)waitpid(child, &status, 0);
            return 128 + got;
        }
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
}

int guard_run(const struct bench_options *o, const sigset_t *ending, struct err *e)
{
    char dir[256], belljar[512];
    sigset_t waited = *ending, before;
    ssize_t n = readlink("/proc/self/exe", belljar, sizeof belljar - 1);
    if (n < 0)
        return err_set(e, ERR_KERNEL, errno, "find the command itself");
    belljar[n] = '\0';
    (void)sigaddset(&waited, SIGCHLD);
    if (sigprocmask(SIG_BLOCK, &waited, &before) < 0 ||
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
        return err_set(e, ERR_KERNEL, errno, "prepare to wait");
    if (make_dir(dir, sizeof dir, e))
        return -1;
    (void)fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        measure(o, dir, belljar, &before);
    int status = child > 0 ? wait_for(child, &waited, ending)
                           : err_set(e, ERR_KERNEL, errno, "fork");
    end_children();
    way_clean(&(struct site){ .dir = dir });
    remove_dir(dir);
    return status;
}
