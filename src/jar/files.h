/* jar/files.h — files into /sandbox before the program, and out of it after.
 * Runs in: processes with the jar's own uid, never with more. Nothing here follows a symbolic link. */
#pragma once

#include "base/err.h"

/* Writes the files of a bundle below dir_fd, in a directory that nobody else can write yet. */
[[nodiscard]] int files_unpack(int bundle_fd, int dir_fd, struct err *e);

/* Writes one bundle entry for each name: a regular file's bytes, or why there are none. The tree is hostile but at
 * rest: every process that could change it is dead. */
[[nodiscard]] int files_collect(int dir_fd, char *const *names, int out_fd, struct err *e);
