#include "cli/commands/plain.h"

#include <stdbool.h>
#include <string.h>

#include "base/hidden.h"
#include "base/text.h"

int plain_add(struct buf *b, const char *text, size_t n, struct err *e)
{
    for (size_t at = 0, from = 0; at < n; from = at) {
        uint32_t c = hidden_next(text, n, &at);
        bool seen = c == '\t' ||
                    (!hidden_why(c) && c != '\n' && text_printable(text + from, n - from));
        if (seen ? buf_add(b, text + from, at - from, e) : buf_addf(b, e, "<U+%04X>", (unsigned)c))
            return -1;
    }
    return 0;
}

int plain_add_column(struct buf *b, const char *text, int width, struct err *e)
{
    size_t from = b->len;
    const char *shown = text ? text : "-";
    if (plain_add(b, shown, strlen(shown), e))
        return -1;
    size_t used = text_characters(buf_str(b) + from, b->len - from);
    int blanks = used < (size_t)width ? width - (int)used : width > 0;
    return blanks > 0 ? buf_addf(b, e, "%*s", blanks, "") : 0;
}

int plain_add_line(struct buf *b, size_t number, const char *line, size_t n, struct err *e)
{
    return buf_addf(b, e, "%5zu | ", number) || plain_add(b, line, n, e) || buf_addf(b, e, "\n")
               ? -1
               : 0;
}
