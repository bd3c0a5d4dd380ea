/* Rules for a line of JavaScript that cannot be read: its shape tells more than the message. Runs in:
 * keeper. */
#include "diagnose/node/node.h"

#include <string.h>

/* Not in a text or a comment. */
static bool is_code(struct piece line, size_t place)
{
    char quote = '\0';
    for (size_t i = 0; i < place && i < line.len; i++) {
        char c = piece_byte(line, i);
        if (quote && c == '\\')
            i++;
        else if (quote)
            quote = c == quote ? '\0' : quote;
        else if (c == '\'' || c == '"' || c == '`')
            quote = c;
        else if (c == '/' && i + 1 < line.len && piece_byte(line, i + 1) == '/')
            return false;
    }
    return quote == '\0';
}

/* function (x) { } as a statement: only an expression has no name. */
static void on_nameless(const struct advice *a)
{
    if (piece_has(a->message, "require a function name"))
        suggest(
            a->d, 3, 0.94,
            "A function that stands alone needs a name: function name(...) {. A function that is "
            "called at once stands in brackets, (function () { ... })();");
}

/* console.log("a" "b") */
static bool is_missing_comma(const struct advice *a)
{
    struct match m;
    if ((!piece_has(a->message, "missing )") && !piece_has(a->message, "Unexpected string")) ||
        !match(
            a->g,
            "^(.*(?:\"[^\"]*\"|'[^']*'|`[^`]*`|[\\w)\\]]))(\\s+(?:\"[^\"]*\"|'[^']*'|`[^`]*`).*)$",
            a->line, &m) ||
        match(a->g, "\\b(?:return|case|from|import|typeof|in|of|throw|else)$", m.group[0],
              &(struct match){ 0 }) ||
        match(a->g, "^\\s*\\w+$", m.group[0], &(struct match){ 0 }))
        return false;
    suggest(a->d, 18, 0.92, "A comma or a + is missing between two values in this line: add it.");
    suggest_replacement(a->d, "%.*s,%.*s", P(m.group[0]), P(m.group[1]));
    return true;
}

static void on_ternary(const struct advice *a)
{
    if (piece_has(a->message, "';'"))
        suggest(a->d, 17, 0.92,
                "The `:` of `test ? a : b` is missing: add it with the value for the other case.");
}

static void on_word_operator(const struct advice *a)
{
    struct match m;
    if (match(a->g, "identifier '(and|or|not)'", a->message, &m) ||
        match(a->g, "^\\s*(?:if|while)\\s*\\(.*\\b(and|or|not)\\b", a->line, &m))
        suggest(a->d, 17, 0.93, "The operators are `&&`, `||` and `!`: write %s for `%.*s`.",
                piece_is(m.group[0], "and")  ? "`&&`"
                : piece_is(m.group[0], "or") ? "`||`"
                                             : "`!`",
                P(m.group[0]));
}

/* else, catch and their like without the part before them. */
static bool is_orphan(const struct advice *a)
{
    struct match m;
    if (!match(a->g, "^Unexpected token '(else|catch|finally|case|default)'", a->message, &m))
        return false;
    bool branch = piece_is(m.group[0], "case") || piece_is(m.group[0], "default");
    bool of_if = piece_is(m.group[0], "else");
    suggest(a->d, 18, 0.9,
            "No open `%s` stands before this `%.*s`: check the brackets before it%s.",
            branch  ? "switch"
            : of_if ? "if"
                    : "try",
            P(m.group[0]), of_if ? "; a `;` or a second statement without { } ends the `if`" : "");
    return true;
}

/* class A { x = 1, y = 2 } and class A { function f() {} } */
static bool is_in_class_body(const struct advice *a)
{
    struct match m;
    if (match(a->g, "^\\s*(?:class\\b.*\\{\\s*)?(?:async\\s+)?function\\s+[\\w$]+\\s*\\(", a->line,
              &m) &&
        match(a->g, "^Unexpected identifier", a->message, &m)) {
        suggest(a->d, 17, 0.9,
                "A method has no word `function` before its name: in a class write `name(...) {`.");
        return true;
    }
    if (piece_has(a->message, "','") &&
        match(a->g, "\\bclass\\b.*\\{.*=.*,|^\\s*[\\w$#]+\\s*=[^=].*,\\s*$|^\\s*\\},\\s*$", a->line,
              &m)) {
        suggest(a->d, 17, 0.85,
                "Fields and methods of a class have no comma between them: end a field with `;`.");
        return true;
    }
    return false;
}

#include "diagnose/node_lines.rules.h" /* generated */

bool js_advise_by_line(const struct advice *a)
{
    size_t before = a->d->n_suggestions;
    return (rules_apply_to_line(a, js_line_rules, is_code) && a->d->n_suggestions > before) ||
           is_orphan(a) || is_in_class_body(a) || is_missing_comma(a);
}
