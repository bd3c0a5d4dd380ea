/* jar/jar_impl.h — the inside of a struct jar, for the four files that make one live: spawn.c brings it up, evidence.c
 * watches it, collect.c takes its outputs, jar.c holds the states together. Nobody else includes this. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "jar/jar.h"

enum jar_state {
    BUILDING,
    FORKING,
    READY,
    STARTING,
    RUNNING,
    CLEARING,
    COLLECTING,
    REMOVING,
    GONE
};

struct jar {
    struct jar_host *host;
    enum jar_state state;
    uint64_t due_us;
    struct job_spec
        job; /* its strings are wiped once the program has them; of an embryo only limits */
    int fds[JOB_FDS];             /* of the job; -1 once they are handed over */
    struct embryo_source *source; /* NULL for a cold start */
    bool idle;                    /* an embryo without a job */
    bool overdue;                 /* it was asked for long ago */
    bool unpacked;                /* its files are in place before there is a program */

    bool has_cgroup, has_uid;
    int remove_tries; /* of the cgroup */
    struct cgroup cgroup;
    uint32_t uid;
    char home[256]; /* level process: the private directory on the host; empty otherwise */
    int scratch_fd; /* the tmpfs, or the private directory */

    bool new_net; /* its network namespace was made for it */
    int net_fd;   /* the network namespace; -1 where it is not to be kept */
    int job_fd;   /* by which an embryo gets its job; -1: it has it */
    pid_t init;
    int init_pidfd; /* -1 at level process */
    pid_t program;  /* its number is its own while it is not reaped */
    int program_pidfd;
    bool program_reaped;
    pid_t collector;
    int collector_pidfd;

    int report_fd; /* of init while BUILDING, then of the program */
    bool report_closed;
    bool reported_ready, reported_going;
    struct err failure; /* that it reported */

    bool started; /* execve succeeded */
    uint64_t started_us, deadline_us;
    uint64_t cpu_before_us; /* what the embryo had used when its job came */
    struct cgroup_stats stats;
    struct samples *samples; /* NULL: none are taken */
    struct jar_outcome outcome;
};

/* No namespaces: its files lie on the host, and only its process group holds it together. */
static inline bool jar_on_host(const struct jar *j)
{
    return j->host->isolation.level == LEVEL_PROCESS;
}

/* spawn.c. Failure leaves what there is for jar_free(). */
/* job and fds are NULL for an embryo. */
[[nodiscard]] int jar_build(struct jar *j, const struct job_spec *job, const int *fds,
                            struct err *e);
[[nodiscard]] int jar_start_program(struct jar *j, struct err *e);
[[nodiscard]] int jar_request_embryo(struct jar *j, struct err *e);
[[nodiscard]] int jar_accept_job(struct jar *j, const struct job_spec *job, const int fds[JOB_FDS],
                                 struct err *e);
[[nodiscard]] int jar_send_job(struct jar *j, struct err *e);
[[nodiscard]] int jar_adopt_embryo(struct jar *j, pid_t pid, struct err *e);
void jar_release_job(struct jar *j);

/* evidence.c */
void jar_read_counters(struct jar *j);
void jar_take_sample(struct jar *j, uint64_t now_us);
void jar_on_tick(struct jar *j, uint64_t now_us);
void jar_reap_program(struct jar *j, uint64_t now_us);
uint64_t jar_next_check_us(const struct jar *j, uint64_t now_us);
void jar_fail(struct jar *j, const struct err *why);

/* collect.c. jar_start_collector() is false when there is nothing to collect. */
bool jar_start_collector(struct jar *j);
void jar_end_collector(struct jar *j);
