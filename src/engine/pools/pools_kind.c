/* Which kind of embryo fits a program. */
#include <string.h>

#include "base/buf.h"
#include "engine/pools/pools.h"
#include "spec/bundle.h"

/* Of all files together no more is looked at; what is missed is imported by the program itself, as in a cold start. */
enum { LOOKED_AT_MAX = 256 << 10 };

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
        bool is_main = bundle_is_named(&f, main_name);
        if (looked_at >= LOOKED_AT_MAX)
            break;
        if (is_main ? code != NULL : !language_has(l, f.name, f.head.name_len))
            continue;
        size_t n = f.head.size < LOOKED_AT_MAX - looked_at ? (size_t)f.head.size
                                                           : LOOKED_AT_MAX - looked_at;
        kind = more_particular(kind, warm_kind(l, f.bytes, n, env));
        looked_at += n;
    }
    return kind;
}
