/* jar/inside.h — the two processes that start outside a jar and end up inside.
 * Runs in: children of the warden, from clone to the point where they are confined.
 *
 * init     pid 1 of the jar. It owns the namespaces, builds the root, unpacks the files, gives up
 *          everything and then only waits. Its death ends the jar. It never runs guest code.
 * program  joins the namespaces, gives up everything and becomes the guest's program. It is a child
 *          of the warden, so that the kernel reports its end and no process inside can. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "jar/cgroup.h"
#include "jar/skeleton.h"
#include "spec/isolation.h"
#include "spec/job.h"

/* Reports of these two to the warden, on a pipe; each is one write. */
enum report_kind {
    REPORT_READY,  /* init: everything is built; embryo: it waits for its job */
    REPORT_FORKED, /* zygote: the pid of the embryo */
    REPORT_GOING,  /* the last report before execve, or before guest code */
    REPORT_FAILED, /* with the cause */
};
struct report {
    enum report_kind kind;
    int32_t pid;
    uint64_t at_us;  /* REPORT_GOING: the program starts at this time (base/clock.h) */
    uint64_t cpu_us; /* REPORT_GOING: the CPU time of its start, which is ours and not the job's */
    struct err err;
};
void report_send(int fd, enum report_kind kind, const struct err *e);
/* Sends REPORT_GOING. The start of the program began with this CPU time of the thread. */
void report_going(int fd, uint64_t cpu_from_us);

enum { INSIDE_UID = 1000 }; /* of the program in its user namespace */

struct inside {
    const struct isolation *iso;
    const struct job_spec *job;  /* of an embryo only the limits: the rest comes later */
    const struct cgroup *cgroup; /* NULL: no cgroup */
    int report_fd;               /* to write reports to */
    int bundle_fd;               /* -1: no files yet */
    /* init */
    int go_fd; /* a byte arrives when the user map is written */
    int scratch_fd;
    bool new_net;             /* its loopback interface is still down */
    bool terminals;           /* ROOT-4 */
    char *const *mount_roots; /* spec/mount.h; NULL: none */
    /* program */
    int init_pidfd;      /* -1 at level process */
    int slate_fd;        /* of an embryo; -1: none */
    bool entered;        /* it is in all namespaces already */
    uid_t owner;         /* of these namespaces: it may enter them (jar/as_owner.h) */
    const int *stdio;    /* NULL for an embryo: they come with the job */
    int channel_fd;      /* of a session, or the bundle if it unpacks; -1: none, or an embryo */
    bool unpacks;        /* a next job: the program unpacks its files, because init is confined */
    const int *kept_fds; /* of an embryo: other descriptors that stay open */
    size_t n_kept;
    /* level process only */
    const char *home;  /* private directory with work/ and tmp/ in it */
    const char *guest; /* see base/place.h; NULL: none */
    const struct skeleton_binds *dirs;
    uint32_t uid; /* of the program; our own when we cannot change it */
};

_Noreturn void init_main(const struct inside *in);
_Noreturn void program_main(const struct inside *in);
/* Gives up every right that a program must not have. *report_fd stays valid for reports while the
 * descriptors are rearranged. */
[[nodiscard]] int program_confine(const struct inside *in, int *report_fd, struct err *e);
