/* bench/bench.h — declarations that the parts of the benchmark share.
 * One program, one run: the same process on the same machine measures every number of a report.
 * Contenders take turns, so that other work of the machine slows all of them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench/command.h"
#include "bench/die.h"
#include "spec/isolation.h"
#include "warden/warden.h"

struct report;

/* How often each part is done. */
struct plan {
    size_t rounds;     /* of a contest */
    size_t in_a_row;   /* jars one after the other */
    size_t at_once;    /* jars at the same time */
    size_t teardowns;  /* of the nastiest tree */
    size_t neighbours; /* runs beside each kind of bomb */
};

struct bench {
    struct site site;       /* its dir is ours: bench/run makes it and removes it */
    const char *nasty_tree; /* tests/tools/nasty_tree, in dir */
    struct plan plan;
    struct report *report;
};

/* The parts, in the order of the report. */
void contests(struct bench *b);
void in_a_row(struct bench *b);
void at_once(struct bench *b);
void teardowns(struct bench *b);
void neighbours(struct bench *b);

void start_warden(enum level level, struct warden *ret);
