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
    suggest(a->d, 18, 0.95,
            "The '%.*s' that opens in line %u, column %u has no '%s': close it with the missing "
            "bracket.",
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

/* 'Don't': the apostrophe inside of a word ends a text in single quotes. */
static bool is_apostrophe(const struct advice *a)
{
    struct match m;
    if (!match(a->g,
               "^((?:[^'\"#]|'[^']*'(?!\\w)|\"[^\"]*\")*)(?:(?<!\\w)|(?<=\\b[fFrRbBuU]))'([^\"']*"
               "\\w'\\w[^\"']*)'((?!\\w)(?:[^'\""
               "]|'[^']*'|\"[^\"]*\")*)$",
               a->line, &m))
        return false;
    suggest(a->d, 18, 0.94,
            "The apostrophe in the word ends the text: put double quotes around the text, or write "
            "\\'.");
    suggest_replacement(a->d, "%.*s\"%.*s\"%.*s", P(m.group[0]), P(m.group[1]), P(m.group[2]));
    return true;
}

static void on_unterminated(const struct advice *a)
{
    struct match m;
    bool triple = piece_has(a->message, "triple");
    if (!triple && is_apostrophe(a))
        return;
    if (match(a->g, "\\\\[\"'][)\\]]*\\s*$", a->line, &m)) {
        suggest(a->d, 18, 0.92,
                "The backslash before the last quote belongs to the text, which therefore goes on: "
                "write two backslashes, or end the path without one.");
        return;
    }
    if (!triple &&
        match(a->g, "^([^'\"]*)([\"'])([^\"']*)([\"'])([)\\]}:,;]*\\s*)$", a->line, &m) &&
        !piece_same(m.group[1], m.group[3])) {
        suggest(a->d, 18, 0.95,
                "The text begins with %.*s and ends with %.*s: write the same quote at both ends.",
                P(m.group[1]), P(m.group[3]));
        suggest_replacement(a->d, "%.*s%.*s%.*s%.*s%.*s", P(m.group[0]), P(m.group[1]),
                            P(m.group[2]), P(m.group[1]), P(m.group[4]));
        return;
    }
    if (!triple && match(a->g, "\\w(['\"])\\w.*\\1", a->line, &m)) {
        suggest(
            a->d, 18, 0.85,
            "The number of %.*s in line %u is odd: one is inside of a text and ends it (write "
            "\\%.*s for it, or use the other kind of quote around that text), or one is missing.",
            P(m.group[0]), a->d->location.line, P(m.group[0]));
        return;
    }
    suggest(a->d, 18, 0.94, "The %squote that opens in line %u is not closed%s.",
            triple ? "triple " : "", a->d->location.line,
            triple ? ": end the text with the same three quotes"
                   : " in that line: close it, or use three quotes for text of several lines");
    struct piece t = piece_trim(a->line);
    if (triple || !match(a->g, "^[^\"']*([\"'])[^\"']*$", t, &m))
        return;
    size_t open = 0, closed = 0; /* braces of an f-string, which must be closed, too */
    for (size_t i = 0; i < t.len; i++) {
        open += piece_byte(t, i) == '{';
        closed += piece_byte(t, i) == '}';
    }
    if (open != closed)
        return;
    size_t end = piece_end(a->line, t);
    size_t tail = 0;
    while (tail < t.len && strchr("):]", piece_byte(t, t.len - 1 - tail)))
        tail++;
    suggest_replacement(a->d, "%.*s%.*s%.*s", P(piece_cut(a->line, end - tail)), P(m.group[0]),
                        P(piece_cut(piece_skip(a->line, end - tail), tail)));
}

/* "{"a": 1, "b" 2}": two values beside each other, or another language's sign. */
static void on_dict_key(const struct advice *a)
{
    struct match m;
    if (match(a->g, "^(.*\\w[\"']?\\s*)=>(.*)$", a->line, &m)) {
        suggest(a->d, 17, 0.94, "A ':' stands between a key and its value.");
        suggest_replacement(a->d, "%.*s:%.*s", P(piece_trim_end(m.group[0])), P(m.group[1]));
    } else if (match(a->g, "^(.*[{,]\\s*(?:\"[^\"]*\"|'[^']*'))\\s*=\\s*([^=].*)$", a->line, &m) ||
               match(a->g, "^(.*[{,]\\s*(?:\"[^\"]*\"|'[^']*'))\\s+([\\w\"'\\[{(].*)$", a->line,
                     &m)) {
        suggest(a->d, 17, 0.93, "A ':' is missing between a key and its value: add it.");
        suggest_replacement(a->d, "%.*s: %.*s", P(m.group[0]), P(m.group[1]));
    }
}

static void on_comma(const struct advice *a)
{
    struct piece line = piece_trim(a->line);
    struct piece next = piece_trim(source_line(a->file, a->d->location.line + 1));
    size_t end = a->d->location.end_column; /* the mark ends with the second value, or the line */
    bool inside = end > 0 && end - 1 < piece_end(a->line, line);
    if (not_a_program(a) || py_advise_by_line(a))
        return;
    if (!inside && line.len > 0 && next.len > 0 && !strchr(",([{:", piece_last(line)) &&
        !strchr(")]}", piece_byte(next, 0))) { /* a list with one item a line */
        suggest(a->d, 18, 0.9,
                "A comma is missing at the end of this line, before the next item: add it.");
        suggest_replacement(a->d, "%.*s,", P(a->line));
        return;
    }
    suggest(a->d, 18, 0.8,
            "A comma or an operator seems to be missing between two values in this line: add it.");
}

/* [x if test for x in items]: a filter stands behind the loop. */
static void on_filter(const struct advice *a)
{
    struct match m;
    if (match(a->g,
              "^(.*[\\[({]\\s*)((?:[^\\[\\](){}]|\\([^()]*\\)|\\[[^\\[\\]]*\\])+?) if "
              "((?:[^\\[\\](){}]|\\([^()]*\\)|\\[[^\\[\\]]*\\])+?) (for "
              "(?:[^\\[\\](){}]|\\([^()]*\\)|\\[[^\\[\\]]*\\])+)([\\])}].*)$",
              a->line, &m) &&
        !match(a->g, "\\b(?:else|if)\\b", m.group[2], &(struct match){ 0 }) &&
        !match(a->g, "\\b(?:else|if)\\b", m.group[3], &(struct match){ 0 })) {
        suggest(a->d, 17, 0.94,
                "An `if` that chooses the items stands at the end, behind the `for`: [x for x in "
                "items if test]. Before the `for` it needs an `else`, and keeps every item.");
        suggest_replacement(a->d, "%.*s%.*s %.*s if %.*s%.*s", P(m.group[0]), P(m.group[1]),
                            P(m.group[3]), P(m.group[2]), P(m.group[4]));
    } else if (piece_has(a->line, " for ")) {
        suggest(a->d, 17, 0.9,
                "An `if` that chooses the items stands at the end, behind the `for`: [x for x in "
                "items if test]. An `if` that chooses a value needs an `else`.");
    } else if (!py_advise_by_line(a)) {
        suggest(a->d, 17, 0.88,
                "An `if` inside an expression needs an `else`: `a if test else b`.");
    }
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
    struct piece behind = piece_from(a->line, a->d->location.column);
    struct piece before = piece_trim_end(piece_before(a->line, a->d->location.column));
    if (a->d->location.column > 0 &&
        match(a->g, "^[A-Za-z_]\\w*\\s*[(=.+-]|^(?:return|pass|break|continue|raise)\\b", behind,
              &m) &&
        match(a->g, "^\\s*\\w+.*[\\w)\\]\"']$", before, &m)) {
        suggest(a->d, 17, 0.92, "A ':' is missing before the mark: add it.");
        suggest_replacement(a->d, "%.*s: %.*s", P(before), P(behind));
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

/* A value stands on the left side of `=`: offers the line with its sides swapped. */
static void on_assigned(const struct advice *a)
{
    struct match m;
    if (not_a_program(a) || py_advise_by_line(a))
        return;
    if (match(a->g, "^\\s*(?:if|elif|while|assert|return|and|or)\\b", a->line, &m)) {
        suggest(a->d, 0, 0.9, "`=` assigns a value: write `==` to compare.");
        return;
    }
    if (!match(a->g,
               "^(\\s*)(\"[^\"]*\"|'[^']*'|-?\\d[\\d.]*|[\\w.]+(?:\\s*[-+*/"
               "%]\\s*[\\w.]+)+)\\s*=\\s*([A-Za-z_]\\w*)\\s*$",
               a->line, &m))
        return;
    suggest(a->d, 0, 0.92,
            "The name stands on the left side of `=`, and its value on the right: swap the two.");
    suggest_replacement(a->d, "%.*s%.*s = %.*s", P(m.group[0]), P(m.group[2]), P(m.group[1]));
}

/* Whether comments alone, or blank lines, stand between the head of a block and the line, which is not indented. */
static bool has_no_body(const struct advice *a, uint32_t head)
{
    size_t lines = 0;
    for (uint32_t i = head + 1; i < a->d->location.line && lines < LINES_NEAR; i++, lines++)
        if (piece_trim(source_line(a->file, i)).len > 0 &&
            !starts_with(piece_trim(source_line(a->file, i)), "#"))
            return false;
    return lines > 0 && indent_of(a->line) <= indent_of(source_line(a->file, head));
}

static void on_expected_block(const struct advice *a)
{
    struct match m;
    if (match(a->g, "^(?:<<<<<<<|=======$|>>>>>>>)", a->line, &m)) {
        (void)py_advise_by_line(a);
        return;
    }
    struct match begins, end;
    bool known = match(a->g, "after (.+?) on line (\\d+)", a->message, &m);
    uint32_t above = known ? piece_number(m.group[1]) : 0;
    bool other = match(a->g, "^\\s*(?:def|class|@|if __name__|import|from)\\b", a->line, &begins) ||
                 match(a->g, "^\\s*(?:elif|else|except|finally|case)\\b", a->line, &end);
    if (known && (above >= a->d->location.line || other || has_no_body(a, above))) {
        /* The file ends there, or something else follows. */
        suggest(a->d, 19, 0.93,
                "The %.*s in line %u has no body: write its lines below it, indented by four "
                "spaces, or `pass`. A comment is no body.",
                P(m.group[0]), above);
        return;
    }
    if (known)
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
    struct match m;
    bool deeper = match(a->g, ":\\s*(?:#.*)?$", before, &m);
    if (piece_trim(before).len == 0 || columns != indent_of(before) + (deeper ? 4 : 0))
        return; /* the width of the tab is not known */
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
    const char *meant = text_for(typographic, c);
    if (!meant) {
        suggest(a->d, 20, 0.7,
                "Python has no character '%.*s', which may come from formatted text: replace it.",
                P(c));
        return;
    }
    bool quote = strcmp(meant, "\"") == 0 || strcmp(meant, "'") == 0;
    suggest(a->d, 20, 0.94, "'%.*s' is a typographic %s: write the plain %s.", P(c),
            quote                     ? "quote"
            : strcmp(meant, "-") == 0 ? "dash or minus sign"
                                      : "character",
            meant);
    char fixed[240];
    size_t used = 0;
    for (size_t i = 0; i < a->line.len && used + 4 < sizeof fixed;) {
        struct piece here = piece_skip(a->line, i);
        const struct word_pair *p = typographic;
        while (p->word && !starts_with(here, p->word))
            p++;
        bool pair = p->word && quote && (strcmp(p->text, "\"") == 0 || strcmp(p->text, "'") == 0);
        if (p->word) {
            used += (size_t)snprintf(fixed + used, sizeof fixed - used, "%s",
                                     pair ? meant : p->text);
            i += strlen(p->word);
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
    bool statement = indent_of(a->line) <= indent_of(before) &&
                     match(
                         a->g,
                         "^\\s*(?:(?:def|class|if|elif|else|for|while|return|import|from|with|try|"
                         "except|print)\\b|@|[A-Za-z_][\\w.]*\\s*[-+*/]?=[^=])",
                         a->line, &m);
    if (depth > 0 && statement)
        suggest(a->d, 18, 0.85,
                "A bracket that opens in line %u is not closed before this line: close it with the "
                "missing bracket.",
                a->d->location.line - 1);
    else
        suggest(
            a->d, 0, 0.3,
            "Python could read up to the mark: look for a missing or extra character before it.");
}

static void on_outside(const struct advice *a)
{
    struct match m;
    if (piece_has(a->m.group[0], "await") || piece_has(a->m.group[0], "async"))
        suggest(a->d, 26, 0.92,
                "`await` works only inside `async def`: put it into one, and start that with "
                "asyncio.run(main()).");
    else if (match(a->g, "^\\s*(?:return|yield)\\b", a->line, &m) && indent_of(a->line) > 0)
        suggest(a->d, 19, 0.9,
                "%.*s works only inside a function, and no `def` with less indentation stands "
                "before this line: indent it into its function.",
                P(a->m.group[0]));
}

#include "diagnose/python_syntax.rules.h" /* generated */
