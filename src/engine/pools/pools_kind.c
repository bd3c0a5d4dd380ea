/* The kind of embryo that fits a program. */
#include <string.h>

#include "base/buf.h"
#include "engine/pools/pools.h"
#include "spec/bundle.h"

/* Bytes read of all files together. A program imports the libraries that we miss itself, as in a
 * cold start. */
enum { SEARCHED_MAX = 256 << 10 };

/* The list of a language begins with its most specific kind. */
static unsigned more_specific(unsigned a, unsigned b)
{
    return b != 0 && b < a ? b : a;
}

unsigned pools_kind_of(const struct language *l, const char *main_name, const char *code,
                       const struct buf *bundle, char *const *env)
{
    if (!l->warm)
        return 0;
    size_t searched = code ? strnlen(code, SEARCHED_MAX) : 0;
    unsigned kind = warm_kind(l, code, searched, env);
    struct bundle_entry f;
    struct err e;
    bool more = true;
    for (size_t pos = 0; kind != 0 && bundle_next(bundle, &pos, &f, &more, &e) == 0 && more;) {
        bool is_main = bundle_is_named(&f, main_name);
        if (searched >= SEARCHED_MAX)
            break;
        if (is_main ? code != NULL : !language_has(l, f.name, f.head.name_len))
            continue;
        size_t n = f.head.size < SEARCHED_MAX - searched ? (size_t)f.head.size
                                                         : SEARCHED_MAX - searched;
        kind = more_specific(kind, warm_kind(l, f.bytes, n, env));
        searched += n;
    }
    return kind;
}
