#include "normalise/normalise.h"

#include <string.h>
#include <strings.h>

#include "base/auto.h"

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

/* Words behind a fence that say no more than that it is a block. */
static bool says_nothing(const char *fence)
{
    static const char *const words[] = { "", "text", "txt", "plain", "plaintext", "code" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i], fence) == 0)
            return true;
    return false;
}

/* Models hand code over in Markdown also when they name its language; no program begins so. */
static bool starts_with_fence(const char *text, size_t len)
{
    size_t at = payload_mark(text, len);
    while (at < len && strchr(" \t\r\n", text[at]) && text[at])
        at++;
    return len - at >= 3 && (memcmp(text + at, "```", 3) == 0 || memcmp(text + at, "~~~", 3) == 0);
}

/* The language of a document: the one that is wanted, or of the first block that names one; else of one that names none. */
static bool find_block(const struct normalise_request *q, struct fence *ret)
{
    bool found = false;
    struct fence f = { 0 };
    for (size_t at = 0; fence_next(q->text, q->len, at, &f); at = f.after) {
        const struct language *l = says_nothing(f.language) ? NULL : language_find(f.language);
        if (l && (!q->given || l == q->given)) {
            *ret = f;
            return true;
        }
        if (!found && says_nothing(f.language)) {
            *ret = f;
            found = true;
        }
    }
    return found;
}

static int take_document(const struct normalise_request *q, struct payload *p, struct err *e)
{
    struct fence f;
    if (!find_block(q, &f))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "there is no fenced program%s%s in it: a block that begins with ``` and "
                       "the name of a language is run",
                       q->given ? " in " : "", q->given ? q->given->name : "");
    return payload_join(q->text, q->len, &f, p, e);
}

static int unwrap(const struct normalise_request *q, struct payload *p, struct err *e)
{
    if (normalise_is_markdown(q->file_name))
        return take_document(q, p, e);
    if (!q->file_name && (!q->given || starts_with_fence(q->text, q->len)))
        return payload_unwrap(q->text, q->len, p, e);
    return buf_add(&p->code, q->text, q->len, e);
}

static void tell(const struct normalise_request *q, struct normalised *n)
{
    const char *code = buf_str(&n->code), *name = q->file_name && !n->renamed ? q->file_name : "";
    bool fenced = !says_nothing(n->fence);
    const struct language *by_line = language_by_first_line(code, n->code.len);
    const struct {
        const struct language *language;
        enum told told;
    } ways[] = {
        { q->given, TOLD_GIVEN },
        { fenced ? language_find(n->fence) : NULL, TOLD_FENCE },
        { fenced ? NULL : language_guess(name, code, n->code.len), TOLD_NAME },
        /* a file has a name to go by, or to be given one */
        { fenced || name[0] ? NULL : language_infer(code, n->code.len), TOLD_CONTENT },
        /* {'generated_code': …} is Python's */
        { !fenced && n->unwrapped ? language_find("python") : NULL, TOLD_CONTENT },
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0] && !n->language; i++) {
        n->language = ways[i].language;
        n->told = ways[i].language ? ways[i].told : TOLD_NOT;
    }
    if (n->told == TOLD_NAME && n->language == by_line && language_by_name(name) != by_line)
        n->told = TOLD_SHEBANG;
}

int normalise(const struct normalise_request *q, struct normalised *ret, struct err *e)
{
    auto(payload) p = { 0 };
    if (unwrap(q, &p, e))
        return -1;
    struct normalised n = { .code = p.code, .unwrapped = p.code.len < q->len };
    p.code = (struct buf){ 0 };
    memcpy(n.fence, p.language, sizeof n.fence);
    n.renamed = normalise_is_markdown(q->file_name);
    tell(q, &n);
    *ret = n;
    return 0;
}
