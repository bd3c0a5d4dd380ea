#include "network/caps.h"

#define MIB (1ULL << 20)
#define GIB (1ULL << 30)

const struct network_cap_def network_cap_defs[NETWORK_CAP_COUNT] = {
    [NETWORK_CAP_CONNECTIONS] = { "connections", UNIT_COUNT, 1, 1024, 64,
                                  "connections of one run at a time",
                                  "held more connections at a time" },
    [NETWORK_CAP_CONNECTIONS_TOTAL] = { "connections_total", UNIT_COUNT, 1, 1000000, 1024,
                                        "connections of one run in all", "made more connections" },
    [NETWORK_CAP_NAMES] = { "names", UNIT_COUNT, 1, 4096, 4096,
                            "different names of wildcards that one run may look up",
                            "looked up more names" },
    [NETWORK_CAP_BYTES_IN] = { "bytes_in", UNIT_BYTES, 1, 1024 * GIB, 64 * MIB,
                               "bytes that one run may receive", "received more bytes" },
    [NETWORK_CAP_BYTES_OUT] = { "bytes_out", UNIT_BYTES, 1, 1024 * GIB, 64 * MIB,
                                "bytes that one run may send", "sent more bytes" },
    [NETWORK_CAP_IDLE_MS] = { "idle", UNIT_MS, 100, 24ULL * 3600 * 1000, 60000,
                              "a connection without a byte for this long is closed", NULL },
};

struct network_caps network_caps_default(void)
{
    struct network_caps caps;
    for (int i = 0; i < NETWORK_CAP_COUNT; i++)
        caps.v[i] = network_cap_defs[i].def;
    return caps;
}

int network_caps_check(const struct network_caps *caps, struct err *e)
{
    for (int i = 0; i < NETWORK_CAP_COUNT; i++) {
        const struct network_cap_def *d = &network_cap_defs[i];
        if (caps->v[i] < d->min || caps->v[i] > d->max)
            return err_set(e, ERR_BAD_REQUEST, 0, "network %s is out of bounds", d->key);
    }
    return 0;
}
