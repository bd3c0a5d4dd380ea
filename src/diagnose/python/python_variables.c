/* Rules for variables without a value: slips, missing imports, names of another function. Runs in:
 * keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"
#include "diagnose/python_variables.words.h" /* generated */

/* The name is defined later, or inside a function. */
static bool defined_elsewhere(const struct advice *a, struct piece name)
{
    struct piece line, value;
    uint32_t number = 0;
    const struct source_file *file;
    if (py_defined(a, name, &line, &number, &file) && file == a->file &&
        number > a->d->location.line) {
        suggest(a->d, 3, 0.9,
                "'%.*s' is defined in line %u, after it is used: move the definition up, or the "
                "call down.",
                P(name), number);
        return true;
    }
    if (!py_assigned(a, name, &value, &number))
        return false;
    if (number > a->d->location.line)
        suggest(a->d, 3, 0.85,
                "'%.*s' gets its value in line %u, after its use here: assign it before.", P(name),
                number);
    else
        suggest(a->d, 3, 0.85,
                "'%.*s' gets its value in line %u, in another function or class, and is not known "
                "here: return the value, or pass it as an argument.",
                P(name), number);
    return true;
}

/* "    def name(self": a method. */
static bool is_method(const struct advice *a, struct piece line, struct piece name)
{
    struct match m;
    return match(a->g, "^\\s+(?:async )?def (\\w+)\\(self\\b", line, &m) &&
           piece_same(m.group[0], name);
}

/* Offers the line with the name replaced where no '.' stands before it. */
static void swap_plain(const struct advice *a, struct piece name, const char *to)
{
    struct piece rest = a->line;
    for (unsigned n = 0; n < 8 && has_word(rest, name); n++) {
        size_t at = piece_offset(a->line, rest) + find_word(rest, name);
        if (piece_at(a->line, at) != '.') {
            suggest_replacement(a->d, "%.*s%s%.*s", P(piece_cut(a->line, at)), to,
                                P(piece_skip(a->line, at + name.len)));
            return;
        }
        rest = piece_skip(a->line, at + name.len);
    }
}

/* `except ... as name` deletes the name at the end of its block. */
static bool is_exception(const struct advice *a, struct piece name)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t i = 1; i < a->d->location.line && i < LINES_SEEN && next_line(&rest, &line); i++)
        if (match(a->g, "^\\s*except\\b.*\\bas\\s+(\\w+)\\s*:", line, &m) &&
            piece_same(m.group[0], name)) {
            suggest(a->d, 3, 0.92,
                    "Python deletes '%.*s' at the end of the `except` block in line %u: copy it "
                    "there to another name (`error = %.*s`).",
                    P(name), i, P(name));
            return true;
        }
    return false;
}

/* A method that uses an attribute of its object without self. */
static bool is_attribute(const struct advice *a, struct piece name)
{
    char own[80];
    struct piece rest = text_of_source(a->file), line;
    (void)snprintf(own, sizeof own, "self.%.*s", P(piece_cut(name, 70)));
    if (!a->line.at || indent_of(a->line) == 0)
        return false;
    for (unsigned i = 0; i < LINES_SEEN && next_line(&rest, &line); i++)
        if (has_word(line, piece_of(own)) || is_method(a, line, name)) {
            suggest(a->d, 3, 0.92, "Did you mean '%s'? A method reaches its object through self.",
                    own);
            swap_plain(a, name, own);
            return true;
        }
    return false;
}

static void on_name(const struct advice *a)
{
    struct piece name = a->m.group[0], hint = NO_PIECE;
    const char *statement = py_import_for(name);
    if (py_is_stdlib(name) || statement) {
        char text[160];
        (void)snprintf(text, sizeof text, "import %.*s", P(name));
        bool here = !a->in->available || py_is_stdlib(name) ||
                    starts_with(piece_of(statement), "from ");
        suggest(a->d, 3, 0.93, "The import is missing: add `%s` at the top%s.",
                statement ? statement : text, here ? "" : " (if the module is installed here)");
        suggest_replacement(a->d, "%s", statement ? statement : text);
        return;
    }
    const char *own = text_for(translations, name);
    if (own) {
        suggest(a->d, 3, 0.93, "In Python the name is '%s'.", own);
        (void)suggest_swap(a->in, a->d, name, own);
        return;
    }
    if (is_attribute(a, name) || is_exception(a, name) || defined_elsewhere(a, name))
        return;
    char best[128] = "";
    struct similar slip = { .name = name };
    if (py_hint(a, &hint)) {
        similar_try(&slip, hint);
        /* Python offers built-in names that have little in common with the word: 'hello', 'help'. */
        if (!piece_among(hint, py_builtins) || (slip.best[0] && slip.distance == 1))
            COPY(hint, best);
    }
    if (!best[0] && hint.at) {
        suggest(a->d, 3, 0.6,
                "No line of the program gives '%.*s' a value: put it in quotes if it is text, or "
                "define or import it first.",
                P(name));
        return;
    }
    if (!best[0] && !similar_name(a->in, name, py_builtins, best, sizeof best)) {
        struct similar n = { .name = name };
        similar_try_list(&n, py_stdlib);
        if (n.best[0])
            suggest(a->d, 3, 0.6, "If you mean the module '%s', import it: `import %s`.", n.best,
                    n.best);
        else
            suggest(a->d, 3, 0.4,
                    "No line of the program gives '%.*s' a value: define it first, import it, or "
                    "put it in quotes if it is text.",
                    P(name));
        return;
    }
    suggest(a->d, 3, 0.9, "Did you mean '%s'?", best);
    (void)suggest_swap(a->in, a->d, name, best);
}

/* Whether a line at the left margin gives the name a value. */
static bool is_global(const struct advice *a, struct piece name)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (unsigned i = 0; i < LINES_SEEN && next_line(&rest, &line); i++)
        if (match(a->g, "^([A-Za-z_]\\w*)\\s*(?::[^=]+)?(?:[-+*/]?=)[^=]", line, &m) &&
            piece_same(m.group[0], name))
            return true;
    return false;
}

/* The line of a function around this one where the name is a parameter or gets a value; 0 when
 * there is none. */
static uint32_t enclosing_with(const struct advice *a, struct piece name)
{
    struct piece rest = text_of_source(a->file), line;
    struct {
        uint32_t line, has;
        size_t indent;
    } around[16] = { 0 };
    size_t depth = 0;
    for (uint32_t i = 1; i <= a->d->location.line && i < LINES_SEEN && next_line(&rest, &line);
         i++) {
        struct match m;
        struct piece t = piece_trim(line);
        if (t.len == 0 || piece_byte(t, 0) == '#')
            continue;
        while (depth > 0 && indent_of(line) <= around[depth - 1].indent)
            depth--;
        bool def = match(a->g, "^\\s*(?:async )?def \\w+(.*)$", line, &m);
        if (def && depth == ARRAY_LEN(around))
            return 0;
        if (def) {
            bool has = has_word(m.group[0], name);
            around[depth].line = i;
            around[depth].has = has ? i : 0;
            around[depth++].indent = indent_of(line);
        } else if (depth > 0 && match(a->g, "^\\s*(\\w+)\\s*(?::[^=]+)?=[^=]", line, &m) &&
                   piece_same(m.group[0], name)) {
            around[depth - 1].has = i;
        }
    }
    for (size_t i = depth > 1 ? depth - 1 : 0; i-- > 0;)
        if (around[i].has)
            return around[i].has;
    return 0;
}

static void on_unbound(const struct advice *a)
{
    struct piece name = a->m.group[0], value;
    uint32_t number = 0;
    if (is_global(a, name)) {
        suggest(a->d, 16, 0.92,
                "This function assigns to '%.*s', which makes it a local variable: write `global "
                "%.*s` first to use the global one.",
                P(name), P(name));
        suggest_replacement(a->d, "global %.*s", P(name));
        return;
    }
    uint32_t outer = enclosing_with(a, name);
    if (outer) {
        suggest(a->d, 16, 0.9,
                "'%.*s' belongs to the function around this one (line %u), and this function "
                "assigns to it: write `nonlocal %.*s` first.",
                P(name), outer, P(name));
        suggest_replacement(a->d, "nonlocal %.*s", P(name));
        return;
    }
    bool before = py_assigned(a, name, &value, &number) && number < a->d->location.line;
    if (before) {
        suggest(a->d, 16, 0.85,
                "'%.*s' gets its value in line %u only on some paths (an if, a loop, a try): give "
                "it a value before.",
                P(name), number);
    } else {
        suggest(a->d, 16, 0.75,
                "'%.*s' is used before this function gives it a value: assign it first.", P(name));
    }
}

#include "diagnose/python_variables.rules.h" /* generated */
