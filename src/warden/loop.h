/* warden/loop.h — the event loop of the warden. Runs in: warden, after its hello. */
#pragma once

#include "jar/jar.h"
#include "warden/zygote_pools.h"

/* Serves the wire until the peer closes it or breaks the protocol. On return no jar is left. */
void warden_loop(int wire_fd, struct jar_host *host, struct zygote_pools *pools);
