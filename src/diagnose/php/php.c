/* PHP: reads and explains errors that it logs, or displays on stdout. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/core/rules.h"
#include "diagnose/php.words.h" /* generated */

/* ---- the rules ---- */

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
    if (piece_is(name, "PI") || piece_is(name, "INF") || piece_is(name, "True") ||
        piece_is(name, "None") || piece_is(name, "nil")) {
        suggest(a->d, 0, 0.93, "In PHP it is %s.",
                piece_is(name, "PI")     ? "M_PI, or pi()"
                : piece_is(name, "True") ? "true"
                                         : "null");
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

/* A quote that is never closed, or a brace. */
static void advise_end(const struct advice *a)
{
    uint32_t opened = open_quote_before(a->file, '"', a->d->location.line + 1);
    if (!opened)
        opened = open_quote_before(a->file, '\'', a->d->location.line + 1);
    if (opened)
        suggest(a->d, 18, 0.9, "A quote that opens in line %u is not closed: close it.", opened);
    else
        advise_brace(a);
}

/* A line of another language. */
static bool advise_shape(const struct advice *a)
{
    static const struct {
        const char *pattern, *text;
    } shapes[] = {
        { "^\\s*(?:let|var|const)\\s+\\$", "PHP has no declarations: write `$name = value;`." },
        { "^\\s*def\\s+\\w+", "A function is defined with `function name() {`." },
        { "^\\s*(?:\\}\\s*)?elif\\b", "In PHP the word is `elseif`." },
        { "^\\s*(?:let|var)\\s+\\w+\\s*=",
          "A variable begins with a dollar sign: `$name = value;`." },
        { "^\\s*import\\s",
          "A file is loaded with `require \"name.php\";`, a class is named with `use`." },
        { "^\\s*print\\s+.*%", "Texts are formatted with printf(\"%s\", $x)." },
        { "\\bconsole\\.log\\b", "In PHP it is echo, or var_dump()." },
        { "^```", "The line is a Markdown fence, not PHP: remove the ``` lines." },
        { "^\\s*for\\s*\\(?\\s*\\$?\\w+\\s+in\\b",
          "A loop over values is `foreach ($items as $item) {`." },
        { "^\\s*(?:str|int|float|string|bool)\\s+\\$\\w+\\s*=",
          "A local variable has no type: write `$name = "
          "value;`." },
    };
    struct match m;
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
        if (match(a->g, shapes[i].pattern, a->line, &m)) {
            suggest(a->d, 17, 0.92, "%s", shapes[i].text);
            return true;
        }
    return false;
}

/* A method that the class does not define. */
static void advise_method(const struct advice *a)
{
    struct piece class = piece_last_part(a->m.group[0]), name = a->m.group[1];
    char best[128];
    if (similar_name(a->in, name, NULL, best, sizeof best)) {
        suggest(a->d, 0, 0.85, "Did you mean `%s`? There is no method `%.*s`.", best, P(name));
        (void)suggest_swap(a->in, a->d, name, best);
    } else {
        suggest(a->d, 0, 0.8,
                "The class %.*s defines no method `%.*s`: define it there, or check its name.",
                P(class), P(name));
    }
}

/* Unsupported operand types: string + int */
static void advise_operands(const struct advice *a)
{
    struct piece operator= a->m.group[1];
    struct match m;
    bool text = match(a->g, "[\"'][^\"']*[A-Za-z:!,][^\"']*[\"']", a->line, &m);
    if (piece_is(operator, "+") && text) {
        suggest(
            a->d, 11, 0.93,
            "`+` adds numbers, and texts are joined with a dot: write `.` in place of the `+`.");
        if (match(a->g, "^([^+]*[\"'\\w)\\]] )\\+( [^+=]*)$", a->line, &m))
            suggest_replacement(a->d, "%.*s.%.*s", P(m.group[0]), P(m.group[1]));
    } else if (piece_is(operator, "+")) {
        suggest(a->d, 11, 0.9,
                "One of the two is a text that is no number: join texts with a dot, $a . $b; (int) "
                "$text makes a number of a "
                "text with digits.");
    } else {
        suggest(a->d, 11, 0.9,
                "`%.*s` needs numbers, and one of the two is a text: convert it first, (int) $text "
                "or (float) $text.",
                P(operator));
    }
}

/* f(): Argument #1 ($x) must be of type int, string given */
static void advise_argument(const struct advice *a)
{
    struct piece function = a->m.group[0], name = a->m.group[2], wanted = a->m.group[3],
                 given = a->m.group[4];
    const char *way = piece_is(wanted, "int")      ? "(int) $value or intval($value)"
                      : piece_is(wanted, "float")  ? "(float) $value"
                      : piece_is(wanted, "string") ? "(string) $value"
                      : piece_is(wanted, "array") && piece_is(given, "string")
                          ? "explode(\",\", $text), or [$value]"
                          : NULL;
    if (piece_is(given, "null"))
        suggest(a->d, 28, 0.9,
                "`%.*s` takes %.*s for %.*s, and the value is null: test it first, give a default "
                "with ??, or declare the "
                "parameter ?%.*s.",
                P(function), P(wanted), P(name), P(wanted));
    else if (way && !piece_is(given, "array"))
        suggest(a->d, 11, 0.92,
                "`%.*s` takes %.*s for %.*s, and the call passes %.*s: convert it, %s.",
                P(function), P(wanted), P(name), P(given), way);
    else
        suggest(a->d, 11, 0.85, "`%.*s` takes %.*s for %.*s, and the call passes %.*s: pass %.*s.",
                P(function), P(wanted), P(name), P(given), P(wanted));
}

/* Forms that other languages have, and a bracket that the line above does not close. */
static bool is_other_form(const struct advice *a)
{
    const struct source_file *f = a->file;
    struct piece line = a->line;
    struct match c;
    if (match(a->g, "\"[^\"]*\\$\\w+\\['\\w+'\\]", line, &c) &&
        piece_has(a->message, "string content")) {
        suggest(a->d, 18, 0.94, "In a text a key in quotes needs braces: \"{$x['key']}\".");
        return true;
    }
    if (match(a->g, "\\b(elif|elsif)\\b", line, &c)) {
        suggest(a->d, 17, 0.94, "In PHP the word is `elseif`.");
        (void)suggest_swap(a->in, a->d, c.group[0], "elseif");
        return true;
    }
    if (match(a->g, "\\bforeach\\s*\\(.*\\bas\\s+(?:\\w+\\s*=>\\s*)?(\\w+)\\s*\\)", line, &c)) {
        suggest(a->d, 3, 0.94, "A variable begins with a dollar sign: `as $%.*s`.", P(c.group[0]));
        return true;
    }
    if (match(a->g, "'[^']*\\w'\\w+", line, &c) && piece_has(a->message, "unexpected identifier")) {
        suggest(a->d, 18, 0.92,
                "The apostrophe ends the text: put the text in double quotes, or write \\'.");
        return true;
    }
    if (match(a->g, "^\\s*(?:if|while|for|foreach|switch)\\s*\\(",
              source_line(f, a->d->location.line - 1), &c)) {
        long open = 0;
        struct piece above = source_line(f, a->d->location.line - 1);
        for (size_t i = 0; i < above.len; i++)
            open += piece_byte(above, i) == '(' ? 1 : piece_byte(above, i) == ')' ? -1 : 0;
        if (open > 0) {
            suggest(a->d, 18, 0.92, "A `(` in line %u is not closed: add `)`.",
                    a->d->location.line - 1);
            return true;
        }
    }
    return false;
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
        depth += piece_byte(line, i) == '(' ? 1 : piece_byte(line, i) == ')' ? -1 : 0;
    if (depth > 0 && piece_has(a->message, "unexpected token \"{\"") &&
        match(a->g, "^(.*?) *\\{(.*)$", line, &c)) {
        suggest(a->d, 18, 0.92, "A `(` on this line is not closed before the `{`: add `)`.");
        suggest_replacement(a->d, "%.*s) {%.*s", P(c.group[0]), P(c.group[1]));
        return;
    }
    if (is_other_form(a))
        return;
    if (advise_shape(a))
        return;
    if (match(a->g, "expecting \"([\\])])\"", a->message, &c)) {
        suggest(a->d, 18, 0.9, "A `%s` is missing before this place, or a comma: add it.",
                piece_is(c.group[0], "]") ? "]" : ")");
        return;
    }
    advise_semicolon(a);
    if (a->d->n_suggestions == 0 && match(a->g, "expecting (.*)$", a->message, &c))
        suggest(a->d, 0, 0.6, "PHP expects %.*s there: add it.", P(c.group[0]));
}

static void advise_function(const struct advice *a)
{
    struct piece name = a->m.group[0];
    struct match c;
    for (size_t i = 0; removed[i].word; i++)
        if (match(a->g, removed[i].word, name, &c)) {
            suggest(a->d, 0, 0.93, "`%.*s` was removed from PHP: use %s.", P(name),
                    removed[i].text);
            return;
        }
    const char *here = text_for(foreign_functions, name);
    if (here) {
        suggest(a->d, 0, 0.94, "PHP has no function `%.*s`: %s.", P(name), here);
        return;
    }
    char method[140];
    (void)snprintf(method, sizeof method, "function %.*s(", P(piece_cut(name, 100)));
    if (piece_has(text_of_source(a->file), method) &&
        match_text(a->g, "^\\s*(?:abstract |final )?class\\s", text_of_source(a->file), &c)) {
        bool joined = match(a->g, "\\$\\w+\\.\\w+\\(", a->line, &c);
        suggest(a->d, 0, 0.93,
                "`%.*s` is a method of a class: call it on its object, %s->%.*s(...).", P(name),
                joined ? "$object" : "$this", P(name));
        return;
    }
    if (match(a->g, "^(mb|curl|imagecreate|bcadd|bcmul|gmp|simplexml|intl|mysqli|pg|sodium)(?:_|$)",
              name, &c))
        suggest(a->d, 0, 0.7,
                "`%.*s` belongs to an extension that is not loaded here: do without it.", P(name));
    else
        advise_nearest(a);
    if (a->d->n_suggestions == 0)
        suggest(a->d, 0, 0.6,
                "PHP has no function `%.*s`, and no file of the job defines it: correct its name, "
                "define it, or include its file.",
                P(name));
}

#define MANUAL "https://www.php.net/manual/en/"

#include "diagnose/php.rules.h" /* generated */

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
    /* A handler of errors throws PHP's own warning: PHP called it at the place of the error. */
    struct match m;
    if (strcmp(d->type, "ErrorException") == 0 && d->n_frames > 0 && d->frames[0].user &&
        match(
            g,
            "^(?:Undefined (?:variable|array|property|index|offset)|Attempt to|Trying to|Array to "
            "string|Uninitialized|Only variable|Implicit conv|Creation of dyn|\\w+\\(\\): )",
            piece_of(d->message), &m))
        d->location = d->frames[0].at;
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

/* A line of Laravel's log: production.ERROR: ... [object] (Error(code: 0): MESSAGE at FILE:LINE) */
static bool read_laravel(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct match m;
    if (!match_text(g,
                    "\\.(?:ERROR|CRITICAL|EMERGENCY|ALERT): .*\\[object\\] "
                    "\\(([\\w\\\\]+)\\(code: [^)]*\\): (.*) at (\\S+\\.php):(\\d+)\\)",
                    text_of(in), &m))
        return false;
    COPY(m.group[0], d->type);
    COPY(m.group[1], d->message);
    (void)set_place(in, &d->location, m.group[2], m.group[3], NO_PIECE);
    if (!classify(g, d, rules))
        d->category = CATEGORY_RUNTIME;
    return true;
}

static bool read_php(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct found f;
    struct match m;
    if (!find_error(g, text_of(in), &f) && !find_error(g, text_printed(in), &f))
        return read_laravel(g, in, d);
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
    if (!d->docs[0] && piece_among(piece_of(d->type), own)) {
        char name[100];
        COPY(piece_of(d->type), name);
        for (char *c = name; *c; c++)
            *c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
        (void)snprintf(d->docs, sizeof d->docs, MANUAL "class.%s.php", name);
    }
}

const struct grammar grammar_php = { .name = "php", .read = read_php, .advise = advise_php };
