/* Many jars at the same time: two hundred that come and go, and two hundred that are there at one
 * moment. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/auto.h"
#include "base/clock.h"
#include "bench/bench_report.h"
#include "bench/command.h"
#include "guests.h"
#include "jars_bench.h"
#include "programs.h"

static size_t count_over(const struct guest *guests, size_t n)
{
    size_t over = 0;
    for (size_t i = 0; i < n; i++)
        over += guests[i].over;
    return over;
}

static size_t count_running(const struct guest *guests, size_t n)
{
    size_t running = 0;
    for (size_t i = 0; i < n; i++)
        running += guests[i].run.started && !guests[i].run.ended;
    return running;
}

static void send_all(const struct warden *w, struct guest *guests, size_t n,
                     const struct bench_program *p)
{
    struct limits limits = limits_default();
    limits.v[LIMIT_WALL_MS] = limits.v[LIMIT_CPU_MS] = 300000;
    for (size_t i = 0; i < n; i++) {
        guest_start(&guests[i], w, 1 + i, p, &limits);
        guests_step(w, guests, i + 1, 0); /* a warden whose messages are not taken hangs up */
    }
}

/* Waits for all ends and says how many were good. */
static size_t see_off(const struct warden *w, struct guest *guests, size_t n,
                      struct series *ret_each)
{
    size_t good = 0;
    while (count_over(guests, n) < n)
        guests_step(w, guests, n, -1);
    for (size_t i = 0; i < n; i++) {
        bool ok = jar_run_verdict(&guests[i].run) == VERDICT_OK;
        if (!ok && good == i) /* the first that is not; the others will not say anything new */
            (void)fprintf(stderr, "bench: a jar ended with %s: %s\n",
                          verdict_word(jar_run_verdict(&guests[i].run)),
                          guests[i].run.end.err.text);
        good += ok;
        series_add(ret_each, guest_ms(&guests[i]));
        guest_done(&guests[i]);
    }
    return good;
}

static double since_ms(uint64_t begin_us)
{
    return (double)(clock_us() - begin_us) / 1000;
}

/* How long all of them take together, in milliseconds. */
static double jars_at_once(const struct jars_bench *b, const struct warden *w, struct guest *guests,
                           struct series *each, size_t *good)
{
    uint64_t begin = clock_us();
    send_all(w, guests, b->plan.at_once, &programs[PROGRAM_TRUE]);
    *good += see_off(w, guests, b->plan.at_once, each);
    return since_ms(begin);
}

static double bwraps_at_once(const struct jars_bench *b, const struct way_command *command)
{
    autofree pid_t *pids = calloc(b->plan.at_once, sizeof *pids);
    int status;
    if (!pids)
        bench_die("memory", NULL);
    uint64_t begin = clock_us();
    for (size_t i = 0; i < b->plan.at_once; i++)
        pids[i] = command_start(command);
    for (size_t i = 0; i < b->plan.at_once; i++)
        if (waitpid(pids[i], &status, 0) < 0 || status != 0)
            bench_die("one of many bubblewraps failed", NULL);
    return since_ms(begin);
}

static void come_and_go(struct jars_bench *b, const struct warden *w, struct guest *guests)
{
    enum { TURNS = 5 };
    static struct way_command command;
    struct series each = { 0 }, jars = { 0 }, bwraps = { 0 };
    size_t good = 0;
    command_build(&command, &b->site, WAY_BWRAP, &programs[PROGRAM_TRUE]);
    for (int i = 0; i < TURNS; i++) {
        series_add(&bwraps, bwraps_at_once(b, &command));
        series_add(&jars, jars_at_once(b, w, guests, &each, &good));
    }
    report_series(b->report, "/bin/true, bwrap, same root, all together", &bwraps, &bwraps);
    report_series(b->report, "/bin/true, jars, all together", &jars, &bwraps);
    report_series(b->report, "/bin/true, jar, from sending to its end", &each, NULL);
    report_fact(b->report, "/bin/true, one jar's share of the time",
                series_stats(&jars).p50 / (double)b->plan.at_once, "ms");
    report_must(b->report, "jars at once that failed, /bin/true",
                (double)(TURNS * b->plan.at_once - good), 0, "jars");
    series_done(&each);
    series_done(&jars);
    series_done(&bwraps);
}

/* No jar ends before all have started. */
static void be_there_together(struct jars_bench *b, const struct warden *w, struct guest *guests)
{
    size_t n = b->plan.at_once;
    struct series each = { 0 };
    uint64_t begin = clock_us();
    send_all(w, guests, n, &programs[PROGRAM_CAT]);
    while (count_running(guests, n) + count_over(guests, n) < n)
        guests_step(w, guests, n, -1);
    size_t together = count_running(guests, n);
    double started = since_ms(begin);
    begin = clock_us();
    for (size_t i = 0; i < n; i++)
        fd_close(&guests[i].run.stdin_fd);
    size_t good = see_off(w, guests, n, &each);
    report_fact(b->report, "running at one moment", (double)together, "jars");
    report_fact(b->report, "until all of them were running", started, "ms");
    report_fact(b->report, "until all of them were gone again", since_ms(begin), "ms");
    size_t worst = good < together ? good : together;
    report_must(b->report, "jars at once that failed, all there together", (double)(n - worst), 0,
                "jars");
    series_done(&each);
}

void at_once(struct jars_bench *b)
{
    struct warden w;
    char title[80];
    autofree struct guest *guests = calloc(b->plan.at_once, sizeof *guests);
    if (!guests)
        bench_die("memory", NULL);
    start_warden(LEVEL_AUTO, &w);
    (void)snprintf(title, sizeof title, "%zu jars at once, level %s", b->plan.at_once,
                   level_name(w.isolation.level));
    report_section(b->report, title);
    come_and_go(b, &w, guests);
    be_there_together(b, &w, guests);
    warden_stop(&w);
}
