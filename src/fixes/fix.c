#include "fixes/fix.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"

void fix_done(struct fix *f)
{
    buf_done(&f->text);
    buf_done(&f->diff);
}

/* ---- lines ---- */

/* A line without its end. */
struct line {
    const char *at;
    size_t len;
};

/* The line at this offset; *ret_next is behind its end. */
static struct line line_from(const char *text, size_t len, size_t at, size_t *ret_next)
{
    const char *end = memchr(text + at, '\n', len - at);
    size_t n = end ? (size_t)(end - text) - at : len - at;
    *ret_next = at + n + (end != NULL);
    return (struct line){ text + at, n };
}

static size_t indentation(struct line l)
{
    size_t n = 0;
    while (n < l.len && (l.at[n] == ' ' || l.at[n] == '\t'))
        n++;
    return n;
}

static struct line trimmed(struct line l)
{
    size_t n = indentation(l);
    l.at += n;
    l.len -= n;
    while (l.len > 0 && strchr(" \t\r", l.at[l.len - 1]))
        l.len--;
    return l;
}

static bool same(struct line a, struct line b)
{
    return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

static bool begins_with(struct line l, const char *word)
{
    size_t n = strlen(word);
    return l.len >= n && memcmp(l.at, word, n) == 0;
}

/* ---- the place of a new line ---- */

/* A line that makes a name known. It stands at the beginning of a file. */
static bool introduces(struct line l)
{
    static const char *const words[] = { "import ", "from ",   "#include", "use ",
                                         "using ",  "require", "#pragma",  "library(" };
    l = trimmed(l);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (begins_with(l, words[i]))
            return true;
    return begins_with(l, "const ") && memmem(l.at, l.len, "= require(", 10);
}

/* Lines that have to stay before an import, by the words that they begin with. */
static bool comes_first(struct line l)
{
    static const char *const words[] = { "#!",          "# -*-",        "package ",
                                         "'use strict", "\"use strict", "from __future__",
                                         "// ",         "<?php",        "module " };
    l = trimmed(l);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (begins_with(l, words[i]))
            return true;
    return l.len == 0;
}

/* The offset behind a text in three quotes that begins in this line, or that of the next line. */
static size_t behind_docstring(const char *text, size_t len, size_t at, size_t next)
{
    struct line l = trimmed((struct line){ text + at, next - at });
    if (!begins_with(l, "\"\"\"") && !begins_with(l, "'''"))
        return next;
    const char *body = l.at + 3;
    const char *close = memmem(body, len - (size_t)(body - text), l.at, 3);
    size_t end;
    if (!close)
        return next;
    (void)line_from(text, len, (size_t)(close - text), &end);
    return end;
}

/* The offset where a line goes that makes a name known. */
static size_t place_at_top(const char *text, size_t len, uint32_t *ret_line)
{
    size_t at = 0, found = 0, next;
    uint32_t line = 1;
    *ret_line = 1;
    while (at < len) {
        struct line l = line_from(text, len, at, &next);
        bool first = comes_first(l);
        if (!first) {
            size_t end = behind_docstring(text, len, at, next);
            first = line == *ret_line && end != next;
            next = end;
        }
        if (!first)
            break;
        for (size_t i = at; i < next; i++)
            line += text[i] == '\n';
        if (trimmed(l).len > 0) {
            found = next;
            *ret_line = line;
        }
        at = next;
    }
    return found;
}

/* The offset of a line; len if there is no such line. */
static size_t offset_of(const char *text, size_t len, uint32_t line)
{
    size_t at = 0;
    for (uint32_t i = 1; i < line && at < len; i++)
        (void)line_from(text, len, at, &at);
    return at;
}

/* ---- other places ---- */

enum {
    NEAR = 100, /* lines around the error that are compared with a replacement */
    LIKE = 59,  /* another line is more like it than this */
};

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (c & 0x80);
}

static struct line next_word(struct line *rest)
{
    size_t from = 0, n;
    while (from < rest->len && !in_word(rest->at[from]))
        from++;
    for (n = 0; from + n < rest->len && in_word(rest->at[from + n]);)
        n++;
    struct line word = { rest->at + from, n };
    rest->at += from + n;
    rest->len -= from + n;
    return word;
}

/* The number of words of a that b has, too. *ret_words: all of a. */
static size_t shared_words(struct line a, struct line b, size_t *ret_words)
{
    size_t shared = 0;
    *ret_words = 0;
    for (struct line w; (w = next_word(&a)).len > 0; (*ret_words)++) {
        struct line rest = b;
        for (struct line v; (v = next_word(&rest)).len > 0;)
            if (same(w, v)) {
                shared++;
                break;
            }
    }
    return shared;
}

/* From 0 to 100: both have the same words. */
static unsigned likeness(struct line a, struct line b)
{
    size_t words_a, words_b, n = shared_words(a, b, &words_a);
    (void)shared_words(b, a, &words_b);
    return words_a + words_b == 0 ? 0 : (unsigned)(200 * n / (words_a + words_b));
}

/* The line, other than that of the request, that is most like the replacement, and more so than
 * `best`; 0: none is. */
static uint32_t likely_line(const struct fix_request *q, unsigned best)
{
    struct line fixed = { q->replacement, strlen(q->replacement) };
    uint32_t first = q->line > NEAR ? q->line - NEAR : 1, found = 0;
    size_t at = offset_of(q->text, q->len, first), next;
    best = best < LIKE ? LIKE : best;
    for (uint32_t n = first; n <= q->line + NEAR && at < q->len; n++, at = next) {
        struct line l = line_from(q->text, q->len, at, &next);
        unsigned like = n == q->line || l.len > FIX_LINE_MAX || same(trimmed(l), trimmed(fixed))
                            ? 0
                            : likeness(fixed, l);
        if (like > best) {
            best = like;
            found = n;
        }
    }
    return found;
}

size_t fix_places(const struct fix_request *q, struct fix_place ret[FIX_PLACES])
{
    size_t n = 0, next, at = offset_of(q->text, q->len, q->line);
    struct line fixed = { q->replacement, strlen(q->replacement) };
    ret[n++] = (struct fix_place){ q->line, q->inserts };
    if (q->len > FIX_TEXT_MAX || fixed.len > FIX_LINE_MAX || at >= q->len)
        return n;
    struct line l = line_from(q->text, q->len, at, &next);
    unsigned here = l.len > FIX_LINE_MAX ? 0 : likeness(fixed, l);
    uint32_t other = likely_line(q, q->inserts ? 0 : here);
    if (other)
        ret[n++] = (struct fix_place){ other, false };
    if (q->inserts && here >= LIKE / 2)
        ret[n++] = (struct fix_place){ q->line, false };
    return n;
}

/* ---- the change ---- */

struct change {
    size_t from, to;  /* the bytes that go, with the ends of their lines */
    uint32_t line;    /* of `from` */
    struct buf lines; /* that come, each with its end */
    uint32_t added, removed;
};

static void change_done(struct change *c)
{
    buf_done(&c->lines);
}

static int check_replacement(const char *text, struct err *e)
{
    size_t n = strlen(text);
    for (const char *p = text; *p;) {
        size_t step = *p == '\n' || *p == '\t' ? 1 : text_printable(p, n - (size_t)(p - text));
        if (step == 0)
            return err_set(e, ERR_BAD_REQUEST, 0, "the replacement has a control character");
        p += step;
    }
    return n > 0 ? 0 : err_set(e, ERR_BAD_REQUEST, 0, "the replacement is empty");
}

/* The lines of the replacement, with the indentation and the line ends of the line that they
 * correct. A replacement that differs from the line in its blanks alone keeps its own. */
static int add_lines(struct change *c, const char *replacement, struct line old, struct err *e)
{
    struct line given = { replacement, strlen(replacement) };
    bool cr = old.len > 0 && old.at[old.len - 1] == '\r';
    bool indent = indentation(given) == 0 && !same(trimmed(given), trimmed(old));
    for (size_t at = 0, next; at < given.len; at = next) {
        struct line l = line_from(given.at, given.len, at, &next);
        if (l.len > FIX_LINE_MAX)
            return err_set(e, ERR_TOO_LARGE, 0, "the replacement has a line of %zu bytes", l.len);
        if ((indent && buf_add(&c->lines, old.at, indentation(old), e)) ||
            buf_add(&c->lines, l.at, l.len, e) ||
            buf_add(&c->lines, cr ? "\r\n" : "\n", cr + 1U, e))
            return -1;
        c->added++;
    }
    return 0;
}

static int find_change(const struct fix_request *q, struct change *c, struct err *e)
{
    size_t at = offset_of(q->text, q->len, q->line), next;
    if (q->line == 0 || at >= q->len)
        return err_set(e, ERR_BAD_REQUEST, 0, "'%s' has no line %u", QUOTED(q->file), q->line);
    struct line old = line_from(q->text, q->len, at, &next);
    if (old.len > FIX_LINE_MAX)
        return err_set(e, ERR_TOO_LARGE, 0,
                       "line %u has %zu bytes: lines of up to %d bytes are changed", q->line,
                       old.len, FIX_LINE_MAX);
    *c = (struct change){ .from = at, .to = next, .line = q->line, .removed = 1 };
    if (!q->inserts)
        return add_lines(c, q->replacement, old, e);
    c->removed = 0;
    if (introduces((struct line){ q->replacement, strlen(q->replacement) })) {
        c->from = place_at_top(q->text, q->len, &c->line);
        old = (struct line){ "", 0 };
    }
    c->to = c->from;
    return add_lines(c, q->replacement, old, e);
}

/* ---- the difference ---- */

static int add_line(struct buf *diff, char sign, struct line l, struct err *e)
{
    return buf_add(diff, &sign, 1, e) || buf_add(diff, l.at, l.len, e) || buf_add(diff, "\n", 1, e)
               ? -1
               : 0;
}

static int add_text(struct buf *diff, char sign, const char *text, size_t len, struct err *e)
{
    for (size_t at = 0; at < len;)
        if (add_line(diff, sign, line_from(text, len, at, &at), e))
            return -1;
    return 0;
}

/* The offset of up to FIX_CONTEXT short lines before the change. */
static size_t context_before(const char *text, size_t from, uint32_t *ret_lines)
{
    size_t at = from;
    *ret_lines = 0;
    while (*ret_lines < FIX_CONTEXT && at > 0) {
        size_t begin = at - 1;
        while (begin > 0 && text[begin - 1] != '\n')
            begin--;
        if (at - begin > FIX_LINE_MAX)
            break;
        at = begin;
        (*ret_lines)++;
    }
    return at;
}

static size_t context_behind(const char *text, size_t len, size_t to, uint32_t *ret_lines)
{
    size_t at = to, next;
    *ret_lines = 0;
    while (*ret_lines < FIX_CONTEXT && at < len) {
        if (line_from(text, len, at, &next).len > FIX_LINE_MAX)
            break;
        at = next;
        (*ret_lines)++;
    }
    return at;
}

static int make_diff(const struct fix_request *q, const struct change *c, struct buf *diff,
                     struct err *e)
{
    uint32_t before, behind;
    size_t from = context_before(q->text, c->from, &before);
    size_t to = context_behind(q->text, q->len, c->to, &behind);
    uint32_t first = c->line - before;
    return buf_addf(diff, e, "--- a/%s\n+++ b/%s\n@@ -%u,%u +%u,%u @@\n", q->file, q->file, first,
                    before + c->removed + behind, first, before + c->added + behind) ||
                   add_text(diff, ' ', q->text + from, c->from - from, e) ||
                   add_text(diff, '-', q->text + c->from, c->to - c->from, e) ||
                   add_text(diff, '+', buf_str(&c->lines), c->lines.len, e) ||
                   add_text(diff, ' ', q->text + c->to, to - c->to, e)
               ? -1
               : 0;
}

/* A text that does not end with a line end gets one before new lines, and none behind them. */
static int make_text(const struct fix_request *q, const struct change *c, struct buf *text,
                     struct err *e)
{
    bool open = c->from == q->len && q->len > 0 && q->text[q->len - 1] != '\n';
    bool whole = c->to > c->from && q->text[c->to - 1] != '\n'; /* the last line, without an end */
    size_t n = c->lines.len;
    while (whole && n > 0 && strchr("\r\n", c->lines.data[n - 1]))
        n--;
    return buf_add(text, q->text, c->from, e) || (open && buf_add(text, "\n", 1, e)) ||
                   buf_add(text, c->lines.data, n, e) ||
                   buf_add(text, q->text + c->to, q->len - c->to, e)
               ? -1
               : 0;
}

static int check_change(const struct fix_request *q, const struct fix *f, struct err *e)
{
    if (f->text.len == q->len && memcmp(f->text.data, q->text, q->len) == 0)
        return err_set(e, ERR_BAD_REQUEST, 0, "the replacement is the line as it is");
    return 0;
}

int fix_make(const struct fix_request *q, struct fix *ret, struct err *e)
{
    scoped(change) c = { 0 };
    struct fix f = { 0 };
    if (q->len > FIX_TEXT_MAX)
        return err_set(e, ERR_TOO_LARGE, 0,
                       "'%s' has %zu bytes: files of up to %d bytes are changed", QUOTED(q->file),
                       q->len, FIX_TEXT_MAX);
    if (check_replacement(q->replacement, e) || find_change(q, &c, e) ||
        make_text(q, &c, &f.text, e) || make_diff(q, &c, &f.diff, e) || check_change(q, &f, e)) {
        fix_done(&f);
        return -1;
    }
    f.line = c.line;
    f.added = c.added - c.removed;
    *ret = f;
    return 0;
}
