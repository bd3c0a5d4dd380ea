/* network/advice.h — one sentence about the network of a run that failed. Runs in: keeper. Pure.
 * ADVICE-1 People paste advice into shells: a name of the guest's is part of it only if it is the
 *          plain name of a host. */
#pragma once

#include "network/record.h"

enum { NETWORK_ADVICE_SIZE = 400 };

/* The sentence about the last connection or name that failed; "" if none did. */
const char *network_advice(const struct network_policy *p, const struct network_log *log,
                           char out[NETWORK_ADVICE_SIZE]);
