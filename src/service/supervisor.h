/* service/supervisor.h — `belljar serve`: starts a warden and a keeper, and restarts either when it
 * dies. Runs in: the operator's process, possibly root. It reads no request and no byte that a
 * program wrote.
 *
 * Invariants
 * SUPERVISOR-1 Only the supervisor binds sockets and opens the state directory. The keeper inherits
 *              them and cannot make others.
 * SUPERVISOR-2 Each keeper has a wire of its own, which no other process holds: when the keeper
 *              dies, the warden ends every jar, except sessions that it was asked to keep.
 * SUPERVISOR-3 A new warden has exactly the level of the first one: a fault never lowers the
 *              isolation.
 * SUPERVISOR-4 A warden or keeper that is stopped is resumed at once: no limit is held late because
 *              of a stray signal. */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "settings/settings.h"

struct service_options {
    const char *listen[SETTINGS_LISTEN_MAX]; /* empty: the defaults */
    size_t n_listen;
    const char *state;    /* NULL: the default */
    const char *config;   /* NULL: none */
    const char *lifeline; /* the number of a descriptor; NULL: none */
    const char **sets;    /* "key=value" */
    size_t n_sets;
};

/* Runs until it is told to end: 0. */
[[nodiscard]] int service_run(const struct service_options *o, struct err *e);
