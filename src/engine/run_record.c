/* The records that a run leaves: a row when it is accepted, the result when it is over, and an audit record with each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_impl.h"
#include "run/json.h"
#include "store/audit_log.h"

/* What the writer thread needs, for itself: the run goes on meanwhile. Strings are the run's own, which stays as long
 * as it has jobs. */
struct record {
    struct store_job job;
    struct live *live;
    struct run_record row;
    struct audit_record audit;
    char *detail;
};

static struct record *record_new(struct live *l, const char *kind)
{
    struct record *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    struct run *x = &l->x;
    r->live = l;
    r->row = (struct run_record){
        .state = x->state,
        .id = x->id,
        .language = (char *)x->spec.language->name,
        .key = x->spec.key,
        .thread = x->spec.thread,
        .artifact = x->spec.artifact,
        .batch = x->spec.batch,
        .surface = x->spec.surface,
        .request = x->spec.request,
        .code = x->spec.code,
        .created_ms = x->queued_at_ms,
        .started_ms = x->started_at_ms,
        .finished_ms = x->finished_at_ms,
    };
    r->audit = (struct audit_record){ .kind = kind,
                                      .subject = x->id,
                                      .actor = x->spec.actor ? x->spec.actor : "service" };
    l->jobs++;
    return r;
}

static void record_free(struct record *r)
{
    r->live->jobs--;
    free(r->row.result);
    free(r->detail);
    free(r);
}

static int write_accepted(struct db *db, struct store_job *job, struct err *e)
{
    struct record *r = (struct record *)job;
    r->audit.detail = r->detail;
    return runs_insert(db, &r->row, e) || audit_append(db, &r->audit, e) ? -1 : 0;
}

static void accepted(struct store_job *job)
{
    struct record *r = (struct record *)job;
    struct live *l = r->live;
    struct err e = job->err;
    record_free(r);
    run_accepted(l, &e);
}

/* {"language":…,"surface":…,"thread_id":…}: who ran what; the code itself is in the history. */
static char *accepted_detail(const struct run *x)
{
    return json_line(json_pack("{s:s, s:s*, s:s*, s:s*, s:s*}", "language", x->spec.language->name,
                               "surface", x->spec.surface, "thread_id", x->spec.thread,
                               "artifact_id", x->spec.artifact, "batch_id", x->spec.batch));
}

int run_record_accept(struct live *l, struct err *e)
{
    struct record *r = record_new(l, "run.accepted");
    if (!r)
        return err_set(e, ERR_NO_MEMORY, 0, "no memory to record the run");
    r->detail = accepted_detail(&l->x);
    r->audit.time_ms = l->x.queued_at_ms;
    r->job.work = write_accepted;
    r->job.done = accepted;
    store_write(l->x.runner->store, &r->job);
    return 0;
}

static int write_finished(struct db *db, struct store_job *job, struct err *e)
{
    struct record *r = (struct record *)job;
    r->audit.detail = r->detail;
    return runs_finish(db, &r->row, e) || audit_append(db, &r->audit, e) ? -1 : 0;
}

static void finished(struct store_job *job)
{
    struct record *r = (struct record *)job;
    struct live *l = r->live;
    struct err e = job->err;
    record_free(r);
    run_recorded(l, &e);
}

static char *finished_detail(const struct run *x)
{
    return json_line(json_pack("{s:s, s:i}", "verdict", verdict_word(x->result.verdict),
                               "exit_code",
                               verdict_exit_code(x->result.verdict, &x->result.evidence)));
}

void run_record_finish(struct live *l)
{
    struct run *x = &l->x;
    struct err e = { 0 };
    struct record *r = record_new(l, "run.finished");
    if (!r) {
        (void)!err_set(&e, ERR_NO_MEMORY, 0, "no memory to record the run");
        run_recorded(l, &e);
        return;
    }
    r->detail = finished_detail(x);
    r->audit.time_ms = x->finished_at_ms;
    r->row.verdict = (char *)verdict_word(x->result.verdict);
    r->row.result = json_dumps(x->result_json, JSON_COMPACT | JSON_DIGITS);
    r->row.wall_us = (int64_t)x->result.usage.wall_us;
    r->row.cpu_us = (int64_t)x->result.usage.cpu_us;
    r->row.memory_peak = (int64_t)x->result.usage.memory_peak_bytes;
    r->row.journal = x->journal.memory; /* lent: nobody adds to it any more */
    r->row.journal_in_file = x->journal.fd >= 0;
    if (!x->spec.files_elsewhere)
        r->row.files = x->files; /* lent, too */
    r->job.work = write_finished;
    r->job.done = finished;
    store_write(x->runner->store, &r->job);
}
