/* service/backoff.h — the delay before a process is restarted: none the first time, then growing,
 * and none again after a healthy period. Runs in: supervisor. Pure. */
#pragma once

#include <stdint.h>

enum { BACKOFF_FIRST_MS = 100, BACKOFF_MOST_MS = 5000, BACKOFF_HEALTHY_MS = 30000 };

struct backoff {
    uint64_t up_ms;    /* time of the last start */
    uint64_t due_ms;   /* time of the next start; 0: none is due */
    unsigned delay_ms; /* before the next start */
};

void backoff_up(struct backoff *b, uint64_t now_ms);
/* The process ended or could not be started. */
void backoff_down(struct backoff *b, uint64_t now_ms);
