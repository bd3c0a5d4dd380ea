#include "guests/sql/cell.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"

/* The integers that a double holds without loss. */
static const int64_t EXACT_MAX = INT64_C(1) << 53;

static int add_escaped(struct buf *b, unsigned char c, struct err *e)
{
    static const struct {
        char c, letter;
    } shorts[] = { { '"', '"' },  { '\\', '\\' }, { '\n', 'n' }, { '\r', 'r' },
                   { '\t', 't' }, { '\b', 'b' },  { '\f', 'f' } };
    for (size_t i = 0; i < ARRAY_LEN(shorts); i++)
        if ((char)c == shorts[i].c)
            return buf_addf(b, e, "\\%c", shorts[i].letter);
    return buf_addf(b, e, "\\u%04x", c);
}

int cell_add_json_text(struct buf *b, const char *text, size_t n, struct err *e)
{
    scoped(buf) clean = { 0 };
    if (!text_is_utf8(text, n)) {
        if (text_add_utf8(&clean, text, n, e))
            return -1;
        text = clean.data;
        n = clean.len;
    }
    if (buf_add(b, "\"", 1, e))
        return -1;
    for (size_t from = 0, at = 0; at <= n; at++) {
        unsigned char c = at < n ? (unsigned char)text[at] : '"';
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
            continue;
        if (buf_add(b, text + from, at - from, e) || (at < n && add_escaped(b, c, e)))
            return -1;
        from = at + 1;
    }
    return buf_add(b, "\"", 1, e);
}

static bool is_exact(const struct cell *c)
{
    char digits[24];
    if (c->n == 0 || c->n >= sizeof digits)
        return false;
    memcpy(digits, c->bytes, c->n);
    digits[c->n] = '\0';
    long long v = strtoll(digits, NULL, 10); /* a value that overflows is far outside */
    return v >= -EXACT_MAX && v <= EXACT_MAX;
}

/* The grammar of a number in JSON. Both databases keep to it except for "Infinity", "NaN" and
 * ".5". */
static bool is_json_number(const char *s, size_t n)
{
    size_t at = n > 0 && s[0] == '-', digits = 0, start = at;
    for (; at < n && s[at] >= '0' && s[at] <= '9'; at++)
        digits++;
    if (digits == 0 || (digits > 1 && s[start] == '0'))
        return false;
    if (at < n && s[at] == '.') {
        for (digits = 0, at++; at < n && s[at] >= '0' && s[at] <= '9'; at++)
            digits++;
        if (digits == 0)
            return false;
    }
    if (at < n && (s[at] == 'e' || s[at] == 'E')) {
        at++;
        at += at < n && (s[at] == '+' || s[at] == '-');
        for (digits = 0; at < n && s[at] >= '0' && s[at] <= '9'; at++)
            digits++;
        if (digits == 0)
            return false;
    }
    return at == n;
}

int cell_add_json(struct buf *b, const struct cell *c, struct err *e)
{
    if (c->kind == CELL_NULL)
        return buf_add(b, "null", 4, e);
    if (c->kind == CELL_BOOL)
        return buf_addf(b, e, "%s", c->n > 0 && c->bytes[0] == 't' ? "true" : "false");
    if ((c->kind == CELL_INTEGER && is_exact(c)) ||
        (c->kind == CELL_REAL && is_json_number(c->bytes, c->n)))
        return buf_add(b, c->bytes, c->n, e);
    if (c->kind != CELL_BLOB)
        return cell_add_json_text(b, c->bytes, c->n, e);
    if (buf_addf(b, e, "{\"base64\":\"") || text_add_base64(b, c->bytes, c->n, e))
        return -1;
    return buf_addf(b, e, "\"}");
}

static int add_hex(struct buf *b, const struct cell *c, struct err *e)
{
    static const char digits[] = "0123456789ABCDEF";
    if (buf_addf(b, e, "x'") || buf_reserve(b, 2 * c->n + 1, e))
        return -1;
    for (size_t i = 0; i < c->n; i++) {
        b->data[b->len++] = digits[(unsigned char)c->bytes[i] >> 4];
        b->data[b->len++] = digits[(unsigned char)c->bytes[i] & 15];
    }
    return buf_addf(b, e, "'");
}

/* The length of a well-formed character that must not be shown; 0: not UTF-8. */
static size_t hidden(const char *bytes, size_t n)
{
    unsigned char first = (unsigned char)bytes[0];
    size_t len = first < 0x80 ? 1 : first < 0xE0 ? 2 : 3;
    return len <= n && text_is_utf8(bytes, len) ? len : 0;
}

static int add_hidden(struct buf *b, const char *bytes, size_t n, struct err *e)
{
    if (bytes[0] == '\n' || bytes[0] == '\t')
        return buf_addf(b, e, bytes[0] == '\n' ? "\n" : "\\t");
    for (size_t i = 0; i < n; i++)
        if (buf_addf(b, e, "\\x%02x", (unsigned char)bytes[i]))
            return -1;
    return n > 0 ? 0 : text_add_utf8(b, bytes, 1, e);
}

int cell_add_shown(struct buf *b, const struct cell *c, struct err *e)
{
    if (c->kind == CELL_NULL)
        return buf_addf(b, e, "NULL");
    if (c->kind == CELL_BLOB)
        return add_hex(b, c, e);
    for (size_t from = 0, at = 0; at < c->n;) {
        size_t n = text_printable(c->bytes + at, c->n - at);
        at += n;
        if ((n == 0 || at == c->n) && buf_add(b, c->bytes + from, at - from, e))
            return -1;
        if (n > 0)
            continue;
        n = hidden(c->bytes + at, c->n - at);
        if (add_hidden(b, c->bytes + at, n, e))
            return -1;
        at += n > 0 ? n : 1;
        from = at;
    }
    return 0;
}

size_t text_columns(const char *text, size_t n)
{
    size_t columns = 0;
    mbstate_t state = { 0 };
    for (size_t at = 0; at < n;) {
        wchar_t c;
        size_t used = mbrtowc(&c, text + at, n - at, &state);
        /* not UTF-8, or no such locale: a byte takes one column */
        if (used == 0 || used > n - at) {
            state = (mbstate_t){ 0 };
            used = 1;
            columns++;
        } else {
            int w = wcwidth(c);
            columns += w >= 0 ? (size_t)w : 1; /* shown as a blank at most */
        }
        at += used;
    }
    return columns;
}
