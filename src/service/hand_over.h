/* service/hand_over.h — a tree of files gets another owner.
 * Runs in: supervisor, with root's rights, over files that a keeper wrote.
 *
 * Invariants
 * OWNER-1 Only a file that belonged to the old keeper changes its owner. No link leads out of the
 *         tree: a symbolic link is never followed, a file with a second name and another file
 *         system are left alone. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* Gives the directory and everything below it from one uid to another, the directory itself last: if
 * this is interrupted, its owner shows that. *ret_left counts the entries that kept their owner. */
[[nodiscard]] int hand_over(int dir_fd, uid_t from, uid_t to, size_t *ret_left, struct err *e);
