/* bench/bench.h — `belljar bench`: what a run costs beside what others take for it, in one run on one machine.
 * Runs in: a process of its own below the command (bench/guard.h), with the caller's rights.
 *
 * Invariants
 * B1 Whatever is compared is measured by the same process, on the same cores, in turns, in an order drawn anew each round.
 * B2 No sample is thrown away but those of one round that warms the page cache, for everybody.
 * B3 A contender of ours that fails ends the benchmark. Another's that does not work is left out, and why is said.
 * B4 Services are as installed, with history; what they are told beyond that is in service.c and in the README. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "bench/program.h"
#include "bench/report.h"
#include "bench/service.h"

enum workload_id { WORK_PYTHON, WORK_DATA, WORK_NODE, WORK_BASH, WORKLOADS };
struct workload {
    struct program program;
    const char *title;
    const char *over_bare; /* the budget's key; NULL: none */
};

/* How often each part is done. */
struct plan {
    size_t rounds[WORKLOADS]; /* of the latency part; fewer when they take longer than: */
    double rounds_s;
    size_t slices;                 /* of the throughput part, each so long: */
    double slice_s, short_slice_s; /* and until there were as many runs as clients */
    size_t starts;
    size_t history[4]; /* rows; 0 ends it, the empty one is always there */
    size_t history_rounds;
    size_t sustained;
    double sustained_s; /* at most, for all */
    size_t bursts, burst_size;
    size_t compiles; /* programs of each language */
};

struct bench {
    struct site site;
    struct plan plan;
    struct report *report;
    struct program programs[WORKLOADS];
    bool absent[WORKLOADS];                 /* this machine cannot run it bare */
    struct service services[SERVICE_KINDS]; /* started when first asked for */
};
extern const struct workload workloads[WORKLOADS];

struct bench_options {
    bool quick, million;      /* fewer repetitions; a history of a million as well */
    const char *json, *svg;   /* files to write, or NULL */
    const char *const *parts; /* NULL-terminated; empty: all */
};

/* Measures in this process, below dir, and prints. The exit status: 0, BENCH_MISSED; a failure ends the process. */
int bench_measure(const struct bench_options *o, const char *dir, const char *belljar);
/* Refuses a name that is no part's. */
[[nodiscard]] int bench_check_parts(const char *const *names, struct err *e);
/* The name of the i-th part; NULL past the last one. */
const char *bench_part(size_t i, const char **ret_help);

/* The shared service of a kind, running. */
struct service *bench_service(struct bench *b, enum service_kind kind);
void bench_stop_services(struct bench *b);
/* 0..n-1 in an order drawn anew. */
void bench_shuffle(size_t *order, size_t n);

/* The parts, one file each. */
void part_latency(struct bench *b);
void part_throughput(struct bench *b);
void part_memory(struct bench *b);
void part_startup(struct bench *b);
void part_history(struct bench *b);
void part_sustained(struct bench *b);
void part_burst(struct bench *b);
void part_compile(struct bench *b);
