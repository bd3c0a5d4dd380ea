/* jar/reclaim.h — file systems too large to be freed in the warden's time.
 * Runs in: warden; and a child for each of them, which does nothing but let go of it. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum { RECLAIM_MAX = 64 };

struct reclaimer {
    int pidfds[RECLAIM_MAX]; /* 0: free */
    pid_t pids[RECLAIM_MAX];
    int busy;
};

/* Takes a tmpfs that nothing refers to any more, if it is large. False: it is small, or nobody is free to take it;
 * the descriptor is still the caller's. */
bool reclaim_tmpfs(struct reclaimer *u, int scratch_fd);
/* Forgets children that have ended. */
void reclaim_reap(struct reclaimer *u);
/* Waits for all of them. */
void reclaim_done(struct reclaimer *u);
bool reclaim_has_child(const struct reclaimer *u, pid_t pid);
