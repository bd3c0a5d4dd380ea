#include "normalise/normalise.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/auto.h"
#include "normalise/document.h"

const char *language_source_word(enum language_source t)
{
    static const char *const words[] = {
#define X(id, word) [id] = word,
        LANGUAGE_SOURCE_TABLE(X)
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

/* True for notes.txt and answer: such names say nothing about the content. Any other extension
 * does. */
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
                       "the document has no fenced program%s%s: start a block with ``` and "
                       "the name of a language",
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

static const struct language *language_in_dicts(void)
{
    for (const struct language *const *l = languages; *l; l++)
        if ((*l)->in_dicts)
            return *l;
    return NULL;
}

static void find_language(const struct normalise_request *q, const struct payload *p,
                          struct normalised *n)
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
        enum language_source source;
    } ways[] = {
        { q->given, SOURCE_GIVEN },
        { fenced ? language_find(n->fence) : NULL, SOURCE_FENCE },
        { fenced ? NULL : language_guess(name, code, n->code.len), SOURCE_NAME },
        { fenced ? NULL : p->inferred, SOURCE_CONTENT },
        { by_content, SOURCE_CONTENT },
        /* {'generated_code': …} without a language */
        { !fenced && p->dict ? language_in_dicts() : NULL, SOURCE_CONTENT },
    };
    for (size_t i = 0; i < ARRAY_LEN(ways) && !n->language; i++) {
        n->language = ways[i].language;
        n->source = ways[i].language ? ways[i].source : SOURCE_NONE;
    }
    n->renamed |= n->source == SOURCE_CONTENT && name[0];
    if (n->source == SOURCE_NAME && n->language == by_line && language_by_name(name) != by_line)
        n->source = SOURCE_SHEBANG;
}

int normalise(const struct normalise_request *q, struct normalised *ret, struct err *e)
{
    scoped(payload) p = { 0 };
    if (unwrap(q, &p, e))
        return -1;
    struct normalised n = { .code = p.code, .unwrapped = p.code.len < q->len };
    n.blocks = p.blocks;
    n.used = p.used;
    p.code = (struct buf){ 0 };
    memcpy(n.fence, p.language, sizeof n.fence);
    n.renamed = normalise_is_markdown(q->file_name);
    find_language(q, &p, &n);
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
