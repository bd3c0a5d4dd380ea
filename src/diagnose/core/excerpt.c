/* The lines at the location in a form that can be shown: tabs become spaces, control characters are
 * replaced, and long lines are cut around the caret. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "diagnose/core/grammar.h"

enum {
    LINES_BEFORE = 2,
    TAB = 4,
    WIDTH = 110, /* columns of a line that are shown */
};
static const char cut_mark[] = "..."; /* one column a byte, so that carets stay right */

/* A line being laid out. */
struct layout {
    struct excerpt_line *out;
    size_t used;
    uint32_t source_column; /* of the next character in the file */
    uint32_t column;        /* of the next character as it would be shown, uncut */
    uint32_t skip, last;    /* columns before and after these are cut */
};

static void put(struct layout *l, const char *bytes, size_t n)
{
    uint32_t at = l->column++;
    if (at < l->skip || at > l->last || l->used + n + sizeof cut_mark > sizeof l->out->text)
        return;
    memcpy(l->out->text + l->used, bytes, n);
    l->used += n;
    l->out->text[l->used] = '\0';
}

/* The number of bytes of the character at p. A byte that is not UTF-8 is a character by itself. */
static size_t character(struct piece p)
{
    size_t n = 1;
    while (n < p.len && n < 4 && ((unsigned char)piece_byte(p, n) & 0xC0) == 0x80)
        n++;
    return text_is_utf8(piece_bytes(p), n) ? n : 1;
}

static void put_character(struct layout *l, struct piece c)
{
    if (c.len == 1 && piece_byte(c, 0) == '\t') {
        do
            put(l, " ", 1);
        while ((l->column - 1) % TAB != 0);
    } else if (text_printable(piece_bytes(c), c.len) != c.len) {
        put(l, "\xEF\xBF\xBD", 3);
    } else {
        put(l, piece_bytes(c), c.len);
    }
    l->source_column++;
}

/* Finds the shown columns, before cutting, of the columns in the file. */
static void lay_out(struct layout *l, struct piece line, const struct place_in_code *mark,
                    uint32_t *ret_from, uint32_t *ret_end)
{
    l->source_column = l->column = 1;
    l->used = 0;
    *ret_from = *ret_end = 0;
    for (size_t i = 0; i <= line.len;) {
        if (mark && l->source_column == mark->column)
            *ret_from = l->column;
        if (mark && l->source_column == mark->end_column)
            *ret_end = l->column;
        if (i == line.len)
            break;
        size_t n = character(piece_part(line, i, line.len - i));
        put_character(l, piece_part(line, i, n));
        i += n;
    }
}

static void show(struct excerpt_line *out, struct piece line, const struct place_in_code *mark)
{
    struct layout l = { .out = out, .last = UINT32_MAX };
    uint32_t from, end;
    lay_out(&l, line, mark, &from, &end);
    uint32_t width = l.column - 1;
    if (end <= from)
        end = from ? from + 1 : 0;
    l.skip = 0;
    if (width > WIDTH) {
        if (from > WIDTH * 3 / 4)
            l.skip = from - WIDTH / 2;
        l.last = l.skip + WIDTH;
        out->text[0] = '\0';
        uint32_t ignored;
        lay_out(&l, line, NULL, &ignored, &ignored);
        if (l.skip > 0) { /* the mark replaces the first characters that are left */
            char rest[sizeof out->text];
            (void)snprintf(rest, sizeof rest, "%s", out->text);
            (void)snprintf(out->text, sizeof out->text, "%s%s", cut_mark, rest);
            from = from - l.skip + sizeof cut_mark;
            end = end - l.skip + sizeof cut_mark;
        }
        size_t n = strlen(out->text);
        (void)snprintf(out->text + n, sizeof out->text - n, "%s",
                       l.column > l.last ? cut_mark : "");
        if (end > WIDTH + 2 * sizeof cut_mark)
            end = WIDTH + 2 * sizeof cut_mark;
    }
    out->caret = from;
    out->caret_end = end;
}

void make_excerpt(const struct diagnose_input *in, struct diagnosis *d)
{
    const struct source_file *f = find_source(in, piece_of(d->location.file));
    const struct place_in_code *p = &d->location;
    if (d->n_excerpt == 1 && !f) { /* the line that the error shows itself */
        struct excerpt_line shown = d->excerpt[0];
        struct piece text = piece_of(shown.text);
        d->excerpt[0] = (struct excerpt_line){ .line = shown.line };
        show(&d->excerpt[0], text, shown.line == p->line ? p : NULL);
        return;
    }
    d->n_excerpt = 0;
    uint32_t first = p->line > LINES_BEFORE ? p->line - LINES_BEFORE : 1;
    for (uint32_t i = first; f && p->line && i <= p->line; i++) {
        struct piece line = source_line(f, i);
        if (!line.at)
            break;
        if (i < p->line && d->n_excerpt == 0 && piece_trim(line).len == 0)
            continue; /* blank lines are of no use */
        d->excerpt[d->n_excerpt] = (struct excerpt_line){ .line = i };
        show(&d->excerpt[d->n_excerpt++], line, i == p->line ? p : NULL);
    }
}
