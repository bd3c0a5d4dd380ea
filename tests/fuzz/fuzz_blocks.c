/* For any Markdown text, the blocks that `belljar verify` finds lie in the text, a block continues
 * only an earlier one, the program of a block can be made, and any output can be compared. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"
#include "cli/verify/check.h"
#include "cli/verify/compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PROGRAMS_MAX = 20 };

static size_t lines_of(const char *text, size_t len)
{
    size_t n = 1;
    for (size_t i = 0; i < len; i++)
        n += text[i] == '\n';
    return n;
}

static void look_at(const struct checks *all, size_t i, const char *text, size_t len)
{
    struct check *c = &all->at[i];
    struct err e;
    scoped(buf) program = { 0 }, output = { 0 };
    size_t line;
    if (c->line == 0 || c->line > lines_of(text, len) || c->prior >= (int)i)
        abort();
    if (c->outcome != OUTCOME_PENDING || i >= PROGRAMS_MAX)
        return;
    if (c->n_steps == 0 || program_make(all, c, &program, &e))
        abort();
    if (program_place(all, c, 1, &line) && (line == 0 || line > lines_of(text, len)))
        abort();
    if (c->kind == CHECK_CONSOLE &&
        (buf_addf(&output, &e, "\n%s 0\n\n%s 1\n", c->marker, c->marker) ||
         buf_add(&output, text, len, &e) || console_split(c, buf_str(&output), output.len, &e)))
        abort();
    for (size_t k = 0; k < c->n_steps; k++) {
        const struct buf *expected = &c->steps[k].expected, *got = &c->steps[k].got;
        (void)output_matches(buf_str(expected), expected->len, buf_str(got), got->len);
        if (!output_matches(buf_str(got), got->len, buf_str(got), got->len))
            abort(); /* a text is like itself */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped(checks) all = { 0 };
    struct err e;
    if (!text_is_utf8((const char *)data, size)) /* a file that is not is refused */
        return 0;
    /* Without a byte behind it, so that a read past the end is seen. */
    autofree char *text = malloc(size ? size : 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    if (blocks_read(&all, "a.md", text, size, &e))
        return 0; /* too many blocks */
    for (size_t i = 0; i < all.n; i++)
        look_at(&all, i, text, size);
    return 0;
}
