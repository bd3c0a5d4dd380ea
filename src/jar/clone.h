/* jar/clone.h — new processes; clone3 if namespaces or cgroups are needed. Runs in: warden. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* Like fork(2), with new namespaces (CLONE_NEW*), into a cgroup (or -1), with a pidfd. 0 in the
 * child. */
[[nodiscard]] pid_t clone_process(uint64_t namespaces, int cgroup_fd, int *ret_pidfd,
                                  struct err *e);
