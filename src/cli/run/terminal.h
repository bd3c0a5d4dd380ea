/* cli/run/terminal.h — a terminal that the program reads. Runs in: main, which alone is under the shell's job control: a keeper
 * has a session of its own, and the kernel would let it read what is typed at the shell after Ctrl-Z or '&'.
 * T1 While another process group has the terminal nothing is read from it.
 * T2 No more is read than the pipe to the keeper takes. */
#pragma once

#include <poll.h>
#include <stddef.h>

#include "base/err.h"

struct terminal {
    int fd;      /* of our own, so that it can be non-blocking; -1: none */
    int feed_fd; /* to the keeper; -1: none, or the terminal is at its end */
    size_t held, from;
    char bytes[4096];
};
#define TERMINAL_INIT           \
    {                           \
        .fd = -1, .feed_fd = -1 \
    }

enum { TERMINAL_POLLS = 2 };

void terminal_done(struct terminal *t);
/* When *fd is a terminal, puts a pipe in its place, which terminal_ready() fills. The pipe's reading end stays open here, so
 * that what is in it is not lost with a keeper, and nothing written to it is a SIGPIPE. */
[[nodiscard]] int terminal_open(struct terminal *t, int *fd, struct err *e);
/* What to poll for, and for how many ms: there is no event that says that the terminal is ours again. */
int terminal_polls(const struct terminal *t, struct pollfd p[TERMINAL_POLLS]);
void terminal_ready(struct terminal *t, const struct pollfd p[TERMINAL_POLLS]);

/* How many columns a terminal has that is written to; 0 when the descriptor is none. */
int terminal_columns(int fd);
