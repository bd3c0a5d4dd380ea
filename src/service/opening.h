/* service/opening.h — what is written down when a keeper begins and ends. Runs in: keeper, before and after its loop. */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

struct opening {
    int64_t interrupted; /* runs that the last service left unfinished */
    size_t keys;         /* API keys there are */
};

/* Settles the history of the one before, and notes that we began. Waits for it. */
[[nodiscard]] int opening_note(struct store *s, const char *level, struct opening *ret,
                               struct err *e);
/* Notes that we end. Waits for it. */
[[nodiscard]] int closing_note(struct store *s, struct err *e);
