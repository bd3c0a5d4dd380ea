#include "base/text.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

char *text_copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

char *text_trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        text[--n] = '\0';
    return text;
}

/* Length of the well-formed sequence at p, or 0. The ranges are those of Unicode's table 3-7. */
static size_t utf8_sequence(const unsigned char *p, size_t n)
{
    static const struct {
        unsigned char first_lo, first_hi, second_lo, second_hi, len;
    } rows[] = {
        { 0xC2, 0xDF, 0x80, 0xBF, 2 }, { 0xE0, 0xE0, 0xA0, 0xBF, 3 }, { 0xE1, 0xEC, 0x80, 0xBF, 3 },
        { 0xED, 0xED, 0x80, 0x9F, 3 }, { 0xEE, 0xEF, 0x80, 0xBF, 3 }, { 0xF0, 0xF0, 0x90, 0xBF, 4 },
        { 0xF1, 0xF3, 0x80, 0xBF, 4 }, { 0xF4, 0xF4, 0x80, 0x8F, 4 },
    };
    if (p[0] < 0x80)
        return 1;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (p[0] < rows[i].first_lo || p[0] > rows[i].first_hi || n < rows[i].len)
            continue;
        if (p[1] < rows[i].second_lo || p[1] > rows[i].second_hi)
            return 0;
        for (size_t k = 2; k < rows[i].len; k++)
            if (p[k] < 0x80 || p[k] > 0xBF)
                return 0;
        return rows[i].len;
    }
    return 0;
}

bool text_is_utf8(const char *bytes, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t len = utf8_sequence((const unsigned char *)bytes + i, n - i);
        if (len == 0)
            return false;
        i += len;
    }
    return true;
}

size_t text_characters(const char *bytes, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)bytes[i] & 0xC0) != 0x80;
    return count;
}

size_t text_whole(const char *bytes, size_t n)
{
    static const struct {
        unsigned char mask, lead;
        size_t len;
    } leads[] = { { 0xE0, 0xC0, 2 }, { 0xF0, 0xE0, 3 }, { 0xF8, 0xF0, 4 } };
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        unsigned char c = (unsigned char)bytes[n - back];
        if ((c & 0xC0) == 0x80)
            continue; /* the middle of one */
        for (size_t i = 0; i < ARRAY_LEN(leads); i++)
            if ((c & leads[i].mask) == leads[i].lead && leads[i].len > back)
                return n - back;
        break;
    }
    return n;
}

void text_end_whole(char *text)
{
    text[text_whole(text, strlen(text))] = '\0';
}

int text_add_utf8(struct buf *b, const char *bytes, size_t n, struct err *e)
{
    size_t good = 0; /* start of the well-formed stretch not yet copied */
    for (size_t i = 0; i < n;) {
        size_t len = utf8_sequence((const unsigned char *)bytes + i, n - i);
        if (len > 0) {
            i += len;
            continue;
        }
        if (buf_add(b, bytes + good, i - good, e) || buf_add(b, "\xEF\xBF\xBD", 3, e))
            return -1;
        good = ++i;
    }
    return buf_add(b, bytes + good, n - good, e);
}

int text_add_base64(struct buf *b, const void *bytes, size_t n, struct err *e)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = bytes;
    if (buf_reserve(b, (n + 2) / 3 * 4, e))
        return -1;
    char *out = b->data + b->len;
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)p[i] << 16;
        if (i + 1 < n)
            v |= (uint32_t)p[i + 1] << 8;
        if (i + 2 < n)
            v |= p[i + 2];
        *out++ = digits[v >> 18];
        *out++ = digits[v >> 12 & 63];
        *out++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
        *out++ = i + 2 < n ? digits[v & 63] : '=';
    }
    b->len = (size_t)(out - b->data);
    b->data[b->len] = '\0';
    return 0;
}

/* The value of a digit of base64, or -1. */
static int base64_value(unsigned char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

int text_base64_decode(const char *text, size_t n, struct buf *out, struct err *e)
{
    size_t pad = 0;
    while (pad < 2 && pad < n && text[n - pad - 1] == '=')
        pad++;
    if (n % 4 != 0)
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "base64 comes in groups of four, padded with '=', and this has %zu characters", n);
    for (size_t i = 0; i < n - pad; i++)
        if (base64_value((unsigned char)text[i]) < 0)
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "byte %zu is not base64: A-Z a-z 0-9 + / are, and '=' at the end",
                           i + 1);
    /* The bits that the padding cuts off must be zero: otherwise two texts would mean the same
     * bytes. */
    if (pad > 0 && (base64_value((unsigned char)text[n - pad - 1]) & (pad == 1 ? 3 : 15)) != 0)
        return err_set(e, ERR_BAD_REQUEST, 0, "the last group of this base64 has bits to spare");
    if (buf_reserve(out, n / 4 * 3, e))
        return -1;
    char *p = out->data + out->len;
    uint32_t bits = 0;
    for (size_t i = 0; i < n; i++) {
        bits = bits << 6 | (i < n - pad ? (uint32_t)base64_value((unsigned char)text[i]) : 0);
        for (int k = 0; i % 4 == 3 && k < 3; k++)
            *p++ = (char)(bits >> (16 - 8 * k) & 0xFF);
    }
    out->len = (size_t)(p - out->data) - pad;
    out->data[out->len] = '\0';
    return 0;
}

size_t text_distance(const char *a, const char *b)
{
    size_t row[TEXT_DISTANCE_MAX], n = strlen(b);
    if (n >= TEXT_DISTANCE_MAX)
        return TEXT_DISTANCE_MAX;
    for (size_t k = 0; k <= n; k++)
        row[k] = k;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t k = 1; k <= n; k++) {
            size_t best = diagonal + (a[i - 1] != b[k - 1]);
            if (row[k] + 1 < best)
                best = row[k] + 1;
            if (row[k - 1] + 1 < best)
                best = row[k - 1] + 1;
            diagonal = row[k];
            row[k] = best;
        }
    }
    return row[n];
}

/* U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069. */
static bool turns_text(const unsigned char *p, size_t len)
{
    if (len == 2)
        return p[0] == 0xD8 && p[1] == 0x9C;
    return len == 3 && p[0] == 0xE2 &&
           ((p[1] == 0x80 && (p[2] == 0x8E || p[2] == 0x8F || (p[2] >= 0xAA && p[2] <= 0xAE))) ||
            (p[1] == 0x81 && p[2] >= 0xA6 && p[2] <= 0xA9));
}

size_t text_printable(const char *bytes, size_t n)
{
    const unsigned char *p = (const unsigned char *)bytes;
    size_t len = n > 0 ? utf8_sequence(p, n) : 0;
    bool control = len > 0 &&
                   (p[0] < 0x20 || p[0] == 0x7F || (len == 2 && p[0] == 0xC2 && p[1] < 0xA0));
    return len == 0 || control || turns_text(p, len) ? 0 : len;
}

static size_t quotable(const char *s, size_t n)
{
    return s[0] == '\'' || s[0] == '\\' ? 0 : text_printable(s, n);
}

const char *text_quote(const char *s, char *out, size_t out_size)
{
    size_t used = 0, left = strlen(s);
    size_t limit = out_size < 84 ? out_size : 84;
    while (left > 0) {
        size_t len = quotable(s, left);
        if (used + 8 >= limit) {
            (void)snprintf(out + used, out_size - used, "...");
            return out;
        }
        if (len == 0)
            used += (size_t)snprintf(out + used, out_size - used, "\\x%02x", (unsigned char)*s);
        else
            memcpy(out + used, s, len);
        used += len;
        s += len > 0 ? len : 1;
        left -= len > 0 ? len : 1;
    }
    if (used < out_size)
        out[used] = '\0';
    return out;
}

/* The length of the absolute path that begins at this place of a message, or 0. A quoted path ends
 * with its quote, any other one with the word. */
static size_t path_length(const char *s, size_t at)
{
    static const char before[] = " '\"(=:,", after[] = " '\"),;:";
    char prev = at > 0 ? s[at - 1] : ' ';
    bool is_url = prev == ':' && s[at + 1] == '/';
    if (s[at] != '/' || !strchr(before, prev) || is_url)
        return 0;
    const char *end = prev == '\'' || prev == '"' ? strchr(s + at, prev) : NULL;
    size_t n = end ? (size_t)(end - s) - at : strcspn(s + at, after);
    return n > 1 ? n : 0;
}

/* The same names in every jar, and routes: they tell nothing about this machine. */
static bool is_public_path(const char *path, size_t n)
{
    static const char *const roots[] = { "/sandbox", "/dev", "/execute", "/v1" };
    for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
        size_t len = strlen(roots[i]);
        if (n >= len && memcmp(path, roots[i], len) == 0 && (n == len || path[len] == '/'))
            return true;
    }
    return false;
}

const char *text_hide_paths(const char *s, char *out, size_t out_size)
{
    static const char hidden[] = "PATH";
    size_t used = 0;
    if (out_size == 0)
        return "";
    for (size_t at = 0; s[at];) {
        size_t path = path_length(s, at), taken = path > 0 ? path : 1;
        bool hide = path > 0 && !is_public_path(s + at, path);
        size_t n = hide ? sizeof hidden - 1 : taken;
        if (n >= out_size - used)
            break;
        memcpy(out + used, hide ? hidden : s + at, n);
        used += n;
        at += taken;
    }
    out[used] = '\0';
    return out;
}
