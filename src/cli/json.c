#include "cli/json.h"

json_t *json_limit_set(limit_set set)
{
    json_t *list = json_array();
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (set & LIMIT_BIT(i))
            (void)json_array_append_new(list, json_string(limit_defs[i].key));
    return list;
}

json_t *json_layer_set(layer_set set)
{
    json_t *list = json_array();
    for (int i = 0; i < LAYER_COUNT_; i++)
        if (set & LAYER_BIT(i))
            (void)json_array_append_new(list, json_string(layer_name((enum layer)i)));
    return list;
}
