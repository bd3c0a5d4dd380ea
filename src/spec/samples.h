/* spec/samples.h — what a run used, moment by moment, seen from outside. Runs in: warden, keeper; pure.
 *
 * Invariant: at most SAMPLES_MAX are kept. When there is no more room every second one is dropped and the rest come half as
 * often, so that they always cover the whole run. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { SAMPLES_MAX = 240, SAMPLES_FIRST_US = 10000 };

struct sample {
    uint64_t at_us;  /* since the program began */
    uint64_t cpu_us; /* used until then */
    uint64_t memory_bytes;
    uint32_t pids;
};

struct samples {
    uint32_t n;
    uint64_t interval_us; /* 0: none has been taken */
    struct sample at[SAMPLES_MAX];
};

/* In order of time. One that comes too soon after the last takes its place. */
void samples_add(struct samples *s, const struct sample *x);
/* When the next one is due, in the time of its samples. */
uint64_t samples_due_us(const struct samples *s);
/* In order of time, each having used no less than the one before. */
bool samples_valid(const struct samples *s);
