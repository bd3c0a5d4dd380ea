/* spec/samples.h — the usage of a run over time, measured from outside.
 * Runs in: warden, keeper;
 * pure.
 *
 * SAMPLES-1 At most SAMPLES_MAX are kept. When there is no more room, every second one is dropped
 *    and the interval doubles, so that they always cover the whole run. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { SAMPLES_MAX = 240, SAMPLES_FIRST_US = 10000 };

struct sample {
    uint64_t at_us;  /* since the program started */
    uint64_t cpu_us; /* used so far */
    uint64_t memory_bytes;
    uint32_t pids;
};

struct samples {
    uint32_t n;
    uint64_t interval_us; /* 0: there is none yet */
    struct sample at[SAMPLES_MAX];
};

/* Samples come in order of time. One that comes too soon replaces the last one. */
void samples_add(struct samples *s, const struct sample *x);
/* When the next one is due, on the clock of the samples. */
uint64_t samples_due_us(const struct samples *s);
/* True if they are in order of time and their CPU time never falls. */
bool samples_valid(const struct samples *s);
