/* jar/inside.h — the two processes that are born outside and end up inside.
 * Runs in: children of the warden, from clone to the point where they are confined.
 *
 * init     pid 1 of the jar. Owns its namespaces, builds its root, unpacks its files, gives up everything and
 *          then only waits: its death ends the jar. It never runs guest code.
 * program  joins what init built, gives up everything and becomes the guest's program. It is the warden's own
 *          child, so that its end is told by the kernel and by nobody inside. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "jar/cgroup.h"
#include "jar/skeleton.h"
#include "spec/isolation.h"
#include "spec/job.h"

/* What these two tell the warden, on a pipe; each is one write. */
enum report_kind {
    REPORT_READY,  /* init: everything is built; embryo: it waits for its job */
    REPORT_FORKED, /* zygote: the embryo has this number */
    REPORT_GOING,  /* the last word before execve, or before guest code */
    REPORT_FAILED, /* and why */
};
struct report {
    enum report_kind kind;
    int32_t pid;
    struct err err;
};
void report_send(int fd, enum report_kind kind, const struct err *e);

enum { INSIDE_UID = 1000 }; /* what the program sees itself as, where it has a user namespace */

struct inside {
    const struct isolation *iso;
    const struct job_spec *job;  /* of an embryo only the limits: the rest comes later */
    const struct cgroup *cgroup; /* NULL where there is none */
    int report_fd;               /* takes reports */
    int bundle_fd;               /* -1: no files yet */
    /* init */
    int go_fd; /* a byte arrives when the user map is written */
    int scratch_fd;
    bool new_net; /* nobody has brought up its loopback interface yet */
    /* program */
    int init_pidfd;      /* -1 at level process */
    bool entered;        /* born into all of its namespaces already */
    const int *stdio;    /* NULL for an embryo: they come with the job, and so do the limits */
    const int *kept_fds; /* of an embryo: what else stays open */
    size_t n_kept;
    /* level process only */
    const char *home;  /* private directory with work/ and tmp/ in it */
    const char *guest; /* base/place.h; NULL where there is none */
    const struct skeleton_binds *dirs;
    uint32_t uid; /* to become; our own when we cannot change it */
};

_Noreturn void init_main(const struct inside *in);
_Noreturn void program_main(const struct inside *in);
/* Gives up everything that a program has no right to. *report_fd is where an error can be told, before and after the
 * descriptors are rearranged. */
[[nodiscard]] int program_confine(const struct inside *in, int *report_fd, struct err *e);
