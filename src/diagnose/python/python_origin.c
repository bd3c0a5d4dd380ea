/* Where a value of the failing line comes from: a text that should be a number, a division that made a
 * float, a comma that made a tuple, an iterator that has no items left. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"

bool py_in_library(const struct advice *a)
{
    struct piece rest = text_of(a->in), line, file = NO_PIECE;
    struct match m;
    while (next_line(&rest, &line))
        if (piece_has(line, "File \"") &&
            match(a->g, "^\\s*File \"([^\"]+)\", line \\d+", line, &m))
            file = m.group[0];
    return file.at && !find_source(a->in, file);
}

/* The value that a name of the failing line was given, where the line can see it. */
static bool given(const struct advice *a, struct piece name, struct piece *ret_value,
                  uint32_t *ret_line)
{
    return py_assigned(a, name, ret_value, ret_line) &&
           (piece_has(name, ".") || py_can_see(a, *ret_line));
}

/* ---- text ---- */

/* The line of the add_argument() that defines the option, and its whole call. */
static uint32_t option_line(const struct advice *a, struct piece name, char *call, size_t room)
{
    struct piece rest = text_of_source(a->file), line;
    char dashed[64];
    struct match m;
    COPY(name, dashed);
    for (char *c = dashed; *c; c++)
        *c = *c == '_' ? '-' : *c;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        if (!piece_has(line, "add_argument("))
            continue;
        size_t used = 0;
        call[0] = '\0';
        for (uint32_t k = i; k < i + BLANKS_NEAR; k++) { /* up to the line that ends the call */
            struct piece part = piece_trim(source_line(a->file, k));
            used += (size_t)snprintf(call + used, room - used, "%.*s ", P(py_short(part, 120)));
            if (used + 130 > room || piece_last(part) == ')')
                break;
        }
        struct piece all = piece_of(call);
        if ((match(a->g, "\\bdest=[\"'](\\w+)[\"']", all, &m) && piece_same(m.group[0], name)) ||
            (match(a->g, "\\(\\s*(?:[\"']-\\w[\"'],\\s*)?[\"']-{0,2}([\\w-]+)[\"']", all, &m) &&
             (piece_is(m.group[0], dashed) || piece_same(m.group[0], name))))
            return i;
    }
    return 0;
}

/* "int" or "float", by the value that is known, or by the default. */
static const char *number_for(const struct advice *a, struct piece shown)
{
    struct match m;
    if (match(a->g, "^'?[-+]?\\d+'?$", shown, &m))
        return "int";
    return match(a->g, "^'?[-+]?\\d*\\.\\d+'?$", shown, &m) ? "float" : NULL;
}

static bool say_option(const struct advice *a, struct piece name, unsigned number)
{
    char call[800];
    struct match m;
    size_t dot = piece_find(name, ".");
    struct piece option = piece_skip(name, dot + 1);
    if (dot == name.len || option.len == 0 || option.len > 60 || piece_has(option, ".") ||
        !piece_has(text_of_source(a->file), "add_argument("))
        return false;
    uint32_t line = option_line(a, option, call, sizeof call);
    if (!line || piece_has(piece_of(call), "type=") || piece_has(piece_of(call), "action="))
        return false;
    const char *kind = number_for(a, value_shown(value_of(a->d, name)));
    if (match(a->g, "default=([-\\d.]+)", piece_of(call), &m) &&
        (!kind || piece_has(m.group[0], ".")))
        kind = number_for(a, m.group[0]);
    suggest(a->d, number, 0.95,
            "argparse gives text, so %.*s is text: add type=%s to the add_argument() in line %u%s.",
            P(name), kind ? kind : "int", line, kind ? "" : " (or type=float)");
    return true;
}

/* Functions that give text. */
static const struct {
    const char *pattern, *advice;
} text_sources[] = {
    { "^(?:str\\()?input\\(", "input() gives text" },
    { "\\bsys\\.argv\\b|\\bargv\\[", "the arguments of a program are text" },
    { "\\b(?:os\\.)?environ\\b|\\bgetenv\\(", "variables of the environment are text" },
    { "\\.split\\([^)]*\\)(?:\\[[^\\]]*\\])?$|\\.(?:partition|rsplit)\\(", "split() gives texts" },
    { "\\.(?:group|groups|findall)\\(", "the parts that a pattern finds are text" },
    { "\\.(?:read|readline|readlines|read_text|splitlines)\\(", "a file gives text" },
    { "\\.(?:recv)\\(.*\\.decode\\(", "received data is text" },
    { "\\.(?:findtext\\(|text$)", "XML gives text" },
    { "^f[\"']", "an f-string makes text" },
    { "\\bstr\\(", "str() makes text" },
    { "^[\"'][-+]?[\\d.]+[\"']$", "a number in quotes is text" },
};

/* `row["price"]` of csv, `config["db"]["port"]` of configparser: the name before the bracket decides. */
static const char *table_source(const struct advice *a, struct piece container)
{
    struct piece rest = text_of_source(a->file), line, value;
    struct match m;
    uint32_t number;
    if (py_assigned(a, container, &value, &number) && piece_has(value, "ConfigParser("))
        return "configparser gives text (getint() and getfloat() give numbers)";
    if (!piece_has(text_of_source(a->file), "csv"))
        return NULL;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        if (!match(a->g, "\\bfor (\\w+) in (?:enumerate\\()?([\\w.]+)", line, &m) ||
            !piece_same(m.group[0], container))
            continue;
        struct piece over = m.group[1];
        if (piece_has(over, "csv.") || starts_with(over, "DictReader") ||
            (py_assigned(a, over, &value, &number) &&
             match(a->g, "\\b(?:csv\\.|DictReader\\()", value, &m)))
            return "csv gives text";
    }
    return NULL;
}

/* An item: the name before a bracket in the line. */
static bool say_item(const struct advice *a, unsigned number)
{
    struct piece rest = a->line;
    struct match m;
    for (unsigned n = 0; n < NAMES_ASKED && rest.len > 0 &&
                         match(a->g, "([A-Za-z_]\\w*)((?:\\[[^\\[\\]]+\\])+)", rest, &m);
         n++, rest = piece_after(rest, m.all)) {
        struct piece shown = py_shown(a, m.all), text;
        const char *source = table_source(a, m.group[0]);
        if (!source || (shown.len > 0 && !shown_text(shown, &text)))
            continue;
        struct piece before = piece_cut(a->line, piece_offset(a->line, m.all));
        if (ends_with(before, "int(") || ends_with(before, "float("))
            continue;
        const char *kind = number_for(a, shown);
        suggest(a->d, number, 0.95, "%s, so %.*s is text: convert it, %s(%.*s)%s.", source,
                P(m.all), kind ? kind : "int", P(m.all), kind ? "" : " or float(...)");
        return true;
    }
    return false;
}

bool py_say_text_origin(const struct advice *a, unsigned number)
{
    struct piece rest = a->line, name, value;
    uint32_t line;
    struct match m;
    for (unsigned n = 0; n < NAMES_ASKED && py_next_name(&rest, &name); n++) {
        const struct value *told = value_of(a->d, name);
        if (told && !value_is(told, "str"))
            continue;
        if (say_option(a, name, number))
            return true;
        if (!given(a, name, &value, &line))
            continue;
        value = piece_trim(piece_cut(value, piece_find(value, "  #")));
        for (size_t i = 0; i < ARRAY_LEN(text_sources); i++) {
            if (!match(a->g, text_sources[i].pattern, value, &m) ||
                (!told &&
                 match(a->g, "^(?:int|float|list|map)\\(|^\\[|\\b(?:len|count|index|find|sum)\\(",
                       value, &m)))
                continue;
            const char *kind = number_for(a, value_shown(told));
            if (starts_with(value, "input("))
                suggest(a->d, number, 0.95,
                        "input() returns text: convert it to a number in line %u, %.*s = "
                        "%s(input(...)).",
                        line, P(name), kind ? kind : "int");
            else
                suggest(
                    a->d, number, 0.95,
                    "'%.*s' is text since line %u, because %s: convert it there, %.*s = %s(...)%s.",
                    P(name), line, text_sources[i].advice, P(name), kind ? kind : "int",
                    kind ? "" : ", or float(...)");
            return true;
        }
    }
    if (say_item(a, number))
        return true;
    name = py_name_of_type(a, "str");
    if (!name.at)
        return false;
    const struct value *v = value_of(a->d, name);
    const char *kind = number_for(a, value_shown(v));
    if (!kind)
        return false;
    suggest(a->d, number, 0.93, "'%.*s' is the text %s here: convert it, %s(%.*s).", P(name),
            v->preview, kind, P(name));
    return true;
}

/* ---- floats ---- */

/* Why the code gives a float; NULL when it does not show. */
static const char *float_reason(const struct advice *a, struct piece code)
{
    struct match m;
    static const char *const forms[][2] = {
        { "^(?:int|round|math\\.(?:floor|ceil|trunc)|str|len)\\(.*\\)$", NULL },
        { "[\\w)\\]]\\s*/\\s*[\\w(]", "divides with `/`, which gives a float: write `//` there" },
        { "\\bmath\\.sqrt\\(|\\*\\*\\s*0?\\.5", "calculates a root, which is a float: write "
                                                "int(...) around it, or math.isqrt(n)" },
        { "\\bnp\\.(?:ceil|floor|sqrt|round|mean)\\(|\\bmath\\.(?:log|log2|log10|pow|exp)\\(",
          "calls a function that gives a float: write int(...) around it" },
        { "^round\\([^()]*(?:\\([^()]*\\))?[^()]*,\\s*\\d\\)",
          "rounds to a number of digits, which gives a float: round(x) without digits gives an "
          "int" },
        { "^float\\(", "makes a float: write int(...) there" },
        { "^[-+]?\\d+\\.\\d*$|^[-+]?\\d+e\\d+$", "is a float: write the number without a point" },
    };
    if (piece_has(code, "//") || match(a->g, "^[rf]?[\"']", code, &m))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (match(a->g, forms[i][0], code, &m))
            return forms[i][1];
    return NULL;
}

/* `n /= 2` above the location. */
static uint32_t divides_itself(const struct advice *a, struct piece name)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t i = 1; i < a->d->location.line && i < LINES_SEEN && next_line(&rest, &line); i++)
        if (match(a->g, "^\\s*([A-Za-z_][\\w.]*)\\s*/=", line, &m) &&
            piece_same(m.group[0], name) && py_can_see(a, i))
            return i;
    return 0;
}

bool py_say_division(const struct advice *a, unsigned number)
{
    struct piece rest = a->line, name, value;
    uint32_t line;
    for (unsigned n = 0; n < NAMES_ASKED && py_next_name(&rest, &name); n++) {
        const struct value *told = value_of(a->d, name);
        if (told && !value_is(told, "float"))
            continue;
        if (given(a, name, &value, &line)) {
            value = piece_trim(piece_cut(value, piece_find(value, "#")));
            const char *why = float_reason(a, value);
            if (why) {
                suggest(a->d, number, 0.94, "'%.*s' is a float: line %u, `%.*s = %.*s`, %s.",
                        P(name), line, P(name), P(py_short(value, 80)), why);
                return true;
            }
        }
        line = divides_itself(a, name);
        if (line) {
            suggest(
                a->d, number, 0.94,
                "'%.*s' is a float: line %u divides it with `/=`, which gives a float: write `//=` "
                "there.",
                P(name), line);
            return true;
        }
        if (told) {
            suggest(
                a->d, number, 0.92,
                "'%.*s' is the float %s here: write int(%.*s), or make it with `//` in place of "
                "`/`.",
                P(name), told->preview, P(name));
            return true;
        }
    }
    return false;
}

/* ---- tuples ---- */

/* The line stands in the brackets of an earlier one: its comma separates arguments. */
static bool in_brackets(const struct advice *a, uint32_t number)
{
    for (uint32_t i = number - 1; i > 0 && i + BLANKS_NEAR > number; i--) {
        struct piece line = piece_trim_end(source_line(a->file, i));
        if (piece_trim(line).len > 0)
            return strchr("([{,", piece_last(line)) != NULL;
    }
    return false;
}

bool py_say_comma(const struct advice *a)
{
    struct piece rest = a->line, name, value;
    uint32_t line;
    struct match m;
    for (unsigned n = 0; n < NAMES_ASKED && py_next_name(&rest, &name); n++) {
        size_t base = piece_behind_last(name, '.');
        if (base > 0 && !value_of(a->d, name) && !starts_with(name, "self."))
            name = piece_cut(name, base - 1); /* the name of the tuple, before its attribute */
        const struct value *told = value_of(a->d, name);
        if ((told && !(value_is(told, "tuple") && told->size == 1)) ||
            !given(a, name, &value, &line) || line == a->d->location.line)
            continue;
        value = piece_trim(piece_cut(value, piece_find(value, "  #")));
        if (piece_last(value) != ',' || match(a->g, "^[^()\\[\\]{}]*,.*,$", value, &m) ||
            in_brackets(a, line))
            continue;
        suggest(a->d, 0, 0.95,
                "The trailing comma in line %u makes a tuple of one value of '%.*s': remove the "
                "comma, `%.*s = %.*s`.",
                line, P(name), P(name), P(piece_cut(value, value.len - 1)));
        return true;
    }
    return false;
}

/* ---- iterators ---- */

/* The kind of a value whose items come once; NULL for other values. */
static const char *iterator_kind(const struct advice *a, struct piece value)
{
    struct match m;
    struct piece head;
    uint32_t number;
    const struct source_file *f;
    static const char *const forms[][2] = {
        { "^\\(.+ for .+ in .+\\)$", "a generator" },
        { "^(?:map|filter|zip|enumerate|reversed|iter)\\(", "an iterator" },
        { "^(?:csv\\.)?(?:reader|DictReader)\\(", "a reader" },
        { "^(?:itertools\\.)?(?:chain|islice|count|cycle|groupby|combinations|permutations|product|"
          "accumulate|takewhile|dropwhile|starmap)\\(",
          "an iterator" },
        { "^re\\.finditer\\(|\\.finditer\\(|^os\\.(?:scandir|walk)\\(|\\.(?:iterdir|glob|rglob)\\(|"
          "^glob\\.iglob\\(",
          "an iterator" },
        { "^(?:open|io\\.StringIO|StringIO)\\(|\\.open\\(", "a file" },
    };
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (match(a->g, forms[i][0], value, &m))
            return forms[i][1];
    if (!match(a->g, "^(\\w+)\\([^()]*\\)$", value, &m) ||
        !py_defined(a, m.group[0], &head, &number, &f) || f != a->file)
        return NULL;
    for (uint32_t i = number + 1; i < number + LINES_NEAR; i++) {
        struct piece line = source_line(f, i);
        if (!line.at ||
            (piece_trim(line).len > 0 && indent_of(line) <= indent_of(source_line(f, number))))
            return NULL;
        if (match(a->g, "^\\s*(?:\\w+ = )?yield\\b", line, &m))
            return "a generator";
    }
    return NULL;
}

/* Whether the code takes all items of the name. */
static bool takes_all(const struct advice *a, struct piece code, struct piece name)
{
    struct match m;
    for (;
         code.len > 0 &&
         match(
             a->g,
             "\\b(?:(?:sum|list|max|min|sorted|set|tuple|any|all|dict|Counter|deque|enumerate|join|"
             "load|reader|DictReader)\\(|in |\\*)([A-Za-z_][\\w.]*)(?!\\w|\\()|"
             "([A-Za-z_]\\w*)\\.(?:read|readlines|readline)\\(\\)",
             code, &m);
         code = piece_after(code, m.all)) {
        struct piece used = m.group[0].at ? m.group[0] : m.group[1];
        if (piece_same(used, name) && !ends_with(piece_cut(code, piece_offset(code, m.all)), "if "))
            return true;
    }
    return false;
}

/* The line of `with open(...) as name` before the location. */
static uint32_t opened_at(const struct advice *a, struct piece name)
{
    for (uint32_t i = a->d->location.line; i-- > 1 && i + LINES_NEAR > a->d->location.line;) {
        struct match m;
        if (match(a->g, "\\bopen\\(.*\\bas (\\w+)", source_line(a->file, i), &m) &&
            piece_same(m.group[0], name))
            return i;
    }
    return 0;
}

bool py_say_used_up(const struct advice *a)
{
    struct piece rest = a->line, name, value;
    uint32_t from;
    for (unsigned n = 0; n < NAMES_ASKED && py_next_name(&rest, &name); n++) {
        const char *kind = NULL;
        size_t dot = piece_find(name, ".");
        if (ends_with(name, ".read") || ends_with(name, ".readline") ||
            ends_with(name, ".readlines"))
            name = piece_cut(name, dot);
        if (given(a, name, &value, &from) && from < a->d->location.line)
            kind = iterator_kind(a, piece_trim(value));
        if (!kind && (from = opened_at(a, name)) > 0)
            kind = "a file";
        if (!kind)
            continue;
        for (uint32_t i = from + 1; i < a->d->location.line && i < from + LINES_NEAR; i++) {
            struct piece line = source_line(a->file, i);
            if (!takes_all(a, line, name) || !py_can_see(a, i))
                continue;
            bool file = strcmp(kind, "a file") == 0;
            suggest(a->d, 0, 0.94, "'%.*s' is %s (line %u), and line %u has %s: %s.", P(name), kind,
                    from, i,
                    file ? "read it to its end" : "used it up, because its items come only once",
                    file ? "keep the text in a variable, or begin again with seek(0)"
                         : "make a list of it once, with list(...), and use that list");
            return true;
        }
    }
    return false;
}

/* ---- lists where one value is meant ---- */

bool py_say_list_origin(const struct advice *a, unsigned number)
{
    static const char *const forms[][2] = {
        { "\\bparse_qs\\(",
          "parse_qs() gives a list for each name, because a name can occur several "
          "times: take its first item with [0]" },
        { "\\bfindall\\(", "findall() gives a list of all matches: take one with [0], or use "
                           "re.search(...).group()" },
        { "\\.split\\(|\\.splitlines\\(",
          "split() gives a list of parts: take one with [0], or give "
          "each part a name, a, b = text.split()" },
        { "\\.readlines\\(", "readlines() gives a list of lines: read() gives the whole text, "
                             "readline() one line" },
        { "\\.fetchall\\(",
          "fetchall() gives a list of rows: take a column of a row with [0][0], or "
          "use fetchone()" },
        { "\\.most_common\\(", "most_common() gives a list of pairs: [0][0] is the first value, "
                               "[0][1] its count" },
        { "\\bnargs=",
          "An option with nargs= gives a list: take an item with [0], or remove nargs" },
    };
    struct piece rest = a->line, name, value;
    struct match m;
    uint32_t line;
    char call[800];
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (match(a->g, forms[i][0], a->line, &m)) {
            suggest(a->d, number, 0.93, "%s.", forms[i][1]);
            return true;
        }
    for (unsigned n = 0; n < NAMES_ASKED && py_next_name(&rest, &name); n++) {
        size_t dot = piece_find(name, ".");
        const struct value *told = value_of(a->d, name);
        struct piece source = NO_PIECE;
        if (dot < name.len && dot + 1 < name.len && (!told || value_is(told, "list")) &&
            piece_has(text_of_source(a->file), "add_argument(") &&
            option_line(a, piece_skip(name, dot + 1), call, sizeof call))
            source = piece_of(call);
        struct piece base = piece_cut(name, dot);
        if (!source.at && given(a, base, &value, &line))
            source = value;
        if (told && !value_is(told, "list") && !value_is(told, "dict"))
            continue;
        for (size_t i = 0; source.at && i < ARRAY_LEN(forms); i++)
            if (match(a->g, forms[i][0], source, &m)) {
                suggest(a->d, number, 0.93, "%s.", forms[i][1]);
                return true;
            }
    }
    return false;
}
