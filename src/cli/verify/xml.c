#include "cli/verify/xml.h"

#include <stdbool.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"

/* XML 1.0 has no character for most control characters, U+FFFE and U+FFFF, not even escaped. */
static bool is_forbidden(const char *p, size_t n)
{
    unsigned char c = (unsigned char)*p;
    if (n == 1)
        return c < 0x20 && c != '\t' && c != '\n' && c != '\r';
    return n == 3 && (memcmp(p, "\xEF\xBF\xBE", 3) == 0 || memcmp(p, "\xEF\xBF\xBF", 3) == 0);
}

static size_t character_len(unsigned char first)
{
    return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

int xml_add_escaped(struct buf *out, const char *text, size_t len, struct err *e)
{
    static const struct {
        char c;
        const char *escape;
    } table[] = { { '&', "&amp;" },  { '<', "&lt;" },  { '>', "&gt;" },  { '"', "&quot;" },
                  { '\n', "&#10;" }, { '\t', "&#9;" }, { '\r', "&#13;" } };
    scoped(buf) valid = { 0 };
    if (text_add_utf8(&valid, text, len, e))
        return -1;
    for (size_t i = 0; i < valid.len;) {
        const char *p = valid.data + i, *add = p;
        size_t n = character_len((unsigned char)*p), add_len = n;
        if (is_forbidden(p, n)) {
            add = "\uFFFD";
            add_len = 3;
        }
        for (size_t k = 0; k < sizeof table / sizeof table[0]; k++)
            if (*p == table[k].c) {
                add = table[k].escape;
                add_len = strlen(add);
            }
        if (buf_add(out, add, add_len, e))
            return -1;
        i += n;
    }
    return 0;
}

int xml_add_attribute(struct buf *out, const char *name, const char *text, struct err *e)
{
    return buf_addf(out, e, " %s=\"", name) || xml_add_escaped(out, text, strlen(text), e) ||
                   buf_add(out, "\"", 1, e)
               ? -1
               : 0;
}
