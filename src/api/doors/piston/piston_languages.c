#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/doors/piston/piston.h"
#include "base/array.h"
#include "runtime/language.h"

/* Languages that Piston's packages call by another name, or by more names. Every language answers
 * to its own name and aliases, too. */
static const struct {
    const char *ours, *name, *runtime;
    const char *const *aliases;
} names[] = {
    { "python", "python", NULL, WORDS("py", "py3", "python3") },
    { "javascript", "javascript", "node",
      WORDS("node-javascript", "node-js", "javascript", "js", "node") },
    { "typescript", "typescript", NULL, WORDS("ts", "node-ts", "tsc", "typescript5", "ts5") },
    { "bash", "bash", NULL, WORDS("sh") },
    { "c", "c", "gcc", WORDS("gcc") },
    { "cpp", "c++", "gcc", WORDS("cpp", "g++") },
    { "go", "go", NULL, WORDS("go", "golang") },
    { "rust", "rust", NULL, WORDS("rs") },
    { "java", "java", NULL, NO_WORDS },
    { "ruby", "ruby", NULL, WORDS("ruby3", "rb") },
    { "php", "php", NULL, WORDS("php8") },
    { "perl", "perl", NULL, WORDS("pl") },
    { "lua", "lua", NULL, NO_WORDS },
    { "r", "rscript", NULL, WORDS("r") },
    { "sqlite", "sqlite3", NULL, WORDS("sqlite", "sql") },
};

const char *piston_version(const struct piston_runtime *r, char out[PISTON_VERSION_SIZE])
{
    const uint32_t *p = r->version.part;
    (void)snprintf(out, PISTON_VERSION_SIZE, "%u.%u.%u", p[0], p[1], p[2]);
    return out;
}

struct piston_runtime piston_runtime_at(const struct engine *engine, size_t i)
{
    const struct language *l = languages[i];
    struct piston_runtime r = { .language = l, .name = l->name, .aliases = l->aliases };
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        if (strcmp(names[k].ours, l->name) != 0)
            continue;
        r.name = names[k].name;
        r.runtime = names[k].runtime;
        r.aliases = names[k].aliases;
    }
    const char *version = engine_version(engine, l);
    r.is_installed = engine_may_run(engine, l);
    r.is_pending = r.is_installed && !version;
    if (version)
        (void)semver_read(version, &r.version);
    return r;
}

static bool is_called(const struct piston_runtime *r, const char *name)
{
    if (strcasecmp(r->name, name) == 0 || language_find(name) == r->language)
        return true;
    for (const char *const *alias = r->aliases; *alias; alias++)
        if (strcasecmp(*alias, name) == 0)
            return true;
    return false;
}

bool piston_find(const struct engine *engine, const char *name, const char *range,
                 struct piston_runtime *ret)
{
    for (size_t i = 0; languages[i]; i++) {
        *ret = piston_runtime_at(engine, i);
        if (is_called(ret, name) && (ret->is_pending || semver_within(&ret->version, range)))
            return true;
    }
    return false;
}
