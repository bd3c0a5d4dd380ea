/* spec/limit.h — the one table of limits. Runs in: every process; pure data.
 * A row feeds option parsing, --help, JSON and the wire's bounds check. */
#pragma once

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
    LIMIT_COUNT,
};

struct limits {
    uint64_t v[LIMIT_COUNT];
};

struct limit_def {
    const char *key;    /* in JSON: limits, limits_hit, unenforced */
    const char *option; /* on the command line, without the dashes */
    const char *metavar;
    enum unit_kind unit;
    uint64_t min, max, def;
    const char *help;
};

extern const struct limit_def limit_defs[LIMIT_COUNT];

/* A set of limits: bit 1 << limit_id. */
typedef uint32_t limit_set;
#define LIMIT_BIT(id) ((limit_set)1 << (id))

struct limits limits_default(void);

/* Refuses what is not a number of the right kind or is outside [min, max], naming all three. */
[[nodiscard]] int limit_parse(enum limit_id id, const char *text, struct limits *limits,
                              struct err *e);

/* The same bounds for values that came as numbers (the wire, JSON). */
[[nodiscard]] int limits_check(const struct limits *limits, struct err *e);
