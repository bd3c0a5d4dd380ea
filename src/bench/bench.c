#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "bench/die.h"
#include "bench/host.h"
#include "bench/svg.h"

/* Declared in runtime/: each is started as belljar itself starts it. */
extern const struct language language_bash, language_python, language_node;

#define CODE(text) (text), sizeof(text) - 1
/* No file has the name of a module that a program imports. */
const struct workload workloads[WORKLOADS] = {
    [WORK_PYTHON] = { { "python", &language_python, "hello.py", CODE("print(1)\n"), "1\n" },
                      "Python, print(1)",
                      "python_over_bare" },
    [WORK_DATA] = { { "data", &language_python, "data.py", CODE("import numpy, pandas\nprint(1)\n"),
                      "1\n" },
                    "Python, import numpy, pandas",
                    "data_over_bare" },
    [WORK_NODE] = { { "node", &language_node, "hello.js", CODE("console.log(1)\n"), "1\n" },
                    "Node, console.log(1)",
                    "node_over_bare" },
    [WORK_BASH] = { { "bash", &language_bash, "hello.sh", CODE("echo 1\n"), "1\n" },
                    "bash, echo 1",
                    NULL },
};

static const struct bench_plan full = {
    .rounds = { 200, 30, 100, 200 },
    .rounds_s = 45,
    .slices = 3,
    .slice_s = 1.5,
    .short_slice_s = 1.0,
    .starts = 10,
    .history = { 10000, 100000 },
    .history_rounds = 200,
    .large_ms = 6000,
    .sustained = 20000,
    .sustained_s = 120,
    .bursts = 10,
    .burst_size = 100,
    .compiles = 20,
    .cells = 500,
    .session_starts = 40,
    .kernel_starts = 10,
    .plots = 12,
    .image_starts = 40,
    .image_forks = 10,
    .networks = 5,
    .idle_sessions = 200,
    .busy_cells = 40,
};
static const struct bench_plan quick = {
    .rounds = { 15, 3, 5, 15 },
    .rounds_s = 4,
    .slices = 1,
    .slice_s = 0.6,
    .short_slice_s = 0.5,
    .starts = 5,
    .history = { 10000 },
    .history_rounds = 15,
    .large_ms = 1500,
    .sustained = 1000,
    .sustained_s = 6,
    .bursts = 2,
    .burst_size = 100,
    .compiles = 3,
    .cells = 60,
    .session_starts = 6,
    .kernel_starts = 1,
    .plots = 2,
    .image_starts = 11,
    .image_forks = 11,
    .networks = 1,
    .idle_sessions = 16,
    .busy_cells = 5,
};

static const struct bench_part {
    const char *name;
    void (*run)(struct bench *b);
    const char *help;
} parts[] = {
    { "latency", part_latency, "one run after the other, each contender in its turn" },
    { "throughput", part_throughput, "runs a second by 1, 8 and 64 clients, and their CPU time" },
    { "memory", part_memory, "memory of an idle service and of a waiting embryo" },
    { "startup", part_startup, "from the service's exec to its first answer and first warm run" },
    { "history", part_history, "the time of a run by the length of the history" },
    { "sustained", part_sustained,
      "20,000 Python runs at full speed: latency and memory by fifths" },
    { "burst", part_burst, "100 requests at once on an idle service" },
    { "large", part_large, "the time of a small request beside requests of 15 MiB" },
    { "compile", part_compile, "Go, C++ and Rust: compiled and run, and the same program again" },
    { "sessions", part_sessions, "cells, starts, memory and plots of sessions, and many sessions" },
    { "images", part_images, "runs and sessions that begin in an image, and the pause of a fork" },
    { "network", part_network, "runs, connections and streams with a network list" },
};
enum { PARTS = ARRAY_LEN(parts) };

static const struct bench_part *part_find(const char *name)
{
    for (size_t i = 0; i < PARTS; i++)
        if (strcmp(parts[i].name, name) == 0)
            return &parts[i];
    return NULL;
}

int bench_check_parts(const char *const *names, struct err *e)
{
    for (; *names; names++)
        if (!part_find(*names))
            break;
    if (!*names)
        return 0;
    char known[160] = "";
    for (size_t i = 0, used = 0; i < PARTS && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 parts[i].name);
    return err_set(e, ERR_USAGE, 0, "there is no part '%s': the parts are %s", QUOTED(*names),
                   known);
}

const char *bench_part(size_t i, const char **ret_help)
{
    if (i >= PARTS)
        return NULL;
    *ret_help = parts[i].help;
    return parts[i].name;
}

struct bench_service *bench_service(struct bench *b, enum service_kind kind)
{
    static const char *const names[SERVICE_KINDS] = { "none", "warm", "cold", "network" };
    struct bench_service *s = &b->services[kind];
    if (s->pid == 0) {
        service_start(s, &b->site, names[kind], kind, NULL);
        service_settle(s);
    }
    return s;
}

void bench_stop_services(struct bench *b)
{
    for (size_t i = 0; i < SERVICE_KINDS; i++)
        service_stop(&b->services[i]);
}

void bench_shuffle(size_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n - 1; n > 0 && i > 0; i--) {
        size_t other = (size_t)random() % (i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

/* A program that this machine cannot run at all is left out for every contender. */
static void try_workloads(struct bench *b)
{
    for (size_t i = 0; i < WORKLOADS; i++) {
        char why[200], text[300];
        struct way_command c;
        command_build(&c, &b->site, WAY_BARE, &b->programs[i]);
        b->absent[i] = !command_try(&c, why, sizeof why);
        if (b->absent[i]) {
            (void)snprintf(text, sizeof text, "%s: %s", workloads[i].title, why);
            report_skip(b->report, text);
        }
    }
}

static void add_million(struct bench_plan *p)
{
    size_t n = 0;
    while (p->history[n])
        n++;
    p->history[n] = 1000000;
}

static void write_svg(const struct bench_report *r, const char *path)
{
    struct err e = { 0 };
    if (svg_save(report_charts(r), path, &e))
        bench_die(path, &e);
}

int bench_measure(const struct bench_options *o, const char *dir, const char *belljar)
{
    struct bench b = { .site = { .dir = dir, .belljar = belljar },
                       .plan = o->quick ? quick : full,
                       .report = report_new(o->quick) };
    if (o->million)
        add_million(&b.plan);
    srandom(1); /* the same orders in every run */
    host_use_two_cores();
    host_use_many_files();
    for (size_t i = 0; i < WORKLOADS; i++)
        b.programs[i] = workloads[i].program;
    way_prepare(&b.site, b.programs, WORKLOADS);
    try_workloads(&b);
    for (size_t i = 0; !*o->parts && i < PARTS; i++)
        parts[i].run(&b);
    for (const char *const *name = o->parts; *name; name++)
        part_find(*name)->run(&b);
    bench_stop_services(&b);
    int missed = report_budgets(b.report, budget_table, n_budget_table);
    if (o->json)
        report_save(b.report, o->json);
    if (o->svg)
        write_svg(b.report, o->svg);
    report_free(b.report);
    return missed > 0 ? BENCH_MISSED : 0;
}
