#include "runtime/language.h"

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

const char *language_list(char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (const struct language *const *l = languages; *l && used < size; l++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", (*l)->name);
    return out;
}
