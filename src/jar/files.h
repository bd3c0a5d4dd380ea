/* jar/files.h — files into /sandbox before the program, and out of it after.
 * Runs in: processes with the jar's own uid, never with more. Nothing here follows a symbolic link. */
#pragma once

#include "base/err.h"

/* Writes the files of a bundle below dir_fd, in a directory that nobody else can write yet. */
[[nodiscard]] int files_unpack(int bundle_fd, int dir_fd, struct err *e);

/* Among the names of outputs: every regular file, whatever the directory. */
#define FILES_ALL "."

/* Writes one bundle entry for each name: a regular file's bytes, or why there are none. The tree is hostile but at
 * rest: every process that could change it is dead.
 * For FILES_ALL one entry for each regular file, up to BUNDLE_FILES_MAX entries in all; what is no file is not told.
 * A bound that was met is told by an entry OUTPUT_TOO_LARGE: of the file where the walk stopped, or of the directory
 * with names too long to be told. A directory its maker locked is OUTPUT_REFUSED. Time and memory are bounded. */
[[nodiscard]] int files_collect(int dir_fd, char *const *names, int out_fd, struct err *e);
