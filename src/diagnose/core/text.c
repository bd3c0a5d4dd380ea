/* A diagnosis as people read it. Runs in: keeper, and in the command line's process. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "diagnose/core/grammar.h"

enum { VALUES_SHOWN = 6, VALUE_SHOWN = 72 };

enum style { STYLE_ERROR, STYLE_PLACE, STYLE_HELP, STYLE_NOTE, STYLE_STRONG, STYLE_NONE };
static const char *const escapes[] = {
    [STYLE_ERROR] = "\033[1;31m", [STYLE_PLACE] = "\033[1;34m", [STYLE_HELP] = "\033[1;32m",
    [STYLE_NOTE] = "\033[1;36m",  [STYLE_STRONG] = "\033[1m",   [STYLE_NONE] = "\033[0m",
};

struct page {
    struct buf *out;
    bool colour;
    int width;   /* of line numbers */
    int columns; /* of the terminal; 0: lines are as long as they are */
    struct err *e;
};

static bool starts_character(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

/* Characters up to the next blank. */
static int word_width(const char *text, size_t left)
{
    int n = 0;
    for (; left > 0 && *text != ' ' && *text != '\n'; text++, left--)
        n += starts_character(*text);
    return n;
}

/* Shows text of a program without control characters. Further lines of it are indented. When the
 * column `at` where it begins is known, lines end between words. */
static int add_clean_bytes(struct page *p, const char *text, size_t left, int at, int indent)
{
    while (left > 0) {
        size_t n = text_printable(text, left), step = n > 0 ? n : 1;
        int word = *text == ' ' && at && p->columns ? word_width(text + 1, left - 1) : 0;
        bool full = word > 0 && at + 1 + word > p->columns && indent + word <= p->columns;
        at = *text == '\n' || full ? indent : at + (at && n > 0);
        int rc = *text == '\n' || full ? buf_addf(p->out, p->e, "\n%*s", indent, "")
                 : n > 0               ? buf_add(p->out, text, n, p->e)
                 : *text == '\t'       ? buf_add(p->out, "    ", 4, p->e)
                                       : 0;
        if (rc)
            return -1;
        text += step;
        left -= step;
    }
    return 0;
}

static int add_clean(struct page *p, const char *text, int at, int indent)
{
    return add_clean_bytes(p, text, strlen(text), at, indent);
}

static int styled(struct page *p, enum style style, const char *text)
{
    if (p->colour && buf_addf(p->out, p->e, "%s", escapes[style]))
        return -1;
    if (add_clean(p, text, 0, 0))
        return -1;
    return p->colour ? buf_addf(p->out, p->e, "%s", escapes[STYLE_NONE]) : 0;
}

static int head(struct page *p, const struct diagnosis *d)
{
    char word[sizeof d->type + 16];
    /* A type such as "division by zero" is part of the message and is not shown again. */
    bool in_message = strchr(d->type, ' ') && strstr(d->message, d->type);
    (void)snprintf(word, sizeof word, d->type[0] && !in_message ? "error[%s]" : "error", d->type);
    if (styled(p, STYLE_ERROR, word) || buf_addf(p->out, p->e, d->message[0] ? ": " : "") ||
        add_clean(p, d->message, (int)strlen(word) + 2, 2) || buf_addf(p->out, p->e, "\n"))
        return -1;
    return 0;
}

static int place(struct page *p, const struct place_in_code *at)
{
    char arrow[16];
    (void)snprintf(arrow, sizeof arrow, "%*s--> ", p->width, "");
    if (styled(p, STYLE_PLACE, arrow) || add_clean(p, at->file, 0, 0))
        return -1;
    if (at->line && buf_addf(p->out, p->e, ":%u", at->line))
        return -1;
    if (at->line && at->column && buf_addf(p->out, p->e, ":%u", at->column))
        return -1;
    return buf_addf(p->out, p->e, "\n");
}

static int gutter(struct page *p, uint32_t line)
{
    char text[24];
    if (line)
        (void)snprintf(text, sizeof text, "%*u |", p->width, line);
    else
        (void)snprintf(text, sizeof text, "%*s |", p->width, "");
    return styled(p, STYLE_PLACE, text);
}

/* The part of a line that fits the terminal and holds the caret. Returns how many characters are
 * left out before it. */
static uint32_t window(const struct page *p, const struct excerpt_line *x, const char **ret_text,
                       int *ret_bytes)
{
    uint32_t skipped = 0, all = 0;
    uint32_t room = p->columns > p->width + 20 ? (uint32_t)(p->columns - p->width - 3) : 0;
    const char *end;
    for (const char *s = x->text; *s; s++)
        all += starts_character(*s);
    *ret_text = x->text;
    *ret_bytes = (int)strlen(x->text);
    if (!room || all <= room)
        return 0;
    if (x->caret_end > room)
        skipped = x->caret > room / 2 ? x->caret - room / 2 : 0;
    if (skipped > all - room)
        skipped = all - room;
    for (uint32_t n = 0; n < skipped; n++)
        do
            (*ret_text)++;
        while (!starts_character(**ret_text));
    end = *ret_text;
    for (uint32_t n = 0; n < room && *end; n++)
        do
            end++;
        while (!starts_character(*end));
    *ret_bytes = (int)(end - *ret_text);
    return skipped;
}

static int carets(struct page *p, const struct excerpt_line *x, uint32_t skipped)
{
    char marks[sizeof x->text];
    size_t n = x->caret_end > x->caret ? x->caret_end - x->caret : 1;
    uint32_t column = x->caret > skipped ? x->caret - skipped : 1;
    size_t room = p->columns > p->width + 20 ? (size_t)(p->columns - p->width - 3) : sizeof marks;
    if (n > room - (column < room ? column - 1 : 0))
        n = room - (column < room ? column - 1 : 0);
    if (n >= sizeof marks)
        n = sizeof marks - 1;
    memset(marks, '^', n);
    marks[n] = '\0';
    if (gutter(p, 0) || buf_addf(p->out, p->e, " %*s", (int)column - 1, "") ||
        styled(p, STYLE_ERROR, marks) || buf_addf(p->out, p->e, "\n"))
        return -1;
    return 0;
}

static int excerpt(struct page *p, const struct diagnosis *d)
{
    if (d->n_excerpt == 0)
        return 0;
    if (gutter(p, 0) || buf_addf(p->out, p->e, "\n"))
        return -1;
    for (size_t i = 0; i < d->n_excerpt; i++) {
        const struct excerpt_line *x = &d->excerpt[i];
        const char *text;
        int bytes;
        uint32_t skipped = window(p, x, &text, &bytes);
        if (gutter(p, x->line) || buf_addf(p->out, p->e, "%s", bytes ? " " : "") ||
            add_clean_bytes(p, text, (size_t)bytes, 0, 0) || buf_addf(p->out, p->e, "\n"))
            return -1;
        if (x->caret && carets(p, x, skipped))
            return -1;
    }
    return 0;
}

static int labelled(struct page *p, enum style style, const char *label, const char *text)
{
    return styled(p, style, label) || buf_addf(p->out, p->e, ": ") || add_clean(p, text, 6, 6) ||
                   buf_addf(p->out, p->e, "\n")
               ? -1
               : 0;
}

static int suggestions(struct page *p, const struct diagnosis *d)
{
    for (size_t i = 0; i < d->n_suggestions; i++) {
        const struct suggestion *s = &d->suggestions[i];
        if (labelled(p, STYLE_HELP, "help", s->text))
            return -1;
        if (s->replacement[0] &&
            (buf_addf(p->out, p->e, "      ") || add_clean(p, s->replacement, 0, 6) ||
             buf_addf(p->out, p->e, "\n")))
            return -1;
    }
    return 0;
}

/* The causes, and the first frames: readers look at a few frames, not at thirty. */
static int notes(struct page *p, const struct diagnosis *d)
{
    enum { FRAMES_SHOWN = 4 };
    char text[1200];
    for (size_t i = 0; i < d->n_causes; i++) {
        const struct cause *c = &d->causes[i];
        int n = snprintf(text, sizeof text, "after %s%s%s", c->type, c->type[0] ? ": " : "",
                         c->message);
        if (c->at.line && n > 0 && (size_t)n < sizeof text)
            (void)snprintf(text + n, sizeof text - (size_t)n, " (%s:%u)", c->at.file, c->at.line);
        if (labelled(p, STYLE_NOTE, "note", text))
            return -1;
    }
    for (size_t i = 1; i < d->n_frames && i < FRAMES_SHOWN && d->frames[i].user; i++) {
        const struct frame *f = &d->frames[i];
        (void)snprintf(text, sizeof text, "called from %s:%u%s%s", f->at.file, f->at.line,
                       f->function[0] ? " in " : "", f->function);
        if (labelled(p, STYLE_NOTE, "note", text))
            return -1;
    }
    return 0;
}

/* "rows  list  3  [1, 2, 3]": the type and the size stand for a value without a preview. */
static int one_value(struct page *p, const struct value *v, int name_width)
{
    char text[sizeof v->name + sizeof v->type + sizeof v->preview + 200];
    char size[24] = "", shape[DIAGNOSE_SHAPE * 22 + 8] = "";
    int n = 0;
    if (v->sized)
        (void)snprintf(size, sizeof size, " of %llu", (unsigned long long)v->size);
    for (size_t i = 0; i < v->n_shape && n >= 0 && (size_t)n < sizeof shape; i++)
        n += snprintf(shape + n, sizeof shape - (size_t)n, "%s%llu", i > 0 ? " x " : " ",
                      (unsigned long long)v->shape[i]);
    (void)snprintf(text, sizeof text, "%-*s  %s%s%s%s%s%s%s", name_width, v->name, v->type, size,
                   shape, v->dtype[0] ? " " : "", v->dtype, v->masked ? ", masked" : "",
                   v->preview[0] ? "  " : "");
    if (buf_addf(p->out, p->e, "      ") || add_clean(p, text, 0, 6))
        return -1;
    size_t at = 6 + strlen(text), room = p->columns && (size_t)p->columns > at + 16
                                             ? (size_t)p->columns - at
                                             : VALUE_SHOWN;
    size_t whole = text_whole(v->preview, strlen(v->preview) < room ? strlen(v->preview) : room);
    return add_clean_bytes(p, v->preview, whole, 0, 6) ||
                   buf_addf(p->out, p->e, v->preview[whole] ? "…\n" : "\n")
               ? -1
               : 0;
}

/* The first values of the failing line: they are the program's own word. */
static int values(struct page *p, const struct diagnosis *d)
{
    int name_width = 0;
    size_t n = 0;
    for (; n < d->n_values && n < VALUES_SHOWN && d->values[n].at.line == d->values[0].at.line; n++)
        if ((int)strlen(d->values[n].name) > name_width)
            name_width = (int)strlen(d->values[n].name);
    if (n == 0)
        return 0;
    if (labelled(p, STYLE_NOTE, "values", "as the program told them"))
        return -1;
    for (size_t i = 0; i < n; i++)
        if (one_value(p, &d->values[i], name_width))
            return -1;
    return 0;
}

/* The further errors of a compiler that goes on after an error, one line each. */
static int further(struct page *p, const struct diagnosis *d)
{
    enum { FURTHER_SHOWN = 5 };
    size_t all = d->n_further + d->further_left_out, shown = 0;
    char text[1200];
    if (all == 0)
        return 0;
    int n = snprintf(text, sizeof text, "%zu more error%s:", all, all > 1 ? "s" : "");
    for (; shown < d->n_further && shown < FURTHER_SHOWN; shown++) {
        const struct further_error *f = &d->further[shown];
        int line = (int)strcspn(f->message, "\n");
        char at[80] = "";
        if (f->at.line)
            (void)snprintf(at, sizeof at, "%.60s:%u: ", f->at.file, f->at.line);
        if (n > 0 && (size_t)n < sizeof text)
            n += snprintf(text + n, sizeof text - (size_t)n, "\n%s%.*s", at,
                          line < 120 ? line : 120, f->message);
    }
    if (shown < all && n > 0 && (size_t)n < sizeof text)
        (void)snprintf(text + n, sizeof text - (size_t)n, "\nand %zu more", all - shown);
    return labelled(p, STYLE_NOTE, "note", text);
}

int diagnosis_text(const struct diagnosis *d, bool colour, int columns, struct buf *out,
                   struct err *e)
{
    struct page p = { .out = out, .colour = colour, .e = e, .width = 1, .columns = columns };
    for (uint32_t n = d->location.line; n >= 10; n /= 10)
        p.width++;
    if (head(&p, d) || (d->location.file[0] && place(&p, &d->location)) || excerpt(&p, d) ||
        suggestions(&p, d) || values(&p, d) || notes(&p, d) || further(&p, d))
        return -1;
    return d->docs[0] ? labelled(&p, STYLE_NOTE, "docs", d->docs) : 0;
}
