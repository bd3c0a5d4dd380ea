/* cli/mcp/bridge.h — the process of `belljar mcp` that speaks to the service. It has the uid and the
 * confinement of a keeper, because answers hold bytes that programs wrote. It reads no message: each
 * line of stdin is the body of one POST /mcp, and each line of an answer is a line of stdout.
 *
 * Invariants
 * BRIDGE-1 The service gets messages in the order of their lines: a line is sent after the head of
 *          the answer to the line before it.
 * BRIDGE-2 Stdout has nothing but messages of the service, each on a line. */
#pragma once

#include <sys/types.h>

struct bridge_job {
    int link_fd; /* main connects: the socket does not let in our uid */
    pid_t parent;
    uid_t uid;
};

/* Until stdin ends. Exit status. */
int bridge_run(const struct bridge_job *job);
