/* Values that do not fit: keys, positions, types that do not mix, numbers, JSON. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"

/* ---- keys and positions ---- */

/* Whether it came out of the library: a frame that is not the job's has the name in its path. */
static bool passed_through(const struct advice *a, const char *library)
{
    for (size_t i = 0; i < a->d->n_frames; i++)
        if (!a->d->frames[i].user && piece_has(piece_of(a->d->frames[i].at.file), library))
            return true;
    return false;
}

/* `.get(key)` in place of `[key]`, where None does no harm: not as a part of more, and in a loop as an empty list. */
static void offer_get(const struct advice *a, const struct match *m)
{
    struct piece name = m->group[0], key = m->group[1];
    struct piece before = { a->line.at, (size_t)(m->all.at - a->line.at) };
    struct piece after = { m->all.at + m->all.len, a->line.len - before.len - m->all.len };
    struct match around;
    char got[200];
    bool loop = match(a->g, "^\\s*for .* in $", before, &around) && piece_is(after, ":");
    if (!loop &&
        (match(a->g, "^\\s*[.(\\[]|^\\s*[-+*/%<>]|^\\s*=[^=]", after, &around) ||
         match(a->g, "[-+*/%<>] ?$|\\w\\($|for .* in $", before, &around)) &&
        !match(a->g, "\\bprint\\($", before, &around))
        return;
    (void)snprintf(got, sizeof got, "%.*s.get(%.*s%s)", P(name), P(key), loop ? ", []" : "");
    (void)suggest_swap(a->in, a->d, m->all, got);
}

static void on_key(const struct advice *a)
{
    struct piece key = a->m.group[0];
    struct match m;
    if (piece_has(a->line, "environ[") && !a->in->sealed) {
        suggest(a->d, 8, 0.92,
                "The variable is not set where it ran: set %.*s there, or give a default, "
                "os.environ.get('%.*s', '').",
                P(key), P(key));
        return;
    }
    if (piece_has(a->line, "environ[")) {
        suggest(a->d, 8, 0.92,
                "The variable is not set in the jar: pass it (--env %.*s=VALUE, \"env\" in a "
                "request), or give a default, os.environ.get('%.*s', '').",
                P(key), P(key));
        return;
    }
    struct similar n = { .name = key };
    similar_try_literals(&n, a->in);
    if (!n.best[0])
        similar_try_texts(&n, a->in);
    char quoted[160], near[160];
    if (n.best[0]) {
        suggest(a->d, 8, 0.92, "There is a key '%s' in the program: did you mean that?", n.best);
        (void)snprintf(near, sizeof near, "'%s'", n.best);
        (void)snprintf(quoted, sizeof quoted, "'%.*s'", P(key));
        if (!suggest_swap(a->in, a->d, piece_of(quoted), near)) {
            (void)snprintf(quoted, sizeof quoted, "\"%.*s\"", P(key));
            (void)snprintf(near, sizeof near, "\"%s\"", n.best);
            (void)suggest_swap(a->in, a->d, piece_of(quoted), near);
        }
        return;
    }
    if (passed_through(a, "pandas/")) {
        suggest(a->d, 8, 0.88,
                "The table has no column or label '%.*s': print(df.columns) shows the columns "
                "(case and spaces count), print(df.index) the labels.",
                P(key));
        return;
    }
    if (match(a->g, "([A-Za-z_][\\w.]*)\\[([^\\[\\]]+)\\]\\s*(?:\\+=|-=)", a->line, &m)) {
        suggest(a->d, 8, 0.85,
                "The key has no value yet: start from %.*s.get(%.*s, 0), or make it a "
                "collections.defaultdict.",
                P(m.group[0]), P(m.group[1]));
        return;
    }
    if (match(a->g, "([A-Za-z_][\\w.]*)\\[([^\\[\\]]+)\\]", a->line, &m)) {
        suggest(a->d, 8, 0.8,
                "'%.*s' has no key %s%.*s%s: test it first (`if %.*s in %.*s:`), or use "
                "%.*s.get(%.*s), which gives None then.",
                P(m.group[0]), starts_with(a->message, "'") ? "'" : "", P(key),
                starts_with(a->message, "'") ? "'" : "", P(m.group[1]), P(m.group[0]),
                P(m.group[0]), P(m.group[1]));
        offer_get(a, &m);
        return;
    }
    suggest(a->d, 8, 0.6, "There is no such key: test it with `in`, or use .get(key, default).");
}

/* The loop that counts too far, by what stands in its line. */
static bool counts_too_far(const struct advice *a, struct piece index)
{
    for (uint32_t i = a->d->location.line; i > 0 && i + 12 > a->d->location.line; i--) {
        struct match m;
        struct piece line = source_line(a->file, i);
        if (match(a->g, "range\\(\\s*(?:\\d+\\s*,\\s*)?(len\\([^()]*\\))\\s*\\+\\s*1", line, &m)) {
            suggest(a->d, 9, 0.95,
                    "Line %u counts to %.*s itself, which is one too far: leave out the + 1.", i,
                    P(m.group[0]));
            return true;
        }
        if (match(a->g, "<=\\s*(len\\([^()]*\\))", line, &m)) {
            suggest(a->d, 9, 0.95,
                    "Line %u goes on while it is <= %.*s: the last position is %.*s - 1, so use <.",
                    i, P(m.group[0]), P(m.group[0]));
            return true;
        }
        if (piece_has(index, "+") && match(a->g, "for (\\w+) in range\\(", line, &m) &&
            has_word(index, m.group[0]) &&
            !match(a->g, "range\\(\\s*(len\\([^()]*\\))\\s*\\)", line, &m)) {
            suggest(a->d, 9, 0.9,
                    "[%.*s] goes past the end in the last round of the loop in line %u: end its "
                    "range one earlier.",
                    P(index), i);
            return true;
        }
        if (match(a->g, "range\\(\\s*(len\\([^()]*\\))\\s*\\)", line, &m) &&
            piece_has(index, "+")) {
            suggest(a->d, 9, 0.93,
                    "[%.*s] goes past the end in the last round of line %u: count to %.*s - 1.",
                    P(index), i, P(m.group[0]));
            return true;
        }
    }
    return false;
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
    struct piece rest = a->line;
    struct match meant = { 0 };
    while (rest.len > 0 && match(a->g, "([A-Za-z_][\\w.]*)\\[([^\\[\\]]+)\\]", rest, &m)) {
        struct piece name = m.group[0], index = m.group[1];
        size_t bracket = (size_t)(name.at + name.len - a->line.at);
        size_t column = a->d->location.column; /* Python points at one pair of brackets */
        if (piece_at(a->line, column) == '[' && bracket + 1 != column) {
            rest = piece_skip(piece_after(rest, name), 1);
            continue;
        }
        if (!meant.all.at)
            meant = m;
        if (counts_too_far(a, index))
            return;
        long items = py_assigned(a, name, &value, &number) ? py_items(piece_trim(value)) : -1;
        if (items > 0) {
            suggest(a->d, 9, 0.92, "'%.*s' got %ld item%s in line %u: positions go from 0 to %ld.",
                    P(name), items, items == 1 ? "" : "s", number, items - 1);
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
    if (match(a->g, "(\\w+)\\([^()]*\\)\\[(-?\\d+)\\]", a->line, &m) && !meant.all.at)
        suggest(a->d, 9, 0.8,
                "%.*s() gave fewer parts than [%.*s] asks for: keep what it gives in a name, and "
                "test its len() first.",
                P(m.group[0]), P(m.group[1]));
    else if (meant.all.at)
        suggest(a->d, 9, 0.7,
                "'%.*s' has no position %.*s: positions go from 0 to len(%.*s) - 1; "
                "print(len(%.*s)) shows how many there are.",
                P(meant.group[0]), P(meant.group[1]), P(meant.group[0]), P(meant.group[0]));
    else
        suggest(a->d, 9, 0.5, "It is shorter than that: positions go from 0 to its length - 1.");
}

static void on_empty_pop(const struct advice *a)
{
    struct match m;
    bool named = match(a->g, "([A-Za-z_][\\w.]*)\\.pop(?:left|item)?\\(", a->line, &m);
    suggest(a->d, 9, 0.85, "It is empty, so there is nothing to take: test it first, `if %.*s:`.",
            P(named ? m.group[0] : PIECE("items")));
}

static void on_list_index_type(const struct advice *a)
{
    struct match m;
    if (piece_is(a->m.group[1], "float") || piece_is(a->m.group[1], "'float'"))
        suggest(a->d, 12, 0.9,
                "`/` gives a float: divide with //, or int(...) it, for a position.");
    else if (match(a->g, "for (\\w+) in ([\\w.]+):", source_line(a->file, a->d->location.line - 1),
                   &m))
        suggest(a->d, 12, 0.85,
                "'%.*s' is an item already, not its position: use it as it is, or `for i, %.*s in "
                "enumerate(%.*s):`.",
                P(m.group[0]), P(m.group[0]), P(m.group[1]));
    else
        suggest(a->d, 12, 0.8,
                "It is a list, so positions are numbers: x[0] is its first item, which may be the "
                "dict that was meant.");
}

static void on_changed_size(const struct advice *a)
{
    struct match m;
    if (match(a->g, "^(\\s*for .+ in )(.+):\\s*$", a->line, &m)) {
        suggest(a->d, 0, 0.93,
                "It is changed while the loop goes through it: go through a copy, list(%.*s).",
                P(m.group[1]));
        suggest_replacement(a->d, "%.*slist(%.*s):", P(m.group[0]), P(m.group[1]));
    } else {
        suggest(a->d, 0, 0.85,
                "It is changed while a loop goes through it: go through a copy, list(x).");
    }
}

/* ---- types that do not mix ---- */

/* `"text" + name` as an f-string, when the line holds just that. */
static void offer_fstring(const struct advice *a)
{
    struct match m;
    if (match(a->g,
              "^(.*?)(\"([^\"{}]*)\"|'([^'{}]*)') \\+ "
              "([A-Za-z_][\\w.]*(?:\\([^()\"']*\\)|\\[\\w+\\])*)((?: \\+ "
              "(\"([^\"{}]*)\"|'([^'{}]*)'))?)([),]?.*)$",
              a->line, &m) &&
        !piece_has(m.group[9], "+")) {
        struct piece text = m.group[2].at ? m.group[2] : m.group[3];
        struct piece tail = m.group[7].at ? m.group[7] : m.group[8];
        const char *q = m.group[2].at ? "\"" : "'";
        suggest_replacement(a->d, "%.*sf%s%.*s{%.*s}%.*s%s%.*s", P(m.group[0]), q, P(text),
                            P(m.group[4]), tail.at ? (int)tail.len : 0, tail.at ? tail.at : "", q,
                            P(m.group[9]));
    }
}

/* Whether a name in the line came from input(), which gives text. */
static bool from_input(const struct advice *a, struct piece *ret_name, uint32_t *ret_line)
{
    struct piece rest = a->line, value;
    struct match m;
    while (rest.len > 0 && match(a->g, "([A-Za-z_]\\w*)", rest, &m)) {
        if (py_assigned(a, m.group[0], &value, ret_line) && starts_with(value, "input(")) {
            *ret_name = m.group[0];
            return true;
        }
        rest = piece_after(rest, m.all);
    }
    return false;
}

static void on_concatenate(const struct advice *a)
{
    struct piece other = a->m.group[1], name;
    uint32_t number;
    if (piece_is(a->m.group[0], "str") && !piece_is(other, "str") &&
        from_input(a, &name, &number)) {
        suggest(a->d, 11, 0.95,
                "input() gives text: make a number of it in line %u, %.*s = int(input(...)).",
                number, P(name));
        return;
    }
    if (piece_is(a->m.group[0], "str")) {
        suggest(a->d, 11, 0.92,
                "Text and a%s %.*s do not add up: use an f-string, or str(...) around the %.*s.",
                other.len && strchr("aeiou", other.at[0]) ? "n" : "", P(other), P(other));
        offer_fstring(a);
    } else {
        suggest(a->d, 11, 0.85, "A %.*s takes only another %.*s: make one of it, or append() it.",
                P(a->m.group[0]), P(a->m.group[0]));
    }
}

static void on_operands(const struct advice *a)
{
    struct piece left = a->m.group[1], right = a->m.group[2], name;
    uint32_t number;
    bool text = piece_is(left, "str") || piece_is(right, "str");
    if (piece_is(left, "NoneType") || piece_is(right, "NoneType"))
        return;
    if (text && from_input(a, &name, &number)) {
        suggest(a->d, 11, 0.95,
                "input() gives text: make a number of it in line %u, %.*s = int(input(...)).",
                number, P(name));
        return;
    }
    if (piece_is(left, "coroutine") || piece_is(right, "coroutine")) {
        suggest(a->d, 26, 0.9,
                "One side is a coroutine that was not awaited: put `await` before the call.");
        return;
    }
    if (text)
        suggest(a->d, 11, 0.9,
                "One side is text, the other a number: int(...) or float(...) the text to "
                "calculate, or str(...) the number (an f-string) to join.");
    else if ((piece_is(left, "list") && piece_is(right, "int")) ||
             (piece_is(left, "int") && piece_is(right, "list")))
        suggest(a->d, 11, 0.8, "A list is not calculated with as a whole: [v %.*s n for v in x].",
                P(a->m.group[0]));
    else
        suggest(a->d, 11, 0.6,
                "%.*s does not know how to combine a %.*s and a %.*s: convert one of them.",
                P(a->m.group[0]), P(left), P(right));
    if (piece_is(a->m.group[0], "+"))
        offer_fstring(a);
}

static void on_compare(const struct advice *a)
{
    struct piece name;
    uint32_t number;
    if (piece_is(a->m.group[1], "NoneType") || piece_is(a->m.group[2], "NoneType")) {
        suggest(
            a->d, 4, 0.7,
            "One side is None: look at the call that gave it, or test it first (`is not None`).");
        return;
    }
    if (from_input(a, &name, &number))
        suggest(a->d, 11, 0.95,
                "input() gives text: make a number of it in line %u, %.*s = int(input(...)).",
                number, P(name));
    else
        suggest(a->d, 11, 0.85,
                "'%.*s' and '%.*s' have no order: convert one of them (int(...), str(...)) before "
                "comparing.",
                P(a->m.group[1]), P(a->m.group[2]));
}

static void on_multiply(const struct advice *a)
{
    struct piece name;
    uint32_t number;
    if (from_input(a, &name, &number))
        suggest(a->d, 11, 0.95,
                "input() gives text: make a number of it in line %u, %.*s = int(input(...)).",
                number, P(name));
    else
        suggest(a->d, 11, 0.85,
                "Text or a list is repeated by an int only: int(...) the number, or float(...) the "
                "text to calculate.");
}

static void on_int_iterable(const struct advice *a)
{
    struct match m;
    if (match(a->g, "^(\\s*for .+ in )(.+):\\s*$", a->line, &m)) {
        suggest(a->d, 12, 0.92, "A number is not gone through: count with range(%.*s).",
                P(m.group[1]));
        suggest_replacement(a->d, "%.*srange(%.*s):", P(m.group[0]), P(m.group[1]));
    } else {
        suggest(a->d, 12, 0.7,
                "A%s %.*s cannot be gone through: a list, or range(n), was expected.",
                strchr("aeiou", a->m.group[0].at[0]) ? "n" : "", P(a->m.group[0]));
    }
}

static void on_no_len(const struct advice *a)
{
    suggest(a->d, 12, 0.75,
            "A%s %.*s has no length: len(str(x)) counts digits; a list or text was expected.",
            strchr("aeiou", a->m.group[0].at[0]) ? "n" : "", P(a->m.group[0]));
}

static void on_must_be_str(const struct advice *a)
{
    suggest(a->d, 11, 0.85, "It takes %.*s, not %.*s: convert it first, %s.", P(a->m.group[0]),
            P(a->m.group[1]), piece_has(a->m.group[0], "bytes") ? "text.encode()" : "str(...)");
}

/* ---- numbers ---- */

static void on_int(const struct advice *a)
{
    struct piece text = a->m.group[0];
    struct match m;
    if (text.len == 0 || piece_trim(text).len == 0)
        suggest(a->d, 13, 0.9,
                "The text is empty: test it before converting (`if text.strip():`).");
    else if (match(a->g, "^-?\\d+\\.\\d*$", text, &m))
        suggest(
            a->d, 13, 0.93,
            "'%.*s' is no whole number: int(float(text)) cuts it, round(float(text)) rounds it.",
            P(text));
    else if (match(a->g, "^-?\\d{1,3}(?:,\\d{3})+", text, &m))
        suggest(a->d, 13, 0.92, "Take the commas out first: text.replace(',', '').");
    else if (match(a->g, "^0[xX][0-9a-fA-F]+$", text, &m))
        suggest(a->d, 13, 0.92, "Give the base: int(text, 16).");
    else if (match(a->g, "\\d\\s+\\d", text, &m))
        suggest(a->d, 13, 0.9,
                "There are several numbers in it: take them apart first, [int(v) for v in "
                "text.split()].");
    else
        suggest(a->d, 13, 0.85,
                "'%.*s' is not a number: test it before converting (text.isdigit()), or catch "
                "ValueError and say what is accepted.",
                P(text));
}

static void on_unpack(const struct advice *a)
{
    struct match m;
    if (match(a->g, "^(\\s*for \\w+\\s*,\\s*\\w+ in )([\\w.]+):\\s*$", a->line, &m)) {
        struct piece value;
        uint32_t number;
        bool dict = py_assigned(a, m.group[1], &value, &number) && starts_with(value, "{");
        suggest(a->d, 14, 0.9,
                dict ? "A loop over a dict gives its keys: for both, go through .items()."
                     : "Each item is one value: for positions and values, go through "
                       "enumerate(...); for pairs, look at what an item holds.");
        suggest_replacement(a->d,
                            dict ? "%.*s%.*s.items():" : "%.*senumerate(%.*s):", P(m.group[0]),
                            P(m.group[1]));
        return;
    }
    if (match(a->g, "not enough values to unpack \\(expected (?:at least )?(\\d+), got (\\d+)\\)",
              a->message, &m))
        suggest(a->d, 14, 0.85,
                "%.*s names stand on the left, and %.*s value%s came: take the names away that get "
                "none, or look at what the right side holds.",
                P(m.group[0]), P(m.group[1]), piece_is(m.group[1], "1") ? "" : "s");
    else if (match(a->g, "too many values to unpack \\(expected (\\d+)\\)", a->message, &m))
        suggest(a->d, 14, 0.85,
                "More than the %.*s values came for which there are names: add names, or take the "
                "rest with a star (a, *rest = ...).",
                P(m.group[0]));
    else
        suggest(a->d, 14, 0.8,
                "What stands on the right is one value, not several: return or give as many as "
                "there are names.");
}

static void on_zero(const struct advice *a)
{
    struct match m;
    struct piece divisor = NO_PIECE;
    if (match(a->g, "(?://?|%)=?\\s*([A-Za-z_][\\w.]*(?:\\([^()]*\\)|\\[[^\\]]*\\])?)", a->line,
              &m) ||
        match(a->g, "divmod\\([^,]+,\\s*([^)]+)\\)", a->line, &m))
        divisor = m.group[0];
    if (match(a->g, "^len\\(([^()]+)", divisor, &m))
        suggest(a->d, 15, 0.93, "%.*s is 0: there is nothing to divide by. Test first: `if %.*s:`.",
                P(divisor), P(m.group[0]));
    else if (divisor.at)
        suggest(a->d, 15, 0.9,
                "'%.*s' is 0 here: test it before dividing (`if %.*s != 0:`), or say what the "
                "result is then.",
                P(divisor), P(divisor));
    else
        suggest(a->d, 15, 0.7, "The divisor is 0: test it before dividing.");
}

/* ---- text ---- */

static void on_decode(const struct advice *a)
{
    struct piece byte = a->m.group[0], at = a->m.group[1];
    bool first = piece_is(at, "0");
    const char *encoding = first && (piece_is(byte, "0xff") || piece_is(byte, "0xfe")) ? "utf-16"
                                                                                       : "latin-1";
    struct match m;
    static const struct {
        const char *byte, *advice;
    } no_text[] = {
        { "0x89", "That is no text (a picture begins so): keep it as bytes, open(name, 'rb'); "
                  "errors='replace' reads what can be read" },
        { "0x80", "That may be no text (a pickle begins so): open it with 'rb', or say encoding=" },
        { "0x8b", "That is gzip: open it with gzip.open(name, 'rt')" },
    };
    bool begins = first || (piece_is(at, "1") && piece_is(byte, "0x8b")); /* gzip's second byte */
    for (size_t i = 0; begins && i < ARRAY_LEN(no_text); i++)
        if (piece_is(byte, no_text[i].byte)) {
            suggest(a->d, 23, 0.85, "%s.", no_text[i].advice);
            return;
        }
    suggest(a->d, 23, 0.9,
            "The bytes are not UTF-8: say what they are, encoding='%s'%s, or errors='replace'.",
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
                "Standard input is empty, or no JSON: give it (echo '{}' | belljar run ..., "
                "--stdin FILE; \"stdin\" in a request).");
    else if (begins)
        suggest(a->d, 27, 0.92,
                "It does not begin like JSON: the text is empty, or something else (HTML, an error "
                "message). print(repr(text[:100])) shows it.");
    else if (piece_has(a->message, "double quotes"))
        suggest(a->d, 27, 0.9,
                "JSON wants double quotes around names and text, and no comma at the end; for "
                "Python's own notation use ast.literal_eval().");
    else if (piece_has(a->message, "Extra data"))
        suggest(a->d, 27, 0.9,
                "There is more than one document: one on each line is read by [json.loads(line) "
                "for line in text.splitlines()].");
    else if (match(a->g, "line (\\d+) column (\\d+)", a->message, &m))
        suggest(a->d, 27, 0.8,
                "Look at line %.*s, column %.*s of the JSON: a comma, a bracket or a quote is "
                "wrong there; True, False, None are true, false, null in JSON.",
                P(m.group[0]), P(m.group[1]));
}

static void on_assert(const struct advice *a)
{
    struct match m;
    if (match(a->g, "^\\s*assert\\s+(.+?)(?:,\\s*['\"f].*)?$", a->line, &m))
        suggest(a->d, 0, 0.5, "`%.*s` does not hold here: print both sides to see why.",
                P(m.group[0]));
}

const struct rule py_value_rules[] = {
    ON("KeyError", "^'?(.*?)'?$", on_key),
    ON("IndexError",
       "^(?:list|string|tuple|bytearray|deque|range object|list assignment) "
       "(?:index|assignment).*range|^list assignment index|index out of range|^index \\d+ is out "
       "of "
       "bounds",
       on_index),
    ON("IndexError", "^pop from (?:an )?empty", on_empty_pop),
    ON("KeyError", "pop from an empty|dictionary is empty", on_empty_pop),
    ON("TypeError", "^(list|tuple) indices must be integers or slices, not (\\S+)",
       on_list_index_type),
    ON_SAY("TypeError", "^string indices must be integers", 12, 0.85,
           "It is text, not a dict: json.loads() makes a dict of JSON text; a loop over a dict "
           "gives its keys (use .items() or .values())."),
    ON_SAY("TypeError", "^unhashable type: '(\\w+)'", 0, 0.88,
           "What can change cannot be a key or in a set: use tuple(x) in place of a list, "
           "frozenset(x) of a set."),
    ON("RuntimeError", "changed size during iteration|mutated during iteration", on_changed_size),
    ON_SAY("ValueError", "is not in list|not in tuple|substring not found|^list.remove\\(x\\)", 0,
           0.7, "Test it first: `if v in x:`."),
    ON("TypeError", "^can only concatenate (\\w+) \\(not \"(\\w+)\"\\) to", on_concatenate),
    ON("TypeError", "^unsupported operand type\\(s\\) for ([^:]+): '([\\w.]+)' and '([\\w.]+)'",
       on_operands),
    ON("TypeError", "^'(\\S+)' not supported between instances of '([\\w.]+)' and '([\\w.]+)'",
       on_compare),
    ON("TypeError", "^can't multiply sequence by non-int", on_multiply),
    ON("TypeError", "^'(int|float|bool)' object is not iterable", on_int_iterable),
    ON("TypeError", "^cannot unpack non-iterable (?!NoneType)(\\w+) object", on_unpack),
    ON("TypeError", "^object of type '(int|float|bool|generator|map|filter|zip)' has no len",
       on_no_len),
    ON_SAY("TypeError", "^sequence item \\d+: expected str instance", 11, 0.92,
           "join() takes text only: ''.join(str(v) for v in x)."),
    ON_SAY("TypeError", "^not (?:all|enough) arguments", 0, 0.75,
           "The % signs in the text and the values behind it do not match in number; an f-string "
           "cannot go wrong so."),
    ON("TypeError",
       "^(?:write\\(\\) argument must be|a|must be) ([\\w -]+?)(?: is required)?, not '?(\\w+)'?",
       on_must_be_str),
    ON("ValueError", "^invalid literal for int\\(\\) with base \\d+: '(.*?)'$", on_int),
    ON("ValueError", "^could not convert string to float: '(.*?)'$", on_int),
    ON("ValueError", "values to unpack", on_unpack),
    ON_SAY("ValueError", "^(?:math domain error|expected a nonnegative input)", 0, 0.7,
           "The number is outside of what the function is defined for: sqrt and log want no "
           "negative ones; cmath has them for complex numbers."),
    ON_SAY("ValueError", "^time data '([^']*)' does not match format '([^']*)'", 0, 0.8,
           "The text is '{1}' and the format says '{2}': make them agree (%Y year, %m month, %d "
           "day, %H:%M:%S time)."),
    ON_SAY("ValueError", "empty (?:sequence|iterable)|arg is an empty|iterable argument is empty",
           0, 0.85,
           "There is nothing in it: give a default (max(x, default=0)), or test it first."),
    ON("ZeroDivisionError", "", on_zero),
    ON("UnicodeDecodeError", "can't decode bytes? (0x[0-9a-f]{2})? ?in position (\\d+)", on_decode),
    ON_SAY("UnicodeEncodeError", "^'([\\w-]+)' codec can't encode", 23, 0.85,
           "'{1}' has no such character: use UTF-8 (encoding='utf-8'), or errors='replace'."),
    ON("JSONDecodeError", "", on_json),
    ON("AssertionError", "", on_assert),
    END_OF_RULES,
};
