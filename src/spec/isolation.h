/* spec/isolation.h — levels and layers of isolation between a run and the host.
 * Runs in: every process; pure data. The level is chosen before a run and is in every result. */
#pragma once

#include <stdint.h>

#include "spec/limit.h"

enum level {
    LEVEL_AUTO,     /* the strongest of this machine; never in a result */
    LEVEL_PROCESS,  /* no namespaces: seccomp, Landlock, rlimits */
    LEVEL_ROOTLESS, /* namespaces; as many limits as the machine allows */
    LEVEL_JAR,      /* every layer */
    LEVEL_COUNT_,
};

#define LAYER_TABLE(X)                                                             \
    X(LAYER_USER_NS,       "user_ns",       "own user namespace")                  \
    X(LAYER_PID_NS,        "pid_ns",        "own process ids")                     \
    X(LAYER_MOUNT_NS,      "mount_ns",      "own mounts")                          \
    X(LAYER_NET_NS,        "net_ns",        "own, unconnected network")            \
    X(LAYER_IPC_NS,        "ipc_ns",        "own System V and POSIX IPC")          \
    X(LAYER_UTS_NS,        "uts_ns",        "own host name")                       \
    X(LAYER_CGROUP_NS,     "cgroup_ns",     "own view of cgroups")                 \
    X(LAYER_ROOT,          "root",          "own root file system")                \
    X(LAYER_OWN_UID,       "own_uid",       "a host uid no one else has")          \
    X(LAYER_NO_CAPS,       "no_caps",       "no capability, and no way to one")            \
    X(LAYER_NO_NEW_PRIVS,  "no_new_privs",  "execve cannot add privileges")        \
    X(LAYER_SECCOMP,       "seccomp",       "allow-list of system calls")          \
    X(LAYER_LANDLOCK,      "landlock",      "file access rules of its own")        \
    X(LAYER_RLIMITS,       "rlimits",       "per-process limits")                  \
    X(LAYER_CGROUP_MEMORY, "cgroup_memory", "memory limit for the whole tree")     \
    X(LAYER_CGROUP_PIDS,   "cgroup_pids",   "process limit for the whole tree")    \
    X(LAYER_CGROUP_CPU,    "cgroup_cpu",    "CPU quota and clock for the tree")    \
    X(LAYER_ENVIRONMENT,   "environment",   "environment built from nothing")      \
    X(LAYER_CLOSED_FDS,    "closed_fds",    "no descriptor but 0, 1 and 2")        \
    X(LAYER_OWN_SESSION,   "own_session",   "own session, no terminal shared")

enum layer {
#define X(id, name, what) id,
    LAYER_TABLE(X)
#undef X
        LAYER_COUNT_
};

typedef uint32_t layer_set;
#define LAYER_BIT(id) ((layer_set)1 << (id))

/* The promise of a warden for every jar; a jar that cannot keep it does not start. */
struct isolation {
    enum level level;
    layer_set layers;
    limit_set unenforced; /* limits that do not hold for the whole tree here */
    uint32_t landlock_abi;
    uint32_t cgroup_version; /* 0 none, 1, 2 */
};

/* The host uids from here on are ours alone. jar/uids.h divides them among keepers and jars. */
#define OWN_UIDS_FIRST 0x70000000u

/* The order in which LEVEL_AUTO tries them. */
enum { LEVELS_TO_TRY = 3 };
extern const enum level levels_best_first[LEVELS_TO_TRY];

/* Layers that exist only together. */
#define LAYERS_OF_NAMESPACES                                                          \
    (LAYER_BIT(LAYER_USER_NS) | LAYER_BIT(LAYER_PID_NS) | LAYER_BIT(LAYER_MOUNT_NS) | \
     LAYER_BIT(LAYER_NET_NS) | LAYER_BIT(LAYER_IPC_NS) | LAYER_BIT(LAYER_UTS_NS) |    \
     LAYER_BIT(LAYER_CGROUP_NS) | LAYER_BIT(LAYER_ROOT))
#define LAYERS_OF_CGROUPS \
    (LAYER_BIT(LAYER_CGROUP_MEMORY) | LAYER_BIT(LAYER_CGROUP_PIDS) | LAYER_BIT(LAYER_CGROUP_CPU))

extern const char *const level_names[LEVEL_COUNT_ + 1]; /* the last is NULL */
const char *level_name(enum level l);
/* -1 when there is no such level. "auto" is accepted. */
int level_parse(const char *name, enum level *ret_level);
const char *layer_name(enum layer l);
const char *layer_what(enum layer l);
