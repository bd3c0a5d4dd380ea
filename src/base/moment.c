#include "base/moment.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/units.h"

const char *moment_format(int64_t unix_ms, char out[MOMENT_SIZE])
{
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm utc;
    size_t n = gmtime_r(&seconds, &utc) ? strftime(out, MOMENT_SIZE, "%Y-%m-%dT%H:%M:%S", &utc) : 0;
    if (n > 0)
        (void)snprintf(out + n, MOMENT_SIZE - n, ".%03uZ", (unsigned)(unix_ms % 1000));
    else
        (void)snprintf(out, MOMENT_SIZE, "%lld", (long long)unix_ms); /* a year beyond counting */
    return out;
}

/* ".25" is 250; finer digits are dropped. Nothing there is 0. */
static int64_t take_fraction(const char **at)
{
    int64_t ms = 0, place = 100;
    if (**at != '.' || (*at)[1] < '0' || (*at)[1] > '9')
        return 0;
    for (++*at; **at >= '0' && **at <= '9'; ++*at, place /= 10)
        ms += place * (**at - '0');
    return ms;
}

static int parse_date(const char *text, int64_t *ret_ms)
{
    static const char *const formats[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
                                           "%Y-%m-%dT%H:%M", "%Y-%m-%d" };
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        struct tm utc = { 0 };
        const char *end = strptime(text, formats[i], &utc);
        if (!end)
            continue;
        int64_t ms = take_fraction(&end);
        if (*end != '\0' && strcmp(end, "Z") != 0 && strcmp(end, "+00:00") != 0)
            continue;
        *ret_ms = (int64_t)timegm(&utc) * 1000 + ms;
        return 0;
    }
    return -1;
}

int moment_parse(const char *text, int64_t now_ms, int64_t *ret_ms)
{
    uint64_t n;
    if (parse_date(text, ret_ms) == 0)
        return 0;
    if (text[strspn(text, "0123456789")] == '\0') {
        if (unit_parse(UNIT_COUNT, text, &n))
            return -1;
        *ret_ms = (int64_t)n;
        return 0;
    }
    if (unit_parse(UNIT_MS, text, &n))
        return -1;
    *ret_ms = (int64_t)n < now_ms ? now_ms - (int64_t)n : 0;
    return 0;
}
