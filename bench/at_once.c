/* Many jars at the same time: two hundred that come and go, and two hundred that are there at one moment. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/auto.h"
#include "base/clock.h"
#include "bench.h"
#include "commands.h"
#include "guests.h"
#include "programs.h"
#include "report.h"

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

static void send_all(const struct warden *w, struct guest *guests, size_t n, const struct program *p)
{
    struct limits limits = limits_default();
    limits.v[LIMIT_WALL_MS] = limits.v[LIMIT_CPU_MS] = 300000;
    for (size_t i = 0; i < n; i++) {
        guest_start(&guests[i], w, 1 + i, p, &limits);
        guests_step(w, guests, i + 1, 0); /* a warden whose messages are not taken hangs up */
    }
}

/* Waits for all ends and says how many were good. */
static size_t see_off(const struct warden *w, struct guest *guests, size_t n, struct series *ret_each)
{
    size_t good = 0;
    while (count_over(guests, n) < n)
        guests_step(w, guests, n, -1);
    for (size_t i = 0; i < n; i++) {
        bool ok = run_verdict(&guests[i].run) == VERDICT_OK;
        good += ok;
        if (!ok)
            (void)fprintf(stderr, "bench: a jar ended with %s: %s\n", verdict_word(run_verdict(&guests[i].run)),
                          guests[i].run.end.err.text);
        series_add(ret_each, guest_ms(&guests[i]));
        guest_done(&guests[i]);
    }
    return good;
}

static double since_ms(uint64_t begin_us)
{
    return (double)(clock_us() - begin_us) / 1000;
}

static void come_and_go(struct bench *b, const struct warden *w, struct guest *guests)
{
    size_t n = b->plan.at_once;
    struct series each = { 0 };
    uint64_t begin = clock_us();
    send_all(w, guests, n, &programs[PROGRAM_TRUE]);
    size_t good = see_off(w, guests, n, &each);
    double ms = since_ms(begin);
    report_series(b->report, "/bin/true, each from sending to its end", &each, NULL);
    report_fact(b->report, "/bin/true, all of them", ms, "ms");
    report_fact(b->report, "/bin/true, all of them, each one's share", ms / (double)n, "ms");
    report_must(b->report, "jars at once that failed, /bin/true", (double)(n - good), 0, "jars");
    series_done(&each);
}

/* Nobody ends before everybody has started. */
static void be_there_together(struct bench *b, const struct warden *w, struct guest *guests)
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
    report_must(b->report, "jars at once that failed, all there together", (double)(2 * n - good - together), 0,
                "jars");
    series_done(&each);
}

/* For comparison: as many bubblewraps. */
static double bwrap_at_once(const struct bench *b)
{
    static struct command command;
    int status;
    command_build(&command, b, WAY_BWRAP, &programs[PROGRAM_TRUE]);
    uint64_t begin = clock_us();
    for (size_t i = 0; i < b->plan.at_once; i++)
        (void)command_start(&command);
    for (size_t i = 0; i < b->plan.at_once; i++)
        if (waitpid(-1, &status, 0) < 0 || status != 0)
            die("one of many bubblewraps failed", NULL);
    return since_ms(begin);
}

void at_once(struct bench *b)
{
    struct warden w;
    char title[80];
    autofree struct guest *guests = calloc(b->plan.at_once, sizeof *guests);
    if (!guests)
        die("memory", NULL);
    double bwrap_ms = bwrap_at_once(b);
    start_warden(LEVEL_AUTO, &w);
    (void)snprintf(title, sizeof title, "%zu jars at once, level %s", b->plan.at_once, level_name(w.isolation.level));
    report_section(b->report, title);
    come_and_go(b, &w, guests);
    report_fact(b->report, "/bin/true, all of them, in as many bwraps", bwrap_ms, "ms");
    be_there_together(b, &w, guests);
    warden_stop(&w);
}
