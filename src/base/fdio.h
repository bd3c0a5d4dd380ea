/* base/fdio.h — whole reads and writes on descriptors. Runs in: every process.
 * Every descriptor made here is CLOEXEC. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "base/err.h"

/* All n bytes or -1 with errno set; EINTR is retried. */
[[nodiscard]] int fd_write_all(int fd, const void *bytes, size_t n);

/* Up to n bytes; fewer only at the end of the file. -1 with errno set. */
[[nodiscard]] ssize_t fd_read_full(int fd, void *bytes, size_t n);

/* All bytes of a regular file, from its beginning, to the end of another descriptor. -1 with errno
 * set. */
[[nodiscard]] int fd_copy(int from, int to);

/* Writes text to a file below dir_fd, as one write(2): /proc and cgroupfs require that. */
[[nodiscard]] int fd_write_file(int dir_fd, const char *path, const char *text, struct err *e);

/* Reads a small file (cut at size - 1) and terminates it. Returns the length or -1 with errno set.
 */
[[nodiscard]] ssize_t fd_read_file(int dir_fd, const char *path, char *out, size_t size);

/* Appends everything up to the end of the file; more than max bytes is ERR_TOO_LARGE. */
[[nodiscard]] int fd_read_to_buf(int fd, size_t max, struct buf *b, struct err *e);

/* One datagram with at most FD_SEND_MAX descriptors. Returns the number of bytes, or -1 with errno
 * set. EINTR is retried. A peer that is gone is EPIPE, not a signal. */
enum { FD_SEND_MAX = 16 };
[[nodiscard]] ssize_t fd_send(int fd, struct iovec *parts, size_t n_parts, const int *fds,
                              size_t n_fds, int flags);

/* Closes every descriptor above 2 except these; a -1 among them is skipped. */
[[nodiscard]] int fd_keep_only(const int *fds, size_t n, struct err *e);

[[nodiscard]] int fd_pipe(int ret_fds[2], struct err *e);
[[nodiscard]] int fd_set_nonblock(int fd, struct err *e);

/* An anonymous file holding the bytes, sealed against any change. */
[[nodiscard]] int fd_sealed_memory(const char *name, const struct buf *b, int *ret_fd,
                                   struct err *e);
