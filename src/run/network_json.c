#include "run/network_json.h"

#include <string.h>

#include "network/address_set.h"
#include "run/json.h"
#include "run/result.h"

static json_t *address_or_null(const uint8_t address[16])
{
    static const uint8_t none[16];
    char text[ADDRESS_TEXT_SIZE];
    return memcmp(address, none, sizeof none) == 0
               ? json_null()
               : json_string(address_text(address, text, sizeof text));
}

json_t *network_record_json(const struct network_record *r)
{
    json_t *o = json_object();
    json_put(o, "host", json_text_or_null(r->name[0] ? r->name : NULL));
    json_put(o, "port", r->port ? json_integer(r->port) : json_null());
    json_put(o, "protocol", json_string(r->protocol == NETWORK_UDP ? "udp" : "tcp"));
    json_put(o, "address", address_or_null(r->address));
    json_put(o, "outcome", json_string(network_outcome_word(r->outcome)));
    json_put(o, "sni", json_text_or_null(r->sni[0] ? r->sni : NULL));
    json_put(o, "started_at", result_time(r->start_ms));
    json_put(o, "duration_ms", json_real((double)r->duration_us / 1000));
    json_put(o, "bytes_in", json_integer((json_int_t)r->bytes_in));
    json_put(o, "bytes_out", json_integer((json_int_t)r->bytes_out));
    return o;
}

static json_t *caps_array(uint32_t caps)
{
    json_t *list = json_array();
    for (int i = 0; i < NETWORK_CAP_COUNT; i++)
        if (caps & (1U << i))
            (void)json_array_append_new(list, json_string(network_cap_defs[i].key));
    return list;
}

json_t *network_json(const struct network_policy *p, const struct network_log *log)
{
    json_t *o = json_object(), *list = json_array();
    uint64_t connections = log->connections; /* that are over */
    for (size_t i = 0; i < log->n; i++) {
        (void)json_array_append_new(list, network_record_json(&log->v[i]));
        connections += log->v[i].outcome == NETWORK_OPEN;
    }
    json_put(o, "mode", json_string(p->mode == NETWORK_FULL ? "full" : "list"));
    json_put(o, "connections", json_integer((json_int_t)connections));
    json_put(o, "denied", json_integer((json_int_t)network_log_denials(log)));
    json_put(o, "bytes_in", json_integer((json_int_t)log->bytes_in));
    json_put(o, "bytes_out", json_integer((json_int_t)log->bytes_out));
    json_put(o, "log", list);
    json_put(o, "unrouted", json_integer((json_int_t)log->unrouted));
    json_put(o, "refused", json_integer((json_int_t)log->refused));
    json_put(o, "omitted", json_integer((json_int_t)log->omitted));
    json_put(o, "limits_hit", caps_array(log->caps_hit));
    json_put(o, "complete", json_boolean(!log->lost));
    return o;
}

bool network_limit_hit(const struct network_log *log)
{
    return (log->caps_hit & ~(1U << NETWORK_CAP_IDLE_MS)) != 0;
}
