/* service/supervisor.h — `belljar serve`: starts a warden and a keeper, and whichever dies again.
 * Runs in: the operator's process, perhaps root. It reads no request and no byte that a program wrote.
 *
 * Invariants
 * S1 It alone binds sockets and opens the state directory; the keeper inherits them and can make no others.
 * S2 A warden's wire is the keeper's alone: when the keeper dies, its warden ends every jar.
 * S3 A new warden has exactly the level of the first: a fault never lowers the isolation. */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "settings/settings.h"

struct service_options {
    const char *listen[SETTINGS_LISTEN_MAX]; /* none: the defaults */
    size_t n_listen;
    const char *state;  /* NULL: the default */
    const char *config; /* NULL: none */
    const char **sets;  /* "key=value" */
    size_t n_sets;
};

/* Until it is told to end: 0. */
[[nodiscard]] int service_run(const struct service_options *o, struct err *e);
