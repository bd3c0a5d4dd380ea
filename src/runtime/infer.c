/* runtime/infer.c — infers the language of code from its text. A beginning that only one language
 * has decides at once. Otherwise each line votes by the hints that it matches; comments and long
 * strings do not count. A dialect ("<bash") also gets the votes of its base language as soon as one
 * of its own strong hints matches. A tie means that no language is inferred. */
#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "runtime/language.h"

enum { LOOKED_AT = 8 << 10 }; /* the beginning of a program is enough to tell */
enum { STRONG = 4 };          /* also the most that one line counts for or against a language */

struct code_line {
    const char *at;
    size_t n;
};

/* The set of bytes in a line. Most hints begin with a byte that the line does not have and need no
 * search. */
struct bytes {
    bool in[UCHAR_MAX + 1];
};

static struct bytes bytes_of(struct code_line l)
{
    struct bytes b = { 0 };
    for (size_t i = 0; i < l.n; i++)
        b.in[(unsigned char)l.at[i]] = true;
    return b;
}

static bool has(struct code_line l, const struct bytes *bytes, const char *what)
{
    size_t n = strlen(what + 1);
    switch (what[0]) {
    case '^':
        return l.n >= n && memcmp(l.at, what + 1, n) == 0;
    case '~':
        return l.n >= n && memcmp(l.at + l.n - n, what + 1, n) == 0;
    case '|':
        return l.n == n && memcmp(l.at, what + 1, n) == 0;
    default:
        return bytes->in[(unsigned char)what[0]] && memmem(l.at, l.n, what, n + 1) != NULL;
    }
}

static bool is_beginning(const char *hint)
{
    return hint[0] == '^' && hint[1] == '^';
}

/* ---- lines ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Without the blanks at its ends. */
static struct code_line next_line(const char **at, const char *end)
{
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    struct code_line l = { *at, (size_t)((newline ? newline : end) - *at) };
    *at = newline ? newline + 1 : end;
    while (l.n > 0 && is_blank(*l.at))
        l.at++, l.n--;
    while (l.n > 0 && is_blank(l.at[l.n - 1]))
        l.n--;
    return l;
}

/* Delimiters of lines that are not code. */
static const struct stretch {
    const char *open, *close;
    bool leads; /* only at the start of a line */
} stretches[] = {
    { "\"\"\"", "\"\"\"", false }, { "'''", "'''", false },    { "/*", "*/", true },
    { "--[[", "]]", true },        { "=begin", "=end", true }, { "=pod", "=cut", true },
};
enum { STRETCHES = ARRAY_LEN(stretches) };

/* If this line opens a stretch: the position after the end of the stretch. Otherwise NULL. */
static const char *behind_stretch(const struct stretch *s, struct code_line l, const char *end)
{
    size_t n = strlen(s->open), m = strlen(s->close);
    const char *open = memmem(l.at, l.n, s->open, n);
    if (!open || (s->leads && open != l.at))
        return NULL;
    const char *rest = open + n, *close = memmem(rest, (size_t)(l.at + l.n - rest), s->close, m);
    if (close) /* in the same line; a comment alone on its line is not code */
        return s->leads && close + m == l.at + l.n ? l.at + l.n : NULL;
    close = memmem(rest, (size_t)(end - rest), s->close, m);
    if (!close)
        return end;
    return close + m;
}

/* The word that ends the here-document which this line begins: <<'EOF', <<-EOF, <<~EOF, <<<EOF.
 * Only capitals, the usual spelling, so that a shift does not match. */
static struct code_line heredoc_word(struct code_line l)
{
    struct code_line none = { NULL, 0 };
    const char *at = memmem(l.at, l.n, "<<", 2), *end = l.at + l.n;
    if (!at)
        return none;
    for (at += 2; at < end && *at && strchr("<-~ '\"", *at);)
        at++;
    size_t n = 0;
    while (at + n < end && (isupper((unsigned char)at[n]) || at[n] == '_'))
        n++;
    return n >= 2 ? (struct code_line){ at, n } : none;
}

static const char *behind_heredoc(struct code_line l, const char *at, const char *end)
{
    struct code_line word = heredoc_word(l);
    while (word.n > 0 && at < end) {
        struct code_line next = next_line(&at, end);
        if (next.n >= word.n && next.n <= word.n + 2 && memcmp(next.at, word.at, word.n) == 0)
            return at;
    }
    return NULL;
}

/* Of a comment only its sign counts. */
static struct code_line without_comment(struct code_line l)
{
    bool hash = l.n > 0 && l.at[0] == '#' && (l.n == 1 || is_blank(l.at[1]) || l.at[1] == '#');
    bool slashes = l.n >= 2 && memcmp(l.at, "//", 2) == 0;
    bool dashes = l.n >= 2 && memcmp(l.at, "--", 2) == 0 &&
                  (l.n == 2 || !isalnum((unsigned char)l.at[2]));
    if (hash || slashes || dashes)
        l.n = hash ? 1 : 2;
    return l;
}

/* The next line of code. `*spent` has a bit for each kind of stretch that is never closed from here
 * on, so that the search for its end happens once and the time stays linear. */
static struct code_line next_of_program(const char **at, const char *end, unsigned *spent)
{
    struct code_line l = next_line(at, end);
    for (size_t i = 0; i < STRETCHES; i++) {
        const char *behind = *spent & 1u << i ? NULL : behind_stretch(&stretches[i], l, end);
        if (behind == end && *at < end)
            *spent |= 1u << i;
        else if (behind && stretches[i].leads) {
            *at = behind;
            return (struct code_line){ l.at, strlen(stretches[i].open) };
        } else if (behind) {
            *at = behind;
            return l;
        }
    }
    const char *behind = behind_heredoc(l, *at, end);
    *at = behind ? behind : *at;
    return without_comment(l);
}

/* ---- voting ---- */

struct tally {
    int own;          /* votes for it minus votes against it */
    int for_dialects; /* votes for it, which also count for its dialects */
    unsigned lines;   /* lines that vote for it */
    bool strong;
};

static void weigh(const struct language *l, struct code_line line, const struct bytes *bytes,
                  struct tally *t)
{
    int sum = 0, against = 0;
    for (const char *const *hint = l->hints; *hint; hint++) {
        const char *what = *hint;
        bool is_strong = what[0] == '!', is_against = what[0] == '-' && what[1];
        if (what[0] == '<' || is_beginning(what) ||
            !has(line, bytes, what + (is_strong || is_against)))
            continue;
        if (is_against)
            against = STRONG;
        else
            sum += is_strong ? STRONG : 1;
        t->strong = t->strong || is_strong;
    }
    sum = sum < STRONG ? sum : STRONG;
    t->own += sum - against;
    t->for_dialects += sum;
    t->lines += sum > 0;
}

static const struct language *base_language(const struct language *l)
{
    for (const char *const *hint = l->hints; *hint; hint++)
        if ((*hint)[0] == '<')
            return language_find(*hint + 1);
    return NULL;
}

static int weight_of(const struct tally *tallies, size_t i)
{
    const struct language *base = base_language(languages[i]);
    int all = base && !tallies[i].strong ? 0 : tallies[i].own;
    for (size_t k = 0; languages[k] && all > 0; k++)
        all += languages[k] == base ? tallies[k].for_dialects : 0;
    return all;
}

/* True for words without any of the signs that programs are full of. */
static bool is_words(const char *code, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = code[i], next = i + 1 < len ? code[i + 1] : ' ';
        bool option = c == '-' && i > 0 && code[i - 1] == ' ' &&
                      (isalpha((unsigned char)next) || next == '-');
        if (option || (c && strchr("(){}[];=$<>\"'|/\\*", c)))
            return false;
    }
    return true;
}

/* True for words that are not commands: more words than a command has, or lines that match no
 * hint. */
static bool is_prose(const char *code, size_t len, const struct tally *t)
{
    size_t words = 0, lines = 0;
    bool new_word = true;
    if (!is_words(code, len))
        return false;
    for (const char *at = code, *end = code + len; at < end;)
        lines += next_line(&at, end).n > 0;
    for (size_t i = 0; i < len; i++) {
        bool blank = is_blank(code[i]) || code[i] == '\n';
        words += !blank && new_word;
        new_word = blank;
    }
    return lines > 1 ? t->lines < lines : words > 3;
}

/* Skips blanks and a byte order mark. */
static size_t beginning(const char *code, size_t len)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t at = len >= 3 && memcmp(code, mark, 3) == 0 ? 3 : 0;
    while (at < len && code[at] && strchr(" \t\r\n", code[at]))
        at++;
    return at;
}

/* {"name": …, as JSON and Python write it: data, even if it contains code. */
static bool is_data(const char *code, size_t len)
{
    size_t at = beginning(code, len);
    if (at == len || code[at] != '{')
        return false;
    at += 1 + beginning(code + at + 1, len - at - 1);
    return at < len && (code[at] == '"' || code[at] == '\'');
}

static const struct language *by_beginning(const char *code, size_t len)
{
    size_t at = beginning(code, len);
    for (size_t i = 0; languages[i]; i++)
        for (const char *const *hint = languages[i]->hints; *hint; hint++) {
            const char *what = is_beginning(*hint) ? *hint + 2 : NULL;
            if (what && len - at >= strlen(what) && memcmp(code + at, what, strlen(what)) == 0)
                return languages[i];
        }
    return NULL;
}

size_t language_candidates(const char *code, size_t len, const struct language *ret[CANDIDATES_MAX],
                           bool *ret_clear)
{
    struct tally tallies[LANGUAGES_MAX] = { 0 };
    int weights[CANDIDATES_MAX + 1] = { 0 };
    size_t n = 0;
    unsigned spent = 0;
    *ret_clear = true;
    if ((ret[0] = by_beginning(code, len)))
        return 1;
    if (is_data(code, len))
        return 0;
    if (len > LOOKED_AT)
        len = LOOKED_AT;
    for (const char *at = code, *end = code + len; at < end;) {
        struct code_line line = next_of_program(&at, end, &spent);
        struct bytes bytes = bytes_of(line);
        for (size_t i = 0; languages[i] && line.n > 0; i++)
            weigh(languages[i], line, &bytes, &tallies[i]);
    }
    for (size_t i = 0; languages[i]; i++) {
        int weight = weight_of(tallies, i);
        if (weight <= 0 || is_prose(code, len, &tallies[i]))
            continue;
        size_t k = n < CANDIDATES_MAX ? n++ : n;
        for (; k > 0 && weights[k - 1] < weight; k--) {
            weights[k] = weights[k - 1];
            if (k < CANDIDATES_MAX)
                ret[k] = ret[k - 1];
        }
        weights[k] = weight;
        if (k < CANDIDATES_MAX)
            ret[k] = languages[i];
    }
    *ret_clear = n == 1 || (n > 1 && weights[0] > weights[1]);
    return n;
}

const struct language *language_infer(const char *code, size_t len)
{
    const struct language *likely[CANDIDATES_MAX];
    bool clear;
    return language_candidates(code, len, likely, &clear) > 0 && clear ? likely[0] : NULL;
}
