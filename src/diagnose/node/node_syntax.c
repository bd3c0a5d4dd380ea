/* Rules for JavaScript: syntax errors. Runs in: keeper. */
#include "diagnose/node/node.h"

#include <stdio.h>
#include <string.h>

enum { LINES_OF_OBJECT = 24 }; /* lines of an object above the location */

/* ---- syntax ---- */

uint32_t unclosed_bracket(const struct source_file *f, char *ret_bracket)
{
    enum { DEPTH = 256 };
    struct {
        char bracket;
        uint32_t line;
    } open[DEPTH];
    size_t depth = 0;
    uint32_t line = 1, quoted = 0;
    char quote = 0;
    for (size_t i = 0; f && i < f->len; i++) {
        char c = f->text[i], next = i + 1 < f->len ? f->text[i + 1] : 0;
        if (c == '\n') {
            line++;
            if (quote == '/' || quote == '"' || quote == '\'')
                quote = 0;
        } else if (quote == '*') {
            if (c == '*' && next == '/')
                quote = 0, i++;
        } else if (quote == '/') {
            continue;
        } else if (quote) {
            if (c == '\\')
                i++;
            else if (c == quote)
                quote = 0;
        } else if (c == '/' && (next == '/' || next == '*')) {
            quote = next;
            i++;
        } else if (c == '"' || c == '\'' || c == '`') {
            quote = c;
            quoted = line;
        } else if (c && strchr("([{", c) && depth < DEPTH) {
            open[depth].bracket = c;
            open[depth++].line = line;
        } else if (c && strchr(")]}", c) && depth > 0) {
            char opens = c == ')' ? '(' : c == ']' ? '[' : '{';
            if (open[depth - 1].bracket != opens)
                break; /* the innermost bracket has no partner */
            depth--;
        }
    }
    if (quote == '`') {
        *ret_bracket = quote;
        return quoted;
    }
    if (depth == 0)
        return 0;
    *ret_bracket = open[depth - 1].bracket;
    return open[depth - 1].line;
}

static bool not_a_program(const struct advice *a)
{
    struct match m;
    struct piece t = piece_trim(a->line);
    if (starts_with(t, "```")) {
        suggest(a->d, 20, 0.97,
                "Line %u is a Markdown fence, not JavaScript: remove the ``` lines.",
                a->d->location.line);
        return true;
    }
    if (match(a->g, "^[A-Z][\\w']*,?(?: [\\w',]+){2,}[.:!]?$", t, &m)) {
        suggest(a->d, 20, 0.93,
                "Line %u is prose, not JavaScript: remove it, or make it a comment with //.",
                a->d->location.line);
        suggest_replacement(a->d, "// %.*s", P(a->line));
        return true;
    }
    return false;
}

/* Two texts in backquotes, one after the other, are a call of the first. */
static void on_fence_call(const struct advice *a)
{
    (void)not_a_program(a);
}

static void on_end_of_input(const struct advice *a)
{
    char bracket;
    uint32_t line = unclosed_bracket(a->file, &bracket);
    uint32_t indented = line && bracket == '{' ? unclosed(a->file, '{', '}') : 0;
    if (indented && indented != line)
        suggest(a->d, 18, 0.92,
                "By the indentation, the '{' that opens in line %u is not closed: close it.",
                indented);
    else if (line)
        suggest(a->d, 18, 0.93, "The '%c' that opens in line %u is not closed: close it.", bracket,
                line);
    else
        suggest(a->d, 18, 0.7, "The file ends too early: close the open bracket or quote.");
}

/* `};` where `});` is needed: the '(' of a call is open. */
static bool closes_a_callback(const struct advice *a)
{
    char bracket = '\0';
    struct match m;
    uint32_t line = unclosed_bracket(a->file, &bracket);
    if (!line || bracket != '(' || line >= a->d->location.line ||
        !match(a->g, "^(\\s*[}\\]](?:,[^;()]*)?)\\s*(;?)\\s*$", a->line, &m))
        return false;
    suggest(a->d, 18, 0.94,
            "The '(' that opens in line %u is not closed: write `%.*s)` in line %u, which closes "
            "the call too.",
            line, P(piece_trim(m.group[0])), a->d->location.line);
    suggest_replacement(a->d, "%.*s)%.*s", P(m.group[0]), P(m.group[1]));
    return true;
}

static void on_missing_bracket(const struct advice *a)
{
    if (closes_a_callback(a) || js_advise_by_line(a))
        return;
    suggest(
        a->d, 18, 0.92,
        "A ')' is missing before the mark in line %u, or a comma between two arguments: add it.",
        a->d->location.line);
    struct piece t = piece_trim(a->line);
    long depth = 0;
    for (size_t i = 0; i < t.len; i++)
        depth += piece_byte(t, i) == '(' ? 1 : piece_byte(t, i) == ')' ? -1 : 0;
    bool semicolon = t.len > 0 && piece_last(t) == ';';
    size_t end = t.at ? piece_end(a->line, t) - semicolon : 0;
    if (depth == 1 && end > 0 && !strchr(",({", piece_byte(a->line, end - 1)))
        suggest_replacement(a->d, "%.*s)%s", P(piece_cut(a->line, end)), semicolon ? ";" : "");
}

/* A ' or " of the line has no partner. */
static bool has_open_quote(struct piece line)
{
    char quote = '\0';
    for (size_t i = 0; i < line.len; i++) {
        char c = piece_byte(line, i);
        if (quote && c == '\\')
            i++;
        else if (quote)
            quote = c == quote ? '\0' : quote;
        else if (c == '\'' || c == '"' || c == '`')
            quote = c;
    }
    return quote != '\0';
}

static void on_shape(const struct advice *a)
{
    (void)js_advise_by_line(a);
}

/* A class of the program declares the private name. */
static bool declares_private(const struct advice *a, struct piece name)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    while (next_line(&rest, &line))
        if (match(a->g,
                  "(?:^|[{};])\\s*(?:static\\s+|async\\s+|get\\s+|set\\s+|\\*\\s*)*(#[\\w$]+)\\s*(?"
                  ":[=;(]|$)",
                  line, &m) &&
            piece_same(m.group[0], name))
            return true;
    return false;
}

static void on_private(const struct advice *a)
{
    struct match m;
    if (match(a->g, "^\\s*#(?:include|define|!)|^\\s*# ", a->line, &m))
        suggest(a->d, 20, 0.92,
                "JavaScript has no lines with # at their begin: a comment begins with //.");
    else if (declares_private(a, a->m.group[0]))
        suggest(a->d, 32, 0.93,
                "%.*s is private and known only inside its class: add a public method or a getter, "
                "get %.*s() { ... }, "
                "and use that here.",
                P(a->m.group[0]), P(piece_skip(a->m.group[0], 1)));
    else
        suggest(a->d, 32, 0.93,
                "A private name is declared in the body of the class before it is used: add the "
                "line `%.*s;` there.",
                P(a->m.group[0]));
}

static void on_left_side(const struct advice *a)
{
    struct match m;
    if (js_advise_by_line(a))
        return;
    if (match(a->g, "\\?\\.[\\w$.\\[\\]?]+\\s*(?:[-+*/]?=)[^=>]", a->line, &m))
        suggest(
            a->d, 17, 0.94,
            "`?.` cannot stand on the left of `=`: test the object first, if (x) x.name = value.");
    else if (match(a->g, "^\\s*(?:if|while|else if|\\} else if)\\s*\\(", a->line, &m))
        suggest(a->d, 17, 0.9, "`=` assigns: write `===` to compare.");
    else
        suggest(
            a->d, 17, 0.85,
            "Only a variable or a property can stand on the left of `=`: swap the two sides, or "
            "write `===` to compare.");
}

static void on_invalid_token(const struct advice *a)
{
    if (not_a_program(a) || js_advise_by_line(a))
        return;
    if (piece_has(a->line, "\u201c") || piece_has(a->line, "\u201d") ||
        piece_has(a->line, "\u2018") || piece_has(a->line, "\u2019"))
        suggest(a->d, 20, 0.93, "The line has typographic quotes: write ' or \".");
    else if (piece_has(a->line, "#"))
        suggest(a->d, 20, 0.7, "A comment begins with // in JavaScript, not with #.");
    else if (has_open_quote(a->line))
        suggest(
            a->d, 18, 0.88,
            "The quote in line %u is not closed: close it, or use `...` for text of several lines.",
            a->d->location.line);
    else
        suggest(a->d, 18, 0.6,
                "JavaScript does not know a character in this line: check it at the mark.");
}

static void on_export(const struct advice *a)
{
    suggest(a->d, 30, 0.93,
            "`export` works only in modules: name the file .mjs, or write module.exports = ...");
}

/* `port: 8080` without a comma, and `debug: true` below it, in an object or a list. */
static bool lacks_comma(const struct advice *a)
{
    struct match m;
    struct piece before = source_line(a->file, a->d->location.line - 1);
    if (a->d->location.line < 2 ||
        !match(a->g, "^\\s*(?:[\\w$]+|'[^']*'|\"[^\"]*\")\\s*:|^\\s*['\"\\d]", a->line, &m) ||
        !match(a->g, "^(\\s*(?:[\\w$'\"-]+\\s*:)?.*[\\w'\"\\])}`])\\s*$", before, &m))
        return false;
    suggest(a->d, 18, 0.9, "A ',' is missing at the end of line %u: add it.",
            a->d->location.line - 1);
    suggest_replacement(a->d, "%.*s,", P(m.group[0]));
    return true;
}

/* `return` alone in a line, and the object in the lines below. */
static bool is_object_below_return(const struct advice *a)
{
    struct match m;
    for (uint32_t n = a->d->location.line; n > 1 && a->d->location.line - n < LINES_OF_OBJECT;
         n--) {
        struct piece line = source_line(a->file, n);
        if (match(a->g, "^\\s*return\\s*$", source_line(a->file, n - 1), &m) &&
            match(a->g, "^\\s*\\{", line, &m)) {
            suggest(a->d, 18, 0.94,
                    "The `return` in line %u stands alone, and JavaScript ends the statement "
                    "there: begin the object in "
                    "the same line, `return {`.",
                    n - 1);
            char file[sizeof a->d->location.file];
            COPY(piece_of(a->d->location.file), file);
            set_location(a->d, file, n - 1);
            struct piece alone = source_line(a->file, n - 1);
            suggest_replacement(a->d, "%.*s {", P(piece_trim_end(alone)));
            return true;
        }
        if (!match(a->g,
                   "^\\s*(?:[\\w$]+|'[^']*'|\"[^\"]*\"|\\[.*\\])\\s*(?::.*)?,?\\s*$|^\\s*\\{\\s*$|^"
                   "\\s*[\\w$]+:",
                   line, &m))
            return false;
    }
    return false;
}

/* (x) => { key: value, other: value }: braces begin a block. */
static bool is_object_of_arrow(const struct advice *a)
{
    struct match m;
    if (match(a->g, "^(.*=>\\s*)(\\{[^{}]*:[^{}]*\\})(.*)$", a->line, &m)) {
        suggest(a->d, 18, 0.94,
                "After `=>` a `{` begins a block, not an object: put the object in round brackets, "
                "=> ({ ... }).");
        suggest_replacement(a->d, "%.*s(%.*s)%.*s", P(m.group[0]), P(m.group[1]), P(m.group[2]));
        return true;
    }
    for (uint32_t n = a->d->location.line; n > 0 && a->d->location.line - n < LINES_OF_OBJECT;
         n--) {
        struct piece line = source_line(a->file, n);
        if (match(a->g, "=>\\s*\\{", line, &m)) {
            suggest(a->d, 18, 0.93,
                    "After `=>` in line %u a `{` begins a block, not an object: put the object in "
                    "round brackets, => "
                    "({ ... }), or write return { ... }.",
                    n);
            return true;
        }
        if (n < a->d->location.line &&
            !match(a->g, "^\\s*(?:[\\w$]+|'[^']*'|\"[^\"]*\"|\\[.*\\])\\s*(?::.*)?,\\s*$", line,
                   &m))
            return false;
    }
    return false;
}

/* The brackets of the line itself do not fit. */
static bool has_one_too_many(const struct advice *a, char close)
{
    char open = close == ')' ? '(' : close == ']' ? '[' : '{';
    struct piece rest = text_of_source(a->file), line;
    long depth = 0, here = 0;
    if (close != '}') {
        for (size_t i = 0; i < a->line.len; i++) {
            char c = piece_byte(a->line, i);
            here += c == open ? 1 : c == close ? -1 : 0;
        }
        if (here >= 0)
            return false;
        suggest(a->d, 18, 0.9, "Line %u has one '%c' too many: remove it.", a->d->location.line,
                close);
        return true;
    }
    for (uint32_t n = 1; n <= a->d->location.line && next_line(&rest, &line); n++)
        for (size_t i = 0; i < line.len; i++)
            depth += piece_byte(line, i) == '{' ? 1 : piece_byte(line, i) == '}' ? -1 : 0;
    if (depth >= 0)
        return false;
    suggest(a->d, 18, 0.9,
            "There is one '}' too many before or in line %u: remove it, where the indentation does "
            "not fit.",
            a->d->location.line);
    return true;
}

/* Words and operators that JavaScript writes in another way, by the token that was not expected. */
static bool is_other_form(const struct advice *a, struct piece token)
{
    struct match m;
    if (piece_is(token, "=>") && match(a->g, "\\bfunction\\b", a->line, &m)) {
        suggest(a->d, 17, 0.94,
                "`function` and `=>` exclude each other: write function name(a, b) { ... }, or "
                "const name = "
                "(a, b) => ....");
        return true;
    }
    if (piece_is(token, ">") && match(a->g, "^(.*\\)|.*\\w)\\s*->(.*)$", a->line, &m)) {
        suggest(a->d, 17, 0.94, "The arrow of a function is `=>`.");
        suggest_replacement(a->d, "%.*s =>%.*s", P(m.group[0]), P(m.group[1]));
        return true;
    }
    if (piece_is(token, "{") && match(a->g, "\\belse\\s*\\(", a->line, &m)) {
        suggest(a->d, 17, 0.94, "`else` takes no condition: write `else if (...) {`.");
        (void)suggest_swap(a->in, a->d, piece_of("else"), "else if");
        return true;
    }
    if (piece_is(token, ";") &&
        match(a->g, "^(\\s*(?:[\\w$]+|'[^']*'|\"[^\"]*\")\\s*:.*);\\s*$", a->line, &m)) {
        suggest(a->d, 17, 0.92, "The entries of an object have a `,` between them, not a `;`.");
        suggest_replacement(a->d, "%.*s,", P(m.group[0]));
        return true;
    }
    if (piece_is(token, ",") &&
        match(a->g, "^(\\s*[\\w$#].*\\}),\\s*$|^(\\s*\\}),\\s*$", a->line, &m)) {
        suggest(a->d, 17, 0.9, "The methods of a class have no comma between them: remove it.");
        suggest_replacement(a->d, "%.*s", P(m.group[0].at ? m.group[0] : m.group[1]));
        return true;
    }
    if (starts_with(token, "identifier") && indent_of(a->line) > 0 &&
        match(a->g, "^\\s*(const|let|var)\\s+[\\w$]+", a->line, &m) &&
        match(a->g, "\\bclass\\b|^\\s*\\}\\s*$|;\\s*$",
              source_line(a->file, a->d->location.line - 1), &(struct match){ 0 })) {
        suggest(a->d, 17, 0.92,
                "A field of a class has no word `%.*s` before its name: write name = value;",
                P(m.group[0]));
        if (match(a->g, "^(\\s*)\\w+\\s+(.*)$", a->line, &m))
            suggest_replacement(a->d, "%.*s%.*s", P(m.group[0]), P(m.group[1]));
        return true;
    }
    return false;
}

/* `await` or `for await` in a function without async. */
static void on_await(const struct advice *a)
{
    struct match m;
    for (uint32_t n = a->d->location.line; n > 0 && a->d->location.line - n < LINES_NEAR; n--) {
        struct piece line = source_line(a->file, n);
        if (n < a->d->location.line && indent_of(line) >= indent_of(a->line))
            continue;
        if (match(a->g, "\\b(?:if|for|while|switch|catch)\\s*\\(", line, &m) &&
            !piece_has(line, "=>"))
            continue;
        if (match(a->g,
                  "^(.*\\.(forEach|map|filter|reduce|some|every|then|on|find)\\(\\s*)((?:\\(.*?\\)|"
                  "[\\w$]+)\\s*=>.*|function\\b.*)$",
                  line, &m)) {
            bool each = piece_is(m.group[1], "forEach");
            suggest(
                a->d, 26, 0.94,
                "The callback of %.*s() in line %u is not async, so `await` cannot stand in it: "
                "write `async` before "
                "it%s.",
                P(m.group[1]), n,
                each
                    ? "; a loop for (const x of ...) in the async function around it waits for each"
                : piece_is(m.group[1], "map")
                    ? ", and wait for the results with await Promise.all(...)"
                    : "");
            if (n == a->d->location.line)
                suggest_replacement(a->d, "%.*sasync %.*s", P(m.group[0]), P(m.group[2]));
            return;
        }
        if (match(a->g,
                  "\\bfunction\\s*\\*?\\s*([\\w$]*)\\s*\\(|(?:const|let|var)\\s+([\\w$]+)\\s*=\\s*"
                  "\\(?.*=>|^\\s*(?:static\\s+)?([\\w$#]+)\\s*\\([^()]*\\)\\s*\\{|(=>)",
                  line, &m)) {
            if (piece_has(line, "async "))
                continue;
            struct piece name = m.group[0].len  ? m.group[0]
                                : m.group[1].at ? m.group[1]
                                                : m.group[2];
            suggest(a->d, 26, 0.94,
                    "`await` works only in an async function, and %s%.*s%s (line %u) is not async: "
                    "write `async` before %s.",
                    name.at ? "" : "the function", P(name), name.at ? "()" : "", n,
                    m.group[2].at                    ? "its name"
                    : m.group[1].at || m.group[3].at ? "its parameters"
                                                     : "`function`");
            return;
        }
    }
    suggest(a->d, 26, 0.92,
            "`await` works only inside an async function (or at the top of a module, .mjs): write "
            "`async` before the "
            "function.");
}

static void on_unexpected(const struct advice *a)
{
    struct match m;
    char bracket;
    struct piece token = a->m.group[0];
    if (not_a_program(a))
        return;
    if (piece_is(token, "export")) {
        on_export(a);
        return;
    }
    if (piece_is(token, ":") && (is_object_below_return(a) || is_object_of_arrow(a)))
        return;
    if (is_other_form(a, token) || js_advise_by_line(a))
        return;
    if (piece_is(token, "reserved word") && has_word(a->line, piece_of("await"))) {
        on_await(a);
        return;
    }
    if (lacks_comma(a))
        return;
    if (token.len == 1 &&
        (piece_byte(token, 0) == '}' || piece_byte(token, 0) == ')' ||
         piece_byte(token, 0) == ']') &&
        has_one_too_many(a, piece_byte(token, 0)))
        return;
    uint32_t line = unclosed_bracket(a->file, &bracket);
    if (match(a->g, "[-+*/%=,(]\\s*$|\\.\\.\\.$",
              piece_trim_end(piece_before(a->line, a->d->location.column)), &m) &&
        piece_at(a->line, a->d->location.column) != '{' && token.len == 1)
        suggest(a->d, 18, 0.88, "A value is missing before the '%.*s' in line %u: add it.",
                P(token), a->d->location.line);
    else if (piece_is(token, "}") || piece_is(token, ")") || piece_is(token, "]"))
        suggest(a->d, 18, 0.8,
                "No open bracket fits '%.*s' here: remove it, or close the bracket before it.",
                P(token));
    else if (line)
        suggest(a->d, 18, 0.85, "The '%c' that opens in line %u is not closed: close it.", bracket,
                line);
    else if (piece_is(token, "identifier") || starts_with(token, "identifier") ||
             starts_with(token, "string") || starts_with(token, "number"))
        suggest(a->d, 18, 0.75,
                "A comma, an operator, a quote or a bracket is missing before it: add it.");
    else
        suggest(a->d, 18, 0.6,
                "JavaScript did not expect '%.*s' here: check the code just before the mark.",
                P(token));
}

/* The nearest line above that declares the name in the same block, as far as the indentation shows it. */
static uint32_t declared_above(const struct advice *a, struct piece name, struct match *ret)
{
    uint32_t here = a->d->location.line;
    for (uint32_t i = here; i-- > 1 && here - i < LINES_SEEN / 8;) {
        struct piece line = source_line(a->file, i);
        if (match(a->g, "^\\s*(?:export\\s+)?(const|let|var|function|class)\\s+([\\w$]+)", line,
                  ret) &&
            piece_same(ret->group[1], name) && indent_of(line) == indent_of(a->line))
            return i;
    }
    return 0;
}

/* A `case` stands between the two lines, so both are in the block of one switch. */
static bool is_other_case(const struct advice *a, uint32_t above)
{
    struct match m;
    for (uint32_t i = above + 1; i < a->d->location.line; i++) {
        struct piece line = source_line(a->file, i);
        if (piece_trim(line).len > 0 && indent_of(line) < indent_of(a->line))
            return match(a->g, "^\\s*(?:case\\b.*|default\\s*):\\s*(?://.*)?$", line, &m);
    }
    return false;
}

/* function f(name) { const name = ...: the line of the parameter; 0 when there is no such one. */
static uint32_t parameter_above(const struct advice *a, struct piece name)
{
    uint32_t here = a->d->location.line;
    struct match m;
    for (uint32_t i = here; i-- > 1 && here - i < LINES_NEAR;) {
        struct piece line = source_line(a->file, i);
        if (piece_trim(line).len == 0 || indent_of(line) >= indent_of(a->line))
            continue;
        return match(a->g, "\\(([^()]*)\\)\\s*(?:=>\\s*)?\\{\\s*$", line, &m) &&
                       !match(a->g, "\\b(?:if|for|while|switch)\\s*\\(", line,
                              &(struct match){ 0 }) &&
                       has_word(m.group[0], name)
                   ? i
                   : 0;
    }
    return 0;
}

static void on_declared_twice(const struct advice *a)
{
    struct match m;
    struct piece name = a->m.group[0];
    if (match(a->g, "^\\s*for\\s*\\([^;]*,[^;]*,[^;]*\\)", a->line, &m) && js_advise_by_line(a))
        return;
    uint32_t parameter = parameter_above(a, name), above = declared_above(a, name, &m);
    if (above && is_other_case(a, above))
        suggest(a->d, 33, 0.94,
                "All cases of a switch are one block, and line %u declares '%.*s' in it already: "
                "put the lines of each case in braces, case x: { ... }, or use another name.",
                above, P(name));
    else if (parameter)
        suggest(a->d, 33, 0.93,
                "'%.*s' is a parameter of the function (line %u): remove the word const or let "
                "here, or use another name.",
                P(name), parameter);
    else if (above && (piece_is(m.group[0], "let") || piece_is(m.group[0], "var")) &&
             match(a->g, "^\\s*(?:const|let|var)\\b", a->line, &(struct match){ 0 }))
        suggest(a->d, 33, 0.9,
                "Line %u declares '%.*s' already: remove the word before the name here, or use "
                "another name.",
                above, P(name));
    else if (above)
        suggest(a->d, 33, 0.9,
                "Line %u declares '%.*s' already, with %.*s: use another name for one of the two.",
                above, P(name), P(m.group[0]));
    else
        suggest(a->d, 33, 0.8,
                "'%.*s' is declared already in this block or imported: use another name here.",
                P(name));
}

/* `continue`, `break` or `return` where it ends nothing; a callback of forEach() is no loop. */
static void on_illegal(const struct advice *a)
{
    struct piece word = a->m.group[0];
    struct match m;
    uint32_t here = a->d->location.line;
    size_t indent = indent_of(a->line);
    bool leaves_loop = !piece_is(word, "return");
    for (uint32_t n = here; leaves_loop && n > 0 && here - n < LINES_NEAR; n--) {
        struct piece line = source_line(a->file, n);
        if (n < here && (piece_trim(line).len == 0 || indent_of(line) >= indent))
            continue;
        indent = indent_of(line);
        if (!match(a->g,
                   "\\.(forEach|map|filter|some|every|reduce|flatMap)\\(.*(?:=>\\s*\\{|function\\b["
                   "^{]*\\{)",
                   line, &m))
            continue;
        bool next = piece_is(word, "continue");
        suggest(a->d, 17, 0.94, "The callback of %.*s() in line %u is a function, not a loop: %s",
                P(m.group[0]), n,
                next && piece_is(m.group[0], "forEach")
                    ? "`return` goes on to the next item, or write a loop, for (const x of items)."
                : next ? "`return` with the value for this item ends the call for it."
                       : "write a loop, for (const x of items), which `break` can end.");
        if (next && piece_is(m.group[0], "forEach"))
            (void)suggest_swap(a->in, a->d, word, "return");
        return;
    }
    suggest(a->d, 17, 0.9, "`%.*s` stands outside of a %s: move it into one, or remove it.",
            P(word),
            leaves_loop ? piece_is(word, "break") ? "loop or switch" : "loop" : "function");
}

#include "diagnose/node_syntax.rules.h" /* generated */
