/* run/profile.h — the time and memory of a run by function and line. Runs in: keeper; pure.
 *
 * There are two sources. The warden samples the counters of the kernel. If the language has a
 * profiler, the profiler leaves a report in the jar. The guest could have written that report, so
 * no field of it is passed on as it came: each is checked, cut and written anew, and a malformed
 * field is left out. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "spec/isolation.h"
#include "spec/samples.h"

enum {
    PROFILE_ROWS_MAX = 50,
    PROFILE_STACKS_MAX = 200,
    PROFILE_TEXT_MAX = 300,
    PROFILE_STACK_MAX = 4000
};

/* {sampled_ms, samples, functions, lines, stacks, timeline, note}. reported: from a report, or
 * NULL. samples NULL: there are none. The functions and lines of the program itself come first, and
 * the hottest of each group first. A new reference; NULL if memory ran out. */
json_t *profile_make(const json_t *reported, const struct samples *samples,
                     const struct isolation *isolation);

/* The parts of a report that profile_make() uses, within its bounds; profile_make() makes the same
 * profile of them. A new reference; NULL if the report is malformed. */
json_t *profile_reduce(const json_t *reported);

/* The profile of a run at its end. Takes over `reported`. NULL if it is not wanted, or if the
 * program did not start. */
json_t *profile_take(json_t *reported, bool wanted, const struct samples *samples,
                     const struct isolation *isolation);

/* The hottest line in a file of the program, or -1 if no line takes a fifth of the time. */
int profile_hot_line(const json_t *profile, char *file, size_t size);
