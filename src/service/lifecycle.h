/* service/lifecycle.h — the records that a keeper writes when it starts and ends. Runs in: keeper,
 * before and after its loop. */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

struct lifecycle_start {
    int64_t interrupted; /* runs that the last service left unfinished */
    size_t keys;         /* number of API keys */
    char **languages;    /* that had sessions lately, for strv_free() */
};

/* Settles the history of the previous keeper and records the start. Waits for the commit. sessions,
 * runs: JSON arrays with the ids of sessions and runs that go on. */
[[nodiscard]] int lifecycle_note_start(struct store *s, const char *level, const char *sessions,
                                       const char *runs, struct lifecycle_start *ret,
                                       struct err *e);
/* Records the end. Waits for the commit. */
[[nodiscard]] int lifecycle_note_end(struct store *s, struct err *e);
