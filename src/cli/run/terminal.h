/* cli/run/terminal.h — passes input from a terminal to the program.
 * Runs in: main, because main is under the job control of the shell. A keeper has a session of its
 * own: after Ctrl-Z or '&' the kernel would let it read the input of the shell.
 *
 * Invariants
 * TERMINAL-1 While another process group has the terminal, we read nothing from it.
 * TERMINAL-2 We read no more than the pipe to the keeper takes. */
#pragma once

#include <poll.h>
#include <stddef.h>

#include "base/err.h"

struct terminal {
    int fd;      /* opened by us, so that it can be non-blocking; -1: none */
    int feed_fd; /* the pipe to the keeper; -1: none, or the input has ended */
    size_t held, from;
    char bytes[4096];
};
#define TERMINAL_INIT           \
    {                           \
        .fd = -1, .feed_fd = -1 \
    }

enum { TERMINAL_POLLS = 2 };

void terminal_done(struct terminal *t);
/* If *fd is a terminal, puts a pipe in its place, which terminal_ready() fills. The reading end
 * stays open in main, so that the pipe keeps its content if the keeper dies, and a write raises no
 * SIGPIPE. */
[[nodiscard]] int terminal_open(struct terminal *t, int *fd, struct err *e);
/* Fills p and returns the timeout in ms: no event tells that the terminal is ours again. */
int terminal_polls(const struct terminal *t, struct pollfd p[TERMINAL_POLLS]);
void terminal_ready(struct terminal *t, const struct pollfd p[TERMINAL_POLLS]);

/* The columns of a terminal; 0 if the descriptor is not a terminal. */
int terminal_columns(int fd);
