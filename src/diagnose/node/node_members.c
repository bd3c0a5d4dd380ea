/* Rules for JavaScript: calls of values that are no functions, by the classes, objects and modules of the program. Runs in:
 * keeper. */
#include "diagnose/node/node.h"

#include <stdio.h>
#include <string.h>

#include "diagnose/node_members.words.h" /* generated */

/* A member that the program declares: in a class or in an object that is written out. */
struct member {
    uint32_t line;
    char kind; /* 'g': getter, 'm': method, 'f': a field with a value that is no function */
};

/* The value of a field is a function. */
static bool is_function_value(const struct advice *a, struct piece value)
{
    return match(a->g,
                 "=>|\\bfunction\\b|\\bbind\\(|^(?!true$|false$|null$|undefined$)[A-Za-z_$][\\w$]*$"
                 "|^(?:options|config|props|"
                 "deps)\\b|^\\w+\\.\\w+$|\\brequire\\(",
                 value, &(struct match){ 0 });
}

static struct member find_member(const struct advice *a, struct piece name)
{
    struct piece rest = text_of_source(a->file), line;
    struct member found = { 0 };
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        struct piece whole = line;
        while (line.len > 0 && match(a->g,
                                     "(?:^|[{};,])\\s*(?:static\\s+|async\\s+)*(get\\s+|set\\s+|\\*"
                                     "\\s*)?(#?[A-Za-z_$][\\w$]*)\\s*\\("
                                     "[^(){}]*\\)\\s*\\{",
                                     line, &m)) {
            line = piece_after(whole, m.all);
            if (!piece_same(m.group[1], name) || starts_with(m.group[0], "set"))
                continue;
            return (struct member){ i, starts_with(m.group[0], "get") ? 'g' : 'm' };
        }
        if (found.line ||
            (!match(a->g, "\\bthis\\.([\\w$#]+)\\s*=\\s*([^=>].*?);?\\s*\\}?\\s*$", whole, &m) &&
             !match(a->g, "^\\s+([\\w$#]+)\\s*=\\s*([^=>].*?);\\s*$", whole, &m) &&
             !match(a->g, "^\\s+([\\w$#]+)\\s*:\\s*([^=>].*?),?\\s*$", whole, &m)))
            continue;
        if (piece_same(m.group[0], name)) {
            if (is_function_value(a, m.group[1]))
                return (struct member){ 0 };
            found = (struct member){ i, 'f' };
        }
    }
    return found;
}

/* x.area() where area is a getter, or a field with a value. */
bool js_value_is_called(const struct advice *a, struct piece owner, struct piece name)
{
    struct member is = find_member(a, name);
    char call[140], read[140];
    if (!is.line || is.kind == 'm' || name.len > 100)
        return false;
    (void)snprintf(call, sizeof call, ".%.*s()", P(name));
    (void)snprintf(read, sizeof read, ".%.*s", P(name));
    if (is.kind == 'f' && !piece_has(a->line, call))
        return false;
    if (is.kind == 'g')
        suggest(a->d, 32, 0.94,
                "'%.*s' is a getter (line %u): it is read like a property, without brackets, "
                "%.*s.%.*s.",
                P(name), is.line, P(owner), P(name));
    else
        suggest(
            a->d, 32, 0.9,
            "'%.*s' holds a value (line %u) and is no method: read it without brackets, %.*s.%.*s.",
            P(name), is.line, P(owner), P(name));
    (void)suggest_swap(a->in, a->d, piece_of(call), read);
    return true;
}

/* cart.total.toFixed(): total is a method; getRows.map(): getRows is a function. */
bool js_function_is_not_called(const struct advice *a, struct piece owner, struct piece name)
{
    const struct source_file *f;
    struct piece last = piece_last_part(owner);
    char from[200], to[210];
    uint32_t line = 0;
    if (last.len < owner.len) {
        struct member is = find_member(a, last);
        line = is.kind == 'm' ? is.line : 0;
    } else {
        line = js_function(a, owner, &f);
    }
    if (!line || owner.len + name.len > 180 || piece_among(name, of_functions))
        return false;
    suggest(a->d, 32, 0.94,
            "%.*s is a function (line %u) and is not called here: write %.*s()%s%.*s.", P(owner),
            line, P(owner), name.len ? "." : "", P(name));
    (void)snprintf(from, sizeof from, "%.*s.%.*s", P(owner), P(name));
    (void)snprintf(to, sizeof to, "%.*s().%.*s", P(owner), P(name));
    if (name.len)
        (void)suggest_swap(a->in, a->d, piece_of(from), to);
    return true;
}

/* ---- modules ---- */

/* The module that a line gives the name; *ret_whole: the name is the module itself. */
static struct piece module_of(const struct advice *a, struct piece name, bool *ret_whole,
                              uint32_t *ret_line)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t i = 1; name.at && i < LINES_SEEN && next_line(&rest, &line); i++) {
        if (!match(a->g,
                   "^\\s*(?:const|let|var)\\s+([\\w$]+|\\{[^}]*\\})\\s*=\\s*require\\(['\"](?:node:"
                   ")?([^'\"]+)['\"]\\)\\s*;?\\s*$",
                   line, &m) &&
            !match(a->g,
                   "^\\s*import\\s+(?:\\*\\s+as\\s+)?([\\w$]+|\\{[^}]*\\})\\s+from\\s+['\"](?:node:"
                   ")?([^'\"]+)['\"]",
                   line, &m))
            continue;
        *ret_whole = piece_byte(m.group[0], 0) != '{';
        *ret_line = i;
        if (*ret_whole ? piece_same(m.group[0], name) : has_word(m.group[0], name))
            return m.group[1];
    }
    return NO_PIECE;
}

void js_try_module(struct piece module, struct similar *s)
{
    if (starts_with(module, "node:"))
        module = piece_skip(module, 5);
    struct piece rest = piece_of(text_for(module_functions, module));
    while (rest.len > 0) {
        struct piece name = piece_cut(rest, piece_find(rest, " "));
        similar_try(s, name);
        rest = piece_skip(rest, name.len + 1);
    }
}

/* The most similar function of a module of Node. */
static bool near_of_module(struct piece module, struct piece name, char *out, size_t size)
{
    struct similar near = { .name = name };
    js_try_module(module, &near);
    (void)snprintf(out, size, "%s", near.best);
    return near.best[0] != '\0';
}

static bool module_has(struct piece module, struct piece name)
{
    const char *all = text_for(module_functions, module);
    return all && has_word(piece_of(all), name);
}

/* fs.readfilesync(), a function that its module does not have. */
bool js_wrong_function_of_module(const struct advice *a, struct piece owner, struct piece name)
{
    bool whole = false;
    uint32_t line = 0;
    char best[128];
    struct piece module = module_of(a, owner, &whole, &line);
    if (!module.at && text_for(module_functions, owner) &&
        !js_assigned(a, owner, &(struct piece){ 0 }, &line))
        module = owner, whole = true; /* crypto and performance need no require() */
    if (!module.at || !whole || module_has(module, name))
        return false;
    const char *instead = NULL;
    char key[128];
    (void)snprintf(key, sizeof key, "%.*s.%.*s", P(piece_cut(module, 60)), P(piece_cut(name, 60)));
    if ((instead = text_for(module_habits, piece_of(key)))) {
        suggest(a->d, 32, 0.93, "The module '%.*s' has no %.*s(): %s.", P(module), P(name),
                instead);
    } else if (near_of_module(module, name, best, sizeof best)) {
        suggest(a->d, 32, 0.92, "The module '%.*s' has no %.*s(): did you mean '%s'?", P(module),
                P(name), best);
        (void)suggest_swap(a->in, a->d, name, best);
    } else if (module_has(module, owner)) {
        suggest(a->d, 32, 0.92,
                "'%.*s' is the whole module '%.*s' (line %u): take the object out of it, const { "
                "%.*s } = "
                "require(\"%.*s\").",
                P(owner), P(module), line, P(owner), P(module));
    } else {
        suggest(a->d, 32, 0.8,
                "The module '%.*s' has no function '%.*s': console.log(Object.keys(%.*s)) lists "
                "its functions.",
                P(module), P(name), P(owner));
    }
    return true;
}

/* A name that a line takes from a module in the wrong form: with or without { }. */
bool js_wrong_import(const struct advice *a, struct piece name, bool as_class)
{
    bool whole = false;
    uint32_t line = 0;
    char best[128];
    struct piece module = module_of(a, name, &whole, &line);
    if (!module.at)
        return false;
    if (whole && module_has(module, name)) {
        bool esm = piece_has(source_line(a->file, line), "import ");
        suggest(a->d, 30, 0.94,
                "Line %u gives '%.*s' the whole module '%.*s': write %s { %.*s } %s.", line,
                P(name), P(module), esm ? "import" : "const", P(name),
                esm ? "from ..." : "= require(...)");
        return true;
    }
    if (!whole && !module_has(module, name) && text_for(module_functions, module)) {
        char key[128];
        (void)snprintf(key, sizeof key, "%.*s.%.*s", P(piece_cut(module, 60)),
                       P(piece_cut(name, 60)));
        const char *instead = text_for(module_habits, piece_of(key));
        if (instead) {
            suggest(a->d, 30, 0.93, "The module '%.*s' has no '%.*s' (line %u): %s.", P(module),
                    P(name), line, instead);
            return true;
        }
        if (near_of_module(module, name, best, sizeof best))
            suggest(a->d, 30, 0.93, "The module '%.*s' has no '%.*s' (line %u): did you mean '%s'?",
                    P(module), P(name), line, best);
        else
            suggest(a->d, 30, 0.88,
                    "The module '%.*s' has no '%.*s', so line %u makes it undefined.", P(module),
                    P(name), line);
        return true;
    }
    if (whole && as_class && text_for(module_functions, module)) {
        suggest(a->d, 30, 0.9,
                "'%.*s' is the module '%.*s' (line %u), not a class: call one of its functions or "
                "classes, "
                "%.*s.name(...).",
                P(name), P(module), line, P(name));
        return true;
    }
    return false;
}

/* ---- classes of the program ---- */

/* The class of the program that the name is an object of. */
struct piece js_class_of(const struct advice *a, struct piece name, uint32_t *ret_line)
{
    struct piece value, rest = text_of_source(a->file), line;
    struct match m, c;
    if (!js_assigned(a, name, &value, ret_line) ||
        !match(a->g, "^(?:await\\s+)?new\\s+([\\w$]+)", value, &m))
        return NO_PIECE;
    while (next_line(&rest, &line))
        if (match(a->g, "\\bclass\\s+([\\w$]+)", line, &c) && piece_same(c.group[0], m.group[0]))
            return m.group[0];
    return NO_PIECE;
}

/* A method of an object of the program: names of other languages do not help there. */
bool js_no_such_method(const struct advice *a, struct piece owner, struct piece name)
{
    uint32_t line = 0;
    struct piece class = js_class_of(a, owner, &line);
    bool self = piece_is(owner, "this");
    if (!class.at && !self)
        return false;
    struct similar near = { .name = name };
    struct piece rest = text_of_source(a->file), text;
    struct match m;
    bool extends = piece_has(rest, " extends ");
    while (next_line(&rest, &text))
        if (match(a->g,
                  "^\\s+(?:static\\s+|async\\s+)*\\*?(#?[A-Za-z_$][\\w$]*)\\s*\\([^()]*\\)\\s*\\{",
                  text, &m) &&
            !piece_among(m.group[0], block_words))
            similar_try(&near, m.group[0]);
    if (near.best[0]) {
        suggest(a->d, 32, 0.92, "Did you mean '.%s'? The program declares no method '%.*s'.",
                near.best, P(name));
        (void)suggest_swap(a->in, a->d, name, near.best);
        return true;
    }
    if (extends || find_member(a, name).line)
        return false;
    if (self)
        suggest(a->d, 32, 0.8, "The class declares no method '%.*s': define it, or check its name.",
                P(name));
    else
        suggest(a->d, 32, 0.88,
                "The class %.*s declares no method '%.*s': define it there, or check its name.",
                P(class), P(name));
    return true;
}

/* ---- objects and lists of functions ---- */

/* handlers[action](): a Map, or a key that is not there. */
bool js_item_is_called(const struct advice *a, struct piece owner, struct piece key)
{
    struct piece value;
    uint32_t line = 0;
    char item[200];
    (void)snprintf(item, sizeof item, "%.*s[%.*s]", P(piece_cut(owner, 80)), P(piece_cut(key, 80)));
    if (js_map_used_as_object(a, piece_of(item), a->d->location.line))
        return true;
    if (!js_assigned(a, owner, &value, &line) || !starts_with(value, "{"))
        return false;
    suggest(a->d, 32, 0.9,
            "'%.*s' (line %u) has no function for the key %.*s: add it there, or test %s first.",
            P(owner), line, P(key), item);
    return true;
}

/* The value is a function that the program declares below, with var. */
bool js_is_set_below(const struct advice *a, struct piece name)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
        if (i > a->d->location.line &&
            match(a->g,
                  "^\\s*var\\s+([\\w$]+)\\s*=\\s*(?:async\\s*)?(?:function\\b|\\(|[\\w$]+\\s*=>)",
                  line, &m) &&
            piece_same(m.group[0], name)) {
            suggest(a->d, 16, 0.94,
                    "'%.*s' gets its function in line %u, which runs later: move that line up, or "
                    "write "
                    "function %.*s(...) { ... }.",
                    P(name), i, P(name));
            return true;
        }
    return false;
}

/* A parameter that hides a function of the program. */
bool js_parameter_hides(const struct advice *a, struct piece name)
{
    const struct source_file *f;
    uint32_t line = js_function(a, name, &f);
    struct match m;
    for (uint32_t n = a->d->location.line; line && n > 0 && a->d->location.line - n < 24; n--) {
        struct piece text = source_line(a->file, n);
        if (match(a->g, "\\bfunction\\b[^(]*\\(([^()]*)\\)|\\(([^()]*)\\)\\s*=>", text, &m) &&
            has_word(m.group[0].at ? m.group[0] : m.group[1], name)) {
            suggest(a->d, 32, 0.92,
                    "The parameter '%.*s' of line %u hides the function of that name (line %u): "
                    "give one of the "
                    "two another name.",
                    P(name), n, line);
            return true;
        }
    }
    return false;
}
