/* Where a program is, shortly before a deadline ends it. Outside of it an address is known at most; the
 * line is known to the interpreter alone. So our code in the program is asked, by SIGURG, and leaves
 * WHEREABOUTS_FILE. Every other program ignores that signal. Runs in: warden.
 *
 * The question comes before the deadline, and the kill comes on time, with or without an answer. A
 * program that ends between the two ends as it would have. For this the signal must not end a wait: a
 * program whose system call would return because of it is not asked. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "jar/as_owner.h"
#include "jar/jar_impl.h"

/* Some answers show a loop. A jar that has used its share of the CPU may not run for most of a period,
 * which is 100 ms. */
enum { WINDOW_US = 120000, EVERY_US = 20000, PART_OF_TIME = 4 };

static bool is_asked(const struct jar *j)
{
    return j->job.flags & JOB_WHEREABOUTS && j->started && !j->program_reaped &&
           j->outcome.evidence.reason == END_EXIT;
}

static uint64_t window_us(const struct jar *j)
{
    uint64_t part = j->job.limits.v[LIMIT_WALL_MS] * 1000 / PART_OF_TIME;
    return part < WINDOW_US ? part : WINDOW_US;
}

uint64_t jar_whereabouts_due_us(const struct jar *j)
{
    if (!is_asked(j))
        return UINT64_MAX;
    uint64_t end = jar_kill_us(j), window = window_us(j);
    uint64_t due = end > window ? end - window : 0;
    due = j->asked_us && j->asked_us + EVERY_US > due ? j->asked_us + EVERY_US : due;
    return due < end ? due : UINT64_MAX;
}

/* Waits that the kernel resumes after a signal, and waits that an interpreter begins anew. The sleep of
 * an interpreter is until a time; that of the C library is for a time, and a signal cuts it short. */
static bool goes_on(long call, unsigned long long second)
{
    static const long calls[] = {
        SYS_read,    SYS_readv,       SYS_write,    SYS_writev,     SYS_recvfrom,
        SYS_recvmsg, SYS_accept,      SYS_accept4,  SYS_wait4,      SYS_waitid,
        SYS_futex,   SYS_ppoll,       SYS_sendto,   SYS_sendmsg,    SYS_flock,
        SYS_fcntl,   SYS_epoll_pwait, SYS_pselect6, SYS_connect,    SYS_openat,
#ifdef SYS_poll
        SYS_poll,    SYS_select,      SYS_open,     SYS_epoll_wait,
#endif
    };
    if (call == SYS_clock_nanosleep)
        return second & TIMER_ABSTIME;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        if (calls[i] == call)
            return true;
    return false;
}

/* "running", or the number of a system call and its arguments; -1 for a task that waits otherwise. */
static bool may_be_asked(const struct jar *j)
{
    char path[48], text[256];
    struct err ignored;
    (void)snprintf(path, sizeof path, "%ld/syscall", (long)j->program);
    if (as_owner_begin_looking(j->host, j->uid, &ignored))
        return false;
    autoclose int fd = openat(j->host->proc_fd, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    as_owner_end(j->host);
    if (n <= 0)
        return false;
    text[n] = '\0';
    char *at = text;
    long call = strtol(text, &at, 10);
    if (at == text || call < 0)
        return true;
    (void)strtoull(at, &at, 16);
    return goes_on(call, strtoull(at, NULL, 16));
}

void jar_ask_whereabouts(struct jar *j, uint64_t now_us)
{
    j->asked_us = now_us;
    if (may_be_asked(j))
        (void)pidfd_send_signal(j->program_pidfd, SIGURG, NULL, 0);
}

void jar_check_whereabouts(struct jar *j, uint64_t cpu_left_us, uint64_t now_us)
{
    uint64_t window = window_us(j) * j->job.limits.v[LIMIT_CPU_PERCENT] / 100;
    if (is_asked(j) && cpu_left_us < window && now_us >= j->asked_us + EVERY_US)
        jar_ask_whereabouts(j, now_us);
}

bool jar_has_whereabouts(const struct jar *j)
{
    enum end_reason reason = j->outcome.evidence.reason;
    if (reason == END_EXIT)
        return j->job.flags & JOB_VALUES && !j->has_slate && jar_failed_by_itself(j);
    return j->asked_us > 0 && (reason == END_WALL || reason == END_CPU);
}
