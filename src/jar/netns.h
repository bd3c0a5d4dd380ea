/* jar/netns.h — a network namespace with one interface, and the way into one and back.
 * Runs in: a jar's init (loopback, bounds), warden (the way). */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* Programs that talk to themselves over 127.0.0.1 work; there is no other interface. */
[[nodiscard]] int netns_loopback_up(struct err *e);
/* Bounds the kernel memory that sockets of this namespace take on nobody's account. */
[[nodiscard]] int netns_set_bounds(struct err *e);

/* A process that enters a network namespace must be able to come back, and only root can return to
 * that of the machine. Another warden moves into a new one for good; it needs no network. */
bool netns_can_return(int *own_net_fd);
/* Aborts when the way back is closed. */
void netns_return(int own_net_fd);
