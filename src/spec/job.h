/* spec/job.h — a job: the program of one jar, with its limits, arguments and environment.
 * Runs in: keeper, which fills it; warden, which checks it; processes inside, which read it. Pure.
 * One struct crosses every boundary: the wire packs it, the jar keeps the one copy of it, and the
 * processes inside get a pointer to that copy. */
#pragma once

#include <stdint.h>

#include "spec/limit.h"

enum {
    JOB_WRITABLE_ROOT = 1,
    JOB_LISTED = 2,   /* only listed files are executed: no embryo, no writable root */
    JOB_OWN_CODE = 4, /* listed programs may make machine code */
    JOB_SAMPLED = 8,  /* the warden sends samples of its usage before its end */
    JOB_FLAGS_ALL = 15,
};

/* The descriptors that come with a job, in this order: four pipes, and the sealed bundle of
 * files. */
enum { JOB_FD_STDIN, JOB_FD_STDOUT, JOB_FD_STDERR, JOB_FD_BUNDLE, JOB_FD_OUTPUTS, JOB_FDS };

/* All lists end with NULL. */
struct job_spec {
    uint32_t flags;
    uint32_t kind; /* of the embryo that may run it; 0: a cold start */
    struct limits limits;
    char **argv; /* argv[0] is an absolute path inside the jar, or begins with ./ */
    char **envp;
    char **outputs;           /* names inside /sandbox to send back at the end */
    char **executes, **reads; /* if JOB_LISTED: see spec/listed.h */
};

/* Copies every string; a list that is NULL becomes an empty one. */
[[nodiscard]] int job_spec_copy(const struct job_spec *job, struct job_spec *ret, struct err *e);
/* Wipes and frees every list except the outputs, once the program has them. Later jars begin as
 * copies of the warden and must not find the secrets of an earlier one. */
void job_spec_wipe(struct job_spec *job);
/* Frees a whole copy, wiped too. */
void job_spec_done(struct job_spec *job);
