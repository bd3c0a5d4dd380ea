/* The two forms of a page: a terminal of 80 columns, and roff. */
#include "cli/manual/page.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "config.h"

enum { WIDTH = 80, TERM_INDENT = 2, TEXT_INDENT = 31 };

/* ---- --help ---- */

/* Fills lines from `column` on; further lines begin at `indent`. */
static void wrap(FILE *out, const char *text, int column, int indent)
{
    bool fresh = true; /* no word is on the line yet */
    while (*text) {
        int len = (int)strcspn(text, " \n");
        if (!fresh && column + 1 + len > WIDTH) {
            (void)fprintf(out, "\n%*s", indent, "");
            column = indent;
            fresh = true;
        }
        column += fprintf(out, "%s%.*s", fresh ? "" : " ", len, text);
        fresh = false;
        text += len;
        if (strncmp(text, "\n\n", 2) == 0) {
            (void)fprintf(out, "\n\n%*s", indent, "");
            column = indent;
            fresh = true;
        }
        text += strspn(text, " \n");
    }
    (void)fputc('\n', out);
}

static void help_item(FILE *out, const char *term, const char *text)
{
    int column = fprintf(out, "%*s%s", TERM_INDENT, "", term);
    if (column + 2 > TEXT_INDENT) {
        (void)fputc('\n', out);
        column = 0;
    }
    (void)fprintf(out, "%*s", TEXT_INDENT - column, "");
    wrap(out, text, TEXT_INDENT, TEXT_INDENT);
}

/* ---- roff ---- */

/* A hyphen would become a dash that cannot be pasted into a shell; the same holds for quotes. */
static const char *escape_of(char c)
{
    static const struct {
        char c;
        const char *roff;
    } rows[] = { { '\\', "\\e" },  { '-', "\\-" },   { '\'', "\\(aq" }, { '"', "\\(dq" },
                 { '`', "\\(ga" }, { '^', "\\(ha" }, { '~', "\\(ti" } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].c == c)
            return rows[i].roff;
    return NULL;
}

static void put_escaped(FILE *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *roff = escape_of(text[i]);
        if (roff)
            (void)fputs(roff, out);
        else
            (void)fputc(text[i], out);
    }
}

/* A line of text must not begin like a request. */
static void roff_line(FILE *out, const char *text, size_t n)
{
    if (n > 0 && text[0] == '.')
        (void)fputs("\\&", out);
    put_escaped(out, text, n);
    (void)fputc('\n', out);
}

static void roff_text(FILE *out, const char *text, bool first_is_open)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t n = end ? (size_t)(end - text) : strlen(text);
        if (!first_is_open)
            (void)fputs(".PP\n", out);
        roff_line(out, text, n);
        first_is_open = false;
        text += n + strspn(text + n, "\n");
    }
}

/* Placeholders are in capital letters; everything else is typed as it stands. */
static bool is_placeholder(const char *word, size_t n)
{
    bool capital = false;
    for (size_t i = 0; i < n; i++) {
        if (islower((unsigned char)word[i]) || (i == 0 && word[i] == '-'))
            return false;
        capital = capital || isupper((unsigned char)word[i]);
    }
    return capital;
}

static void roff_term(FILE *out, const char *term)
{
    while (*term) {
        size_t n = strcspn(term, " "), blanks = strspn(term + n, " ");
        (void)fputs(is_placeholder(term, n) ? "\\fI" : "\\fB", out);
        put_escaped(out, term, n);
        (void)fprintf(out, "\\fR%s", blanks && term[n + blanks] ? " " : "");
        term += n + blanks;
    }
    (void)fputc('\n', out);
}

/* ---- both ---- */

void page_title(struct page *p, const char *name, int section)
{
    if (p->form != PAGE_ROFF)
        return;
    (void)fputs(".nr HY 0\n.TH \"", p->out); /* names of commands are not hyphenated */
    for (; *name; name++)
        (void)fprintf(p->out, *name == '-' ? "\\-" : "%c", toupper((unsigned char)*name));
    (void)fprintf(p->out, "\" %d \"\" \"belljar %s\" \"Belljar manual\"\n.ad l\n", section,
                  BELLJAR_VERSION);
}

void page_section(struct page *p, const char *title)
{
    if (p->form == PAGE_HELP) {
        (void)fprintf(p->out, "\n%s:\n", title);
        return;
    }
    (void)fputs(".SH ", p->out);
    for (; *title; title++)
        (void)fputc(toupper((unsigned char)*title), p->out);
    (void)fputc('\n', p->out);
}

void page_text(struct page *p, const char *paragraphs)
{
    if (p->form == PAGE_HELP)
        wrap(p->out, paragraphs, 0, 0);
    else
        roff_text(p->out, paragraphs, false);
}

void page_item(struct page *p, const char *term, const char *text)
{
    if (p->form == PAGE_HELP) {
        help_item(p->out, term, text);
        return;
    }
    (void)fputs(".TP\n", p->out);
    roff_term(p->out, term);
    roff_text(p->out, text, true);
}

void page_synopsis(struct page *p, const char *line)
{
    roff_term(p->out, line);
}

void page_code(struct page *p, const char *line)
{
    if (p->form == PAGE_HELP) {
        (void)fprintf(p->out, "%*s%s\n", TERM_INDENT, "", line);
        return;
    }
    (void)fputs(".PP\n.RS 4\n.EX\n", p->out);
    roff_line(p->out, line, strlen(line));
    (void)fputs(".EE\n.RE\n", p->out);
}
