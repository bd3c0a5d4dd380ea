/* jar/clone.h — new processes, by clone3 where namespaces or cgroups are asked for. Runs in: warden. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* As fork(2), with namespaces (CLONE_NEW*), straight into a cgroup (or -1), and a pidfd. 0 in the child. */
[[nodiscard]] pid_t clone_process(uint64_t namespaces, int cgroup_fd, int *ret_pidfd,
                                  struct err *e);
