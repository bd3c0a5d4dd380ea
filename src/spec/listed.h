/* spec/listed.h — the files that a job with a list of commands (JOB_LISTED) may execute and read.
 * Runs in: keeper, which makes the lists; warden, which checks them. Pure. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

enum {
    LISTED_MAX = 1024,      /* files and directories of both lists together */
    LISTED_TEXT = 48 << 10, /* their names, with the NULs */
    LISTED_PATH_MAX = 512,
};

/* True for a path in a directory of the machine that every jar has, in its only form: absolute,
 * without "//", "." or "..". The process that opens the path checks that it exists and is not a
 * link. */
bool listed_path(const char *path);

/* Both lists, NULL-terminated; either may be NULL. ERR_TOO_LARGE, ERR_BAD_REQUEST. */
[[nodiscard]] int listed_check(char *const *executes, char *const *reads, struct err *e);
