/* cli/run/remote.h — `belljar run` by a running service. Runs in: main, with the caller's rights.
 *
 * Invariants
 * 1 The caller's files go to nobody but the caller and root: the socket's owner and whoever listens are checked.
 * 2 A run that a service may have begun is never begun again here.
 * 3 What the service answers is read by a keeper without privileges (remote_keeper.h), since the program had a hand in it. */
#pragma once

#include "cli/run/inputs.h"
#include "cli/run/run_arguments.h"
#include "client/client.h"

enum { REMOTE_NONE = -2 };

/* Connects to the service on a state directory: NULL is the usual one. 0; REMOTE_NONE when there is none of ours; -1 when there
 * is and it does not let us in. */
[[nodiscard]] int remote_connect(const char *state, struct client **ret, struct err *e);

/* What the caller can do about a service that does not want, behind the reason. Always -1. */
[[nodiscard]] int remote_advise(struct err *e);

/* The exit status; REMOTE_NONE when there is no service to ask, or it is not to be asked; or -1. */
[[nodiscard]] int remote_run(const struct run_arguments *o, struct inputs *in, struct err *e);
