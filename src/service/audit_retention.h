/* service/audit_retention.h — keeps the audit log below `audit.max_bytes` and `audit.max_age`, in small steps. Runs in:
 * keeper, on its loop. Only records that the supervisor has sealed are removed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "settings/settings.h"
#include "store/audit_retain.h"
#include "store/store.h"

struct audit_retention {
    struct store_job job; /* first: the store returns it */
    struct store *store;
    const struct settings *settings;
    uv_timer_t timer;
    bool busy, more;
    int64_t sealed_seq; /* the supervisor said so */
    struct audit_bound bound;
    struct audit_size size;
    int64_t removed;
};

/* Reads the settings anew each time. */
[[nodiscard]] int audit_retention_start(struct audit_retention *r, uv_loop_t *loop,
                                        struct store *store, const struct settings *settings,
                                        struct err *e);
/* Closes the timer. A job that the store already has is the last. */
void audit_retention_stop(struct audit_retention *r);
void audit_retention_sealed(struct audit_retention *r, int64_t seq);
