/* service/backoff.h — when to start again what died: at once the first time, then later and later, and at once again
 * after it was well for a while. Runs in: supervisor. Pure. */
#pragma once

#include <stdint.h>

enum { BACKOFF_FIRST_MS = 100, BACKOFF_MOST_MS = 5000, BACKOFF_HEALTHY_MS = 30000 };

struct backoff {
    uint64_t up_ms;    /* when it was started last */
    uint64_t due_ms;   /* when to start it; 0: not to be started */
    unsigned delay_ms; /* of the next time */
};

void backoff_up(struct backoff *b, uint64_t now_ms);
/* It is gone, or could not be started. */
void backoff_down(struct backoff *b, uint64_t now_ms);
