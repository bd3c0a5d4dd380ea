/* base/place.h — the place of our own files: beside our program in a build, ../lib/belljar
 * when installed. Runs in: every process that can see the host's files. */
#pragma once

#include <stddef.h>

#include "base/err.h"

/* Jars see our directory "guest" (programs and data for languages) here, read-only. */
#define GUEST_DIR  "guest"
#define GUEST_ROOT "/opt/belljar"

/* The absolute path of one of our files or directories. ERR_UNAVAILABLE when neither place has it.
 */
[[nodiscard]] int place_find(const char *name, char *out, size_t size, struct err *e);
