/* jar/live_files.h — one operation on files of a jar that runs.
 * Runs in: clerk, with the jar's own uid, never with more. The tree is hostile and changes while
 * it is read: every path is resolved by the kernel beneath dir_fd, over no symbolic link. */
#pragma once

#include "spec/live_file.h"

/* An answer without a payload. */
[[nodiscard]] int live_files_refuse(enum live_file_status status, int out_fd, struct err *e);

/* Writes the whole answer to out_fd. body_fd has the bytes of a write. An error is one of out_fd. */
[[nodiscard]] int live_files_do(int dir_fd, enum live_file_operation operation, const char *path,
                                int body_fd, int out_fd, struct err *e);
