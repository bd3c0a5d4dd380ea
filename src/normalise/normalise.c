#include "normalise/normalise.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/auto.h"
#include "normalise/document.h"

const char *told_word(enum told t)
{
    static const char *const words[] = {
#define X(id, word) [id] = word,
        TOLD_TABLE(X)
#undef X
    };
    return words[t];
}

void normalised_done(struct normalised *n)
{
    buf_done(&n->code);
}

bool normalise_is_markdown(const char *file_name)
{
    const char *dot = file_name ? strrchr(file_name, '.') : NULL;
    return dot && (strcasecmp(dot, ".md") == 0 || strcasecmp(dot, ".markdown") == 0);
}

/* notes.txt, answer: such a name says nothing of what is in the file. One that ends in anything else does, to somebody. */
static bool says_no_kind(const char *file_name)
{
    const char *slash = strrchr(file_name, '/');
    const char *dot = strrchr(slash ? slash + 1 : file_name, '.');
    return !dot || strcasecmp(dot, ".txt") == 0;
}

static int take_document(const struct normalise_request *q, struct payload *p, struct err *e)
{
    if (!document_has(q->text, q->len, q->given))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "there is no fenced program%s%s in it: a block that begins with ``` and "
                       "the name of a language is run",
                       q->given ? " in " : "", q->given ? q->given->name : "");
    return document_take(q->text, q->len, q->given, p, e);
}

static int unwrap(const struct normalise_request *q, struct payload *p, struct err *e)
{
    if (normalise_is_markdown(q->file_name))
        return take_document(q, p, e);
    if (!q->file_name)
        return payload_unwrap(q->text, q->len, q->given, p, e);
    return buf_add(&p->code, q->text, q->len, e);
}

static void tell(const struct normalise_request *q, const struct payload *p, struct normalised *n)
{
    const char *code = buf_str(&n->code), *name = q->file_name && !n->renamed ? q->file_name : "";
    bool fenced = !document_says_nothing(n->fence);
    const struct language *by_line = language_by_first_line(code, n->code.len);
    const struct language *by_content = NULL;
    bool clear = true;
    if (!q->given && !fenced && says_no_kind(name)) {
        n->n_likely = language_candidates(code, n->code.len, n->likely, &clear);
        by_content = n->n_likely > 0 && clear ? n->likely[0] : NULL;
    }
    const struct {
        const struct language *language;
        enum told told;
    } ways[] = {
        { q->given, TOLD_GIVEN },
        { fenced ? language_find(n->fence) : NULL, TOLD_FENCE },
        { fenced ? NULL : language_guess(name, code, n->code.len), TOLD_NAME },
        { fenced ? NULL : p->told, TOLD_CONTENT },
        { by_content, TOLD_CONTENT },
        /* {'generated_code': …} is Python's */
        { !fenced && p->dict ? language_find("python") : NULL, TOLD_CONTENT },
    };
    for (size_t i = 0; i < ARRAY_LEN(ways) && !n->language; i++) {
        n->language = ways[i].language;
        n->told = ways[i].language ? ways[i].told : TOLD_NOT;
    }
    n->renamed |= n->told == TOLD_CONTENT && name[0];
    if (n->told == TOLD_NAME && n->language == by_line && language_by_name(name) != by_line)
        n->told = TOLD_SHEBANG;
}

int normalise(const struct normalise_request *q, struct normalised *ret, struct err *e)
{
    scoped(payload) p = { 0 };
    if (unwrap(q, &p, e))
        return -1;
    struct normalised n = { .code = p.code, .unwrapped = p.code.len < q->len };
    n.blocks = p.blocks;
    n.taken = p.taken;
    p.code = (struct buf){ 0 };
    memcpy(n.fence, p.language, sizeof n.fence);
    n.renamed = normalise_is_markdown(q->file_name);
    tell(q, &p, &n);
    *ret = n;
    return 0;
}

const char *normalise_likely(const struct normalised *n, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n->n_likely && used < size; i++) {
        const char *before = i == 0 ? ", which could be " : i + 1 < n->n_likely ? ", " : " or ";
        used += (size_t)snprintf(out + used, size - used, "%s%s", before, n->likely[i]->name);
    }
    return out;
}
