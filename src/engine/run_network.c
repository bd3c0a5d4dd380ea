/* The network of a run: its connections as events while it runs, and in its result. */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/engine_impl.h"
#include "network/advice.h"
#include "run/json.h"
#include "run/network_json.h"

/* A connection has two events: it is open, and it is over. */
enum { EVENTS_MAX = 2 * NETWORK_LOG_MAX };

void run_on_network(struct run *run, const struct network_record *r)
{
    struct err e = { 0 };
    if (run->is_over || run->network_events >= EVENTS_MAX)
        return;
    autofree char *text = json_line(network_record_json(r));
    uint64_t since = run->started_us ? clock_us() - run->started_us : 0;
    if (!text || run_add_output(run, JOURNAL_NETWORK, since, text, strlen(text), &e)) {
        log_error(LOG_WARN, "run.network", &e);
        return;
    }
    run->network_events++;
    run_notify_output(run);
}

static void count_network(struct engine_counts *counts, const struct network_log *log)
{
    for (int i = 0; i < NETWORK_OUTCOME_COUNT_; i++)
        counts->network_outcomes[i] += log->outcomes[i];
    counts->network_in += log->bytes_in;
    counts->network_out += log->bytes_out;
}

/* The connections of the program. The log is complete, and goes with the jar. */
void run_add_network(struct run *run, struct result *result)
{
    const struct network_policy *p = &run->spec.network;
    const struct network_log *log = &run->network;
    char advice[NETWORK_ADVICE_SIZE], list[NETWORK_LIST_SHOWN];
    if (p->mode == NETWORK_NONE || run_stage(run) != STAGE_RUN)
        return;
    result->network = network_json(p, log);
    result->network_limit = network_limit_hit(log);
    free(run->network_advice);
    run->network_advice = network_advice(p, log, advice)[0] ? strdup(advice) : NULL;
    free(run->network_list);
    run->network_list = p->mode == NETWORK_LIST ? strdup(network_policy_text(p, list, sizeof list))
                                                : NULL;
    count_network(&run->engine->counts, log);
}
