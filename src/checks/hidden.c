#include "checks/hidden.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/hidden.h"
#include "run/json.h"

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
        uint32_t c = hidden_next(text, n, &at);
        const char *why = hidden_why(c);
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
