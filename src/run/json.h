/* run/json.h — the small change of making JSON. Runs in: keeper, CLI.
 * Only lack of memory makes a value NULL. jansson passes that on: what was to hold it is left out, or is NULL itself. */
#pragma once

#include <jansson.h>

/* What a double keeps of any decimal number: 0.1 stays 0.1. */
#define JSON_DIGITS JSON_REAL_PRECISION(15)

/* Takes the reference; a NULL value is left out. */
static inline void json_put(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

static inline json_t *json_text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

/* Takes the reference. One line for the heap, or NULL. */
static inline char *json_line(json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    return text;
}
