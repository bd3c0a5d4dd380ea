/* examiner/examiner.h — the process that keeps readers ready. Runs in: examiner; restarter, its
 * parent, forked from a keeper before the keeper reads a byte of a stranger.
 *
 * EXAMINER-1 An examiner reads no byte of anybody. It forks readers, hands their sockets to the
 *            keeper, and replaces each reader that has ended.
 * EXAMINER-2 The end of a socket is the end of its reader: when the keeper closes its end, the
 *            examiner kills the reader. When the keeper is gone, so are examiner and readers.
 * EXAMINER-3 The keeper may not fork. So a process between the two, the restarter, starts another
 *            examiner when one has died: at once, then after 100 ms, doubling up to 5 s. */
#pragma once

#include "base/err.h"

enum { EXAMINER_READERS = 4 }; /* that are ready or at work */

/* Forks a restarter, and it an examiner. *ret_fd: each message on it brings the socket of a new
 * reader. The calling process has no threads, and has given up its privileges. */
[[nodiscard]] int examiner_start(int *ret_fd, struct err *e);

enum examiner_none {
    EXAMINER_NONE_NOW = -1,
    EXAMINER_GONE = -2,          /* and its restarter with it */
    EXAMINER_NO_DESCRIPTOR = -3, /* the calling process has too many open files; a reader is lost */
};
/* The socket of a new reader, non-blocking, or one of the numbers above. */
int examiner_next_reader(int fd);

/* One reader without an examiner, as a child of the calling process. */
[[nodiscard]] int examiner_one_reader(int *ret_fd, struct err *e);
