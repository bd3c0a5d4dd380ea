/* jar/confine.h — what a process gives up about itself before guest code runs in it.
 * Runs in: processes that are about to be inside. Every function fails closed. */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "spec/isolation.h"
#include "spec/limit.h"

[[nodiscard]] int confine_no_new_privs(struct err *e);

/* When the host's own memory runs out, guests are to go first, whatever our caller was. Needs our own /proc, and to be
 * its owner: before any change of uid. */
[[nodiscard]] int confine_die_first(struct err *e);

/* Every signal at its default, none blocked. */
[[nodiscard]] int confine_default_signals(struct err *e);

/* Limits of a process: those that are the same for all, and those that a job chooses. An embryo has the first before it
 * knows its job. extra_procs: processes that already count against the same user. */
enum rlimits { RLIMITS_OF_ALL = 1, RLIMITS_OF_JOB = 2 };
[[nodiscard]] int confine_rlimits(unsigned which, const struct isolation *iso,
                                  const struct limits *limits, uint64_t extra_procs, struct err *e);

/* 0, 1, 2 become the three descriptors given; *keep_fd moves to 3 (CLOEXEC); all others are closed. *keep_fd names an
 * open descriptor at every moment, also on failure. */
[[nodiscard]] int confine_fds(const int stdio[3], int *keep_fd, struct err *e);
