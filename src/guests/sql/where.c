#include "guests/sql/where.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "guests/sql/cell.h"

static bool begins_character(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

struct where where_at(const struct script *s, size_t offset)
{
    struct where w = { 1, 1 };
    for (size_t i = 0; i < offset && i < s->n; i++) {
        if (s->text[i] == '\n')
            w = (struct where){ w.line + 1, 1 };
        else
            w.column += begins_character(s->text[i]);
    }
    return w;
}

size_t where_character(const struct script *s, size_t from, size_t number)
{
    size_t at = from;
    for (; at < s->n; at++)
        if (begins_character(s->text[at]) && number-- == 0)
            break;
    return at < s->n ? at : s->n;
}

/* Prints characters unchanged; characters that would move the caret become blanks of at least their
 * width. */
static void put_plain(FILE *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t len = text_printable(text + i, n - i);
        if (len > 0) {
            (void)fwrite(text + i, 1, len, out);
        } else {
            for (len = 1; i + len < n && !begins_character(text[i + len]);)
                len++;
            for (size_t k = text_columns(text + i, len); k > 0; k--)
                (void)fputc(' ', out);
        }
        i += len;
    }
}

void where_show(FILE *out, const struct script *s, size_t offset, const char *head,
                const char *below)
{
    enum { BEFORE = 80, AFTER = 60 };
    offset = offset < s->n ? offset : s->n;
    size_t start = offset, end = offset;
    while (start > 0 && s->text[start - 1] != '\n')
        start--;
    while (end < s->n && s->text[end] != '\n')
        end++;
    bool cut_start = offset - start > BEFORE, cut_end = end - offset > AFTER;
    start = cut_start ? offset - BEFORE : start;
    end = cut_end ? offset + AFTER : end;
    while (start < offset && !begins_character(s->text[start]))
        start++;
    while (end > offset && end < s->n && !begins_character(s->text[end]))
        end--;
    (void)fprintf(out, "%s%s", head, cut_start ? "..." : "");
    put_plain(out, s->text + start, end - start);
    (void)fprintf(out, "%s\n%s%s", cut_end ? "..." : "", below, cut_start ? "   " : "");
    for (size_t i = text_columns(s->text + start, offset - start); i > 0; i--)
        (void)fputc(' ', out);
    (void)fputs("^\n", out);
}
