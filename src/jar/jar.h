/* jar/jar.h — one confined process tree, from spawn to the facts about its end.
 * Runs in: warden. Never logs, never blocks on anything a guest can delay.
 *
 * Life of a jar; in each state one descriptor tells when to go on, see jar_fd():
 *     BUILDING    init makes namespaces, mounts and files      its report
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
#include "jar/uids.h"
#include "jar/undertaker.h"
#include "spec/isolation.h"
#include "spec/verdict.h"

/* What the jars of one warden share. */
struct jar_host {
    struct isolation isolation;
    struct cgroup_host *cgroups; /* NULL where there is none */
    struct uids uids;
    int own_pid_ns_fd;
    int proc_fd;
    uint64_t next_number;
    struct undertaker undertaker;
    char temp_dir[200]; /* level process: where private directories go */
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

struct jar_spec {
    struct limits limits;
    bool writable_root;
    char *const *argv;
    char *const *envp;
    char *const *outputs;
    int stdio[3]; /* pipes */
    int bundle_fd;
    int outputs_fd; /* the write end of a pipe */
};

struct jar_outcome {
    struct err err; /* why, when evidence.reason is END_FAILURE */
    struct evidence evidence;
    struct usage usage;
};

struct jar;

/* Copies what it needs of spec; the descriptors stay the caller's, who may close them at once. */
[[nodiscard]] int jar_spawn(struct jar_host *h, const struct jar_spec *spec, struct jar **ret_jar,
                            struct err *e);
/* Kills what is left, waiting for it, and forgets. Accepts NULL. */
void jar_free(struct jar *j);

/* Readable when jar_advance() has something to do; -1 when only time helps. Changes with the state. */
int jar_fd(const struct jar *j);
/* When jar_advance() must be called at the latest, on clock_us(); UINT64_MAX for never. */
uint64_t jar_due_us(const struct jar *j);
void jar_advance(struct jar *j, uint64_t now_us);

void jar_kill(struct jar *j, enum end_reason reason);
bool jar_started(const struct jar *j);
bool jar_gone(const struct jar *j);
const struct jar_outcome *jar_outcome(const struct jar *j);
