/* The table of grammars. Runs in: keeper. */
#include <string.h>

#include "base/array.h"
#include "diagnose/core/grammar.h"
#include "diagnose/tools/tools.h"

/* A text without a language is tried in this order. Grammars whose errors look like no other come
 * first. */
#define GRAMMAR_TABLE(X) \
    X(tools) \
    X(python) \
    X(typescript) \
    X(rust) \
    X(java) \
    X(postgres) \
    X(php) \
    X(lua) \
    X(ruby) \
    X(go) \
    X(gcc) \
    X(perl) \
    X(node) \
    X(shell) \
    X(sqlite) \
    X(r)

#define X(name) extern const struct grammar grammar_##name;
GRAMMAR_TABLE(X)
#undef X

static const struct grammar *const grammars[] = {
#define X(name) &grammar_##name,
    GRAMMAR_TABLE(X)
#undef X
        NULL,
};

static bool reads(const struct grammar *g, const char *name)
{
    bool found = strcmp(g->name, name) == 0;
    for (size_t i = 0; !found && i < ARRAY_LEN(g->languages) && g->languages[i]; i++)
        found = strcmp(g->languages[i], name) == 0;
    return found;
}

const struct grammar *grammar_find(const char *name)
{
    for (size_t i = 0; name && grammars[i]; i++)
        if (reads(grammars[i], name))
            return grammars[i];
    return NULL;
}

const char *grammar_language(const struct grammar *grammar, const struct diagnosis *d)
{
    const char *dot = strrchr(d->location.file, '.');
    if (grammar == &grammar_typescript && strncmp(d->type, "TS", 2) != 0 &&
        !(dot && (strcmp(dot, ".ts") == 0 || strcmp(dot, ".tsx") == 0)))
        return "javascript"; /* the errors of both look alike at run time */
    if (grammar == &grammar_gcc && dot && strcmp(dot, ".c") != 0 && strcmp(dot, ".h") != 0)
        return "cpp";
    if (grammar == &grammar_tools)
        return tools_language(d);
    return grammar->languages[0] ? grammar->languages[0] : grammar->name;
}

const struct grammar *grammar_infer(struct diagnoser *g, const struct diagnose_input *in)
{
    for (size_t i = 0; grammars[i]; i++) {
        struct diagnosis tried = { 0 };
        if (grammars[i]->read(g, in, &tried))
            return grammars[i];
    }
    return NULL;
}
