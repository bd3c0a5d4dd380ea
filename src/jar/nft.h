/* jar/nft.h — rules of nf_tables in the network namespace of a jar.
 * Runs in: a clone of the warden (jar/plumber.h). Never logs.
 *
 * With a wildcard, a connection of the guest to the synthetic address of a name goes to the socket of the
 * porter at NFT_CATCH_ADDRESS, if it listens there at the same port. A connection to an address of which
 * every port is open goes to the socket at its port NFT_CATCH_PORT. With the full network, connections to all
 * addresses but loopback go to NFT_CATCH_ADDRESS and NFT_CATCH_PORT. The connection keeps its own target, which getsockname()
 * tells. This is TPROXY, not address translation: the kernel keeps no table of connections that a guest could fill. */
#pragma once

#include "base/err.h"
#include "spec/plumbing.h"

/* The caller is in the namespace. ERR_UNAVAILABLE: this kernel cannot do it. */
[[nodiscard]] int nft_catch(const struct plumbing *p, bool wildcards, struct err *e);
