#include "normalise/payload.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/auto.h"

void payload_done(struct payload *p)
{
    buf_done(&p->code);
}

/* ---- fences ---- */
static size_t line_end(const char *text, size_t len, size_t at)
{
    const char *newline = memchr(text + at, '\n', len - at);
    return newline ? (size_t)(newline - text) : len;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* A fence at the start of a line: its character, and how many. 0: none. */
static size_t fence_run(const char *text, size_t at, size_t end, size_t *ret_indent)
{
    size_t i = at;
    while (i < end && (text[i] == ' ' || text[i] == '\t'))
        i++;
    size_t start = i;
    if (i == end || (text[i] != '`' && text[i] != '~'))
        return 0;
    while (i < end && text[i] == text[start])
        i++;
    *ret_indent = start - at;
    return i - start >= 3 ? i - start : 0;
}

/* "python", "{.python}", "python title=x" -> "python". Letters, digits and + # - . _ make a language. */
static void fence_word(const char *text, size_t at, size_t end, char out[FENCE_LANGUAGE_SIZE])
{
    size_t n = 0;
    while (at < end && (is_blank(text[at]) || text[at] == '{' || text[at] == '.'))
        at++;
    for (; at < end && n + 1 < FENCE_LANGUAGE_SIZE; at++) {
        char c = text[at];
        if (!isalnum((unsigned char)c) && !strchr("+#-._", c))
            break;
        out[n++] = (char)tolower((unsigned char)c);
    }
    out[n] = '\0';
}

static bool closes(const char *text, size_t at, size_t end, char fence, size_t count)
{
    size_t indent, n = fence_run(text, at, end, &indent);
    if (n < count || text[at + indent] != fence)
        return false;
    for (size_t i = at + indent + n; i < end; i++)
        if (!is_blank(text[i]))
            return false;
    return true;
}

static void find_close(const char *text, size_t len, size_t count, struct fence *f)
{
    char fence = text[f->open + f->indent];
    f->end = f->after = len;
    for (size_t at = f->body; at < len;) {
        size_t end = line_end(text, len, at);
        if (closes(text, at, end, fence, count)) {
            f->closed = true;
            f->end = at;
            f->after = end < len ? end + 1 : len;
            return;
        }
        at = end + 1;
    }
}

bool fence_next(const char *text, size_t len, size_t from, struct fence *ret)
{
    for (size_t at = from; at < len;) {
        size_t indent, end = line_end(text, len, at);
        size_t count = fence_run(text, at, end, &indent);
        size_t word = at + (count ? indent + count : 0);
        /* "```x```" is code within a line, not a block */
        bool inline_code = count && text[at + indent] == '`' &&
                           memchr(text + word, '`', end - word);
        if (count && !inline_code) {
            *ret = (struct fence){ .open = at, .indent = indent };
            ret->body = end < len ? end + 1 : len;
            ret->crlf = end < len && end > at && text[end - 1] == '\r';
            fence_word(text, word, end, ret->language);
            find_close(text, len, count, ret);
            return true;
        }
        at = end + 1;
    }
    return false;
}

int fence_add_body(struct buf *b, const char *text, const struct fence *f, struct err *e)
{
    for (size_t at = f->body; at < f->end;) {
        size_t end = line_end(text, f->end, at), skip = 0;
        while (skip < f->indent && at + skip < end && is_blank(text[at + skip]))
            skip++;
        size_t stop = end < f->end ? end + 1 : end;
        bool carried = f->crlf && stop > end && end > at + skip && text[end - 1] == '\r';
        if (carried ? buf_add(b, text + at + skip, end - 1 - at - skip, e) || buf_add(b, "\n", 1, e)
                    : buf_add(b, text + at + skip, stop - at - skip, e))
            return -1;
        at = stop;
    }
    return 0;
}

/* ---- is what stands before a fence prose? ---- */
static bool has(const char *line, size_t n, const char *what)
{
    return memmem(line, n, what, strlen(what)) != NULL;
}

static bool odd(const char *line, size_t n, char c)
{
    bool is_odd = false;
    for (size_t i = 0; i < n; i++)
        is_odd ^= line[i] == c;
    return is_odd;
}

static bool starts_like_code(const char *line, size_t n)
{
    static const char *const words[] = {
        "import", "from",    "def",  "class",    "for",   "while",  "if",       "elif",
        "else",   "try",     "with", "return",   "raise", "async",  "await",    "print",
        "const",  "let",     "var",  "function", "echo",  "export", "cat",      "set",
        "cd",     "package", "use",  "fn",       "pub",   "#!",     "#include", "@",
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t w = strlen(words[i]);
        if (n < w || memcmp(line, words[i], w) != 0)
            continue;
        if (!isalpha((unsigned char)words[i][0]) || n == w || !isalnum((unsigned char)line[w]))
            return true;
    }
    return false;
}

/* A line of fences is valid in a program only inside a string, and that string was opened by a line like these. Prose that
 * looks like one costs an unwrapping, never a program. */
static bool looks_like_code(const char *line, size_t n)
{
    while (n > 0 && is_blank(line[0]))
        line++, n--;
    while (n > 0 && is_blank(line[n - 1]))
        n--;
    if (n == 0)
        return false;
    if (starts_like_code(line, n) || strchr("{};\\", line[n - 1]))
        return true;
    for (size_t i = 1; i < n; i++) /* a call */
        if (line[i] == '(' && (isalnum((unsigned char)line[i - 1]) || line[i - 1] == '_'))
            return true;
    return memchr(line, '=', n) || has(line, n, "<<") || has(line, n, "'''") ||
           has(line, n, "\"\"\"") || odd(line, n, '"') || odd(line, n, '`');
}

static bool is_prose(const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t end = line_end(text, len, at);
        if (looks_like_code(text + at, end - at))
            return false;
        at = end + 1;
    }
    return true;
}

int payload_join(const char *text, size_t len, const struct fence *first, struct payload *p,
                 struct err *e)
{
    struct fence f = *first;
    memcpy(p->language, f.language, sizeof p->language);
    do {
        if (strcmp(f.language, first->language) != 0)
            continue;
        if (p->code.len > 0 && p->code.data[p->code.len - 1] != '\n' &&
            buf_add(&p->code, "\n", 1, e))
            return -1;
        if (fence_add_body(&p->code, text, &f, e))
            return -1;
    } while (fence_next(text, len, f.after, &f));
    return 0;
}

/* "```python print(1)```", all on one line. */
static bool one_line(const char *text, size_t len, size_t *ret_from, size_t *ret_to,
                     char language[FENCE_LANGUAGE_SIZE])
{
    static const char *const words[] = { "python3", "python", "py" };
    if (len < 7 || memcmp(text, "```", 3) != 0 || memcmp(text + len - 3, "```", 3) != 0 ||
        memchr(text, '\n', len) || memchr(text + 3, '`', len - 6))
        return false;
    size_t from = 3, to = len - 3;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i]);
        /* "```python = 3```" is an assignment */
        if (to - from <= n || strncasecmp(text + from, words[i], n) != 0 || text[from + n] != ' ')
            continue;
        size_t next = from + n;
        while (next < to && text[next] == ' ')
            next++;
        if (next < to && strchr("=.,:+-*/%<>&|^)]}", text[next]))
            break;
        (void)memcpy(language, "python", sizeof "python");
        from = next;
        break;
    }
    *ret_from = from;
    *ret_to = to;
    return true;
}

size_t payload_mark(const char *text, size_t len)
{
    return len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

static int unwrap_fences(const char *text, size_t len, struct payload *p, struct err *e)
{
    struct fence f;
    size_t start = payload_mark(text, len), end = len, from, to;
    while (start < end && isspace((unsigned char)text[start]))
        start++;
    while (end > start && isspace((unsigned char)text[end - 1]))
        end--;
    if (one_line(text + start, end - start, &from, &to, p->language))
        return buf_add(&p->code, text + start + from, to - from, e);
    if (!fence_next(text, len, payload_mark(text, len), &f))
        return buf_add(&p->code, text, len, e);
    bool leads = f.open + f.indent == start;
    bool after_prose = !leads && f.indent <= 3 && f.closed && is_prose(text, f.open);
    if (!leads && !after_prose)
        return buf_add(&p->code, text, len, e);
    return payload_join(text, len, &f, p, e);
}

int payload_unwrap(const char *text, size_t len, struct payload *ret, struct err *e)
{
    auto(buf) inner = { 0 };
    auto(payload) p = { 0 };
    bool wrapped = payload_dict(text, len, &inner);
    if (unwrap_fences(wrapped ? buf_str(&inner) : text, wrapped ? inner.len : len, &p, e))
        return -1;
    *ret = p;
    p = (struct payload){ 0 };
    return 0;
}
