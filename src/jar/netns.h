/* jar/netns.h — a network namespace with one interface. Runs in: a jar's init. */
#pragma once

#include "base/err.h"

/* Programs that talk to themselves over 127.0.0.1 work; there is no other interface. */
[[nodiscard]] int netns_loopback_up(struct err *e);
