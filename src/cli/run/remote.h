/* cli/run/remote.h — `belljar run` by a running service. Runs in: main, with the rights of the
 * caller.
 *
 * Invariants
 * REMOTE-1 Only the caller and root get the files of the caller: the owner of the socket and the
 *          uid of the listening process are checked. A service that the caller names by its URL
 *          gets them, too.
 * REMOTE-2 A run that a service may have started is never started again here.
 * REMOTE-3 A keeper without privileges (remote_keeper.h) reads the answer of the service, because
 *          the program wrote parts of it. */
#pragma once

#include "cli/run/inputs.h"
#include "cli/run/run_arguments.h"
#include "cli/service_choice.h"
#include "client/client.h"

enum { REMOTE_NONE = -2 };

/* Connects to the service that the caller chose; NULL is the default one. Returns 0; REMOTE_NONE if
 * there is no service that REMOTE-1 allows; -1 if it refuses the connection, or if no service is at
 * the URL that the caller named. */
[[nodiscard]] int remote_connect(const struct service_choice *s, struct client **ret,
                                 struct err *e);

/* An option with which no running service is used; NULL: none is given. */
const char *remote_option_of_here(const struct run_arguments *o);

/* Adds a next step to the reason why a service refused. Always -1. */
[[nodiscard]] int remote_advise(struct err *e);

/* Returns the exit status, -1, or REMOTE_NONE if no service can take this run. */
[[nodiscard]] int remote_run(const struct run_arguments *o, struct inputs *in, struct err *e);
