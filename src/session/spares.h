/* session/spares.h — a program that became the image of a template before a run asked for it.
 * Runs in: keeper, on its loop.
 *
 * A spare is a session without a row and without a cell, as a run from a template has one. Its jar is
 * a new one, and the first run that takes it is its only one. Nothing of a run reaches a spare: it has
 * the image, and the limits and the key that the last run of the template had. A run with others does
 * not get it. Only languages whose programs do nothing between two cells have spares. */
#pragma once

#include "session/session_impl.h"

struct spare {
    struct session_watch watch;
    struct session *session;          /* NULL: there is none */
    struct session_image *image;      /* that it became */
    void (*on_gone)(struct spare *p); /* it ended, and nobody took it */
};

/* Whether there is room for one more. */
bool spare_has_room(const struct sessions *all, const struct language *l);
/* Starts one; p has none. Takes over the spec, whose wall limit is the life of a run. True: it is
 * taken, it is ended, or on_gone() follows, maybe within this call. */
bool spare_start(struct sessions *all, struct spare *p, struct session_spec *spec);
/* Whether a run with such a spec may have it. */
bool spare_fits(const struct spare *p, const struct session_spec *spec);
/* Its session, which is idle, for a run with such a spec; NULL: there is none. */
struct session *spare_take(struct spare *p, const struct session_spec *spec);
/* Ends it, without on_gone(). */
void spare_end(struct spare *p);
