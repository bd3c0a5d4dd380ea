/* cli/repl/repl_mounts.h — --mount of `belljar repl`. Runs in: main.
 *
 * A running service decides by its own setting mounts.roots. For a private service the caller is the
 * operator: its roots are the directories of --mount. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

struct repl_mounts {
    char **dirs, **names; /* NULL: none */
    bool secrets;         /* files that look like secrets are shown, too */
    char *roots;          /* the setting of a private service; NULL: it is not needed */
    const char *set[3];   /* the settings of a private service, NULL-terminated */
};

/* After all options. session: the one that is used again; NULL: a new one. */
[[nodiscard]] int repl_mounts_check(const struct repl_mounts *m, const char *session,
                                    struct err *e);
/* Fills m->set. */
[[nodiscard]] int repl_mounts_allow(struct repl_mounts *m, struct err *e);
/* As in a request; NULL: none. */
json_t *repl_mounts_object(const struct repl_mounts *m);
void repl_mounts_done(struct repl_mounts *m);
