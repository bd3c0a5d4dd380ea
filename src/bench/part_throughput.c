/* bench/part_throughput.c — runs per second, compared with the rate at which the bare interpreter
 * can be spawned on the same cores, and the CPU time of a run: that of all processes of the
 * service, including the refilling of pools. The clients use a part of the cores; for spawning,
 * that is the process that spawns. */
#include <stdio.h>

#include "base/array.h"
#include "bench/bench.h"
#include "bench/host.h"
#include "bench/load.h"

static const size_t client_counts[] = { 1, 8, 64 };
enum { COUNTS = ARRAY_LEN(client_counts), SOME_CLIENTS = 8, RUNS_A_CLIENT = 2 };

static const struct throughput_side {
    const char *name;
    enum service_kind service; /* SERVICE_NONE: the bare interpreter */
} sides[] = {
    { "bare interpreter", SERVICE_NONE },
    { "belljar, HTTP, warm", SERVICE_WARM },
    { "belljar, HTTP, cold", SERVICE_COLD },
};
enum { SIDES = ARRAY_LEN(sides), BARE = 0, OURS = 1 };

struct rate {
    double runs, cpu_ms, busy_runs, busy_s;
    struct load_result all; /* of a service */
};

static double per_second(const struct rate *r)
{
    return r->busy_s > 0 ? r->busy_runs / r->busy_s : 0;
}

static void slice(struct bench *b, enum workload_id work, const struct throughput_side *side,
                  size_t clients, double seconds, struct rate *sum)
{
    if (side->service == SERVICE_NONE) {
        struct way_command c;
        command_build(&c, &b->site, WAY_BARE, &b->programs[work]);
        struct command_rate got = command_rate(&c, clients, seconds, clients);
        sum->runs += (double)got.runs;
        sum->cpu_ms += got.cpu_ms;
        sum->busy_runs += (double)got.busy_runs;
        sum->busy_s += got.busy_s;
        return;
    }
    const struct bench_service *s = bench_service(b, side->service);
    const struct load l = { .port = s->port,
                            .program = &b->programs[work],
                            .clients = clients,
                            .at_least = clients,
                            .seconds = seconds };
    service_settle(s);
    double cpu_ms = host_tree_cpu_ms(s->pid);
    load_run(&l, &sum->all);
    service_settle(s); /* these runs used the embryos that it refills now */
    sum->cpu_ms += host_tree_cpu_ms(s->pid) - cpu_ms;
    sum->runs = (double)sum->all.ms.n;
    sum->busy_runs = (double)sum->all.busy_runs;
    sum->busy_s = sum->all.busy_s;
}

static void tell(struct bench *b, enum workload_id work, size_t clients, struct rate rates[SIDES])
{
    char name[120], chart[120];
    (void)snprintf(chart, sizeof chart, "%s: runs a second", workloads[work].title);
    for (size_t i = 0; i < SIDES; i++) {
        const struct rate *r = &rates[i];
        (void)snprintf(name, sizeof name, "%s, %zu client%s", sides[i].name, clients,
                       clients == 1 ? "" : "s");
        report_rate(b->report, name,
                    &(struct report_rate){ .runs = (size_t)r->runs,
                                           .per_second = per_second(r),
                                           .over = per_second(r) / per_second(&rates[BARE]),
                                           .p50_ms = series_stats(&r->all.ms).p50,
                                           .p99_ms = series_stats(&r->all.ms).p99,
                                           .cpu_ms = r->cpu_ms / r->runs });
        report_bar(b->report, chart, "runs/s", name, per_second(r), i != BARE);
    }
}

/* Updates the best rates of bare and ours with those of this number of clients. */
static void measure(struct bench *b, enum workload_id work, size_t clients, double seconds,
                    double best[SIDES])
{
    struct rate rates[SIDES] = { 0 };
    for (size_t k = 0; k < b->plan.slices; k++) {
        size_t order[SIDES];
        bench_shuffle(order, SIDES);
        for (size_t i = 0; i < SIDES; i++)
            slice(b, work, &sides[order[i]], clients, seconds, &rates[order[i]]);
    }
    tell(b, work, clients, rates);
    for (size_t i = 0; i < SIDES; i++) {
        best[i] = per_second(&rates[i]) > best[i] ? per_second(&rates[i]) : best[i];
        series_done(&rates[i].all.ms);
    }
}

void part_throughput(struct bench *b)
{
    for (size_t work = 0; work < WORKLOADS; work++) {
        double best[SIDES] = { 0 };
        if (b->absent[work])
            continue;
        report_rates(b->report, workloads[work].title);
        if (work == WORK_PYTHON)
            for (size_t i = 0; i < COUNTS; i++)
                measure(b, (enum workload_id)work, client_counts[i], b->plan.slice_s, best);
        else
            measure(b, (enum workload_id)work, SOME_CLIENTS, b->plan.short_slice_s, best);
        if (work == WORK_PYTHON)
            report_metric(b->report, "rate_over_bare", best[OURS] / best[BARE]);
    }
}
