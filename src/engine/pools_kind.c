/* Which kind of embryo fits a program. */
#include <string.h>

#include "base/buf.h"
#include "engine/pools.h"
#include "spec/bundle.h"

/* Of all files together no more is looked at; what is missed is imported by the program itself, as in a cold start. */
enum { LOOKED_AT_MAX = 256 << 10 };

static bool is_named(const struct bundle_entry *f, const char *name)
{
    return f->head.name_len == strlen(name) && memcmp(f->name, name, f->head.name_len) == 0;
}

static bool is_source(const struct bundle_entry *f, const struct language *l)
{
    for (const char *const *x = l->extensions; *x; x++) {
        size_t n = strlen(*x);
        if (f->head.name_len > n && memcmp(f->name + f->head.name_len - n, *x, n) == 0)
            return true;
    }
    return false;
}

/* What comes first in a language's list is the more particular one. */
static unsigned more_particular(unsigned a, unsigned b)
{
    return b != 0 && b < a ? b : a;
}

unsigned pools_kind_of(const struct language *l, const char *main_name, const char *code,
                       const struct buf *bundle, char *const *env)
{
    if (!l->warm)
        return 0;
    size_t looked_at = code ? strlen(code) : 0;
    unsigned kind = warm_kind(l, code, looked_at, env);
    struct bundle_entry f;
    struct err e;
    bool more = true;
    for (size_t pos = 0; kind != 0 && bundle_next(bundle, &pos, &f, &more, &e) == 0 && more;) {
        bool is_main = is_named(&f, main_name);
        if (looked_at >= LOOKED_AT_MAX)
            break;
        if (is_main ? code != NULL : !is_source(&f, l))
            continue;
        size_t n = f.head.size < LOOKED_AT_MAX - looked_at ? (size_t)f.head.size
                                                           : LOOKED_AT_MAX - looked_at;
        kind = more_particular(kind, warm_kind(l, f.bytes, n, env));
        looked_at += n;
    }
    return kind;
}
