/* allowlist/libraries.h — finds the places where the dynamic loader may find a library. Runs in:
 * keeper. The loader's choice is always among them. An extra file (another directory, another
 * processor variant) is harmless: all files are the machine's own, and the list only makes them
 * readable. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

struct libraries {
    struct buf cache; /* content of /etc/ld.so.cache; empty if there is none */
};
[[nodiscard]] int libraries_open(struct libraries *ret, struct err *e);
void libraries_done(struct libraries *l);

/* Gets the path of a file that may be the library; -1 ends the search with its error. */
typedef int library_found(void *context, const char *path, struct err *e);

/* Calls `found` for each place where `name` may be. search: a list of directories with colons, ""
 * for none; $ORIGIN is the directory of the file that needs the library. The caller checks whether
 * the file exists. */
[[nodiscard]] int libraries_find(const struct libraries *l, const char *name, const char *search,
                                 const char *origin, library_found *found, void *context,
                                 struct err *e);
/* The places in `search` alone, or the path itself for a name with a slash. */
[[nodiscard]] int libraries_find_near(const char *name, const char *search, const char *origin,
                                      library_found *found, void *context, struct err *e);
