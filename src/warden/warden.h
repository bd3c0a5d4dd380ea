/* warden/warden.h — the privileged process: builds jars, kills jars, reports how they ended.
 * Nothing else. warden_start() runs in the process that needs a warden. The warden is its child,
 * with one thread.
 *
 * Invariants
 * WARDEN-1 It trusts no message: it checks every field again, and drops a peer that breaks the
 *    protocol, which ends every jar.
 * WARDEN-2 It knows no HTTP, JSON, SQL or language, and reads no byte that a guest wrote.
 * WARDEN-3 It is pid 1 of a pid namespace, except at level process: if it dies, every jar dies with
 *    it.
 * WARDEN-4 It never waits for its peer: a peer that does not read its messages is dropped. */
#pragma once

#include <sys/types.h>

#include "base/err.h"
#include "jar/cgroup.h"
#include "spec/isolation.h"
#include "spec/pool.h"

struct warden {
    pid_t pid;
    pid_t spared; /* a child in a session of its own that is not a guest; 0: none */
    int fd;       /* the wire */
    struct isolation isolation;
    struct cgroup_host cgroups;
};

/* Starts a warden at exactly this level (not LEVEL_AUTO); the error names the missing feature. It
 * keeps zygotes of these kinds when the keeper asks for them. The list ends with NULL. With bounds
 * (or NULL) it accepts no job above them, and all jars together stay within them. Jobs may mount
 * directories beneath mount_roots (spec/mount.h), which is NULL or ends with NULL. */
[[nodiscard]] int warden_start(enum level level, const struct zygote_def *const *zygotes,
                               const struct run_bounds *bounds, char *const *mount_roots,
                               struct warden *ret, struct err *e);

/* Closes the wire, waits until every jar is gone, and cleans up after a warden that was killed. */
void warden_stop(struct warden *w);
