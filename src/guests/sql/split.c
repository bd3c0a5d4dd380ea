#include "guests/sql/split.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct lexer {
    const char *text;
    size_t n, at;
    unsigned parens, begins;
    unsigned words;  /* so far */
    bool is_routine; /* CREATE [OR REPLACE] FUNCTION or PROCEDURE: may have a body of statements */
    bool is_create;
    bool is_prepare;
    unsigned parameters;
};

static bool is_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || ((unsigned char)c & 0x80);
}

static bool is_part(char c)
{
    return is_start(c) || isdigit((unsigned char)c) || c == '$';
}

static bool looks_at(const struct lexer *l, const char *token)
{
    size_t n = strlen(token);
    return l->n - l->at >= n && memcmp(l->text + l->at, token, n) == 0;
}

/* ---- blanks and comments ---- */

static void skip_line(struct lexer *l)
{
    const char *newline = memchr(l->text + l->at, '\n', l->n - l->at);
    l->at = newline ? (size_t)(newline - l->text) + 1 : l->n;
}

static void skip_comment(struct lexer *l, bool nested)
{
    unsigned depth = 1;
    l->at += 2;
    while (l->at < l->n && depth > 0) {
        if (looks_at(l, "*/")) {
            depth--;
            l->at += 2;
        } else if (nested && looks_at(l, "/*")) {
            depth++;
            l->at += 2;
        } else {
            l->at++;
        }
    }
}

/* True if something was skipped. */
static bool skip_blank(struct lexer *l, bool nested)
{
    if (l->at >= l->n)
        return false;
    if (isspace((unsigned char)l->text[l->at]))
        l->at++;
    else if (looks_at(l, "--"))
        skip_line(l);
    else if (looks_at(l, "/*"))
        skip_comment(l, nested);
    else
        return false;
    return true;
}

size_t split_skip_blank(const char *text, size_t n, size_t at, bool nested)
{
    struct lexer l = { .text = text, .n = n, .at = at };
    while (skip_blank(&l, nested))
        ;
    return l.at;
}

/* ---- quotes ---- */

static void skip_quoted(struct lexer *l, char quote, bool backslashes)
{
    for (l->at++; l->at < l->n; l->at++) {
        char c = l->text[l->at];
        if (backslashes && c == '\\') {
            l->at++;
        } else if (c == quote) {
            if (l->at + 1 < l->n && l->text[l->at + 1] == quote) {
                l->at++;
                continue;
            }
            l->at++;
            return;
        }
    }
    l->at = l->n;
}

/* $tag$ … $tag$, or $1, or a lone dollar. */
static void skip_dollar(struct lexer *l)
{
    size_t end = l->at + 1;
    if (end < l->n && isdigit((unsigned char)l->text[end])) {
        unsigned number = 0;
        for (; end < l->n && isdigit((unsigned char)l->text[end]); end++)
            number = number < 100000 ? number * 10 + (unsigned)(l->text[end] - '0') : number;
        l->parameters = number > l->parameters ? number : l->parameters;
        l->at = end;
        return;
    }
    while (end < l->n && is_part(l->text[end]) && l->text[end] != '$')
        end++;
    if (end >= l->n || l->text[end] != '$') {
        l->at++;
        return;
    }
    const char *tag = l->text + l->at;
    size_t tag_len = end + 1 - l->at;
    const char *close = memmem(l->text + end + 1, l->n - end - 1, tag, tag_len);
    l->at = close ? (size_t)(close - l->text) + tag_len : l->n;
}

/* ---- words ---- */

static bool word_is(const char *word, size_t n, const char *name)
{
    return strlen(name) == n && strncasecmp(word, name, n) == 0;
}

/* In the body of a routine END closes BEGIN and CASE; elsewhere BEGIN is a statement. */
static void note_word(struct lexer *l, const char *word, size_t n)
{
    l->words++;
    if (l->words == 1) {
        l->is_create = word_is(word, n, "create");
        l->is_prepare = word_is(word, n, "prepare");
    }
    if (l->is_create && l->words <= 4 &&
        (word_is(word, n, "function") || word_is(word, n, "procedure")))
        l->is_routine = true;
    if (!l->is_routine || l->parens > 0)
        return;
    if (word_is(word, n, "begin") || (l->begins > 0 && word_is(word, n, "case")))
        l->begins++;
    else if (l->begins > 0 && word_is(word, n, "end"))
        l->begins--;
}

static void take_word(struct lexer *l)
{
    size_t start = l->at;
    while (l->at < l->n && is_part(l->text[l->at]))
        l->at++;
    bool escapes = l->at - start == 1 && (l->text[start] == 'e' || l->text[start] == 'E');
    if (escapes && l->at < l->n && l->text[l->at] == '\'')
        skip_quoted(l, '\'', true);
    else
        note_word(l, l->text + start, l->at - start);
}

/* ---- statements ---- */

static void take_token(struct lexer *l)
{
    char c = l->text[l->at];
    if (is_start(c)) {
        take_word(l);
    } else if (isdigit((unsigned char)c)) { /* 1e5 is not a word, and 1$x$ not a quote */
        while (l->at < l->n && is_part(l->text[l->at]))
            l->at++;
    } else if (c == '\'' || c == '"') {
        skip_quoted(l, c, false);
    } else if (c == '$') {
        skip_dollar(l);
    } else {
        l->parens += c == '(';
        l->parens -= c == ')' && l->parens > 0;
        l->at++;
    }
}

static bool take_command(struct lexer *l, struct statement *ret)
{
    if (l->text[l->at] != '\\')
        return false;
    *ret = (struct statement){ .start = l->at, .command = true };
    skip_line(l);
    ret->next = ret->end = l->at;
    while (ret->end > ret->start && isspace((unsigned char)l->text[ret->end - 1]))
        ret->end--;
    return true;
}

bool split_next(const char *text, size_t n, size_t at, struct statement *ret)
{
    struct lexer l = { .text = text, .n = n, .at = at };
    while (skip_blank(&l, true) || (l.at < l.n && text[l.at] == ';'))
        l.at += l.at < l.n && text[l.at] == ';';
    if (l.at >= n)
        return false;
    if (take_command(&l, ret))
        return true;
    size_t start = l.at, end = start;
    while (l.at < n && !(text[l.at] == ';' && l.parens == 0 && l.begins == 0)) {
        if (skip_blank(&l, true))
            continue;
        take_token(&l);
        end = l.at;
    }
    *ret = (struct statement){
        .start = start,
        .end = end,
        .next = l.at < n ? l.at + 1 : n,
        .parameters = l.is_prepare || l.is_routine ? 0 : l.parameters,
    };
    return true;
}
