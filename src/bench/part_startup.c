/* bench/part_startup.c — from the exec of the service to its first 200, its first run and its first
 * warm run, on an empty and on an existing state directory. */
#include <stdio.h>

#include "base/clock.h"
#include "bench/bench.h"
#include "bench/load.h"

enum { WARM_WITHIN_MS = 10000 };

struct starts_of {
    struct series healthy, first, warm;
};

static double since_ms(const struct bench_service *s)
{
    return (double)(clock_us() - s->started_us) / 1000;
}

static void start_once(struct bench *b, const char *name, struct starts_of *all)
{
    struct bench_service s;
    struct starts starts = { 0 };
    service_start(&s, &b->site, name, SERVICE_WARM, NULL);
    struct load_client *v = load_client_new(s.port);
    series_add(&all->healthy, s.healthy_ms);
    (void)load_client_run(v, &b->programs[WORK_PYTHON], &starts);
    series_add(&all->first, since_ms(&s));
    while (starts.untold == 0 && starts.warm == 0 && since_ms(&s) < WARM_WITHIN_MS)
        (void)load_client_run(v, &b->programs[WORK_PYTHON], &starts);
    if (starts.warm)
        series_add(&all->warm, since_ms(&s));
    load_client_free(v);
    service_stop(&s);
}

static void tell(struct bench *b, const char *title, struct starts_of *all)
{
    report_section(b->report, title);
    report_series(b->report, "to the first 200 of /v1/health", &all->healthy, NULL);
    report_series(b->report, "to the end of the first Python run", &all->first, NULL);
    if (all->warm.n)
        report_series(b->report, "to the end of the first warm Python run", &all->warm, NULL);
    series_done(&all->healthy);
    series_done(&all->first);
    series_done(&all->warm);
}

void part_startup(struct bench *b)
{
    struct starts_of fresh = { 0 }, again = { 0 };
    bench_stop_services(b); /* their pools must not take memory or cores */
    for (size_t i = 0; i < b->plan.starts; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "start-%zu", i);
        start_once(b, name, &fresh);
        start_once(b, name, &again);
    }
    tell(b, "service start, new state directory", &fresh);
    tell(b, "service start, known state directory", &again);
}
