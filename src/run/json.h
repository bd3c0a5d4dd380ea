/* run/json.h — small helpers to make and read JSON. Runs in: keeper, CLI.
 * A value is NULL only if memory ran out. Then jansson leaves out its key, or the object around it is
 * NULL, too. */
#pragma once

#include <jansson.h>

/* The precision at which every decimal number survives a double: 0.1 stays 0.1. */
#define JSON_DIGITS JSON_REAL_PRECISION(15)

/* Takes over the reference. A NULL value is left out. */
static inline void json_put(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

static inline json_t *json_text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

/* Takes over the reference. One line on the heap, or NULL. */
static inline char *json_line(json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    return text;
}

/* The text of a member; NULL: it has none. */
static inline const char *json_find_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* The text of a member; "" if it has none. */
static inline const char *json_get_text(const json_t *object, const char *key)
{
    const char *text = json_find_text(object, key);
    return text ? text : "";
}
