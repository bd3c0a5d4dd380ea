/* Evidence about a run, from outside: clocks, counters, and the wait status of the program. Runs
 * in: warden. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "jar/jar_impl.h"

/* Between two looks at all counters of a running jar: one that works, that sleeps, and a session that
 * has no cell. A jar can do harm in that time, so it is asked for one thing in between. A jar that
 * works is asked for its sockets, and sooner when it has some: see watch.h. A jar that slept is asked
 * for its CPU time, so that it is looked at soon after it has begun to work. */
enum { BUSY_TICK_US = 25000, TICK_US = 100000, QUIET_TICK_US = 250000 };
enum { SOCKETS_PEEK_US = 4000, BUSY_PEEK_US = 8000, SLEEP_PEEK_US = 20000 };
enum { BUSY_CPU_US = 500 }; /* CPU time since the last look */

static bool is_between_cells(const struct jar *j)
{
    return jar_is_session(j) && j->cell.limits.number == 0;
}

/* A dying process frees its tables of pages, one entry for each page that it can reach, and then its
 * mappings and open files. Much of that takes longer than a moment. Such a jar is killed before its
 * deadline, so that it is gone at its deadline. */
enum { LEAD_NS_PER_PAGE = 130, LEAD_US_PER_MIB = 3000, LEAD_MAX_US = 2000000 };
/* Processors that free tables of the same pages wait for each other: more than two are not faster. */
enum { LEAD_CPUS_MAX = 2 };
/* The same work takes up to 2.5 times as long on a busy machine. An end may be so late: */
enum { LEAD_SLACK_US = 80000 };
enum { LITTLE_BYTES = 8 << 20, FEW_OBJECTS_BYTES = 8 << 20 }; /* that no time is foreseen for */

static bool is_at_work(const struct jar *j)
{
    return j->busy || j->watch.sockets > 0;
}

static uint64_t tick_us(const struct jar *j)
{
    return is_at_work(j) ? BUSY_TICK_US : is_between_cells(j) ? QUIET_TICK_US : TICK_US;
}

static uint64_t peek_us(const struct jar *j)
{
    return jar_on_host(j)                        ? UINT64_MAX
           : j->watch.sockets > 0                ? SOCKETS_PEEK_US
           : j->busy                             ? BUSY_PEEK_US
           : jar_is_session(j) || !j->has_cgroup ? UINT64_MAX
                                                 : SLEEP_PEEK_US;
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
    if (j->stats.oom_kills > j->from.oom_kills && !survived_oom(j))
        ev->hits |= LIMIT_BIT(LIMIT_MEMORY);
    if (j->stats.pids_refused > j->from.pids_refused)
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

static void note_hoard(struct jar *j, enum hoard found)
{
    if (found == HOARD_NONE)
        return;
    j->outcome.evidence.hoard = found;
    j->outcome.evidence.hits |= LIMIT_BIT(LIMIT_MEMORY);
}

/* Kernel memory that the cgroup does not see. Level process has no sockets, and no namespace to
 * tell its locks by. */
static bool holds_hoard_of_sockets(struct jar *j)
{
    if (jar_on_host(j) || j->outcome.evidence.reason != END_EXIT)
        return false;
    enum hoard found = watch_look_at_sockets(&j->watch, j->host, j->init);
    if (found == HOARD_NONE && j->watch.sockets > 0 && j->has_cgroup &&
        cgroup_read_buffers(&j->cgroup) >> 20 >= hoard_defs[HOARD_BUFFERS].most)
        found = HOARD_BUFFERS;
    note_hoard(j, found);
    return found != HOARD_NONE;
}

static void look_for_hoards(struct jar *j, uint64_t now_us)
{
    if (!jar_on_host(j) && j->outcome.evidence.reason == END_EXIT && !holds_hoard_of_sockets(j))
        note_hoard(j, watch_look_at_locks(&j->watch, j->host, j->init, j->uid, now_us));
}

/* Pages in the tables of all processes: a shared page counts for each of them. */
static uint64_t mapped_pages(const struct jar *j)
{
    uint64_t sum = 0;
    char path[48], text[128];
    size_t most = j->job.limits.v[LIMIT_PIDS];
    autofree pid_t *pids = calloc(most, sizeof *pids);
    size_t n = pids ? cgroup_list(&j->cgroup, pids, most) : 0;
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(path, sizeof path, "%ld/statm", (long)pids[i]);
        autoclose int statm = openat(j->host->proc_fd, path, O_RDONLY | O_CLOEXEC);
        ssize_t got = statm >= 0 ? read(statm, text, sizeof text - 1) : -1;
        text[got > 0 ? got : 0] = '\0';
        const char *resident = strchr(text, ' '); /* the second number */
        sum += resident ? strtoull(resident, NULL, 10) : 0;
    }
    return sum;
}

/* The time on a busy machine, as far as an end would be too late by it. */
static uint64_t with_margin_us(uint64_t time_us)
{
    uint64_t busy_us = time_us * 5 / 2;
    return busy_us > time_us + LEAD_SLACK_US ? busy_us - LEAD_SLACK_US : time_us;
}

/* Processors free tables at the same time, but one process has its objects to itself. */
static uint64_t time_to_die_us(const struct jar *j, uint64_t kernel_bytes)
{
    uint64_t pages = mapped_pages(j);
    unsigned cpus = j->host->cpus < LEAD_CPUS_MAX ? j->host->cpus : LEAD_CPUS_MAX;
    uint64_t tables_us = with_margin_us(pages * LEAD_NS_PER_PAGE / 1000 / cpus);
    uint64_t without = pages * sizeof(uint64_t) + FEW_OBJECTS_BYTES;
    uint64_t objects = kernel_bytes > without ? kernel_bytes - without : 0;
    uint64_t objects_us = (objects >> 10) * LEAD_US_PER_MIB / 1024;
    return tables_us > objects_us ? tables_us : objects_us;
}

/* Looks only when the deadline is near. At most half of the time of a run is foreseen. Processes that
 * fill their tables add as much work in 100 ms as takes 100 ms to free, so every look counts anew, as
 * long as counting takes a small part of the CPU, and adds the growth until the next look. */
static void foresee_death(struct jar *j, uint64_t now_us)
{
    enum { PART_OF_CPU = 16 };
    if (!j->has_cgroup || j->deadline_us > now_us + LEAD_MAX_US || now_us < j->foresee_us ||
        j->outcome.evidence.reason != END_EXIT)
        return;
    uint64_t began_us = clock_thread_cpu_us(), kernel_bytes = cgroup_read_kernel(&j->cgroup);
    uint64_t needed_us = kernel_bytes > LITTLE_BYTES ? time_to_die_us(j, kernel_bytes) : 0;
    uint64_t grown_us = needed_us > j->needed_us ? needed_us - j->needed_us : 0;
    uint64_t lead = needed_us + (j->needed_us ? grown_us : 0);
    uint64_t most = j->job.limits.v[LIMIT_WALL_MS] * 1000 / 2;
    j->needed_us = needed_us;
    j->lead_us = lead < most ? lead : most;
    uint64_t pause_us = PART_OF_CPU * (clock_thread_cpu_us() - began_us);
    j->foresee_us = now_us + (pause_us < TICK_US ? pause_us : TICK_US);
}

uint64_t jar_kill_us(const struct jar *j)
{
    return j->deadline_us - j->lead_us;
}

static uint64_t sample_due_us(const struct jar *j)
{
    return j->samples && j->started ? j->started_us + samples_due_us(j->samples) : UINT64_MAX;
}

static uint64_t cpu_left_us(const struct jar *j)
{
    uint64_t limit_us = j->job.limits.v[LIMIT_CPU_MS] * 1000, used_us = cpu_used_us(j);
    return limit_us > used_us ? limit_us - used_us : 0;
}

/* The moment when the CPU time could be used up. */
static uint64_t cpu_due_us(const struct jar *j, uint64_t now_us)
{
    uint64_t left_us = cpu_left_us(j);
    return left_us == 0 ? UINT64_MAX
                        : now_us + left_us * 100 / j->job.limits.v[LIMIT_CPU_PERCENT] + 1000;
}

static void plan_peek(struct jar *j, uint64_t now_us)
{
    uint64_t after_us = peek_us(j);
    bool before = now_us < j->look_us && after_us < j->look_us - now_us;
    j->due_us = before ? now_us + after_us : j->look_us;
    uint64_t ask_us = jar_whereabouts_due_us(j);
    j->due_us = ask_us < j->due_us ? ask_us : j->due_us;
}

/* The next look is at the earliest of: the deadline, the next tick, and the end of the CPU time; of
 * a session, also the deadlines of its cell. */
void jar_plan_look(struct jar *j, uint64_t now_us)
{
    uint64_t due = now_us + tick_us(j);
    uint64_t soonest = jar_is_session(j) ? jar_cell_due_us(j, now_us) : cpu_due_us(j, now_us);
    due = soonest < due ? soonest : due;
    due = sample_due_us(j) < due ? sample_due_us(j) : due;
    j->look_us = jar_kill_us(j) < due ? jar_kill_us(j) : due;
    plan_peek(j, now_us);
}

/* True for a jar that has slept since the last look. There may be hundreds of sessions without a
 * cell: one that has used no CPU time has done nothing else either. */
static bool still_sleeps(struct jar *j)
{
    bool quiet = is_between_cells(j);
    if (!j->has_cgroup || (jar_is_session(j) && !quiet))
        return false;
    struct cgroup_stats now = j->stats;
    cgroup_read_cpu(&j->cgroup, &now);
    return now.cpu_us <= j->stats.cpu_us + (quiet ? 0 : BUSY_CPU_US);
}

/* Asks a jar for one thing. True: it needs no look yet. */
static bool peek(struct jar *j, uint64_t now_us)
{
    bool early = now_us < j->look_us;
    if (j->outcome.evidence.reason != END_EXIT || now_us >= jar_kill_us(j) ||
        now_us >= sample_due_us(j))
        return false;
    if (is_at_work(j))
        return early && !jar_on_host(j) && !holds_hoard_of_sockets(j);
    return (early || is_between_cells(j)) && still_sleeps(j);
}

void jar_on_tick(struct jar *j, uint64_t now_us)
{
    struct evidence *ev = &j->outcome.evidence;
    if (now_us >= jar_whereabouts_due_us(j))
        jar_ask_whereabouts(j, now_us);
    if (peek(j, now_us)) {
        if (now_us < j->look_us)
            plan_peek(j, now_us);
        else
            jar_plan_look(j, now_us);
        return;
    }
    if (now_us >= jar_kill_us(j)) { /* first, because reading the counters takes time */
        ev->hits |= LIMIT_BIT(LIMIT_WALL_MS);
        jar_kill(j, END_WALL);
    }
    if (now_us >= sample_due_us(j))
        jar_take_sample(j, now_us);
    uint64_t cpu_before = j->stats.cpu_us;
    jar_read_counters(j);
    j->busy = j->stats.cpu_us > cpu_before + BUSY_CPU_US;
    look_for_hoards(j, now_us);
    if (jar_is_session(j))
        jar_check_cell(j, now_us);
    foresee_death(j, now_us);
    jar_check_whereabouts(j, cpu_left_us(j), now_us);
    if (ev->hits & LIMIT_BIT(LIMIT_MEMORY))
        jar_kill(j, END_MEMORY); /* no effect if the run is being killed already */
    if (ev->hits & LIMIT_BIT(LIMIT_CPU_MS))
        jar_kill(j, END_CPU);
    j->due_us = now_us + TICK_US;
    if (ev->reason == END_EXIT)
        jar_plan_look(j, now_us);
}

static void note_usage(const struct jar *j, struct usage *ret)
{
    unsigned ours = jar_on_host(j) ? 0 : 1; /* init does not count */
    ret->cpu_us = cpu_used_us(j);
    ret->memory_peak_bytes = j->stats.memory_peak_bytes;
    ret->pids_peak = j->stats.pids_peak > ours ? j->stats.pids_peak - ours : 1;
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
    note_usage(j, &j->outcome.usage);
}

void jar_measure(struct jar *j, struct jar_now *ret)
{
    unsigned ours = jar_on_host(j) ? 0 : 1;
    *ret = (struct jar_now){ 0 };
    if (j->has_cgroup)
        cgroup_read_now(&j->cgroup, &ret->memory_bytes, &ret->pids);
    ret->pids = ret->pids > ours ? ret->pids - ours : 0;
    if (!j->started)
        return;
    if (j->state == RUNNING && !j->program_reaped) {
        jar_read_counters(j);
        ret->usage.wall_us = clock_us() - j->started_us;
    } else {
        ret->usage.wall_us = j->outcome.usage.wall_us;
    }
    note_usage(j, &ret->usage);
}
