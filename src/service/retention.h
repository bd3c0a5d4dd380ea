/* service/retention.h — removes old history in small steps. Runs in: keeper, on its loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "settings/settings.h"
#include "store/store.h"

struct retention {
    struct store_job job; /* first: the store returns it */
    struct store *store;
    const struct settings *settings;
    uv_timer_t timer;
    bool busy, more;
    bool probe; /* the last write failed: the job finds out whether writes work again */
    int64_t max_age_ms, max_bytes; /* of the current job */
    int64_t removed;
};

/* Reads the settings anew each time. */
[[nodiscard]] int retention_start(struct retention *r, uv_loop_t *loop, struct store *store,
                                  const struct settings *settings, struct err *e);
/* Closes the timer. A job that the store already has is the last. */
void retention_stop(struct retention *r);
