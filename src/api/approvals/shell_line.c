#include "api/approvals/shell_line.h"

#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/strv.h"

struct line {
    const char *at, *end;
    struct buf word;
    bool in_word;
    char **words;
    size_t n;
};

static void line_done(struct line *l)
{
    buf_done(&l->word);
    strv_free(l->words);
}

static int refuse(struct err *e, const char *why)
{
    return err_set(e, ERR_BAD_REQUEST, 0, "it is not a single command: %s", why);
}

static int end_word(struct line *l, struct err *e)
{
    if (!l->in_word)
        return 0;
    if (strv_add(&l->words, buf_str(&l->word), e))
        return -1;
    l->n++;
    if (l->word.data)
        l->word.data[0] = '\0';
    l->word.len = 0;
    l->in_word = false;
    return 0;
}

static int add(struct line *l, char c, struct err *e)
{
    l->in_word = true;
    return buf_add(&l->word, &c, 1, e);
}

static int close_quote(struct line *l, struct err *e)
{
    if (l->at == l->end)
        return refuse(e, "a quote is not closed");
    l->at++;
    return 0;
}

/* Behind the opening quote; moves behind the closing one. */
static int single_quoted(struct line *l, struct err *e)
{
    l->in_word = true;
    for (; l->at < l->end && *l->at != '\''; l->at++)
        if (add(l, *l->at, e))
            return -1;
    return close_quote(l, e);
}

static int double_quoted(struct line *l, struct err *e)
{
    l->in_word = true;
    for (; l->at < l->end && *l->at != '"'; l->at++) {
        if (*l->at == '$' || *l->at == '`')
            return refuse(e, "bash expands $ and ` inside of double quotes");
        bool escapes = *l->at == '\\' && l->at + 1 < l->end && strchr("$`\"\\", l->at[1]);
        l->at += escapes;
        if (add(l, *l->at, e))
            return -1;
    }
    return close_quote(l, e);
}

static int escaped(struct line *l, struct err *e)
{
    if (l->at == l->end)
        return refuse(e, "it ends with a backslash");
    return add(l, *l->at++, e);
}

/* The meaning of a byte outside of quotes. */
static const struct {
    const char *bytes, *why;
} special[] = {
    { ";&|()", "; & | and parentheses start further commands" },
    { "<>", "< and > redirect" },
    { "$`", "$ and ` expand" },
    { "*?[]", "* ? and brackets expand to names of files" },
    { "{}~", "braces and ~ expand" },
};

static int plain(struct line *l, char c, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(special); i++)
        if (strchr(special[i].bytes, c))
            return refuse(e, special[i].why);
    if (c == '#' && !l->in_word)
        return refuse(e, "# starts a comment");
    if (c == '=' && l->n == 0)
        return refuse(e, "= in the first word may assign a variable");
    return add(l, c, e);
}

static int next(struct line *l, struct err *e)
{
    char c = *l->at++;
    if (c == ' ' || c == '\t')
        return end_word(l, e);
    if (c == '\'')
        return single_quoted(l, e);
    if (c == '"')
        return double_quoted(l, e);
    return c == '\\' ? escaped(l, e) : plain(l, c, e);
}

/* These begin more than a simple command. */
static bool is_reserved(const char *word)
{
    static const char *const words[] = { "!",    "[[",       "case",  "coproc", "do",
                                         "done", "elif",     "else",  "esac",   "fi",
                                         "for",  "function", "if",    "in",     "select",
                                         "then", "time",     "until", "while" };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

static int check_bytes(const char *text, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\n')
            return refuse(e, "it has several lines");
        if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7f)
            return refuse(e, "it has a control character");
    }
    return 0;
}

int shell_line_words(const char *text, size_t n, char ***ret_words, struct err *e)
{
    while (n > 0 && text[n - 1] == '\n')
        n--;
    scoped(line) l = { .at = text, .end = text + n };
    if (check_bytes(text, n, e))
        return -1;
    while (l.at < l.end)
        if (next(&l, e))
            return -1;
    if (end_word(&l, e))
        return -1;
    if (l.n == 0)
        return refuse(e, "it has no word");
    if (is_reserved(l.words[0]))
        return refuse(e, "its first word is a keyword of the shell");
    *ret_words = l.words;
    l.words = NULL;
    return 0;
}
