#include "service/backoff.h"

void backoff_up(struct backoff *b, uint64_t now_ms)
{
    b->up_ms = now_ms;
    b->due_ms = 0;
}

void backoff_down(struct backoff *b, uint64_t now_ms)
{
    if (b->up_ms > 0 && now_ms - b->up_ms >= BACKOFF_HEALTHY_MS)
        b->delay_ms = 0;
    b->up_ms = 0;
    b->due_ms = now_ms + b->delay_ms;
    b->delay_ms = b->delay_ms == 0 ? BACKOFF_FIRST_MS : 2 * b->delay_ms;
    if (b->delay_ms > BACKOFF_MOST_MS)
        b->delay_ms = BACKOFF_MOST_MS;
}
