/* api/meta/meta.h — objects and fields about the service itself, for tests. Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"

/* {"python": {zygote, why, ready, building, target, starts, forks, zygotes, deaths, discarded},
 * ...} */
json_t *meta_pools(const struct engine_pools *p);
extern const struct api_field pool_reply[];
