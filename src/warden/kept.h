/* warden/kept.h — sessions that outlive a keeper: for each, the keeper's ends of its pipes and
 * channel, a note for the next keeper, and its end if it ended without a keeper.
 * Runs in: warden, from its loop. Never reads from the descriptors, and reads no note.
 *
 * Invariants
 * KEPT-1 The store is bounded: KEPT_MAX sessions, and KEEP_NOTE_MAX bytes of each.
 * KEPT-2 Without a keeper for KEPT_ALONE_US, kept sessions end like all other jars.
 * KEPT-3 A keeper hears of the end of a session only after it was told that there is one.
 * KEPT-4 A jar that its keeper asked to end is kept no longer. */
#pragma once

#include "jar/jar.h"
#include "wire/wire.h"

enum { KEPT_MAX = 1024, KEPT_ALONE_US = 60 * 1000000 };

struct kept {
    struct kept *next; /* by rising id */
    uint64_t id;
    int fds[KEEP_FDS];
    size_t note_len;
    char *note;
    bool told;    /* the current keeper knows it */
    bool started; /* until it ended */
    enum start start;
    bool ended;
    struct jar_outcome outcome; /* once it has ended */
    struct cell_usage cell;     /* that ran until then; number 0: none */
};

struct kept_store {
    struct kept *first;
    unsigned n;
    uint64_t adopt_by_us; /* UINT64_MAX: a keeper has them all, or there are none */
};

struct kept *kept_find(struct kept_store *s, uint64_t id);
/* The first with a higher id that the current keeper does not know; NULL: none. */
struct kept *kept_next(struct kept_store *s, uint64_t after);
/* Takes the descriptors of the message. A second one for the same id replaces the first. */
[[nodiscard]] int kept_put(struct kept_store *s, const struct wire_keep *w, int fds[KEEP_FDS],
                           struct err *e);
void kept_remove(struct kept_store *s, struct kept *k);
void kept_done(struct kept_store *s);
