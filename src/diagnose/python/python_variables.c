/* Rules for variables without a value: slips, missing imports, names of another function. Runs in:
 * keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"
#include "diagnose/python_variables.words.h" /* generated */

/* A `def` or `class` of the file that this line cannot see. */
static bool is_hidden_definition(const struct advice *a, struct piece name)
{
    struct piece line;
    uint32_t number = 0;
    const struct source_file *file;
    if (!py_defined(a, name, &line, &number, &file) || file != a->file)
        return false;
    struct py_scope scope = py_scope_of(a, number);
    if (py_in_class(scope))
        suggest(a->d, 3, 0.85,
                "'%.*s' (line %u) belongs to the class %.*s: reach it through an object or the "
                "class, `%.*s.%.*s`.",
                P(name), number, P(scope.name), P(scope.name), P(name));
    else if (scope.line && scope.line != py_scope_of(a, a->d->location.line).line)
        suggest(a->d, 3, 0.85,
                "'%.*s' is defined in line %u, inside of %.*s(), and is not known here: move the "
                "definition out of it.",
                P(name), number, P(scope.name));
    else if (number > a->d->location.line)
        suggest(a->d, 3, 0.9,
                "'%.*s' is defined in line %u, after it is used: move the definition up, or the "
                "call down.",
                P(name), number);
    else
        return false;
    return true;
}

/* A loop above, in the same function, has the name as its variable. */
static bool is_loop_variable(const struct advice *a, struct piece name)
{
    uint32_t loop = py_line_with(a, "^\\s*(?:async )?for (\\w+) in\\b", name);
    if (!loop || loop >= a->d->location.line ||
        py_scope_of(a, loop).line != py_scope_of(a, a->d->location.line).line)
        return false;
    suggest(a->d, 16, 0.88,
            "The loop in line %u gives '%.*s' its values, and it had no round, because there was "
            "nothing to loop over. Give '%.*s' a value before the loop, or test for that case.",
            loop, P(name), P(name));
    return true;
}

/* A line gives the name a value, in another place or too late. */
static bool defined_elsewhere(const struct advice *a, struct piece name)
{
    struct piece value;
    uint32_t number = 0;
    if (is_hidden_definition(a, name) || is_loop_variable(a, name))
        return true;
    if (!py_assigned(a, name, &value, &number))
        return false;
    struct py_scope there = py_scope_of(a, number), here = py_scope_of(a, a->d->location.line);
    if (py_in_class(there) && there.line != here.line)
        suggest(a->d, 3, 0.88,
                "'%.*s' (line %u) belongs to the class %.*s: write self.%.*s in a method, or "
                "%.*s.%.*s.",
                P(name), number, P(there.name), P(name), P(there.name), P(name));
    else if (there.line && there.line != here.line)
        suggest(a->d, 3, 0.85,
                "'%.*s' gets its value in line %u, inside of %.*s(), and is not known here: return "
                "the value from there, or pass it as an argument.",
                P(name), number, P(there.name));
    else if (number > a->d->location.line || !there.line)
        suggest(a->d, 3, 0.85,
                "'%.*s' gets its value in line %u, which did not run before this line: move it up, "
                "or give '%.*s' a value first.",
                P(name), number, P(name));
    else
        return false;
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
    struct match m;
    (void)snprintf(own, sizeof own, "self.%.*s", P(piece_cut(name, 70)));
    if (!a->line.at || !match(a->g, "^(?:async )?def \\w+\\(\\s*(self)\\b",
                              py_scope_of(a, a->d->location.line).head, &m))
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

/* The statement that makes the name known where the line uses it in that way: a module is followed by
 * a '.', and a function by its brackets. False when the program may mean a variable of its own. */
static bool import_for(const struct advice *a, struct piece name, char *out, size_t size)
{
    const char *statement = py_import_for(name);
    size_t end = find_word(a->line, name) + name.len;
    char before = piece_at(a->line, end - name.len), behind = piece_at(a->line, end + 1);
    struct match m;
    bool module = py_is_stdlib(name);
    bool is_class = match(a->g, "^[A-Z]", name, &m);
    if (module && behind == '.' && piece_is(name, "datetime") &&
        match(a->g, "^\\.(?:now|utcnow|today|strptime|fromisoformat|fromtimestamp|combine)\\b",
              piece_skip(a->line, end), &m))
        module = false;
    if (module && piece_among(name, also_variables) &&
        match(a->g,
              "^\\.(?:split|strip|lower|upper|replace|append|extend|items|keys|values|get|join|"
              "format|startswith|endswith|pop|sort|index|count|encode|isdigit|title|find)\\(",
              piece_skip(a->line, end), &m))
        return false;
    if (module && (behind == '.' || !a->line.at)) {
        (void)snprintf(out, size, "import %.*s", P(name));
        return true;
    }
    if (statement && (is_class || !a->line.at || behind == '(' || behind == '.' || before == '@' ||
                      piece_is(name, "pi") || piece_is(name, "inf"))) {
        (void)snprintf(out, size, "%s", statement);
        return true;
    }
    if (!piece_among(name, self_named) || (behind != '(' && behind != '.'))
        return false;
    (void)snprintf(out, size, "from %.*s import %.*s", P(name), P(name));
    return true;
}

static bool advise_import(const struct advice *a, struct piece name)
{
    char statement[160];
    struct match m;
    if (!import_for(a, name, statement, sizeof statement))
        return false;
    struct piece top = match(a->g, "^(?:import|from) (\\w+)", piece_of(statement), &m) ? m.group[0]
                                                                                       : NO_PIECE;
    bool here = !a->in->available || py_is_stdlib(top);
    suggest(a->d, 3, 0.93, "The import is missing: add `%s` at the top%s.", statement,
            here ? "" : " (if the module is installed here)");
    suggest_replacement(a->d, "%s", statement);
    return true;
}

/* A name that the program defines, or a built-in function that is called, with a slip. Python's own
 * hint counts if it is near: 'hello' is not 'help'. */
static bool advise_near_name(const struct advice *a, struct piece name)
{
    struct similar own = { .name = name }, built_in = { .name = name };
    struct piece hint = NO_PIECE;
    if (py_hint(a, &hint) && !piece_among(hint, py_builtins))
        similar_try(&own, hint);
    if (!own.best[0])
        py_try_names(a, &own);
    if (piece_at(a->line, find_word(a->line, name) + name.len + 1) == '(' && name.len > 2)
        similar_try_list(&built_in, py_builtins);
    bool use_own = own.best[0] && (!built_in.best[0] || own.distance <= built_in.distance);
    const char *best = use_own ? own.best : built_in.best;
    if (!best[0] && starts_with(hint, "self.")) {
        COPY(hint, own.best);
        best = own.best;
    }
    if (!best[0])
        return false;
    suggest(a->d, 3, 0.9, "Did you mean '%s'?", best);
    (void)suggest_swap(a->in, a->d, name, best);
    return true;
}

/* A line of the program may give the name a value, in a form that the rules before do not read. */
static bool is_given_somewhere(const struct advice *a, struct piece name)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
        if (i != a->d->location.line && has_word(line, name) &&
            match(a->g, "=|\\bfor\\b|\\bas\\b|\\bimport\\b|\\bdef\\b|\\bclass\\b|\\blambda\\b",
                  line, &m))
            return true;
    return false;
}

static void on_name(const struct advice *a)
{
    struct piece name = a->m.group[0];
    const char *own = text_for(translations, name);
    if (is_attribute(a, name) || is_exception(a, name) || defined_elsewhere(a, name) ||
        advise_import(a, name))
        return;
    if (own) {
        suggest(a->d, 3, 0.93, "In Python the name is '%s'.", own);
        (void)suggest_swap(a->in, a->d, name, own);
        return;
    }
    if (advise_near_name(a, name))
        return;
    struct similar n = { .name = name };
    if (piece_at(a->line, find_word(a->line, name) + name.len + 1) == '.')
        similar_try_list(&n, py_stdlib);
    if (n.best[0])
        suggest(a->d, 3, 0.6, "If you mean the module '%s', import it: `import %s`.", n.best,
                n.best);
    else
        suggest(a->d, 3, 0.6,
                is_given_somewhere(a, name)
                    ? "'%.*s' has no value at this line: give it one before, or pass it to the "
                      "function as an argument."
                : a->in->is_cell ? "The session has no value for '%.*s': define it in a cell, "
                                   "import it, or put it in quotes if it is text."
                                 : "No line of the program gives '%.*s' a value: define it first, "
                                   "import it, or put it in quotes if it is text.",
                P(name));
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
    if (is_exception(a, name))
        return;
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
    char own[80];
    struct match self;
    (void)snprintf(own, sizeof own, "self.%.*s", P(piece_cut(name, 70)));
    if (match(a->g, "^(?:async )?def \\w+\\(\\s*(self)\\b",
              py_scope_of(a, a->d->location.line).head, &self) &&
        has_word(text_of_source(a->file), piece_of(own))) {
        suggest(a->d, 16, 0.93, "Did you mean '%s'? A method reaches its object through self.",
                own);
        swap_plain(a, name, own);
        return;
    }
    bool before = py_assigned(a, name, &value, &number) && number < a->d->location.line &&
                  py_scope_of(a, number).line == py_scope_of(a, a->d->location.line).line;
    if (!before && is_loop_variable(a, name))
        return;
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
