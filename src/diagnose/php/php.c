/* PHP: reads and explains errors that it logs, or displays on stdout. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/core/rules.h"

/* ---- the rules ---- */

static const char *const *const functions = WORDS(
    "strlen", "str_replace", "substr", "strpos", "explode", "implode", "trim", "count",
    "array_push", "array_pop", "array_map", "array_filter", "array_sum", "array_keys",
    "array_values", "array_merge", "in_array", "sort", "usort", "ksort", "json_encode",
    "json_decode", "printf", "sprintf", "print_r", "var_dump", "is_numeric", "is_array", "is_null",
    "isset", "empty", "intval", "floatval", "round", "floor", "ceil", "max", "min", "abs", "rand",
    "random_int", "date", "time", "strtotime", "file_get_contents", "file_put_contents", "fopen",
    "fclose", "strtoupper", "strtolower", "ucfirst", "str_contains", "str_starts_with",
    "str_repeat", "range", "array_reverse", "array_unique", "array_slice", "preg_match",
    "preg_replace", "function_exists");
static const char *const classes[] = { "DateTime",
                                       "DateTimeImmutable",
                                       "DateInterval",
                                       "Exception",
                                       "ArrayObject",
                                       "RuntimeException",
                                       "InvalidArgumentException",
                                       "stdClass",
                                       "PDO",
                                       "Closure",
                                       "Generator",
                                       "SplStack",
                                       "SplQueue",
                                       "ArrayIterator",
                                       "Stringable",
                                       NULL };

static void advise_variable(const struct advice *a)
{
    char best[128];
    struct piece name = a->m.group[0];
    if (!similar_name(a->in, name, NULL, best, sizeof best)) {
        suggest(a->d, 0, 0.6,
                "Give $%.*s a value before it is used; a function does not see the variables "
                "outside of it (pass them).",
                P(name));
        return;
    }
    suggest(a->d, 0, 0.85, "Did you mean `$%s`? $%.*s has no value.", best, P(name));
    (void)suggest_swap(a->in, a->d, name, best);
}

static void advise_constant(const struct advice *a)
{
    struct piece name = a->m.group[0];
    char with[128], dollar[130];
    (void)snprintf(dollar, sizeof dollar, "$%.*s", P(piece_cut(name, 120)));
    struct piece rest = text_of_source(a->file);
    if (piece_has(rest, dollar)) {
        suggest(a->d, 0, 0.9, "A variable begins with a dollar sign: `%s`.", dollar);
        (void)suggest_swap(a->in, a->d, name, dollar);
        return;
    }
    (void)snprintf(with, sizeof with, "\"%.*s\"", P(piece_cut(name, 120)));
    suggest(a->d, 0, 0.6, "If it is a string, put it in quotes: %s.", with);
    (void)suggest_swap(a->in, a->d, name, with);
}

static void advise_require(const struct advice *a)
{
    char best[256];
    struct piece name = piece_base(a->m.group[0]);
    if (similar_file(a->in, name, best, sizeof best)) {
        suggest(a->d, 0, 0.9, "Did you mean \"%s\"? The job has no file %.*s.", best, P(name));
        (void)suggest_swap(a->in, a->d, a->m.group[0], best);
    } else {
        suggest(a->d, 0, 0.75, "The job has no file %.*s: send it with the program.", P(name));
    }
}

static void advise_null(const struct advice *a)
{
    struct piece name = a->m.group[0];
    suggest(a->d, 0, 0.85,
            "The value before `->%.*s` is null: find out why it has no value, or write `?->`, "
            "which returns null for null.",
            P(name));
    char from[100], to[100];
    (void)snprintf(from, sizeof from, "->%.*s", P(piece_cut(name, 80)));
    (void)snprintf(to, sizeof to, "?->%.*s", P(piece_cut(name, 80)));
    (void)suggest_swap(a->in, a->d, piece_of(from), to);
}

/* PHP names the outermost open bracket; the indentation of the lines below shows which one lacks
 * its end. */
static void advise_unclosed(const struct advice *a)
{
    const struct source_file *f = a->file;
    uint32_t line = piece_is(a->m.group[0], "{") ? unclosed(f, '{', '}') : 0;
    if (line && line != a->d->location.line)
        suggest(a->d, 18, 0.9,
                "By the indentation, the `{` on line %u has no `}`: close it. `%.*s`", line,
                P(piece_trim(source_line(f, line))));
    else
        suggest(a->d, 18, 0.9, "The `%.*s` that opens there is not closed: close it.",
                P(a->m.group[0]));
}

static void advise_syntax(const struct advice *a)
{
    const struct source_file *f = a->file;
    uint32_t opened = open_quote_before(f, '"', a->d->location.line);
    if (!opened)
        opened = open_quote_before(f, '\'', a->d->location.line);
    struct match c;
    if (opened && match(a->g, "unexpected (?:identifier|double-quote|string|single-quoted)",
                        a->message, &c)) {
        suggest(a->d, 18, 0.88, "A quote that opens in line %u is not closed there: close it.",
                opened);
        return;
    }
    struct piece line = a->line;
    long depth = 0;
    for (size_t i = 0; i < line.len; i++)
        depth += line.at[i] == '(' ? 1 : line.at[i] == ')' ? -1 : 0;
    if (depth > 0 && piece_has(a->message, "unexpected token \"{\"") &&
        match(a->g, "^(.*?) *\\{(.*)$", line, &c)) {
        suggest(a->d, 18, 0.92, "A `(` on this line is not closed before the `{`: add `)`.");
        suggest_replacement(a->d, "%.*s) {%.*s", P(c.group[0]), P(c.group[1]));
        return;
    }
    advise_semicolon(a);
    if (a->d->n_suggestions == 0 && match(a->g, "expecting (.*)$", a->message, &c))
        suggest(a->d, 0, 0.6, "PHP expects %.*s there: add it.", P(c.group[0]));
}

/* Functions that newer versions do not have. */
static const struct {
    const char *pattern, *now;
} removed[] = {
    { "^mysql_", "PDO (new PDO(...)) or mysqli" },
    { "^ereg", "preg_match() or preg_replace()" },
    { "^split(?:i)?$", "explode() or preg_split()" },
    { "^each$", "foreach" },
    { "^create_function$", "fn ($x) => ... or function ($x) { ... }" },
    { "^money_format$", "number_format()" },
    { "^utf8_(?:en|de)code$", "mb_convert_encoding()" },
    { "^get_magic_quotes", "nothing, magic quotes do not exist any more" },
    { "^mcrypt_", "openssl_encrypt() or sodium" },
};

static void advise_function(const struct advice *a)
{
    struct piece name = a->m.group[0];
    struct match c;
    for (size_t i = 0; i < ARRAY_LEN(removed); i++)
        if (match(a->g, removed[i].pattern, name, &c)) {
            suggest(a->d, 0, 0.93, "`%.*s` was removed from PHP: use %s.", P(name), removed[i].now);
            return;
        }
    if (match(a->g, "^(mb|curl|imagecreate|bcadd|bcmul|gmp|simplexml|intl|mysqli|pg|sodium)(?:_|$)",
              name, &c))
        suggest(a->d, 0, 0.7,
                "`%.*s` belongs to an extension that is not loaded here: do without it.", P(name));
    else
        advise_nearest(a);
}

#define MANUAL "https://www.php.net/manual/en/"

static const struct rule rules[] = {
    ADVISE("^ParseError: Unclosed '(.)'(?: on line (\\d+))?(?! does not)", CATEGORY_SYNTAX, 18,
           advise_unclosed),
    SAY("^ParseError: Unclosed '(.)' does not match", CATEGORY_SYNTAX, 0, 0.8,
        "The closing bracket does not fit the open one: correct one of them."),
    SAY("^ParseError: Unmatched '(.)'", CATEGORY_SYNTAX, 0, 0.85,
        "There is one `{1}` too many: remove it."),
    ADVISE("^ParseError: syntax error, unexpected end of file", CATEGORY_SYNTAX, 0, advise_brace),
    ADVISE("^ParseError", CATEGORY_SYNTAX, 0, advise_syntax),
    ADVISE("Undefined variable \\$(\\w+)", CATEGORY_NAME, 0, advise_variable,
           .docs = MANUAL "language.variables.basics.php"),
    ADVISE("Call to undefined function (?:\\w+\\\\)*(\\w+)\\(", CATEGORY_NAME, 0, advise_function,
           .names = functions),
    ADVISE("Call to undefined method [\\w\\\\]+::(\\w+)\\(", CATEGORY_NAME, 0, advise_nearest),
    ADVISE("(?:Class|Interface|Trait|Enum) \"(?:\\w+\\\\)*(\\w+)\" not found", CATEGORY_NAME, 0,
           advise_nearest, .names = classes),
    ADVISE("Undefined constant \"(\\w+)\"", CATEGORY_NAME, 0, advise_constant),
    ADVISE("Undefined property: [\\w\\\\]+::\\$(\\w+)", CATEGORY_NAME, 0, advise_nearest),
    SAY("Undefined (?:array key|index:?) (.+)", CATEGORY_INDEX, 0, 0.8,
        "The array has no {1}: test isset($array[{1}]), or give a default, $array[{1}] ?? "
        "'default'."),
    SAY("Undefined offset:? (\\d+)", CATEGORY_INDEX, 0, 0.8,
        "The array has no {1}: compare with count() first."),
    ADVISE("Call to a member function (\\w+)\\(\\) on null", CATEGORY_TYPE, 0, advise_null,
           .docs = MANUAL "language.oop5.basic.php#language.oop5.basic.nullsafe"),
    SAY("Call to a member function (\\w+)\\(\\) on (\\w+)", CATEGORY_TYPE, 0, 0.8,
        "A {2} has no methods: `{1}()` is for objects."),
    SAY("Attempt to read property \"(\\w+)\" on null", CATEGORY_TYPE, 0, 0.8,
        "The object is null: check it first, or write `?->{1}`."),
    SAY("(\\S+)\\(\\): Argument #(\\d+) \\((\\$\\w+)\\) must be of type (\\S+), (\\S+) given",
        CATEGORY_TYPE, 0, 0.85,
        "`{1}` takes {4} for {3}, and the call passes {5}: pass {4}, or convert it ((int), "
        "(string), ...).",
        .docs = MANUAL "language.types.declarations.php"),
    SAY("Return value must be of type (\\S+), (\\S+) returned", CATEGORY_TYPE, 0, 0.85,
        "The function is declared to return {1}, and it returned {2}: change one of them."),
    SAY("Too few arguments to function (\\S+)\\(\\), (\\d+) passed .* and (\\w+ \\d+) expected",
        CATEGORY_TYPE, 0, 0.85,
        "`{1}` takes {3} arguments, and the call has {2}: change the call."),
    SAY("Unsupported operand types: (\\w+) (\\S+) (\\w+)", CATEGORY_TYPE, 0, 0.8,
        "`{2}` does not work between {1} and {3}: use one element of it, count() or array_sum()."),
    SAY("Unsupported operand types: string (\\S+) int", CATEGORY_TYPE, 0, 0.8,
        "Convert the text first: (int) $text."),
    SAY("DivisionByZeroError|Division by zero|Modulo by zero", CATEGORY_VALUE, 15, 0.85,
        "The divisor is 0 on that line: check it before dividing."),
    ADVISE("Failed opening required '(.+?)'|require(?:_once)?\\((.+?)\\): Failed to open",
           CATEGORY_IMPORT, 0, advise_require),
    SAY("Cannot redeclare (\\S+)\\(\\)", CATEGORY_NAME, 0, 0.85,
        "`{1}` is defined twice: rename one, or include its file with require_once."),
    SAY("Allowed memory size of (\\d+) bytes exhausted", CATEGORY_RESOURCE, 0, 0.7,
        "The program needs more than {1} bytes: hold less at once, or look for an endless loop "
        "that adds data."),
    IS("Maximum execution time|Maximum call stack|Maximum function nesting", CATEGORY_RESOURCE),
    SAY("foreach\\(\\) argument must be of type array\\|object, (\\w+) given", CATEGORY_TYPE, 0,
        0.85, "foreach needs an array, and the value is {1}: check the function that returned it."),
    SAY("Cannot use object of type (\\S+) as array", CATEGORY_TYPE, 0, 0.85,
        "A {1} is an object: use ->name, or, for JSON, json_decode($text, true)."),
    SAY("Object of class (\\S+) could not be converted to string", CATEGORY_TYPE, 0, 0.85,
        "A {1} has no text form: give it a method __toString(), or print one of its properties."),
    SAY("Array to string conversion", CATEGORY_TYPE, 0, 0.8,
        "An array has no text form: print it with print_r, json_encode or implode."),
    SAY("Cannot access (private|protected) (?:property|method|const) (\\S+)", CATEGORY_TYPE, 0,
        0.85, "{2} is {1}: use a public method, or declare it public."),
    SAY("must not be accessed before initialization", CATEGORY_TYPE, 0, 0.8,
        "The property has no value yet: give it one in the constructor."),
    SAY("Non-static method (\\S+?)::(\\w+)\\(\\) cannot be called statically", CATEGORY_TYPE, 0,
        0.92,
        "`{2}` belongs to an object: make one first, (new {1}())->{2}(), or declare it `static`."),
    SAY("Cannot instantiate (abstract class|interface|trait|enum) (\\S+)", CATEGORY_TYPE, 0, 0.9,
        "{2} is an {1}: create an object of a class that extends or implements it."),
    SAY("Class (\\S+) contains \\d+ abstract methods? .*\\((.+?)\\)", CATEGORY_TYPE, 0, 0.9,
        "{1} must define {2}, or be abstract itself."),
    SAY("Cannot modify readonly property (\\S+)", CATEGORY_TYPE, 33, 0.92,
        "{1} is readonly and gets its value once, in the constructor: create a new object, or "
        "remove readonly."),
    SAY("Unknown named parameter \\$(\\w+)", CATEGORY_TYPE, 10, 0.9,
        "The function has no parameter ${1}: check its definition."),
    SAY("Cannot use positional argument after named argument", CATEGORY_SYNTAX, 10, 0.9,
        "Arguments with names come last: move the others before them."),
    SAY("^UnhandledMatchError", CATEGORY_VALUE, 0, 0.93,
        "No arm of the match fits the value: add one for it, or `default => ...`."),
    SAY("^JsonException", CATEGORY_VALUE, 27, 0.85,
        "The text is not JSON: names and strings need double quotes, there is no comma at the end, "
        "and the text is not empty. var_dump($text) shows it."),
    IS("^TypeError|^ArgumentCountError|must be compatible with|abstract method|Cannot "
       "instantiate|Non-static method",
       CATEGORY_TYPE),
    IS("^(?:ValueError|ArithmeticError|JsonException|UnhandledMatchError|DomainException|"
       "InvalidArgumentException|UnexpectedValueException|LengthException|RangeException)",
       CATEGORY_VALUE),
    IS("^(?:OutOfRangeException|OutOfBoundsException)", CATEGORY_INDEX),
    IS("^AssertionError", CATEGORY_ASSERTION),
    SAY("(?:file_get_contents|fopen|file|include)\\((\\S+)\\): Failed to open stream: No such file",
        CATEGORY_IO, 22, 0.8,
        "There is no file {1} in the jar: send it with the job, or write it first."),
    IS("Failed to open stream: Permission denied|Read-only file system", CATEGORY_PERMISSION),
    IS("Failed to open stream|failed to open", CATEGORY_IO),
    IS("getaddrinfo|php_network|Connection refused", CATEGORY_NETWORK),
    END_OF_RULES,
};

/* ---- reading ---- */

struct found {
    struct piece kind, message, file, line;
    struct piece after; /* the lines below */
};

/* The last error that ended the program, or else the last of any kind. */
static bool find_error(struct diagnoser *g, struct piece text, struct found *ret)
{
    struct piece rest = text, line;
    struct match m;
    bool any = false, fatal = false;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (!match(g,
                   "^(?:\\[[^\\]]*\\] )?(?:PHP )?((?:Fatal|Parse|Recoverable fatal|Compile) "
                   "error|Warning|Notice|Deprecated): +(.*)$",
                   line, &m))
            continue;
        bool ends = piece_has(m.group[0], "error");
        if (fatal && !ends)
            continue;
        fatal |= ends;
        any = true;
        *ret = (struct found){ .kind = m.group[0], .message = m.group[1], .after = rest };
    }
    return any;
}

static void read_calls(struct diagnoser *g, const struct diagnose_input *in, struct piece rest,
                       struct diagnosis *d)
{
    struct piece line;
    struct match m;
    while (next_line(&rest, &line) && !starts_with(line, "  thrown in"))
        if (match(g, "^#\\d+ (/?[^\\s(][^(]*)\\((\\d+)\\): (.*)$", line, &m))
            add_frame(in, d, m.group[0], m.group[1], NO_PIECE, m.group[2]);
}

/* "T: message in F:N", in one line or several. *ret_after becomes the text behind it. */
static bool read_thrown(struct diagnoser *g, const struct diagnose_input *in, struct piece head,
                        struct piece rest, struct cause *ret, struct piece *ret_after)
{
    struct match m, type;
    if (!match(g, "^(?:Uncaught |Next )?([A-Za-z_][\\w\\\\]*)(?:: (.*))?$", head, &type))
        return false;
    COPY(type.group[0], ret->type);
    struct piece line = type.group[1].at ? type.group[1] : NO_PIECE;
    ret->message[0] = '\0';
    for (unsigned n = 0; n < 20; n++) {
        bool last = match(g,
                          "^(.*?)(?:^|,? )(?:in|and defined in) (\\S+?\\.\\w+|php shell "
                          "code|Command line code|-):(\\d+)$",
                          line, &m);
        APPEND(ret->message, ret->message[0] ? "\n" : "", last ? m.group[0] : line);
        if (last) {
            (void)set_place(in, &ret->at, m.group[1], m.group[2], NO_PIECE);
            *ret_after = rest;
            return true;
        }
        if (!next_line(&rest, &line) || starts_with(line, "Stack trace:"))
            break;
    }
    *ret_after = rest;
    return true;
}

static void read_uncaught(struct diagnoser *g, const struct diagnose_input *in,
                          const struct found *f, struct diagnosis *d)
{
    struct cause thrown = { 0 };
    struct piece rest, line;
    if (!read_thrown(g, in, f->message, f->after, &thrown, &rest))
        return;
    struct piece calls = rest;
    while (next_line(&rest, &line) && !starts_with(line, "  thrown in")) {
        struct cause next = { 0 };
        if (!starts_with(line, "Next ") || !read_thrown(g, in, line, rest, &next, &calls))
            continue;
        /* The last exception ended the program; each before it caused the next. The nearest cause
         * goes first. */
        if (d->n_causes < DIAGNOSE_CAUSES) {
            memmove(&d->causes[1], &d->causes[0], d->n_causes * sizeof d->causes[0]);
            d->causes[0] = thrown;
            d->n_causes++;
        }
        thrown = next;
    }
    COPY(piece_of(thrown.type), d->type);
    COPY(piece_of(thrown.message), d->message);
    d->location = thrown.at;
    read_calls(g, in, calls, d);
}

static void read_plain(struct diagnoser *g, const struct diagnose_input *in, const struct found *f,
                       struct diagnosis *d)
{
    struct match m;
    bool parse = starts_with(f->kind, "Parse");
    COPY(parse ? PIECE("ParseError") : f->kind, d->type);
    if (match(g, "^(.*) in (\\S+) on line (\\d+)$", f->message, &m)) {
        COPY(m.group[0], d->message);
        (void)set_place(in, &d->location, m.group[1], m.group[2], NO_PIECE);
    } else {
        COPY(f->message, d->message);
    }
    if (!parse)
        return;
    if (match(g, "^Unclosed '.' on line (\\d+)", piece_of(d->message), &m))
        d->location.line = piece_number(m.group[0]);
    else if (match(g, "unexpected", piece_of(d->message), &m) &&
             !piece_has(piece_of(d->message), "end of file"))
        go_back_to_statement(in, d);
}

static bool read_php(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct found f;
    struct match m;
    struct piece printed = { in->printed, in->printed ? in->printed_len : 0 };
    if (!find_error(g, text_of(in), &f) && !find_error(g, printed, &f))
        return false;
    if (starts_with(f.message, "Uncaught "))
        read_uncaught(g, in, &f, d);
    else
        read_plain(g, in, &f, d);
    /* PHP reports a wrong call in the line of the function; the location is the call. */
    if (match(g, "(?:called|passed) in (\\S+) on line (\\d+)", piece_of(d->message), &m)) {
        (void)set_place(in, &d->location, m.group[0], m.group[1], NO_PIECE);
    }
    if (!classify(g, d, rules))
        d->category = CATEGORY_RUNTIME;
    return true;
}

static void advise_php(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    advise_by(g, in, d, rules);
    /* PHP's own classes: the manual has a page for each. */
    static const char *const own[] = {
        "Error",
        "TypeError",
        "ValueError",
        "ArithmeticError",
        "DivisionByZeroError",
        "ArgumentCountError",
        "ParseError",
        "AssertionError",
        "UnhandledMatchError",
        "JsonException",
        "Exception",
        "RuntimeException",
        "LogicException",
        "InvalidArgumentException",
        "DomainException",
        "LengthException",
        "OutOfRangeException",
        "OutOfBoundsException",
        "RangeException",
        "OverflowException",
        "UnderflowException",
        "UnexpectedValueException",
        "PDOException",
        NULL,
    };
    if (!d->docs[0] && piece_among(piece_of(d->type), own)) {
        char name[100];
        COPY(piece_of(d->type), name);
        for (char *c = name; *c; c++)
            *c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
        (void)snprintf(d->docs, sizeof d->docs, MANUAL "class.%s.php", name);
    }
}

const struct grammar grammar_php = { .name = "php", .read = read_php, .advise = advise_php };
