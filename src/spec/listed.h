/* spec/listed.h — the files that a jar whose commands are listed may execute and read, as they cross the wire.
 * Runs in: keeper, which makes the list; warden, which checks it. Pure. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

enum {
    LISTED_MAX = 1024,      /* files and directories of both lists together */
    LISTED_TEXT = 48 << 10, /* their names, with the NULs */
    LISTED_PATH_MAX = 512,
};

/* In one of the machine's own directories that every jar has, and written the one way there is: absolute, no "//", "." or
 * "..". Whether it is there, and not reached by a link, is for whoever opens it. */
bool listed_path(const char *path);

/* Both lists, NULL-terminated; either may be NULL. ERR_TOO_LARGE, ERR_BAD_REQUEST. */
[[nodiscard]] int listed_check(char *const *executes, char *const *reads, struct err *e);
