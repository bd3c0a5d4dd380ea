/* normalise/payload_dict.c — parses a dict literal of Python or JSON, strictly enough to accept
 * nothing else. */
#include <ctype.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "normalise/payload.h"

enum { DEPTH_MAX = 32 };

struct reader {
    const char *at, *end;
};

static void skip_space(struct reader *r)
{
    while (r->at < r->end && isspace((unsigned char)*r->at))
        r->at++;
}

static bool take(struct reader *r, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

static bool add_bytes(struct buf *b, const void *bytes, size_t n)
{
    struct err e;
    return buf_add(b, bytes, n, &e) == 0;
}

static bool add_code_point(struct buf *b, uint32_t c)
{
    unsigned char u[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return false;
    for (size_t i = n; i-- > 1; c >>= 6)
        u[i] = (unsigned char)(0x80 | (c & 0x3F));
    u[0] = (unsigned char)(lead[n] | c);
    return add_bytes(b, u, n);
}

static bool take_hex(struct reader *r, size_t digits, uint32_t *ret)
{
    uint32_t value = 0;
    for (size_t i = 0; i < digits; i++, r->at++) {
        static const char hex[] = "0123456789abcdef";
        const char *digit = r->at < r->end && *r->at ? strchr(hex, tolower((unsigned char)*r->at))
                                                     : NULL;
        if (!digit)
            return false;
        value = value << 4 | (uint32_t)(digit - hex);
    }
    *ret = value;
    return true;
}

/* \uD83D\uDE00 is one character, as JSON writes it. */
static bool add_unicode(struct reader *r, struct buf *b, size_t digits)
{
    uint32_t c, low;
    if (!take_hex(r, digits, &c))
        return false;
    if (c >= 0xD800 && c <= 0xDBFF) {
        if (!take(r, "\\u") || !take_hex(r, 4, &low) || low < 0xDC00 || low > 0xDFFF)
            return false;
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    return add_code_point(b, c);
}

static bool add_octal(struct reader *r, struct buf *b)
{
    uint32_t value = 0;
    for (int i = 0; i < 3 && r->at < r->end && *r->at >= '0' && *r->at <= '7'; i++)
        value = value << 3 | (uint32_t)(*r->at++ - '0');
    return add_code_point(b, value);
}

/* The escape after a backslash. An escape unknown to Python stays, with its backslash. */
static bool add_escape(struct reader *r, struct buf *b)
{
    static const char names[] = "ntr\\'\"abfv", values[] = "\n\t\r\\'\"\a\b\f\v";
    if (r->at == r->end || *r->at == 'N' || *r->at == '\0')
        return false;
    char c = *r->at;
    const char *known = strchr(names, c);
    if (c >= '0' && c <= '7')
        return add_octal(r, b);
    r->at++;
    if (known)
        return add_bytes(b, &values[known - names], 1);
    if (c == 'x' || c == 'u' || c == 'U')
        return add_unicode(r, b, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    if (c == '\n') /* a continued line */
        return true;
    return add_bytes(b, "\\", 1) && add_bytes(b, &c, 1);
}

static bool take_string(struct reader *r, struct buf *b)
{
    bool raw = false;
    if (r->end - r->at >= 2 && strchr("rRuU", *r->at) && *r->at) {
        raw = *r->at == 'r' || *r->at == 'R';
        r->at++;
    }
    if (r->at == r->end || (*r->at != '\'' && *r->at != '"'))
        return false;
    char quote[4] = { *r->at, *r->at, *r->at, '\0' };
    if (!take(r, quote)) {
        quote[1] = '\0';
        r->at++;
    }
    /* Newlines are accepted in every kind of string: a text that was decoded once too often has
     * them for \n. */
    while (!take(r, quote)) {
        if (r->at == r->end)
            return false;
        char c = *r->at++;
        bool good;
        if (c != '\\')
            good = add_bytes(b, &c, 1);
        else if (!raw)
            good = add_escape(r, b);
        else /* the next character does not end the string; both stay */
            good = r->at < r->end && add_bytes(b, "\\", 1) && add_bytes(b, r->at++, 1);
        if (!good)
            return false;
    }
    return true;
}

/* 'a' 'b' is one string, as in Python. */
static bool take_strings(struct reader *r, struct buf *b)
{
    for (;;) {
        if (!take_string(r, b))
            return false;
        skip_space(r);
        const char *next = r->at;
        next += next < r->end && *next && strchr("rRuU", *next);
        if (next >= r->end || (*next != '\'' && *next != '"'))
            return true;
    }
}

static bool take_value(struct reader *r, int depth, struct buf *ret_string, bool *ret_is_string);

static bool take_items(struct reader *r, char close, int depth)
{
    for (;;) {
        scoped(buf) ignored = { 0 };
        bool is_string;
        skip_space(r);
        if (r->at < r->end && *r->at == close) {
            r->at++;
            return true;
        }
        if (!take_value(r, depth, &ignored, &is_string))
            return false;
        skip_space(r);
        if (close == '}') {
            buf_done(&ignored);
            if (!take(r, ":") || (skip_space(r), !take_value(r, depth, &ignored, &is_string)))
                return false;
            skip_space(r);
        }
        if (!take(r, ",") && (r->at == r->end || *r->at != close))
            return false;
    }
}

static bool take_number(struct reader *r)
{
    const char *start = r->at;
    while (r->at < r->end &&
           (isdigit((unsigned char)*r->at) || (*r->at && strchr("+-.eE_", *r->at))))
        r->at++;
    return r->at > start && isdigit((unsigned char)r->at[-1]);
}

static bool take_value(struct reader *r, int depth, struct buf *ret_string, bool *ret_is_string)
{
    static const char *const words[] = { "None", "True", "False", "null", "true", "false" };
    *ret_is_string = false;
    if (r->at == r->end || depth >= DEPTH_MAX)
        return false;
    if (*r->at == '\'' || *r->at == '"' || isalpha((unsigned char)*r->at)) {
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
            if (take(r, words[i]))
                return true;
        *ret_is_string = true;
        return take_strings(r, ret_string);
    }
    if (take(r, "{"))
        return take_items(r, '}', depth + 1);
    if (take(r, "["))
        return take_items(r, ']', depth + 1);
    return take_number(r);
}

/* The pairs after the "{". Of two equal keys the last one counts, as in Python. */
static bool take_pairs(struct reader *r, struct buf *code, char language[FENCE_LANGUAGE_SIZE],
                       bool *ret_found)
{
    *ret_found = false;
    for (;;) {
        scoped(buf) key = { 0 };
        scoped(buf) value = { 0 };
        bool is_string;
        skip_space(r);
        if (take(r, "}"))
            return true;
        if (!take_string(r, &key))
            return false;
        skip_space(r);
        if (!take(r, ":"))
            return false;
        skip_space(r);
        if (!take_value(r, 0, &value, &is_string))
            return false;
        if (strcmp(buf_str(&key), "generated_code") == 0 && key.len == strlen("generated_code")) {
            struct buf old = *code;
            *code = value;
            value = old;
            *ret_found = is_string;
        } else if (is_string && strcmp(buf_str(&key), "language") == 0) {
            (void)snprintf(language, FENCE_LANGUAGE_SIZE, "%s", buf_str(&value));
        }
        skip_space(r);
        if (!take(r, ",") && (r->at == r->end || *r->at != '}'))
            return false;
    }
}

static bool json_dict(const char *text, size_t len, struct buf *ret_code,
                      char language[FENCE_LANGUAGE_SIZE])
{
    json_t *o = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
    const json_t *code = json_object_get(o, "generated_code"),
                 *named = json_object_get(o, "language");
    bool good = json_is_string(code) &&
                add_bytes(ret_code, json_string_value(code), json_string_length(code));
    if (good && json_is_string(named))
        (void)snprintf(language, FENCE_LANGUAGE_SIZE, "%s", json_string_value(named));
    json_decref(o);
    return good;
}

bool payload_dict(const char *text, size_t len, struct buf *ret_code,
                  char ret_language[FENCE_LANGUAGE_SIZE])
{
    size_t mark = payload_mark(text, len);
    scoped(buf) code = { 0 };
    char language[FENCE_LANGUAGE_SIZE] = "";
    bool found;
    text += mark;
    len -= mark;
    struct reader r = { text, text + len };
    skip_space(&r);
    if (!take(&r, "{") || !memmem(text, len, "generated_code", strlen("generated_code")))
        return false;
    if (json_dict(text, len, ret_code, ret_language))
        return true;
    if (!take_pairs(&r, &code, language, &found) || !found)
        return false;
    skip_space(&r);
    if (r.at != r.end)
        return false;
    *ret_code = code;
    code = (struct buf){ 0 };
    memcpy(ret_language, language, sizeof language);
    return true;
}
