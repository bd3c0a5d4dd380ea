#include "base/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *name;
    uint64_t factor;
};

/* Largest first: unit_format takes the first that divides evenly. */
static const struct unit byte_units[] = {
    { "t", 1ULL << 40 }, { "g", 1ULL << 30 }, { "m", 1ULL << 20 },
    { "k", 1ULL << 10 }, { "b", 1 },          { "", 1 },
};
/* Days are read, but written as hours. */
static const struct unit time_units[] = {
    { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 }, { "d", 86400000 }, { "", 1000 },
};
static const struct unit count_units[] = { { "", 1 } };

static const struct {
    const struct unit *units;
    size_t n;
    const char *accepted;
} kinds[] = {
    [UNIT_COUNT] = { count_units, 1, "a whole number" },
    [UNIT_BYTES] = { byte_units, 6, "a size such as 65536, 64k, 512m or 1g" },
    [UNIT_MS] = { time_units, 6,
                  "a duration such as 500ms, 10s, 2m or 1h (a bare number is seconds)" },
};

/* "mib" and "mb" mean "m": people write all three. */
static int suffix_matches(enum unit_kind kind, const char *suffix, const char *name)
{
    if (strcasecmp(suffix, name) == 0)
        return 1;
    size_t n = strlen(name);
    if (kind != UNIT_BYTES || n != 1 || name[0] == 'b' || strncasecmp(suffix, name, n) != 0)
        return 0;
    return strcasecmp(suffix + n, "b") == 0 || strcasecmp(suffix + n, "ib") == 0;
}

/* Digits with an optional decimal part, in thousandths; at most 19 significant digits so that
 * nothing overflows silently. */
static int parse_thousandths(const char **text, uint64_t *ret_thousandths)
{
    const char *p = *text;
    uint64_t value = 0;
    int digits = 0;
    for (; isdigit((unsigned char)*p); p++, digits++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            return -1;
    if (digits == 0 || __builtin_mul_overflow(value, 1000, &value))
        return -1;
    if (*p == '.') {
        uint64_t place = 100;
        const char *first = ++p;
        for (; isdigit((unsigned char)*p); p++, place /= 10) {
            if (place == 0 && *p != '0')
                return -1; /* finer than we count */
            value += place * (uint64_t)(*p - '0');
        }
        if (p == first)
            return -1;
    }
    *text = p;
    *ret_thousandths = value;
    return 0;
}

int unit_parse(enum unit_kind kind, const char *text, uint64_t *ret_value)
{
    const char *p = text;
    uint64_t thousandths;
    if (parse_thousandths(&p, &thousandths))
        return -1;
    for (size_t i = 0; i < kinds[kind].n; i++) {
        if (!suffix_matches(kind, p, kinds[kind].units[i].name))
            continue;
        unsigned __int128 value = (unsigned __int128)thousandths * kinds[kind].units[i].factor;
        if (value / 1000 > INT64_MAX || (kind == UNIT_COUNT && value % 1000 != 0))
            return -1;
        *ret_value = (uint64_t)(value / 1000);
        return 0;
    }
    return -1;
}

const char *unit_accepted(enum unit_kind kind)
{
    return kinds[kind].accepted;
}

const char *unit_format(enum unit_kind kind, uint64_t value, char *out, size_t out_size)
{
    for (size_t i = 0; i < kinds[kind].n; i++) {
        const struct unit *u = &kinds[kind].units[i];
        if (value % u->factor != 0 || (value == 0 && u->factor != 1))
            continue;
        int plain = kind == UNIT_BYTES && u->factor == 1; /* "65", not "65b" */
        (void)snprintf(out, out_size, "%" PRIu64 "%s", value / u->factor, plain ? "" : u->name);
        return out;
    }
    (void)snprintf(out, out_size, "%" PRIu64, value);
    return out;
}
