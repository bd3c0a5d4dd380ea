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
#include "spec/isolation.h"

enum { INSIDE_UID = 1000 }; /* what the program sees itself as, where it has a user namespace */

struct inside {
    const struct isolation *iso;
    const struct limits *limits;
    const struct cgroup *cgroup; /* NULL where there is none */
    int report_fd; /* takes a struct err: init when ready or failed, program only on failure */
    int bundle_fd;
    /* init */
    int go_fd; /* a byte arrives when the user map is written */
    int scratch_fd;
    bool writable_root;
    /* program */
    int init_pidfd; /* -1 at level process */
    const int *stdio;
    char *const *argv;
    char *const *envp;
    /* level process only */
    const char *home; /* private directory with work/ and tmp/ in it */
    uint32_t uid;     /* to become; our own when we cannot change it */
};

_Noreturn void init_main(const struct inside *in);
_Noreturn void program_main(const struct inside *in);
