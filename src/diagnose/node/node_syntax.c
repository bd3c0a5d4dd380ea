/* Rules for JavaScript: syntax errors. Runs in: keeper. */
#include "diagnose/node/node.h"

#include <stdio.h>
#include <string.h>

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

static void on_missing_bracket(const struct advice *a)
{
    if (js_advise_by_line(a))
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

static void on_private(const struct advice *a)
{
    struct match m;
    if (match(a->g, "^\\s*#(?:include|define|!)|^\\s*# ", a->line, &m))
        suggest(a->d, 20, 0.92,
                "JavaScript has no lines with # at their begin: a comment begins with //.");
    else
        suggest(a->d, 32, 0.92,
                "%.*s is private: declare it in the class (`%.*s;`), and use it only inside; a "
                "public method gives its value to others.",
                P(a->m.group[0]), P(a->m.group[0]));
}

static void on_left_side(const struct advice *a)
{
    struct match m;
    if (js_advise_by_line(a))
        return;
    if (match(a->g, "^\\s*(?:if|while|else if|\\} else if)\\s*\\(", a->line, &m))
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
    if (js_advise_by_line(a))
        return;
    if (lacks_comma(a))
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

static void on_declared_twice(const struct advice *a)
{
    if (match(a->g, "^\\s*for\\s*\\([^;]*,[^;]*,[^;]*\\)", a->line, &(struct match){ 0 }) &&
        js_advise_by_line(a))
        return;
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
        if (match(a->g, "^\\s*(?:const|let|var|function|class)\\s+([\\w$]+)", line, &m) &&
            piece_same(m.group[0], a->m.group[0]) && i != a->d->location.line) {
            suggest(a->d, 33, 0.9,
                    "Line %u declares '%.*s' already: remove the second const or let, or use "
                    "another name.",
                    i, P(a->m.group[0]));
            return;
        }
    suggest(a->d, 33, 0.8,
            "'%.*s' is declared already: remove the second const or let, or use another name.",
            P(a->m.group[0]));
}

#include "diagnose/node_syntax.rules.h" /* generated */
