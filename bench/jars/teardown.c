/* The end of the nastiest tree (tests/tools/nasty_tree.c): a fork bomb that ignores every signal,
 * each process in a session of its own, with a directory 100,000 levels deep and a full disk.
 *
 * Timed from its deadline to the moment at which its end was told and no process of it could be
 * found. The deadline is the warden's: it counts from when the program began to run, which we
 * learn from its message a moment later. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "bench/bench_report.h"
#include "guests.h"
#include "hostview.h"
#include "jars_bench.h"

enum { LEVELS = 100000, WALL_MS = 3000, WALL_MAX_MS = 48000, BOUND_MS = 100 };

static const struct language nasty = {
    .name = "nasty_tree",
    .command = (const char *const[]){ "/sandbox/nasty_tree", "100000", NULL },
    .env = (const char *const[]){ NULL },
};

static const char ready[] = "READY depth=100000 full=1\n";

static struct limits room_for_it(uint64_t wall_ms)
{
    struct limits l = limits_default();
    l.v[LIMIT_WALL_MS] = wall_ms;
    l.v[LIMIT_CPU_MS] = 10 * wall_ms; /* the deadline comes first */
    l.v[LIMIT_CPU_PERCENT] = 200;
    l.v[LIMIT_MEMORY] = 1ULL << 30;
    l.v[LIMIT_PIDS] = 128;
    l.v[LIMIT_FILES] = LEVELS + 1000;
    return l;
}

/* Milliseconds past the deadline, or -1 when it did not get ready before that. */
static double once(const struct warden *w, uint64_t id, const struct bench_program *p,
                   uint64_t wall_ms)
{
    static struct guest g;
    struct limits limits = room_for_it(wall_ms);
    guest_start(&g, w, id, p, &limits);
    while (!g.over)
        guests_step(w, &g, 1, -1);
    uint64_t gone_us = g.ended_us > g.over_us ? g.ended_us : g.over_us;
    while (jar_processes(w->pid, w->isolation.level != LEVEL_PROCESS) > 0)
        gone_us = clock_us();
    enum verdict verdict = jar_run_verdict(&g.run);
    bool was_ready = strcmp(g.output, ready) == 0;
    guest_done(&g);
    if (was_ready && verdict != VERDICT_TIMEOUT)
        bench_die(verdict_word(verdict), &g.run.end.err);
    return was_ready ? (double)(gone_us - g.started_us) / 1000 - (double)wall_ms : -1;
}

static void measure(struct jars_bench *b, const struct warden *w, const struct bench_program *p)
{
    struct series all = { 0 };
    uint64_t wall_ms = WALL_MS, id = 0;
    while (all.n < b->plan.teardowns) {
        double ms = once(w, ++id, p, wall_ms);
        if (ms >= 0)
            series_add(&all, ms);
        else if ((wall_ms *= 2) > WALL_MAX_MS)
            bench_die("the tree was never ready before its deadline", NULL);
    }
    report_series(b->report, "from the deadline to nothing left", &all, NULL);
    report_fact(b->report, "the slowest of them", series_stats(&all).max, "ms");
    report_fact(b->report, "time it was given", (double)wall_ms, "ms");
    report_must(b->report, "the slowest end of the nastiest tree", series_stats(&all).max, BOUND_MS,
                "ms");
    series_done(&all);
}

void teardowns(struct jars_bench *b)
{
    struct warden w;
    scoped(buf) binary = { 0 };
    struct err e;
    autoclose int fd = open(b->nasty_tree, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        bench_die(b->nasty_tree, NULL);
    if (fd_read_to_buf(fd, 16 << 20, &binary, &e))
        bench_die(b->nasty_tree, &e);
    const struct bench_program program = { "nasty_tree", &nasty,     "nasty_tree",
                                           binary.data,  binary.len, "" };
    start_warden(LEVEL_AUTO, &w);
    if (w.isolation.unenforced &
        (LIMIT_BIT(LIMIT_PIDS) | LIMIT_BIT(LIMIT_DISK) | LIMIT_BIT(LIMIT_FILES))) {
        report_skip(b->report, "the nastiest tree: nothing here limits its processes");
    } else {
        report_section(b->report, "the end of the nastiest tree");
        measure(b, &w, &program);
    }
    warden_stop(&w);
}
