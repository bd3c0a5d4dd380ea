#include "service/audit_retention.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/log.h"

/* A batch takes the writer a few milliseconds. */
enum { FIRST_MS = 2000, EVERY_MS = 5000, BATCH = 1000 };

static int remove_some(struct db *db, struct store_job *job, struct err *e)
{
    struct audit_retention *r = (struct audit_retention *)job;
    return audit_retain(db, &r->size, &r->bound, &r->more, &r->removed, e);
}

static void hand_in(struct audit_retention *r)
{
    r->busy = true;
    r->more = false;
    r->removed = 0;
    r->bound = (struct audit_bound){ .max_bytes = (int64_t)r->settings->audit_max_bytes,
                                     .max_age_ms = (int64_t)r->settings->audit_max_age,
                                     .sealed_seq = r->sealed_seq,
                                     .now_ms = clock_unix_ms(),
                                     .batch = BATCH };
    r->job.err = (struct err){ 0 };
    store_write(r->store, &r->job);
}

static void removed_some(struct store_job *job)
{
    struct audit_retention *r = (struct audit_retention *)job;
    r->busy = false;
    if (job->err.code != ERR_NONE) {
        r->size = (struct audit_size){ 0 }; /* the job was undone */
        log_error(LOG_ERROR, "audit.retention_failed", &job->err);
        return;
    }
    if (r->removed > 0)
        log_event(LOG_INFO, "audit.removed", "records=%" PRId64, r->removed);
    /* behind the jobs submitted meanwhile */
    if (r->more && !uv_is_closing((uv_handle_t *)&r->timer))
        hand_in(r);
}

static void on_time(uv_timer_t *timer)
{
    struct audit_retention *r = timer->data;
    if (!r->busy)
        hand_in(r);
}

int audit_retention_start(struct audit_retention *r, uv_loop_t *loop, struct store *store,
                          const struct settings *settings, struct err *e)
{
    *r = (struct audit_retention){ .job = { .work = remove_some, .done = removed_some },
                                   .store = store,
                                   .settings = settings };
    if (uv_timer_init(loop, &r->timer) != 0 ||
        uv_timer_start(&r->timer, on_time, FIRST_MS, EVERY_MS) != 0)
        return err_set(e, ERR_KERNEL, 0, "start the timer of the audit log");
    r->timer.data = r;
    return 0;
}

void audit_retention_stop(struct audit_retention *r)
{
    if (r->timer.data && !uv_is_closing((uv_handle_t *)&r->timer))
        uv_close((uv_handle_t *)&r->timer, NULL);
}

void audit_retention_sealed(struct audit_retention *r, int64_t seq)
{
    r->sealed_seq = seq > r->sealed_seq ? seq : r->sealed_seq;
}
