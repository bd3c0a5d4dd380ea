/* What somebody typed, out of what a terminal showed: lines behind a prompt are kept, answers are not. */
#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "normalise/document.h"

/* '#' is any number. */
static const struct prompt {
    const char *prompt, *more, *language;
    bool sure; /* no program of any language begins so */
} prompts[] = {
    { ">>> ", "... ", "python", true },
    { "In [#]: ", "...: ", "python", true },
    { "irb(main):#:#> ", "irb(main):#:#* ", "ruby", true },
    { "irb(main):#> ", "irb(main):#* ", "ruby", true },
    { "sqlite> ", "...> ", "sqlite", true },
    { "postgres=# ", "postgres-# ", "postgres", true },
    { "$ ", "> ", "bash", true },
    { "$ ", "> ", "zsh", false },
    { "> ", "+ ", "r", false },
    { "> ", "... ", "javascript", false },
    { "> ", ">> ", "lua", false },
};

struct line {
    const char *at;
    size_t n; /* with its end */
};

static struct line line_at(const char *text, size_t len, size_t at)
{
    const char *newline = memchr(text + at, '\n', len - at);
    return (struct line){ text + at, newline ? (size_t)(newline - text) - at + 1 : len - at };
}

/* How long the prompt is that the line begins with; 0: it does not. One with nothing behind it may lack its blank. */
static size_t prompt_len(struct line l, const char *prompt)
{
    size_t i = 0;
    while (l.n > 0 && strchr("\r\n", l.at[l.n - 1]) && l.at[l.n - 1])
        l.n--;
    for (const char *p = prompt; *p; p++) {
        if (i == l.n)
            return *p == ' ' && !p[1] ? i : 0;
        if (*p != '#') {
            if (l.at[i++] != *p)
                return 0;
            continue;
        }
        if (p[1] == ' ') { /* "postgres=# " is what it says */
            if (l.at[i++] != '#')
                return 0;
            continue;
        }
        size_t digits = i;
        while (i < l.n && isdigit((unsigned char)l.at[i]))
            i++;
        if (i == digits)
            return 0;
    }
    return i;
}

static size_t blanks(struct line l)
{
    size_t i = 0;
    while (i < l.n && (l.at[i] == ' ' || l.at[i] == '\t'))
        i++;
    return i;
}

static const struct prompt *find_prompt(const char *text, size_t len, const struct language *known)
{
    size_t at = payload_mark(text, len);
    while (at < len && isspace((unsigned char)text[at]))
        at++;
    struct line l = line_at(text, len, at);
    for (size_t i = 0; i < ARRAY_LEN(prompts); i++) {
        bool fits = known ? language_find(prompts[i].language) == known : prompts[i].sure;
        size_t n = fits ? prompt_len(l, prompts[i].prompt) : 0;
        if (n > 0 && n < l.n && !isspace((unsigned char)l.at[n]))
            return &prompts[i];
    }
    return NULL;
}

const struct language *session_language(const char *text, size_t len, const struct language *known)
{
    const struct prompt *p = find_prompt(text, len, known);
    return p ? language_find(p->language) : NULL;
}

/* A command that goes on in the next line whatever that begins with. */
static bool goes_on(struct line l)
{
    while (l.n > 0 && isspace((unsigned char)l.at[l.n - 1]))
        l.n--;
    return l.n > 0 && l.at[l.n - 1] == '\\';
}

/* Where what was typed begins in the line; its length when nothing was. */
static size_t typed_from(const struct prompt *p, struct line l, bool after_typed, bool open)
{
    size_t indent = blanks(l);
    struct line rest = { l.at + indent, l.n - indent };
    size_t n = prompt_len(rest, p->prompt);
    if (n == 0 && after_typed && (p->prompt[0] != '$' || open))
        n = prompt_len(rest, p->more);
    return n > 0 ? indent + n : open ? 0 : l.n;
}

int session_add(struct buf *b, const char *text, size_t len, const struct language *known,
                const struct language **ret_language, struct err *e)
{
    const struct prompt *p = find_prompt(text, len, known);
    if (!p)
        return buf_add(b, text, len, e);
    *ret_language = language_find(p->language);
    bool after_typed = false, open = false;
    for (size_t at = payload_mark(text, len); at < len;) {
        struct line l = line_at(text, len, at);
        size_t from = typed_from(p, l, after_typed, open);
        at += l.n;
        after_typed = from < l.n;
        open = after_typed && p->prompt[0] == '$' && goes_on(l);
        if (after_typed && buf_add(b, l.at + from, l.n - from, e))
            return -1;
    }
    return 0;
}
