#include "runtime/language.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

extern const struct language language_python, language_node, language_bash;

const struct language *const languages[] = {
    &language_python,
    &language_node,
    &language_bash,
    NULL,
};
static_assert(sizeof languages / sizeof languages[0] <= LANGUAGES_MAX + 1,
              "room in the tables beside it");

static int in_list(const char *const *list, const char *word)
{
    for (; *list; list++)
        if (strcasecmp(*list, word) == 0)
            return 1;
    return 0;
}

const struct language *language_find(const char *name)
{
    for (const struct language *const *l = languages; *l; l++)
        if (strcasecmp((*l)->name, name) == 0 || in_list((*l)->aliases, name))
            return *l;
    return NULL;
}

/* "#!/usr/bin/env python3" and "#!/usr/bin/python3.11" both name python. */
static const struct language *by_shebang(const char *code, size_t len)
{
    char line[128], word[128];
    const char *end = memchr(code, '\n', len);
    size_t n = end ? (size_t)(end - code) : len;
    if (n < 3 || n >= sizeof line || memcmp(code, "#!", 2) != 0)
        return NULL;
    (void)snprintf(line, sizeof line, "%.*s", (int)(n - 2), code + 2);
    char *save = NULL, *first = strtok_r(line, " \t\r", &save);
    const char *base = first ? strrchr(first, '/') : NULL;
    base = base ? base + 1 : first;
    if (base && strcmp(base, "env") == 0)
        do
            base = strtok_r(NULL, " \t\r", &save);
        while (base && base[0] == '-');
    if (!base)
        return NULL;
    (void)snprintf(word, sizeof word, "%s", base);
    const struct language *l = language_find(word);
    if (!l) { /* python3.11, python3 */
        word[strcspn(word, "0123456789.")] = '\0';
        l = language_find(word);
    }
    return l;
}

const struct language *language_guess(const char *file_name, const char *code, size_t len)
{
    const char *dot = strrchr(file_name, '.');
    for (const struct language *const *l = languages; dot && *l; l++)
        if (in_list((*l)->extensions, dot))
            return *l;
    return by_shebang(code, len);
}

static bool line_has(const char *line, size_t n, const char *hint)
{
    if (hint[0] != '^')
        return memmem(line, n, hint, strlen(hint)) != NULL;
    while (n > 0 && (*line == ' ' || *line == '\t')) {
        line++;
        n--;
    }
    return n >= strlen(hint + 1) && memcmp(line, hint + 1, strlen(hint + 1)) == 0;
}

static bool line_hints_at(const struct language *l, const char *line, size_t n)
{
    for (const char *const *hint = l->hints; *hint; hint++)
        if (line_has(line, n, *hint))
            return true;
    return false;
}

const struct language *language_infer(const char *code, size_t len)
{
    enum { LOOKED_AT = 64 << 10 }; /* what a language is shows soon */
    const struct language *best = NULL;
    size_t most = 0, second = 0;
    if (len > LOOKED_AT)
        len = LOOKED_AT;
    for (const struct language *const *l = languages; *l; l++) {
        size_t lines = 0;
        for (const char *at = code, *end = code + len; at < end;) {
            const char *newline = memchr(at, '\n', (size_t)(end - at));
            size_t n = newline ? (size_t)(newline - at) : (size_t)(end - at);
            lines += line_hints_at(*l, at, n);
            at += n + 1;
        }
        if (lines > most) {
            second = most;
            most = lines;
            best = *l;
        } else if (lines > second) {
            second = lines;
        }
    }
    return most > second ? best : NULL;
}

const char *language_list(char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (const struct language *const *l = languages; *l && used < size; l++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", (*l)->name);
    return out;
}
