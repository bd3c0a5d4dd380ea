/* Looks at the tokens of each replacement before it is offered. A line that its language could not read,
 * or that uses a name which nothing defines, is removed; the sentence of the suggestion stays.
 * Runs in: reader. No parser is here: a parser of the language needs a jar, and `"fixes": "try"` has one. */
#include <string.h>

#include "base/array.h"
#include "diagnose/core/grammar.h"

/* The languages whose lines are read, and the ends of their lines that are comments. */
static const struct dialect {
    const char *grammar;
    const char *comment;
    bool python; /* two operands beside each other, and two operators, are an error */
} dialects[] = {
    { "python", "#", true }, { "javascript", "//", false }, { "typescript", "//", false },
    { "java", "//", false }, { "go", "//", false },         { "gcc", "//", false },
};

static const char *const keywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",    NULL,
};
/* Keywords that are values. */
static const char *const constants[] = { "False", "None", "True", NULL };
/* Words that begin a statement where they stand first, and are names elsewhere. */
static const char *const soft[] = { "match", "case", "type", NULL };
/* Longer operators first. */
static const char *const operators[] = {
    "**=", "//=", ">>=", "<<=", "...", "->", ":=", "**", "//", "==", "!=", "<=", ">=", "<<",
    ">>",  "+=",  "-=",  "*=",  "/=",  "%=", "&=", "|=", "^=", "@=", "<",  ">",  "=",  "+",
    "-",   "*",   "/",   "%",   "&",   "|",  "^",  "~",  "@",  ".",  ",",  ":",  ";",  NULL,
};
/* Operators that need an operand on both sides. */
static const char *const binary[] = {
    "**=", "//=", ">>=", "<<=", ":=", "//", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-=", "*=",
    "/=",  "%=",  "&=",  "|=",  "^=", "@=", "<",  ">",  "=",  "/",  "%",  "&",  "|",  "^",  NULL,
};

enum token { TOKEN_NONE, TOKEN_OPERAND, TOKEN_TEXT, TOKEN_BINARY, TOKEN_OTHER };

/* The shape of one line. */
struct shape {
    int open[3]; /* brackets that are opened and not closed here, by kind; negative: the reverse */
    bool open_quote; /* a text that does not end */
    bool broken;     /* tokens that cannot follow each other */
};

struct scan {
    const struct dialect *dialect;
    struct piece line;
    size_t at;
    enum token before;
    bool first;     /* no token was seen */
    bool decorated; /* the line begins with '@', or is a comment of a shell */
    struct shape shape;
};

static void follow(struct scan *s, enum token t)
{
    bool bad = (t == TOKEN_OPERAND && (s->before == TOKEN_OPERAND || s->before == TOKEN_TEXT)) ||
               (t == TOKEN_TEXT && s->before == TOKEN_OPERAND) ||
               (t == TOKEN_BINARY && (s->before == TOKEN_BINARY || s->first));
    s->shape.broken = s->shape.broken || (s->dialect->python && bad);
    s->before = t;
    s->first = false;
}

/* A text in quotes, of one line or more. */
static void skip_text(struct scan *s)
{
    char quote = piece_byte(s->line, s->at);
    size_t n = piece_byte(s->line, s->at + 1) == quote && piece_byte(s->line, s->at + 2) == quote
                   ? 3
                   : 1;
    for (s->at += n; s->at < s->line.len; s->at++) {
        if (piece_byte(s->line, s->at) == '\\') {
            s->at++;
            continue;
        }
        if (piece_byte(s->line, s->at) != quote)
            continue;
        if (n == 1 ||
            (piece_byte(s->line, s->at + 1) == quote && piece_byte(s->line, s->at + 2) == quote)) {
            s->at += n;
            follow(s, TOKEN_TEXT);
            return;
        }
    }
    s->shape.open_quote = true;
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'' || c == '`';
}

static void skip_word(struct scan *s)
{
    size_t from = s->at;
    bool number = piece_byte(s->line, from) >= '0' && piece_byte(s->line, from) <= '9';
    while (s->at < s->line.len && (is_word_byte(piece_byte(s->line, s->at)) ||
                                   (number && piece_byte(s->line, s->at) == '.')))
        s->at++;
    struct piece word = piece_part(s->line, from, s->at - from);
    if (s->dialect->python && word.len <= 2 && is_quote(piece_byte(s->line, s->at)))
        return; /* f"..." */
    bool keyword = piece_among(word, keywords) && !piece_among(word, constants);
    if (keyword || (s->first && piece_among(word, soft))) {
        s->before = TOKEN_OTHER;
        s->first = false;
    } else {
        follow(s, TOKEN_OPERAND);
    }
}

static bool skip_bracket(struct scan *s)
{
    static const char opening[] = "([{", closing[] = ")]}";
    char c = piece_byte(s->line, s->at);
    const char *o = strchr(opening, c), *k = strchr(closing, c);
    if (c == '\0' || (!o && !k))
        return false;
    s->shape.open[o ? o - opening : k - closing] += o ? 1 : -1;
    s->before = o ? TOKEN_OTHER : TOKEN_OPERAND;
    s->first = false;
    s->at++;
    return true;
}

/* Characters that are no operator of Python break the line. */
static void skip_operator(struct scan *s)
{
    struct piece rest = piece_skip(s->line, s->at);
    for (size_t i = 0; operators[i]; i++) {
        if (!starts_with(rest, operators[i]))
            continue;
        follow(s, piece_among(piece_of(operators[i]), binary) ? TOKEN_BINARY : TOKEN_OTHER);
        s->at += strlen(operators[i]);
        return;
    }
    s->shape.broken = s->shape.broken || (s->dialect->python && piece_byte(rest, 0) != '\\');
    s->at++;
}

static struct shape shape_of(const struct dialect *d, struct piece line)
{
    struct scan s = { .dialect = d, .line = piece_trim_end(line), .first = true };
    while (s.at < s.line.len && !s.shape.open_quote) {
        char c = piece_byte(s.line, s.at);
        if (starts_with(piece_skip(s.line, s.at), d->comment))
            break;
        if (c == ' ' || c == '\t')
            s.at++;
        else if (is_quote(c))
            skip_text(&s);
        else if (is_word_byte(c))
            skip_word(&s);
        else if (!skip_bracket(&s))
            skip_operator(&s);
    }
    if (d->python && s.before == TOKEN_BINARY && piece_last(s.line) != '\\' &&
        s.shape.open[0] + s.shape.open[1] + s.shape.open[2] <= 0)
        s.shape.broken = true; /* the line ends with an operator */
    return s.shape;
}

static bool same_brackets(const struct shape *a, const struct shape *b)
{
    return memcmp(a->open, b->open, sizeof a->open) == 0;
}

/* A line that could be read before keeps its brackets; in a line that could not, they may change. */
static bool is_readable(const struct dialect *d, const struct diagnosis *x, struct piece line,
                        const char *replacement)
{
    struct shape before = shape_of(d, line), after = shape_of(d, piece_of(replacement));
    if (x->category == CATEGORY_SYNTAX || x->category == CATEGORY_COMPILE)
        return !after.open_quote && !after.broken;
    if (before.open_quote || before.broken)
        return true; /* a part of a longer text */
    return !after.open_quote && !after.broken && same_brackets(&before, &after);
}

/* "total = totl + 1" with "totl" replaced by "total": the name has no value yet. */
static bool uses_its_target(const struct diagnose_input *in, const struct diagnosis *d,
                            struct piece line, struct piece fixed)
{
    fixed = piece_cut(fixed, piece_find(fixed, ";")); /* another statement may follow */
    size_t equals = piece_find(fixed, "=");
    struct piece target = piece_trim(piece_cut(fixed, equals));
    if (d->category != CATEGORY_NAME || equals == fixed.len || target.len == 0)
        return false;
    for (size_t i = 0; i < target.len; i++)
        if (!is_word_byte(piece_byte(target, i)))
            return false;
    if (!has_word(piece_skip(fixed, equals), target) || has_word(piece_skip(line, equals), target))
        return false;
    const struct source_file *f = find_source(in, piece_of(d->location.file));
    uint32_t first = line_with_word(f, target, 1);
    return first == 0 || first >= d->location.line;
}

/* "None = 3", "class = x". */
static bool assigns_keyword(const struct dialect *d, struct piece fixed)
{
    size_t equals = piece_find(fixed, "=");
    return d->python && equals < fixed.len && piece_byte(fixed, equals + 1) != '=' &&
           piece_among(piece_trim(piece_cut(fixed, equals)), keywords);
}

static const struct dialect *dialect_of(const char *grammar)
{
    for (size_t i = 0; grammar && i < ARRAY_LEN(dialects); i++)
        if (strcmp(dialects[i].grammar, grammar) == 0)
            return &dialects[i];
    return NULL;
}

void suggestions_check(const struct diagnose_input *in, struct diagnosis *d)
{
    const struct dialect *dialect = dialect_of(in->grammar);
    struct piece line = line_at(in, d);
    for (size_t i = 0; i < d->n_suggestions; i++) {
        struct suggestion *s = &d->suggestions[i];
        struct piece fixed = piece_of(s->replacement);
        if (fixed.len == 0 || !suggestion_corrects_line(d, s))
            continue;
        /* A replacement of a longer line would lose its end. */
        bool whole = line.len < sizeof s->replacement;
        if (piece_same(line, fixed) || !whole ||
            (dialect && (!is_readable(dialect, d, line, s->replacement) ||
                         uses_its_target(in, d, line, fixed) || assigns_keyword(dialect, fixed))))
            s->replacement[0] = '\0';
    }
}
