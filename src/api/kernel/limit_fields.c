/* Limits as JSON: a number in the unit of the key, or text with a unit. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/kernel/fields.h"
#include "base/array.h"
#include "base/text.h"

static const char *limit_key_at(const void *context, size_t i)
{
    (void)context;
    return i < LIMIT_COUNT ? limit_defs[i].key : NULL;
}

/* Names of limits in other products. */
static const char *limit_meant(const char *key)
{
    static const struct {
        const char *word;
        enum limit_id id;
    } rows[] = {
        { "timeout", LIMIT_WALL_MS },     { "timeout_ms", LIMIT_WALL_MS },
        { "time", LIMIT_WALL_MS },        { "time_ms", LIMIT_WALL_MS },
        { "time_limit", LIMIT_WALL_MS },  { "wall_time", LIMIT_WALL_MS },
        { "cpu_time", LIMIT_CPU_MS },     { "cpus", LIMIT_CPU_PERCENT },
        { "memory_mb", LIMIT_MEMORY },    { "memory_bytes", LIMIT_MEMORY },
        { "memory_limit", LIMIT_MEMORY }, { "ram", LIMIT_MEMORY },
        { "processes", LIMIT_PIDS },      { "max_output", LIMIT_OUTPUT },
        { "output_bytes", LIMIT_OUTPUT }, { "nofile", LIMIT_OPEN_FILES },
        { "swap", LIMIT_MEMORY_SWAP },    { "memswap_limit", LIMIT_MEMORY_SWAP },
        { "shares", LIMIT_CPU_SHARES },   { "cpu_weight", LIMIT_CPU_SHARES },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].word, key) == 0)
            return limit_defs[rows[i].id].key;
    return NULL;
}

int limit_find(const char *key, const char *name, enum limit_id *ret, struct err *e)
{
    char quoted[96];
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (strcmp(limit_defs[i].key, key) == 0) {
            *ret = (enum limit_id)i;
            return 0;
        }
    const char *near = limit_meant(key);
    if (!near)
        near = nearest_name(key, limit_key_at, NULL);
    if (near)
        return err_set(e, ERR_BAD_REQUEST, 0, "%s: there is no limit '%s'; did you mean '%s'?",
                       name, text_quote(key, quoted, sizeof quoted), near);
    char known[160];
    return err_set(e, ERR_BAD_REQUEST, 0, "there is no limit '%s'; accepted: %s",
                   text_quote(key, quoted, sizeof quoted),
                   names_listed(limit_key_at, NULL, known, sizeof known));
}

static int out_of_bounds(const struct limit_def *d, const char *shown, uint64_t max,
                         const char *name, struct err *e)
{
    char least[32], most[32];
    if (d->min == max)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "%s %s is out of bounds: only %s is accepted, because the setting "
                       "limits.%s.max of this service allows no more",
                       name, shown, unit_format(d->unit, max, most, sizeof most), d->key);
    return err_set(e, ERR_BAD_REQUEST, 0, "%s %s is out of bounds: from %s to %s is accepted", name,
                   shown, unit_format(d->unit, d->min, least, sizeof least),
                   unit_format(d->unit, max, most, sizeof most));
}

/* units.h has words for text; here a number is accepted too, in the unit of the key. */
static const char *accepted(enum unit_kind unit)
{
    static const char *const words[] = {
        [UNIT_COUNT] = "a whole number",
        [UNIT_BYTES] = "a number of bytes, or text such as \"64k\", \"512m\" or \"1g\"",
        [UNIT_MS] = "a number of milliseconds, or text such as \"500ms\", \"10s\" or \"2m\"",
    };
    return words[unit];
}

static bool all_digits(const char *s)
{
    return s[0] != '\0' && s[strspn(s, "0123456789.")] == '\0';
}

static int not_a_limit(const struct limit_def *d, const json_t *v, const char *name, struct err *e)
{
    char shown[120];
    return err_set(e, ERR_BAD_REQUEST, 0, "%s must be %s, not %s", name, accepted(d->unit),
                   json_describe(v, shown, sizeof shown));
}

static int limit_from_text(const struct limit_def *d, const json_t *v, const char *name,
                           uint64_t *ret, struct err *e)
{
    const char *text = json_string_value(v);
    if (strlen(text) != json_string_length(v))
        return not_a_limit(d, v, name, e);
    /* On the command line "2" is seconds, in JSON the number 2 is milliseconds. So text needs a
     * unit. */
    if (d->unit == UNIT_MS && all_digits(text))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "%s must be a number, or text with a unit, and \"%.20s\" has none: write "
                       "%.20s for milliseconds, or \"%.20ss\" for seconds",
                       name, text, text, text);
    return unit_parse(d->unit, text, ret) ? not_a_limit(d, v, name, e) : 0;
}

/* 30, and 30.0 or 1e9, as some languages write it. False if it is not a whole number. A number
 * below 0 or too large for *ret sets *ret_beyond. */
static bool limit_from_number(const json_t *v, uint64_t *ret, bool *ret_beyond)
{
    double n = json_number_value(v);
    if (!json_is_number(v) || !isfinite(n) || n != trunc(n))
        return false;
    *ret_beyond = n < 0 || n >= 0x1p63;
    if (!*ret_beyond)
        *ret = json_is_integer(v) ? (uint64_t)json_integer_value(v) : (uint64_t)n;
    return true;
}

int limit_from_json(const struct limit_def *d, const json_t *v, const uint64_t *max,
                    const char *name, uint64_t *ret, struct err *e)
{
    char number[32];
    uint64_t value = 0;
    bool beyond = false;
    if (json_is_string(v)) {
        if (limit_from_text(d, v, name, &value, e))
            return -1;
    } else if (!limit_from_number(v, &value, &beyond)) {
        return not_a_limit(d, v, name, e);
    }
    if (!max)
        return 0;
    if (beyond || value < d->min || value > *max) {
        if (beyond)
            (void)snprintf(number, sizeof number, "%.15g", json_number_value(v));
        else
            (void)unit_format(d->unit, value, number, sizeof number);
        return out_of_bounds(d, number, *max, name, e);
    }
    *ret = value;
    return 0;
}

int api_limits(const json_t *object, const struct limits *defaults, const struct limits *max,
               struct limits *ret, char *ret_field, size_t field_size, struct err *e)
{
    struct limits limits = *defaults;
    limit_set set = 0;
    char shown[120];
    const char *key;
    json_t *v;
    (void)snprintf(ret_field, field_size, "limits");
    if (object && !json_is_null(object) && !json_is_object(object))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "limits must be an object such as {\"memory\": \"64m\"}, not %s",
                       json_describe(object, shown, sizeof shown));
    json_object_foreach((json_t *)object, key, v) /* jansson's macro takes no const */
    {
        enum limit_id id;
        (void)snprintf(ret_field, field_size, "limits.%s", key);
        if (limit_find(key, "limits", &id, e))
            return -1;
        if (json_is_null(v))
            continue;
        if (limit_from_json(&limit_defs[id], v, &max->v[id], ret_field, &limits.v[id], e))
            return -1;
        set |= LIMIT_BIT(id);
    }
    limits_raise_cpu(&limits, set, max->v[LIMIT_CPU_MS]);
    *ret = limits;
    return 0;
}
