/* jar/files.h — files into /sandbox before the program, and out of it after.
 * Runs in: processes
 * with the jar's own uid, never with more. Nothing here follows a symbolic link. */
#pragma once

#include <stdint.h>

#include "base/err.h"

/* Writes the files of a bundle below dir_fd, in a directory that nobody else can write yet. */
[[nodiscard]] int files_unpack(int bundle_fd, int dir_fd, struct err *e);

/* Removes everything that dir_fd has under the names of a bundle, which are names without a slash. A
 * guest shaped the tree, and does not change it now. */
[[nodiscard]] int files_clear_places(int bundle_fd, int dir_fd, struct err *e);

/* As the name of an output: every regular file in every directory. */
#define FILES_ALL  "."
/* The same, and every directory without a file. */
#define FILES_TREE "./"

/* Writes one bundle entry for each name: the bytes of a regular file, or the reason for having
 * none. A name of output_is_in_tmp() is below tmp_fd, which otherwise may be -1. The tree is hostile but does not change: every process that could change it is dead. For
 * FILES_ALL there is one entry for each regular file, up to BUNDLE_FILES_MAX entries in all; other
 * kinds of files are left out. A directory has S_IFDIR in its mode. A bound that was reached shows as an entry OUTPUT_TOO_LARGE: for the
 * file where the walk stopped, or for the directory whose names are too long. A directory without
 * read permission is OUTPUT_REFUSED. Time and memory are bounded. */
[[nodiscard]] int files_collect(int dir_fd, int tmp_fd, char *const *names, int out_fd,
                                struct err *e);
/* The same for one file, and no more than its first bytes. */
[[nodiscard]] int files_collect_small(int dir_fd, const char *name, uint64_t max, int out_fd,
                                      struct err *e);
