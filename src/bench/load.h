/* bench/load.h — clients of a service: keep-alive connections over TCP on loopback, one thread for all of them.
 * Runs in: the process that measures. A run that is not answered with 200, verdict ok and the right output ends the
 * benchmark. */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "bench/program.h"
#include "bench/series.h"

/* How the service says it started them. */
struct starts {
    size_t warm, hatched, cold, untold;
};

struct visitor; /* one connection */
struct visitor *visitor_new(unsigned port);
void visitor_free(struct visitor *v);
/* One run, from the request's first byte to the answer's last. `starts` may be NULL. */
double visitor_run(struct visitor *v, const struct program *p, struct starts *starts);
/* A GET that must be answered with 200 and JSON. */
json_t *visitor_get(struct visitor *v, const char *path);

struct load {
    unsigned port;
    const struct program *program;
    size_t clients;
    size_t at_least, at_most; /* runs; at_most 0: as many as there is time for */
    double seconds;           /* 0: as long as it takes; those that have begun are finished */
};
struct load_result {
    struct series ms; /* in the order they were answered */
    double seconds;
    /* While every client was busy: what a rate is made of. */
    size_t busy_runs;
    double busy_s;
    struct starts starts;
};
/* Each client sends its next request when it has its answer. The series is added to. */
void load_run(const struct load *l, struct load_result *result);
