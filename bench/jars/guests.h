/* bench/jars/guests.h — runs through one warden, one or many at a time, as a keeper does them:
 * pipes, messages, output. The time of a guest begins before anything is made for it, and ends when
 * its end was reported and its pipes are at their end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/bench_program.h"
#include "run/jar_run.h"
#include "spec/limit.h"
#include "warden/warden.h"

struct guest {
    struct jar_run run;
    uint64_t sent_us, started_us, ended_us,
        over_us;       /* clock_us(); 0 while it has not come to that */
    char output[4096]; /* the beginning of its standard output, terminated */
    size_t said_len;
    bool over;
};

/* Bundles the files, makes the pipes and sends it all to the warden. */
void guest_start(struct guest *g, const struct warden *w, uint64_t id,
                 const struct bench_program *p, const struct limits *limits);
void guest_done(struct guest *g);
double guest_ms(const struct guest *g);

/* Waits up to timeout_ms (-1: for ever) for an event of any of them, and records it. */
void guests_step(const struct warden *w, struct guest *guests, size_t n, int timeout_ms);

/* One run to its end, which must be a good one. */
double guest_once(const struct warden *w, uint64_t id, const struct bench_program *p);
