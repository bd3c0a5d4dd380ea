/* Lua: reads and explains "lua: FILE:N: message" and its traceback. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "diagnose/core/rules.h"
#include "diagnose/lua.words.h" /* generated */

/* ---- the rules ---- */

/* The table of the standard library before the name: "string" of `string.trim`. */
static struct piece library_of(const struct advice *a, struct piece name)
{
    static const char *const libraries[] = { "string", "table",     "math",  "os", "io",
                                             "utf8",   "coroutine", "debug", NULL };
    struct piece rest = a->line;
    struct match m;
    for (; rest.len > 0 && match(a->g, "\\b(\\w+)[.:](\\w+)", rest, &m);
         rest = piece_after(rest, m.group[0]))
        if (piece_same(m.group[1], name) && piece_among(m.group[0], libraries))
            return m.group[0];
    return NO_PIECE;
}

/* Names of other languages and libraries: of a library, and of a method of a table or a string. */
static bool advise_missing(const struct advice *a, struct piece name)
{
    struct piece library = library_of(a, name);
    bool method = piece_is(a->m.group[0], "method");
    const char *text = library.at ? text_for(library_names, name)
                       : method   ? text_for(methods, name)
                                  : NULL;
    if (text)
        suggest(a->d, 5, 0.92, "%s.", text);
    else if (library.at)
        suggest(
            a->d, 5, 0.85,
            "Lua's library `%.*s` has no `%.*s`: write a function for it, or use one that it has.",
            P(library), P(name));
    else if (method)
        suggest(a->d, 5, 0.8,
                "The value before `:%.*s` has no such method: define it, `function Name:%.*s() ... "
                "end`, "
                "and set __index of its metatable.",
                P(name), P(name));
    return text || library.at || method;
}

static void advise_name(const struct advice *a)
{
    struct piece name = a->m.group[1];
    const char *own = text_for(foreign, name);
    char best[128];
    if (library_of(a, name).at && advise_missing(a, name))
        return;
    if (own) {
        suggest(a->d, 0, 0.85, "In Lua the name is `%s`.", own);
        return;
    }
    if (similar_name(a->in, name, names, best, sizeof best)) {
        suggest(a->d, 0, 0.85, "Did you mean `%s`? The %.*s `%.*s` is nil.", best, P(a->m.group[0]),
                P(name));
        (void)suggest_swap(a->in, a->d, name, best);
        return;
    }
    if (advise_missing(a, name))
        return;
    suggest(a->d, 0, 0.6, "The %.*s `%.*s` has no value there: define it before it is called.",
            P(a->m.group[0]), P(name));
}

/* for k, v in t do */
static void advise_iterator(const struct advice *a)
{
    struct match m;
    if (match(a->g, "\\bfor\\b.*\\bin\\s+([\\w.]+)\\s+do\\b", a->line, &m) &&
        piece_is(a->m.group[0], "table")) {
        suggest(
            a->d, 12, 0.94,
            "A loop over a table needs an iterator: ipairs(%.*s) for positions, pairs(%.*s) for "
            "keys.",
            P(m.group[0]), P(m.group[0]));
        struct match made;
        struct piece rest = text_of_source(a->file), line;
        const char
            *iterator = NULL; /* of a table that is written out: its first item shows which */
        for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++)
            if (match(a->g, "(\\w+)\\s*=\\s*\\{\\s*(\\w+\\s*=|\\[|[\"'\\d{])", line, &made) &&
                piece_same(made.group[0], m.group[0]))
                iterator = ends_with(made.group[1], "=") || piece_is(made.group[1], "[") ? "pairs"
                                                                                         : "ipairs";
        char with[140], plain[130];
        (void)snprintf(with, sizeof with, "in %s(%.*s)", iterator ? iterator : "",
                       P(piece_cut(m.group[0], 100)));
        (void)snprintf(plain, sizeof plain, "in %.*s", P(piece_cut(m.group[0], 100)));
        if (iterator)
            (void)suggest_swap(a->in, a->d, piece_of(plain), with);
        return;
    }
    suggest(
        a->d, 12, 0.85,
        "The value behind `in` is a %.*s, not an iterator: pairs(t) and ipairs(t) make one of a "
        "table.",
        P(a->m.group[0]));
}

/* tonumber("abc") + 1 */
static void advise_no_number(const struct advice *a)
{
    if (piece_has(a->line, "tonumber("))
        suggest(a->d, 13, 0.92,
                "tonumber() returns nil for text that is no number: test the result, or write "
                "(tonumber(x) or 0).");
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

/* object.method() for object:method() */
static void advise_self(const struct advice *a)
{
    struct match m, own;
    struct piece rest = text_of_source(a->file), line, method = NO_PIECE;
    for (uint32_t n = a->d->location.line;
         n > 0 && a->d->location.line - n < LINES_NEAR && !method.at; n--)
        if (match(a->g, "\\bfunction\\s+[\\w.]+:(\\w+)\\s*\\(", source_line(a->file, n), &m))
            method = m.group[0];
    for (uint32_t n = 1; method.at && n < LINES_SEEN && next_line(&rest, &line); n++)
        if (!piece_has(line, "function") && match(a->g, "(\\w+)\\.(\\w+)\\s*\\(", line, &own) &&
            piece_same(own.group[1], method)) {
            suggest(a->d, 0, 0.95,
                    "`self` is not the object: line %u calls %.*s.%.*s(...) with a dot. Write a "
                    "colon, %.*s:%.*s(...), which passes the "
                    "object.",
                    n, P(own.group[0]), P(method), P(own.group[0]), P(method));
            return;
        }
    suggest(a->d, 0, 0.93,
            "`self` is not the object: call a method that is defined with a colon with a colon "
            "too, object:method(...), not "
            "object.method(...).");
}

/* The line may give the table items: it sets one, gives the table a value, or passes it on. */
static bool may_fill(const struct advice *a, struct piece line, struct piece table)
{
    struct piece rest = line;
    struct match m;
    while (match(a->g,
                 "(?|([\\w.]+)\\[[^\\[\\]]*(?:\\[[^\\]]*\\])?\\]\\s*=[^=]|"
                 "([\\w.]+)\\s*=\\s*+(?!\\{\\s*\\})[^=]|"
                 "(?<!pairs)(?<!print)[(,=]\\s*([\\w.]+)\\s*(?=[,)]|$))",
                 rest, &m)) {
        if (piece_same(m.group[0], table))
            return true;
        rest = piece_after(line, m.group[0]);
    }
    return false;
}

/* grid[row][col] = 0, where no line makes grid[row] */
static bool advise_row(const struct advice *a)
{
    struct match use, m;
    if (!piece_has(a->message, "index a nil value") ||
        !match(a->g, "([\\w.]+)\\[([\\w.]+)\\]\\s*[.\\[]", a->line, &use))
        return false;
    struct piece rest = text_of_source(a->file), line;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++)
        if (may_fill(a, line, use.group[0]))
            return false;
    uint32_t loop = a->d->location.line, last = loop;
    while (loop > 0 && (!match(a->g, "\\bfor\\s+(\\w+)\\s*[=,]", source_line(a->file, loop), &m) ||
                        !piece_same(m.group[0], use.group[1])))
        loop = loop + BLANKS_NEAR > last ? loop - 1 : 0;
    if (loop > 0)
        suggest(
            a->d, 0, 0.93,
            "%.*s[%.*s] is nil because no line makes that inner table: write %.*s[%.*s] = {} at "
            "the beginning of the loop in line %u.",
            P(use.group[0]), P(use.group[1]), P(use.group[0]), P(use.group[1]), loop);
    else
        suggest(a->d, 0, 0.93,
                "%.*s[%.*s] is nil because no line makes that inner table: write %.*s[%.*s] = "
                "%.*s[%.*s] or {} before line %u.",
                P(use.group[0]), P(use.group[1]), P(use.group[0]), P(use.group[1]), P(use.group[0]),
                P(use.group[1]), a->d->location.line);
    return true;
}

/* counts[word] + 1, xs[0] */
static void advise_item(const struct advice *a)
{
    struct match m;
    if (advise_row(a))
        return;
    uint32_t loop = line_above_with(a, "\\bfor\\s+(\\w+)\\s*=\\s*0\\s*,\\s*#", &m);
    if (loop)
        suggest(a->d, 0, 0.94,
                "Lists begin at 1 in Lua, and line %u begins at 0: write for %.*s = 1, #list do.",
                loop, P(m.group[0]));
    else if (match(a->g, "([\\w.]+)\\[([\\w.]+)\\]\\s*=\\s*\\1\\[\\2\\]", a->line, &m))
        suggest(a->d, 0, 0.94, "%.*s[%.*s] has no value yet: write (%.*s[%.*s] or 0).",
                P(m.group[0]), P(m.group[1]), P(m.group[0]), P(m.group[1]));
    else
        suggest(
            a->d, 0, 0.85,
            "An item of a table is nil there: check its index or key, or give it a value first.");
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
                            P(c.group[1]), piece_byte(c.group[2], 0));
    } else if (match(a->g, "^(\\s*(?:if|elseif|while|until)\\b[^=~<>!]*[^=~<>! ]) *= *([^=].*)$",
                     line, &c)) {
        suggest(a->d, 0, 0.93, "A single `=` assigns: write `==` to compare.");
        suggest_replacement(a->d, "%.*s == %.*s", P(c.group[0]), P(c.group[1]));
    } else if (match(a->g, "^(.*)!=(.*)$", line, &c)) {
        suggest(a->d, 0, 0.9, "In Lua \"not equal\" is `~=`.");
        suggest_replacement(a->d, "%.*s~=%.*s", P(c.group[0]), P(c.group[1]));
    } else if (match(a->g, "\\bcontinue\\b", line, &c)) {
        suggest(a->d, 17, 0.92,
                "Lua has no `continue`: write `goto continue` with `::continue::` at the end of "
                "the loop, or an `if` around the rest.");
    } else if (piece_has(a->message, "const variable")) {
        suggest(a->d, 33, 0.93,
                "The variable is declared <const>: remove that word, or use another name.");
    } else if (match(a->g, "^\\s*(?:function\\s+)?\\w+\\s*\\(.*\\)\\s*\\{|\\)\\s*\\{\\s*$", line,
                     &c)) {
        suggest(a->d, 17, 0.88, "Lua has no { } around blocks: they end with `end`.");
    } else if (match(a->g, "^\\s*(?:var|let|const|def|func)\\b", line, &c)) {
        suggest(a->d, 17, 0.9,
                "A variable is declared with `local`, a function with `function name() ... end`.");
    } else if (match(a->g, "\\belif\\b|\\belsif\\b", line, &c)) {
        suggest(a->d, 17, 0.92, "In Lua the word is `elseif`.");
    } else if (match(a->g, "^\\s*(?:else|elseif|end|until)\\b", line, &c) &&
               piece_has(a->message, "<eof>")) {
        suggest(a->d, 17, 0.85,
                "No open block fits this word: remove it, or add the `if` or loop before it.");
    } else if (match(a->g, "^\\s*(?:#|//)", line, &c)) {
        suggest(a->d, 20, 0.92, "A comment begins with two dashes, --.");
    } else if (match(a->g, "\\?.*:", line, &c)) {
        suggest(a->d, 17, 0.85, "Lua has no `test ? a : b`: write `test and a or b`.");
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

#include "diagnose/lua.rules.h" /* generated */

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
