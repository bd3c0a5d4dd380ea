/* jar/reclaim.h — frees large tmpfs outside the warden. The last reference to a tmpfs frees it,
 * about a microsecond for each inode, so a child process holds that reference.
 * Runs in: warden, and one child for each tmpfs. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum { RECLAIM_MAX = 64 };

struct reclaimer {
    int pidfds[RECLAIM_MAX]; /* 0: free */
    pid_t pids[RECLAIM_MAX];
    int busy;
};

/* Takes the descriptor of a large tmpfs that nothing else refers to. False: it is small, or
 * RECLAIM_MAX children are busy; the descriptor is still the caller's. */
bool reclaim_tmpfs(struct reclaimer *u, int scratch_fd);
/* Reaps the children that have ended. */
void reclaim_reap(struct reclaimer *u);
/* Waits for all of them. */
void reclaim_done(struct reclaimer *u);
bool reclaim_has_child(const struct reclaimer *u, pid_t pid);
