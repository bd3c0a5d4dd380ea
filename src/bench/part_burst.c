/* bench/part_burst.c — a hundred requests at one moment on an idle service, repeated: all are
 * answered, and the time is compared with that of a single request. */
#include <time.h>

#include "bench/bench.h"
#include "bench/load.h"

enum { SINGLES_A_ROUND = 5, PAUSE_MS = 700 };

void part_burst(struct bench *b)
{
    struct load_result burst = { 0 };
    struct series single = { 0 }, last = { 0 };
    const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
    const struct bench_service *s = bench_service(b, SERVICE_WARM);
    struct load_client *v = load_client_new(s->port);
    const struct load l = { .port = s->port,
                            .program = &b->programs[WORK_PYTHON],
                            .clients = b->plan.burst_size,
                            .at_most = b->plan.burst_size };
    (void)load_client_run(v, l.program, NULL);
    for (size_t i = 0; i < b->plan.bursts; i++) {
        for (size_t k = 0; k < SINGLES_A_ROUND; k++) {
            service_settle(s);
            series_add(&single, load_client_run(v, l.program, NULL));
        }
        service_settle(s);
        double before_s = burst.seconds;
        load_run(&l, &burst);
        series_add(&last, (burst.seconds - before_s) * 1000);
        (void)nanosleep(&pause, NULL);
    }
    report_section(b->report, "bursts on an idle service, Python");
    report_series(b->report, "a single request", &single, &single);
    report_series(b->report, "each of 100 at once", &burst.ms, &single);
    report_series(b->report, "until the last of them is answered", &last, &single);
    report_fact(b->report, "p99 of 100 at once over p50 of a single one",
                series_stats(&burst.ms).p99 / series_stats(&single).p50, "times");
    report_fact(b->report, "started warm, in bursts", (double)burst.starts.warm, "runs");
    report_fact(b->report, "hatched to order, in bursts", (double)burst.starts.hatched, "runs");
    report_metric(b->report, "burst_unanswered",
                  (double)(b->plan.bursts * b->plan.burst_size - burst.ms.n));
    series_done(&single);
    series_done(&last);
    series_done(&burst.ms);
    load_client_free(v);
}
