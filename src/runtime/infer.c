/* Which language lines look like. A beginning that is one language's alone decides; else hints are weighed line by line; a dialect ("<bash") has its mother's weight as well once one of
 * its own strong hints is there. Nobody wins by being as likely as another. */
#include <stdbool.h>
#include <string.h>

#include "runtime/language.h"

enum { LOOKED_AT = 8 << 10 }; /* what a language is shows soon */
enum { STRONG = 4 };          /* and no line counts for more */

struct line {
    const char *at;
    size_t n;
};

static bool has(struct line l, const char *what)
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
        return memmem(l.at, l.n, what, n + 1) != NULL;
    }
}

static bool is_beginning(const char *hint)
{
    return hint[0] == '^' && hint[1] == '^';
}

static unsigned weigh(const struct language *l, struct line line, bool *strong)
{
    unsigned sum = 0;
    for (const char *const *hint = l->hints; *hint; hint++) {
        const char *what = *hint;
        bool is_strong = what[0] == '!';
        if (what[0] == '<' || is_beginning(what) || !has(line, what + is_strong))
            continue;
        sum += is_strong ? STRONG : 1;
        *strong = *strong || is_strong;
    }
    return sum < STRONG ? sum : STRONG;
}

/* Without the blanks at its ends. */
static struct line next_line(const char **at, const char *end)
{
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    struct line l = { *at, (size_t)((newline ? newline : end) - *at) };
    *at = newline ? newline + 1 : end;
    while (l.n > 0 && (*l.at == ' ' || *l.at == '\t'))
        l.at++, l.n--;
    while (l.n > 0 && strchr(" \t\r", l.at[l.n - 1]) && l.at[l.n - 1])
        l.n--;
    return l;
}

/* Words without a sign that programs are full of, and more of them than a command has. */
static bool is_prose(const char *code, size_t len)
{
    size_t words = 0, lines = 0;
    bool new_word = true, new_line = true;
    for (size_t i = 0; i < len; i++) {
        char c = code[i];
        if (c && strchr("(){}[];=$<>\"'|/\\", c))
            return false;
        bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
        words += !blank && new_word;
        lines += !blank && new_line;
        new_word = blank;
        new_line = c == '\n' || (blank && new_line);
    }
    return lines > 1 || words > 3;
}

static const struct language *mother_of(const struct language *l)
{
    for (const char *const *hint = l->hints; *hint; hint++)
        if ((*hint)[0] == '<')
            return language_find(*hint + 1);
    return NULL;
}

/* Blanks and a byte order mark before it are nobody's. */
static const struct language *by_beginning(const char *code, size_t len)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t at = len >= 3 && memcmp(code, mark, 3) == 0 ? 3 : 0;
    while (at < len && code[at] && strchr(" \t\r\n", code[at]))
        at++;
    for (size_t i = 0; languages[i]; i++)
        for (const char *const *hint = languages[i]->hints; *hint; hint++) {
            const char *what = is_beginning(*hint) ? *hint + 2 : NULL;
            if (what && len - at >= strlen(what) && memcmp(code + at, what, strlen(what)) == 0)
                return languages[i];
        }
    return NULL;
}

const struct language *language_infer(const char *code, size_t len)
{
    unsigned own[LANGUAGES_MAX] = { 0 }, most = 0, second = 0;
    bool strong[LANGUAGES_MAX] = { false };
    const struct language *best = by_beginning(code, len);
    if (best)
        return best;
    if (len > LOOKED_AT)
        len = LOOKED_AT;
    if (is_prose(code, len))
        return NULL;
    for (const char *at = code, *end = code + len; at < end;) {
        struct line line = next_line(&at, end);
        for (size_t i = 0; languages[i] && line.n > 0; i++)
            own[i] += weigh(languages[i], line, &strong[i]);
    }
    for (size_t i = 0; languages[i]; i++) {
        const struct language *mother = mother_of(languages[i]);
        unsigned all = mother && !strong[i] ? 0 : own[i];
        for (size_t k = 0; languages[k] && all > 0; k++)
            all += languages[k] == mother ? own[k] : 0;
        if (all > most)
            best = languages[i];
        second = all > most ? most : all > second ? all : second;
        most = all > most ? all : most;
    }
    return most > second ? best : NULL;
}
