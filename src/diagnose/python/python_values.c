/* Rules for values: keys, indices, mixed types, numbers, text, JSON. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"

/* ---- keys and positions ---- */

/* A number was asked for, and the key is that number as text, or the other way round. */
static bool is_other_kind(const struct advice *a, struct piece key)
{
    struct match m;
    char as_text[2][40];
    bool number = !starts_with(a->message, "'");
    if (!match(a->g, "^-?\\d{1,18}$", key, &m))
        return false;
    (void)snprintf(as_text[0], sizeof as_text[0], number ? "\"%.*s\":" : "%.*s:", P(key));
    (void)snprintf(as_text[1], sizeof as_text[1], number ? "'%.*s':" : " %.*s :", P(key));
    for (size_t i = 0; i < 2; i++)
        if (piece_has(text_of_source(a->file), as_text[i])) {
            suggest(a->d, 8, 0.9,
                    number ? "The key is the text '%.*s', and the program asks for the number: "
                             "write str(...) around it, or give the dict numbers as keys."
                           : "The key is the number %.*s, and the program asks for text: write "
                             "int(...) around it, or give the dict texts as keys.",
                    P(key));
            return true;
        }
    return false;
}

/* The line adds to the value of a key that has none yet. */
static bool is_new_key(const struct advice *a)
{
    struct match m;
    if (match(a->g, "([A-Za-z_][\\w.]*)\\[([^\\[\\]]+)\\]\\s*(?:\\+=|-=)", a->line, &m)) {
        suggest(a->d, 8, 0.85,
                "The key has no value yet: start from %.*s.get(%.*s, 0), or make it a "
                "collections.defaultdict.",
                P(m.group[0]), P(m.group[1]));
        return true;
    }
    if (match(a->g,
              "([A-Za-z_][\\w.]*)\\[((?:[^\\[\\]]|\\[[^\\[\\]]*\\])+)\\]\\.(append|add|extend|"
              "update|insert)\\(",
              a->line, &m)) {
        bool adds = piece_is(m.group[2], "add") || piece_is(m.group[2], "update");
        suggest(a->d, 8, 0.9,
                "'%.*s' has no value for this key yet: make it a collections.defaultdict(%s), or "
                "write %.*s.setdefault(%.*s, %s).%.*s(...).",
                P(m.group[0]), adds ? "set" : "list", P(m.group[0]), P(m.group[1]),
                adds ? "set()" : "[]", P(m.group[2]));
        return true;
    }
    return false;
}

/* Texts in quotes that are keys: a ':' or a ']' stands behind them. */
static void try_keys(const struct advice *a, struct similar *n)
{
    for (size_t i = 0; i < a->in->n_sources; i++) {
        struct piece rest = text_of_source(&a->in->sources[i]), line;
        struct match m;
        for (unsigned k = 0; k < LINES_SEEN && next_line(&rest, &line); k++)
            while (line.len > 0 &&
                   match(a->g, "(?:\"([^\"]+)\"|'([^']+)')\\s*(?::|\\])|\\.get\\([\"']([^\"']+)",
                         line, &m)) {
                similar_try(n, m.group[0].at   ? m.group[0]
                               : m.group[1].at ? m.group[1]
                                               : m.group[2]);
                line = piece_after(line, m.all);
            }
    }
}

/* Words of texts with commas in them: headers of tables. */
static void try_headers(const struct advice *a, struct similar *n)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (unsigned i = 0; i < LINES_SEEN && next_line(&rest, &line); i++)
        if (match(a->g, "[\"']((?:[\\w ]+[,;])+[\\w ]+)", line, &m))
            for (struct piece left = m.group[0]; left.len > 0 && match(a->g, "([^,;]+)", left, &m);
                 left = piece_after(left, m.all))
                similar_try(n, m.group[0]);
}

/* A variable of the environment, or a field of a text for format(). */
static bool is_named_elsewhere(const struct advice *a, struct piece key)
{
    struct match m;
    if (piece_has(a->line, "environ[") && !a->in->sealed) {
        suggest(a->d, 8, 0.92,
                "The variable is not set where the program ran: set %.*s there, or give a default, "
                "os.environ.get('%.*s', '').",
                P(key), P(key));
        return true;
    }
    if (piece_has(a->line, "environ[")) {
        suggest(a->d, 8, 0.92,
                "The variable is not set in the jar: pass it (--env %.*s=VALUE, \"env\" in a "
                "request), or give a default, os.environ.get('%.*s', '').",
                P(key), P(key));
        return true;
    }
    if (match(a->g, "\\.format(?:_map)?\\(", a->line, &m)) {
        suggest(
            a->d, 8, 0.92,
            "The text has {%.*s}, and format() gets no value of that name: pass %.*s=..., or write "
            "{{ and }} for braces that are text.",
            P(key), P(key));
        return true;
    }
    return false;
}

/* groupby() and set_index() make an index of the column. */
static bool is_index_now(const struct advice *a, struct piece key)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t i = 1; i < a->d->location.line && i < LINES_SEEN && next_line(&rest, &line);
         i++) {
        if (!match(a->g, "\\.(groupby|set_index|pivot_table|pivot)\\(([^)]*)", line, &m) ||
            !has_word(m.group[1], key) || piece_has(line, "as_index=False") ||
            piece_has(line, "reset_index"))
            continue;
        bool groups = piece_is(m.group[0], "groupby");
        suggest(a->d, 8, 0.9,
                "'%.*s' is the index since %.*s() in line %u, not a column: reset_index() makes a "
                "column of it again%s.",
                P(key), P(m.group[0]), i,
                groups ? ", and groupby(..., as_index=False) keeps it" : "");
        return true;
    }
    return false;
}

/* A table of pandas has no such column or label. */
static void say_column(const struct advice *a, struct piece key)
{
    struct match m;
    if (is_index_now(a, key))
        return;
    if (match(a->g, "\\.apply\\((?!.*\\baxis=(?:1|[\"']columns))", a->line, &m))
        suggest(
            a->d, 8, 0.92,
            "apply() passes one column after the other to the function, and '%.*s' is looked for "
            "in a column: axis=1 passes the rows.",
            P(key));
    else
        suggest(a->d, 8, 0.88,
                "The table has no column or label '%.*s': print(df.columns) shows the columns "
                "(case and spaces count), print(df.index) shows the labels.",
                P(key));
}

static void on_key(const struct advice *a)
{
    struct piece key = a->m.group[0];
    struct match m;
    if (is_named_elsewhere(a, key) || py_key_by_values(a, key) || py_key_of_header(a, key))
        return;
    struct similar n = { .name = key };
    bool table = py_passed_through(a, "pandas/") ||
                 piece_has(text_of_source(a->file), "DictReader");
    if (table) {
        similar_try_literals(&n, a->in);
        try_headers(a, &n);
    } else
        try_keys(a, &n);
    if (!n.best[0])
        similar_try_texts(&n, a->in);
    char quoted[160], near[160];
    if (n.best[0] && !py_key_elsewhere(a, key)) {
        suggest(a->d, 8, 0.92, "Did you mean '%s'? The program has that key.", n.best);
        (void)snprintf(near, sizeof near, "'%s'", n.best);
        (void)snprintf(quoted, sizeof quoted, "'%.*s'", P(key));
        if (!suggest_swap(a->in, a->d, piece_of(quoted), near)) {
            (void)snprintf(quoted, sizeof quoted, "\"%.*s\"", P(key));
            (void)snprintf(near, sizeof near, "\"%s\"", n.best);
            (void)suggest_swap(a->in, a->d, piece_of(quoted), near);
        }
        return;
    }
    if (py_passed_through(a, "pandas/")) {
        say_column(a, key);
        return;
    }
    if (py_advise_member(a, key) || is_new_key(a) || is_other_kind(a, key) || py_advise_removal(a))
        return;
    if (py_say_keys(a, key))
        return;
    if (match(a->g, "([A-Za-z_][\\w.]*)\\[([^\\[\\]]+)\\](?!.*\\[)", a->line, &m) &&
        !match(a->g, "\\[[^\\[\\]]*\\[", a->line, &(struct match){ 0 })) {
        if (match(a->g, "^[^\"'(\\[]*,", m.group[1], &(struct match){ 0 })) {
            suggest(a->d, 8, 0.8,
                    "'%.*s' has no key (%.*s): test it first (`if (%.*s) in %.*s:`), or use "
                    "%.*s.get((%.*s)), which returns None then.",
                    P(m.group[0]), P(m.group[1]), P(m.group[1]), P(m.group[0]), P(m.group[0]),
                    P(m.group[1]));
            return;
        }
        suggest(a->d, 8, 0.8,
                "'%.*s' has no key %s%.*s%s: test it first (`if %.*s in %.*s:`), or use "
                "%.*s.get(%.*s), which returns None then.",
                P(m.group[0]), starts_with(a->message, "'") ? "'" : "", P(key),
                starts_with(a->message, "'") ? "'" : "", P(m.group[1]), P(m.group[0]),
                P(m.group[0]), P(m.group[1]));
        return;
    }
    suggest(a->d, 8, 0.6, "The key does not exist: test it with `in`, or use .get(key, default).");
}

/* Finds the loop around the line that counts too far. */
static bool counts_too_far(const struct advice *a, struct piece index)
{
    for (uint32_t i = a->d->location.line; i > 0 && i + 12 > a->d->location.line; i--) {
        struct match m;
        struct piece line = source_line(a->file, i);
        if (match(a->g, "range\\(\\s*(?:\\d+\\s*,\\s*)?(len\\([^()]*\\))\\s*\\+\\s*1", line, &m)) {
            suggest(a->d, 9, 0.95,
                    "Line %u counts to %.*s itself, which is one too far: remove the + 1.", i,
                    P(m.group[0]));
            return true;
        }
        if (match(a->g, "^\\s*while\\b.*<=\\s*(len\\([^()]*\\))\\s*(?:\\)|:|and\\b)", line, &m)) {
            suggest(a->d, 9, 0.95,
                    "Line %u continues up to %.*s, and the last position is %.*s - 1: use < "
                    "instead of <=.",
                    i, P(m.group[0]), P(m.group[0]));
            return true;
        }
        if (piece_has(index, "+") && match(a->g, "for (\\w+) in range\\(", line, &m) &&
            has_word(index, m.group[0]) &&
            !match(a->g, "range\\(\\s*(len\\([^()]*\\))\\s*\\)", line, &m)) {
            suggest(a->d, 9, 0.9,
                    "[%.*s] is past the end in the last round of the loop in line %u: end its "
                    "range one earlier.",
                    P(index), i);
            return true;
        }
        if (match(a->g, "for (\\w+) in range\\(\\s*(len\\([^()]*\\))\\s*\\)", line, &m) &&
            piece_has(index, "+") && has_word(index, m.group[0])) {
            suggest(a->d, 9, 0.93,
                    "[%.*s] is past the end in the last round of line %u: count to %.*s - 1.",
                    P(index), i, P(m.group[1]));
            return true;
        }
    }
    return false;
}

static void on_unhashable(const struct advice *a)
{
    struct piece type = a->m.group[0], class;
    uint32_t number;
    const struct source_file *f;
    if (piece_is(type, "slice"))
        suggest(a->d, 0, 0.92,
                "A dict has no slices: list(d.items())[:n] takes the first items, and "
                "itertools.islice(d.items(), n) does it without a copy.");
    else if (py_defined(a, type, &class, &number, &f))
        suggest(a->d, 0, 0.9,
                "%.*s (line %u) defines __eq__ and no __hash__, so it cannot be a key or be in a "
                "set: define __hash__ (a dataclass has it with frozen=True).",
                P(type), number);
    else
        suggest(a->d, 0, 0.88,
                "A %.*s can be changed, so it cannot be a key, be in a set, or be an argument of a "
                "cached function: use %s instead.",
                P(type),
                piece_is(type, "list")  ? "tuple(x)"
                : piece_is(type, "set") ? "frozenset(x)"
                : piece_is(type, "dict")
                    ? "a part of it, such as x[\"id\"], or tuple(sorted(x.items()))"
                    : "a value that does not change (a tuple, a text)");
}

/* Whether a line of the file changes the length of the list. */
static bool is_changed(const struct advice *a, struct piece name)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (unsigned i = 0; i < LINES_SEEN && next_line(&rest, &line); i++)
        if ((match(a->g,
                   "\\b([A-Za-z_][\\w.]*)\\.(?:pop|remove|clear|append|extend|insert|popleft)\\(",
                   line, &m) ||
             match(a->g, "^\\s*del ([A-Za-z_][\\w.]*)\\[", line, &m) ||
             match(a->g, "^\\s*([A-Za-z_][\\w.]*)\\s*(?:[+*]=|\\[.*:.*\\]\\s*=)", line, &m)) &&
            piece_same(m.group[0], name))
            return true;
    return false;
}

/* A loop over range(len(x)) removes items of x. */
static bool shrinks_in_loop(const struct advice *a)
{
    struct match m, c;
    uint32_t loop = line_above_with(a, "\\bfor\\s+\\w+\\s+in\\s+range\\(.*len\\(([\\w.]+)\\)", &m);
    if (!loop)
        return false;
    struct piece name = m.group[0];
    for (uint32_t n = loop + 1; n < loop + LINES_NEAR; n++) {
        struct piece line = source_line(a->file, n);
        if (!line.at ||
            (piece_trim(line).len > 0 && indent_of(line) <= indent_of(source_line(a->file, loop))))
            return false;
        if ((match(a->g, "\\b([A-Za-z_][\\w.]*)\\.(?:pop|remove)\\(", line, &c) ||
             match(a->g, "^\\s*del ([A-Za-z_][\\w.]*)\\[", line, &c)) &&
            piece_same(c.group[0], name)) {
            suggest(a->d, 9, 0.92,
                    "Line %u removes items of '%.*s' while the loop in line %u counts to its first "
                    "length: make a new list, `[x for x in %.*s if ...]`, or loop over a copy.",
                    n, P(name), loop, P(name));
            return true;
        }
    }
    return false;
}

/* `for i in x: x[i]`, where i is an item. */
static bool is_item_as_position(const struct advice *a)
{
    struct match m, used;
    uint32_t loop = line_above_with(a, "\\bfor (\\w+) in ([\\w.]+)\\s*:", &m);
    if (!loop || !match(a->g, "([A-Za-z_][\\w.]*)\\[\\s*(\\w+)\\s*\\]", a->line, &used) ||
        !piece_same(used.group[1], m.group[0]) || !piece_same(used.group[0], m.group[1]))
        return false;
    suggest(a->d, 9, 0.9,
            "'%.*s' is the item itself, not its position: use it directly, or write `for %s, %.*s "
            "in enumerate(%.*s):`.",
            P(m.group[0]), piece_is(m.group[0], "i") ? "position" : "i", P(m.group[0]),
            P(m.group[1]));
    return true;
}

/* x[len(x)]: one past the end. The groups are the name and the index. */
static bool is_its_length(const struct advice *a, const struct match *used)
{
    struct match m;
    struct piece name = used->group[0];
    char old[120], now[120];
    if (!match(a->g, "^\\s*len\\(([\\w.]+)\\)\\s*$", used->group[1], &m) ||
        !piece_same(m.group[0], name))
        return false;
    suggest(a->d, 9, 0.95,
            "Positions begin at 0, so len(%.*s) is one past the end: %.*s[-1] is the last item.",
            P(name), P(name));
    (void)snprintf(old, sizeof old, "%.*s", P(piece_cut(used->all, 110)));
    (void)snprintf(now, sizeof now, "%.*s[-1]", P(name));
    (void)suggest_swap(a->in, a->d, piece_of(old), now);
    return true;
}

/* The sequence is too short. `meant`: the name and the index, as far as they are known. */
static void say_short(const struct advice *a, const struct match *meant)
{
    struct match m;
    if (match(a->g, "(\\w+)\\([^()]*\\)\\[(-?\\d+)\\]", a->line, &m) && !meant->all.at)
        suggest(a->d, 9, 0.8,
                "%.*s() returned fewer parts than [%.*s] needs: store the result in a variable, "
                "and test its len() first.",
                P(m.group[0]), P(m.group[1]));
    else if (meant->all.at)
        suggest(a->d, 9, 0.7,
                "'%.*s' has no position %.*s: positions go from 0 to len(%.*s) - 1; "
                "print(len(%.*s)) shows the number of items.",
                P(meant->group[0]), P(meant->group[1]), P(meant->group[0]), P(meant->group[0]));
    else
        suggest(a->d, 9, 0.5, "The sequence is shorter: positions go from 0 to its length - 1.");
}

static void on_index(const struct advice *a)
{
    struct match m;
    struct piece value;
    uint32_t number;
    if (piece_has(a->line, "argv[")) {
        suggest(a->d, 9, 0.93,
                "The program was given too few arguments: they follow its file on the command line "
                "(belljar run FILE -- A B), and are \"args\" in a request.");
        return;
    }
    if (shrinks_in_loop(a) || is_item_as_position(a))
        return;
    struct piece rest = a->line;
    struct match meant = { 0 };
    while (rest.len > 0 && match(a->g, "([A-Za-z_][\\w.]*)\\[([^\\[\\]]+)\\]", rest, &m)) {
        struct piece name = m.group[0], index = m.group[1];
        size_t bracket = piece_end(a->line, name);
        size_t column = a->d->location.column; /* Python points at one pair of brackets */
        if (piece_at(a->line, column) == '[' && bracket + 1 != column) {
            rest = piece_skip(piece_after(rest, name), 1);
            continue;
        }
        if (!meant.all.at)
            meant = m;
        if (is_its_length(a, &m))
            return;
        if (counts_too_far(a, index) || py_index_by_values(a))
            return;
        long items = py_assigned(a, name, &value, &number) && py_can_see(a, number)
                         ? py_items(piece_trim(value))
                         : -1;
        if (items >= 0 && is_changed(a, name))
            items = -1; /* its length is not known any more */
        if (items > 0) {
            suggest(a->d, 9, 0.92,
                    "'%.*s' has %ld item%s since line %u: positions go from 0 to %ld.", P(name),
                    items, items == 1 ? "" : "s", number, items - 1);
            return;
        }
        if (items == 0) {
            suggest(
                a->d, 9, 0.9,
                "'%.*s' was empty in line %u: add to it (append), or test it first (`if %.*s:`).",
                P(name), number, P(name));
            return;
        }
        rest = piece_after(rest, m.all);
    }
    if (!meant.all.at && py_index_by_values(a))
        return;
    say_short(a, &meant);
}

static void on_empty_pop(const struct advice *a)
{
    struct match m;
    bool named = match(a->g, "([A-Za-z_][\\w.]*)\\.pop(?:left|item)?\\(", a->line, &m);
    suggest(a->d, 9, 0.85, "It is empty, and there is no item to take: test it first, `if %.*s:`.",
            P(named ? m.group[0] : PIECE("items")));
}

/* `for row in x: row["name"]`, where the loop gives names of columns, or keys. */
static void on_text_index(const struct advice *a)
{
    struct match m, used;
    struct piece value;
    uint32_t number, loop = line_above_with(a, "\\bfor (\\w+) in ([\\w.]+)\\s*:", &m);
    if (!loop || !match(a->g, "\\b([A-Za-z_]\\w*)\\[", a->line, &used) ||
        !piece_same(used.group[0], m.group[0]) || !py_assigned(a, m.group[1], &value, &number))
        return;
    if (match(a->g, "\\b(?:pd|pandas)\\.|DataFrame|\\.groupby\\(|\\.merge\\(", value, &used))
        suggest(a->d, 12, 0.93,
                "A loop over a DataFrame gives the names of its columns: `for index, %.*s in "
                "%.*s.iterrows():` gives its rows.",
                P(m.group[0]), P(m.group[1]));
    else if (starts_with(value, "{") || starts_with(value, "dict("))
        suggest(a->d, 12, 0.93,
                "A loop over a dict gives its keys, and '%.*s' is one: loop over %.*s.values(), or "
                "`for "
                "key, %.*s in %.*s.items():`.",
                P(m.group[0]), P(m.group[1]), P(m.group[0]), P(m.group[1]));
}

/* A list or tuple is indexed with something that is no number. */
static void on_list_index_type(const struct advice *a)
{
    struct piece kind = a->m.group[0];
    struct match m, used;
    uint32_t loop = line_above_with(a, "\\bfor (\\w+) in ([\\w.]+)\\s*:", &m);
    if (piece_is(a->m.group[1], "float") || piece_is(a->m.group[1], "'float'"))
        suggest(a->d, 12, 0.9,
                "A position is a whole number, and this one is a float: divide with // in place of "
                "/, or convert it with int(...).");
    else if (loop && match(a->g, "\\[\\s*(\\w+)\\s*\\]", a->line, &used) &&
             piece_same(used.group[0], m.group[0]))
        suggest(a->d, 12, 0.85,
                "'%.*s' is the item itself, not its position: use it directly, or write `for %s, "
                "%.*s in enumerate(%.*s):`.",
                P(m.group[0]), piece_is(m.group[0], "i") ? "position" : "i", P(m.group[0]),
                P(m.group[1]));
    else if (piece_is(a->m.group[1], "tuple") || piece_is(a->m.group[1], "'tuple'"))
        suggest(a->d, 12, 0.88,
                "x[i, j] is NumPy's: for lists inside of a list write x[i][j]. In a list of tuples "
                "or lists, a comma before the bracket may be missing.");
    else
        suggest(a->d, 12, 0.85,
                "The value is a %.*s, and its positions are numbers: x[0] is its first item, which "
                "may be the dict that you want; a loop takes each.",
                P(kind));
}

static void on_changed_size(const struct advice *a)
{
    struct match m;
    if (match(a->g, "^(\\s*for .+ in )(.+):\\s*$", a->line, &m)) {
        suggest(
            a->d, 0, 0.93,
            "The loop changes the collection that it iterates over: loop over a copy, list(%.*s).",
            P(m.group[1]));
        suggest_replacement(a->d, "%.*slist(%.*s):", P(m.group[0]), P(m.group[1]));
    } else {
        suggest(a->d, 0, 0.85,
                "A loop changes the collection that it iterates over: loop over a copy, list(x).");
    }
}

/* ---- iteration and length ---- */

static void on_int_iterable(const struct advice *a)
{
    struct match m;
    if (piece_is(a->m.group[0], "int") &&
        match(a->g, "^(\\s*for \\w+ in )([\\w.]+(?:\\([\\w.]*\\))?):\\s*$", a->line, &m)) {
        suggest(a->d, 12, 0.92, "A loop cannot iterate over a number: count with range(%.*s).",
                P(m.group[1]));
        suggest_replacement(a->d, "%.*srange(%.*s):", P(m.group[0]), P(m.group[1]));
    } else if (match(a->g, "\\.extend\\(", a->line, &m)) {
        suggest(a->d, 12, 0.92, "extend() takes several items: append() adds one value.");
        (void)suggest_swap(a->in, a->d, PIECE("extend"), "append");
    } else if (match(a->g,
                     "\\b(sum|max|min|list|tuple|set|sorted|any|all|enumerate|len|map|zip|dict)\\(",
                     a->line, &m)) {
        suggest(
            a->d, 12, 0.85,
            "%.*s() takes a list or another collection, and this is a number: pass the list, or "
            "put the values in brackets, [...].",
            P(m.group[0]));
    } else {
        suggest(a->d, 12, 0.7, "A loop cannot iterate over a%s %.*s: use a list, or range(n).",
                strchr("aeiou", piece_byte(a->m.group[0], 0)) ? "n" : "", P(a->m.group[0]));
    }
}

/* An object of the program's own class is used as a collection. */
static void on_own_object(const struct advice *a)
{
    struct piece class;
    uint32_t number;
    const struct source_file *f;
    bool len = piece_has(a->message, "has no len");
    if (!py_defined(a, a->m.group[0], &class, &number, &f))
        return;
    suggest(a->d, 12, 0.9,
            "A %.*s (line %u) is an object and %s: use the attribute that holds its items, or "
            "define %s in the class.",
            P(a->m.group[0]), number, len ? "has no length" : "cannot be looped over",
            len ? "__len__" : "__iter__");
}

static void on_no_len(const struct advice *a)
{
    static const char *const lazy[] = {
        "map",           "filter",           "zip",        "generator",   "enumerate", "reversed",
        "list_iterator", "dict_keyiterator", "csv.reader", "_csv.reader", NULL
    };
    if (piece_among(a->m.group[0], lazy) || starts_with(a->m.group[0], "itertools.") ||
        ends_with(a->m.group[0], "iterator")) {
        suggest(a->d, 12, 0.92,
                "A value of the type %.*s makes its items one after the other and has no length: "
                "list(...) makes a list of it, which has one.",
                P(a->m.group[0]));
        return;
    }
    if (piece_is(a->m.group[0], "NoneType")) {
        suggest(a->d, 12, 0.85,
                "The value is None, which has no length: a function without `return`, or a call "
                "that found nothing, gave it. Test it first (`if x is not None:`).");
        return;
    }
    suggest(a->d, 12, 0.75,
            "A%s %.*s has no length, but a list or text does: check the value; len(str(x)) counts "
            "digits.",
            strchr("aeiou", piece_byte(a->m.group[0], 0)) ? "n" : "", P(a->m.group[0]));
}

static void on_must_be_str(const struct advice *a)
{
    suggest(a->d, 11, 0.85, "The function takes %.*s, not %.*s: convert the value first, %s.",
            P(a->m.group[0]), P(a->m.group[1]),
            piece_has(a->m.group[0], "bytes") ? "text.encode()" : "str(...)");
}

/* ---- numbers ---- */

static void on_int(const struct advice *a)
{
    struct piece text = a->m.group[0];
    struct match m;
    if (py_passed_through(a, "pandas/"))
        suggest(
            a->d, 13, 0.92,
            "The column has '%.*s', which is no number: pd.to_numeric(df[...], "
            "errors=\"coerce\") makes NaN of such values; fill or drop them before astype(int).",
            P(text));
    else if (text.len == 0 || piece_trim(text).len == 0)
        suggest(a->d, 13, 0.9,
                "The text is empty: test it before converting (`if text.strip():`).");
    else if (match(a->g, "^-?\\d+\\.\\d*$", text, &m))
        suggest(a->d, 13, 0.93,
                "'%.*s' is not a whole number: int(float(text)) cuts off the fraction, "
                "round(float(text)) rounds.",
                P(text));
    else if (match(a->g, "^-?\\d{1,3}(?:,\\d{3})+", text, &m))
        suggest(a->d, 13, 0.92, "Remove the commas first: text.replace(',', '').");
    else if (match(a->g, "^0[xX][0-9a-fA-F]+$", text, &m))
        suggest(a->d, 13, 0.92, "Give the base: int(text, 16).");
    else if (match(a->g, "\\d\\s+\\d", text, &m))
        suggest(a->d, 13, 0.9,
                "The text holds several numbers: split it first, [int(v) for v in text.split()].");
    else
        suggest(a->d, 13, 0.85,
                "'%.*s' is not a number: test it before converting (text.isdigit()), or catch "
                "ValueError and name the accepted values.",
                P(text));
}

/* A position or a count is a float: `/` made it. */
static void on_float_count(const struct advice *a)
{
    struct match m;
    suggest(
        a->d, 11, 0.9,
        "A count or a position is a whole number, and this one is a float: divide with `//`, or "
        "convert it with int(...).");
    if (match(a->g, "^([^/'\"]*[\\w)\\]] ?)/( ?[\\w(][^/'\"]*)$", a->line, &m))
        suggest_replacement(a->d, "%.*s//%.*s", P(m.group[0]), P(m.group[1]));
}

static void on_unpack(const struct advice *a)
{
    struct match m, items;
    if (match(a->g, "^(\\s*for \\w+\\s*,\\s*\\w+ in )(\\{[^{}]*:[^{}]*\\}):(.*)$", a->line, &m)) {
        suggest(a->d, 14, 0.92,
                "A loop over a dict returns its keys: loop over .items() for keys and values.");
        suggest_replacement(a->d, "%.*s%.*s.items():%.*s", P(m.group[0]), P(m.group[1]),
                            P(m.group[2]));
        return;
    }
    if (match(a->g, "^(\\s*for \\w+\\s*,\\s*\\w+ in )([\\w.]+):(.*)$", a->line, &m)) {
        struct piece value;
        uint32_t number;
        bool known = py_assigned(a, m.group[1], &value, &number);
        const struct value *told = value_of(a->d, m.group[1]);
        bool dict = starts_with(value_shown(told), "{") && !value_is(told, "set");
        if (dict ||
            (known && !told &&
             match(a->g, "^(?:\\{|(?:dict|Counter|defaultdict|OrderedDict)\\()", value, &items))) {
            suggest(a->d, 14, 0.92,
                    "A loop over a dict returns its keys: loop over .items() for keys and values.");
            suggest_replacement(a->d, "%.*s%.*s.items():%.*s", P(m.group[0]), P(m.group[1]),
                                P(m.group[2]));
            return;
        }
        if (match(a->g, "^\\[\\s*(?:[\"'][^\"']*[\"']|\\d+|\\w+)\\s*[,\\]]", value, &items) ||
            piece_has(a->message, "non-iterable")) {
            suggest(a->d, 14, 0.9,
                    "Each item is one value, and the loop has two names: loop over enumerate(...) "
                    "for positions and values, or check the items if they should be pairs.");
            suggest_replacement(a->d, "%.*senumerate(%.*s):%.*s", P(m.group[0]), P(m.group[1]),
                                P(m.group[2]));
            return;
        }
    }
    if (match(a->g, "not enough values to unpack \\(expected (?:at least )?(\\d+), got (\\d+)\\)",
              a->message, &m))
        suggest(a->d, 14, 0.85,
                "There are %.*s names on the left and %.*s value%s on the right: remove the extra "
                "names, or check the right side.",
                P(m.group[0]), P(m.group[1]), piece_is(m.group[1], "1") ? "" : "s");
    else if (match(a->g, "too many values to unpack \\(expected (\\d+)\\)", a->message, &m))
        suggest(a->d, 14, 0.85,
                "There are %.*s names and more values than that: add a name for each value, or "
                "collect the rest with a star (a, *rest = ...); a loop over a dict needs .items().",
                P(m.group[0]));
    else
        suggest(
            a->d, 14, 0.8,
            "The right side is one value, not several: return or assign one value for each name.");
}

/* The divisor, where the line has one division, or Python points at one. NO_PIECE when it is not
 * sure. */
static struct piece divisor_of(const struct advice *a)
{
    struct match m, more;
    struct piece code = a->line;
    char marked = piece_at(a->line, a->d->location.column);
    if (marked == '/' || marked == '%')
        code = piece_from(a->line, a->d->location.column);
    if (match(a->g, "divmod\\([^,]+,\\s*([\\w.]+)\\)", code, &m))
        return m.group[0];
    if (!match(a->g, "(?://?|%)=?\\s*([A-Za-z_][\\w.]*(?:\\([^()]*\\)|\\[[^\\]]*\\])?)(?!\\w|\\()",
               code, &m))
        return NO_PIECE;
    if (marked != '/' && marked != '%' &&
        (match(a->g, "[/%]", piece_after(code, m.all), &more) || piece_has(code, "\"") ||
         piece_has(code, "'")))
        return NO_PIECE;
    return m.group[0];
}

static void on_zero(const struct advice *a)
{
    struct match m;
    struct piece divisor = divisor_of(a);
    if (match(a->g, "^len\\(([^()]+)", divisor, &m))
        suggest(a->d, 15, 0.93, "%.*s is 0 here: test it before dividing, `if %.*s:`.", P(divisor),
                P(m.group[0]));
    else if (divisor.at)
        suggest(a->d, 15, 0.9,
                "'%.*s' is 0 here: test it before dividing (`if %.*s != 0:`), or define a result "
                "for that case.",
                P(divisor), P(divisor));
    else
        suggest(a->d, 15, 0.7, "The divisor is 0: test it before dividing (`if divisor != 0:`).");
}

/* ---- text ---- */

static void on_decode(const struct advice *a)
{
    struct piece byte = a->m.group[0], at = a->m.group[1];
    if (starts_with(a->message, "'ascii'")) {
        suggest(a->d, 23, 0.9,
                "The bytes are not ASCII: give their encoding, encoding='utf-8', or use "
                "errors='replace'.");
        return;
    }
    bool first = piece_is(at, "0");
    const char *encoding = first && piece_is(byte, "0xfe") ? "utf-16" : "latin-1";
    struct match m;
    static const struct {
        const char *byte, *advice;
    } other_formats[] = {
        { "0x89", "The file begins like a picture and is not text: read bytes with open(name, "
                  "'rb'), or replace the invalid bytes with errors='replace'" },
        { "0x80", "The file begins like a pickle and may not be text: open it with 'rb', or give "
                  "its encoding=" },
        { "0x8b", "The file is compressed with gzip: open it with gzip.open(name, 'rt')" },
        { "0xff", "The data begins like UTF-16 text (encoding='utf-16') or like a JPEG picture, "
                  "which is read as bytes, with open(name, 'rb')" },
    };
    bool begins = first || (piece_is(at, "1") && piece_is(byte, "0x8b")); /* gzip's second byte */
    for (size_t i = 0; begins && i < ARRAY_LEN(other_formats); i++)
        if (piece_is(byte, other_formats[i].byte)) {
            suggest(a->d, 23, 0.85, "%s.", other_formats[i].advice);
            return;
        }
    suggest(
        a->d, 23, 0.9,
        "The bytes are not UTF-8: give their encoding, encoding='%s'%s, or use errors='replace'.",
        encoding, strcmp(encoding, "latin-1") == 0 ? " (or 'cp1252')" : "");
    if (match(a->g, "^(.*open\\([^()]*)(\\).*)$", a->line, &m) && !piece_has(a->line, "encoding"))
        suggest_replacement(a->d, "%.*s, encoding='%s'%.*s", P(m.group[0]), encoding,
                            P(m.group[1]));
    else if (match(a->g, "^(.*\\.decode\\()(?:['\"][\\w-]+['\"])?(\\).*)$", a->line, &m))
        suggest_replacement(a->d, "%.*s'%s'%.*s", P(m.group[0]), encoding, P(m.group[1]));
}

static void on_json(const struct advice *a)
{
    struct match m;
    bool begins = piece_has(a->message, "(char 0)") && piece_has(a->message, "Expecting value");
    if (begins && (piece_has(a->line, "stdin") || piece_has(a->line, "input(")))
        suggest(a->d, 25, 0.93,
                "Standard input is empty, or not JSON: give it JSON (echo '{}' | belljar run ..., "
                "--stdin FILE; \"stdin\" in a request).");
    else if (begins)
        suggest(a->d, 27, 0.92,
                "The text does not begin like JSON: it is empty, or has another form (HTML, an "
                "error message). print(repr(text[:100])) shows it.");
    else if (piece_has(a->message, "double quotes"))
        suggest(a->d, 27, 0.9,
                "JSON needs double quotes around names and text, and no comma at the end; use "
                "ast.literal_eval() for Python's own notation.");
    else if (piece_has(a->message, "Extra data"))
        suggest(
            a->d, 27, 0.9,
            "More text follows behind the first JSON value: remove it, or read one document a line "
            "with [json.loads(line) for line in text.splitlines()].");
    else if (match(a->g, "line (\\d+) column (\\d+)", a->message, &m))
        suggest(a->d, 27, 0.8,
                "Line %.*s, column %.*s of the JSON is wrong: check the commas, brackets and "
                "quotes there; True, False, None are true, false, null in JSON.",
                P(m.group[0]), P(m.group[1]));
}

static void on_assert(const struct advice *a)
{
    struct match m;
    if (match(a->g, "^\\s*assert\\s+(.+?)(?:,\\s*['\"f].*)?$", a->line, &m))
        suggest(a->d, 0, 0.5, "`%.*s` is false here: print its parts to see why.", P(m.group[0]));
}

#include "diagnose/python_values.rules.h" /* generated */
