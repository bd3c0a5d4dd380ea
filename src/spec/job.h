/* spec/job.h — a job: the program of one jar, with its limits, arguments and environment.
 * Runs in: keeper, which fills it; warden, which checks it; processes inside, which read it. Pure.
 * One struct crosses every boundary: the wire packs it, the jar keeps the one copy of it, and the
 * processes inside get a pointer to that copy. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "spec/limit.h"
#include "spec/plumbing.h"

enum {
    JOB_WRITABLE_ROOT = 1,
    JOB_LISTED = 2,   /* only listed files are executed: no embryo, no writable root */
    JOB_OWN_CODE = 4, /* listed programs may make machine code */
    JOB_SAMPLED = 8,  /* the warden sends samples of its usage before its end */
    /* A session: the program stays and runs cells that arrive on a channel. Its wall time limit is
     * its life, and its CPU time limit holds between two cells. A cell has limits of its own. */
    JOB_SESSION = 16,
    JOB_NO_SOCKETS = 32, /* the program can make no socket */
    JOB_NETWORK = 64,    /* a network message came before it: the jar gets those sockets first */
    JOB_STAYS = 128,     /* a jar whose program has ended rests, and takes another job */
    /* The program answers SIGURG with WHEREABOUTS_FILE. It is asked shortly before a deadline ends it,
     * and the file is sent back if one did. */
    JOB_WHEREABOUTS = 256,
    /* If the program ends with an error of its own, it leaves the values of the variables at that error
     * on its slate, or without a slate in WHEREABOUTS_FILE, and they are sent back as that file. */
    JOB_VALUES = 512,
    JOB_FLAGS_ALL = 1023,
};

/* In /sandbox: the lines that a program was at, or the values of its variables. The guest could have written it instead. */
#define WHEREABOUTS_FILE ".belljar-whereabouts"
enum { WHEREABOUTS_MAX = 64 << 10, SLATE_BYTES = 12 << 10 };

/* The descriptors that come with a job, in this order: four pipes, and the sealed bundle of files.
 * A session has one more, the guest's end of its channel: a socket that keeps the borders of
 * messages (SOCK_SEQPACKET). The program finds it at descriptor SESSION_CHANNEL. */
enum {
    JOB_FD_STDIN,
    JOB_FD_STDOUT,
    JOB_FD_STDERR,
    JOB_FD_BUNDLE,
    JOB_FD_OUTPUTS,
    JOB_FDS,
    JOB_FD_CHANNEL = JOB_FDS,
    SESSION_FDS,
};
enum { SESSION_CHANNEL = 3 };

/* All lists end with NULL. */
struct job_spec {
    uint32_t flags;
    uint32_t kind; /* of the embryo that may run it; 0: a cold start */
    struct limits limits;
    char **argv; /* argv[0] is an absolute path inside the jar, or begins with ./ */
    char **envp;
    char **outputs;           /* names inside /sandbox to send back at the end */
    char **executes, **reads; /* if JOB_LISTED: see spec/listed.h */
    char **mounts;            /* directories of the host: spec/mount.h */
    /* If JOB_NETWORK, in the warden alone: the sockets to make, and the way to the porter. They stay
     * the caller's and are no part of a copy. */
    const struct plumbing *plumbing;
    int plumbing_fd;
};

static inline bool job_is_session(const struct job_spec *job)
{
    return job->flags & JOB_SESSION;
}

/* Copies every string; a list that is NULL becomes an empty one. */
[[nodiscard]] int job_spec_copy(const struct job_spec *job, struct job_spec *ret, struct err *e);
/* Wipes and frees every list except the outputs, once the program has them. Later jars begin as
 * copies of the warden and must not find the secrets of an earlier one. */
void job_spec_wipe(struct job_spec *job);
/* Frees a whole copy, wiped too. */
void job_spec_done(struct job_spec *job);
