/* bench/host.h — what the kernel says about processes: CPU time and memory of a service and all that it started.
 * Runs in: the process that measures. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Whatever the machine has, the numbers are those of two cores. */
void host_use_two_cores(void);
void host_use_many_files(void);

enum { HOST_TREE_MAX = 4096 };
struct host_tree {
    struct host_process {
        pid_t pid, parent;
        char name[16]; /* as the kernel has it */
        double cpu_ms; /* its own, and that of children it has waited for */
    } all[HOST_TREE_MAX];
    size_t n;
};
/* A process and everything below it: the first is the root itself. */
void host_tree(pid_t root, struct host_tree *ret);
/* CPU time of a tree, of what ended in it, too. The kernel counts in hundredths of a second. */
double host_tree_cpu_ms(pid_t root);

/* Its number in each pid namespace that it is in, ours first; how many those are, 0 when it is gone. */
enum { HOST_NESTED_MAX = 8 };
size_t host_nested(pid_t pid, long ret[HOST_NESTED_MAX]);

struct host_memory {
    double private_mib; /* that ends with it: Private_Clean + Private_Dirty */
    double share_mib;   /* with its part of what it shares: Pss */
};
/* False when we may not look. */
[[nodiscard]] bool host_memory(pid_t pid, struct host_memory *ret);
