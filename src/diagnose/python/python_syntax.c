/* Rules for syntax errors, and for text that is not a program. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "diagnose/python/python.h"
#include "diagnose/python_syntax.words.h" /* generated */

/* ---- text that is not a program ---- */

static bool is_prose(const struct advice *a, struct piece line)
{
    struct match m;
    struct piece t = piece_trim(line);
    if (match(a->g, "^(?:[-*] |\\d+\\. |#{2,} |\\*\\*)", t, &m) &&
        !match(a->g, "[=()\\[\\]]", t, &m))
        return true;
    bool starts = false;
    for (const char *const *s = prose_starts; *s; s++)
        starts = starts || starts_with(t, *s);
    return (starts && match(a->g, "^[A-Z][\\w']*,?(?:[ !]+[\\w',.\u2019-]+){2,}", t, &m)) ||
           match(a->g, "^[A-Z][a-z']+(?: [a-z',-]+){3,}[.:!]?$", t, &m);
}

static bool not_a_program(const struct advice *a)
{
    struct piece rest = text_of_source(a->file), line;
    if (starts_with(piece_trim(a->line), "```")) {
        suggest(a->d, 20, 0.97, "Line %u is a Markdown fence, not Python: remove the ``` lines.",
                a->d->location.line);
        return true;
    }
    if (is_prose(a, a->line)) {
        suggest(a->d, 20, 0.93,
                "Line %u is prose, not Python: remove it, or make it a comment with #.",
                a->d->location.line);
        suggest_replacement(a->d, "# %.*s", P(a->line));
        return true;
    }
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
        if (starts_with(line, "```")) {
            suggest(a->d, 20, 0.8, "Line %u is a Markdown fence: remove the ``` lines.", i);
            return true;
        }
    return false;
}

/* ---- brackets and quotes ---- */

static const char *closing(struct piece open)
{
    return piece_is(open, "(") ? ")" : piece_is(open, "[") ? "]" : "}";
}

static void on_never_closed(const struct advice *a)
{
    struct piece open = a->m.group[0];
    const char *close = closing(open);
    suggest(a->d, 18, 0.95, "The '%.*s' that opens in line %u, column %u has no '%s': close it.",
            P(open), a->d->location.line, a->d->location.column, close);
    long depth = 0;
    for (size_t i = 0; i < a->line.len; i++)
        depth += piece_byte(a->line, i) == piece_byte(open, 0) ? 1
                 : piece_byte(a->line, i) == close[0]          ? -1
                                                               : 0;
    struct piece t = piece_trim(a->line);
    if (depth != 1 || t.len == 0 || strchr(",([{", piece_last(t)))
        return;
    bool colon = piece_last(t) == ':';
    size_t end = piece_end(a->line, t) - colon;
    suggest_replacement(a->d, "%.*s%s%s", P(piece_cut(a->line, end)), close, colon ? ":" : "");
}

static void on_mismatch(const struct advice *a)
{
    struct match m;
    if (match(a->g, "opening parenthesis '(.)' on line (\\d+)", a->message, &m))
        suggest(a->d, 18, 0.93,
                "It closes the '%.*s' that opens in line %.*s: one of the two is the wrong "
                "bracket, or a bracket between them is missing.",
                P(m.group[0]), P(m.group[1]));
    else if (match(a->g, "opening parenthesis '(.)'", a->message, &m))
        suggest(a->d, 18, 0.92,
                "The '%.*s' is closed by '%.*s': write '%s' there, or add the bracket that is "
                "missing between them.",
                P(m.group[0]), P(a->m.group[0]), closing(m.group[0]));
}

static void on_unmatched(const struct advice *a)
{
    suggest(a->d, 18, 0.92,
            "No bracket before it opens this '%.*s': remove it, or add the opening bracket.",
            P(a->m.group[0]));
    struct piece t = piece_trim(a->line);
    struct match m;
    if (t.len > 1 && a->m.group[0].len == 1 && piece_last(t) == piece_byte(a->m.group[0], 0) &&
        !match(a->g, "[-+*/%=<>,(\\[{:]\\s*.$", t, &m))
        suggest_replacement(a->d, "%.*s", P(piece_cut(a->line, piece_end(a->line, t) - 1)));
}

static void on_unterminated(const struct advice *a)
{
    struct match m;
    bool triple = piece_has(a->message, "triple");
    if (match(a->g, "^([^'\"]*)'([^\"']*\\w'(?:s|t|re|ve|ll|d|m) [^\"']*)'([^'\"]*)$", a->line,
              &m)) {
        suggest(a->d, 18, 0.94,
                "The apostrophe ends the text: put double quotes around the text, or write \\'.");
        suggest_replacement(a->d, "%.*s\"%.*s\"%.*s", P(m.group[0]), P(m.group[1]), P(m.group[2]));
        return;
    }
    if (match(a->g, "\\\\[\"'][)\\]]*\\s*$", a->line, &m)) {
        suggest(a->d, 18, 0.92,
                "The backslash before the last quote belongs to the text, which therefore goes on: "
                "write two backslashes, or end the path without one.");
        return;
    }
    suggest(a->d, 18, 0.94, "The %squote that opens in line %u is not closed%s.",
            triple ? "triple " : "", a->d->location.line,
            triple ? ": end the text with the same three quotes"
                   : " in that line: close it, or use three quotes for text of several lines");
    struct piece t = piece_trim(a->line);
    if (triple || !match(a->g, "^[^\"']*([\"'])[^\"']*$", t, &m))
        return;
    size_t end = piece_end(a->line, t);
    size_t tail = 0;
    while (tail < t.len && strchr("):]", piece_byte(t, t.len - 1 - tail)))
        tail++;
    suggest_replacement(a->d, "%.*s%.*s%.*s", P(piece_cut(a->line, end - tail)), P(m.group[0]),
                        P(piece_cut(piece_skip(a->line, end - tail), tail)));
}

static void on_comma(const struct advice *a)
{
    struct piece line = piece_trim(a->line);
    struct piece next = piece_trim(source_line(a->file, a->d->location.line + 1));
    if (not_a_program(a) || py_advise_by_line(a))
        return;
    if (line.len > 0 && next.len > 0 && !strchr(",([{:", piece_last(line)) &&
        !strchr(")]}", piece_byte(next, 0))) { /* a list with one item a line */
        suggest(a->d, 18, 0.9,
                "A comma is missing at the end of this line, before the next item: add it.");
        suggest_replacement(a->d, "%.*s,", P(a->line));
        return;
    }
    suggest(a->d, 18, 0.8,
            "A comma or an operator seems to be missing between two values in this line: add it.");
}

/* ---- lines ---- */

static void on_line(const struct advice *a)
{
    if (!not_a_program(a))
        (void)py_advise_by_line(a);
}

static void on_colon(const struct advice *a)
{
    struct match m;
    if (not_a_program(a) || py_advise_by_line(a))
        return;
    if (match(a->g, ":\\s*(?:#.*)?$", a->line, &m)) {
        suggest(a->d, 17, 0.7,
                "Python expects a ':' at the mark: remove the text between the mark and the ':' at "
                "the end of the line.");
        return;
    }
    suggest(a->d, 17, 0.95, "A ':' is missing at the end of this line: add it.");
    if (match(a->g, "^(.*?\\S)(\\s*(?:#.*)?)$", a->line, &m))
        suggest_replacement(a->d, "%.*s:%.*s", P(m.group[0]), P(m.group[1]));
}

static void on_print(const struct advice *a)
{
    struct match m;
    suggest(a->d, 21, 0.96, "%.*s is a function in Python 3: put its arguments in brackets.",
            P(a->m.group[0]));
    if (match(a->g, "^(\\s*(?:.*:\\s*)?)(print|exec)\\s+(.*?)\\s*$", a->line, &m))
        suggest_replacement(a->d, "%.*s%.*s(%.*s)", P(m.group[0]), P(m.group[1]), P(m.group[2]));
}

static void on_equals(const struct advice *a)
{
    struct match m;
    struct piece before = source_line(a->file, a->d->location.line - 1);
    if (py_advise_by_line(a))
        return;
    if (match(a->g, "^\\s*(?:if|elif|else|for|while|try)\\b.*\\{\\s*$", before, &m)) {
        suggest(a->d, 0, 0.92,
                "Python has no braces around a block: end line %u with ':' in place of '{', and "
                "remove the '}'.",
                a->d->location.line - 1);
        return;
    }
    suggest(a->d, 0, 0.9, "`=` assigns a value: write `==` to compare.");
    if (match(a->g, "^(\\s*(?:if|elif|while) [^=]*[^=<>!])=([^=].*)$", a->line, &m))
        suggest_replacement(a->d, "%.*s==%.*s", P(m.group[0]), P(m.group[1]));
}

static void on_expected_block(const struct advice *a)
{
    struct match m;
    if (match(a->g, "^(?:<<<<<<<|=======$|>>>>>>>)", a->line, &m)) {
        (void)py_advise_by_line(a);
        return;
    }
    if (match(a->g, "after (.+?) on line (\\d+)", a->message, &m))
        suggest(a->d, 19, 0.94,
                "The block of the %.*s in line %.*s must be indented further: indent this line by "
                "four spaces (or write `pass`).",
                P(m.group[0]), P(m.group[1]));
    else
        suggest(a->d, 19, 0.9, "A block begins before this line: indent it by four spaces.");
    suggest_replacement(a->d, "    %.*s", P(a->line));
}

static void on_unexpected_indent(const struct advice *a)
{
    struct piece before = NO_PIECE;
    for (uint32_t i = a->d->location.line; i > 1 && piece_trim(before).len == 0; i--)
        before = source_line(a->file, i - 1);
    if (is_prose(a, a->line) && not_a_program(a))
        return;
    suggest(a->d, 19, 0.92,
            "This line is indented further than the line before, which does not begin a block: "
            "give both the same indentation.");
    struct piece t = piece_trim(a->line);
    suggest_replacement(a->d, "%.*s%.*s", P(piece_cut(before, indent_of(before))), P(t));
}

static void on_tabs(const struct advice *a)
{
    suggest(a->d, 19, 0.95,
            "Tabs and spaces are mixed: use four spaces for each level (`expand` converts a file, "
            "or a setting of the editor).");
    struct piece t = piece_trim(a->line), before = source_line(a->file, a->d->location.line - 1);
    if (piece_has(piece_cut(before, indent_of(before)), "\t"))
        return; /* the other lines are the ones to change */
    size_t columns = 0;
    for (size_t i = 0; i < indent_of(a->line); i++)
        columns += piece_byte(a->line, i) == '\t' ? 4 : 1;
    suggest_replacement(a->d, "%*s%.*s", (int)columns, "", P(t));
}

static void on_character(const struct advice *a)
{
    struct piece c = a->m.group[0];
    if (is_prose(a, a->line) && not_a_program(a))
        return;
    if (piece_is(c, "U+00A0") || piece_is(c, "U+200B") || piece_is(c, "U+FEFF") ||
        piece_is(c, "U+202F")) {
        suggest(a->d, 20, 0.94,
                "This line has a %s (%.*s), as copied text often does: replace it by an ordinary "
                "space.",
                piece_is(c, "U+00A0") || piece_is(c, "U+202F") ? "non-breaking space"
                                                               : "mark that cannot be seen",
                P(c));
        return;
    }
    const char *meant = piece_is(c, "\u201c") || piece_is(c, "\u201d")   ? "\""
                        : piece_is(c, "\u2018") || piece_is(c, "\u2019") ? "'"
                        : piece_is(c, "\u2013") || piece_is(c, "\u2212") || piece_is(c, "\u2014")
                            ? "-"
                        : piece_is(c, "\uff08") ? "("
                        : piece_is(c, "\uff09") ? ")"
                        : piece_is(c, "\uff0c") ? ","
                        : piece_is(c, "\uff1a") ? ":"
                        : piece_is(c, "\uff1b") ? ";"
                        : piece_is(c, "\uff1d") ? "="
                        : piece_is(c, "\u3001") ? ","
                        : piece_is(c, "\u00d7") ? "*"
                        : piece_is(c, "\u00f7") ? "/"
                        : piece_is(c, "\u2264") ? "<="
                        : piece_is(c, "\u2265") ? ">="
                                                : NULL;
    if (meant)
        suggest(a->d, 20, 0.94, "'%.*s' is a typographic character: write the straight %s.", P(c),
                meant);
    else
        suggest(a->d, 20, 0.7,
                "Python has no character '%.*s', which may come from formatted text: replace it.",
                P(c));
    if (!meant)
        return;
    char fixed[240];
    size_t used = 0;
    bool both = strcmp(meant, "\"") == 0 || strcmp(meant, "'") == 0;
    for (size_t i = 0; i < a->line.len && used + 4 < sizeof fixed;) {
        struct piece here = piece_skip(a->line, i);
        bool is = piece_same(piece_cut(here, c.len), c);
        bool pair = both && (starts_with(here, "\u201c") || starts_with(here, "\u201d") ||
                             starts_with(here, "\u2018") || starts_with(here, "\u2019"));
        if (is || pair) {
            used += (size_t)snprintf(fixed + used, sizeof fixed - used, "%s", meant);
            i += pair ? 3 : c.len;
        } else {
            fixed[used++] = piece_byte(a->line, i++);
        }
    }
    fixed[used] = '\0';
    suggest_replacement(a->d, "%s", fixed);
}

static void on_invalid(const struct advice *a)
{
    struct match m;
    if (not_a_program(a) || py_advise_by_line(a))
        return;
    if (match(a->g, "^\\s*(?:if|elif|else|for|while|def|class|try|except|finally|with)\\b[^:]*$",
              a->line, &m)) {
        on_colon(a);
        return;
    }
    struct piece before = source_line(a->file, a->d->location.line - 1);
    long depth = 0;
    for (size_t i = 0; i < before.len; i++)
        depth += strchr("([{", piece_byte(before, i))   ? 1
                 : strchr(")]}", piece_byte(before, i)) ? -1
                                                        : 0;
    if (depth > 0)
        suggest(a->d, 18, 0.85,
                "A bracket that opens in line %u is not closed before this line: close it.",
                a->d->location.line - 1);
    else
        suggest(
            a->d, 0, 0.3,
            "Python could read up to the mark: look for a missing or extra character before it.");
}

static void on_outside(const struct advice *a)
{
    bool await_ = piece_has(a->m.group[0], "await") || piece_has(a->m.group[0], "async");
    if (await_)
        suggest(a->d, 26, 0.92,
                "`await` works only inside `async def`: put it into one, and start that with "
                "asyncio.run(main()).");
    else
        suggest(
            a->d, 19, 0.85,
            "%.*s stands outside of a function or loop: indent it into its block, or remove it.",
            P(a->m.group[0]));
}

#include "diagnose/python_syntax.rules.h" /* generated */
