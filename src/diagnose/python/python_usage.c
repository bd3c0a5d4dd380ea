/* Rules for values and functions that the program uses in another way than they are made for: the rows of a
 * table, the keys of JSON, a decorator that takes arguments. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "diagnose/python/python.h"

/* ---- JSON ---- */

/* The first line of the function that calls json.load() or json.loads(); 0 when none does. */
static uint32_t line_of_json(const struct advice *a, struct piece function)
{
    struct piece head;
    uint32_t number;
    const struct source_file *f;
    struct match m;
    if (!py_defined(a, function, &head, &number, &f))
        return 0;
    for (uint32_t i = number + 1; i < number + LINES_NEAR; i++) {
        struct piece line = source_line(f, i);
        if (!line.at ||
            (piece_trim(line).len > 0 && indent_of(line) <= indent_of(source_line(f, number))))
            return 0;
        if (match(a->g, "\\breturn json\\.loads?\\((?!.*_hook)", line, &m))
            return i;
    }
    return 0;
}

/* JSON has texts as keys alone, and the program asks for a number. */
static void on_json_key(const struct advice *a)
{
    struct match m, call, index;
    struct piece value, container = py_container(a);
    struct piece root = piece_cut(container, piece_find(container, "["));
    uint32_t line = 0, from;
    const struct value *told = value_of(a->d, root);
    if (!container.at || (told && !told->cut) || !py_assigned(a, root, &value, &line))
        return;
    from = match(a->g, "^json\\.loads?\\((?!.*_hook)", value, &m) ? line : 0;
    if (!from && match(a->g, "^([A-Za-z_][\\w.]*)\\(", value, &call))
        from = line_of_json(a, piece_last_part(call.group[0]));
    struct piece behind = piece_after(a->line, container);
    if (!from || !match(a->g, "^\\[\\s*([\\w.]+)\\s*\\]", behind, &index))
        return;
    bool literal = match(a->g, "^\\d+$", index.group[0], &m);
    char old[200], now[220];
    (void)snprintf(old, sizeof old, "%.*s[%.*s]", P(piece_cut(container, 90)),
                   P(piece_cut(index.group[0], 90)));
    (void)snprintf(now, sizeof now, literal ? "%.*s[\"%.*s\"]" : "%.*s[str(%.*s)]",
                   P(piece_cut(container, 90)), P(piece_cut(index.group[0], 90)));
    suggest(
        a->d, 8, 0.93,
        "The keys of JSON are texts, and json.dumps() makes texts of numbers: '%.*s' comes from "
        "JSON (line %u), so ask for the text, %s.",
        P(root), from, now);
    (void)suggest_swap(a->in, a->d, piece_of(old), now);
}

/* ---- tables ---- */

/* apply() without axis= gives the function one column after the other. */
static void on_column_of_apply(const struct advice *a)
{
    struct match m;
    if (!py_passed_through(a, "core/apply.py"))
        return;
    for (size_t i = 0; i < a->d->n_frames; i++) {
        const struct frame *f = &a->d->frames[i];
        struct piece line = f->user
                                ? source_line(find_source(a->in, piece_of(f->at.file)), f->at.line)
                                : NO_PIECE;
        if (!match(a->g, "\\b([A-Za-z_]\\w*)\\.apply\\(\\s*([\\w.]+)(?!.*\\baxis\\s*=)", line,
                   &m) ||
            piece_has(line, "groupby"))
            continue;
        struct piece function = piece_is(m.group[1], "lambda") ? PIECE("...") : m.group[1];
        suggest(a->d, 8, 0.95,
                "apply() in line %u passes one column after the other to its function, and '%.*s' "
                "is looked for among the rows: %.*s.apply(%.*s, axis=1) passes the rows.",
                f->at.line, P(piece_cut(a->m.group[0], 60)), P(m.group[0]), P(function));
        return;
    }
}

/* Whether another line of the program uses the label as the name of a column: df["x"], {"x": ...}. */
static bool is_column(const struct advice *a, struct piece label)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
        while (i != a->d->location.line && line.len > 0 &&
               match(a->g, "\\w\\[[\"']([^\"']+)[\"']\\]|[\"']([^\"']+)[\"']\\s*:", line, &m)) {
            if (piece_same(m.group[0].at ? m.group[0] : m.group[1], label))
                return true;
            line = piece_after(line, m.all);
        }
    return false;
}

/* drop() takes rows away, unless it is told that the labels are columns. */
static void on_drop(const struct advice *a)
{
    struct match m, label;
    if (!match(
            a->g,
            "^(.*\\.drop\\(\\s*)((?:\"[^\"]*\"|'[^']*'|\\[[^\\[\\]]*\\]|[A-Za-z_]\\w*)\\s*)([,)].*)"
            "$",
            a->line, &m) ||
        match(a->g, "\\b(?:axis|columns|index|labels)\\s*=", a->line, &(struct match){ 0 }) ||
        !match(a->g, "^[\"']([^\"']+)[\"']", a->m.group[0], &label) ||
        !is_column(a, label.group[0]))
        return;
    suggest(a->d, 8, 0.95,
            "drop() looks for '%.*s' among the rows, because nothing says that it is a column: "
            "write drop(columns=%.*s), or axis=1.",
            P(label.group[0]), P(piece_trim(m.group[1])));
    suggest_replacement(a->d, "%.*scolumns=%.*s%.*s", P(m.group[0]), P(m.group[1]), P(m.group[2]));
}

/* products[cheap], where cheap = available["price"] < 10. */
static void on_mask(const struct advice *a)
{
    struct match m, of;
    struct piece value, table, mask;
    uint32_t line = a->d->location.line;
    if (!match(a->g, "\\b([A-Za-z_]\\w*)(?:\\.i?loc)?\\[\\s*[(~]*([A-Za-z_]\\w*)(?=\\s*[\\],&|])",
               a->line, &m) ||
        !py_assigned(a, m.group[1], &value, &line) ||
        !match(a->g, "^[(~]*([A-Za-z_]\\w*)(?:\\[|\\.(?!\\w+\\())", value, &of) ||
        piece_same(of.group[0], m.group[0]))
        return;
    table = m.group[0];
    mask = m.group[1];
    suggest(a->d, 0, 0.94,
            "The mask '%.*s' was made from '%.*s' (line %u), and '%.*s' has other rows: write "
            "%.*s[%.*s], or make the mask from '%.*s'.",
            P(mask), P(of.group[0]), line, P(table), P(of.group[0]), P(mask), P(table));
}

/* ---- patterns ---- */

/* "*.log" is a pattern of a shell. */
static void on_glob(const struct advice *a)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        if (!match(a->g, "[\"'](\\*[\\w.\\[{-][^\"']*)[\"']", line, &m) ||
            piece_has(line, "glob") || piece_has(line, "fnmatch"))
            continue;
        suggest(
            a->d, 18, 0.94,
            "'%.*s' (line %u) is a pattern of file names, and no regular expression: use "
            "fnmatch.fnmatch(name, \"%.*s\"), or write `.*` for any text and `\\.` for a point.",
            P(m.group[0]), i, P(m.group[0]));
        return;
    }
}

/* The number of groups of a pattern: brackets without a backslash and without a `?`. */
static unsigned groups_of(const struct advice *a, struct piece pattern)
{
    struct match m;
    unsigned n = 0;
    struct piece rest = pattern;
    while (rest.len > 0 &&
           match(a->g, "\\\\.|\\[\\^?\\]?(?:\\\\.|[^\\]\\\\])*\\]|(\\((?!\\?)|\\(\\?P<)|.", rest,
                 &m)) {
        n += m.group[0].at != NULL;
        rest = piece_after(pattern, m.all);
    }
    return n;
}

/* \2 in a pattern, or in the text that replaces it, asks for a group that is not there. */
static void on_group(const struct advice *a)
{
    struct match m, p = { 0 };
    struct piece value = NO_PIECE;
    uint32_t line = 0;
    bool known = match(a->g, "\\bre\\.subn?\\(\\s*r?(\"[^\"]*\"|'[^']*')", a->line, &p);
    if (!known &&
        match(a->g, "\\b([A-Za-z_]\\w*)\\.subn?\\(|\\bre\\.subn?\\(\\s*([A-Za-z_]\\w*)\\s*,",
              a->line, &m))
        known = py_assigned(a, m.group[1].at ? m.group[1] : m.group[0], &value, &line) &&
                match(a->g, "^(?:re\\.compile\\(\\s*)?r?(\"[^\"]*\"|'[^']*')", value, &p);
    unsigned groups = known ? groups_of(a, p.group[0]) : 0, wanted = piece_number(a->m.group[0]);
    char has[80] = "has fewer";
    if (known && groups < wanted)
        (void)snprintf(has, sizeof has, groups ? "has %u" : "has none", groups);
    char at[32] = "";
    if (line)
        (void)snprintf(at, sizeof at, " in line %u", line);
    suggest(a->d, 18, 0.93,
            "\\%u asks for the %s of the pattern%s, which %s: a group is a part in round brackets, "
            "counted from 1. Put brackets around the part that is meant, or use another number.",
            wanted,
            wanted == 1   ? "first group"
            : wanted == 2 ? "second group"
                          : "group of that number",
            at, has);
}

/* ---- arguments ---- */

static void on_cells(const struct advice *a)
{
    struct piece name = a->m.group[0];
    struct match m;
    bool row = piece_is(name, "writerow");
    suggest(a->d, 10, 0.94,
            "%.*s() takes one list%s, and %.*s values are given: put them in square brackets, "
            "%.*s([a, b]).",
            P(name), row ? ", the cells of a row" : " of rows", P(a->m.group[1]), P(name));
    if (match(a->g, "^(\\s*[\\w.]+\\.writerows?\\()([^()\\[\\]*=]+,[^()\\[\\]*=]+)(\\)\\s*)$",
              a->line, &m))
        suggest_replacement(a->d, "%.*s[%.*s]%.*s", P(m.group[0]), P(m.group[1]), P(m.group[2]));
}

/* `with lock:` releases the lock at its end; a release() inside of it comes too early. */
static void on_released(const struct advice *a)
{
    struct match with, m;
    uint32_t here = a->d->location.line;
    if (!match(a->g, "^\\s*with\\s+([A-Za-z_][\\w.]*)\\s*:", a->line, &with))
        return;
    for (uint32_t i = here + 1; i < here + LINES_NEAR; i++) {
        struct piece line = source_line(a->file, i);
        if (!line.at || (piece_trim(line).len > 0 && indent_of(line) <= indent_of(a->line)))
            return;
        if (!match(a->g, "^\\s*([A-Za-z_][\\w.]*)\\.release\\(\\s*\\)", line, &m) ||
            !piece_same(m.group[0], with.group[0]))
            continue;
        suggest(a->d, 0, 0.95,
                "The `with` in line %u releases '%.*s' at its end, and line %u has released it "
                "already: remove line %u.",
                here, P(with.group[0]), i, i);
        return;
    }
}

/* reduce() of nothing: the first value depends on the operation. */
static void on_start_value(const struct advice *a)
{
    struct match m;
    const char *value = "reduce(f, items, start)";
    if (match(a->g,
              "\\blambda (\\w+), ?(\\w+): ?(?:\\1 ?\\* ?\\2|\\2 ?\\* "
              "?\\1)|operator\\.mul\\b|\\(mul\\b",
              a->line, &m))
        value = "1 for a product, reduce(f, items, 1)";
    else if (match(a->g,
                   "\\blambda (\\w+), ?(\\w+): ?(?:\\1 ?\\+ ?\\2|\\2 ?\\+ "
                   "?\\1)|operator\\.add\\b|\\(add\\b",
                   a->line, &m))
        value = "0 for a sum, reduce(f, items, 0), \"\" for texts, [] for lists";
    suggest(a->d, 0, 0.94,
            "reduce() has no first value, because the sequence is empty: give a start value as the "
            "third argument, %s.",
            value);
}

/* ---- functions that make functions ---- */

/* Whether the function defines a function, which defines another: a decorator with arguments. */
static bool makes_decorators(const struct advice *a, struct piece name)
{
    struct piece head;
    uint32_t number;
    const struct source_file *f;
    struct match m;
    if (!py_defined(a, name, &head, &number, &f))
        return false;
    size_t outer = indent_of(source_line(f, number)), inner = 0;
    for (uint32_t i = number + 1; i < number + LINES_NEAR; i++) {
        struct piece line = source_line(f, i);
        if (!line.at || (piece_trim(line).len > 0 && indent_of(line) <= outer))
            return false;
        if (!match(a->g, "^\\s*(?:async )?def \\w+", line, &m))
            continue;
        if (inner && indent_of(line) > inner)
            return true;
        inner = indent_of(line);
    }
    return false;
}

/* The line of `@name` without brackets above the function; *ret_name is the name. */
static uint32_t bare_decorator_of(const struct advice *a, struct piece function,
                                  struct piece *ret_name)
{
    struct piece head;
    uint32_t number;
    const struct source_file *f;
    struct match m;
    if (!py_defined(a, function, &head, &number, &f))
        return 0;
    for (uint32_t i = number; i-- > 1;) {
        if (!match(a->g, "^\\s*@(\\w+)(.*)$", source_line(f, i), &m))
            return 0;
        *ret_name = m.group[0];
        if (piece_trim(m.group[1]).len == 0 && makes_decorators(a, m.group[0]))
            return i;
    }
    return 0;
}

/* A name has a function as its value, because the decorator of the called function lacks its arguments, or
 * because the called function returns one. */
static void on_made_function(const struct advice *a)
{
    struct piece rest = a->line, name, value, decorator;
    struct match m;
    uint32_t line;
    for (unsigned n = 0; n < NAMES_ASKED && py_next_name(&rest, &name); n++) {
        bool called = match(a->g, "^\\(", rest, &m);
        if (!called && (!py_assigned(a, name, &value, &line) ||
                        !match(a->g, "^(?:await )?([A-Za-z_]\\w*)\\(", value, &m)))
            continue;
        struct piece function = called ? name : m.group[0];
        uint32_t at = bare_decorator_of(a, function, &decorator);
        if (!at)
            continue;
        suggest(a->d, 12, 0.95,
                "%.*s() gives a function here, because @%.*s in line %u lacks its brackets: %.*s() "
                "takes arguments of its own and makes the decorator. Write @%.*s(...) there.",
                P(function), P(decorator), at, P(decorator), P(decorator));
        return;
    }
}

/* ---- names on the left of `=` ---- */

/* Whether each name on the left side stands in another line, too. */
static bool all_are_used(const struct advice *a, struct piece names)
{
    struct piece name, rest, line;
    for (unsigned n = 0; n < NAMES_ASKED && py_next_name(&names, &name); n++) {
        bool used = false;
        rest = text_of_source(a->file);
        for (uint32_t i = 1; !used && i < LINES_SEEN && next_line(&rest, &line); i++)
            used = i != a->d->location.line && has_word(line, name);
        if (!used)
            return false;
    }
    return true;
}

/* word, count = counter.most_common(1): a list of pairs is no pair. */
static void on_pairs(const struct advice *a)
{
    struct match m, got;
    if (!match(a->g, "^(\\s*\\w+\\s*(?:,\\s*\\w+\\s*)+=\\s*)(.*\\S)\\s*$", a->line, &m) ||
        starts_with(m.group[1], "="))
        return;
    struct match call;
    if (match(a->g, "\\.(most_common|fetchall|fetchmany)\\([^()]*\\)$", m.group[1], &call)) {
        suggest(a->d, 14, 0.94,
                "%.*s() returns a list of items, not one item: take the first, "
                "%.*s(...)[0], or loop over the list.",
                P(call.group[0]), P(call.group[0]));
        if (piece_is(call.group[0], "most_common"))
            suggest_replacement(a->d, "%.*s%.*s[0]", P(m.group[0]), P(m.group[1]));
        return;
    }
    if (match(a->g, "not enough values to unpack \\(expected (\\d+), got (\\d+)\\)", a->message,
              &got) &&
        all_are_used(a, m.group[0]) && !piece_has(m.group[1], ".split("))
        suggest(a->d, 14, 0.85,
                "There are %.*s names on the left and %.*s value%s on the right: print the right "
                "side. If it is a list that holds one pair, take the pair, x[0].",
                P(got.group[0]), P(got.group[1]), piece_is(got.group[1], "1") ? "" : "s");
}

#include "diagnose/python_usage.rules.h" /* generated */
