#include "normalise/payload.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/auto.h"
#include "normalise/document.h"

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

static size_t skip_blanks(const char *text, size_t at, size_t end)
{
    while (at < end && (text[at] == ' ' || text[at] == '\t'))
        at++;
    return at;
}

/* The position after the "> " of a quotation. */
static size_t skip_quote(const char *text, size_t at, size_t end)
{
    size_t i = skip_blanks(text, at, end);
    while (i < end && text[i] == '>')
        i = skip_blanks(text, i + 1, end);
    return i;
}

/* The position after the "- " or "1. " of a list item, if any. */
static size_t skip_bullet(const char *text, size_t at, size_t end)
{
    size_t i = at;
    while (i < end && isdigit((unsigned char)text[i]))
        i++;
    bool bullet = i < end &&
                  (i > at ? text[i] == '.' || text[i] == ')' : strchr("-*+", text[i]) && text[i]);
    return bullet && i + 1 < end && text[i + 1] == ' ' ? skip_blanks(text, i + 1, end) : at;
}

/* The fence at the start of a line, or of the content of a quotation or list item: its character
 * and length. 0: none. */
static size_t fence_run(const char *text, size_t at, size_t end, size_t *ret_indent)
{
    size_t i = skip_bullet(text, skip_quote(text, at, end), end);
    size_t start = i;
    if (i == end || (text[i] != '`' && text[i] != '~'))
        return 0;
    while (i < end && text[i] == text[start])
        i++;
    *ret_indent = start - at;
    return i - start >= 3 ? i - start : 0;
}

/* "python", "{.python}", "python title=x" -> "python". A language name has letters, digits and + #
 * - . _ */
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
    size_t indent = 0, n = fence_run(text, at, end, &indent);
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
            ret->quoted = memchr(text + at, '>', indent);
            ret->crlf = end < len && end > at && text[end - 1] == '\r';
            fence_word(text, word, end, ret->language);
            find_close(text, len, count, ret);
            return true;
        }
        at = end + 1;
    }
    return false;
}

/* Web pages show leading blanks as no-break spaces, which no language accepts. */
static int add_indentation(struct buf *b, const char *text, size_t *at, size_t end, struct err *e)
{
    for (;;) {
        bool unbreaking = end - *at >= 2 && memcmp(text + *at, "\xC2\xA0", 2) == 0;
        if (!unbreaking && (*at == end || (text[*at] != ' ' && text[*at] != '\t')))
            return 0;
        if (buf_add(b, unbreaking ? " " : text + *at, 1, e))
            return -1;
        *at += unbreaking ? 2 : 1;
    }
}

int fence_add_body(struct buf *b, const char *text, const struct fence *f, struct err *e)
{
    for (size_t at = f->body; at < f->end;) {
        size_t end = line_end(text, f->end, at), from = at;
        while (from < at + f->indent && from < end &&
               (is_blank(text[from]) || (f->quoted && text[from] == '>')))
            from++;
        if (add_indentation(b, text, &from, end, e))
            return -1;
        size_t stop = end < f->end ? end + 1 : end;
        bool carried = f->crlf && stop > end && end > from && text[end - 1] == '\r';
        if (carried ? buf_add(b, text + from, end - 1 - from, e) || buf_add(b, "\n", 1, e)
                    : buf_add(b, text + from, stop - from, e))
            return -1;
        at = stop;
    }
    return 0;
}

/* ---- is the text before a fence prose? ---- */
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
        "import", "from",     "def",    "class",    "for",   "while", "if",    "elif",    "else",
        "try",    "with",     "return", "raise",    "async", "await", "print", "const",   "let",
        "var",    "function", "echo",   "export",   "cat",   "set",   "cd",    "package", "use",
        "fn",     "pub",      "#!",     "#include", "@",     "/*",    "--[[",  "<?",
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t w = strlen(words[i]);
        if (n < w || memcmp(line, words[i], w) != 0)
            continue;
        if (!isalpha((unsigned char)words[i][0]) || n == w || !isalnum((unsigned char)line[w]))
            return true;
    }
    return false;
}

/* More words than signs, as in a sentence that mentions f(x) and y = 1. */
static bool is_sentence(const char *line, size_t n)
{
    size_t words = 0, others = 0;
    for (size_t i = 0; i < n;) {
        size_t start = i;
        bool letters = true;
        for (; i < n && !is_blank(line[i]); i++)
            letters = letters && (isalpha((unsigned char)line[i]) || strchr(".,:!?'-*_", line[i]) ||
                                  (line[i] == '(' && i == start) || line[i] == ')');
        *(letters ? &words : &others) += i > start;
        i += i < n;
    }
    return words >= 4 && words >= 2 * others;
}

/* In a program a line of fences is valid only inside a string or a comment, and a line like these
 * opened it. A false match on prose costs an unwrapping, never a program. */
static bool looks_like_code(const char *line, size_t n)
{
    while (n > 0 && is_blank(line[0]))
        line++, n--;
    while (n > 0 && is_blank(line[n - 1]))
        n--;
    if (n == 0)
        return false;
    if (starts_like_code(line, n) || strchr("{};\\", line[n - 1]) || has(line, n, "<<") ||
        has(line, n, "'''") || has(line, n, "\"\"\"") || odd(line, n, '"') || odd(line, n, '`'))
        return true;
    if (is_sentence(line, n))
        return false;
    for (size_t i = 1; i < n; i++) /* a call */
        if (line[i] == '(' && (isalnum((unsigned char)line[i - 1]) || line[i - 1] == '_'))
            return true;
    return memchr(line, '=', n);
}

bool payload_is_prose(const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t end = line_end(text, len, at);
        if (looks_like_code(text + at, end - at))
            return false;
        at = end + 1;
    }
    return true;
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
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
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
    size_t at = 0;
    while (len - at >= 3 &&
           (memcmp(text + at, "\xEF\xBB\xBF", 3) == 0 || memcmp(text + at, "\xE2\x80\x8B", 3) == 0))
        at += 3;
    return at;
}

/* True if the text is a document around the block, and not a program that contains one. An unclosed
 * block occurs in a truncated answer; it must name its language. */
static bool is_document(const char *text, size_t start, const struct fence *f)
{
    if (f->open + f->indent == start)
        return true;
    return (f->closed || language_find(f->language)) && payload_is_prose(text, f->open);
}

static int unwrap_fences(const char *text, size_t len, const struct language *given,
                         struct payload *p, struct err *e)
{
    struct fence f;
    size_t start = payload_mark(text, len), end = len, from, to;
    while (start < end && isspace((unsigned char)text[start]))
        start++;
    while (end > start && isspace((unsigned char)text[end - 1]))
        end--;
    if (one_line(text + start, end - start, &from, &to, p->language))
        return buf_add(&p->code, text + start + from, to - from, e);
    if (fence_next(text, len, payload_mark(text, len), &f) && is_document(text, start, &f))
        return document_take(text, len, given, p, e);
    return session_add(&p->code, text, len, given, &p->inferred, e);
}

/* A dict may contain fences, and a block a dict. */
static int unwrap_dict(struct payload *p, struct err *e)
{
    scoped(buf) inner = { 0 };
    scoped(payload) deeper = { .dict = true };
    if (!payload_dict(buf_str(&p->code), p->code.len, &inner, deeper.language))
        return 0;
    if (unwrap_fences(buf_str(&inner), inner.len, NULL, &deeper, e))
        return -1;
    struct payload outer = *p;
    *p = deeper;
    deeper = outer;
    return 0;
}

int payload_unwrap(const char *text, size_t len, const struct language *given, struct payload *ret,
                   struct err *e)
{
    scoped(payload) p = { 0 };
    scoped(buf) plain = { 0 };
    if (entities_decode(text, len, &plain, e))
        return -1;
    if (plain.len > 0) {
        text = buf_str(&plain);
        len = plain.len;
    }
    if (unwrap_fences(text, len, given, &p, e) || (!given && unwrap_dict(&p, e)))
        return -1;
    *ret = p;
    p = (struct payload){ 0 };
    return 0;
}
