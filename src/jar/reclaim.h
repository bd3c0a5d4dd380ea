/* jar/reclaim.h — frees memory outside the warden where this takes long: large tmpfs, and the pages
 * of files that a finished jar was the first to read.
 * Runs in: warden, and one child for each tmpfs or cgroup.
 *
 * The last reference to a tmpfs frees it, about a microsecond for each inode, so a child process
 * holds that reference.
 * A removed cgroup stays in the kernel as long as the pages that it was charged for. Usually that is
 * fine: later jars find these pages in memory. Beyond RECLAIM_LEFT_MAX such cgroups, the pages of
 * each further one are freed before it is removed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "jar/cgroup.h"

enum { RECLAIM_MAX = 64, RECLAIM_LEFT_MAX = 512 };

struct reclaimer {
    int pidfds[RECLAIM_MAX]; /* 0: free */
    pid_t pids[RECLAIM_MAX];
    int busy;
    /* Counts the removed cgroups in the kernel. v1 has only a count of all memory cgroups of the
     * machine. */
    int count_fd; /* -1: none */
    bool of_machine;
    uint64_t count_max; /* RECLAIM_LEFT_MAX more than there were at the start */
};
#define RECLAIMER_INIT  \
    {                   \
        .count_fd = -1, \
    }

/* Without cgroups (NULL) there is no count. */
void reclaim_open(struct reclaimer *u, const struct cgroup_host *cgroups);

/* Takes the descriptor of a large tmpfs that nothing else refers to. False: it is small, or
 * RECLAIM_MAX children are busy; the descriptor is still the caller's. */
bool reclaim_tmpfs(struct reclaimer *u, int scratch_fd);
/* Takes the cgroup of a finished jar, to empty and to remove it. False: there are few removed cgroups
 * in the kernel, or RECLAIM_MAX children are busy; the cgroup is still the caller's. */
bool reclaim_cgroup(struct reclaimer *u, struct cgroup *c);
/* Reaps the children that have ended. */
void reclaim_reap(struct reclaimer *u);
/* Waits for all of them, and closes the reclaimer. */
void reclaim_done(struct reclaimer *u);
bool reclaim_has_child(const struct reclaimer *u, pid_t pid);
