#include "cli/repl/scan.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"

static const struct syntax syntaxes[] = {
    { .language = "python",
      .comment = "#",
      .quotes = "'\"",
      .long_quotes = "",
      .triple = true,
      .indents = true,
      .keywords = WORDS("False", "None", "True", "and", "as", "assert", "async", "await", "break",
                        "class", "continue", "def", "del", "elif", "else", "except", "finally",
                        "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
                        "not", "or", "pass", "raise", "return", "try", "while", "with", "yield"),
      .opening = NO_WORDS,
      .closing = NO_WORDS },
    { .language = "javascript",
      .comment = "//",
      .block_comments = true,
      .quotes = "'\"`",
      .long_quotes = "`",
      .keywords = WORDS("async", "await", "break", "case", "catch", "class", "const", "continue",
                        "default", "delete", "do", "else", "export", "extends", "false", "finally",
                        "for", "from", "function", "if", "import", "in", "instanceof", "let", "new",
                        "null", "of", "return", "switch", "this", "throw", "true", "try", "typeof",
                        "undefined", "var", "void", "while", "yield", "interface", "type", "enum"),
      .operators = "+-*%=&|^,<",
      .opening = NO_WORDS,
      .closing = NO_WORDS },
    { .language = "bash",
      .comment = "#",
      .quotes = "'\"",
      .long_quotes = "'\"",
      .keywords = WORDS("case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
                        "in", "select", "then", "until", "while", "export", "local", "return"),
      .opening = WORDS("if", "do", "case"),
      .closing = WORDS("fi", "done", "esac") },
    { .language = "sqlite",
      .comment = "--",
      .block_comments = true,
      .quotes = "'\"",
      .long_quotes = "'\"",
      .ends_with_semicolon = true,
      .keywords = WORDS(
          "all", "alter", "and", "as", "asc", "begin", "between", "by", "case", "commit", "create",
          "cross", "delete", "desc", "distinct", "drop", "else", "end", "exists", "explain", "from",
          "group", "having", "in", "index", "inner", "insert", "into", "is", "join", "key", "left",
          "like", "limit", "not", "null", "offset", "on", "or", "order", "outer", "primary",
          "references", "right", "rollback", "select", "set", "table", "then", "union", "unique",
          "update", "using", "values", "view", "when", "where", "with"),
      .opening = NO_WORDS,
      .closing = NO_WORDS },
};

static const struct {
    const char *language, *as;
} same_as[] = { { "typescript", "javascript" }, { "postgres", "sqlite" }, { "zsh", "bash" } };

static const struct syntax plain = { .language = "",
                                     .comment = "",
                                     .quotes = "",
                                     .long_quotes = "",
                                     .keywords = NO_WORDS,
                                     .opening = NO_WORDS,
                                     .closing = NO_WORDS };

const struct syntax *syntax_of(const char *language)
{
    for (size_t i = 0; i < ARRAY_LEN(same_as); i++)
        if (strcmp(language, same_as[i].language) == 0)
            language = same_as[i].as;
    for (size_t i = 0; i < ARRAY_LEN(syntaxes); i++)
        if (strcmp(language, syntaxes[i].language) == 0)
            return &syntaxes[i];
    return &plain;
}

static bool is_one_of(const char *const *words, const char *at, size_t n, bool any_case)
{
    for (; *words; words++)
        if (strlen(*words) == n &&
            (any_case ? strncasecmp(*words, at, n) : strncmp(*words, at, n)) == 0)
            return true;
    return false;
}

static bool starts(const struct scanner *s, const char *word)
{
    size_t n = strlen(word);
    return n > 0 && s->len - s->at >= n && memcmp(s->text + s->at, word, n) == 0;
}

/* Moves past the word, or to the end of the text. */
static bool skip_past(struct scanner *s, const char *word)
{
    while (s->at < s->len && !starts(s, word))
        s->at++;
    bool found = s->at < s->len;
    s->at = found ? s->at + strlen(word) : s->len;
    return found;
}

static void scan_string(struct scanner *s)
{
    char quote = s->text[s->at], triple[] = { quote, quote, quote, '\0' };
    bool is_long = strchr(s->syntax->long_quotes, quote);
    if (s->syntax->triple && starts(s, triple)) {
        s->at += 3;
        s->open_string = !skip_past(s, triple);
        return;
    }
    for (s->at++; s->at < s->len; s->at++) {
        char c = s->text[s->at];
        if (c == '\\' && s->at + 1 < s->len) {
            s->at++;
        } else if (c == quote) {
            s->at++;
            return;
        } else if (c == '\n' && !is_long) {
            return;
        }
    }
    s->open_string = is_long;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Words of a shell that a command follows. */
static const char *const before_commands[] = { "if",   "then",  "elif",  "else", "do",
                                               "time", "while", "until", NULL };

static enum token_kind scan_word(struct scanner *s)
{
    size_t from = s->at;
    const char *at = s->text + from;
    while (s->at < s->len && is_word(s->text[s->at]))
        s->at++;
    size_t n = s->at - from;
    s->depth += !s->in_command && is_one_of(s->syntax->opening, at, n, false);
    s->depth -= !s->in_command && is_one_of(s->syntax->closing, at, n, false);
    s->in_command = s->syntax->opening[0] &&
                    (s->in_command || !is_one_of(before_commands, at, n, false));
    if (isdigit((unsigned char)*at))
        return TOKEN_NUMBER;
    return is_one_of(s->syntax->keywords, at, n, s->syntax->ends_with_semicolon) ? TOKEN_KEYWORD
                                                                                 : TOKEN_PLAIN;
}

/* The word after `<<`, without its quotes. `<<<` is a string. */
static void find_here_word(struct scanner *s)
{
    size_t at = s->at + 2;
    bool arithmetic = s->depth > 1; /* $((1 << n)) */
    if (arithmetic || !starts(s, "<<") || (at < s->len && s->text[at] == '<'))
        return;
    while (at < s->len && strchr("- \t'\"\\", s->text[at]) && s->text[at])
        at++;
    s->here = s->text + at;
    while (at < s->len && is_word(s->text[at]))
        at++;
    s->here_len = (size_t)(s->text + at - s->here);
    s->here = s->here_len > 0 ? s->here : NULL;
}

/* Moves past the lines of a here-document, whose text is no code. */
static void skip_here_lines(struct scanner *s)
{
    for (bool found = false; s->at < s->len && !found;) {
        while (s->at < s->len && s->text[s->at] == '\t')
            s->at++;
        const char *end = memchr(s->text + s->at, '\n', s->len - s->at);
        size_t n = end ? (size_t)(end - s->text) - s->at : s->len - s->at;
        found = n == s->here_len && memcmp(s->text + s->at, s->here, n) == 0;
        s->at += n + (end && !found);
        s->open_string = !found;
    }
    s->here = NULL;
}

bool scan_next(struct scanner *s, struct token *ret)
{
    if (s->at >= s->len)
        return false;
    char c = s->text[s->at];
    ret->from = s->at;
    ret->kind = TOKEN_PLAIN;
    s->open_string = false;
    /* In a shell, `a#b` is a word. */
    bool after_word = s->at > 0 && !isspace((unsigned char)s->text[s->at - 1]);
    if (starts(s, s->syntax->comment) && !(s->syntax->opening[0] && after_word)) {
        const char *end = memchr(s->text + s->at, '\n', s->len - s->at);
        s->at = end ? (size_t)(end - s->text) : s->len;
        ret->kind = TOKEN_COMMENT;
    } else if (s->syntax->block_comments && starts(s, "/*")) {
        s->open_string = !skip_past(s, "*/");
        ret->kind = TOKEN_COMMENT;
    } else if (c && strchr(s->syntax->quotes, c)) {
        scan_string(s);
        ret->kind = TOKEN_STRING;
    } else if (is_word(c)) {
        ret->kind = scan_word(s);
    } else if (c == '\n' && s->here) {
        s->at++;
        s->open_string = true;
        skip_here_lines(s);
        ret->kind = TOKEN_STRING;
    } else {
        if (s->syntax->opening[0] && c == '<' && !s->here)
            find_here_word(s);
        s->in_command = s->in_command && !(c && strchr("\n;&|(){", c));
        s->at += c == '<' && starts(s, "<<<") ? 2 : 0;
        s->at += c == '\\' && s->at + 1 < s->len ? 2 : 1;
        bool shell = s->syntax->opening[0]; /* `case x in a)` has half of a pair */
        s->depth += c && strchr("([{", c) ? 1 : 0;
        s->depth -= c && strchr(")]}", c) && !(shell && s->depth == 0) ? 1 : 0;
    }
    ret->to = s->at;
    return true;
}

/* The last line, without its end. */
static size_t last_line(const char *text, size_t len)
{
    const char *newline = memrchr(text, '\n', len);
    return newline ? (size_t)(newline - text) + 1 : 0;
}

static size_t trimmed(const char *text, size_t len)
{
    while (len > 0 && isspace((unsigned char)text[len - 1]))
        len--;
    return len;
}

/* The last character that is not in a comment or blank; '\0': none. `*ret`: the state at the end. */
static char scan_all(const struct syntax *syntax, const char *text, size_t len, struct scanner *ret)
{
    struct token t;
    char last = '\0';
    *ret = (struct scanner){ .syntax = syntax, .text = text, .len = len };
    while (scan_next(ret, &t))
        if (t.kind != TOKEN_COMMENT && !isspace((unsigned char)text[t.from]))
            last = text[t.to - 1];
    return last;
}

bool scan_in_string(const struct syntax *syntax, const char *text, size_t len)
{
    struct scanner s;
    (void)scan_all(syntax, text, len, &s);
    return s.open_string;
}

bool scan_is_command(const char *text, size_t len)
{
    return len > 1 && text[0] == ':' && isalpha((unsigned char)text[1]) && !memchr(text, '\n', len);
}

/* In a shell, '?' is a pattern. */
bool scan_is_question(const struct syntax *syntax, const char *text, size_t len)
{
    if (syntax->opening[0] || len < 2 || memchr(text, '\n', len))
        return false;
    return text[0] == '?' || (text[len - 1] == '?' && text[len - 2] != ' ');
}

bool scan_goes_on(const struct syntax *syntax, const char *text, size_t len)
{
    if (scan_is_command(text, len) || scan_is_question(syntax, text, len))
        return false;
    struct scanner s;
    char last = scan_all(syntax, text, len, &s);
    size_t line = last_line(text, len), n = trimmed(text, len);
    if (n == 0)
        return false;
    if (s.open_string || s.here || s.depth > 0 || text[len - 1] == '\\')
        return true;
    if (syntax->indents) /* a block goes on to an empty line */
        return last == ':' ||
               (trimmed(text + line, len - line) > 0 && (text[line] == ' ' || text[line] == '\t'));
    if (syntax->ends_with_semicolon)
        return last != ';' && text[0] != '.' && text[0] != '\\';
    if (syntax->opening[0])
        return last == '|' || (n > 1 && memcmp(text + n - 2, "&&", 2) == 0);
    bool counts = n > 1 &&
                  (memcmp(text + n - 2, "++", 2) == 0 || memcmp(text + n - 2, "--", 2) == 0);
    bool arrow = n > 1 && memcmp(text + n - 2, "=>", 2) == 0;
    return syntax->operators && last && !counts && (arrow || strchr(syntax->operators, last));
}

size_t scan_indent(const struct syntax *syntax, const char *text, size_t len)
{
    enum { STEP = 4 };
    struct scanner s;
    size_t line = last_line(text, len), blanks = 0;
    while (line + blanks < len && text[line + blanks] == ' ')
        blanks++;
    if (!syntax->indents && !syntax->block_comments)
        return 0;
    char last = scan_all(syntax, text + line, len - line, &s);
    bool opens = (syntax->indents && last == ':') || (last && strchr("([{", last));
    return blanks + (opens ? STEP : 0);
}
