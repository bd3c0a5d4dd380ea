/* cli/jupyter/forwarder.h — the process of `belljar kernel` that speaks to the service. It has the
 * uid and the confinement of a keeper, because answers hold bytes that programs wrote. main, which
 * has the sockets of Jupyter, passes the contents of messages on unread.
 *
 * Invariants
 * FORWARD-1 One request of main at a time. While a cell runs, main may interrupt it or send it a
 *           line; a second connection carries that.
 * FORWARD-2 The session lives as long as main: it is ended when main is gone, and expires soon if
 *           both are killed. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "client/client.h"
#include "runtime/language.h"

struct forwarder_job {
    struct client *events, *side;
    const struct language *language;
    int link_fd;
    pid_t parent;
    uid_t uid;
    uint64_t timeout_ms; /* of a cell; 0: the default of the service */
};

/* Creates the session, serves main until it is gone, and ends the session. Exit status. */
int forwarder_run(const struct forwarder_job *job);
