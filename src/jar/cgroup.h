/* jar/cgroup.h — cgroups v1 and v2 behind one interface: memory, processes and CPU of a whole jar.
 * Runs in: the process that starts a warden (open, close), warden (the rest), and for a moment
 * inside the jar before the program exists (join). Never logs.
 *
 * Invariants
 * CGROUP-1 All our cgroups are below one directory, belljar-<pid>-<start time>, in the cgroup that
 *    Belljar was started in. v2 does not let a cgroup have both processes and limited children, so
 *    there the directory is in the nearest ancestor that works.
 * CGROUP-2 Belljar writes to and removes only cgroups that it made, with one exception that v2
 *    requires: it switches controllers on in the parent's cgroup.subtree_control.
 * CGROUP-3 A limit that the kernel refuses is an error, never a warning. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "spec/limit.h"

/* v1 has a hierarchy for each; v2 has one, kept in slot 0. */
enum cgroup_slot { CGROUP_MEMORY, CGROUP_PIDS, CGROUP_CPU, CGROUP_CPUACCT, CGROUP_SLOTS };

/* The controllers of a place; on v2 some may be missing. */
enum { CGROUP_HAS_MEMORY = 1, CGROUP_HAS_PIDS = 2, CGROUP_HAS_CPU = 4, CGROUP_HAS_ALL = 7 };

struct cgroup_host {
    int version;               /* 1 or 2; 0 when closed */
    unsigned has;              /* CGROUP_HAS_… */
    pid_t stepped_aside;       /* v2: the process that left the cgroup and is put back; or 0 */
    int slots;                 /* 4 or 1 */
    int hastening;             /* jars that are being killed: cgroup_host_hasten() */
    char name[64];             /* belljar-<pid>-<start time> */
    int base_fd[CGROUP_SLOTS]; /* the parent of our directory */
    int fd[CGROUP_SLOTS];      /* our directory */
};
#define CGROUP_HOST_INIT                                        \
    {                                                           \
        .base_fd = { -1, -1, -1, -1 }, .fd = { -1, -1, -1, -1 } \
    }

/* Prefers a place with all controllers to a nearer one with some. Removes the directories of dead
 * processes, then makes ours. On failure nothing is left, and e names the obstacle. */
[[nodiscard]] int cgroup_host_open(struct cgroup_host *h, struct err *e);
/* Bounds all jars together; 0: no bound. A bound that the kernel refuses is an error; one whose
 * controller is missing is not: `has` tells. */
[[nodiscard]] int cgroup_host_bound(struct cgroup_host *h, uint64_t memory, uint64_t pids,
                                    struct err *e);
/* Removes our directory with the jars that a dead warden left in it. Accepts a closed one. */
void cgroup_host_done(struct cgroup_host *h);

/* Counters that are read again and again; their files stay open. */
enum cgroup_stat {
    STAT_CPU,
    STAT_MEMORY_NOW,
    STAT_MEMORY_PEAK,
    STAT_PIDS_NOW,
    STAT_PIDS_PEAK,
    STAT_OOM_KILLS,
    STAT_PIDS_REFUSED,
    STAT_BUFFERS,
    STAT_KERNEL,
    CGROUP_STATS
};

struct cgroup {
    const struct cgroup_host *host;
    uint64_t number;
    struct limits limits; /* as they are set */
    int fd[CGROUP_SLOTS];
    /* `tasks`, or cgroup.procs on v2: a process joins by writing to it */
    int join_fd[CGROUP_SLOTS];
    int stat_fd[CGROUP_STATS]; /* -1: not open yet, -2: the kernel has no such file */
    bool hastened;             /* by cgroup_kill(): its quota and share are changed */
    bool yields;               /* cgroup_yield() */
    uint64_t shares;           /* as they are set: limits.cpu_shares, fewer while it yields */
};

/* Makes jar-<number> and sets its limits. spare_pids: our own processes inside, beyond the
 * limit. */
[[nodiscard]] int cgroup_new(const struct cgroup_host *h, uint64_t number,
                             const struct limits *limits, unsigned spare_pids, struct cgroup *ret,
                             struct err *e);

/* Writes the limits that differ from the current ones. Less memory than it holds is an error. */
[[nodiscard]] int cgroup_set_limits(struct cgroup *c, const struct limits *limits,
                                    unsigned spare_pids, struct err *e);

/* True when it reads like a new one, with the given limits: no process, almost no memory, all
 * counters zero. Only v1 lets us reset counters: on v2 the answer is always false. */
bool cgroup_renew(struct cgroup *c, const struct limits *limits, unsigned spare_pids);

/* With yields, its share of busy CPUs is small: for work that nobody waits for. */
void cgroup_yield(struct cgroup *c, bool yields);

/* The descriptor for clone3(CLONE_INTO_CGROUP); -1 on v1, which has no such thing. */
int cgroup_clone_fd(const struct cgroup *c);
/* Puts the caller into every group except the CPU group: in a new scheduling group each remaining
 * step would wait for its turn. cgroup_join_cpu() is the last step. On v2, a process that was not
 * cloned into the cgroup joins it whole. */
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
/* A counter that cannot be read keeps its value: a sampled peak stays. */
void cgroup_read(struct cgroup *c, struct cgroup_stats *stats);
void cgroup_read_cpu(struct cgroup *c, struct cgroup_stats *stats);

/* The peak of memory since the last reset. Only v1 lets us reset it: on v2 the answer is false. */
bool cgroup_reset_peak(struct cgroup *c);
uint64_t cgroup_read_peak(struct cgroup *c);

/* If memory runs out, the kernel kills one process and not all of them. */
void cgroup_kill_one(struct cgroup *c);

/* The current values; untouched where they cannot be read. */
void cgroup_read_now(struct cgroup *c, uint64_t *memory_bytes, uint64_t *pids);

/* Bytes in the buffers of sockets, where they are not part of the memory (v1). */
uint64_t cgroup_read_buffers(struct cgroup *c);

/* Bytes of the memory that the kernel has for this cgroup; 0 where they cannot be read. */
uint64_t cgroup_read_kernel(struct cgroup *c);

/* Its processes, at most so many. Returns their number. */
size_t cgroup_list(const struct cgroup *c, pid_t *pids, size_t most);

/* While a jar is being killed, our directory has the largest share of the CPUs: on a busy machine
 * its processes would die late. The jar itself has the largest share among the jars, so the others
 * gain nothing. Each call with `on` needs one without. */
void cgroup_host_hasten(struct cgroup_host *h, bool on);

/* Signals all processes. A process dies only once it gets to run, so this also lifts the quota and
 * raises the share. On v1 a process that is being made meanwhile is missed: the caller kills init
 * before. */
void cgroup_kill(struct cgroup *c);

/* Frees the pages of files that it is charged for. It has no process any more. */
void cgroup_empty(struct cgroup *c);

/* -1 while the kernel still counts a process in it: the caller tries again. */
int cgroup_remove(struct cgroup *c);
/* Closes the descriptors. The cgroup stays. */
void cgroup_close(struct cgroup *c);
