/* The text of the editor, its keys and its history. screen.c draws it. */
#include "cli/repl/editor.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strv.h"
#include "base/text.h"

void editor_done(struct editor *d)
{
    buf_done(&d->text);
    buf_done(&d->cut);
    strv_free(d->history);
    free(d->unfinished);
    *d = (struct editor){ 0 };
}

void editor_begin(struct editor *d)
{
    d->text.len = 0;
    d->cursor = d->shown_row = d->key_len = 0;
    d->pasting = false;
    d->history_at = d->n_history;
    free(d->unfinished);
    d->unfinished = NULL;
}

/* ---- characters ---- */

static bool is_inside(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static size_t before(const struct editor *d, size_t at)
{
    if (at > 0)
        at--;
    while (at > 0 && is_inside(d->text.data[at]))
        at--;
    return at;
}

static size_t after(const struct editor *d, size_t at)
{
    if (at < d->text.len)
        at++;
    while (at < d->text.len && is_inside(d->text.data[at]))
        at++;
    return at;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static size_t word_before(const struct editor *d, size_t at)
{
    while (at > 0 && !is_word(d->text.data[at - 1]))
        at--;
    while (at > 0 && is_word(d->text.data[at - 1]))
        at--;
    return at;
}

static size_t word_after(const struct editor *d, size_t at)
{
    while (at < d->text.len && !is_word(d->text.data[at]))
        at++;
    while (at < d->text.len && is_word(d->text.data[at]))
        at++;
    return at;
}

static size_t line_start(const struct editor *d, size_t at)
{
    while (at > 0 && d->text.data[at - 1] != '\n')
        at--;
    return at;
}

static size_t line_end(const struct editor *d, size_t at)
{
    while (at < d->text.len && d->text.data[at] != '\n')
        at++;
    return at;
}

/* ---- changes ---- */

int editor_replace(struct editor *d, size_t from, size_t to, const char *by, size_t n,
                   struct err *e)
{
    if (d->text.len - (to - from) + n > EDITOR_TEXT_MAX)
        return 0; /* nobody types a megabyte: the rest is dropped */
    if (buf_reserve(&d->text, n + 1, e))
        return -1;
    char *at = d->text.data;
    memmove(at + from + n, at + to, d->text.len - to);
    memcpy(at + from, by, n);
    d->text.len = d->text.len - (to - from) + n;
    at[d->text.len] = '\0';
    d->cursor = from + n;
    return 0;
}

static int insert(struct editor *d, const char *bytes, size_t n, struct err *e)
{
    return editor_replace(d, d->cursor, d->cursor, bytes, n, e);
}

/* Removes bytes and keeps them for Ctrl-Y. */
static int cut(struct editor *d, size_t from, size_t to, struct err *e)
{
    if (from == to)
        return 0;
    d->cut.len = 0;
    if (buf_add(&d->cut, d->text.data + from, to - from, e))
        return -1;
    return editor_replace(d, from, to, "", 0, e);
}

static int add_line(struct editor *d, struct err *e)
{
    size_t indent = scan_indent(d->syntax, buf_str(&d->text), d->cursor);
    if (insert(d, "\n", 1, e))
        return -1;
    for (size_t i = 0; i < indent; i++)
        if (insert(d, " ", 1, e))
            return -1;
    return 0;
}

/* Backspace in the indentation of a line goes back by one step. */
static int backspace(struct editor *d, struct err *e)
{
    enum { STEP = 4 };
    size_t start = line_start(d, d->cursor), from = d->cursor, column = from - start;
    while (from > start && d->text.data[from - 1] == ' ')
        from--;
    if (from == start && column > 0)
        from = start + (column - 1) / STEP * STEP;
    else
        from = before(d, d->cursor);
    return editor_replace(d, from, d->cursor, "", 0, e);
}

/* ---- history ---- */

int editor_remember(struct editor *d, const char *text, struct err *e)
{
    if (!*text || (d->n_history && strcmp(d->history[d->n_history - 1], text) == 0))
        return 0;
    if (d->n_history == EDITOR_HISTORY_MAX) {
        free(d->history[0]);
        memmove(d->history, d->history + 1, d->n_history * sizeof(char *));
        d->n_history--;
    }
    if (strv_add(&d->history, text, e))
        return -1;
    d->n_history++;
    return 0;
}

static int show(struct editor *d, size_t entry, struct err *e)
{
    if (d->history_at == d->n_history) {
        free(d->unfinished);
        d->unfinished = strdup(buf_str(&d->text));
    }
    const char *text = entry < d->n_history ? d->history[entry] : d->unfinished;
    d->history_at = entry;
    text = text ? text : "";
    return editor_replace(d, 0, d->text.len, text, strlen(text), e);
}

/* Up and down move in the text, and beyond it in the history. */
static int up(struct editor *d, struct err *e)
{
    size_t start = line_start(d, d->cursor);
    if (start > 0) {
        size_t above = line_start(d, start - 1), column = d->cursor - start;
        d->cursor = above + column < start - 1 ? above + column : start - 1;
        while (d->cursor > above && is_inside(d->text.data[d->cursor]))
            d->cursor--;
        return 0;
    }
    return d->history_at > 0 ? show(d, d->history_at - 1, e) : 0;
}

static int down(struct editor *d, struct err *e)
{
    size_t end = line_end(d, d->cursor);
    if (end < d->text.len) {
        size_t column = d->cursor - line_start(d, d->cursor), below = end + 1;
        size_t below_end = line_end(d, below);
        d->cursor = below + column < below_end ? below + column : below_end;
        while (d->cursor > below && d->cursor < d->text.len && is_inside(d->text.data[d->cursor]))
            d->cursor--;
        return 0;
    }
    return d->history_at < d->n_history ? show(d, d->history_at + 1, e) : 0;
}

/* ---- keys ---- */

enum action {
    KEY_LEFT = 1,
    KEY_RIGHT,
    KEY_UP,
    KEY_DOWN,
    KEY_HOME,
    KEY_END,
    KEY_START,
    KEY_FINISH,
    KEY_WORD_LEFT,
    KEY_WORD_RIGHT,
    KEY_BACKSPACE,
    KEY_DELETE,
    KEY_CUT_END,
    KEY_CUT_START,
    KEY_CUT_WORD,
    KEY_CUT_NEXT_WORD,
    KEY_YANK,
    KEY_NEWLINE,
    KEY_PASTE_BEGIN,
    KEY_PASTE_END,
    KEY_CLEAR,
};

static const struct {
    const char *bytes;
    enum action action;
} keys[] = {
    { "\x01", KEY_HOME },
    { "\x02", KEY_LEFT },
    { "\x05", KEY_END },
    { "\x06", KEY_RIGHT },
    { "\x08", KEY_BACKSPACE },
    { "\x7F", KEY_BACKSPACE },
    { "\x0B", KEY_CUT_END },
    { "\x0C", KEY_CLEAR },
    { "\x0E", KEY_DOWN },
    { "\x10", KEY_UP },
    { "\x15", KEY_CUT_START },
    { "\x17", KEY_CUT_WORD },
    { "\x19", KEY_YANK },
    { "\033\r", KEY_NEWLINE },
    { "\033\n", KEY_NEWLINE },
    { "\033b", KEY_WORD_LEFT },
    { "\033f", KEY_WORD_RIGHT },
    { "\033d", KEY_CUT_NEXT_WORD },
    { "\033\x7F", KEY_CUT_WORD },
    { "\033<", KEY_START },
    { "\033>", KEY_FINISH },
    { "\033[A", KEY_UP },
    { "\033[B", KEY_DOWN },
    { "\033[C", KEY_RIGHT },
    { "\033[D", KEY_LEFT },
    { "\033OA", KEY_UP },
    { "\033OB", KEY_DOWN },
    { "\033OC", KEY_RIGHT },
    { "\033OD", KEY_LEFT },
    { "\033[H", KEY_HOME },
    { "\033[F", KEY_END },
    { "\033OH", KEY_HOME },
    { "\033OF", KEY_END },
    { "\033[1~", KEY_HOME },
    { "\033[4~", KEY_END },
    { "\033[3~", KEY_DELETE },
    { "\033[1;5C", KEY_WORD_RIGHT },
    { "\033[1;5D", KEY_WORD_LEFT },
    { "\033[1;3C", KEY_WORD_RIGHT },
    { "\033[1;3D", KEY_WORD_LEFT },
    { "\033[200~", KEY_PASTE_BEGIN },
    { "\033[201~", KEY_PASTE_END },
};

static int edit(struct editor *d, enum action a, struct err *e)
{
    switch (a) {
    case KEY_BACKSPACE:
        return backspace(d, e);
    case KEY_DELETE:
        return editor_replace(d, d->cursor, after(d, d->cursor), "", 0, e);
    case KEY_CUT_END:
        return cut(d, d->cursor, line_end(d, d->cursor), e);
    case KEY_CUT_START:
        return cut(d, line_start(d, d->cursor), d->cursor, e);
    case KEY_CUT_WORD:
        return cut(d, word_before(d, d->cursor), d->cursor, e);
    case KEY_CUT_NEXT_WORD:
        return cut(d, d->cursor, word_after(d, d->cursor), e);
    case KEY_YANK:
        return insert(d, buf_str(&d->cut), d->cut.len, e);
    case KEY_NEWLINE:
        return add_line(d, e);
    case KEY_UP:
        return up(d, e);
    case KEY_DOWN:
        return down(d, e);
    default:
        return 0;
    }
}

static int act(struct editor *d, enum action a, struct err *e)
{
    switch (a) {
    case KEY_LEFT:
        d->cursor = before(d, d->cursor);
        break;
    case KEY_RIGHT:
        d->cursor = after(d, d->cursor);
        break;
    case KEY_HOME:
        d->cursor = line_start(d, d->cursor);
        break;
    case KEY_END:
        d->cursor = line_end(d, d->cursor);
        break;
    case KEY_START:
        d->cursor = 0;
        break;
    case KEY_FINISH:
        d->cursor = d->text.len;
        break;
    case KEY_WORD_LEFT:
        d->cursor = word_before(d, d->cursor);
        break;
    case KEY_WORD_RIGHT:
        d->cursor = word_after(d, d->cursor);
        break;
    case KEY_PASTE_BEGIN:
        d->pasting = true;
        break;
    case KEY_PASTE_END:
        d->pasting = false;
        break;
    case KEY_CLEAR:
        d->clears = true;
        break;
    default:
        return edit(d, a, e);
    }
    return 0;
}

/* The action of a whole key; 0: none. `*ret_more`: the bytes are the beginning of a key. */
static enum action find_key(const char *bytes, size_t n, bool *ret_more)
{
    *ret_more = false;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        size_t len = strlen(keys[i].bytes);
        if (len == n && memcmp(bytes, keys[i].bytes, n) == 0)
            return keys[i].action;
        if (len > n && memcmp(bytes, keys[i].bytes, n) == 0)
            *ret_more = true;
    }
    /* An unknown sequence ends with a letter or '~'. */
    if (!*ret_more && n >= 2 && bytes[0] == '\033' && (bytes[1] == '[' || bytes[1] == 'O'))
        *ret_more = n == 2 || !((unsigned char)bytes[n - 1] >= 0x40);
    return 0;
}

/* Two empty lines at the end are a way out of code whose bracket is never closed. */
static bool is_left(const struct editor *d)
{
    size_t at = d->cursor;
    for (int empty = 0; empty < 2; empty++) {
        size_t line = line_start(d, at);
        for (size_t i = line; i < at; i++)
            if (d->text.data[i] != ' ')
                return false;
        if (line == 0)
            return false;
        at = line - 1;
    }
    return !scan_in_string(d->syntax, buf_str(&d->text), d->text.len);
}

static enum editor_event enter(struct editor *d, struct err *e)
{
    if (d->cursor == d->text.len &&
        (!scan_goes_on(d->syntax, buf_str(&d->text), d->text.len) || is_left(d)))
        return EDITOR_ENTER;
    if (d->cursor < d->text.len && !memchr(buf_str(&d->text), '\n', d->text.len) &&
        !scan_goes_on(d->syntax, buf_str(&d->text), d->text.len))
        return EDITOR_ENTER; /* somewhere in a single complete line */
    (void)!add_line(d, e);
    return EDITOR_MORE;
}

/* A bracket that closes a block stands one step further left than the lines of the block. */
static int close_block(struct editor *d, char c, struct err *e)
{
    size_t start = line_start(d, d->cursor), at = start;
    while (at < d->cursor && d->text.data[at] == ' ')
        at++;
    if (at == d->cursor && at > start && backspace(d, e))
        return -1;
    return insert(d, &c, 1, e);
}

static enum editor_event plain_byte(struct editor *d, char c, struct err *e)
{
    bool only_blanks = d->cursor == line_start(d, d->cursor) || d->text.data[d->cursor - 1] == ' ';
    if (d->pasting && (c == '\t' || c == '\r' || c == '\n')) {
        bool pair = c == '\n' && d->swallow;
        d->swallow = c == '\r';
        (void)!(pair ? 0 : insert(d, c == '\t' ? "\t" : "\n", 1, e));
        return EDITOR_MORE;
    }
    if (c == '\r' || c == '\n')
        return enter(d, e);
    if (c == '\x03')
        return EDITOR_INTERRUPT;
    if (c == '\x04') {
        if (d->text.len == 0)
            return EDITOR_END;
        (void)!edit(d, KEY_DELETE, e);
    } else if (c == '\t' && only_blanks) {
        (void)!insert(d, "    ", 4, e);
    } else if (c == '\t') {
        return EDITOR_COMPLETE;
    } else if (strchr("}])", c) && c && !d->pasting) {
        (void)!close_block(d, c, e);
    } else if ((unsigned char)c >= ' ') {
        (void)!insert(d, &c, 1, e);
    }
    return EDITOR_MORE;
}

enum editor_event editor_byte(struct editor *d, char byte, struct err *e)
{
    bool more;
    if (d->key_len == 0 && d->pasting && byte != '\033')
        return plain_byte(d, byte, e);
    if (d->key_len == sizeof d->key)
        d->key_len = 0;
    d->key[d->key_len++] = byte;
    enum action a = find_key(d->key, d->key_len, &more);
    if (more)
        return EDITOR_MORE;
    size_t n = d->key_len;
    d->key_len = 0;
    if (a)
        (void)!act(d, a, e);
    else if (n == 1)
        return plain_byte(d, byte, e);
    return EDITOR_MORE;
}
