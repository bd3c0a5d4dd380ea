#include "normalise/document.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"

/* Inference is slow, so only this many blocks, and this many bytes of them, are examined. */
enum { LOOKED_AT = 64, LOOKED_AT_BYTES = 32 << 10 };

bool document_says_nothing(const char *word)
{
    static const char *const words[] = { "", "text", "txt", "plain", "plaintext", "code", "none" };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

/* The language of a word that names a session, such as "pycon". */
static const struct language *session_word(const char *word)
{
    for (const struct language *const *l = languages; *l; l++)
        for (const char *const *name = (*l)->session_names; name && *name; name++)
            if (strcmp(*name, word) == 0)
                return *l;
    return NULL;
}

/* A document is read twice. The language of each unnamed block is inferred only once. */
struct survey {
    const char *text;
    size_t len, lines[LANGUAGES_MAX], first[LANGUAGES_MAX];
    const struct language *looks[LOOKED_AT];
    size_t looked_at, bytes;
    /* A block names a language other than a shell. Unnamed blocks are then its output. */
    bool named;
};

static size_t index_of(const struct language *l)
{
    size_t i = 0;
    while (languages[i] != l)
        i++;
    return i;
}

static int add_block(const struct survey *s, const struct fence *f, const struct language *l,
                     struct buf *b, struct err *e)
{
    scoped(buf) body = { 0 };
    const struct language *ignored;
    if (fence_add_body(&body, s->text, f, e))
        return -1;
    if (b->len > 0 && b->data[b->len - 1] != '\n' && buf_add(b, "\n", 1, e))
        return -1;
    return session_add(b, buf_str(&body), body.len, l, &ignored, e);
}

/* Infers the language of a block without a name. */
static const struct language *look(struct survey *s, const struct fence *f)
{
    scoped(buf) body = { 0 };
    struct err e;
    size_t n = f->end - f->body;
    if (s->bytes + n > LOOKED_AT_BYTES && s->bytes > 0)
        return NULL;
    s->bytes += n;
    if (fence_add_body(&body, s->text, f, &e))
        return NULL;
    const struct language *session = session_language(buf_str(&body), body.len, NULL);
    return session ? session : language_infer(buf_str(&body), body.len);
}

/* The language of the i-th unnamed block; NULL: it is not a program. */
static const struct language *block_language(struct survey *s, const struct fence *f,
                                             size_t *nameless)
{
    const struct language *session = session_word(f->language);
    if (!document_says_nothing(f->language))
        return session ? session : language_find(f->language);
    size_t i = (*nameless)++;
    if (i >= LOOKED_AT || s->named)
        return NULL;
    if (i == s->looked_at)
        s->looks[s->looked_at++] = look(s, f);
    return s->looks[i];
}

static size_t count_lines(const char *text, const struct fence *f)
{
    size_t n = 0;
    for (size_t i = f->body; i < f->end; i++)
        n += text[i] == '\n' && i > f->body && text[i - 1] != '\n';
    return n + (f->end > f->body && text[f->end - 1] != '\n');
}

static bool names_language(const struct survey *s)
{
    struct fence f;
    for (size_t at = payload_mark(s->text, s->len); fence_next(s->text, s->len, at, &f);
         at = f.after) {
        const struct language *l = document_says_nothing(f.language) ? NULL
                                                                     : language_find(f.language);
        if (l && !l->shell)
            return true;
    }
    return false;
}

/* The language of the program; NULL: not clear. */
static const struct language *main_language(struct survey *s, struct payload *p)
{
    struct fence f;
    size_t nameless = 0;
    const struct language *best = NULL;
    for (size_t at = payload_mark(s->text, s->len); fence_next(s->text, s->len, at, &f);
         at = f.after) {
        const struct language *l = block_language(s, &f, &nameless);
        size_t lines = l ? count_lines(s->text, &f) : 0;
        p->blocks++;
        if (lines == 0)
            continue;
        size_t i = index_of(l);
        if (s->lines[i] == 0)
            s->first[i] = p->blocks;
        s->lines[i] += lines;
    }
    for (size_t i = 0; languages[i]; i++) {
        size_t b = best ? index_of(best) : 0;
        bool more = !best || s->lines[i] > s->lines[b] ||
                    (s->lines[i] == s->lines[b] && s->first[i] < s->first[b]);
        if (s->lines[i] > 0 && (!best || languages[i]->shell == best->shell ? more : best->shell))
            best = languages[i];
    }
    return best;
}

/* Adds the blocks of the language; without one, the blocks with the same name as the first. */
static int add_blocks(struct survey *s, const struct language *l, struct payload *p, struct err *e)
{
    struct fence f;
    size_t nameless = 0;
    bool named = false;
    char word[FENCE_LANGUAGE_SIZE] = "";
    for (size_t at = payload_mark(s->text, s->len); fence_next(s->text, s->len, at, &f);
         at = f.after) {
        bool first = at == payload_mark(s->text, s->len);
        if (first)
            memcpy(word, f.language, sizeof word);
        if (l ? block_language(s, &f, &nameless) != l : strcmp(f.language, word) != 0)
            continue;
        if (add_block(s, &f, l, &p->code, e))
            return -1;
        named = named || !document_says_nothing(f.language);
        p->used++;
    }
    if (l && named)
        (void)snprintf(p->language, sizeof p->language, "%s", l->name);
    else if (!l)
        memcpy(p->language, word, sizeof word);
    p->inferred = l;
    return 0;
}

/* Adds the blocks without a name and without a recognised language, if the caller names the
 * language. */
static int add_nameless(struct survey *s, struct payload *p, const struct language *given,
                        struct err *e)
{
    struct fence f;
    for (size_t at = payload_mark(s->text, s->len); fence_next(s->text, s->len, at, &f);
         at = f.after) {
        if (!document_says_nothing(f.language))
            continue;
        if (add_block(s, &f, given, &p->code, e))
            return -1;
        p->used++;
    }
    return 0;
}

int document_take(const char *text, size_t len, const struct language *given, struct payload *p,
                  struct err *e)
{
    struct survey s = { .text = text, .len = len };
    s.named = names_language(&s);
    const struct language *l = main_language(&s, p);
    if (!given || s.lines[index_of(given)] > 0)
        return add_blocks(&s, given ? given : l, p, e);
    if (add_nameless(&s, p, given, e))
        return -1;
    return p->used > 0 ? 0 : add_blocks(&s, NULL, p, e);
}

bool document_has(const char *text, size_t len, const struct language *given)
{
    struct fence f;
    for (size_t at = 0; fence_next(text, len, at, &f); at = f.after) {
        const struct language *session = session_word(f.language);
        const struct language *l = session ? session : language_find(f.language);
        if (document_says_nothing(f.language) || (given ? l == given : l != NULL))
            return true;
    }
    return false;
}
