#include "api/approvals/hidden.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "run/json.h"

static const char looks_like_space[] = "looks like a space, but is another character";

static const struct {
    uint32_t first, last;
    const char *why;
} ranges[] = {
    { 0x00, 0x08, "a control character" },
    { 0x0b, 0x1f, "a control character" },
    { 0x7f, 0x9f, "a control character" },
    { 0xa0, 0xa0, looks_like_space },
    { 0xad, 0xad, "a hyphen that is not shown" },
    { 0x34f, 0x34f, "a character without width" },
    { 0x61c, 0x61c, "changes the order in which the line is shown" },
    { 0x115f, 0x1160, "a letter that looks like nothing" },
    { 0x17b4, 0x17b5, "a letter that looks like nothing" },
    { 0x180b, 0x180f, "a character without width" },
    { 0x2000, 0x200a, looks_like_space },
    { 0x200b, 0x200d, "a character without width" },
    { 0x200e, 0x200f, "changes the order in which the line is shown" },
    { 0x2028, 0x2029, "ends a line for some programs" },
    { 0x202a, 0x202e, "changes the order in which the line is shown" },
    { 0x202f, 0x202f, looks_like_space },
    { 0x205f, 0x205f, looks_like_space },
    { 0x2060, 0x2065, "a character without width" },
    { 0x2066, 0x2069, "changes the order in which the line is shown" },
    { 0x206a, 0x206f, "a character without width" },
    { 0x2800, 0x2800, looks_like_space },
    { 0x3000, 0x3000, looks_like_space },
    { 0x3164, 0x3164, "a letter that looks like nothing" },
    { 0xfe00, 0xfe0e, "changes the look of the character before it" }, /* U+FE0F is in emoji */
    { 0xfeff, 0xfeff, "a character without width" },
    { 0xffa0, 0xffa0, "a letter that looks like nothing" },
    { 0xfff9, 0xfffb, "a character without width" },
    { 0x1d173, 0x1d17a, "a character without width" },
    { 0xe0000, 0xe01ef, "a character without width" },
};

static const char *why_hidden(uint32_t c)
{
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return ranges[i].why;
    return NULL;
}

/* The character at text[*at], and *at behind it. A byte that starts none counts as U+FFFD. */
static uint32_t next_character(const char *text, size_t n, size_t *at)
{
    static const struct {
        unsigned char mask, lead;
        int more;
    } forms[] = { { 0x80, 0, 0 }, { 0xe0, 0xc0, 1 }, { 0xf0, 0xe0, 2 }, { 0xf8, 0xf0, 3 } };
    unsigned char first = (unsigned char)text[(*at)++];
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if ((first & forms[i].mask) != forms[i].lead)
            continue;
        uint32_t c = first & (unsigned char)~forms[i].mask;
        for (int k = 0; k < forms[i].more; k++) {
            if (*at + (size_t)k >= n || ((unsigned char)text[*at + (size_t)k] & 0xc0) != 0x80)
                return 0xfffd;
            c = c << 6 | ((unsigned char)text[*at + (size_t)k] & 0x3f);
        }
        *at += (size_t)forms[i].more;
        return c;
    }
    return 0xfffd;
}

/* The end of a line in files of Windows, and a byte order mark at the start. */
static bool is_usual(const char *text, size_t n, size_t start, size_t after, uint32_t c)
{
    return (c == '\r' && after < n && text[after] == '\n') || (c == '\f') ||
           (c == 0xfeff && start == 0);
}

void hidden_find(json_t *list, const char *text, size_t n, json_t *file, const char *where)
{
    int line = 1, found = 0, max = n > 0 && memchr(text, '\0', n) ? 1 : HIDDEN_MAX;
    size_t line_start = 0;
    for (size_t at = 0; at < n && found < max && json_array_size(list) < HIDDEN_ALL_MAX;) {
        size_t start = at;
        uint32_t c = next_character(text, n, &at);
        const char *why = why_hidden(c);
        if (c == '\n') {
            line++;
            line_start = at;
        }
        if (!why || is_usual(text, n, start, at, c))
            continue;
        char name[16];
        (void)snprintf(name, sizeof name, "U+%04X", (unsigned)c);
        json_t *o = json_pack("{s:s, s:i, s:i, s:s, s:s}", "kind", "hidden_character", "line", line,
                              "column", (int)(start - line_start) + 1, "excerpt", name, "why", why);
        if (file)
            (void)json_object_set(o, "file", file);
        if (where)
            (void)json_object_set_new(o, "where", json_string(where));
        (void)json_array_append_new(list, o);
        found++;
    }
}
