/* service/sealing.h — tells the supervisor the head of the audit log, so that it seals it. Runs in:
 * keeper, on its loop. The supervisor has the key: see store/audit_seal.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "settings/settings.h"
#include "store/audit_log.h"
#include "store/store.h"

struct sealing {
    struct store_job job; /* first: the store returns it */
    struct store *store;
    const struct settings *settings;
    int control_fd;
    uv_timer_t timer;
    bool busy;
    struct audit_head head; /* of the current job */
    int64_t sent_seq;
    uint64_t sent_ms;
};

/* Once a second it looks at the log. A head is sent soon after the start, then every
 * `audit.seal_every`, and earlier if many records were added. */
[[nodiscard]] int sealing_start(struct sealing *s, uv_loop_t *loop, struct store *store,
                                const struct settings *settings, int control_fd, struct err *e);
void sealing_stop(struct sealing *s);
/* Sends the last head, after the loop has ended. */
[[nodiscard]] int sealing_finish(struct sealing *s, struct err *e);
