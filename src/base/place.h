/* base/place.h — where our own files are: beside our program, as in a build, or in ../lib/belljar, where they are installed.
 * Runs in: every process that can see the host's files. */
#pragma once

#include <stddef.h>

#include "base/err.h"

/* What jars see of it: read-only, the directory "guest" of ours (programs and data of ours for languages). */
#define GUEST_DIR  "guest"
#define GUEST_ROOT "/opt/belljar"

/* The absolute path of a file or directory of ours. ERR_UNAVAILABLE when it is in neither place. */
[[nodiscard]] int place_find(const char *name, char *out, size_t size, struct err *e);
