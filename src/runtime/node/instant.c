#include "runtime/node/instant.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#include "runtime/node/memory.h"

/* The start time in each form in which the interpreter keeps it: the monotonic clock in
 * nanoseconds, the same in milliseconds as a JavaScript number (Node 18), and the wall clock in
 * microseconds. */
union number {
    uint64_t bits;
    double real;
};

enum form { MONO_INTEGER, MONO_REAL, MONO_REAL_MS, WALL_INTEGER, WALL_REAL, FORMS };

enum { COPIES_MAX = 512 };

static struct copy {
    uint64_t *at;
    enum form form;
} copies[COPIES_MAX];
static size_t n_copies;

static atomic_bool moving; /* the clocks run */
static struct timespec mono, wall;

typedef int (*clock_gettime_fn)(clockid_t, struct timespec *);
typedef int (*gettimeofday_fn)(struct timeval *restrict, void *restrict);
static clock_gettime_fn real_clock;
static gettimeofday_fn real_timeofday;

/* Runs before the constructors of all other objects, which read the clock. */
__attribute__((constructor)) static void stand_still(void)
{
    if (real_clock)
        return;
    real_timeofday = (gettimeofday_fn)dlsym(RTLD_NEXT, "gettimeofday");
    clock_gettime_fn found = (clock_gettime_fn)dlsym(RTLD_NEXT, "clock_gettime");
    found(CLOCK_MONOTONIC, &mono);
    found(CLOCK_REALTIME, &wall);
    /* fractional in every form: JavaScript keeps whole numbers in another representation */
    mono.tv_nsec |= 1;
    wall.tv_nsec -= wall.tv_nsec % 1000; /* kept in microseconds */
    real_clock = found;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock_id, struct timespec *tp)
{
    if (!real_clock)
        stand_still();
    if (atomic_load_explicit(&moving, memory_order_relaxed))
        return real_clock(clock_id, tp);
    if (clock_id == CLOCK_MONOTONIC || clock_id == CLOCK_MONOTONIC_COARSE)
        *tp = mono;
    else if (clock_id == CLOCK_REALTIME)
        *tp = wall;
    else
        return real_clock(clock_id, tp);
    return 0;
}

__attribute__((visibility("default"))) int gettimeofday(struct timeval *restrict tv,
                                                        void *restrict tz)
{
    if (!real_clock)
        stand_still();
    if (atomic_load_explicit(&moving, memory_order_relaxed) || tz)
        return real_timeofday(tv, tz);
    *tv = (struct timeval){ wall.tv_sec, wall.tv_nsec / 1000 };
    return 0;
}

static void forms_of(const struct timespec *m, const struct timespec *w, uint64_t forms[FORMS])
{
    uint64_t ns = (uint64_t)m->tv_sec * 1000000000 + (uint64_t)m->tv_nsec;
    uint64_t us = (uint64_t)w->tv_sec * 1000000 + (uint64_t)w->tv_nsec / 1000;
    forms[MONO_INTEGER] = ns;
    forms[MONO_REAL] = (union number){ .real = (double)ns }.bits;
    forms[MONO_REAL_MS] = (union number){ .real = (double)ns / 1e6 }.bits;
    forms[WALL_INTEGER] = us;
    forms[WALL_REAL] = (union number){ .real = (double)us }.bits;
}

static bool find(uint64_t *word, void *context)
{
    const uint64_t *forms = context;
    for (enum form f = 0; f < FORMS; f++) {
        if (*word != forms[f])
            continue;
        if (n_copies == COPIES_MAX)
            return false;
        copies[n_copies++] = (struct copy){ word, f };
    }
    return true;
}

const char *instant_find(void)
{
    uint64_t forms[FORMS];
    forms_of(&mono, &wall, forms);
    bool good = memory_walk(find, forms);
    atomic_store(&moving, true);
    return good ? NULL : "the interpreter's memory cannot be searched";
}

void instant_set(void)
{
    struct timespec m, w;
    uint64_t forms[FORMS];
    real_clock(CLOCK_MONOTONIC, &m);
    real_clock(CLOCK_REALTIME, &w);
    forms_of(&m, &w, forms);
    for (size_t i = 0; i < n_copies; i++)
        *copies[i].at = forms[copies[i].form];
}
