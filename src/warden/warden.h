/* warden/warden.h — the privileged half: builds jars, kills jars, tells how they ended. Nothing else.
 * warden_start() runs in the process that wants one; the warden itself is a child of it, with one thread.
 *
 * Invariants
 * W1 It believes nothing it is sent: every message is checked again, and a peer that breaks the protocol is
 *    dropped, which ends every jar.
 * W2 It knows no HTTP, JSON, SQL or language, and reads no byte that a guest wrote.
 * W3 It is pid 1 of a pid namespace (but at level process): if it dies, however, every jar dies with it.
 * W4 It never waits for its peer: messages that the peer does not take end the peer. */
#pragma once

#include <sys/types.h>

#include "base/err.h"
#include "jar/cgroup.h"
#include "spec/isolation.h"
#include "spec/pool.h"

struct warden {
    pid_t pid;
    pid_t spared; /* a child of ours with a session of its own that is no guest; 0: none */
    int fd;       /* the wire */
    struct isolation isolation;
    struct cgroup_host cgroups;
};

/* Starts one at exactly this level (not LEVEL_AUTO), or says what the machine lacks. It may keep zygotes of these kinds, once
 * it is told to; the list ends with NULL. */
[[nodiscard]] int warden_start(enum level level, const struct zygote_def *const *zygotes,
                               struct warden *ret, struct err *e);

/* Closes the wire, waits until every jar is gone, and removes what a warden that was killed left behind. */
void warden_stop(struct warden *w);
