/* A run in the jar of its host: a cell of a session, or a run from a template. And the usage of a
 * program that runs. Declared in engine/run.h. */
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "engine/engine_impl.h"

void run_begin_in_host(struct run *run)
{
    run->begun_us = run->started_us = clock_us();
    run->waited_us = run->begun_us - run->queued_us;
    run->started_at_ms = clock_unix_ms();
    run->state = RUN_RUNNING;
    run_count_start(run);
    run_notify(run, RUN_EVENT_STARTED);
}

void run_resume_in_host(struct run *run, int64_t queued_ms, int64_t started_ms, uint64_t started_us)
{
    run->queued_at_ms = queued_ms;
    run->waited_us = started_ms > queued_ms ? (uint64_t)(started_ms - queued_ms) * 1000 : 0;
    run->begun_us = run->started_us = started_us;
    run->started_at_ms = started_ms;
    run->state = RUN_RUNNING;
}

int run_add_output(struct run *run, enum journal_kind kind, uint64_t time_us, const void *bytes,
                   size_t n, struct err *e)
{
    return journal_add(&run->journal, kind, time_us, bytes, n, e);
}

void run_notify_output(struct run *run)
{
    run_notify(run, RUN_EVENT_OUTPUT);
}

void run_end_in_host(struct run *run, const struct wire_ended *end, const char *error)
{
    run->jar.end = *end;
    if (error)
        (void)snprintf(run->error_text, sizeof run->error_text, "%s", error);
    text_end_whole(run->error_text);
    run_finish(run, verdict_decide(&end->evidence));
}

/* ---- its usage until now ---- */

bool run_measure(struct run *run)
{
    struct err e;
    return run->has_jar && run->jar.started && !run->jar.ended && run_stage(run) == STAGE_RUN &&
           jar_run_measure(&run->jar, &e) == 0;
}

/* The stages of a caller that are over count, too. */
void run_take_measure(struct run *run)
{
    const struct usage *before = &run->caller_usage;
    struct usage now = run->jar.usage;
    now.wall_us += before->wall_us;
    now.cpu_us += before->cpu_us;
    if (before->memory_peak_bytes > now.memory_peak_bytes)
        now.memory_peak_bytes = before->memory_peak_bytes;
    if (before->pids_peak > now.pids_peak)
        now.pids_peak = before->pids_peak;
    run->jar.measured = false;
    run->usage_now = (struct run_now){ now, run->jar.memory_bytes, run->jar.pids };
    run_notify(run, RUN_EVENT_MEASURED);
}
