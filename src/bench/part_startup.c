/* From the service's exec to its first 200, to its first run, and to its first warm run; on an empty state directory, and
 * on one that it knows. */
#include <stdio.h>

#include "base/clock.h"
#include "bench/bench.h"
#include "bench/load.h"

enum { WARM_WITHIN_MS = 10000 };

struct starts_of {
    struct series healthy, first, warm;
};

static double since_ms(const struct service *s)
{
    return (double)(clock_us() - s->started_us) / 1000;
}

static void start_once(struct bench *b, const char *name, struct starts_of *all)
{
    struct service s;
    struct starts starts = { 0 };
    service_start(&s, &b->site, name, SERVICE_WARM, NULL);
    struct visitor *v = visitor_new(s.port);
    series_add(&all->healthy, s.healthy_ms);
    (void)visitor_run(v, &b->programs[WORK_PYTHON], &starts);
    series_add(&all->first, since_ms(&s));
    while (starts.untold == 0 && starts.warm == 0 && since_ms(&s) < WARM_WITHIN_MS)
        (void)visitor_run(v, &b->programs[WORK_PYTHON], &starts);
    if (starts.warm)
        series_add(&all->warm, since_ms(&s));
    visitor_free(v);
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
    bench_stop_services(b); /* their pools are not to take its memory or cores */
    for (size_t i = 0; i < b->plan.starts; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "start-%zu", i);
        start_once(b, name, &fresh);
        start_once(b, name, &again);
    }
    tell(b, "service start, new state directory", &fresh);
    tell(b, "service start, known state directory", &again);
}
