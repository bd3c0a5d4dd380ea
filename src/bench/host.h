/* bench/host.h — CPU time and memory of a service and all its processes, from the kernel. Runs in:
 * the process that measures. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The numbers are for two cores on any machine. */
void host_use_two_cores(void);
void host_use_many_files(void);

enum { HOST_TREE_MAX = 4096 };
struct host_tree {
    struct host_process {
        pid_t pid, parent;
        char name[16]; /* as in /proc */
        double cpu_ms; /* its own, and that of children it has waited for */
    } all[HOST_TREE_MAX];
    size_t n;
};
/* A process and everything below it; the first entry is the root itself. */
void host_tree(pid_t root, struct host_tree *ret);
/* CPU time of a tree, including ended processes. The kernel counts in hundredths of a second. */
double host_tree_cpu_ms(pid_t root);

/* Its pid in each of its pid namespaces, ours first. Returns their number, 0 if it is gone. */
enum { HOST_NESTED_MAX = 8 };
size_t host_nested(pid_t pid, long ret[HOST_NESTED_MAX]);

struct host_memory {
    double private_mib; /* freed when it ends: Private_Clean + Private_Dirty */
    double share_mib;   /* including its part of shared memory: Pss */
};
/* False without the right to read it. */
[[nodiscard]] bool host_memory(pid_t pid, struct host_memory *ret);
