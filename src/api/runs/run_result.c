#include "api/runs/run_result.h"

#include <stdio.h>
#include <string.h>

json_t *run_result_object(const struct run *x, uint64_t inline_max)
{
    json_t *o = json_copy(x->result_json);
    if (o)
        result_add_journal(o, &x->journal, inline_max);
    return o;
}

bool run_end_sentence(const struct result *r, char *out, size_t size)
{
    char exceeded[96];
    enum limit_id limit = verdict_limit(r->verdict, r->evidence.hits);
    const char *why = r->error ? r->error : "no reason is known";
    const char *name = r->evidence.signal ? sigabbrev_np(r->evidence.signal) : NULL;
    if (limit != LIMIT_NONE)
        (void)snprintf(out, size, "The program %s",
                       limit_exceeded(limit, &r->limits, exceeded, sizeof exceeded));
    else if (r->verdict == VERDICT_CANCELLED)
        (void)snprintf(out, size, "Cancelled");
    else if (r->verdict == VERDICT_REJECTED)
        (void)snprintf(out, size, "Rejected: %s", why);
    else if (r->verdict == VERDICT_INTERNAL_ERROR)
        (void)snprintf(out, size, "Internal error: %s", why);
    else if (r->verdict == VERDICT_RUNTIME_ERROR && r->evidence.signal)
        (void)snprintf(out, size, "Killed by signal %d (SIG%s)", r->evidence.signal,
                       name ? name : "?");
    else
        return false;
    return true;
}

json_t *run_row_object(const struct run_record *r)
{
    return result_row_json(&(struct result_row){ .id = r->id,
                                                 .state = run_state_word(r->state),
                                                 .language = r->language,
                                                 .verdict = r->verdict,
                                                 .thread = r->thread,
                                                 .artifact = r->artifact,
                                                 .batch = r->batch,
                                                 .surface = r->surface,
                                                 .key = r->key,
                                                 .created_ms = r->created_ms,
                                                 .started_ms = r->started_ms,
                                                 .finished_ms = r->finished_ms,
                                                 .has_usage = r->state == RUN_FINISHED,
                                                 .wall_us = r->wall_us,
                                                 .cpu_us = r->cpu_us,
                                                 .memory_peak = r->memory_peak });
}
