/* examiner/examiner.h — the process that keeps readers ready. Runs in: examiner, forked from a
 * keeper before the keeper reads a byte of a stranger.
 *
 * EXAMINER-1 An examiner reads no byte of anybody. It forks readers, hands their sockets to the
 *            keeper, and replaces each reader that has ended.
 * EXAMINER-2 The end of a socket is the end of its reader: when the keeper closes its end, the
 *            examiner kills the reader. When the keeper is gone, so are examiner and readers. */
#pragma once

#include "base/err.h"

enum { EXAMINER_READERS = 4 }; /* that are ready or at work */

/* Forks an examiner. *ret_fd: each message on it brings the socket of a new reader. The calling
 * process has no threads, and has given up its privileges. */
[[nodiscard]] int examiner_start(int *ret_fd, struct err *e);
/* The socket of a new reader, non-blocking. -1: there is none now; -2: the examiner is gone. */
int examiner_next_reader(int fd);

/* One reader without an examiner, as a child of the calling process. */
[[nodiscard]] int examiner_one_reader(int *ret_fd, struct err *e);
