/* Lua: reads and explains "lua: FILE:N: message" and its traceback. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/core/rules.h"

/* ---- the rules ---- */

static const char *const names[] = {
    "print",        "ipairs",       "pairs",  "tostring", "tonumber", "type",  "require", "string",
    "table",        "math",         "io",     "os",       "error",    "pcall", "assert",  "select",
    "setmetatable", "getmetatable", "insert", "remove",   "concat",   "sort",  "format",  "upper",
    "lower",        "sub",          "find",   "gsub",     "gmatch",   "match", "rep",     "len",
    "reverse",      "floor",        "ceil",   "random",   "max",      "min",   "sqrt",    "unpack",
    "byte",         "char",         "huge",   "abs",      "next",     NULL
};

static const struct {
    const char *wrong, *right;
} foreign[] = {
    { "unpack", "table.unpack" },
    { "println", "print" },
    { "printf", "print(string.format(...))" },
    { "len", "#value" },
    { "toString", "tostring" },
    { "parseInt", "tonumber" },
    { "loadstring", "load" },
    { "setfenv", "load with an environment" },
    { "getn", "#value" },
};

static void advise_name(const struct advice *a)
{
    struct piece name = a->m.group[1];
    for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
        if (piece_is(name, foreign[i].wrong)) {
            suggest(a->d, 0, 0.85, "In Lua the name is `%s`.", foreign[i].right);
            return;
        }
    char best[128];
    if (similar_name(a->in, name, names, best, sizeof best)) {
        suggest(a->d, 0, 0.85, "Did you mean `%s`? The %.*s `%.*s` is nil.", best, P(a->m.group[0]),
                P(name));
        (void)suggest_swap(a->in, a->d, name, best);
        return;
    }
    suggest(a->d, 0, 0.6, "The %.*s `%.*s` has no value there: define it before it is called.",
            P(a->m.group[0]), P(name));
}

/* The whole of "config.window" when the name is window. */
static struct piece whole_name(const struct advice *a, struct piece name)
{
    struct piece line = a->line;
    size_t at = find_word(line, name), from;
    if (at == line.len)
        return name;
    for (from = at; piece_at(line, from) == '.' || is_word_byte(piece_at(line, from));)
        from--;
    return piece_skip(piece_cut(line, at + name.len), from);
}

/* io.open() returns nil for a file that does not exist. */
static bool advise_unopened(const struct advice *a, struct piece name)
{
    const struct source_file *f = a->file;
    for (uint32_t n = a->d->location.line; n > 0 && n + LINES_NEAR > a->d->location.line; n--) {
        struct match m;
        if (!match(a->g,
                   "(\\w+) *(?:, *\\w+)? *= *(?:io\\.(?:open|popen)|\\w+[:.](?:match|find))\\(",
                   source_line(f, n), &m) ||
            !piece_same(m.group[0], name))
            continue;
        bool file = piece_has(m.all, "open(");
        suggest(a->d, file ? 22 : 4, 0.9,
                file ? "`%.*s` is nil since line %u, because io.open() returns nil for a file that "
                       "cannot be opened: send the file with the job, and write "
                       "assert(io.open(...)) to see the reason."
                     : "`%.*s` is nil since line %u, because nothing matched there: test it first.",
                P(name), n);
        return true;
    }
    return false;
}

static void advise_nil(const struct advice *a)
{
    struct piece kind = a->m.group[0], name = a->m.group[1], whole = whole_name(a, name);
    char best[128];
    point_at(a->in, a->d, whole);
    if (piece_is(kind, "global") && similar_name(a->in, name, names, best, sizeof best)) {
        suggest(a->d, 0, 0.8, "Did you mean `%s`? There is no global `%.*s`.", best, P(name));
        (void)suggest_swap(a->in, a->d, name, best);
        return;
    }
    if (advise_unopened(a, name))
        return;
    suggest(a->d, 0, 0.8,
            "`%.*s` is nil there: give it a value before, or test it, `if %.*s then ... end`.",
            P(whole), P(whole));
}

static void advise_arithmetic(const struct advice *a)
{
    struct piece name = a->m.group[1];
    char with[100];
    point_at(a->in, a->d, name);
    suggest(a->d, 0, 0.85,
            "The %.*s `%.*s` is nil there: give it a value first, or write (%.*s or 0).",
            P(a->m.group[0]), P(name), P(name));
    (void)snprintf(with, sizeof with, "(%.*s or 0)", P(piece_cut(name, 80)));
    struct match c;
    struct piece line = a->line;
    /* The name must stand on the right of '='. */
    if (piece_is(a->m.group[0], "local") && match(a->g, "^([^=]*=)(.*)$", line, &c) &&
        !has_word(c.group[0], name))
        (void)suggest_swap(a->in, a->d, name, with);
}

static void advise_syntax(const struct advice *a)
{
    struct piece line = a->line;
    struct match c;
    if (match(a->g, "^(\\s*)([\\w.]+)\\s*([-+*/.]{1,2})=\\s*(.*)$", line, &c)) {
        suggest(a->d, 0, 0.9, "Lua has no `%.*s=`: write the variable on both sides of `=`.",
                P(c.group[2]));
        suggest_replacement(a->d, "%.*s%.*s = %.*s %.*s %.*s", P(c.group[0]), P(c.group[1]),
                            P(c.group[1]), P(c.group[2]), P(c.group[3]));
    } else if (match(a->g, "^(\\s*)(\\w+)(\\+\\+|--)", line, &c)) {
        suggest(a->d, 0, 0.9, "Lua has no `%.*s`: write the assignment out.", P(c.group[2]));
        suggest_replacement(a->d, "%.*s%.*s = %.*s %c 1", P(c.group[0]), P(c.group[1]),
                            P(c.group[1]), c.group[2].at[0]);
    } else if (match(a->g, "^(\\s*(?:if|elseif|while|until)\\b[^=~<>!]*[^=~<>! ]) *= *([^=].*)$",
                     line, &c)) {
        suggest(a->d, 0, 0.93, "A single `=` assigns: write `==` to compare.");
        suggest_replacement(a->d, "%.*s == %.*s", P(c.group[0]), P(c.group[1]));
    } else if (match(a->g, "^(.*)!=(.*)$", line, &c)) {
        suggest(a->d, 0, 0.9, "In Lua \"not equal\" is `~=`.");
        suggest_replacement(a->d, "%.*s~=%.*s", P(c.group[0]), P(c.group[1]));
    } else if (match(a->g, "&&|\\|\\||\\belse if\\b|\\bnull\\b", line, &c)) {
        suggest(a->d, 0, 0.8, "Lua writes `and`, `or`, `not`, `elseif` and `nil`.");
    }
}

/* "'end' expected (to close 'if' at line 2) near <eof>" */
static void advise_end(const struct advice *a)
{
    if (a->m.group[1].at)
        suggest(a->d, 0, 0.85,
                "The `%.*s` on line %.*s, or a block inside it, has no `end`: add one.",
                P(a->m.group[0]), P(a->m.group[1]));
    else
        suggest(a->d, 0, 0.7, "A block has no `end`: add one.");
}

static void advise_word(const struct advice *a)
{
    struct piece line = a->line, word = a->m.group[0];
    advise_syntax(a);
    if (a->d->n_suggestions > 0)
        return;
    suggest(a->d, 0, 0.9, "`%.*s` is missing at the end of line %u: add it.", P(word),
            a->d->location.line);
    if (line.at)
        suggest_replacement(a->d, "%.*s %.*s", P(line), P(word));
}

static void advise_module(const struct advice *a)
{
    struct piece name = a->m.group[0];
    char file[140], best[256];
    (void)snprintf(file, sizeof file, "%.*s.lua", P(piece_cut(name, 130)));
    if (similar_file(a->in, piece_of(file), best, sizeof best)) {
        best[strcspn(best, ".")] = '\0';
        suggest(a->d, 0, 0.9, "Did you mean \"%s\"? The job has no file %s.", best, file);
        (void)suggest_swap(a->in, a->d, name, best);
        return;
    }
    suggest(a->d, 0, 0.75,
            "The module \"%.*s\" is not installed here: send %s with the job, or do without it.",
            P(name), file);
}

#define MANUAL "https://www.lua.org/manual/5.4/manual.html"

static const struct rule rules[] = {
    ADVISE("attempt to call a nil value \\((global|method|field|upvalue|local) '(.+?)'\\)",
           CATEGORY_NAME, 0, advise_name),
    SAY("attempt to call a (\\w+) value \\(\\w+ '(.+?)'\\)", CATEGORY_TYPE, 0, 0.7,
        "`{2}` is a {1}, not a function: check its value, or remove the brackets."),
    SAY("attempt to call a (\\w+) value", CATEGORY_TYPE, 0, 0.7,
        "The called value is a {1}, not a function: check it, or remove the brackets."),
    SAY("attempt to (?:index|perform arithmetic on) a \\w+ value \\((?:local|field|upvalue) "
        "'self'\\)",
        CATEGORY_TYPE, 0, 0.93,
        "`self` is not the object: call a method that is defined with `:` with `:` too, "
        "object:method(...), not object.method(...)."),
    ADVISE(
        "attempt to index a nil value \\((global|field|local|upvalue|method|constant) '(.+?)'\\)",
        CATEGORY_RUNTIME, 0, advise_nil),
    SAY("attempt to index a nil value", CATEGORY_RUNTIME, 0, 0.6,
        "A value on that line is nil: test it first."),
    SAY("attempt to index a (\\w+) value", CATEGORY_TYPE, 0, 0.7,
        "The value is a {1}, which has no fields, but a table does: check the value."),
    ADVISE("attempt to perform arithmetic on a nil value \\((\\w+) '(.+?)'\\)", CATEGORY_TYPE, 0,
           advise_arithmetic),
    SAY("attempt to perform arithmetic on a (\\w+) value(?: \\(\\w+ '(.+?)'\\))?", CATEGORY_TYPE, 0,
        0.8, "One side is a {1}, not a number: tonumber(value) converts a string."),
    SAY("attempt to (?:add|sub|mul|div|mod|pow|perform \\S+) a '(\\w+)' with a '(\\w+)'",
        CATEGORY_TYPE, 0, 0.85,
        "The operator does not work between a {1} and a {2}: tonumber(value) converts a string "
        "that is a number."),
    SAY("attempt to concatenate a nil value \\((\\w+) '(.+?)'\\)", CATEGORY_TYPE, 0, 0.85,
        "The {1} `{2}` is nil there: give it a value before, or write tostring({2})."),
    SAY("attempt to concatenate a (\\w+) value(?: \\(\\w+ '(.+?)'\\))?", CATEGORY_TYPE, 0, 0.8,
        "A {1} is not a string: convert it with tostring(value)."),
    SAY("attempt to compare (?:two (\\w+) values|(\\w+) with (\\w+))", CATEGORY_TYPE, 0, 0.85,
        "These types cannot be compared ({1}{2} {3}): convert both to numbers with tonumber(...), "
        "or both to strings."),
    SAY("attempt to get length of a nil value \\((\\w+) '(.+?)'\\)", CATEGORY_TYPE, 0, 0.88,
        "The {1} `{2}` is nil there: make it a table first, {2} = {}."),
    SAY("attempt to get length of a (\\w+) value", CATEGORY_TYPE, 0, 0.8,
        "A {1} has no length, but tables and strings do: check the value."),
    SAY("bad 'for' (limit|initial value|step) \\(number expected, got (\\w+)\\)", CATEGORY_TYPE, 0,
        0.85,
        "The {1} of a `for` must be a number, and this is a {2}: use #name for the length of a "
        "table."),
    SAY("bad argument #(\\d+) to '(.+?)' \\((\\w+) expected, got (.+?)\\)", CATEGORY_TYPE, 0, 0.85,
        "Argument {1} of `{2}` must be a {3}, and the call passes {4}: change the argument.",
        .docs = MANUAL "#6"),
    SAY("bad argument #(\\d+) to '(.+?)' \\((.*)\\)", CATEGORY_VALUE, 0, 0.7,
        "Argument {1} of `{2}` is wrong ({3}): change it.", .docs = MANUAL "#6"),
    ADVISE("module '(.+?)' not found", CATEGORY_IMPORT, 0, advise_module),
    ADVISE("'end' expected(?: \\(to close '(\\w+)' at line (\\d+)\\))? near <eof>", CATEGORY_SYNTAX,
           0, advise_end),
    ADVISE("'(then|do)' expected near", CATEGORY_SYNTAX, 0, advise_word),
    SAY("'(.+?)' expected \\(to close '(.+?)' at line (\\d+)\\) near (.*)", CATEGORY_SYNTAX, 18,
        0.88, "`{1}` is missing before {4}: close the `{2}` of line {3}, or the one inside it."),
    SAY("'(.+?)' expected(?: \\(to close '(.+?)' at line (\\d+)\\))? near (.*)", CATEGORY_SYNTAX, 0,
        0.75, "`{1}` is missing before {4}: add it."),
    SAY("unfinished (?:string|long string) near (.*)", CATEGORY_SYNTAX, 0, 0.85,
        "The string is not closed in its line: add the quote (\" or ')."),
    ADVISE("syntax error near|unexpected symbol near|<name> expected|malformed number|invalid "
           "escape|unexpected .* near|near <eof>| near '[^']*'$|no visible label|break "
           "outside|attempt to assign to const",
           CATEGORY_SYNTAX, 0, advise_syntax),
    SAY("stack overflow", CATEGORY_RESOURCE, 24, 0.85,
        "The function calls itself without an end: add a case that returns without calling "
        "itself."),
    IS("not enough memory", CATEGORY_RESOURCE),
    SAY("attempt to perform 'n(?://|%%)0'|attempt to divide by zero", CATEGORY_VALUE, 15, 0.85,
        "The divisor is 0 on that line: check it before dividing."),
    SAY("number has no integer representation", CATEGORY_VALUE, 0, 0.8,
        "The number has a fraction: math.floor(value) removes it."),
    SAY("assertion failed", CATEGORY_ASSERTION, 0, 0.5,
        "The value in assert() is false or nil: check it."),
    SAY("(\\S+): No such file or directory", CATEGORY_IO, 22, 0.8,
        "There is no file {1} in the jar: send it with the job, or write it first."),
    END_OF_RULES,
};

/* ---- reading ---- */

/* Lua reports a file that ends too early in the line after its last; the location is the last
 * line. */
static void stay_in_file(const struct diagnose_input *in, struct diagnosis *d)
{
    const struct source_file *f = find_source(in, piece_of(d->location.file));
    for (unsigned n = 0; f && n < BLANKS_NEAR && d->location.line > 1 &&
                         piece_trim(source_line(f, d->location.line)).len == 0;
         n++)
        d->location.line--;
}

/* Lua 5.4 reports a division by zero in the first line of the function. When only one line divides,
 * that line is the location. */
static void find_division(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of_source(find_source(in, piece_of(d->location.file))), line;
    struct match m;
    uint32_t found = 0, count = 0;
    for (uint32_t n = 1; n < LINES_SEEN && next_line(&rest, &line); n++)
        if (match(g, "^(?!\\s*--).*(?://|[\\w)] *%)", line, &m)) {
            found = n;
            count++;
        }
    if (count == 1)
        d->location.line = found;
}

static bool read_lua(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in), line, more;
    struct match m, inner;
    bool found = false;
    while (!found && next_line(&rest, &line))
        found = match(g,
                      "^(?:\\S*/)?lua[\\w.]*: (?:(?:\\./)?([^\\s:\\[][^:]*|\\[string "
                      "\".*?\"\\]):(\\d+): )?(.*)$",
                      line, &m);
    if (!found)
        return false;
    COPY(m.group[2], d->message);
    if (m.group[0].at)
        (void)set_place(in, &d->location, m.group[0], m.group[1], NO_PIECE);
    struct piece after = rest;
    /* A module that does not compile: its own message stands below. */
    if (piece_has(m.group[2], "error loading module") && next_line(&after, &more) &&
        match(g, "^\t(?:\\./)?([^:]+):(\\d+): (.*)$", more, &inner)) {
        COPY(inner.group[2], d->message);
        (void)set_place(in, &d->location, inner.group[0], inner.group[1], NO_PIECE);
    }
    while (next_line(&rest, &line))
        if (match(g, "^\t(?:\\./)?([^\\s:\\[][^:]*):(\\d+): in (.*)$", line, &m))
            add_frame(in, d, m.group[0], m.group[1], NO_PIECE, m.group[2]);
    locate_by_frames(d);
    if (!classify(g, d, rules))
        d->category = CATEGORY_RUNTIME;
    if (match(g, "^attempt to (?:divide by zero|perform 'n)", piece_of(d->message), &m))
        find_division(g, in, d);
    /* Only when the unexpected word begins the line. */
    struct piece here = piece_trim(line_at(in, d));
    if (match(g, "'(?:then|do)' expected near '(.+)'$", piece_of(d->message), &m) &&
        here.len >= m.group[0].len && m.group[0].len > 0 &&
        piece_same(piece_cut(here, m.group[0].len), m.group[0]))
        go_back_to_statement(in, d);
    stay_in_file(in, d);
    return true;
}

static void advise_lua(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    advise_by(g, in, d, rules);
}

const struct grammar grammar_lua = { .name = "lua", .read = read_lua, .advise = advise_lua };
