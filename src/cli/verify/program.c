/* Makes the program of a block: the blocks that it continues, then its own code. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "cli/verify/check.h"

/* Python compares the values itself. It prints each difference, and the exit status tells of
 * them. */
static int add_doctest(const struct check *c, struct buf *b, struct err *e)
{
    json_auto_t *text = json_stringn(buf_str(&c->code), c->code.len), *file = json_string(c->file);
    autofree char *code = json_dumps(text, JSON_ENCODE_ANY);
    autofree char *name = json_dumps(file, JSON_ENCODE_ANY);
    if (!code || !name)
        return err_no_memory(e, "a program");
    return buf_addf(b, e,
                    "def _belljar_doctest():\n"
                    "    import doctest, sys\n"
                    "    t = doctest.DocTestParser().get_doctest(%s, {}, %s, %s, %zu)\n"
                    "    t.globs = globals()\n"
                    "    r = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)\n"
                    "    r.run(t, clear_globs=False)\n"
                    "    if r.failures: sys.exit(1)\n"
                    "_belljar_doctest()\n",
                    code, name, name, c->line);
}

static int add_own(const struct check *c, struct buf *b, struct err *e)
{
    if (c->kind == CHECK_CONSOLE)
        return console_add_script(c, b, e);
    if (c->kind == CHECK_DOCTEST)
        return add_doctest(c, b, e);
    if (buf_add(b, buf_str(&c->code), c->code.len, e))
        return -1;
    return b->len > 0 && b->data[b->len - 1] != '\n' ? buf_add(b, "\n", 1, e) : 0;
}

/* A block that must fail, or that is not run, adds nothing to the blocks after it. */
static bool is_continued(const struct check *c)
{
    return c->outcome != OUTCOME_SKIPPED && c->outcome != OUTCOME_ERROR &&
           !c->words.given[WORD_EXPECT_ERROR] && !c->words.given[WORD_EXIT];
}

const struct check *program_before(const struct checks *all, const struct check *c)
{
    for (int i = c->prior; i >= 0; i = all->at[i].prior)
        if (is_continued(&all->at[i]))
            return &all->at[i];
    return NULL;
}

/* The indexes of the checks from the first to this one; their number. */
static size_t chain(const struct checks *all, const struct check *c, size_t *ret)
{
    size_t n = 0;
    for (const struct check *x = c; x && n < all->n; x = program_before(all, x))
        ret[n++] = (size_t)(x - all->at);
    for (size_t i = 0; i < n / 2; i++) {
        size_t swapped = ret[i];
        ret[i] = ret[n - 1 - i];
        ret[n - 1 - i] = swapped;
    }
    return n;
}

int program_make(const struct checks *all, const struct check *c, struct buf *ret, struct err *e)
{
    autofree size_t *parts = calloc(all->n, sizeof *parts);
    if (!parts)
        return err_no_memory(e, "a program");
    size_t n = chain(all, c, parts);
    for (size_t i = 0; i < n; i++)
        if (add_own(&all->at[parts[i]], ret, e))
            return -1;
    return 0;
}

bool program_place(const struct checks *all, const struct check *c, size_t program_line,
                   size_t *ret_line)
{
    autofree size_t *parts = calloc(all->n, sizeof *parts);
    if (!parts || c->line == 0 || program_line == 0)
        return false;
    size_t n = chain(all, c, parts), before = 0;
    for (size_t i = 0; i < n; i++) {
        const struct check *part = &all->at[parts[i]];
        scoped(buf) own = { 0 };
        struct err e;
        size_t lines = 0;
        if (add_own(part, &own, &e))
            return false;
        for (size_t k = 0; k < own.len; k++)
            lines += own.data[k] == '\n';
        if (program_line <= before + lines) {
            *ret_line = part->line + program_line - before;
            return part->kind == CHECK_CODE;
        }
        before += lines;
    }
    return false;
}
