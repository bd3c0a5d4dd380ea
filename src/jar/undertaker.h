/* jar/undertaker.h — file systems too large to be freed in the warden's time.
 * Runs in: warden; and a child for each of them, which does nothing but let go of it. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum { UNDERTAKER_MAX = 64 };

struct undertaker {
    int pidfds[UNDERTAKER_MAX]; /* 0: free */
    pid_t pids[UNDERTAKER_MAX];
    int busy;
};

/* Takes a tmpfs that nothing refers to any more, if it is large. False: it is small, or nobody is free to take it;
 * the descriptor is still the caller's. */
bool undertaker_take(struct undertaker *u, int scratch_fd);
/* Forgets children that have ended. */
void undertaker_reap(struct undertaker *u);
/* Waits for all of them. */
void undertaker_done(struct undertaker *u);
bool undertaker_has_child(const struct undertaker *u, pid_t pid);
