#include "service/sealing.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "wire/wire.h"

/* So many records that are not sealed are sent before their time, but not each second. */
enum { LOOK_MS = 1000, MANY_RECORDS = 10000, MANY_EVERY_MS = 10000 };

static int read_head(struct db *db, struct store_job *job, struct err *e)
{
    return audit_head(db, &((struct sealing *)job)->head, e);
}

static int send_head(struct sealing *s, struct err *e)
{
    struct wire_seal seal = { .seq = (uint64_t)s->head.seq,
                              .removed = s->head.first > 1 ? (uint64_t)s->head.first - 1 : 0 };
    memcpy(seal.head, s->head.hash, sizeof seal.head);
    if (wire_send_seal(s->control_fd, &seal, e))
        return -1;
    s->sent_seq = s->head.seq;
    s->sent_ms = clock_ms();
    return 0;
}

static bool is_due(const struct sealing *s)
{
    uint64_t waited = clock_ms() - s->sent_ms;
    int64_t records = s->head.seq - s->sent_seq;
    return records != 0 && (s->sent_ms == 0 || waited >= s->settings->audit_seal_every ||
                            (records >= MANY_RECORDS && waited >= MANY_EVERY_MS));
}

static void on_read(struct store_job *job)
{
    struct sealing *s = (struct sealing *)job;
    struct err e = job->err;
    s->busy = false;
    if (e.code != ERR_NONE || (is_due(s) && send_head(s, &e)))
        log_error(LOG_ERROR, "audit.not_sealed", &e);
}

static void look(struct sealing *s)
{
    s->busy = true;
    s->job = (struct store_job){ .work = read_head, .done = on_read };
    store_read(s->store, &s->job);
}

static void on_time(uv_timer_t *timer)
{
    struct sealing *s = timer->data;
    if (!s->busy)
        look(s);
}

int sealing_start(struct sealing *s, uv_loop_t *loop, struct store *store,
                  const struct settings *settings, int control_fd, struct err *e)
{
    *s = (struct sealing){ .store = store, .settings = settings, .control_fd = control_fd };
    if (uv_timer_init(loop, &s->timer) != 0 ||
        uv_timer_start(&s->timer, on_time, LOOK_MS, LOOK_MS) != 0)
        return err_set(e, ERR_KERNEL, 0, "start the timer of the audit log");
    s->timer.data = s;
    return 0;
}

void sealing_stop(struct sealing *s)
{
    if (s->timer.data && !uv_is_closing((uv_handle_t *)&s->timer))
        uv_close((uv_handle_t *)&s->timer, NULL);
}

int sealing_finish(struct sealing *s, struct err *e)
{
    store_wait(s->store); /* a job that looks may be on its way */
    s->sent_ms = 0;       /* due at once */
    look(s);
    store_wait(s->store);
    *e = s->job.err;
    return e->code == ERR_NONE ? 0 : -1;
}
