/* cli/json.h — the sets of spec/ as JSON lists of their names. */
#pragma once

#include <jansson.h>

#include "spec/isolation.h"
#include "spec/limit.h"

json_t *json_limit_set(limit_set set);
json_t *json_layer_set(layer_set set);
