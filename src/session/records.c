/* Records of events in the audit log, each before its event. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "run/json.h"
#include "session/session_impl.h"
#include "store/audit_log.h"

static struct session_record *of_job(struct store_job *job)
{
    return (struct session_record *)((char *)job - offsetof(struct session_record, job));
}

static int write_record(struct db *db, struct store_job *job, struct err *e)
{
    const struct session_record *r = of_job(job);
    const struct audit_record record = { .kind = r->kind,
                                         .subject = r->session->id,
                                         .actor = r->actor ? r->actor : "service",
                                         .detail = r->detail,
                                         .time_ms = clock_unix_ms() };
    return audit_append(db, &record, e);
}

static void over(struct session_record *r, const struct err *e)
{
    struct session *s = r->session;
    free(r->actor);
    free(r->detail);
    r->on_done(r, e); /* it is freed there */
    session_unref(s);
}

static void on_written(struct store_job *job)
{
    struct err e = job->err;
    if (e.code != ERR_NONE)
        log_error(LOG_ERROR, "session.record", &e);
    over(of_job(job), e.code == ERR_NONE ? NULL : &e);
}

void session_record(struct session *s, struct session_record *r, const char *kind,
                    const char *actor, json_t *detail)
{
    struct err e = { 0 };
    *r = (struct session_record){ .on_done = r->on_done,
                                  .job = { .work = write_record, .done = on_written },
                                  .session = s,
                                  .kind = kind,
                                  .actor = text_copy(actor),
                                  .detail = json_line(detail) };
    s->refs++;
    if (r->detail && (r->actor || !actor)) {
        store_write(s->all->store, &r->job);
        return;
    }
    (void)!err_no_memory(&e, "an audit record");
    over(r, &e);
}
