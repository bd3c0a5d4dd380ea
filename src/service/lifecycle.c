#include "service/lifecycle.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/strv.h"
#include "config.h"
#include "store/audit_log.h"
#include "store/key_rows.h"
#include "store/run_rows.h"
#include "store/session_rows.h"

#define LATELY_MS (INT64_C(7) * 24 * 60 * 60 * 1000)

struct lifecycle_note {
    struct store_job job; /* first: the store returns it */
    const char *level, *sessions, *runs;
    struct lifecycle_start found;
};

static int write_opening(struct db *db, struct store_job *job, struct err *e)
{
    struct lifecycle_note *n = (struct lifecycle_note *)job;
    autofree struct key_row *keys = NULL;
    char detail[160];
    if (runs_interrupt_unfinished(db, clock_unix_ms(), n->runs, &n->found.interrupted, e) ||
        sessions_lose(db, clock_unix_ms(),
                      "the service was restarted, and the session did not survive it", n->sessions,
                      e) ||
        sessions_languages(db, clock_unix_ms() - LATELY_MS, &n->found.languages, e) ||
        keys_list(db, &keys, &n->found.keys, e))
        return -1;
    (void)snprintf(detail, sizeof detail,
                   "{\"version\":\"%s\",\"level\":\"%s\",\"interrupted\":%" PRId64 "}",
                   BELLJAR_VERSION, n->level, n->found.interrupted);
    struct audit_record r = { .time_ms = clock_unix_ms(),
                              .kind = "service.started",
                              .subject = "",
                              .actor = "service",
                              .detail = detail };
    return audit_append(db, &r, e);
}

static int write_closing(struct db *db, struct store_job *job, struct err *e)
{
    (void)job;
    struct audit_record r = { .time_ms = clock_unix_ms(),
                              .kind = "service.stopped",
                              .subject = "",
                              .actor = "service",
                              .detail = "{}" };
    return audit_append(db, &r, e);
}

static void on_written(struct store_job *job)
{
    (void)job;
}

static int write_and_wait(struct store *s, struct lifecycle_note *n, struct err *e)
{
    n->job.done = on_written;
    store_write(s, &n->job);
    store_wait(s);
    if (n->job.err.code == ERR_NONE)
        return 0;
    *e = n->job.err;
    return -1;
}

int lifecycle_note_start(struct store *s, const char *level, const char *sessions, const char *runs,
                         struct lifecycle_start *ret, struct err *e)
{
    struct lifecycle_note n = {
        .job.work = write_opening, .level = level, .sessions = sessions, .runs = runs
    };
    if (write_and_wait(s, &n, e)) {
        strv_free(n.found.languages);
        return -1;
    }
    *ret = n.found;
    return 0;
}

int lifecycle_note_end(struct store *s, struct err *e)
{
    struct lifecycle_note n = { .job.work = write_closing };
    return write_and_wait(s, &n, e);
}
