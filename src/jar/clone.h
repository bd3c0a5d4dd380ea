/* jar/clone.h — new processes; clone3 if namespaces or cgroups are needed. Runs in: warden. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* Like fork(2), with new namespaces (CLONE_NEW*), into a cgroup (or -1), with a pidfd. 0 in the
 * child. */
[[nodiscard]] pid_t clone_process(uint64_t namespaces, int cgroup_fd, int *ret_pidfd,
                                  struct err *e);

/* From now on, processes that this one makes do not have its shared libraries, except the C library: to
 * copy and to remove these mappings takes a tenth of the CPU time of a short run. Every symbol of the C
 * library is bound at the start of the program, so nothing looks into the other libraries. The warden
 * and its children are made of rooms that use the C library alone. */
void clone_leave_libraries(void);
