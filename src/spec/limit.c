#include "spec/limit.h"

#include <stdio.h>

#include "base/text.h"

#define KIB    (1ULL << 10)
#define MIB    (1ULL << 20)
#define GIB    (1ULL << 30)
#define DAY_MS (24ULL * 3600 * 1000)

/* key, option, metavar, unit, min, max, max of a service, default, default of a compiler, help,
 * exceeded, advice */
const struct limit_def limit_defs[LIMIT_COUNT] = {
    [LIMIT_WALL_MS] = { "wall_ms", "timeout", "DUR", UNIT_MS, 1, DAY_MS, 300000, 10000, 30000,
                        "real time that the program may take", "took longer",
                        "If it needs longer, give it more time" },
    [LIMIT_CPU_MS] = { "cpu_ms", "cpu-time", "DUR", UNIT_MS, 1, DAY_MS, 300000, 10000, 30000,
                       "CPU time of all its processes together", "used more CPU time",
                       "If it needs more CPU time, give it more" },
    [LIMIT_MEMORY] = { "memory", "memory", "SIZE", UNIT_BYTES, 8 * MIB, 1024 * GIB, 2 * GIB,
                       256 * MIB, GIB, "memory of all its processes and files",
                       "needed more memory",
                       "Hold less at once (read in pieces, free data after use), or give it more "
                       "memory" },
    /* A toolchain starts as many threads as the machine has CPUs. */
    [LIMIT_PIDS] = { "pids", "pids", "N", UNIT_COUNT, 1, 4096, 512, 64, 256,
                     "processes and threads at one time", "started more processes and threads",
                     "Start fewer at a time (a pool of workers), or allow more" },
    [LIMIT_CPU_PERCENT] = { "cpu_percent", "cpu-percent", "N", UNIT_COUNT, 1, 6400, 400, 100, 200,
                            "share of the CPUs; 100 is one whole CPU", NULL, NULL },
    [LIMIT_OUTPUT] = { "output", "output", "SIZE", UNIT_BYTES, 1, GIB, 64 * MIB, 16 * MIB, MIB,
                       "bytes of stdout, and as many of stderr", "printed more",
                       "Print less (a loop may not end), write large results to a file, or allow "
                       "more output" },
    [LIMIT_DISK] = { "disk", "disk", "SIZE", UNIT_BYTES, 64 * KIB, 1024 * GIB, GIB, 64 * MIB,
                     256 * MIB, "bytes in /sandbox, /tmp and /dev/shm together",
                     "wrote more to files",
                     "Write less, remove files that are not needed any more, or allow more" },
    [LIMIT_FILES] = { "files", "files", "N", UNIT_COUNT, 16, 10000000, 100000, 10000, 10000,
                      "files and directories there", "made more files",
                      "Make fewer files, remove files that are not needed any more, or allow "
                      "more" },
    [LIMIT_OPEN_FILES] = { "open_files", "open-files", "N", UNIT_COUNT, 8, 65536, 4096, 1024, 1024,
                           "files that a process may hold open", NULL, NULL },
    /* 0 is a value: no swap. A service gives none unless its operator says so, because memory of a run
     * on a disk is slow for all others too. */
    [LIMIT_MEMORY_SWAP] = { "memory_swap", "memory-swap", "SIZE", UNIT_BYTES, 0, 1024 * GIB, 0, 0,
                            0, "swap space that it may use beyond its memory; 0: none", NULL,
                            NULL },
    /* The bounds of the kernel. A run may step back behind the others, not in front of them. */
    [LIMIT_CPU_SHARES] = { "cpu_shares", "cpu-shares", "N", UNIT_COUNT, 2, 262144, 1024, 1024, 1024,
                           "its weight against other programs while all CPUs are busy", NULL,
                           NULL },
};

struct limits limits_default(void)
{
    struct limits l;
    for (int i = 0; i < LIMIT_COUNT; i++)
        l.v[i] = limit_defs[i].def;
    return l;
}

struct limits compile_limits_default(void)
{
    struct limits l;
    for (int i = 0; i < LIMIT_COUNT; i++)
        l.v[i] = limit_defs[i].compile_def;
    return l;
}

void limits_raise_cpu(struct limits *limits, limit_set given, uint64_t most)
{
    uint64_t wall = limits->v[LIMIT_WALL_MS], *cpu = &limits->v[LIMIT_CPU_MS];
    uint64_t wanted = wall < most ? wall : most;
    if ((given & LIMIT_BIT(LIMIT_WALL_MS)) && !(given & LIMIT_BIT(LIMIT_CPU_MS)) && *cpu < wanted)
        *cpu = wanted;
}

struct limits limits_most(void)
{
    struct limits l;
    for (int i = 0; i < LIMIT_COUNT; i++)
        l.v[i] = limit_defs[i].max;
    return l;
}

const char *limit_exceeded(enum limit_id id, const struct limits *limits, char *out, size_t size)
{
    const struct limit_def *d = &limit_defs[id];
    char value[32];
    (void)snprintf(out, size, "%s than its limit%s%s", d->exceeded, limits ? " of " : "",
                   limits ? unit_format(d->unit, limits->v[id], value, sizeof value) : "");
    return out;
}

static int out_of_bounds(const struct limit_def *d, const char *name, const char *shown,
                         struct err *e)
{
    char min[32], max[32];
    return err_set(e, ERR_BAD_REQUEST, 0, "%s '%s' is out of bounds: from %s to %s is accepted",
                   name, shown, unit_format(d->unit, d->min, min, sizeof min),
                   unit_format(d->unit, d->max, max, sizeof max));
}

int limit_parse(enum limit_id id, const char *text, struct limits *limits, struct err *e)
{
    const struct limit_def *d = &limit_defs[id];
    char quoted[96], name[32];
    uint64_t value;
    (void)snprintf(name, sizeof name, "--%s", d->option);
    if (unit_parse(d->unit, text, &value))
        return err_set(e, ERR_BAD_REQUEST, 0, "%s '%s' is not %s", name,
                       text_quote(text, quoted, sizeof quoted), unit_accepted(d->unit));
    if (value < d->min || value > d->max)
        return out_of_bounds(d, name, text_quote(text, quoted, sizeof quoted), e);
    limits->v[id] = value;
    return 0;
}

int limits_check(const struct limits *limits, struct err *e)
{
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const struct limit_def *d = &limit_defs[i];
        char shown[32];
        if (limits->v[i] < d->min || limits->v[i] > d->max)
            return out_of_bounds(d, d->key, unit_format(d->unit, limits->v[i], shown, sizeof shown),
                                 e);
    }
    return 0;
}

int limits_within(const struct limits *limits, const struct limits *most, struct err *e)
{
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const struct limit_def *d = &limit_defs[i];
        char shown[32], max[32];
        if (limits->v[i] > most->v[i])
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "%s '%s' is above the maximum of this service: up to %s is accepted",
                           d->key, unit_format(d->unit, limits->v[i], shown, sizeof shown),
                           unit_format(d->unit, most->v[i], max, sizeof max));
    }
    return 0;
}
