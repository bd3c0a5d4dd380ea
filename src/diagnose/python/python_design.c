/* Rules for decorators, classes, context managers and names whose mistake stands in their definition.
 * Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"

/* A line of the definition that begins at `from` has the pattern; 0 when none has. */
static uint32_t line_inside(const struct advice *a, const struct source_file *f, uint32_t from,
                            const char *pattern)
{
    struct match m;
    size_t own = indent_of(source_line(f, from));
    for (uint32_t i = from + 1; i < from + LINES_NEAR; i++) {
        struct piece line = source_line(f, i);
        if (!line.at || (piece_trim(line).len > 0 && indent_of(line) <= own))
            return 0;
        if (match(a->g, pattern, line, &m))
            return i;
    }
    return 0;
}

/* The function around the one of that name: by the name in the message, or by the source. */
static struct piece outer_of(const struct advice *a, struct piece named, struct piece inner)
{
    struct piece head;
    uint32_t number;
    const struct source_file *f;
    if (named.len > 0)
        return named;
    if (!py_defined(a, inner, &head, &number, &f) || f != a->file)
        return NO_PIECE;
    struct py_scope scope = py_scope_of(a, number);
    return scope.line && !py_in_class(scope) ? scope.name : NO_PIECE;
}

/* `@retry` where retry(times) returns the decorator, and `@log()` where log(f) is it. */
static void on_bare_decorator(const struct advice *a)
{
    struct piece inner = a->m.group[1], outer = outer_of(a, a->m.group[0], inner), head;
    struct match m;
    uint32_t number;
    const struct source_file *f;
    if (match(a->g, "^\\s*@([\\w.]+)\\(\\s*\\)\\s*$", a->line, &m) &&
        piece_same(m.group[0], inner)) {
        suggest(
            a->d, 10, 0.94,
            "%.*s() is itself the decorator and takes the function: write @%.*s, without brackets.",
            P(inner), P(inner));
        (void)suggest_swap(a->in, a->d, PIECE("()"), "");
        return;
    }
    if (!outer.at || !py_defined(a, outer, &head, &number, &f) ||
        !match(a->g, "\\((.*)\\)", head, &m))
        return;
    struct piece inner_head;
    uint32_t inner_line, used = py_line_with(a, "^\\s*@(\\w+)\\s*$", outer);
    if (!py_defined(a, inner, &inner_head, &inner_line, &f) ||
        !line_inside(a, f, inner_line, "^\\s*(?:async )?def "))
        return; /* a wrapper, and no decorator */
    if (used && m.group[0].len > 0)
        suggest(a->d, 10, 0.95,
                "%.*s(%.*s) makes the decorator and takes arguments of its own: write @%.*s(...) "
                "in line "
                "%u, with brackets.",
                P(outer), P(m.group[0]), P(outer), used);
}

/* The inner function of a decorator takes other arguments than the function that it stands for. */
static void on_narrow_wrapper(const struct advice *a)
{
    struct piece inner = a->m.group[1], outer = outer_of(a, a->m.group[0], inner), head;
    uint32_t number;
    const struct source_file *f;
    if (!outer.at || !py_line_with(a, "^\\s*@(\\w+)", outer) ||
        !py_defined(a, inner, &head, &number, &f) || piece_has(head, "*"))
        return;
    suggest(
        a->d, 10, 0.94,
        "The decorator %.*s() puts %.*s() (line %u) in the place of the function, so it must take "
        "the "
        "same arguments and pass them on: `def %.*s(*args, **kwargs):`, and func(*args, **kwargs) "
        "inside.",
        P(outer), P(inner), number, P(inner));
}

/* @contextmanager above a function without `yield`. */
static void on_no_yield(const struct advice *a)
{
    struct match m;
    struct piece head;
    uint32_t number;
    const struct source_file *f;
    if (!match(a->g, "\\bwith ([A-Za-z_]\\w*)\\(", a->line, &m) ||
        !py_defined(a, m.group[0], &head, &number, &f) || number < 2 ||
        !piece_has(source_line(f, number - 1), "contextmanager"))
        return;
    suggest(
        a->d, 12, 0.95,
        "%.*s() (line %u) has @contextmanager, so it must `yield` once, where the block of `with` "
        "runs: write `yield value` in place of `return`.",
        P(m.group[0]), number);
}

/* `with C() as c`, where __enter__ returns nothing. */
static void on_entered(const struct advice *a)
{
    struct match m, w;
    struct piece head, name;
    uint32_t number;
    const struct source_file *f;
    for (struct piece rest = a->line; match(a->g, "([A-Za-z_]\\w*)\\.(\\w+)", rest, &m);
         rest = piece_after(rest, m.group[0])) {
        if (piece_same(m.group[1], a->m.group[0]))
            break;
    }
    name = m.group[0];
    for (uint32_t i = a->d->location.line; i > 0 && i + LINES_NEAR > a->d->location.line; i--) {
        if (!match(a->g, "\\bwith ([A-Za-z_]\\w*)\\(.*\\bas (\\w+)\\s*:", source_line(a->file, i),
                   &w) ||
            !piece_same(w.group[1], name))
            continue;
        if (!py_defined(a, w.group[0], &head, &number, &f) || !starts_with(head, "class "))
            return;
        uint32_t enter = line_inside(a, f, number, "^\\s*def __enter__\\(");
        if (enter && !match(a->g, "return", source_line(f, enter), &m) &&
            !line_inside(a, f, enter, "^\\s*return\\s+\\S"))
            suggest(a->d, 4, 0.95,
                    "__enter__ of %.*s (line %u) returns nothing, so '%.*s' is None: end it with "
                    "`return "
                    "self`.",
                    P(w.group[0]), enter, P(name));
        return;
    }
}

/* `count += 1` in a method, where count stands in the class. */
static void on_class_variable(const struct advice *a)
{
    struct piece name = a->m.group[0], rest = text_of_source(a->file), line;
    struct py_scope scope = py_scope_of(a, a->d->location.line);
    struct match m;
    unsigned looks = 0;
    if (!scope.line || py_in_class(scope) || indent_of(source_line(a->file, scope.line)) == 0 ||
        !match(a->g, "^\\s*(\\w+)\\s*(?:[-+*/%|&]|//|\\*\\*)=", a->line, &m) ||
        !piece_same(m.group[0], name))
        return;
    for (uint32_t i = 1; i < scope.line && looks < 16 && next_line(&rest, &line); i++) {
        if (!match(a->g, "^\\s+([A-Za-z_]\\w*)\\s*(?::[^=]+)?=[^=]", line, &m) ||
            !piece_same(m.group[0], name))
            continue;
        looks++;
        struct py_scope there = py_scope_of(a, i);
        if (!py_in_class(there))
            continue;
        suggest(a->d, 16, 0.94,
                "'%.*s' belongs to the class %.*s (line %u), and a method reaches it through the "
                "object or "
                "the class: self.%.*s, or %.*s.%.*s to change it for all.",
                P(name), P(there.name), i, P(name), P(there.name), P(name));
        return;
    }
}

static void on_self(const struct advice *a)
{
    struct py_scope scope = py_scope_of(a, a->d->location.line);
    struct match m;
    if (!scope.line || py_in_class(scope) ||
        !match(a->g, "^((?:async )?def \\w+\\()(.*)$", scope.head, &m))
        return;
    suggest(a->d, 3, 0.94,
            "`%.*s` is the first parameter of a method, and line %u does not have it: write "
            "`%.*s%.*s%s%.*s`.",
            P(a->m.group[0]), scope.line, P(m.group[0]), P(a->m.group[0]),
            starts_with(m.group[1], ")") ? "" : ", ", P(m.group[1]));
}

/* `random = random.random()`, and then random.randint(). */
static void on_hidden_module(const struct advice *a)
{
    struct match m;
    struct piece value;
    uint32_t number, imported;
    for (struct piece rest = a->line; match(a->g, "\\b([A-Za-z_]\\w*)\\.(\\w+)", rest, &m);
         rest = piece_after(rest, m.group[0])) {
        if (!piece_same(m.group[1], a->m.group[1]) || piece_is(m.group[0], "self"))
            continue;
        imported = py_line_with(a, "^\\s*(?:import|from [\\w.]+ import) (\\w+)\\s*$", m.group[0]);
        imported = imported ? imported
                            : py_line_with(a, "\\bimport .*\\bas (\\w+)\\s*$", m.group[0]);
        if (!imported || !py_assigned(a, m.group[0], &value, &number) || number < imported ||
            !py_can_see(a, number))
            return;
        suggest(
            a->d, 5, 0.95,
            "Line %u gives the name '%.*s' another value, and so hides the import of line %u: use "
            "another name there.",
            number, P(m.group[0]), imported);
        return;
    }
}

/* A member of an Enum is used like its value. */
static void on_enum_operand(const struct advice *a)
{
    struct piece head;
    uint32_t number;
    const struct source_file *f;
    if (!piece_has(text_of_source(a->file), "Enum"))
        return;
    for (size_t i = 0; i < 2; i++) {
        struct piece type = a->m.group[i];
        if (type.len == 0 || !py_defined(a, type, &head, &number, &f) ||
            !match(a->g, "^class \\w+\\((?:\\w+\\.)?Enum\\)", head, &(struct match){ 0 }))
            continue;
        bool order = starts_with(a->message, "'");
        suggest(
            a->d, 11, 0.94,
            "%.*s (line %u) is an Enum, and its members are no numbers or texts: use the value, "
            "member.value%s.",
            P(type), number,
            order ? ", or derive the class from IntEnum, whose members have an order"
                  : ", or derive the class from IntEnum (or from str and Enum)");
        return;
    }
}

/* Fields with types, and no @dataclass above the class. */
static void on_plain_fields(const struct advice *a)
{
    struct piece head;
    uint32_t number;
    const struct source_file *f;
    if (!py_defined(a, a->m.group[0], &head, &number, &f) || !starts_with(head, "class ") ||
        line_inside(a, f, number, "^\\s+def _*init") ||
        !line_inside(a, f, number, "^\\s+\\w+\\s*:\\s*[\\w\\[\\]., |]+(?:=.*)?$") ||
        starts_with(piece_trim(source_line(f, number - 1)), "@"))
        return;
    suggest(a->d, 10, 0.94,
            "The fields of %.*s become arguments only with a decorator: write @dataclass above "
            "line %u, "
            "with `from dataclasses import dataclass`.",
            P(a->m.group[0]), number);
}

/* `x = 0` in a dataclass is no field. */
static void on_untyped_field(const struct advice *a)
{
    struct piece head, name = a->m.group[1];
    uint32_t number;
    const struct source_file *f;
    struct match m;
    if (!name.at || !py_defined(a, a->m.group[0], &head, &number, &f) || number < 2 ||
        !starts_with(piece_trim(source_line(f, number - 1)), "@dataclass"))
        return;
    for (uint32_t i = number + 1; i < number + BLANKS_NEAR * 2; i++)
        if (match(a->g, "^\\s+(\\w+)\\s*=[^=]", source_line(f, i), &m) &&
            piece_same(m.group[0], name)) {
            suggest(a->d, 10, 0.95,
                    "Line %u gives '%.*s' no type, so it is no field of the dataclass: write "
                    "`%.*s: int = "
                    "...`, with its type.",
                    i, P(name), P(name));
            return;
        }
}

static void on_tuple_fields(const struct advice *a)
{
    struct piece source = text_of_source(a->file);
    if (piece_has(source, "namedtuple") || piece_has(source, "NamedTuple"))
        suggest(
            a->d, 10, 0.93,
            "A named tuple is made with a value for each of its fields: give %.*s, or defaults for "
            "fields, namedtuple(..., defaults=[...]).",
            P(a->m.group[1]));
}

/* A call of the program's own function that returns several values. */
static void on_returned_tuple(const struct advice *a)
{
    struct match m;
    struct piece head, value, codes[2] = { a->line, NO_PIECE }, rest, name;
    uint32_t number, line;
    const struct source_file *f;
    rest = a->line;
    for (unsigned n = 0; n < NAMES_ASKED && !codes[1].at && py_next_name(&rest, &name); n++) {
        name = piece_cut(name, piece_find(name, "."));
        if (py_assigned(a, name, &value, &line) && py_can_see(a, line) &&
            line < a->d->location.line && match(a->g, "^\\w+\\([^()]*\\)\\s*$", value, &m))
            codes[1] = value;
    }
    for (size_t i = 0; i < 2; i++)
        for (rest = codes[i]; rest.len > 0 && match(a->g, "([A-Za-z_]\\w*)\\(", rest, &m);
             rest = piece_after(rest, m.all)) {
            if (!py_defined(a, m.group[0], &head, &number, &f) || !starts_with(head, "def "))
                continue;
            uint32_t at = line_inside(a, f, number,
                                      "^\\s+return [^()\\[\\]{},]+(?:\\([^()]*\\))?,\\s*[^,\\s]");
            if (!at)
                continue;
            suggest(a->d, 11, 0.93,
                    "%.*s() returns several values (line %u), which are a tuple: give each a name, "
                    "a, b = "
                    "%.*s(...), or take one, %.*s(...)[0].",
                    P(m.group[0]), at, P(m.group[0]), P(m.group[0]));
            return;
        }
}

/* ---- recursion ---- */

/* The arguments of a call of the function in the code, "n - 1, items"; NO_PIECE when there is none. */
static struct piece call_arguments(const struct advice *a, struct piece code, struct piece name)
{
    struct match m;
    for (; code.len > 0 &&
           match(a->g, "([A-Za-z_]\\w*)\\(([^()]*(?:\\([^()]*\\)[^()]*)*)\\)", code, &m);
         code = piece_skip(piece_after(code, m.group[0]), 1))
        if (piece_same(m.group[0], name) &&
            !ends_with(piece_cut(code, piece_offset(code, m.all)), "def "))
            return m.group[1];
    return NO_PIECE;
}

/* A text in a loop gives texts of one character, which give themselves again. */
static bool splits_texts(const struct advice *a, struct piece name, uint32_t from)
{
    struct match m;
    bool tests = false, names_str = false, loops = false;
    for (uint32_t i = from; i < from + LINES_NEAR; i++) {
        struct piece line = source_line(a->file, i);
        if (!line.at || (i > from && piece_trim(line).len > 0 &&
                         indent_of(line) <= indent_of(source_line(a->file, from))))
            break;
        tests = tests || match(a->g,
                               "\"__iter__\"|'__iter__'|\\bIterable\\b|\\bSequence\\b|\\biter\\(|"
                               "\\b__len__\\b|\\bexcept TypeError\\b",
                               line, &m);
        names_str = names_str || match(a->g, "\\b(?:str|bytes|basestring)\\b", line, &m);
        loops = loops || match(a->g, "\\bfor \\w+ in\\b", line, &m);
    }
    bool letter = false;
    for (struct piece rest = a->line, word; py_next_name(&rest, &word);) {
        const struct value *v = value_of(a->d, word);
        letter = letter || (value_is(v, "str") && v->size == 1);
    }
    if (!loops || names_str || !(tests || letter))
        return false;
    suggest(
        a->d, 24, 0.94,
        "A text can be looped over, and each of its characters is a text again, so %.*s() has no "
        "end for texts: leave them out, `if isinstance(x, (list, tuple)):`, or test `isinstance(x, "
        "str)` first.",
        P(name));
    return true;
}

/* A method that Python itself calls uses the operation that it defines. */
static bool calls_itself_hidden(const struct advice *a, struct piece name, struct py_scope scope)
{
    static const char *const forms[][3] = {
        { "__setattr__", "\\bself\\.\\w+\\s*=[^=]|\\bsetattr\\(",
          "every assignment to self calls __setattr__() again: use super().__setattr__(name, "
          "value)" },
        { "__getattr__", "\\bself\\.\\w+|\\bgetattr\\(",
          "self.x calls __getattr__() again when x is not there: set x in __init__, or read "
          "self.__dict__" },
        { "__getattribute__", "\\bself\\.|\\bgetattr\\(",
          "every self.x calls __getattribute__() again: use super().__getattribute__(name)" },
        { "__repr__", "\\{self[!}]|\\b(?:repr|str)\\(self\\)",
          "the text of self calls __repr__() again: name the attributes, {self.name}" },
        { "__str__", "\\{self[!}]|\\bstr\\(self\\)|%\\s*self\\b|format\\(self\\)",
          "the text of self calls __str__() again: name the attributes, {self.name}" },
        { "__eq__", "\\bself\\s*[!=]=\\s*other\\b",
          "self == other calls __eq__() again: compare attributes, self.name == other.name" },
        { "__hash__", "\\bhash\\(self\\)",
          "hash(self) calls __hash__() again: hash((self.a, self.b))" },
        { "__len__", "\\blen\\(self\\)",
          "len(self) calls __len__() again: take the length of the "
          "attribute that holds the items" },
        { "__iter__", "\\biter\\(self\\)|\\bin self\\s*[:)\\]]",
          "a loop over self calls __iter__() again: loop over the attribute that holds the items" },
        { "__getitem__", "\\bself\\[",
          "self[...] calls __getitem__() again: read the attribute that "
          "holds the items" },
        { "__setitem__", "\\bself\\[",
          "self[...] = calls __setitem__() again: write to the attribute "
          "that holds the items, or use super()" },
        { "__contains__", "\\bin self\\s*(?:$|[):])",
          "`in self` calls __contains__() again: ask the attribute that holds the items" },
        { "__new__", "\\bcls\\(", "cls(...) calls __new__() again: use super().__new__(cls)" },
    };
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (piece_is(name, forms[i][0]) &&
            match(a->g, forms[i][1], a->line, &(struct match){ 0 })) {
            suggest(a->d, 24, 0.95, "Inside of %.*s() (line %u) %s.", P(name), scope.line,
                    forms[i][2]);
            return true;
        }
    struct piece above = piece_trim(source_line(a->file, scope.line - 1));
    char own[96];
    (void)snprintf(own, sizeof own, "self.%.*s", P(piece_cut(name, 80)));
    size_t at = piece_find(a->line, own);
    if (scope.line < 2 || at == a->line.len ||
        is_word_byte(piece_byte(a->line, at + strlen(own))) ||
        !(piece_has(above, "property") || piece_has(above, ".setter")))
        return false;
    suggest(
        a->d, 24, 0.95,
        "'%.*s' is a property, and %s of it uses self.%.*s, which calls it again: keep the value "
        "under another name, self._%.*s.",
        P(name), piece_has(above, ".setter") ? "the setter" : "the function", P(name), P(name));
    return true;
}

/* Steps of more than one, and a test for one number: the number may be passed by. */
static bool passes_by(const struct advice *a, struct piece name, struct py_scope scope,
                      struct piece given)
{
    struct match m, test;
    if (!match(a->g, "\\b(\\w+)\\s*(?:-\\s*([2-9]|\\d\\d+)|/\\s*\\d+)", given, &m))
        return false;
    for (uint32_t i = scope.line + 1; i < scope.line + BLANKS_NEAR; i++)
        if (match(a->g, "\\bif (\\w+) == (\\d+)\\s*:", source_line(a->file, i), &test) &&
            piece_same(test.group[0], m.group[0])) {
            suggest(a->d, 24, 0.92,
                    "%.*s() ends only when '%.*s' is exactly %.*s (line %u), and `%.*s` can step "
                    "over it: "
                    "test with <= in place of ==%s.",
                    P(name), P(m.group[0]), P(test.group[1]), i, P(m.all),
                    m.group[1].at ? "" : ", and divide with //");
            return true;
        }
    return false;
}

/* The function passes on its own arguments, or a number that has gone past the end. */
static bool comes_no_nearer(const struct advice *a, struct piece name, struct py_scope scope)
{
    struct match m;
    if (!match(a->g, "\\(\\s*(?:self,?\\s*)?([^()]*)\\)", scope.head, &m) || m.group[0].len == 0)
        return false;
    struct piece list = piece_trim(m.group[0]),
                 given = piece_trim(call_arguments(a, a->line, name));
    if (given.len > 0 && piece_same(given, list)) {
        suggest(
            a->d, 24, 0.95,
            "%.*s() calls itself with the same argument%s, `%.*s`, so no call comes nearer to the "
            "base case: pass a smaller part, such as n - 1 or items[1:].",
            P(name), piece_has(list, ",") ? "s" : "", P(given));
        return true;
    }
    for (struct piece rest = list, word; given.len > 0 && py_next_name(&rest, &word);) {
        const struct value *v = value_of(a->d, word);
        if (!value_is(v, "int") || !has_word(given, word))
            continue;
        if (v->preview[0] == '-' && line_inside(a, a->file, scope.line, "^\\s*if\\b| if "))
            suggest(a->d, 24, 0.94,
                    "'%.*s' is %s here: it went past the case that ends %.*s(). Test for that case "
                    "with <= in place of ==, or check how line %u makes it smaller.",
                    P(word), v->preview, P(name), a->d->location.line);
        else if (match(a->g, "\\b\\w+\\s*\\+\\s*\\d", given, &m))
            suggest(
                a->d, 24, 0.93,
                "'%.*s' grows with each call and is %s here: make it smaller in the call, or end "
                "%.*s() when it is large enough.",
                P(word), v->preview, P(name));
        else
            continue;
        return true;
    }
    return passes_by(a, name, scope, given);
}

/* An object that makes another object of its class, and functions that call each other. */
static void made_inside(const struct advice *a, struct py_scope scope)
{
    struct match m;
    for (uint32_t i = scope.line; piece_is(scope.name, "__init__") && i > 0; i--) {
        struct piece line = source_line(a->file, i);
        if (!match(a->g, "^\\s*class (\\w+)", line, &m) ||
            indent_of(line) >= indent_of(source_line(a->file, scope.line)))
            continue;
        char call[96];
        (void)snprintf(call, sizeof call, "%.*s(", P(piece_cut(m.group[0], 80)));
        if (piece_has(a->line, call))
            suggest(a->d, 24, 0.95,
                    "__init__ of %.*s makes another %.*s, whose __init__ makes the next one, "
                    "without an end: "
                    "make it outside, and pass it in as an argument.",
                    P(m.group[0]), P(m.group[0]));
        return;
    }
    const char *first = a->d->n_frames > 1 ? a->d->frames[0].function : "";
    const char *other = a->d->n_frames > 1 ? a->d->frames[1].function : "";
    if (first[0] && other[0] && first[0] != '<' && other[0] != '<' && strcmp(first, other) != 0 &&
        a->d->frames[0].user && a->d->frames[1].user && a->d->n_frames > 2 &&
        strcmp(first, a->d->frames[2].function) == 0)
        suggest(
            a->d, 24, 0.93,
            "%s() and %s() call each other without an end: add a case to one of them that returns "
            "without the call.",
            first, other);
}

static void on_deep(const struct advice *a)
{
    struct piece name = NO_PIECE;
    struct py_scope scope = py_scope_of(a, a->d->location.line);
    for (size_t i = 0; i < a->d->n_frames && !name.at; i++)
        if (a->d->frames[i].user && a->d->frames[i].function[0] != '<')
            name = piece_last_part(piece_of(a->d->frames[i].function));
    bool own = name.at && scope.line && piece_same(scope.name, name);
    if (!own || (!calls_itself_hidden(a, name, scope) && !splits_texts(a, name, scope.line) &&
                 !comes_no_nearer(a, name, scope)))
        made_inside(a, scope);
}

/* `a, b = text.split("=")`. */
static void on_split_names(const struct advice *a)
{
    struct match m, by;
    struct piece text;
    if (!match(a->g, "[\\w ],[\\w, ]+=[^=].*\\.split\\([^()]*\\)\\s*$", a->line, &m) ||
        !match(a->g,
               "([A-Za-z_][\\w.]*(?:\\[[^\\[\\]]*\\])?(?:\\(\\))?|\"[^\"]*\"|'[^']*')\\.split\\(([^"
               "(),]*)\\)",
               a->line, &by))
        return;
    struct piece sep = by.group[1];
    struct piece shown = py_shown(a, by.group[0]);
    char is[100] = "";
    if (shown_text(shown, &text))
        (void)snprintf(is, sizeof is, " ('%.*s')", P(py_short(text, 80)));
    if (starts_with(a->message, "too many"))
        suggest(a->d, 14, 0.93,
                "The text%s has more parts than there are names: %.*s.split(%.*s%s1) splits at the "
                "first "
                "%s alone, and a, *rest = ... takes all parts.",
                is, P(by.group[0]), P(sep),
                sep.len ? ", " : "maxsplit=", sep.len ? "separator" : "blank");
    else
        suggest(a->d, 14, 0.93,
                "The text%s has fewer parts than there are names, because it has no %.*s in it, or "
                "too few: "
                "test the parts first, or use a, _, b = %.*s.partition(%.*s).",
                is, P(sep.len ? sep : PIECE("blank")), P(by.group[0]),
                P(sep.len ? sep : PIECE("\" \"")));
}

#include "diagnose/python_design.rules.h" /* generated */
