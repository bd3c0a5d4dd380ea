/* bench/hostview.h — what jars could leave on the host, counted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TRACE_TABLE(X) /* id, what it is */                                       \
    X(TRACE_PROCESSES,     "processes, dead ones included")                       \
    X(TRACE_MOUNTS,        "mounts of the host")                                  \
    X(TRACE_CGROUPS,       "cgroups, in every hierarchy")                         \
    X(TRACE_FDS,           "open descriptors of ours")                            \
    X(TRACE_FILES,         "files in $TMPDIR")                                    \
    X(TRACE_WARDEN_MOUNTS, "mounts of the warden")                                \
    X(TRACE_WARDEN_FDS,    "open descriptors of the warden")

enum trace {
#define X(id, what) id,
    TRACE_TABLE(X)
#undef X
        TRACES
};
enum { TRACES_OF_HOST = TRACE_WARDEN_MOUNTS }; /* the rest is only there while a warden is */

struct host_view {
    long count[TRACES];
};
const char *trace_what(enum trace t);

/* warden 0: there is none. */
void host_view(struct host_view *ret, pid_t warden);
/* Living and dead processes of the jars of a warden. Its own children that are not in a pid namespace of their own, such
 * as one that reads outputs, are not a jar's; at level process, where jars have none, all count. */
long jar_processes(pid_t warden, bool namespaces);
long resident_kib(pid_t pid);
/* Memory cgroups the kernel has not let go of, of the whole machine; 0 where it does not say (v2). */
long memory_cgroups(void);
