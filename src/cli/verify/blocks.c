/* Finds the blocks of a Markdown text that can be run, and the outputs that are expected of them. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "cli/verify/check.h"
#include "normalise/document.h"
#include "normalise/payload.h"

/* A fence, and where it stands. */
struct place {
    const char *file, *text;
    struct fence fence;
    size_t line;      /* of the fence; 1, 2, ... */
    bool follows;     /* only blank lines stand between it and the block before it */
    const char *info; /* the rest of its line */
    size_t info_len;
};

/* Blocks with these names are the output of the block before them. */
static const char output_name[] = "output";
static const char *const text_names[] = { "text", "txt", "plaintext", "plain" };

static bool is_text(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(text_names); i++)
        if (strcmp(name, text_names[i]) == 0)
            return true;
    return false;
}

/* The language whose sessions at a prompt have this name, such as "pycon". */
static const struct language *language_of_session(const char *name)
{
    for (size_t i = 0; languages[i]; i++)
        for (const char *const *word = languages[i]->session_names; word && *word; word++)
            if (strcasecmp(name, *word) == 0)
                return languages[i];
    return NULL;
}

static bool begins_with(const struct buf *b, const char *word)
{
    return b->len >= strlen(word) && memcmp(b->data, word, strlen(word)) == 0;
}

/* The mistake is told in the report, in place of a run. */
static void refuse(struct check *c, const struct err *e)
{
    c->outcome = OUTCOME_ERROR;
    (void)snprintf(c->why, sizeof c->why, "%s", e->text);
}

static size_t count_lines(const char *text, size_t from, size_t to)
{
    size_t n = 0;
    for (size_t i = from; i < to; i++)
        n += text[i] == '\n';
    return n;
}

static bool is_blank(const char *text, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (!isspace((unsigned char)text[i]))
            return false;
    return true;
}

/* Finds the words after the language: "python,skip" and "{.python skip}" have them too. */
static void find_info(struct place *p, size_t len)
{
    size_t at = p->fence.open + p->fence.indent;
    const char mark = p->text[at];
    const char *newline = memchr(p->text + at, '\n', len - at);
    size_t end = newline ? (size_t)(newline - p->text) : len;
    while (at < end && p->text[at] == mark)
        at++;
    while (at < end && strchr(" \t{.", p->text[at]) && p->text[at])
        at++;
    while (at < end && !(strchr(" \t,{}\r", p->text[at]) && p->text[at]))
        at++;
    p->info = p->text + at;
    p->info_len = end - at;
}

/* Links the block to the one that it continues. */
static int find_prior(struct checks *all, struct check *c, struct err *e)
{
    const char *name = c->words.value[WORD_SESSION];
    if (!name && !c->words.given[WORD_CONTINUE])
        return 0;
    for (size_t i = all->n - 1; i-- > 0;) {
        const struct check *old = &all->at[i];
        const char *other = old->words.value[WORD_SESSION];
        if (strcmp(old->file, c->file) != 0)
            break;
        if (name ? !other || strcmp(name, other) != 0 : old->language != c->language)
            continue;
        if (old->language != c->language)
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "session=%s has blocks in %s and in %s: one language is accepted",
                           QUOTED(name), old->language->name, c->language->name);
        c->prior = (int)i;
        return 0;
    }
    if (name)
        return 0; /* the first of its name */
    return err_set(e, ERR_BAD_REQUEST, 0, "'continue': there is no block in %s before this one",
                   c->language->name);
}

/* The code of the block, and its kind. */
static int take_code(struct check *c, const struct place *p, struct buf *body, struct err *e)
{
    if (!p->fence.closed)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the block is not closed: a line of %.3s is needed after it",
                       p->text + p->fence.open + p->fence.indent);
    if (is_blank(buf_str(body), 0, body->len))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the block is empty: it needs code, or the word skip");
    if (c->kind == CHECK_CONSOLE)
        return console_read(c, buf_str(body), body->len, p->line + 1, e);
    const struct language *of = NULL;
    if (c->kind == CHECK_DOCTEST)
        return buf_add(&c->code, body->data, body->len, e);
    return session_add(&c->code, body->data, body->len, c->language, &of, e);
}

static int add_block(struct checks *all, const struct language *l, const struct place *p,
                     struct err *e)
{
    scoped(buf) body = { 0 };
    struct err mistake;
    if (fence_add_body(&body, p->text, &p->fence, e))
        return -1;
    bool console = l->shell && (begins_with(&body, "$ ") || language_of_session(p->fence.language));
    bool doctest = strcmp(l->name, "python") == 0 && begins_with(&body, ">>> ");
    enum check_kind kind = console ? CHECK_CONSOLE : doctest ? CHECK_DOCTEST : CHECK_CODE;
    struct check *c = checks_add(all, kind, p->file, p->line, e);
    if (!c)
        return -1;
    c->language = l;
    if (words_read(p->info, p->info_len, &c->words, &mistake) || find_prior(all, c, &mistake)) {
        refuse(c, &mistake);
        return 0;
    }
    int failed = take_code(c, p, &body, &mistake);
    if (c->words.given[WORD_SKIP]) {
        c->outcome = OUTCOME_SKIPPED;
        (void)snprintf(c->why, sizeof c->why, "%s",
                       c->words.value[WORD_SKIP] ? c->words.value[WORD_SKIP] : "marked skip");
    } else if (failed) {
        refuse(c, &mistake);
    }
    return 0;
}

/* An output block belongs to the block before it. */
static int add_output(struct checks *all, size_t first, const struct place *p, struct err *e)
{
    struct check *c = all->n > first ? &all->at[all->n - 1] : NULL;
    if (!c || c->kind == CHECK_CONSOLE || c->kind == CHECK_DOCTEST || c->steps[0].compared) {
        if (is_text(p->fence.language))
            return 0;
        c = checks_add(all, CHECK_CODE, p->file, p->line, e);
        if (!c)
            return -1;
        c->outcome = OUTCOME_ERROR;
        (void)snprintf(c->why, sizeof c->why,
                       "the output belongs to no block: it must follow a block that is run");
        return 0;
    }
    c->steps[0].compared = true;
    c->steps[0].line = p->line + 1;
    return fence_add_body(&c->steps[0].expected, p->text, &p->fence, e);
}

int blocks_read(struct checks *all, const char *file, const char *text, size_t len, struct err *e)
{
    struct place p = { .file = file, .text = text, .line = 1 };
    size_t at = payload_mark(text, len), first = all->n, counted = 0;
    bool runs = false; /* the block before this one is run */
    while (fence_next(text, len, at, &p.fence)) {
        p.line += count_lines(text, counted, p.fence.open);
        counted = p.fence.open;
        p.follows = runs && is_blank(text, at, p.fence.open);
        find_info(&p, len);
        const char *name = p.fence.language;
        const struct language *l = *name ? language_find(name) : NULL;
        if (!l && *name)
            l = language_of_session(name);
        runs = l != NULL;
        if (l && add_block(all, l, &p, e))
            return -1;
        bool output = strcmp(name, output_name) == 0 || (p.follows && is_text(name));
        if (!l && output && add_output(all, first, &p, e))
            return -1;
        at = p.fence.after;
    }
    return 0;
}
