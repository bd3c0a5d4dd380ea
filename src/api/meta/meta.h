/* api/meta/meta.h — what the service says about itself. */
#pragma once

#include <jansson.h>

#include "engine/engine.h"

/* {"python": {zygote, why, ready, building, target, starts, forks, zygotes, deaths, discarded}, …} */
json_t *meta_pools(const struct engine_pools *p);
