/* run/profile.h — where a run spent its time and memory. Runs in: keeper; pure.
 *
 * Two sources: samples the warden took from outside, which are the kernel's word, and, for languages that have a profiler, what
 * that left in its report, which is the guest's word. Of the latter nothing is passed on as it came: each field is checked,
 * cut and written anew, and what is not as it should be is left out. */
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

/* {sampled_ms, samples, functions, lines, stacks, timeline, note}. reported: of a report, or NULL; samples NULL: none came.
 * The program's own functions and lines come first, each part hottest first. A new reference, NULL when memory ran out. */
json_t *profile_make(const json_t *reported, const struct samples *samples,
                     const struct isolation *isolation);

/* Of a run at its end: takes `reported` over. NULL when none is wanted, or the program did not start. */
json_t *profile_take(json_t *reported, bool wanted, const struct samples *samples,
                     const struct isolation *isolation);

/* The hottest line of the program's own files, or -1 when none stands out (a fifth of the time). */
int profile_hot_line(const json_t *profile, char *file, size_t size);
