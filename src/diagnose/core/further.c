/* The other errors of one output: who mends a program wants all of them, not one for each time it is compiled. */
#include <string.h>

#include "diagnose/core/advice.h"

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
        return; /* that one is the diagnosis itself */
    for (unsigned n = 0; n < LINES_SEEN; n++) {
        struct further_error e = { 0 };
        if (!next(g, in, &rest, &e))
            return;
        if (!same(&first, &e))
            add_further(d, &e);
    }
}

void append_message(struct further_error *e, const char *between, struct piece more)
{
    size_t used = strlen(e->message), room = sizeof e->message - used, n = strlen(between);
    if (n >= room || more.len == 0)
        return;
    memcpy(e->message + used, between, n);
    copy_piece(more, e->message + used + n, room - n);
}
