/* service/lifeline.h — a socket that ties a service to the program that started it for itself,
 * such as a program with libbelljar. Runs in: supervisor.
 *
 * Invariants
 * LIFELINE-1 The service ends when the other end of the socket is shut down or closed, or when the
 *            process that made the socket is dead, also if a fork of that process still holds
  * the other end.
 * LIFELINE-2 The supervisor alone holds its end, and holds it until it exits: the owner sees the
 *            end of the file when the service is gone, and its last words are in the log. */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct lifeline {
    int fd;       /* -1: the service belongs to nobody */
    int owner_fd; /* a pidfd of the owner */
    bool lost;
};
#define LIFELINE_INIT             \
    {                             \
        .fd = -1, .owner_fd = -1, \
    }

/* `text` is the number of an inherited descriptor: one end of a pair of stream sockets that the
 * parent of this process made. */
[[nodiscard]] int lifeline_open(struct lifeline *l, const char *text, struct err *e);
/* Tells the owner that the service answers at this unix socket. */
void lifeline_tell_ready(const struct lifeline *l, const char *socket_path);

enum { LIFELINE_POLLS = 2 };
void lifeline_polls(const struct lifeline *l, struct pollfd ret[LIFELINE_POLLS]);
/* True once: the owner is gone, or wants the end of the service. */
bool lifeline_lost(struct lifeline *l, const struct pollfd polls[LIFELINE_POLLS]);
