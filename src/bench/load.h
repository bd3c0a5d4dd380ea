/* bench/load.h — clients of a service: keep-alive TCP connections on loopback, one thread for all
 * of them. Runs in: the process that measures. A run whose answer is not 200 with verdict ok and
 * the right output ends the benchmark. */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "bench/bench_program.h"
#include "bench/series.h"

/* Starts as reported by the service. */
struct starts {
    size_t warm, hatched, cold, untold;
};

struct load_client; /* one connection */
struct load_client *load_client_new(unsigned port);
void load_client_free(struct load_client *v);
/* One run, from the first byte of the request to the last byte of the answer. `starts` may be
 * NULL. */
double load_client_run(struct load_client *v, const struct bench_program *p, struct starts *starts);
/* A GET whose answer must be 200 and JSON. */
json_t *load_client_get(struct load_client *v, const char *path);

struct load {
    unsigned port;
    const struct bench_program *program;
    size_t clients;
    size_t at_least, at_most; /* runs; at_most 0: as many as time allows */
    double seconds;           /* 0: no bound; started runs are finished */
};
struct load_result {
    struct series ms; /* in the order of the answers */
    double seconds;
    /* While every client was busy: the base of a rate. */
    size_t busy_runs;
    double busy_s;
    struct starts starts;
};
/* Each client sends its next request after its answer. Appends to the series. */
void load_run(const struct load *l, struct load_result *result);
