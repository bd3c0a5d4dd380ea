/* cli/jupyter/sockets.h — the five sockets of a Jupyter kernel. Runs in: main.
 *
 * libzmq is loaded when it is needed, because linking it, with the libraries that it needs, would
 * make each start of belljar slower.
 *
 * Invariants
 * SOCKETS-1 No function but sockets_wait() blocks. A client that does not read loses messages. */
#pragma once

#include <stdbool.h>

#include "cli/jupyter/connection.h"
#include "cli/jupyter/message.h"

struct sockets;

/* Binds all of them. */
[[nodiscard]] int sockets_open(struct sockets **ret, const struct connection *c, struct err *e);
void sockets_free(struct sockets *s);

/* Waits for a message on one of the channels (a mask of 1 << channel), or for bytes on the
 * descriptor, if it is not -1. Returns the mask of the channels that have one. A signal ends it. */
unsigned sockets_wait(struct sockets *s, unsigned channels, int fd, int timeout_ms, bool *ret_fd);
/* False if there is no message, or it has too many parts or bytes. */
bool sockets_receive(struct sockets *s, enum channel c, struct parts *ret);
void sockets_send(struct sockets *s, enum channel c, const struct parts *p);
