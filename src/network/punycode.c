#include "network/punycode.h"

#include <stdbool.h>
#include <stdio.h>

/* The parameters of RFC 3492, section 5. */
enum {
    BASE = 36,
    T_MIN = 1,
    T_MAX = 26,
    SKEW = 38,
    DAMP = 700,
    FIRST_BIAS = 72,
    FIRST_POINT = 0x80,
};

struct writer {
    char *out;
    size_t size, len;
    bool full;
};

static void put(struct writer *w, char c)
{
    if (w->len + 1 >= w->size) {
        w->full = true;
        return;
    }
    w->out[w->len++] = c;
    w->out[w->len] = '\0';
}

static uint32_t adapt(uint32_t delta, uint32_t n_points, bool first)
{
    uint32_t k = 0;
    delta = first ? delta / DAMP : delta / 2;
    delta += delta / n_points;
    for (; delta > ((BASE - T_MIN) * T_MAX) / 2; k += BASE)
        delta /= BASE - T_MIN;
    return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

static void put_number(struct writer *w, uint32_t delta, uint32_t bias)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    for (uint32_t k = BASE;; k += BASE) {
        uint32_t t = k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
        if (delta < t)
            break;
        put(w, digits[t + (delta - t) % (BASE - t)]);
        delta = (delta - t) / (BASE - t);
    }
    put(w, digits[delta]);
}

static uint32_t next_point(const uint32_t *points, size_t n, uint32_t from)
{
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < n; i++)
        if (points[i] >= from && points[i] < least)
            least = points[i];
    return least;
}

/* 63 code points below 0x110000 keep every number here below 2^32. */
static void put_points(struct writer *w, const uint32_t *points, size_t n, uint32_t basic)
{
    uint32_t at = FIRST_POINT, delta = 0, bias = FIRST_BIAS;
    for (uint32_t done = basic; done < n && !w->full; delta++, at++) {
        uint32_t point = next_point(points, n, at);
        delta += (point - at) * (done + 1);
        at = point;
        for (size_t i = 0; i < n; i++) {
            delta += points[i] < at;
            if (points[i] != at)
                continue;
            put_number(w, delta, bias);
            bias = adapt(delta, done + 1, done == basic);
            delta = 0;
            done++;
        }
    }
}

int punycode_label(const uint32_t *points, size_t n, char *out, size_t size)
{
    struct writer w = { .out = out, .size = size };
    uint32_t basic = 0;
    if (n == 0 || n > 63)
        return -1;
    for (const char *c = "xn--"; *c; c++)
        put(&w, *c);
    for (size_t i = 0; i < n; i++)
        if (points[i] < FIRST_POINT) {
            put(&w, (char)points[i]);
            basic++;
        }
    if (basic > 0)
        put(&w, '-');
    put_points(&w, points, n, basic);
    return w.full ? -1 : 0;
}
