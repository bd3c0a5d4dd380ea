/* bench/jars/hostview.h — counts the objects that jars could leave on the host. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TRACE_TABLE(X) /* id, words for the report */                             \
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
enum { TRACES_OF_HOST = TRACE_WARDEN_MOUNTS }; /* the others exist only while a warden runs */

struct host_view {
    long count[TRACES];
};
const char *trace_what(enum trace t);

/* warden 0: there is none. */
void host_view(struct host_view *ret, pid_t warden);
/* Counts living and dead processes of the jars of a warden. A child of the warden without a pid
 * namespace of its own, such as a collector, does not count. At level process, where jars have
 * none, all count. */
long jar_processes(pid_t warden, bool namespaces);
long resident_kib(pid_t pid);
/* Memory cgroups that the kernel still holds, of the whole machine; 0 if the kernel does not tell
 * (v2). */
long memory_cgroups(void);
