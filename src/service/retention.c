#include "service/retention.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/run_rows.h"
#include "store/session_rows.h"

/* Often, because runs recorded between two checks exceed the bound. */
enum { FIRST_MS = 1000, EVERY_MS = 5000, BATCH = 100 };

static int remove_some(struct db *db, struct store_job *job, struct err *e)
{
    struct retention *r = (struct retention *)job;
    if (runs_retain(db, clock_unix_ms(), r->max_age_ms, r->max_bytes, BATCH, &r->more, &r->removed,
                    e) ||
        sessions_retain(db, clock_unix_ms() - r->max_age_ms, e))
        return -1;
    /* A removal proves as much as a probe, and a failing probe would undo it. */
    return r->probe && r->removed == 0 ? db_probe(db, clock_unix_ms(), e) : 0;
}

static void hand_in(struct retention *r)
{
    r->busy = true;
    r->probe = store_trouble(r->store).code != ERR_NONE;
    r->more = false;
    r->removed = 0;
    r->max_age_ms = (int64_t)r->settings->history_max_age;
    r->max_bytes = (int64_t)r->settings->history_max_bytes;
    r->job.err = (struct err){ 0 };
    store_write(r->store, &r->job);
}

static void removed_some(struct store_job *job)
{
    struct retention *r = (struct retention *)job;
    r->busy = false;
    if (job->err.code != ERR_NONE) {
        log_error(LOG_ERROR, "history.retention_failed", &job->err);
        return;
    }
    if (r->removed > 0)
        log_event(LOG_INFO, "history.removed", "runs=%" PRId64, r->removed);
    /* behind the jobs submitted meanwhile */
    if (r->more && !uv_is_closing((uv_handle_t *)&r->timer))
        hand_in(r);
}

static void on_time(uv_timer_t *timer)
{
    struct retention *r = timer->data;
    if (!r->busy)
        hand_in(r);
}

int retention_start(struct retention *r, uv_loop_t *loop, struct store *store,
                    const struct settings *settings, struct err *e)
{
    *r = (struct retention){ .job = { .work = remove_some, .done = removed_some },
                             .store = store,
                             .settings = settings };
    if (uv_timer_init(loop, &r->timer) != 0 ||
        uv_timer_start(&r->timer, on_time, FIRST_MS, EVERY_MS) != 0)
        return err_set(e, ERR_KERNEL, 0, "start the timer of the history");
    r->timer.data = r;
    return 0;
}

void retention_stop(struct retention *r)
{
    if (r->timer.data && !uv_is_closing((uv_handle_t *)&r->timer))
        uv_close((uv_handle_t *)&r->timer, NULL);
}
