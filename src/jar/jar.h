/* jar/jar.h — one confined process tree, from spawn to the facts about its end.
 * Runs in: warden. Never logs, never blocks on anything a guest can delay.
 *
 * Life of a jar. In each state one descriptor becomes readable when the jar can go on, see
 *     jar_fd(): BUILDING    init makes namespaces, mounts and files      its report
 *     FORKING     a zygote forks an embryo into the jar;       its report
 *                 the embryo gives up everything
 *     READY       the embryo waits for its job                 its report (closed when it dies)
 *     PLUMBING    with JOB_NETWORK: routes and sockets are made the plumber's pidfd
 *     STARTING    the program gives up everything and execs    its report (closed by execve)
 *     RUNNING     until it ends or a limit ends it             the program's pidfd
 *     SWEEPING    with JOB_STAYS: all but init are being killed the sweeper's pidfd
 *     RESTING     with JOB_STAYS: it waits for jar_next()      init's pidfd
 *     CLEARING    everything inside is being killed            init's pidfd
 *     COLLECTING  outputs are read with the jar's own uid      the collector's pidfd
 *     REMOVING    the kernel still counts a process            time only
 *     GONE        jar_outcome() is final
 *
 * Invariants
 * JAR-1 A jar_spawn() that fails leaves no process, mount, cgroup or uid behind.
 * JAR-2 If any layer that host->isolation promises cannot be set up, the program does not start.
 * JAR-3 The outcome rests only on wait statuses, cgroup counters, clocks and file system counters.
 * JAR-4 When a jar is GONE, all its processes are dead, and its cgroup is removed, is a spare, or is
 *       the reclaimer's. */
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
#include "jar/watch.h"
#include "spec/cell.h"
#include "spec/isolation.h"
#include "spec/job.h"
#include "spec/live_file.h"
#include "spec/samples.h"
#include "spec/verdict.h"

/* The state that all jars of one warden share. */
struct jar_host {
    struct isolation isolation;
    struct cgroup_host *cgroups; /* NULL: no cgroups */
    struct uids uids;
    uid_t own_uid;
    uid_t zygote_uid; /* the owner of the namespaces of jars, so that a zygote may enter them */
    int own_pid_ns_fd, own_net_fd;
    struct spares spares; /* parts of finished jars that later jars use again */
    int proc_fd;
    struct limits most;       /* of every job */
    char *const *mount_roots; /* spec/mount.h; NULL: none. It lives as long as the warden */
    bool terminals;           /* sessions have pseudo-terminals */
    bool may_renice;          /* we can undo a nice value */
    unsigned cpus;            /* of the machine */
    uint64_t next_number;
    struct reclaimer reclaimer;
    struct watch_host watch;
    /* level process only */
    char temp_dir[200];         /* the parent of the private directories */
    struct skeleton_binds dirs; /* the directories that other levels bind into the root */
    char guest_dir[4200];       /* the directory that other levels show as GUEST_ROOT; "": none */
};

/* Level process: the names of private directories hold the pid of the process that started the
 * warden, so that it can remove the directories of a killed warden. */
#define JAR_HOME_PREFIX "belljar-%d-"
void jar_temp_dir(char *out, size_t size);
void jar_remove_homes(void);

/* Runs in the new warden. Sets up the level (not LEVEL_AUTO); the error names the missing
 * feature. */
[[nodiscard]] int jar_host_open(struct jar_host *h, enum level level, struct cgroup_host *cgroups,
                                char *const *mount_roots, struct err *e);
void jar_host_done(struct jar_host *h);

struct inside;
/* A zygote, as a jar sees it. fork_embryo() asks it to fork an embryo into the jar; job_fd is the
 * embryo's end of the socket for its job. It does not wait: the answer arrives on in->report_fd.
 * The descriptors stay the caller's. */
struct embryo_source {
    int (*fork_embryo)(struct embryo_source *s, const struct inside *in, int job_fd, struct err *e);
    bool heavy, no_sockets, terminals, tells; /* see spec/pool.h */
};

struct jar_outcome {
    struct err err; /* the cause, when evidence.reason is END_FAILURE */
    struct evidence evidence;
    struct usage usage;
};

struct jar;

/* Checks and copies the job. A job that is no session has no channel: that descriptor is not
 * looked at. The descriptors stay the caller's, which may close them at once.
 * The source lives until jar_source_gone(), or until jar_awaits_embryo() is false. NULL: a cold
 * start. */
[[nodiscard]] int jar_spawn(struct jar_host *h, struct embryo_source *source,
                            const struct job_spec *job, const int fds[SESSION_FDS],
                            struct jar **ret_jar, struct err *e);
/* A jar without a job. It becomes READY and then waits for jar_assign(). */
[[nodiscard]] int jar_new_idle(struct jar_host *h, struct embryo_source *source,
                               const struct limits *limits, struct jar **ret_jar, struct err *e);
bool jar_is_ready(const struct jar *j);
/* Gives it its job. A failure ends the jar, not the job: the caller may give the job to another
 * jar. */
[[nodiscard]] int jar_assign(struct jar *j, const struct job_spec *job, const int fds[SESSION_FDS],
                             struct err *e);
/* The source is gone: an embryo that was requested will not come. */
void jar_source_gone(struct jar *j, const struct embryo_source *s);
/* The requested embryo has not come in time: the owner of the source ends the source and then calls
 * jar_source_gone(). */
bool jar_is_overdue(const struct jar *j);
/* True while an embryo of this source has yet to come. */
bool jar_awaits_embryo(const struct jar *j, const struct embryo_source *s);
/* True for a process of this jar that is an unreaped child of the warden. */
bool jar_has_child(const struct jar *j, pid_t pid);
/* While the zygote may have forked an embryo that it has not reported yet: the pid of the jar's
 * init, which is in the same pid namespace. Otherwise 0. */
pid_t jar_init_awaiting_embryo(const struct jar *j);
/* True for a program forked from a zygote; false for a cold start, also after a fork that
 * failed. */
bool jar_was_forked(const struct jar *j);

/* Kills the remaining processes, waits for them, and frees the jar. Accepts NULL. */
void jar_free(struct jar *j);

/* Readable when jar_advance() has something to do; -1 while only time helps. Changes with the
 * state. */
int jar_fd(const struct jar *j);
/* The latest time for the next jar_advance(), on clock_us(); UINT64_MAX for never. */
uint64_t jar_due_us(const struct jar *j);
void jar_advance(struct jar *j, uint64_t now_us);

void jar_kill(struct jar *j, enum end_reason reason);
/* A cell of a session begins. An error is one of the protocol: the job is no session, a cell runs
 * already, or a limit is above its maximum. */
[[nodiscard]] int jar_begin_cell(struct jar *j, const struct cell_limits *limits, struct err *e);
/* The cell is over, if there is one. */
void jar_end_cell(struct jar *j);
/* The usage of a cell that has ended, also with its jar. False: there is none. */
bool jar_take_cell(struct jar *j, struct cell_usage *ret);
/* Without a keeper nobody hears that the cell has ended: it is interrupted at its deadline, and the
 * jar is not ended for it before the next keeper had the grace time. */
void jar_set_alone(struct jar *j, bool alone);
bool jar_is_session(const struct jar *j);
uint64_t jar_cell_number(const struct jar *j); /* 0: none runs */
/* The usage of its job until now, with the memory and the processes of this moment. */
struct jar_now {
    uint64_t memory_bytes, pids; /* 0: not known */
    struct usage usage;
};
void jar_measure(struct jar *j, struct jar_now *ret);
/* The keeper's ends of stdout, stderr and channel: two pipes and one end of a nameless pair. */
enum { JAR_ENDS = 3 };
[[nodiscard]] int jar_check_ends(const int fds[JAR_ENDS], struct err *e);
/* The descriptors of a request about files: a pipe for the answer, and the sealed bytes of a write.
 * A request that writes nothing has the pipe twice. */
enum { FILES_FD_ANSWER, FILES_FD_BODY, FILES_FDS };
/* Starts a clerk for one operation on the files of a session. It ends by itself, or with the jar,
 * or after 10 s, and jar_advance() reaps it: *ret_pidfd is readable then. -1: it was not started,
 * and the pipe ends without an answer. An error is one of the protocol. */
[[nodiscard]] int jar_start_clerk(struct jar *j, enum live_file_operation operation,
                                  const char *path, const int fds[FILES_FDS], int *ret_pidfd,
                                  struct err *e);
/* Makes the routes and sockets of a session that runs. *ret_pidfd is readable once that is done:
 * jar_take_plumbed(). ERR_PROTOCOL: the request is wrong; another error is an answer. */
[[nodiscard]] int jar_plumb(struct jar *j, const struct plumbing *p, int fd, int *ret_pidfd,
                            struct err *e);
/* True once after that, with the error, or without one. */
bool jar_take_plumbed(struct jar *j, uint64_t now_us, struct err *ret_e);
/* Interrupts the cell that runs, if there is one. */
void jar_interrupt(struct jar *j);
/* Its job with JOB_STAYS has ended by itself, nothing but init is left, and jar_outcome() is that of
 * the job. The jar keeps its files, its network and its mounts. It waits for another job, and ends
 * without one after a minute. */
bool jar_rests(const struct jar *j);
/* Gives it another job, which starts cold. The files of the bundle take the places of files that the
 * jar has under their names. A failure ends the jar. */
[[nodiscard]] int jar_next(struct jar *j, const struct job_spec *job, const int fds[SESSION_FDS],
                           struct err *e);
bool jar_has_started(const struct jar *j);
bool jar_is_gone(const struct jar *j);
const struct jar_outcome *jar_outcome(const struct jar *j);
/* Its usage over time; NULL without JOB_SAMPLED. The caller frees it. */
struct samples *jar_take_samples(struct jar *j);
