/* jar/jar.h — one confined process tree, from spawn to the facts about its end.
 * Runs in: warden. Never logs, never blocks on anything a guest can delay.
 *
 * Life of a jar; in each state one descriptor tells when to go on, see jar_fd():
 *     BUILDING    init makes namespaces, mounts and files      its report
 *     FORKING    a zygote forks into it an embryo, which      its report
 *                 gives up everything
 *     READY       the embryo waits for its job                 its report (closed when it dies)
 *     STARTING    the program gives up everything and execs    its report (closed by execve)
 *     RUNNING     until it ends or a limit ends it             the program's pidfd
 *     CLEARING    everything inside is being killed            init's pidfd
 *     COLLECTING  outputs are read with the jar's own uid      the collector's pidfd
 *     REMOVING    the kernel still counts a process            time only
 *     GONE        jar_outcome() is final
 *
 * Invariants
 * J1 jar_spawn() that fails leaves no process, mount, cgroup or uid behind.
 * J2 If any layer that host->isolation promises cannot be set up, the program does not start.
 * J3 The outcome rests on wait statuses, cgroup counters, clocks and file system counters alone.
 * J4 When a jar is GONE, no process of it lives and its cgroup is removed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "jar/cgroup.h"
#include "jar/reclaim.h"
#include "jar/skeleton.h"
#include "jar/spares.h"
#include "jar/uids.h"
#include "spec/isolation.h"
#include "spec/job.h"
#include "spec/samples.h"
#include "spec/verdict.h"

/* What the jars of one warden share. */
struct jar_host {
    struct isolation isolation;
    struct cgroup_host *cgroups; /* NULL where there is none */
    struct uids uids;
    uid_t zygote_uid; /* whose namespaces jars are, so that a zygote may enter them */
    int own_pid_ns_fd, own_net_fd;
    struct spares spares; /* parts of jars that are gone, for jars to come */
    int proc_fd;
    bool may_renice; /* we can undo a nice value */
    uint64_t next_number;
    struct reclaimer reclaimer;
    char temp_dir[200];         /* level process: where private directories go */
    struct skeleton_binds dirs; /* level process: what other jars have bound into their roots */
    char guest_dir[4200]; /* level process: what other jars see as GUEST_ROOT; "": there is none */
};

/* Level process: private directories are named after the warden's starter, so that it can remove what a warden that was
 * killed has left. */
#define JAR_HOME_PREFIX "belljar-%d-"
void jar_temp_dir(char *out, size_t size);
void jar_remove_homes(void);

/* Runs in the new-born warden. Sets up the level (not LEVEL_AUTO) or says what this machine lacks for it. */
[[nodiscard]] int jar_host_open(struct jar_host *h, enum level level, struct cgroup_host *cgroups,
                                struct err *e);
void jar_host_done(struct jar_host *h);

struct inside;
/* Asks a zygote for an embryo in the jar that is described; job_fd is the embryo's end of the socket its job comes by.
 * Does not wait: what becomes of it is told on in->report_fd. The descriptors stay the caller's. */
struct embryo_source {
    int (*fork_embryo)(struct embryo_source *w, const struct inside *in, int job_fd, struct err *e);
    bool heavy; /* see spec/pool.h */
};

struct jar_outcome {
    struct err err; /* why, when evidence.reason is END_FAILURE */
    struct evidence evidence;
    struct usage usage;
};

struct jar;

/* Checks and copies the job; the descriptors stay the caller's, who may close them at once. The source
 * lives until jar_source_gone() or until jar_awaits_embryo() is false; NULL: a cold start. */
[[nodiscard]] int jar_spawn(struct jar_host *h, struct embryo_source *source,
                            const struct job_spec *job, const int fds[JOB_FDS],
                            struct jar **ret_jar, struct err *e);
/* A jar without a job: READY after a while, and then it waits for jar_assign(). */
[[nodiscard]] int jar_new_idle(struct jar_host *h, struct embryo_source *source,
                               const struct limits *limits, struct jar **ret_jar, struct err *e);
bool jar_is_ready(const struct jar *j);
/* Gives it its job. A failure is the jar's end, not the job's: another jar may take it. */
[[nodiscard]] int jar_assign(struct jar *j, const struct job_spec *job, const int fds[JOB_FDS],
                             struct err *e);
/* Its source is gone: an embryo that was on its way will not come. */
void jar_source_gone(struct jar *j, const struct embryo_source *w);
/* It has been asked for and does not come: whoever has the source is to end it, and then jar_source_gone() the jar. */
bool jar_is_overdue(const struct jar *j);
/* True while an embryo of this source is still to come. */
bool jar_awaits_embryo(const struct jar *j, const struct embryo_source *w);
/* One of its processes that are children of ours, and not reaped. */
bool jar_has_child(const struct jar *j, pid_t pid);
/* While a child of ours may have been born into its pid namespace that we have not been told of: the number of its init,
 * which is in there as well. Else 0. */
pid_t jar_init_awaiting_embryo(const struct jar *j);
/* It was forked from a zygote; false for a cold start, also one that took the place of a failed hatching. */
bool jar_was_forked(const struct jar *j);

/* Kills what is left, waiting for it, and forgets. Accepts NULL. */
void jar_free(struct jar *j);

/* Readable when jar_advance() has something to do; -1 when only time helps. Changes with the state. */
int jar_fd(const struct jar *j);
/* When jar_advance() must be called at the latest, on clock_us(); UINT64_MAX for never. */
uint64_t jar_due_us(const struct jar *j);
void jar_advance(struct jar *j, uint64_t now_us);

void jar_kill(struct jar *j, enum end_reason reason);
bool jar_has_started(const struct jar *j);
bool jar_is_gone(const struct jar *j);
const struct jar_outcome *jar_outcome(const struct jar *j);
/* What it used, moment by moment; NULL when that was not asked for. The caller's to free(). */
struct samples *jar_take_samples(struct jar *j);
