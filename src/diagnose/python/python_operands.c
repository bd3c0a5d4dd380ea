/* Rules for operators between values of two types: text and numbers, lists, dates, objects. Runs in:
 * keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"

/* Offers `"text" + name` as an f-string, when the line has this form. */
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
                            P(m.group[4]), P(tail), q, P(m.group[9]));
    }
}

/* Whether a name in the line comes from input(), which returns text. */
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
                "input() returns text: convert it to a number in line %u, %.*s = int(input(...)).",
                number, P(name));
        return;
    }
    if (piece_is(a->m.group[0], "str") && piece_is(other, "int") && piece_has(a->line, "ord(")) {
        suggest(a->d, 11, 0.93,
                "ord() gives a number: chr(...) around the calculation makes a character of it.");
        return;
    }
    if (piece_is(a->m.group[0], "str")) {
        suggest(a->d, 11, 0.92,
                "Text and a%s %.*s cannot be added: use an f-string, or str(...) around the %.*s.",
                other.len && strchr("aeiou", piece_byte(other, 0)) ? "n" : "", P(other), P(other));
        offer_fstring(a);
    } else {
        suggest(a->d, 11, 0.85,
                "A %.*s can only be joined with another %.*s: convert the value, or append() it.",
                P(a->m.group[0]), P(a->m.group[0]));
    }
}

static bool is_number(struct piece type)
{
    static const char *const numbers[] = { "int",     "float",           "complex",
                                           "Decimal", "decimal.Decimal", NULL };
    return piece_among(type, numbers);
}

static bool is_function(struct piece type)
{
    static const char *const functions[] = { "function", "method", "builtin_function_or_method",
                                             "type", NULL };
    return piece_among(type, functions);
}

/* The sentence for an operator and two types that are not numbers; NULL when there is none. */
static const char *operands_advice(const struct advice *a)
{
    static const struct {
        const char *operators, *left, *right, *advice;
    } rows[] = {
        { "/", "str", "str",
          "Both sides are text: float(...) makes numbers of them; parts of a path are joined with "
          "os.path.join(a, b), or Path(a) / b" },
        { "", "str", "str", "Both sides are text: convert them with int(...) or float(...) first" },
        { "+", "dict", "dict", "Two dicts are merged with {**a, **b}, or a | b" },
        { "+", "set", "set", "Two sets are joined with a | b" },
        { "-", "list", "list",
          "Lists have no difference: [x for x in a if x not in b], or set(a) - set(b)" },
        { "-", "datetime.datetime", "str",
          "One side is a date and the other is text: datetime.fromisoformat(text) or "
          "datetime.strptime(text, format) makes a date of it" },
        { "-", "str", "datetime.datetime",
          "One side is a date and the other is text: datetime.fromisoformat(text) or "
          "datetime.strptime(text, format) makes a date of it" },
        { "-", "datetime.datetime", "datetime.date",
          "One side has a time and the other is a plain date: use both of one kind, x.date()" },
        { "-", "datetime.date", "datetime.datetime",
          "One side has a time and the other is a plain date: use both of one kind, x.date()" },
        { "+-", "datetime.datetime", "int", "Days are added to a date with timedelta(days=n)" },
        { "+-", "datetime.date", "int", "Days are added to a date with timedelta(days=n)" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if ((!rows[i].operators[0] || strchr(rows[i].operators, piece_byte(a->m.group[0], 0))) &&
            piece_is(a->m.group[1], rows[i].left) && piece_is(a->m.group[2], rows[i].right))
            return rows[i].advice;
    return NULL;
}

static void on_operands(const struct advice *a)
{
    struct piece left = a->m.group[1], right = a->m.group[2], name, class;
    uint32_t number;
    const struct source_file *f;
    bool text = piece_is(left, "str") || piece_is(right, "str");
    const char *known = operands_advice(a);
    if (piece_is(left, "NoneType") || piece_is(right, "NoneType"))
        return;
    if (text && from_input(a, &name, &number))
        suggest(a->d, 11, 0.95,
                "input() returns text: convert it to a number in line %u, %.*s = int(input(...)).",
                number, P(name));
    else if (piece_is(left, "coroutine") || piece_is(right, "coroutine"))
        suggest(a->d, 26, 0.9,
                "One side is a coroutine that was not awaited: put `await` before the call.");
    else if (known)
        suggest(a->d, 11, 0.9, "%s.", known);
    else if (is_function(left) || is_function(right))
        suggest(a->d, 12, 0.9,
                "One side is a function or a class, not its result: call it, with brackets behind "
                "its name.");
    else if (text && (is_number(left) || is_number(right)) &&
             (piece_has(a->line, "sort") || piece_has(a->line, "max(") ||
              piece_has(a->line, "min(")))
        suggest(
            a->d, 11, 0.92,
            "The values are text and numbers mixed: make one type of them first, [float(x) for x "
            "in items], or order them as text, key=str.");
    else if (text && (is_number(left) || is_number(right)))
        suggest(a->d, 11, 0.9,
                "One side is text, and the other is a number: convert the text with int(...) or "
                "float(...) to calculate, or the number with str(...) (an f-string) to join.");
    else if ((piece_is(left, "list") && is_number(right)) ||
             (is_number(left) && piece_is(right, "list")))
        suggest(
            a->d, 11, 0.8,
            "An operator does not work on a whole list: [v %.*s n for v in x], or sum(x), max(x) "
            "for one number.",
            P(a->m.group[0]));
    else if (py_defined(a, left, &class, &number, &f) || py_defined(a, right, &class, &number, &f))
        suggest(
            a->d, 11, 0.88,
            "A class of your own (line %u) has no %.*s: use one of its attributes, or define the "
            "method for the operator (__add__ for +, __sub__ for -, __mul__ for *).",
            number, P(a->m.group[0]));
    else
        suggest(a->d, 11, 0.6, "%.*s does not work between a %.*s and a %.*s: convert one of them.",
                P(a->m.group[0]), P(left), P(right));
    if (piece_is(a->m.group[0], "+") && text && !known)
        offer_fstring(a);
}

/* Two types without an order between them. */
static void compare_kinds(const struct advice *a, struct piece left, struct piece right)
{
    static const char *const collections[] = { "list",        "tuple",     "dict", "set",
                                               "dict_values", "dict_keys", NULL };
    static const char *const dates[] = { "datetime.datetime", "datetime.date", "datetime.time",
                                         "Timestamp", NULL };
    bool text = piece_is(left, "str") || piece_is(right, "str");
    bool date = piece_among(left, dates) || piece_among(right, dates);
    bool many = piece_among(left, collections) || piece_among(right, collections);
    struct piece class = NO_PIECE, head;
    uint32_t number;
    const struct source_file *f;
    if (py_defined(a, left, &head, &number, &f))
        class = left;
    else if (py_defined(a, right, &head, &number, &f))
        class = right;
    if (date && text)
        suggest(a->d, 11, 0.93,
                "One side is a date and the other is text: datetime.fromisoformat(text) or "
                "datetime.strptime(text, format) makes a date of it.");
    else if ((piece_is(left, "datetime.timedelta") || piece_is(right, "datetime.timedelta")) &&
             (is_number(left) || is_number(right)))
        suggest(a->d, 11, 0.93,
                "One side is a timedelta and the other a number: x.days is its number of days, or "
                "compare it with timedelta(days=n).");
    else if (date)
        suggest(
            a->d, 11, 0.88,
            "'%.*s' and '%.*s' cannot be compared: use two dates, or x.timestamp() and a number.",
            P(left), P(right));
    else if (many && (is_number(left) || is_number(right)))
        suggest(
            a->d, 11, 0.9,
            "A %.*s is compared with a number: len(x) is its length, sum(x) and max(x) make one "
            "number of its items, and a loop compares each.",
            P(is_number(left) ? right : left));
    else if (text && (is_number(left) || is_number(right)))
        suggest(a->d, 11, 0.92,
                "One side is text, and the other is a number: convert the text first, int(...) or "
                "float(...).");
    else if (class.at)
        suggest(a->d, 11, 0.88,
                "An object of the class %.*s is compared with another type: compare one of its "
                "attributes, or define the method for the operator (__lt__, __gt__) in the class.",
                P(class));
    else
        suggest(a->d, 11, 0.8,
                "'%.*s' and '%.*s' cannot be compared: make values of one type of them first.",
                P(left), P(right));
}

static void on_compare(const struct advice *a)
{
    struct piece name;
    uint32_t number;
    if (piece_is(a->m.group[1], "NoneType") || piece_is(a->m.group[2], "NoneType")) {
        suggest(
            a->d, 4, 0.7,
            "One side is None: check the call that returned it, or test it first (`is not None`).");
        return;
    }
    bool text = piece_is(a->m.group[1], "str") || piece_is(a->m.group[2], "str");
    if (text && from_input(a, &name, &number))
        suggest(a->d, 11, 0.95,
                "input() returns text: convert it to a number in line %u, %.*s = int(input(...)).",
                number, P(name));
    else if (is_function(a->m.group[1]) || is_function(a->m.group[2]))
        suggest(a->d, 12, 0.9,
                "One side is a function or a class, not its result: call it, with brackets behind "
                "its name.");
    else if (piece_same(a->m.group[1], a->m.group[2]) && piece_has(a->line, "heap"))
        suggest(
            a->d, 11, 0.9,
            "Two entries have the same first part, so the heap compares the %.*s objects: put a "
            "counter before the object (next(itertools.count())), or define __lt__ in it.",
            P(a->m.group[1]));
    else if (piece_same(a->m.group[1], a->m.group[2]))
        suggest(a->d, 11, 0.9,
                "Values of the type %.*s have no order: give the key to compare, key=lambda x: "
                "..., %s.",
                P(a->m.group[1]),
                piece_is(a->m.group[1], "dict")
                    ? "such as x[\"name\"]"
                    : "or define __lt__ in the class (a dataclass has it with order=True)");
    else
        compare_kinds(a, a->m.group[1], a->m.group[2]);
}

static void on_multiply(const struct advice *a)
{
    struct piece name;
    uint32_t number;
    if (from_input(a, &name, &number))
        suggest(a->d, 11, 0.95,
                "input() returns text: convert it to a number in line %u, %.*s = int(input(...)).",
                number, P(name));
    else
        suggest(a->d, 11, 0.85,
                "Only an int can repeat text or a list: convert the number with int(...), or the "
                "text with float(...) to calculate.");
}

#include "diagnose/python_operands.rules.h" /* generated */
