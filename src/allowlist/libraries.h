/* allowlist/libraries.h — where the dynamic loader finds a library. Runs in: keeper.
 * What it would take is among what is found; that more is found (another directory, another variant for the processor) does no
 * harm: all of it is the machine's own, and reading it is all that is then allowed. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

struct libraries {
    struct buf cache; /* /etc/ld.so.cache as it is; empty where there is none */
};
[[nodiscard]] int libraries_open(struct libraries *ret, struct err *e);
void libraries_done(struct libraries *l);

/* Takes the path of a file that may be the library; -1 ends the search with its error. */
typedef int library_found(void *context, const char *path, struct err *e);

/* Calls `found` for each place where `name` may be. search: a list of directories with colons, "" for none, in
 * which $ORIGIN is the directory of the file that names the library. Whether there is anything, the caller looks. */
[[nodiscard]] int libraries_find(const struct libraries *l, const char *name, const char *search,
                                 const char *origin, library_found *found, void *context,
                                 struct err *e);
/* The places of `search` alone, or the one that a name with a slash is. */
[[nodiscard]] int libraries_find_near(const char *name, const char *search, const char *origin,
                                      library_found *found, void *context, struct err *e);
