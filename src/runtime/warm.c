/* runtime/warm.c — the kinds of zygotes, and the choice of a kind for a program. Runs in: keeper.
 * Pure functions; declared in runtime/language.h. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/language.h"

size_t warm_zygotes(const struct zygote_def *ret_defs[ZYGOTE_KINDS_MAX])
{
    size_t n = 0;
    for (const struct language *const *l = languages; *l; l++)
        for (const struct warm *w = (*l)->warm; w && w->zygote.name && n < ZYGOTE_KINDS_MAX; w++)
            ret_defs[n++] = &w->zygote;
    return n;
}

size_t warm_left_out(const char **ret_first)
{
    size_t n = 0;
    *ret_first = NULL;
    for (const struct language *const *l = languages; *l; l++)
        for (const struct warm *w = (*l)->warm; w && w->zygote.name; w++)
            if (++n == ZYGOTE_KINDS_MAX + 1)
                *ret_first = w->zygote.name;
    return n > ZYGOTE_KINDS_MAX ? n - ZYGOTE_KINDS_MAX : 0;
}

static unsigned kind_of(const struct warm *wanted)
{
    const struct zygote_def *defs[ZYGOTE_KINDS_MAX];
    size_t n = warm_zygotes(defs);
    for (unsigned i = 0; i < n; i++)
        if (defs[i] == &wanted->zygote)
            return i + 1;
    return 0;
}

/* "NAME" or "PREFIX*" against the name of a K=V entry. */
static bool names(const char *pattern, const char *entry)
{
    size_t n = strlen(pattern);
    if (n > 0 && pattern[n - 1] == '*')
        return strncmp(entry, pattern, n - 1) == 0;
    return strncmp(entry, pattern, n) == 0 && entry[n] == '=';
}

bool env_names(char *const *env, const char *const *patterns)
{
    for (; patterns && env && *env; env++)
        for (const char *const *pattern = patterns; *pattern; pattern++)
            if (names(*pattern, *env))
                return true;
    return false;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* True when the line imports one of the names: "import a, name.sub as x" or "from name.sub import
 * y". A false match is harmless: a module imported in advance is not visible to the program. */
static bool line_imports(const char *line, size_t n, const char *const *imports)
{
    size_t at = 0;
    while (at < n && (line[at] == ' ' || line[at] == '\t'))
        at++;
    bool from = n - at > 5 && memcmp(line + at, "from ", 5) == 0;
    if (!from && !(n - at > 7 && memcmp(line + at, "import ", 7) == 0))
        return false;
    at += from ? 5 : 7;
    while (at < n) {
        size_t start = at;
        while (at < n && is_word(line[at]))
            at++;
        for (const char *const *name = imports; *name; name++)
            if (at - start == strlen(*name) && memcmp(line + start, *name, at - start) == 0)
                return true;
        if (from)
            return false; /* the names inside the module follow */
        while (at < n && line[at] != ',')
            at++;
        while (at < n && (line[at] == ',' || line[at] == ' ' || line[at] == '\t'))
            at++;
    }
    return false;
}

bool code_imports(const char *code, size_t len, const char *const *imports)
{
    enum { LOOKED_AT = 256 << 10 };
    if (len > LOOKED_AT)
        len = LOOKED_AT;
    for (const char *at = code, *end = code + len; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t n = newline ? (size_t)(newline - at) : (size_t)(end - at);
        if (line_imports(at, n, imports))
            return true;
        at += n + 1;
    }
    return false;
}

unsigned warm_kind(const struct language *l, const char *code, size_t len, char *const *env)
{
    if (env_names(env, l->cold_env))
        return 0;
    for (const struct warm *w = l->warm; w && w->zygote.name; w++)
        if (!w->session && (!w->imports || (code && code_imports(code, len, w->imports))))
            return kind_of(w);
    return 0;
}

static unsigned session_kind(const struct language *l, char *const *env, bool image)
{
    if (env_names(env, l->cold_env))
        return 0;
    for (const struct warm *w = l->warm; w && w->zygote.name; w++)
        if (w->session && w->image == image)
            return kind_of(w);
    return 0;
}

unsigned warm_session_kind(const struct language *l, char *const *env)
{
    return session_kind(l, env, false);
}

unsigned warm_image_kind(const struct language *l, char *const *env)
{
    unsigned kind = session_kind(l, env, true);
    return kind > 0 ? kind : session_kind(l, env, false);
}

static const struct warm *warm_of(unsigned kind)
{
    unsigned n = 0;
    for (const struct language *const *l = languages; *l; l++)
        for (const struct warm *w = (*l)->warm; w && w->zygote.name; w++)
            if (++n == kind)
                return w;
    return NULL;
}

unsigned warm_within(unsigned kind, const struct limits *limits)
{
    const struct warm *w = kind > 0 ? warm_of(kind) : NULL;
    for (int i = 0; w && i < LIMIT_COUNT; i++)
        if (limits->v[i] < w->least.v[i])
            return 0;
    return kind;
}
