/* api/runs/network_request.h — the field "network" of a request. Runs in: keeper. Pure functions.
 *
 * NETWORK_REQUEST-1 A policy is within `network.max`, and within the maximum of the key. A literal address in it is one that runs may
 *                   reach at all. */
#pragma once

#include "api/kernel/api.h"
#include "network/policy.h"

/* The rows of the object. */
extern const struct api_field network_fields[];
/* The word in place of the object: none. */
extern const char *const network_words[];
#define NETWORK_FIELD                                                                   \
    {                                                                                   \
        "network", FIELD_NETWORK,                                                       \
            .one_of = network_words, .fields = network_fields,                          \
            .help = "the hosts that it may reach: none (the default), full, or a list", \
            .also = "allow_net=network.allow,internet=network,allow_internet=network"   \
    }

/* value NULL: none. key NULL: the caller has none. ret_field gets the field of an error. */
[[nodiscard]] int network_from_json(const struct api *api, const char *key, const json_t *value,
                                    struct network_policy *ret, char *ret_field, size_t field_size,
                                    struct err *e);
/* In the form of a request. */
json_t *network_to_json(const struct network_policy *p);
/* Whether a policy other than `none` can be enforced here. */
[[nodiscard]] int network_possible(const struct api *api, const struct network_policy *p,
                                   struct err *e);
