/* bench/load.h — clients of a service: keep-alive TCP connections on loopback, one thread for all
 * of them. Runs in: the process that measures. A run whose answer is not 200 with verdict ok and
 * the right output ends the benchmark. */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

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
/* One request; `json` NULL: without a body. The answer must be 2xx and JSON. The time ends before
 * it is parsed. */
double load_client_ask(struct load_client *v, const char *method, const char *path,
                       const char *json, json_t **ret);
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

/* Clients that each send the same POST to a path of their own, at even distances. */
enum { LOAD_PACED_MAX = 64 };
struct load_paced {
    unsigned port;
    size_t clients, each; /* requests of each */
    const char *const *paths;
    const char *json, *says; /* a required part of each answer */
    uint64_t every_us;       /* between two requests of a client; 0: the next follows the answer */
};
void load_paced(const struct load_paced *l, struct series *ms);
