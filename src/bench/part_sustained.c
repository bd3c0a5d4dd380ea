/* bench/part_sustained.c — Python runs in a row at full speed: neither the latency nor the memory
 * of keeper, warden and zygotes may grow. */
#include <stdio.h>
#include <stdlib.h>

#include "base/auto.h"
#include "bench/bench.h"
#include "bench/die.h"
#include "bench/host.h"
#include "bench/load.h"

enum { FIFTHS = 5, CLIENTS = 8, CONTROLS = 25 };

/* Of all processes of the service, including their part of shared memory; 0 without the right to
 * read it. */
static double service_mib(const struct bench_service *s)
{
    double sum = 0;
    autofree struct host_tree *t = calloc(1, sizeof *t);
    if (!t)
        bench_die("memory", NULL);
    host_tree(s->pid, t);
    for (size_t i = 0; i < t->n; i++) {
        struct host_memory m;
        if (host_memory(t->all[i].pid, &m))
            sum += m.share_mib;
    }
    return sum;
}

static double halves_mib(const struct bench_service *s)
{
    struct service_parts parts;
    struct host_memory keeper, warden;
    return service_parts(s, &parts) && host_memory(parts.keeper, &keeper) &&
                   host_memory(parts.warden, &warden)
               ? keeper.private_mib + warden.private_mib
               : 0;
}

struct fifth {
    struct load_result load;
    struct series control; /* the bare interpreter alone: shows other load on the machine */
    double halves_mib, all_mib;
};

static void tell(struct bench *b, struct fifth fifths[FIFTHS])
{
    static const char *const names[FIFTHS] = { "first fifth", "second fifth", "third fifth",
                                               "fourth fifth", "last fifth" };
    char text[120];
    for (size_t i = 0; i < FIFTHS; i++) {
        const struct load_result *l = &fifths[i].load;
        (void)snprintf(text, sizeof text, "%s, %.0f runs/s", names[i],
                       (double)l->busy_runs / l->busy_s);
        report_series(b->report, text, &l->ms, &fifths[0].load.ms);
    }
    for (size_t i = 0; i < FIFTHS; i++) {
        (void)snprintf(text, sizeof text, "bare interpreter, alone, after the %s", names[i]);
        report_series(b->report, text, &fifths[i].control, &fifths[0].control);
    }
    for (size_t i = 0; i < FIFTHS; i++) {
        (void)snprintf(text, sizeof text, "keeper and warden, private, after the %s", names[i]);
        report_fact(b->report, text, fifths[i].halves_mib, "MiB");
    }
    for (size_t i = 0; i < FIFTHS; i++) {
        (void)snprintf(text, sizeof text, "with zygotes and embryos, Pss, after the %s", names[i]);
        report_fact(b->report, text, fifths[i].all_mib, "MiB");
    }
}

void part_sustained(struct bench *b)
{
    struct fifth fifths[FIFTHS] = { 0 };
    bench_stop_services(b); /* a new one, alone */
    const struct bench_service *s = bench_service(b, SERVICE_WARM);
    const struct load l = { .port = s->port,
                            .program = &b->programs[WORK_PYTHON],
                            .clients = CLIENTS,
                            .at_most = b->plan.sustained / FIFTHS,
                            .seconds = b->plan.sustained_s / FIFTHS };
    struct way_command bare;
    command_build(&bare, &b->site, WAY_BARE, &b->programs[WORK_PYTHON]);
    report_section(b->report, "sustained load, Python, 8 clients");
    for (size_t i = 0; i < FIFTHS; i++) {
        load_run(&l, &fifths[i].load);
        service_settle(s);
        for (size_t k = 0; k < CONTROLS; k++)
            series_add(&fifths[i].control, command_once(&bare));
        fifths[i].halves_mib = halves_mib(s);
        fifths[i].all_mib = service_mib(s);
    }
    tell(b, fifths);
    const struct fifth *first = &fifths[0], *last = &fifths[FIFTHS - 1];
    report_metric(b->report, "sustained_p99_drift",
                  series_stats(&last->load.ms).p99 / series_stats(&first->load.ms).p99 /
                      series_ratio(&last->control, &first->control).all);
    if (fifths[0].all_mib > 0)
        report_metric(b->report, "sustained_growth_mib",
                      fifths[FIFTHS - 1].all_mib - fifths[1].all_mib);
    for (size_t i = 0; i < FIFTHS; i++) {
        series_done(&fifths[i].load.ms);
        series_done(&fifths[i].control);
    }
}
