/* Rules for modules that cannot be imported, and for names to import from them. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"
#include "diagnose/python_names.words.h" /* generated */

bool py_is_stdlib(struct piece module)
{
    return piece_among(module, py_stdlib);
}

const char *py_import_for(struct piece name)
{
    return text_for(imports, name);
}

/* ---- modules ---- */

static bool has_module(const struct advice *a, const char *module)
{
    return a->in->available && a->in->available(a->in->context, module);
}

/* A file of the job's with the name of the module; NULL when there is none. */
static const char *shadowing(const struct advice *a, struct piece module)
{
    for (size_t i = 0; i < a->in->n_sources; i++) {
        struct piece name = piece_of(a->in->sources[i].name);
        if (piece_same(piece_cut(name, module.len), module) &&
            piece_is(piece_skip(name, module.len), ".py"))
            return a->in->sources[i].name;
    }
    return NULL;
}

static struct piece top_of(struct piece module)
{
    return piece_cut(module, piece_find(module, "."));
}

/* Only a package of our own table becomes part of a command. The name in a traceback is the
 * guest's, who may want somebody to install a package (DIAGNOSE-4). */
static void say_missing(const struct advice *a, struct piece top, const char *package)
{
    const char *other = text_for(instead, top);
    char named[160];
    if (!piece_is(top, package))
        (void)snprintf(named, sizeof named, "'%.*s' is in the package %s", P(top), package);
    else
        (void)snprintf(named, sizeof named, "'%.*s' is a package of its own", P(top));
    suggest(a->d, 1, 0.9,
            "%s%s. A jar cannot download it: install it for the host's Python (pip install %s), "
            "and jars will see it%s%s%s.",
            named, a->in->available ? ", which is not installed here" : "", package,
            other ? "; or use " : "", other ? other : "",
            other ? " of the standard library instead" : "");
}

static void say_unknown(const struct advice *a, struct piece top, double confidence)
{
    suggest(a->d, 1, confidence,
            "'%.*s' is not in Python's standard library, and a jar cannot download it: do without "
            "it, or have it installed for the host's Python after a review of the package.",
            P(top));
}

static bool has_top(const struct advice *a, struct piece top)
{
    char name[80];
    COPY(piece_cut(top, 70), name);
    return has_module(a, name);
}

static void on_no_module(const struct advice *a)
{
    struct piece module = a->m.group[0], top = top_of(module);
    const char *own = shadowing(a, top);
    if (own && top.len != module.len) {
        suggest(a->d, 2, 0.95,
                "%s beside the program hides the package '%.*s': give the file another name.", own,
                P(top));
        return;
    }
    if (top.len != module.len && (py_is_stdlib(top) || has_top(a, top))) {
        suggest(a->d, 1, 0.85,
                "'%.*s' can be imported, and it has no module '%.*s': check the spelling of that "
                "part, and the version of the package.",
                P(top), P(piece_skip(module, top.len + 1)));
        return;
    }
    const char *now = text_for(renamed, top), *package = text_for(packages, top);
    if (now) {
        suggest(a->d, 1, 0.95, "Python %s has no '%.*s': use %s.",
                piece_among(top, removed) ? "3.12" : "3", P(top), now);
        if (!piece_among(top, removed))
            (void)suggest_swap(a->in, a->d, top, now);
        return;
    }
    if (package) {
        say_missing(a, top, package);
        return;
    }
    if (piece_among(top, third_party)) {
        say_unknown(a, top, 0.85);
        return;
    }
    struct similar n = { .name = top };
    for (size_t i = 0; i < a->in->n_sources; i++) {
        struct piece name = piece_of(a->in->sources[i].name);
        if (name.len > 3 && ends_with(name, ".py"))
            similar_try(&n, piece_cut(name, name.len - 3));
    }
    similar_try_list(&n, py_stdlib);
    for (size_t i = 0; packages[i].word; i++)
        similar_try(&n, piece_of(packages[i].word));
    if (n.best[0]) {
        bool here = has_module(a, n.best) || shadowing(a, piece_of(n.best));
        suggest(a->d, 1, 0.9, "Did you mean '%s'?%s", n.best,
                here ? " It can be imported here." : "");
        (void)suggest_swap(a->in, a->d, top, n.best);
        return;
    }
    say_unknown(a, top, 0.6);
    suggest(a->d, 0, 0.5,
            "If '%.*s' is your own file, send it with the run: /sandbox holds only the files of "
            "the run.",
            P(top));
}

/* Whether "from MODULE import NAME" takes it from that module. */
static bool comes_from(const struct advice *a, const char *statement, struct piece module)
{
    struct match m;
    return match(a->g, "^from ([\\w.]+) import ", piece_of(statement), &m) &&
           piece_same(m.group[0], module);
}

/* The first few names that the file defines at its left margin: "a, b, c". */
static void list_definitions(const struct advice *a, const struct source_file *f, char *out,
                             size_t size)
{
    struct piece rest = text_of_source(f), line;
    struct match m;
    size_t used = 0;
    for (unsigned i = 0, n = 0; i < LINES_SEEN && n < 5 && next_line(&rest, &line); i++) {
        if (!match(a->g, "^(?:async )?(?:def|class) ([A-Za-z]\\w*)|^([A-Za-z]\\w*)\\s*=", line, &m))
            continue;
        struct piece name = m.group[0].at ? m.group[0] : m.group[1];
        if (used + name.len + 3 > size)
            return;
        used += (size_t)snprintf(out + used, size - used, "%s%.*s", n++ ? ", " : "", P(name));
    }
}

static void on_cannot_import(const struct advice *a)
{
    struct piece name = a->m.group[0], module = a->m.group[1], path = a->m.group[2];
    for (size_t i = 0; i < ARRAY_LEN(moved); i++)
        if (piece_is(module, moved[i].module) && piece_is(name, moved[i].name)) {
            suggest(a->d, 2, 0.95, "The module %s has no '%s': use %s.", moved[i].module,
                    moved[i].name, moved[i].now);
            if (starts_with(piece_of(moved[i].now), "from ") ||
                starts_with(piece_of(moved[i].now), "import "))
                suggest_replacement(a->d, "%.*s%s", P(piece_cut(a->line, indent_of(a->line))),
                                    moved[i].now);
            return;
        }
    const struct source_file *own = find_source(a->in, path);
    if (piece_has(a->message, "circular import") && !(own && py_is_stdlib(module))) {
        suggest(a->d, 2, 0.85,
                "The modules import each other: move one import into the function that needs it, "
                "or move the shared code into a third file.");
        return;
    }
    if (own && py_is_stdlib(module)) {
        suggest(a->d, 2, 0.95,
                "%s beside the program hides the module '%.*s' of the standard library: give the "
                "file another name.",
                own->name, P(module));
        return;
    }
    struct similar n = { .name = name };
    struct diagnose_input alone = *a->in;
    alone.sources = own;
    alone.n_sources = own ? 1 : 0;
    similar_try_sources(&n, &alone);
    for (size_t i = 0; !own && imports[i].word; i++)
        if (comes_from(a, imports[i].text, module))
            similar_try(&n, piece_of(imports[i].word));
    char defined[160] = "";
    if (own)
        list_definitions(a, own, defined, sizeof defined);
    if (own && n.best[0]) {
        suggest(a->d, 2, 0.9, "%s has no '%.*s'; it has '%s'.", own->name, P(name), n.best);
        (void)suggest_swap(a->in, a->d, name, n.best);
    } else if (own) {
        suggest(a->d, 2, 0.8,
                "%s does not define '%.*s': define it there, or import a name that it defines%s%s.",
                own->name, P(name), defined[0] ? ": " : "", defined);
    } else if (n.best[0]) {
        suggest(a->d, 2, 0.9, "'%.*s' has no '%.*s'; it has '%s'.", P(module), P(name), n.best);
        (void)suggest_swap(a->in, a->d, name, n.best);
    } else {
        suggest(a->d, 2, 0.6,
                "'%.*s' has no '%.*s' here: check the spelling, or the version of the package; "
                "dir(%.*s) lists its names.",
                P(module), P(name), P(module));
    }
}

static void on_module_attribute(const struct advice *a)
{
    struct piece module = a->m.group[0], name = a->m.group[1];
    const char *own = shadowing(a, module);
    if (own && strcmp(own, a->d->location.file) != 0 && !py_is_stdlib(module))
        own = NULL;
    if (own && (py_is_stdlib(module) || piece_has(a->message, "circular import"))) {
        suggest(a->d, 2, 0.95,
                "%s beside the program hides the module '%.*s': give the file another name.", own,
                P(module));
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(moved); i++)
        if (piece_is(module, moved[i].module) && piece_is(name, moved[i].name)) {
            suggest(a->d, 5, 0.95, "The module %s has no '%s': use %s.", moved[i].module,
                    moved[i].name, moved[i].now);
            return;
        }
}

#include "diagnose/python_names.rules.h" /* generated */
