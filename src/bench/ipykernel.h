/* bench/ipykernel.h — the other way to have a live Python: an ipykernel, used by jupyter_client as
 * notebooks use it. Runs in: the process that measures, which talks to a client in Python. The
 * client measures its own times: they contain no start of the client. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ipykernel {
    pid_t pid;
    int fd; /* one line for each request, one for each answer */
};

/* False with the reason if this machine has none. `dir` is for its files. */
[[nodiscard]] bool ipykernel_open(struct ipykernel *ret, const char *dir, char *why, size_t size);
void ipykernel_close(struct ipykernel *k);
/* `1+1` in a kernel that runs: from the request to its result and its last message, in ms. */
double ipykernel_cell(struct ipykernel *k);
/* Starts another kernel, runs `1+1` in it, and ends it. The time up to its end does not count. */
double ipykernel_start(struct ipykernel *k);
