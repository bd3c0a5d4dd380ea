/* The cells of a session: deadlines, interrupts, and usage. A cell that passes a deadline is
 * interrupted; if it is still there after the grace time, the jar ends. Runs in: warden.
 *
 * An interrupt is an event, SIGINT, and then a state: SIGURG says again and again that the cell is
 * to be interrupted, until it ends. SIGINT alone can be lost: it comes before the program has read
 * the cell, or right before a system call that waits, which an interpreter enters with the signal
 * noted and not handled. The program acts on SIGURG only if its cell has not been interrupted yet,
 * so a cell may handle its interrupt in peace. No signal reaches the next cell: the keeper sends
 * that one after our word that this one has ended, and a program handles the signals that are
 * pending before it opens a cell. A program that does not know of SIGURG ignores it. */
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/statfs.h>

#include "base/clock.h"
#include "jar/jar_impl.h"

enum { REMIND_US = 50000 };

static uint64_t since(uint64_t now, uint64_t from)
{
    return now > from ? now - from : 0;
}

bool jar_is_session(const struct jar *j)
{
    return job_is_session(&j->job);
}

/* The reading of the counters that a cell, or the time between two cells, begins with. */
static void mark_counters(struct jar *j)
{
    struct cell *c = &j->cell;
    jar_read_counters(j);
    c->cpu_from_us = j->stats.cpu_us;
    c->oom_from = j->stats.oom_kills;
    c->peak_from_bytes = j->stats.memory_peak_bytes;
    c->peak_was_reset = j->has_cgroup && cgroup_reset_peak(&j->cgroup);
}

int jar_begin_cell(struct jar *j, const struct cell_limits *limits, struct err *e)
{
    const struct limits *most = &j->host->most;
    uint64_t now = clock_us();
    if (!jar_is_session(j) || j->cell.limits.number)
        return err_set(e, ERR_PROTOCOL, 0,
                       jar_is_session(j) ? "a cell of this session has not ended"
                                         : "this job is no session");
    if (limits->number == 0 || limits->wall_ms == 0 || limits->cpu_ms == 0 ||
        limits->wall_ms > most->v[LIMIT_WALL_MS] || limits->cpu_ms > most->v[LIMIT_CPU_MS] ||
        limits->grace_ms > CELL_GRACE_MAX_MS)
        return err_set(e, ERR_PROTOCOL, 0, "a limit of the cell is above its maximum");
    if (j->state > RUNNING)
        return 0; /* it is about to end */
    j->cell = (struct cell){
        .limits = *limits, .started_us = now, .kill_us = UINT64_MAX, .remind_us = UINT64_MAX
    };
    mark_counters(j);
    j->busy = true;
    if (j->state == RUNNING)
        jar_plan_look(j, now);
    return 0;
}

void jar_finish_cell(struct jar *j)
{
    struct cell *c = &j->cell;
    struct statfs fs;
    uint64_t pids = 0;
    if (!c->limits.number)
        return;
    struct cell_usage u = { .number = c->limits.number,
                            .interrupted = c->interrupted,
                            .wall_us = since(clock_us(), c->started_us) };
    jar_read_counters(j);
    if (j->has_cgroup) {
        u.memory_peak_bytes = cgroup_read_peak(&j->cgroup);
        cgroup_read_now(&j->cgroup, &u.memory_bytes, &pids);
        if (!c->peak_was_reset && u.memory_peak_bytes <= c->peak_from_bytes)
            u.memory_peak_bytes = u.memory_bytes; /* the peak is that of an earlier cell */
    }
    u.cpu_us = since(j->stats.cpu_us, c->cpu_from_us);
    u.oom_kills = since(j->stats.oom_kills, c->oom_from);
    u.pids = pids > 1 ? pids - 1 : 0;
    if (j->scratch_fd >= 0 && fstatfs(j->scratch_fd, &fs) == 0)
        u.disk_bytes = (fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
    j->cell_usage = u;
    *c = (struct cell){ .cpu_from_us = j->stats.cpu_us, .oom_from = j->stats.oom_kills };
}

void jar_end_cell(struct jar *j)
{
    uint64_t now = clock_us();
    jar_finish_cell(j);
    if (j->state == RUNNING && j->outcome.evidence.reason == END_EXIT)
        jar_plan_look(j, now);
}

void jar_set_alone(struct jar *j, bool alone)
{
    struct cell *c = &j->cell;
    uint64_t now = clock_us(), anew = now + c->limits.grace_ms * 1000;
    if (j->alone && !alone && c->interrupted != CELL_NOT_INTERRUPTED && c->kill_us < anew)
        c->kill_us = anew;
    j->alone = alone;
    if (j->state == RUNNING)
        jar_plan_look(j, now);
}

uint64_t jar_cell_number(const struct jar *j)
{
    return j->cell.limits.number;
}

bool jar_take_cell(struct jar *j, struct cell_usage *ret)
{
    if (!j->cell_usage.number)
        return false;
    *ret = j->cell_usage;
    j->cell_usage = (struct cell_usage){ 0 };
    return true;
}

static void send_signal(const struct jar *j, int sig)
{
    if (j->state == RUNNING && j->program_pidfd >= 0 && !j->program_reaped)
        (void)pidfd_send_signal(j->program_pidfd, sig, NULL, 0);
}

static void interrupt(struct jar *j, enum cell_interrupt why, uint64_t now_us)
{
    struct cell *c = &j->cell;
    send_signal(j, SIGINT);
    if (c->interrupted == CELL_NOT_INTERRUPTED) {
        c->interrupted = why;
        c->kill_us = now_us + c->limits.grace_ms * 1000;
        c->remind_us = now_us + REMIND_US;
    }
}

void jar_interrupt(struct jar *j)
{
    uint64_t now = clock_us();
    if (j->state > RUNNING || !j->cell.limits.number)
        return; /* the cell is over */
    interrupt(j, CELL_ASKED, now);
    if (j->state == RUNNING)
        jar_plan_look(j, now);
}

/* The CPU time since the cell began, or since the last one ended. */
static uint64_t cpu_used_us(const struct jar *j)
{
    return since(j->stats.cpu_us, j->cell.cpu_from_us);
}

static uint64_t cpu_limit_us(const struct jar *j)
{
    return 1000 * (j->cell.limits.number ? j->cell.limits.cpu_ms : j->job.limits.v[LIMIT_CPU_MS]);
}

static void end_for(struct jar *j, enum cell_interrupt why)
{
    static const struct {
        limit_set hit;
        enum end_reason reason;
    } rows[CELL_INTERRUPTS_] = {
        [CELL_ASKED] = { 0, END_CANCEL },
        [CELL_WALL] = { LIMIT_BIT(LIMIT_WALL_MS), END_WALL },
        [CELL_CPU] = { LIMIT_BIT(LIMIT_CPU_MS), END_CPU },
    };
    j->outcome.evidence.hits |= rows[why].hit;
    jar_kill(j, rows[why].reason);
}

void jar_check_cell(struct jar *j, uint64_t now_us)
{
    struct cell *c = &j->cell;
    bool used_up = cpu_used_us(j) >= cpu_limit_us(j);
    if (!c->limits.number) {
        if (used_up) /* a session that computes although no cell runs */
            end_for(j, CELL_CPU);
        return;
    }
    if (now_us >= c->kill_us && !j->alone)
        end_for(j, c->interrupted);
    else if (now_us >= c->remind_us) {
        c->remind_us = now_us + REMIND_US;
        send_signal(j, SIGURG);
    } else if (c->interrupted != CELL_NOT_INTERRUPTED)
        return;
    else if (now_us >= c->started_us + c->limits.wall_ms * 1000)
        interrupt(j, CELL_WALL, now_us);
    else if (used_up)
        interrupt(j, CELL_CPU, now_us);
}

/* The next deadline of the cell, or the moment when the CPU time could be used up. */
uint64_t jar_cell_due_us(const struct jar *j, uint64_t now_us)
{
    const struct cell *c = &j->cell;
    uint64_t left = since(cpu_limit_us(j), cpu_used_us(j));
    uint64_t by_cpu = now_us + left * 100 / j->job.limits.v[LIMIT_CPU_PERCENT] + 1000;
    if (!c->limits.number)
        return by_cpu;
    if (c->interrupted != CELL_NOT_INTERRUPTED)
        return c->remind_us < c->kill_us || j->alone ? c->remind_us : c->kill_us;
    uint64_t by_wall = c->started_us + c->limits.wall_ms * 1000;
    return by_wall < by_cpu ? by_wall : by_cpu;
}
