/* warden/loop.h — the warden's life after it has said hello. Runs in: warden. */
#pragma once

#include "jar/jar.h"
#include "warden/zygote_pools.h"

/* Serves the wire until the peer closes it or breaks the protocol; no jar is left when it returns. */
void warden_loop(int wire_fd, struct jar_host *host, struct zygote_pools *pools);
