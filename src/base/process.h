/* base/process.h — descriptors, limits and children of the calling process. Runs in: every
 * process. */
#pragma once

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* /dev/null, to read and to write; the descriptor or -1. */
[[nodiscard]] int process_open_null(struct err *e);
/* Descriptors 0 to n - 1 become /dev/null. */
[[nodiscard]] int process_null_fds(int n, struct err *e);
/* The soft limit of open files becomes the hard one. -1 with errno set. */
int process_raise_open_files(void);
/* The children of the main thread that nobody has reaped; how many there are, up to max. */
size_t process_children(pid_t *ret_pids, size_t max);
/* Blocks these signals and opens a signalfd for them. SIGPIPE is ignored: a peer that is gone is an
 * error of write(2). */
[[nodiscard]] int process_watch_signals(const sigset_t *set, int *ret_fd, struct err *e);
