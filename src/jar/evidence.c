/* Evidence about a run, from outside: clocks, counters, and the wait status of the program. Runs
 * in: warden. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "jar/jar_impl.h"

/* Between two looks at the counters of a running jar. One that works can do more harm in that time
 * than one that sleeps, and one with TCP sockets most of all: see watch.h. */
enum { TICK_US = 100000, BUSY_TICK_US = 25000, SOCKETS_TICK_US = 10000 };
enum { QUIET_TICK_US = 250000 }; /* of a session that has no cell and does nothing */
enum { BUSY_CPU_US = 500 };      /* CPU time since the last look */

static bool is_between_cells(const struct jar *j)
{
    return jar_is_session(j) && j->cell.limits.number == 0;
}

static uint64_t tick_us(const struct jar *j)
{
    return j->watch.sockets > 0  ? SOCKETS_TICK_US
           : j->busy             ? BUSY_TICK_US
           : is_between_cells(j) ? QUIET_TICK_US
                                 : TICK_US;
}

void jar_fail(struct jar *j, const struct err *why)
{
    if (j->outcome.err.code == ERR_NONE) {
        j->outcome.err = *why;
        j->outcome.evidence.reason = END_FAILURE;
    }
}

/* A full tmpfs is the only trace of an ENOSPC. */
static void note_full_disk(struct jar *j)
{
    struct statfs fs;
    if (jar_on_host(j) || j->scratch_fd < 0 || fstatfs(j->scratch_fd, &fs) < 0)
        return;
    if (fs.f_bfree == 0)
        j->outcome.evidence.hits |= LIMIT_BIT(LIMIT_DISK);
    if (fs.f_ffree == 0)
        j->outcome.evidence.hits |= LIMIT_BIT(LIMIT_FILES);
}

/* Without a cgroup: the CPU time of the program itself, until it is reaped. */
static void read_program_clock(struct jar *j)
{
    clockid_t clock;
    struct timespec used;
    if (j->program_reaped || j->program <= 0 || clock_getcpuclockid(j->program, &clock) != 0 ||
        clock_gettime(clock, &used) != 0)
        return;
    j->stats.cpu_us = (uint64_t)used.tv_sec * 1000000 + (uint64_t)used.tv_nsec / 1000;
}

/* Of the job alone, without the time that its embryo used before. */
static uint64_t cpu_used_us(const struct jar *j)
{
    return j->stats.cpu_us > j->cpu_before_us ? j->stats.cpu_us - j->cpu_before_us : 0;
}

/* A session goes on if the kernel killed another process than its program. */
static bool survived_oom(const struct jar *j)
{
    return jar_is_session(j) && !(j->program_reaped && j->outcome.evidence.signal == SIGKILL);
}

void jar_read_counters(struct jar *j)
{
    struct evidence *ev = &j->outcome.evidence;
    if (j->has_cgroup)
        cgroup_read(&j->cgroup, &j->stats);
    else
        read_program_clock(j);
    if (j->stats.oom_kills > 0 && !survived_oom(j))
        ev->hits |= LIMIT_BIT(LIMIT_MEMORY);
    if (j->stats.pids_refused > 0)
        ev->hits |= LIMIT_BIT(LIMIT_PIDS);
    if (!jar_is_session(j) && cpu_used_us(j) >= j->job.limits.v[LIMIT_CPU_MS] * 1000)
        ev->hits |= LIMIT_BIT(LIMIT_CPU_MS);
    note_full_disk(j);
}

/* Without a cgroup only the CPU time of the program itself is known. */
void jar_take_sample(struct jar *j, uint64_t now_us)
{
    struct sample x = { .at_us = now_us - j->started_us };
    uint64_t pids = 0, ours = jar_on_host(j) ? 0 : 1;
    if (!j->samples || !j->started)
        return;
    if (j->has_cgroup) {
        cgroup_read_cpu(&j->cgroup, &j->stats);
        cgroup_read_now(&j->cgroup, &x.memory_bytes, &pids);
    } else {
        read_program_clock(j);
    }
    x.cpu_us = cpu_used_us(j);
    x.pids = (uint32_t)(pids > ours ? pids - ours : 0);
    samples_add(j->samples, &x);
}

/* Kernel memory that the cgroup does not see. Level process has no sockets, and no namespace to
 * tell its locks by. */
static void look_for_hoards(struct jar *j, uint64_t now_us)
{
    struct evidence *ev = &j->outcome.evidence;
    if (jar_on_host(j) || ev->reason != END_EXIT)
        return;
    ev->hoard = watch_look(&j->watch, j->host, j->init, now_us);
    if (ev->hoard == HOARD_NONE && j->watch.sockets > 0 && j->has_cgroup &&
        cgroup_read_buffers(&j->cgroup) >> 20 >= hoard_defs[HOARD_BUFFERS].most)
        ev->hoard = HOARD_BUFFERS;
    if (ev->hoard != HOARD_NONE)
        ev->hits |= LIMIT_BIT(LIMIT_MEMORY);
}

static uint64_t sample_due_us(const struct jar *j)
{
    return j->samples && j->started ? j->started_us + samples_due_us(j->samples) : UINT64_MAX;
}

/* The moment when the CPU time could be used up. */
static uint64_t cpu_due_us(const struct jar *j, uint64_t now_us)
{
    uint64_t limit_us = j->job.limits.v[LIMIT_CPU_MS] * 1000, used_us = cpu_used_us(j);
    return used_us >= limit_us
               ? UINT64_MAX
               : now_us + (limit_us - used_us) * 100 / j->job.limits.v[LIMIT_CPU_PERCENT] + 1000;
}

/* The earliest of: the deadline, the next tick, and the end of the CPU time; of a session, also
 * the deadlines of its cell. */
uint64_t jar_next_check_us(const struct jar *j, uint64_t now_us)
{
    uint64_t due = now_us + tick_us(j);
    uint64_t soonest = jar_is_session(j) ? jar_cell_due_us(j, now_us) : cpu_due_us(j, now_us);
    due = soonest < due ? soonest : due;
    due = sample_due_us(j) < due ? sample_due_us(j) : due;
    return j->deadline_us < due ? j->deadline_us : due;
}

/* There may be hundreds of sessions without a cell. One that has used no CPU time since the last
 * look has done nothing else either. */
static bool is_asleep(struct jar *j)
{
    struct cgroup_stats now = j->stats;
    if (!is_between_cells(j) || !j->has_cgroup || j->busy || j->watch.sockets > 0 ||
        j->outcome.evidence.reason != END_EXIT)
        return false;
    cgroup_read_cpu(&j->cgroup, &now);
    return now.cpu_us == j->stats.cpu_us;
}

void jar_on_tick(struct jar *j, uint64_t now_us)
{
    struct evidence *ev = &j->outcome.evidence;
    if (now_us >= j->deadline_us) { /* first, because reading the counters takes time */
        ev->hits |= LIMIT_BIT(LIMIT_WALL_MS);
        jar_kill(j, END_WALL);
    }
    if (now_us >= sample_due_us(j))
        jar_take_sample(j, now_us);
    uint64_t cpu_before = j->stats.cpu_us;
    if (is_asleep(j)) {
        j->due_us = jar_next_check_us(j, now_us);
        return;
    }
    jar_read_counters(j);
    j->busy = j->stats.cpu_us > cpu_before + BUSY_CPU_US;
    look_for_hoards(j, now_us);
    if (jar_is_session(j))
        jar_check_cell(j, now_us);
    if (ev->hits & LIMIT_BIT(LIMIT_MEMORY))
        jar_kill(j, END_MEMORY); /* no effect if the run is being killed already */
    if (ev->hits & LIMIT_BIT(LIMIT_CPU_MS))
        jar_kill(j, END_CPU);
    j->due_us = ev->reason == END_EXIT ? jar_next_check_us(j, now_us) : now_us + TICK_US;
}

void jar_reap_program(struct jar *j, uint64_t now_us)
{
    siginfo_t info = { 0 };
    struct rusage ru = { 0 };
    struct evidence *ev = &j->outcome.evidence;
    if (jar_on_host(j))
        (void)kill(-j->program,
                   SIGKILL); /* before it is reaped: the number still names its group */
    j->program_reaped = true;
    if (syscall(SYS_waitid, P_PIDFD, j->program_pidfd, &info, WEXITED, &ru) < 0) {
        struct err e;
        (void)!err_set(&e, ERR_KERNEL, errno, "learn how the program ended");
        jar_fail(j, &e);
        return;
    }
    if (info.si_code == CLD_EXITED)
        ev->exit_code = info.si_status;
    else
        ev->signal = info.si_status;
    if (j->started)
        j->outcome.usage.wall_us = clock_us() - j->started_us; /* it may have ended after now_us */
    if (!j->has_cgroup) { /* only the program and the children that it waited for */
        j->stats.cpu_us = (uint64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000 +
                          (uint64_t)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec);
        j->stats.memory_peak_bytes = (uint64_t)ru.ru_maxrss * 1024;
        j->stats.pids_peak = 1;
    }
    jar_take_sample(j, now_us);
    jar_read_counters(j);
    jar_finish_cell(j);
    unsigned ours = jar_on_host(j) ? 0 : 1; /* init does not count */
    j->outcome.usage.cpu_us = cpu_used_us(j);
    j->outcome.usage.memory_peak_bytes = j->stats.memory_peak_bytes;
    j->outcome.usage.pids_peak = j->stats.pids_peak > ours ? j->stats.pids_peak - ours : 1;
}
