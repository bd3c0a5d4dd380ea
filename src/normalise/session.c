/* normalise/session.c — extracts the typed lines from a terminal session: lines after a prompt
 * stay, answers go. Declarations of languages have the prompts. */
#include <ctype.h>
#include <string.h>

#include "normalise/document.h"

/* One pair of a language's prompts. */
struct prompt {
    const char *first, *more; /* first NULL: the text is not a session */
    const struct language *language;
};

struct session_line {
    const char *at;
    size_t n; /* with its line end */
};

static struct session_line line_at(const char *text, size_t len, size_t at)
{
    const char *newline = memchr(text + at, '\n', len - at);
    return (struct session_line){ text + at,
                                  newline ? (size_t)(newline - text) - at + 1 : len - at };
}

/* The length of the prompt at the start of the line; 0: none. '#' is any number. A prompt with
 * nothing behind it may lack its blank. */
static size_t prompt_len(struct session_line l, const char *prompt)
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
        if (p[1] == ' ') { /* in "postgres=# " it is the character itself */
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

static size_t blanks(struct session_line l)
{
    size_t i = 0;
    while (i < l.n && (l.at[i] == ' ' || l.at[i] == '\t'))
        i++;
    return i;
}

static struct prompt find_prompt(const char *text, size_t len, const struct language *known)
{
    size_t at = payload_mark(text, len);
    while (at < len && isspace((unsigned char)text[at]))
        at++;
    struct session_line l = line_at(text, len, at);
    for (size_t i = 0; languages[i]; i++) {
        const char *const *pair = languages[i]->prompts;
        for (; pair && *pair && (!known || known == languages[i]); pair += 2) {
            bool sure = pair[0][0] == '!';
            size_t n = known || sure ? prompt_len(l, pair[0] + sure) : 0;
            if (n > 0 && n < l.n && !isspace((unsigned char)l.at[n]))
                return (struct prompt){ pair[0] + sure, pair[1], languages[i] };
        }
    }
    return (struct prompt){ 0 };
}

const struct language *session_language(const char *text, size_t len, const struct language *known)
{
    return find_prompt(text, len, known).language;
}

/* True for a command that always continues in the next line. */
static bool goes_on(struct session_line l)
{
    while (l.n > 0 && isspace((unsigned char)l.at[l.n - 1]))
        l.n--;
    return l.n > 0 && l.at[l.n - 1] == '\\';
}

/* Where the typed text begins in the line; the length of the line if there is none. */
static size_t typed_from(struct prompt p, struct session_line l, bool after_typed, bool open)
{
    size_t indent = blanks(l);
    struct session_line rest = { l.at + indent, l.n - indent };
    size_t n = prompt_len(rest, p.first);
    if (n == 0 && after_typed && (p.first[0] != '$' || open))
        n = prompt_len(rest, p.more);
    return n > 0 ? indent + n : open ? 0 : l.n;
}

int session_add(struct buf *b, const char *text, size_t len, const struct language *known,
                const struct language **ret_language, struct err *e)
{
    struct prompt p = find_prompt(text, len, known);
    if (!p.first)
        return buf_add(b, text, len, e);
    *ret_language = p.language;
    bool after_typed = false, open = false;
    for (size_t at = payload_mark(text, len); at < len;) {
        struct session_line l = line_at(text, len, at);
        size_t from = typed_from(p, l, after_typed, open);
        at += l.n;
        after_typed = from < l.n;
        open = after_typed && p.first[0] == '$' && goes_on(l);
        if (after_typed && buf_add(b, l.at + from, l.n - from, e))
            return -1;
    }
    return 0;
}
