/* bench/part_latency.c — one run after the other: the time of each contender for the same program.
 * In every round each contender runs once, in a new random order, because the one before may have
 * left work to the kernel or to a pool. */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "bench/bench.h"
#include "bench/die.h"
#include "bench/load.h"

/* All others are compared with the first. A row with `over_ours` is also compared with belljar over
 * HTTP. */
static const struct contender {
    const char *name;
    enum { BY_COMMAND, BY_HTTP } by;
    enum way way;              /* for BY_COMMAND */
    enum service_kind service; /* the required service */
    bool ours;
    const char *over_ours; /* key of the budget, for Python; NULL: none */
} contenders[] = {
    { "bare interpreter", BY_COMMAND, WAY_BARE, SERVICE_NONE, false, NULL },
    { "belljar, HTTP, warm", BY_HTTP, WAY_BARE, SERVICE_WARM, true, NULL },
    { "belljar, HTTP, cold", BY_HTTP, WAY_BARE, SERVICE_COLD, true, NULL },
    { "belljar run, by a service, warm", BY_COMMAND, WAY_BELLJAR, SERVICE_WARM, true, NULL },
    { "belljar run, by a service, cold", BY_COMMAND, WAY_BELLJAR, SERVICE_COLD, true, NULL },
    { "belljar run, no service", BY_COMMAND, WAY_BELLJAR, SERVICE_NONE, true, NULL },
    { "bubblewrap", BY_COMMAND, WAY_BWRAP, SERVICE_NONE, false, "bwrap_over_python" },
    { "firejail", BY_COMMAND, WAY_FIREJAIL, SERVICE_NONE, false, NULL },
    { "docker exec", BY_COMMAND, WAY_DOCKER_EXEC, SERVICE_NONE, false, "docker_exec_over_python" },
    { "docker run", BY_COMMAND, WAY_DOCKER_RUN, SERVICE_NONE, false, "docker_run_over_python" },
    { "runsc (gVisor)", BY_COMMAND, WAY_RUNSC, SERVICE_NONE, false, NULL },
};
enum { CONTENDERS = ARRAY_LEN(contenders), BARE = 0, OURS = 1 };

/* The contenders for one workload. */
struct latency_race {
    bool here[CONTENDERS];
    struct way_command commands[CONTENDERS];
    struct load_client *clients[SERVICE_KINDS];
    struct series ms[CONTENDERS];
    struct starts starts;
};

static void say_absent(struct bench *b, const char *who, const char *what, const char *why)
{
    char text[400];
    (void)snprintf(text, sizeof text, "%s%s%s: %s", who, *what ? ", " : "", what, why);
    report_skip(b->report, text);
}

/* Selects the contenders: the other ways must work here with a program that certainly exists. */
static void find_contenders(struct bench *b, bool here[CONTENDERS])
{
    for (size_t i = 0; i < CONTENDERS; i++) {
        const struct contender *c = &contenders[i];
        struct way_command probe;
        char why[200];
        here[i] = true;
        if (c->ours || i == BARE)
            continue;
        here[i] = way_ready(&b->site, c->way, why, sizeof why);
        if (here[i]) {
            command_build(&probe, &b->site, c->way, &b->programs[WORK_BASH]);
            here[i] = command_try(&probe, why, sizeof why);
        }
        if (!here[i])
            say_absent(b, c->name, "", why);
    }
}

static void race_prepare(struct bench *b, struct latency_race *r, enum workload_id work)
{
    char why[200];
    for (size_t i = 0; i < CONTENDERS; i++) {
        const struct contender *c = &contenders[i];
        if (!r->here[i])
            continue;
        struct site site = b->site;
        if (c->service != SERVICE_NONE)
            site.state = bench_service(b, c->service)->state;
        if (c->by == BY_HTTP && !r->clients[c->service])
            r->clients[c->service] = load_client_new(b->services[c->service].port);
        if (c->by == BY_COMMAND)
            command_build(&r->commands[i], &site, c->way, &b->programs[work]);
        if (!c->ours && !command_try(&r->commands[i], why, sizeof why)) {
            r->here[i] = false;
            say_absent(b, c->name, workloads[work].title, why);
        }
    }
}

static void race_round(struct bench *b, struct latency_race *r, enum workload_id work, bool counts)
{
    size_t order[CONTENDERS];
    bench_shuffle(order, CONTENDERS);
    for (size_t k = 0; k < CONTENDERS; k++) {
        size_t i = order[k];
        const struct contender *c = &contenders[i];
        if (!r->here[i])
            continue;
        bool counted = counts && i == OURS;
        double ms = c->by == BY_HTTP ? load_client_run(r->clients[c->service], &b->programs[work],
                                                       counted ? &r->starts : NULL)
                                     : command_once(&r->commands[i]);
        if (counts)
            series_add(&r->ms[i], ms);
    }
}

/* Reports how the runs of the warm row started, so that the row is certainly warm. */
static void tell_starts(struct bench *b, const struct starts *s)
{
    report_fact(b->report, "  belljar, HTTP, warm: started warm", (double)s->warm, "runs");
    if (s->hatched)
        report_fact(b->report, "  belljar, HTTP, warm: hatched to order", (double)s->hatched,
                    "runs");
    if (s->cold + s->untold)
        report_fact(b->report, "  belljar, HTTP, warm: started cold", (double)(s->cold + s->untold),
                    "runs");
}

static void tell(struct bench *b, const struct latency_race *r, enum workload_id work)
{
    char chart[120];
    const struct series *ours = &r->ms[OURS], *bare = &r->ms[BARE];
    (void)snprintf(chart, sizeof chart, "%s: p50", workloads[work].title);
    report_section(b->report, workloads[work].title);
    for (size_t i = 0; i < CONTENDERS; i++) {
        const struct contender *c = &contenders[i];
        if (!r->here[i])
            continue;
        report_series(b->report, c->name, &r->ms[i], bare);
        report_bar(b->report, chart, "ms", c->name, series_stats(&r->ms[i]).p50, c->ours);
        if (c->over_ours && work == WORK_PYTHON)
            report_metric(b->report, c->over_ours, series_ratio(&r->ms[i], ours).all);
    }
    tell_starts(b, &r->starts);
    if (workloads[work].over_bare)
        report_metric(b->report, workloads[work].over_bare, series_ratio(ours, bare).all);
}

static void race(struct bench *b, const bool here[CONTENDERS], enum workload_id work)
{
    struct latency_race *r = calloc(1, sizeof *r);
    if (!r)
        bench_die("memory", NULL);
    for (size_t i = 0; i < CONTENDERS; i++)
        r->here[i] = here[i];
    race_prepare(b, r, work);
    race_round(b, r, work, false);
    service_settle(bench_service(b, SERVICE_WARM)); /* its pools adapt to that round */
    uint64_t end_us = clock_us() + (uint64_t)(b->plan.rounds_s * 1e6);
    for (size_t round = 0; round < b->plan.rounds[work] && (round < 2 || clock_us() < end_us);
         round++)
        race_round(b, r, work, true);
    tell(b, r, work);
    for (size_t i = 0; i < CONTENDERS; i++)
        series_done(&r->ms[i]);
    for (size_t i = 0; i < SERVICE_KINDS; i++)
        load_client_free(r->clients[i]);
    free(r);
}

void part_latency(struct bench *b)
{
    bool here[CONTENDERS];
    find_contenders(b, here);
    for (size_t work = 0; work < WORKLOADS; work++)
        if (!b->absent[work])
            race(b, here, (enum workload_id)work);
}
