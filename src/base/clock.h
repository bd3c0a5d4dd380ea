/* base/clock.h — time. Runs in: every process.
 * clock_us() and clock_ms() never jump; waits and durations use them. clock_unix_ms() is the time
 * of day; it is stored and shown, and no wait depends on it. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_us(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static inline uint64_t clock_ms(void)
{
    return clock_us() / 1000;
}

/* The CPU time that this thread has used. The clock of the whole process may be a tick behind: with
 * RLIMIT_CPU set, the kernel does not add the time since the last tick to it. */
static inline uint64_t clock_thread_cpu_us(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static inline int64_t clock_unix_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
