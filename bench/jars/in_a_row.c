/* A thousand jars one after the other: the objects that they leave behind, and whether the last
 * jar is as quick as the first. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench_report.h"
#include "guests.h"
#include "hostview.h"
#include "jars_bench.h"
#include "programs.h"

enum {
    WARM_UP = 100,    /* jars before the first look: a one-time allocation is no leak */
    SETTLE_MS = 5000, /* the kernel frees some things a moment after their last user is gone */
    DRIFT_KIB = 128,  /* of resident memory: less than 140 bytes a jar */
};

/* The view as soon as it equals `before`, or the last one when time is up. */
static void settled_view(const struct host_view *before, pid_t warden, struct host_view *ret)
{
    for (int waited = 0;; waited += 50) {
        host_view(ret, warden);
        bool same = true;
        for (int t = 0; t < TRACES; t++)
            same = same && ret->count[t] <= before->count[t];
        if (same || waited >= SETTLE_MS)
            return;
        (void)usleep(50000);
    }
}

static void tell_left(struct jars_bench *b, const char *when, const struct host_view *before,
                      const struct host_view *after, int traces)
{
    long all = 0;
    char name[120];
    for (int t = 0; t < traces; t++) {
        long left = after->count[t] - before->count[t];
        (void)snprintf(name, sizeof name, "left %s: %s", when, trace_what((enum trace)t));
        report_fact(b->report, name, (double)left, "more");
        all += left > 0 ? left : 0;
    }
    (void)snprintf(name, sizeof name, "things left %s by %zu jars", when, b->plan.in_a_row);
    report_must(b->report, name, (double)all, 0, "things");
}

static void tell_times(struct jars_bench *b, const struct series *all)
{
    const size_t half = all->n / 2, part = half < 100 ? half : 100;
    struct series first = { .ms = all->ms, .n = part },
                  last = { .ms = all->ms + all->n - part, .n = part };
    report_series(b->report, "all of them", all, NULL);
    report_series(b->report, "the first 100", &first, &first);
    report_series(b->report, "the last 100", &last, &first);
}

void in_a_row(struct jars_bench *b)
{
    struct host_view nothing, before, after, end;
    struct series all = { 0 };
    struct warden w;
    char title[80];
    host_view(&nothing, 0);
    start_warden(LEVEL_AUTO, &w);
    (void)snprintf(title, sizeof title, "%zu jars in a row, level %s", b->plan.in_a_row,
                   level_name(w.isolation.level));
    report_section(b->report, title);
    for (uint64_t i = 0; i < WARM_UP; i++)
        (void)guest_once(&w, 1 + i, &programs[PROGRAM_TRUE]);
    long kernel_before = memory_cgroups(), kib_before = resident_kib(w.pid);
    host_view(&before, w.pid);
    for (size_t i = 0; i < b->plan.in_a_row; i++)
        series_add(&all, guest_once(&w, 1000 + i, &programs[PROGRAM_TRUE]));
    settled_view(&before, w.pid, &after);
    long kib = resident_kib(w.pid);
    tell_times(b, &all);
    tell_left(b, "with the warden", &before, &after, TRACES);
    report_fact(b->report, "resident memory of the warden", (double)kib, "KiB");
    report_fact(b->report, "memory cgroups in the kernel, all of the machine's",
                (double)(memory_cgroups() - kernel_before), "more");
    report_must(b->report, "growth of the warden's resident memory", (double)(kib - kib_before),
                DRIFT_KIB, "KiB");
    warden_stop(&w);
    settled_view(&nothing, 0, &end);
    tell_left(b, "after the warden", &nothing, &end, TRACES_OF_HOST);
    series_done(&all);
}
