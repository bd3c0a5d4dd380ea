/* jar/jar_impl.h — the members of struct jar. Only nine files include this: spawn.c starts a jar,
 * plumber.c makes its network, evidence.c measures it, whereabouts.c asks where it is, cell.c has the cells of a session, clerk.c
 * reaches its files while it runs, sweep.c readies it for another job, collect.c reads its outputs,
 * jar.c has the table of states. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "jar/jar.h"

enum jar_state {
    BUILDING,
    FORKING,
    READY,
    PLUMBING,
    STARTING,
    RUNNING,
    SWEEPING,
    RESTING,
    CLEARING,
    COLLECTING,
    REMOVING,
    GONE
};

/* The cell that runs, or with number 0 the time between two cells. */
struct cell {
    struct cell_limits limits;
    enum cell_interrupt interrupted;
    uint64_t started_us;
    uint64_t remind_us;             /* of the next SIGURG; UINT64_MAX: it was not interrupted */
    uint64_t kill_us;               /* the jar ends; UINT64_MAX: it was not interrupted */
    uint64_t cpu_from_us, oom_from; /* counters at its begin */
    uint64_t peak_from_bytes;       /* the same, if the kernel cannot reset the peak */
    bool peak_was_reset;
};

enum { CLERKS_MAX = 8 };
struct clerk {
    pid_t pid; /* 0: none */
    int pidfd;
    uint64_t due_us; /* it is killed */
};

/* The network that a job asks for, until it is made. */
struct jar_network {
    struct plumbing plumbing;
    int fd; /* to the porter */
};

struct jar {
    struct jar_host *host;
    enum jar_state state;
    uint64_t due_us;
    struct job_spec job;  /* wiped once the program has it; without a job only limits are set */
    int fds[SESSION_FDS]; /* of the job; -1 once the program has them */
    struct embryo_source *source; /* NULL for a cold start */
    bool idle;                    /* an embryo without a job */
    bool overdue;                 /* it was requested FORK_US ago */
    bool unpacked;                /* init unpacks its files, not the embryo */

    bool has_cgroup, has_uid;
    bool hastens;     /* cgroup_host_hasten() */
    int remove_tries; /* of the cgroup */
    struct cgroup cgroup;
    uint32_t uid;
    char home[256]; /* level process: the private directory on the host; empty otherwise */
    int scratch_fd; /* the tmpfs, or the private directory */
    int slate_fd;   /* see slate.c; -1: none, or it was sent */
    bool has_slate; /* its program tells values there, and not in a file */

    bool new_net; /* its network namespace was made for it */
    int net_fd;   /* to keep it as a spare; -1: not kept */
    int job_fd;   /* the socket for the job of an embryo; -1: sent, or a cold start */
    pid_t init;
    int init_pidfd; /* -1 at level process */
    pid_t program;  /* no other process has this pid until it is reaped */
    int program_pidfd;
    bool program_reaped;
    pid_t collector;
    int collector_pidfd;
    pid_t sweeper;
    int sweeper_pidfd;
    struct clerk clerks[CLERKS_MAX];
    struct jar_network *network; /* NULL: none, or it is made */
    pid_t plumber;               /* 0: none */
    int plumber_pidfd, plumber_error_fd;
    uint64_t plumber_due_us; /* of a session that runs: it is killed */
    int end_fd;   /* the way to the porter, to tell the end of a run with a network; -1: none */
    bool plumbed; /* its network namespace has routes and sockets: nobody uses it again */

    int report_fd; /* from init while BUILDING, then from the program */
    bool report_closed;
    bool reported_ready, reported_going;
    struct err failure;                 /* that it reported */
    uint64_t going_at_us, start_cpu_us; /* that it reported: see struct report */

    bool started;                     /* execve succeeded */
    uint64_t handed_over_us;          /* the job was sent to the embryo or to the new process */
    uint64_t started_us, deadline_us; /* guest code runs from started_us on */
    uint64_t lead_us;                 /* it is killed so long before its deadline */
    uint64_t needed_us;               /* at the last look, to free its tables and objects */
    uint64_t cpu_before_us;           /* used in the jar before that */
    struct cgroup_stats stats;
    struct cgroup_stats from; /* counters at the begin of a next job; zero before that */
    unsigned jobs_before;     /* jobs that ended in this jar */
    bool collects_for_rest;   /* after COLLECTING it rests */
    struct watch watch;
    struct cell cell;             /* of a session */
    struct cell_usage cell_usage; /* of a cell that has ended; number 0: none */
    bool alone;                   /* no keeper could say that its cell has ended */
    bool busy;                    /* it used CPU time between the last two looks */
    uint64_t asked_us;            /* for its whereabouts; 0: never */
    uint64_t look_us;             /* the next look at all counters; a peek may be due before */
    uint64_t foresee_us;          /* the next look at lead_us */
    struct samples *samples;      /* NULL: none are taken */
    struct jar_outcome outcome;
};

/* Level process has no namespaces: the files are on the host, and a process group is the whole
 * jar. */
static inline bool jar_on_host(const struct jar *j)
{
    return j->host->isolation.level == LEVEL_PROCESS;
}

/* spawn.c. After a failure jar_free() cleans up. job and fds are NULL for an idle jar. */
[[nodiscard]] int jar_build(struct jar *j, const struct job_spec *job, const int *fds,
                            struct err *e);
bool jar_is_pipe(int fd, int access_mode);
bool jar_is_channel(int fd);
[[nodiscard]] int jar_start_program(struct jar *j, struct err *e);
[[nodiscard]] int jar_request_embryo(struct jar *j, struct err *e);
[[nodiscard]] int jar_accept_job(struct jar *j, const struct job_spec *job,
                                 const int fds[SESSION_FDS], struct err *e);
[[nodiscard]] int jar_send_job(struct jar *j, struct err *e);
[[nodiscard]] int jar_adopt_embryo(struct jar *j, pid_t pid, struct err *e);
void jar_release_job(struct jar *j);
/* Checks and takes the next job of a jar that rests, and starts its program. */
[[nodiscard]] int jar_accept_next(struct jar *j, const struct job_spec *job,
                                  const int fds[SESSION_FDS], struct err *e);

/* sweep.c */
/* Whether the job has ended so that the jar can rest. */
bool jar_may_rest(const struct jar *j);
/* Starts the sweeper: it kills all processes of the jar but init. */
[[nodiscard]] int jar_start_sweeper(struct jar *j, struct err *e);
/* Waits for a sweeper that has ended or was killed. False: processes may be left. */
bool jar_end_sweeper(struct jar *j);
/* Everything that belongs to the last job is as in a jar without a job. */
void jar_forget_last(struct jar *j);

/* plumber.c */
/* Copies the network of the job, if it has one. */
[[nodiscard]] int jar_take_network(struct jar *j, const struct job_spec *job, struct err *e);
void jar_forget_network(struct jar *j);
/* Everything is built: makes the network, or gives the job to the embryo or to a new program. */
[[nodiscard]] int jar_hand_over(struct jar *j, struct err *e);
/* The embryo has its job, and waits with guest code: makes the network if nobody has, and lets it go on. */
[[nodiscard]] int jar_release_embryo(struct jar *j, struct err *e);
void jar_kill_plumber(const struct jar *j);
/* The porter ends its part of the log while we clear the jar. */
void jar_tell_end(struct jar *j);
uint64_t jar_plumber_due_us(const struct jar *j);
/* Waits for a plumber that has ended or was killed. -1: it failed. */
[[nodiscard]] int jar_reap_plumber(struct jar *j, struct err *e);

/* evidence.c */
void jar_read_counters(struct jar *j);
void jar_take_sample(struct jar *j, uint64_t now_us);
void jar_on_tick(struct jar *j, uint64_t now_us);
void jar_reap_program(struct jar *j, uint64_t now_us);
void jar_plan_look(struct jar *j, uint64_t now_us);
void jar_fail(struct jar *j, const struct err *why);
uint64_t jar_kill_us(const struct jar *j); /* the time at which its deadline ends it */

/* slate.c: for an embryo that is requested, if its kind has slates. */
[[nodiscard]] int jar_make_slate(struct jar *j, struct err *e);
/* Whether the program ended by itself, with the status of an error. */
bool jar_failed_by_itself(const struct jar *j);
/* Sends the slate before the outputs, if the program told anything. */
void jar_send_slate(struct jar *j);

/* whereabouts.c */
/* The next time to ask the program; UINT64_MAX: never. */
uint64_t jar_whereabouts_due_us(const struct jar *j);
/* Asks it, if its CPU time is about to be used up. */
void jar_check_whereabouts(struct jar *j, uint64_t cpu_left_us, uint64_t now_us);
void jar_ask_whereabouts(struct jar *j, uint64_t now_us);
/* Whether a deadline ended it after it was asked. */
bool jar_has_whereabouts(const struct jar *j);

/* cell.c */
void jar_finish_cell(struct jar *j);
void jar_check_cell(struct jar *j, uint64_t now_us);
uint64_t jar_cell_due_us(const struct jar *j, uint64_t now_us);

/* clerk.c */
void jar_check_clerks(struct jar *j, uint64_t now_us); /* reaps them, and kills late ones */
uint64_t jar_clerks_due_us(const struct jar *j);
void jar_end_clerks(struct jar *j); /* kills them, and waits for them */
bool jar_has_clerk(const struct jar *j, pid_t pid);

/* collect.c */
/* Confines a process that works beside the guest, so that it has no more rights than the guest: these
 * descriptors and *keep_fd, which changes its number, the jar's uid, no capability, and the filter of
 * a guest without sockets. */
[[nodiscard]] int jar_confine_beside(const struct jar *j, const int stdio[3], int *keep_fd,
                                     struct err *e);
bool jar_start_collector(struct jar *j); /* false: there is nothing to collect */
void jar_end_collector(struct jar *j);
