/* jar/plumber.h — the routes and sockets of a jar with a network, made inside its namespace.
 * Runs in: the warden, for a short list of a run; otherwise a clone of it, which enters the network namespace
 * of one jar, and none of its other namespaces. Guest code runs in that jar only if it is a session. Never
 * logs.
 *
 * A jar has the loopback interface alone. A route of type `local` makes whole networks addresses of
 * the jar itself, and a socket belongs to the namespace that it was made in, in any process. So
 * every connection of the guest ends in the kernel of its own namespace, at a socket that the porter
 * holds. Addresses without such a route cannot be reached, and ports without a socket are refused. */
#pragma once

#include "base/err.h"
#include "spec/plumbing.h"

/* The caller is in the namespace. Sends every socket over to_fd (spec/plumbing.h). used: guest code was in
 * the namespace before, and an address that is in use may be that of a socket which a porter is closing. */
[[nodiscard]] int plumber_work(const struct plumbing *p, int to_fd, bool used, struct err *e);
