/* run/network_json.h — the network of a run as JSON. Runs in: keeper. */
#pragma once

#include <jansson.h>

#include "network/record.h"

/* {mode, connections, denied, bytes_in, bytes_out, log: [...], unrouted, refused, omitted, limits_hit, complete} */
json_t *network_json(const struct network_policy *p, const struct network_log *log);
/* {host, port, protocol, address, outcome, sni, started_at, duration_ms, bytes_in, bytes_out} */
json_t *network_record_json(const struct network_record *r);
/* Whether a cap was met that a program notices. */
bool network_limit_hit(const struct network_log *log);
