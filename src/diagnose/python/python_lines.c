/* Rules for a line that Python cannot read: the shape of the line tells more than the message, which is
 * `invalid syntax` for most of them. Runs in: keeper. */
#include <string.h>

#include "diagnose/python/python.h"

#include "diagnose/python_lines.rules.h" /* generated */

/* Not in a text or a comment. A text of several lines is not known here. */
static bool is_code(struct piece line, size_t place)
{
    char quote = '\0';
    for (size_t i = 0; i < place && i < line.len; i++) {
        char c = piece_byte(line, i);
        if (quote && c == '\\')
            i++;
        else if (quote)
            quote = c == quote ? '\0' : quote;
        else if (c == '\'' || c == '"')
            quote = c;
        else if (c == '#')
            return false;
    }
    return quote == '\0';
}

/* The mark is at the first word of the line: Python expects none of these words there. */
static bool is_orphan(const struct advice *a)
{
    struct match m, before;
    if (a->d->location.column != indent_of(a->line) + 1 ||
        !match(a->g, "^\\s*(else|elif|except|finally)\\b", a->line, &m))
        return false;
    bool of_try = piece_is(m.group[0], "except") || piece_is(m.group[0], "finally");
    uint32_t above = a->d->location.line;
    struct piece line = NO_PIECE;
    for (unsigned n = 0; n < LINES_NEAR && above > 1; n++) {
        line = source_line(a->file, --above);
        if (piece_trim(line).len > 0 && indent_of(line) <= indent_of(a->line))
            break;
    }
    if (!of_try && match(a->g, "^\\s*else\\b", line, &before) &&
        indent_of(line) == indent_of(a->line))
        suggest(a->d, 19, 0.92,
                "The `else:` in line %u is the last part of its `if`: move this `%.*s` before it.",
                above, P(m.group[0]));
    else if (indent_of(line) == indent_of(a->line) && piece_trim(line).len > 0)
        suggest(a->d, 19, 0.9,
                "Line %u stands between this `%.*s` and the `%s` that it belongs to, or there is "
                "none: indent that line, or add the `%s`.",
                above, P(m.group[0]), of_try ? "try:" : "if", of_try ? "try:" : "if");
    else
        suggest(a->d, 19, 0.9,
                "No `%s` with the same indentation stands before this `%.*s`: align it with its "
                "own, or add one.",
                of_try ? "try:" : "if", P(m.group[0]));
    return true;
}

static const char *const keywords[] = { "def",    "class",  "if",       "elif",   "else",
                                        "for",    "while",  "try",      "except", "finally",
                                        "with",   "return", "import",   "from",   "raise",
                                        "pass",   "break",  "continue", "lambda", "global",
                                        "assert", "yield",  "print",    NULL };

/* The first word of the line is a keyword with a slip, or in capitals: "Def", "whiel", "esle:". */
static bool is_misspelt(const struct advice *a)
{
    struct match m;
    char lower[16];
    if (!match(a->g, "^\\s*([A-Za-z]{2,9})(?: +[\\w(\\[\"'*]|\\s*:)", a->line, &m) ||
        piece_among(m.group[0], keywords) || match(a->g, "^\\s*\\w+ *=[^=]", a->line, &m))
        return false;
    COPY(m.group[0], lower);
    for (char *c = lower; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
    struct similar s = { .name = piece_of(lower) };
    bool capital = piece_among(piece_of(lower), keywords);
    if (!capital && has_word(a->line, PIECE("import")))
        similar_try(&s, PIECE("from")); /* "fro os import path" is as near to `for` */
    if (!capital && !s.best[0])
        similar_try_list(&s, keywords);
    if (!capital && (!s.best[0] || s.distance > 1 + (strlen(lower) > 4)))
        return false;
    suggest(a->d, 0, capital ? 0.95 : 0.9,
            capital ? "Python's keywords are in lower case: write `%s`." : "Did you mean `%s`?",
            capital ? lower : s.best);
    (void)suggest_swap(a->in, a->d, m.group[0], capital ? lower : s.best);
    return true;
}

/* Only a function or a class stands below a decorator. */
static bool is_decorated(const struct advice *a)
{
    struct match m;
    struct piece before = NO_PIECE;
    uint32_t line = a->d->location.line;
    for (unsigned n = 0; n < BLANKS_NEAR && line > 1 && piece_trim(before).len == 0; n++)
        before = source_line(a->file, --line);
    if (!match(a->g, "^\\s*@(\\w[\\w.]*)", before, &m))
        return false;
    struct piece decorator = m.group[0];
    if (match(a->g, "^\\s*(?:@|def\\b|class\\b|async\\b)", a->line, &m))
        return false;
    suggest(a->d, 0, 0.93,
            "The decorator `@%.*s` in line %u stands above a `def` or a `class`, and this line is "
            "neither: move it, or remove it.",
            P(decorator), line);
    return true;
}

/* "It's a "quoted" word": the inner quotes end the text, and a word stands beside it. */
static bool is_quoted_inside(const struct advice *a)
{
    struct match m;
    size_t at = a->d->location.column;
    if (!match(a->g, "\"[^\"]*\"[A-Za-z]\\w*\"[^\"]*\"", a->line, &m) &&
        !match(a->g, "'[^']*'[A-Za-z]\\w*'[^']*'", a->line, &m))
        return false;
    size_t from = piece_offset(a->line, m.all), to = piece_end(a->line, m.all), quotes = 0;
    for (size_t i = 0; i < from; i++)
        quotes += piece_byte(a->line, i) == piece_byte(m.all, 0);
    if (quotes % 2 == 1 || at < from || at > to + 1 ||
        match(a->g, "\\b[rbfuRBFU]{1,2}[\"']$", m.all, &(struct match){ 0 }))
        return false;
    suggest(a->d, 18, 0.92,
            "The quotes inside the text end it: put the other kind of quotes around the text, or a "
            "backslash before the inner ones.");
    return true;
}

/* A sign of another script that looks like one of Python: `，`. */
static bool is_wide_sign(const struct advice *a)
{
    static const struct word_pair signs[] = { { "\xEF\xBC\x8C", "," },
                                              { "\xEF\xBC\x88", "(" },
                                              { "\xEF\xBC\x89", ")" },
                                              { "\xEF\xBC\x9A", ":" },
                                              { "\xEF\xBC\x9B", ";" },
                                              { "\xE3\x80\x82", "." },
                                              { "\xE3\x80\x81", "," },
                                              { "\xEF\xBC\x9D", "=" },
                                              { "\xEF\xBC\x8B", "+" },
                                              { "\xEF\xBC\x8E", "." },
                                              { "\xE3\x80\x90", "[" },
                                              { "\xE3\x80\x91", "]" },
                                              { 0 } };
    const struct word_pair *sign = pair_in(signs, a->line);
    if (!sign || !is_code(a->line, piece_find(a->line, sign->word)))
        return false;
    suggest(a->d, 20, 0.94, "'%s' is a sign of another script: write the plain %s.", sign->word,
            sign->text);
    (void)suggest_swap(a->in, a->d, piece_of(sign->word), sign->text);
    return true;
}

/* The mark is at the end of the line, behind an operator or `=`. */
static bool is_cut_short(const struct advice *a)
{
    struct match m;
    if (a->d->location.column <= piece_end(a->line, piece_trim(a->line)) ||
        match(a->g, "^(?:else|try|finally)$", piece_trim(a->line), &m) ||
        !match(a->g, "(\\*\\*|[-+*/%<>&|^~=]|[=!<>]=|\\b(?:and|or|not|in|is|if|else))\\s*$",
               piece_trim(a->line), &m))
        return false;
    suggest(
        a->d, 18, 0.9,
        "The line ends with `%.*s`: the value behind it is missing. An expression goes on in the "
        "next line only inside brackets.",
        P(m.group[0]));
    return true;
}

/* A line that begins a block has one bracket that is not closed before its ':'. */
static bool is_left_open(const struct advice *a)
{
    struct match m;
    char open = '\0';
    long depth = 0;
    if (!match(a->g, "^\\s*(?:if|elif|while|for|with|except|def|class)\\b.*:\\s*$", a->line, &m))
        return false;
    for (size_t i = 0; i < a->line.len; i++) {
        char c = piece_byte(a->line, i);
        bool opens = strchr("([{", c), closes = strchr(")]}", c);
        if ((!opens && !closes) || !is_code(a->line, i))
            continue;
        depth += opens ? 1 : -1;
        open = opens && depth == 1 ? c : open;
    }
    if (depth != 1)
        return false;
    const char *close = open == '(' ? ")" : open == '[' ? "]" : "}";
    suggest(a->d, 18, 0.9, "The '%c' is not closed before the ':' of this line: add '%s'.", open,
            close);
    struct piece head = piece_trim(a->line);
    suggest_replacement(a->d, "%.*s%s:", P(piece_cut(a->line, piece_end(a->line, head) - 1)),
                        close);
    return true;
}

bool py_advise_by_line(const struct advice *a)
{
    return is_wide_sign(a) || rules_apply_to_line(a, py_line_rules, is_code) || is_orphan(a) ||
           is_decorated(a) || is_misspelt(a) || is_cut_short(a) || is_left_open(a) ||
           is_quoted_inside(a);
}
