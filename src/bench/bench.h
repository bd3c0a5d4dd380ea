/* bench/bench.h — `belljar bench`: the cost of a run, compared with other ways to run the same
 * program, in one run on one machine. Runs in: its own process below the command (bench/guard.h),
 * with the caller's rights.
 *
 * Invariants
 * BENCH-1 Everything that is compared is measured by the same process, on the same cores, in turns,
 *         in a new random order each round.
 * BENCH-2 No sample is dropped, except those of one round that warms the page cache for every
 *         contender.
 * BENCH-3 A contender of ours that fails ends the benchmark. Another contender that does not work
 *         is left out, with the reason.
 * BENCH-4 Services are as installed, with history; service.c and the README list their additional
 *         settings. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "bench/bench_program.h"
#include "bench/bench_report.h"
#include "bench/bench_service.h"

enum workload_id { WORK_PYTHON, WORK_DATA, WORK_NODE, WORK_BASH, WORKLOADS };
struct workload {
    struct bench_program program;
    const char *title;
    const char *over_bare; /* key of the budget; NULL: none */
};

/* How often each part is repeated. */
struct bench_plan {
    size_t rounds[WORKLOADS]; /* of the latency part; fewer if they take longer than: */
    double rounds_s;
    size_t slices;                 /* of the throughput part, each this long: */
    double slice_s, short_slice_s; /* and until there were as many runs as clients */
    size_t starts;
    size_t history[4]; /* rows; 0 ends the list; an empty history is always measured */
    size_t history_rounds;
    uint64_t large_ms; /* for each kind of large request */
    size_t sustained;
    double sustained_s; /* at most, for all */
    size_t bursts, burst_size;
    size_t compiles; /* programs of each language */
    size_t cells, session_starts, kernel_starts, plots;
    size_t image_starts, image_forks;
    size_t networks;                  /* rounds of connections and streams */
    size_t idle_sessions, busy_cells; /* cells of each busy session in a slice */
};

struct bench {
    struct site site;
    struct bench_plan plan;
    struct bench_report *report;
    struct bench_program programs[WORKLOADS];
    bool absent[WORKLOADS];                       /* this machine cannot run it bare */
    struct bench_service services[SERVICE_KINDS]; /* started at their first use */
};
extern const struct workload workloads[WORKLOADS];

struct bench_options {
    bool quick, million;      /* fewer repetitions; also a history of a million rows */
    const char *json, *svg;   /* files to write, or NULL */
    const char *const *parts; /* NULL-terminated; empty: all */
};

/* Measures in this process, below dir, and prints. Returns the exit status: 0 or BENCH_MISSED; a
 * failure ends the process. */
int bench_measure(const struct bench_options *o, const char *dir, const char *belljar);
/* Refuses an unknown name of a part. */
[[nodiscard]] int bench_check_parts(const char *const *names, struct err *e);
/* The name of the i-th part; NULL past the last one. */
const char *bench_part(size_t i, const char **ret_help);

/* The shared service of a kind, running. */
struct bench_service *bench_service(struct bench *b, enum service_kind kind);
void bench_stop_services(struct bench *b);
/* 0..n-1 in a random order. */
void bench_shuffle(size_t *order, size_t n);

/* The parts, one file each. */
void part_latency(struct bench *b);
void part_throughput(struct bench *b);
void part_memory(struct bench *b);
void part_startup(struct bench *b);
void part_history(struct bench *b);
void part_sustained(struct bench *b);
void part_burst(struct bench *b);
void part_large(struct bench *b);
void part_compile(struct bench *b);
void part_sessions(struct bench *b);
void part_images(struct bench *b);
void part_network(struct bench *b);
