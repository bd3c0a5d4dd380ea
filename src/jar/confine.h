/* jar/confine.h — rights that a process gives up before guest code runs in it.
 * Runs in: processes on their way into a jar. Every function fails closed. */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "spec/isolation.h"
#include "spec/job.h"
#include "spec/limit.h"

[[nodiscard]] int confine_no_new_privs(struct err *e);

/* If the memory of the host runs out, the kernel kills guests first. Writes to our own /proc entry,
 * which needs its owner: call it before any change of uid. */
[[nodiscard]] int confine_die_first(struct err *e);

/* Every signal at its default, none blocked. */
[[nodiscard]] int confine_default_signals(struct err *e);

/* Limits of a process: the fixed ones, and the ones that a job chooses. An embryo has the fixed
 * ones before it gets its job. extra_procs: processes that already count against the same user. */
enum rlimits {
    RLIMITS_OF_ALL = 1,
    RLIMITS_OF_JOB = 2,
    RLIMITS_OF_RUN = 4, /* not of a session, whose CPU time belongs to its cells */
};
/* The sets that a job has besides RLIMITS_OF_ALL. */
unsigned confine_job_rlimits(const struct job_spec *job);
[[nodiscard]] int confine_rlimits(unsigned which, const struct isolation *iso,
                                  const struct limits *limits, uint64_t extra_procs, struct err *e);

/* The three descriptors become 0, 1 and 2, *keep_fd moves to 3 (CLOEXEC), and all others are
 * closed. With a channel, that is at SESSION_CHANNEL and *keep_fd moves to 4. *keep_fd is an open
 * descriptor at every moment, also on failure. */
[[nodiscard]] int confine_fds(const int stdio[3], int channel_fd, int *keep_fd, struct err *e);
