/* network/caps.h — bounds on the use of the network by one run. Runs in: keeper, porter. Pure.
 * A row of network_cap_defs feeds the settings, the result and the messages. */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/units.h"

enum network_cap {
    NETWORK_CAP_CONNECTIONS, /* at a time */
    NETWORK_CAP_CONNECTIONS_TOTAL,
    NETWORK_CAP_NAMES,     /* different names of wildcards */
    NETWORK_CAP_BYTES_IN,  /* towards the guest */
    NETWORK_CAP_BYTES_OUT, /* from the guest */
    NETWORK_CAP_IDLE_MS,   /* of a connection without a byte; not a limit of the run */
    NETWORK_CAP_COUNT,
    NETWORK_CAP_NONE = NETWORK_CAP_COUNT,
};

struct network_caps {
    uint64_t v[NETWORK_CAP_COUNT];
};

struct network_cap_def {
    const char *key; /* in JSON and, after "network.", in the settings */
    enum unit_kind unit;
    uint64_t min, max, def;
    const char *help;
    const char *exceeded; /* "it " + this; NULL: no run meets it */
};
extern const struct network_cap_def network_cap_defs[NETWORK_CAP_COUNT];

struct network_caps network_caps_default(void);
[[nodiscard]] int network_caps_check(const struct network_caps *caps, struct err *e);
