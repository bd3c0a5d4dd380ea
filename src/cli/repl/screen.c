/* Draws the text of the editor. Rows are broken here and not by the terminal, so that the row of
 * the cursor is known. */
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/auto.h"
#include "base/text.h"
#include "cli/repl/editor.h"

static const char *const colours[] = { [TOKEN_PLAIN] = "",
                                       [TOKEN_KEYWORD] = "\033[35m",
                                       [TOKEN_STRING] = "\033[32m",
                                       [TOKEN_COMMENT] = "\033[90m",
                                       [TOKEN_NUMBER] = "\033[36m" };

/* The columns of the first character, and its bytes in *ret_len. */
static int character_columns(const char *text, size_t len, size_t *ret_len)
{
    wchar_t wide;
    mbstate_t state = { 0 };
    size_t n = mbrtowc(&wide, text, len, &state);
    if (n == 0 || n == (size_t)-1 || n == (size_t)-2) {
        *ret_len = 1;
        return 1;
    }
    int columns = wcwidth(wide);
    *ret_len = n;
    return columns < 0 ? 1 : columns;
}

size_t text_columns(const char *text, size_t len)
{
    size_t columns = 0, n;
    for (size_t i = 0; i < len; i += n)
        columns += (size_t)character_columns(text + i, len - i, &n);
    return columns;
}

struct canvas {
    struct buf *out;
    struct err *e;
    size_t row, column, columns;
    size_t cursor_row, cursor_column;
    size_t from, to; /* the part of the text that fits the terminal */
    bool failed;
};

static void put(struct canvas *c, const char *bytes, size_t n)
{
    c->failed = c->failed || buf_add(c->out, bytes, n, c->e);
}

static void new_row(struct canvas *c)
{
    put(c, "\r\n", 2);
    c->row++;
    c->column = 0;
}

static void put_character(struct canvas *c, const char *bytes, size_t n, size_t width)
{
    if (c->column + width > c->columns)
        new_row(c);
    if (n == 1 && *bytes == '\t')
        put(c, " ", 1);
    else if (text_printable(bytes, n) == n)
        put(c, bytes, n);
    else
        put(c, "?", 1);
    c->column += width;
}

static void put_text(struct canvas *c, const char *text)
{
    put(c, text, strlen(text));
    c->column += text_columns(text, strlen(text));
}

/* One token: its colour, and its characters with the cursor among them. */
static void put_token(struct canvas *c, const struct editor *d, const struct token *t)
{
    const char *colour = d->colour ? colours[t->kind] : "";
    put(c, colour, strlen(colour));
    for (size_t i = t->from, n; i < t->to; i += n) {
        size_t width = (size_t)character_columns(d->text.data + i, t->to - i, &n);
        if (i < c->from || i >= c->to)
            continue;
        if (i == d->cursor) {
            c->cursor_row = c->row + (c->column + width > c->columns);
            c->cursor_column = c->column + width > c->columns ? 0 : c->column;
        }
        if (d->text.data[i] != '\n') {
            put_character(c, d->text.data + i, n, width);
            continue;
        }
        put(c, "\033[0m", *colour ? 4 : 0);
        new_row(c);
        put_text(c, d->more_prompt);
        put(c, colour, strlen(colour));
    }
    put(c, "\033[0m", *colour ? 4 : 0);
}

static void move(struct canvas *c, char direction, size_t n)
{
    char text[32];
    int len = snprintf(text, sizeof text, "\033[%zu%c", n, direction);
    if (n > 0)
        put(c, text, (size_t)len);
}

/* Of a text with more lines than the terminal, the lines around the cursor are shown: moving up
 * ends at the top of the terminal. */
static void choose_part(struct canvas *c, const struct editor *d)
{
    size_t room = d->rows > 4 ? (size_t)d->rows - 2 : 2, above = room / 2, lines = 0;
    size_t from = d->cursor;
    for (; from > 0 && lines <= above; from--)
        lines += d->text.data[from - 1] == '\n' && lines < above + 1;
    c->from = from > 0 ? from + 1 : 0;
    c->to = c->from;
    for (lines = 0; c->to < d->text.len && lines < room; c->to++)
        lines += d->text.data[c->to] == '\n';
    if (c->to < d->text.len)
        c->to--; /* without the end of the last line */
}

int editor_draw(struct editor *d, bool last, struct buf *out, struct err *e)
{
    struct canvas c = { .out = out, .e = e, .columns = d->columns > 20 ? (size_t)d->columns : 20 };
    struct scanner s = { .syntax = d->syntax, .text = buf_str(&d->text), .len = d->text.len };
    struct token t;
    choose_part(&c, d);
    if (d->clears)
        put(&c, "\033[H\033[2J", 7);
    else
        move(&c, 'A', d->shown_row);
    d->clears = false;
    put(&c, "\r\033[J", 4);
    put_text(&c, d->prompt);
    while (scan_next(&s, &t))
        put_token(&c, d, &t);
    if (d->cursor >= c.to) {
        if (c.column >= c.columns)
            new_row(&c);
        c.cursor_row = c.row;
        c.cursor_column = c.column;
    }
    if (last) {
        new_row(&c);
        d->shown_row = 0;
        return c.failed ? -1 : 0;
    }
    move(&c, 'A', c.row - c.cursor_row);
    put(&c, "\r", 1);
    move(&c, 'C', c.cursor_column);
    d->shown_row = c.cursor_row;
    return c.failed ? -1 : 0;
}
