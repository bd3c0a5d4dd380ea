#include "guests/sql/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"

void csv_init(struct csv *c, const char *bytes, size_t n)
{
    static const char mark[] = "\xEF\xBB\xBF";
    *c = (struct csv){ .bytes = bytes, .n = n, .line = 1, .row_line = 1 };
    if (n >= 3 && memcmp(bytes, mark, 3) == 0)
        c->at = 3;
}

void csv_done(struct csv *c)
{
    buf_done(&c->text);
    free(c->fields);
    c->fields = NULL;
}

static int add_field(struct csv *c, size_t at, bool quoted, struct err *e)
{
    if (c->n_fields == c->cap_fields) {
        size_t cap = 2 * c->cap_fields + 16;
        struct csv_field *grown = realloc(c->fields, cap * sizeof *grown);
        if (!grown)
            return err_no_memory(e, "a row");
        c->fields = grown;
        c->cap_fields = cap;
    }
    c->fields[c->n_fields++] = (struct csv_field){ at, c->text.len - at, quoted };
    return buf_add(&c->text, "", 1, e); /* each value ends with a NUL */
}

static bool at_line_end(const struct csv *c)
{
    return c->at >= c->n || c->bytes[c->at] == '\n' ||
           (c->bytes[c->at] == '\r' && (c->at + 1 == c->n || c->bytes[c->at + 1] == '\n'));
}

static int take_quoted(struct csv *c, struct err *e)
{
    size_t start = c->text.len, opened = c->line;
    for (c->at++;; c->at++) {
        const char *quote = memchr(c->bytes + c->at, '"', c->n - c->at);
        if (!quote)
            return err_set(e, ERR_BAD_REQUEST, 0, "the quote that opens in line %zu is not closed",
                           opened);
        size_t n = (size_t)(quote - c->bytes) - c->at;
        for (size_t i = 0; i < n; i++)
            c->line += c->bytes[c->at + i] == '\n';
        if (buf_add(&c->text, c->bytes + c->at, n, e))
            return -1;
        c->at += n + 1;
        if (c->at >= c->n || c->bytes[c->at] != '"')
            break;
        if (buf_add(&c->text, "\"", 1, e))
            return -1;
    }
    if (!at_line_end(c) && c->bytes[c->at] != ',')
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "expected a comma or the end of the line after the closing quote of field %zu; "
            "a quote within a field is written twice",
            c->n_fields + 1);
    return add_field(c, start, true, e);
}

static int take_plain(struct csv *c, struct err *e)
{
    size_t start = c->text.len, from = c->at;
    while (!at_line_end(c) && c->bytes[c->at] != ',')
        c->at++;
    if (buf_add(&c->text, c->bytes + from, c->at - from, e))
        return -1;
    return add_field(c, start, false, e);
}

/* True if the line was not empty. */
static int take_row(struct csv *c, struct err *e)
{
    c->row_line = c->line;
    c->n_fields = 0;
    c->text.len = 0;
    for (;;) {
        bool quoted = c->at < c->n && c->bytes[c->at] == '"';
        if (quoted ? take_quoted(c, e) : take_plain(c, e))
            return -1;
        if (c->at >= c->n || c->bytes[c->at] != ',')
            break;
        c->at++;
    }
    if (c->at < c->n && c->bytes[c->at] == '\r')
        c->at++;
    if (c->at < c->n && c->bytes[c->at] == '\n') {
        c->at++;
        c->line++;
    }
    return c->n_fields > 1 || c->fields[0].n > 0 || c->fields[0].quoted;
}

int csv_next(struct csv *c, struct err *e)
{
    while (c->at < c->n) {
        int taken = take_row(c, e);
        if (taken != 0)
            return taken;
    }
    return 0;
}

const char *csv_text(const struct csv *c, size_t field)
{
    return c->text.data + c->fields[field].at;
}

bool csv_is_null(const struct csv *c, size_t field)
{
    return c->fields[field].n == 0 && !c->fields[field].quoted;
}

static size_t count_digits(const char *text, size_t n, size_t at)
{
    size_t from = at;
    while (at < n && text[at] >= '0' && text[at] <= '9')
        at++;
    return at - from;
}

enum csv_type csv_type_of(const char *text, size_t n)
{
    enum { INTEGER_DIGITS = 9, BIGINT_DIGITS = 18, NUMBER_BYTES = 40 };
    size_t at = n > 0 && text[0] == '-';
    size_t digits = count_digits(text, n, at);
    if (digits == 0 || n > NUMBER_BYTES || (digits > 1 && text[at] == '0'))
        return CSV_TEXT;
    at += digits;
    if (at == n)
        return digits <= INTEGER_DIGITS  ? CSV_INTEGER
               : digits <= BIGINT_DIGITS ? CSV_BIGINT
                                         : CSV_NUMBER;
    if (text[at] == '.') {
        size_t behind = count_digits(text, n, at + 1);
        if (behind == 0)
            return CSV_TEXT;
        at += 1 + behind;
    }
    if (at < n && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        at += at < n && (text[at] == '-' || text[at] == '+');
        size_t power = count_digits(text, n, at);
        if (power == 0 || power > 3)
            return CSV_TEXT;
        at += power;
    }
    return at == n ? CSV_NUMBER : CSV_TEXT;
}
