/* bench/hostview.h — what jars could leave on the host, counted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TRACE_TABLE(X) /* id, what it is */                                       \
    X(TRACE_PROCESSES,     "processes below us, dead ones included")              \
    X(TRACE_MOUNTS,        "mounts of the host")                                  \
    X(TRACE_WARDEN_MOUNTS, "mounts of the warden")                                \
    X(TRACE_CGROUPS,       "cgroup directories of ours, in every hierarchy")      \
    X(TRACE_FDS,           "open descriptors of ours")                            \
    X(TRACE_WARDEN_FDS,    "open descriptors of the warden")                      \
    X(TRACE_FILES,         "files belljar-* in the places for temporary ones")

enum trace {
#define X(id, what) id,
    TRACE_TABLE(X)
#undef X
        TRACES
};

struct host_view {
    long count[TRACES];
};
const char *trace_what(enum trace t);

/* warden 0: there is none. */
void host_view(struct host_view *ret, pid_t warden);
/* Living and dead processes below this one, not counting it. */
long processes_below(pid_t top);
long resident_kib(pid_t pid);
/* Memory cgroups the kernel has not let go of, of the whole machine; 0 where it does not say (v2). */
long memory_cgroups(void);
