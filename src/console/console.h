/* console/console.h — the files of the browser console, which are part of the program. Pure data,
 * made from console/dist while building. Runs in: keeper.
 *
 * Invariants
 * CONSOLE-1 No file holds a secret, and none depends on the caller: they are served without a key.
 * CONSOLE-2 The policy of the page allows scripts and styles of the service itself alone. Text of a
 *           guest cannot become a script there.
 * CONSOLE-3 HTML of a guest is shown in the frame alone. Its policy gives the frame an origin of its
 *           own, and no request leaves it.
 * CONSOLE-4 A file whose name has its hash never changes, so a browser may keep it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct console_file {
    const char *name; /* below /console/; "" is the page itself */
    const char *content_type;
    const char *etag; /* with its quotes */
    bool is_gzip;
    bool is_hashed; /* the name has the hash of the bytes */
    size_t offset, size;
};

/* NULL: there is no such file. */
const struct console_file *console_find(const char *name);
const void *console_bytes(const struct console_file *f);
/* The value of Content-Security-Policy for the file. */
const char *console_policy(const struct console_file *f);

/* The table, sorted by name; its end has no name. For tests. */
extern const struct console_file console_files[];
