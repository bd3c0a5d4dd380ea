/* service/retention.h — old history goes, a little at a time. Runs in: keeper, on its loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "settings/settings.h"
#include "store/store.h"

struct retention {
    struct store_job job; /* first: the store hands it back */
    struct store *store;
    const struct settings *settings;
    uv_timer_t timer;
    bool busy, more;
    int64_t max_age_ms, max_bytes; /* of the job that is with the store */
    int64_t removed;
};

/* The settings are read anew each time. */
[[nodiscard]] int retention_start(struct retention *r, uv_loop_t *loop, struct store *store,
                                  const struct settings *settings, struct err *e);
/* The timer is closed; a job that is with the store is its last. */
void retention_stop(struct retention *r);
