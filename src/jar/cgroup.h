/* jar/cgroup.h — cgroups v1 and v2 behind one face: memory, processes and CPU of a whole jar.
 * Runs in: the process that starts a warden (open, close), warden (the rest), and for a moment inside the
 * jar before the program exists (join). Never logs.
 *
 * Invariants
 * C1 Everything of ours is below one directory, belljar-<pid>-<start time>, made in the cgroup we were
 *    started in. v2 does not let a cgroup have both processes and limited children, so there the nearest
 *    ancestor that can be used is taken.
 * C2 Nothing that we did not make is written to or removed, with one exception, which v2 asks for:
 *    controllers are switched on in the parent's cgroup.subtree_control.
 * C3 A limit that the kernel does not take is an error, never a warning. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "spec/limit.h"

/* v1 has a hierarchy for each; v2 has one, kept in slot 0. */
enum cgroup_slot { CGROUP_MEMORY, CGROUP_PIDS, CGROUP_CPU, CGROUP_CPUACCT, CGROUP_SLOTS };

/* What a place can limit; v2 may be given to us in part. */
enum { CGROUP_HAS_MEMORY = 1, CGROUP_HAS_PIDS = 2, CGROUP_HAS_CPU = 4, CGROUP_HAS_ALL = 7 };

struct cgroup_host {
    int version;               /* 1 or 2; 0 when closed */
    unsigned has;              /* CGROUP_HAS_… */
    pid_t stepped_aside;       /* v2: the process that made room for us, to be put back; or 0 */
    int slots;                 /* 4 or 1 */
    char name[64];             /* belljar-<pid>-<start time> */
    int base_fd[CGROUP_SLOTS]; /* the directory ours is in */
    int fd[CGROUP_SLOTS];      /* ours */
};
#define CGROUP_HOST_INIT                                        \
    {                                                           \
        .base_fd = { -1, -1, -1, -1 }, .fd = { -1, -1, -1, -1 } \
    }

/* With everything that can be limited if there is such a place, or else with as much as there is. Makes our directory, after removing those of processes that are no more. On failure nothing is left and
 * e says what is missing. */
[[nodiscard]] int cgroup_host_open(struct cgroup_host *h, struct err *e);
/* Removes our directory with whatever jars a dead warden left in it. Accepts a closed one. */
void cgroup_host_done(struct cgroup_host *h);

/* What is read again and again. */
enum cgroup_stat {
    STAT_CPU,
    STAT_MEMORY_NOW,
    STAT_MEMORY_PEAK,
    STAT_PIDS_NOW,
    STAT_PIDS_PEAK,
    STAT_OOM_KILLS,
    STAT_PIDS_REFUSED,
    CGROUP_STATS
};

struct cgroup {
    const struct cgroup_host *host;
    uint64_t number;
    struct limits limits; /* as they are set */
    int fd[CGROUP_SLOTS];
    int join_fd
        [CGROUP_SLOTS]; /* `tasks`, or cgroup.procs on v2, where a process writes itself in */
    int stat_fd[CGROUP_STATS]; /* files of counters: -1: not read yet, -2: there is none */
    bool hastened;             /* not what it was made to be any more */
    bool yields;               /* cgroup_yield() */
};

/* Makes jar-<number> and sets its limits; spare_pids are processes of ours inside. */
[[nodiscard]] int cgroup_new(const struct cgroup_host *h, uint64_t number,
                             const struct limits *limits, unsigned spare_pids, struct cgroup *ret,
                             struct err *e);

/* Other limits than those it was made with; only what differs is written. Less memory than it holds is an error. */
[[nodiscard]] int cgroup_set_limits(struct cgroup *c, const struct limits *limits,
                                    unsigned spare_pids, struct err *e);

/* True when it reads like a new one, with the limits given: no process, next to no memory, all counters at zero. Only v1
 * lets counters be set back; a v2 one is never as good as new. */
bool cgroup_renew(struct cgroup *c, const struct limits *limits, unsigned spare_pids);

/* While nobody waits for what runs there it has a small share of the CPUs, where they are scarce; then that of any other. */
void cgroup_yield(struct cgroup *c, bool yields);

/* v2: what clone3(CLONE_INTO_CGROUP) takes; -1 on v1. */
int cgroup_clone_fd(const struct cgroup *c);
/* Puts the caller in, but for its CPU: in a new scheduling group it would wait its turn for each step that is still to be
 * done. That comes last, by cgroup_join_cpu(). On v2, a process that was not cloned into the cgroup joins it whole. */
[[nodiscard]] int cgroup_join(const struct cgroup *c, bool cloned_into, struct err *e);
[[nodiscard]] int cgroup_join_cpu(const struct cgroup *c, struct err *e);

struct cgroup_stats {
    uint64_t cpu_us;
    uint64_t memory_peak_bytes;
    uint64_t pids_peak;
    uint64_t oom_kills;
    uint64_t pids_refused; /* forks refused by the limit */
    uint64_t pids_now;
};
/* What cannot be read stays as it was: a sampled peak is kept. */
void cgroup_read(struct cgroup *c, struct cgroup_stats *stats);
void cgroup_read_cpu(struct cgroup *c, struct cgroup_stats *stats);

/* What it holds now; untouched where that cannot be read. */
void cgroup_read_now(struct cgroup *c, uint64_t *memory_bytes, uint64_t *pids);

/* Hastens a kill: a process dies only once it gets to run, so the quota is lifted and the share raised; v2 signals all
 * of them as well. The caller kills too: on v1 nothing here does. */
void cgroup_kill(struct cgroup *c);

/* -1 while the kernel still counts a process in it; try again then. */
int cgroup_remove(struct cgroup *c);
