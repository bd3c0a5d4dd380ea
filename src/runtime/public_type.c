#include "runtime/public_type.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

struct scan {
    const char *at, *end;
};

static bool begins(const struct scan *s, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(s->end - s->at) >= n && memcmp(s->at, text, n) == 0;
}

/* Moves behind the next `text`, or to the end. */
static void move_behind(struct scan *s, const char *text)
{
    const char *found = memmem(s->at, (size_t)(s->end - s->at), text, strlen(text));
    s->at = found ? found + strlen(text) : s->end;
}

/* Moves behind a literal that begins and ends with `mark`. A backslash hides the byte after it. A
 * literal of one line that is not closed ends with its line, as for the compiler. */
static void skip_literal(struct scan *s, const char *mark)
{
    bool lines = strlen(mark) > 1;
    for (s->at += strlen(mark); s->at < s->end; s->at++) {
        if (begins(s, mark)) {
            s->at += strlen(mark);
            return;
        }
        if (*s->at == '\n' && !lines)
            return;
        if (*s->at == '\\' && s->end - s->at > 1)
            s->at++;
    }
}

/* False: neither a comment nor a literal begins here. */
static bool skip_text(struct scan *s)
{
    /* the longer mark first */
    static const char *const marks[] = { "\"\"\"", "\"", "'" };
    if (begins(s, "//") || begins(s, "/*")) {
        bool line = s->at[1] == '/';
        s->at += 2;
        move_behind(s, line ? "\n" : "*/");
        return true;
    }
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (begins(s, marks[i])) {
            skip_literal(s, marks[i]);
            return true;
        }
    return false;
}

static size_t word_length(const struct scan *s)
{
    size_t n = 0;
    while (s->at + n < s->end &&
           (isalnum((unsigned char)s->at[n]) || s->at[n] == '_' || s->at[n] == '$'))
        n++;
    return n;
}

static bool is_word(const char *at, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(at, word, n) == 0;
}

static bool is_kind(const char *const *kinds, const char *at, size_t n)
{
    for (; *kinds; kinds++)
        if (is_word(at, n, *kinds))
            return true;
    return false;
}

size_t public_type_find(const char *const *kinds, const char *code, size_t len,
                        const char **ret_name)
{
    struct scan s = { code, code + len };
    size_t depth = 0; /* of open brackets: a type in there is nested, or an argument */
    bool is_public = false, names = false /* the name follows */;
    while (s.at < s.end) {
        if (skip_text(&s))
            continue;
        size_t n = word_length(&s);
        if (n > 0 && depth == 0 && names) {
            *ret_name = s.at;
            return n;
        }
        if (n > 0) {
            names = depth == 0 && is_public && is_kind(kinds, s.at, n);
            is_public = is_public || (depth == 0 && is_word(s.at, n, "public"));
            s.at += n;
            continue;
        }
        char c = *s.at++;
        names = names && isspace((unsigned char)c);
        if (c && strchr("{([", c))
            depth++;
        else if (c && strchr("})]", c) && depth > 0)
            depth--;
        if (depth == 0 && (c == ';' || c == '}'))
            is_public = false;
    }
    return 0;
}
