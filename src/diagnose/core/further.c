/* The other errors of one output: a reader who repairs a program wants to see all of them at once.
 * Runs in: keeper. */
#include <string.h>

#include "diagnose/core/grammar.h"

static bool same(const struct further_error *a, const struct further_error *b)
{
    bool place = a->at.line == b->at.line && strcmp(a->at.file, b->at.file) == 0;
    return (place && b->by_place) ||
           (strcmp(a->message, b->message) == 0 && (a->anywhere || place));
}

void add_further(struct diagnosis *d, const struct further_error *e)
{
    for (size_t i = 0; i < d->n_further; i++)
        if (same(&d->further[i], e))
            return;
    if (d->n_further == DIAGNOSE_FURTHER)
        d->further_left_out++;
    else
        d->further[d->n_further++] = *e;
}

void read_further(struct diagnoser *g, const struct diagnose_input *in, next_error_fn *next,
                  struct diagnosis *d)
{
    struct piece rest = text_of(in);
    struct further_error first = { 0 };
    if (!next(g, in, &rest, &first))
        return; /* the first error is the diagnosis itself */
    for (unsigned n = 0; n < LINES_SEEN; n++) {
        struct further_error e = { 0 };
        if (!next(g, in, &rest, &e))
            return;
        if (!same(&first, &e))
            add_further(d, &e);
    }
}

void append_text(char *out, size_t size, const char *between, struct piece more)
{
    size_t used = strlen(out), room = size - used, n = strlen(between);
    if (n >= room || more.len == 0)
        return;
    memcpy(out + used, between, n + 1);
    copy_piece(more, out + used + n, room - n);
}
