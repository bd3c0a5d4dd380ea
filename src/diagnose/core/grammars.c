/* The ways that errors look. */
#include <string.h>

#include "base/array.h"
#include "diagnose/core/grammar.h"

/* In the order in which a text without a language is tried: what cannot be taken for another comes first. */
static const struct grammar *const grammars[] = {
    &grammar_python,   &grammar_typescript, &grammar_rust, &grammar_java,
    &grammar_postgres, &grammar_php,        &grammar_lua,  &grammar_ruby,
    &grammar_go,       &grammar_gcc,        &grammar_perl, &grammar_node,
    &grammar_shell,    &grammar_sqlite,     &grammar_r,    NULL,
};

/* Languages whose errors look alike. */
static const struct {
    const char *language, *grammar;
} same[] = {
    { "bash", "shell" },          { "zsh", "shell" }, { "sh", "shell" },
    { "javascript", "node" },     { "c", "gcc" },     { "cpp", "gcc" },
    { "postgresql", "postgres" },
};

const struct grammar *grammar_find(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(same); i++)
        if (strcmp(same[i].language, name) == 0)
            name = same[i].grammar;
    for (size_t i = 0; name && grammars[i]; i++)
        if (strcmp(grammars[i]->name, name) == 0)
            return grammars[i];
    return NULL;
}

const char *grammar_language(const struct grammar *grammar, const struct diagnosis *d)
{
    const char *dot = strrchr(d->location.file, '.');
    if (grammar == &grammar_typescript && strncmp(d->type, "TS", 2) != 0 &&
        !(dot && (strcmp(dot, ".ts") == 0 || strcmp(dot, ".tsx") == 0)))
        return "javascript"; /* at run time both look alike */
    if (grammar == &grammar_gcc)
        return dot && strcmp(dot, ".c") != 0 && strcmp(dot, ".h") != 0 ? "cpp" : "c";
    return grammar == &grammar_node    ? "javascript"
           : grammar == &grammar_shell ? "bash"
                                       : grammar->name;
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
