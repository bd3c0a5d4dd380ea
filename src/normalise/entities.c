/* normalise/entities.c — undoes the HTML escapes of code that was copied from a page. */
#include <string.h>

#include "base/array.h"
#include "normalise/payload.h"

static const struct entity {
    const char *name, *text;
} entities[] = {
    { "&lt;", "<" },   { "&gt;", ">" },   { "&amp;", "&" },  { "&quot;", "\"" }, { "&#39;", "'" },
    { "&#x27;", "'" }, { "&apos;", "'" }, { "&#34;", "\"" }, { "&nbsp;", " " },
};

static const struct entity *entity_at(const char *text, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(entities); i++)
        if (len >= strlen(entities[i].name) &&
            memcmp(text, entities[i].name, strlen(entities[i].name)) == 0)
            return &entities[i];
    return NULL;
}

/* True if every special character is escaped, and an escape stands outside of quotes, where a
 * program cannot have it. */
static bool is_escaped(const char *text, size_t len)
{
    bool quoted = false, outside = false;
    if (!memchr(text, '&', len) || memmem(text, len, "'''", 3))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (strchr("<>\"`", text[i]) && text[i])
            return false;
        if (text[i] == '&' && !entity_at(text + i, len - i))
            return false;
        quoted = text[i] == '\n' ? false : quoted ^ (text[i] == '\'');
        outside = outside || (text[i] == '&' && !quoted);
    }
    return outside;
}

int entities_decode(const char *text, size_t len, struct buf *ret, struct err *e)
{
    if (!is_escaped(text, len))
        return 0;
    for (size_t i = 0; i < len;) {
        const struct entity *x = text[i] == '&' ? entity_at(text + i, len - i) : NULL;
        if (buf_add(ret, x ? x->text : text + i, 1, e))
            return -1;
        i += x ? strlen(x->name) : 1;
    }
    return 0;
}
