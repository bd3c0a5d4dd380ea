/* bench/jars/jars_bench.h — declarations that the parts of the benchmark share.
 * One program, one run: the same process on the same machine measures every number of a report.
 * Contenders take turns, so that other work of the machine slows all of them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench/command.h"
#include "bench/die.h"
#include "spec/isolation.h"
#include "warden/warden.h"

struct bench_report;

/* How often each part is done. */
struct jars_plan {
    size_t rounds;     /* of a contest */
    size_t in_a_row;   /* jars one after the other */
    size_t at_once;    /* jars at the same time */
    size_t teardowns;  /* of the nastiest tree */
    size_t neighbours; /* runs beside each kind of bomb */
};

struct jars_bench {
    struct site site;       /* its dir is ours: bench/run makes it and removes it */
    const char *nasty_tree; /* tests/tools/nasty_tree, in dir */
    struct jars_plan plan;
    struct bench_report *report;
};

/* The parts, in the order of the report. */
void contests(struct jars_bench *b);
void in_a_row(struct jars_bench *b);
void at_once(struct jars_bench *b);
void teardowns(struct jars_bench *b);
void neighbours(struct jars_bench *b);

void start_warden(enum level level, struct warden *ret);
