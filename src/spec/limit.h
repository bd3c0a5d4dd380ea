/* spec/limit.h — the one table of limits.
 * Runs in: every process; pure data. A row feeds option
 * parsing, --help, JSON, the settings of the service and the wire's bounds check. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/units.h"

enum limit_id {
    LIMIT_WALL_MS,
    LIMIT_CPU_MS,
    LIMIT_MEMORY,
    LIMIT_PIDS,
    LIMIT_CPU_PERCENT,
    LIMIT_OUTPUT,
    LIMIT_DISK,
    LIMIT_FILES,
    LIMIT_OPEN_FILES,
    LIMIT_MEMORY_SWAP,
    LIMIT_CPU_SHARES,
    LIMIT_COUNT,
    LIMIT_NONE = LIMIT_COUNT, /* where a table has no limit to name */
};

struct limits {
    uint64_t v[LIMIT_COUNT];
};

struct limit_def {
    const char *key;    /* in JSON: limits, limits_hit, unenforced */
    const char *option; /* on the command line, without the dashes */
    const char *metavar;
    enum unit_kind unit;
    uint64_t min, max;
    uint64_t service_max; /* the most that a service gives, unless its settings say otherwise */
    uint64_t def;
    uint64_t compile_def; /* of a compiler */
    const char *help;
    const char *exceeded; /* of a run that met it: "it " + this + " than its limit of 10s" */
    const char *advice;   /* for a program that met it. Both NULL: no run ends for this limit */
};

extern const struct limit_def limit_defs[LIMIT_COUNT];

/* A set of limits: bit 1 << limit_id. */
typedef uint32_t limit_set;
#define LIMIT_BIT(id) ((limit_set)1 << (id))

struct limits limits_default(void);
struct limits compile_limits_default(void);
struct limits limits_most(void); /* of any job at all */

/* If the wall time was given and the CPU time was not, the CPU time is at least the wall time, up to
 * `most`: a program that computes may use the time that it was given. */
void limits_raise_cpu(struct limits *limits, limit_set given, uint64_t most);

/* An error for text that is not a number of this unit, or outside [min, max]; it names the
 * bounds. */
[[nodiscard]] int limit_parse(enum limit_id id, const char *text, struct limits *limits,
                              struct err *e);

/* "took longer than its limit of 10s"; without limits "took longer than its limit". */
const char *limit_exceeded(enum limit_id id, const struct limits *limits, char *out, size_t size);

/* No limit is above the one in `most`; the error names both. */
[[nodiscard]] int limits_within(const struct limits *limits, const struct limits *most,
                                struct err *e);

/* The bounds of the operator: on each run, and on all runs together. 0: unbounded. */
struct run_bounds {
    struct limits most;
    uint64_t memory, pids;
    bool terminals; /* sessions have pseudo-terminals */
};

/* The same bounds for numbers (from the wire, from JSON). */
[[nodiscard]] int limits_check(const struct limits *limits, struct err *e);
