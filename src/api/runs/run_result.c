#include "api/runs/run_result.h"

json_t *run_result_object(const struct run *x, uint64_t inline_max)
{
    json_t *o = json_copy(x->result_json);
    if (o)
        result_add_journal(o, &x->journal, inline_max);
    return o;
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
