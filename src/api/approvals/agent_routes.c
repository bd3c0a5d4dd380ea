/* /api/agent: approvals by thread, as agents' front ends ask for them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/approvals/approvals_impl.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"

struct thread_job {
    struct store_job job;
    struct api_call *call;
    char *thread;
    bool with_runs;
    struct approval_row pending;
    bool is_pending;
    struct run_records runs; /* the last one */
};

static void thread_free(struct thread_job *j)
{
    free(j->thread);
    approval_row_done(&j->pending);
    run_records_done(&j->runs);
    free(j);
}

static int thread_work(struct db *db, struct store_job *job, struct err *e)
{
    struct thread_job *j = (struct thread_job *)job;
    struct run_query last = { .thread = j->thread, .limit = 1 };
    j->is_pending = approvals_pending_of(db, j->thread, &j->pending, e) == 0;
    if (!j->is_pending && e->code != ERR_NOT_FOUND)
        return -1;
    *e = (struct err){ 0 };
    return j->with_runs ? runs_list(db, &last, &j->runs, e) : 0;
}

static void thread_start(struct api_call *c, bool with_runs, void (*done)(struct store_job *))
{
    struct thread_job *j = calloc(1, sizeof *j);
    if (j)
        *j = (struct thread_job){ .job = { .work = thread_work, .done = done },
                                  .call = c,
                                  .thread = strdup(c->params[0]),
                                  .with_runs = with_runs };
    if (!j || !j->thread) {
        free(j);
        api_fail_no_memory(c);
        return;
    }
    store_read(c->api->store, &j->job);
}

/* Ours beside the compatible ones: what a dialog needs. */
static json_t *pending_object(const struct thread_job *j)
{
    json_t *o = json_pack("{s:s, s:b}", "thread_id", j->thread, "pending", j->is_pending);
    if (!j->is_pending)
        return o;
    json_t *a = approval_object(&j->pending, false);
    static const char *const keys[] = {
        "tool", "input", "reason", "risks", "run_id", "expires_at"
    };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        (void)json_object_set(o, keys[i], json_object_get(a, keys[i]));
    (void)json_object_set(o, "approval_id", json_object_get(a, "id"));
    json_decref(a);
    return o;
}

static void pending_done(struct store_job *job)
{
    struct thread_job *j = (struct thread_job *)job;
    if (job->err.code != ERR_NONE)
        api_fail(j->call, &job->err, NULL);
    else
        api_reply(j->call, 200, pending_object(j));
    thread_free(j);
}

void agent_pending(struct api_call *c)
{
    thread_start(c, false, pending_done);
}

static json_t *run_summary(const struct run_record *r)
{
    return json_pack("{s:s, s:s, s:s?, s:s?, s:o, s:o}", "id", r->id, "state",
                     run_state_word(r->state), "language", r->language, "verdict", r->verdict,
                     "created_at", result_time((uint64_t)r->created_ms), "finished_at",
                     result_time((uint64_t)r->finished_ms));
}

static const char *status_word(const struct thread_job *j)
{
    const struct run_record *last = j->runs.n ? &j->runs.rows[0] : NULL;
    if (j->is_pending)
        return "waiting";
    return last && (last->state == RUN_QUEUED || last->state == RUN_RUNNING) ? "running" : "idle";
}

static void state_done(struct store_job *job)
{
    struct thread_job *j = (struct thread_job *)job;
    if (job->err.code != ERR_NONE) {
        api_fail(j->call, &job->err, NULL);
    } else if (!j->is_pending && j->runs.n == 0) {
        api_reply(j->call, 200,
                  json_pack("{s:s, s:n, s:s}", "thread_id", j->thread, "state", "message",
                            "No state is known for this thread: it has run nothing yet"));
    } else {
        json_t *state = json_pack("{s:s, s:o, s:o}", "status", status_word(j), "pending_approval",
                                  j->is_pending ? pending_object(j) : json_null(), "last_run",
                                  j->runs.n ? run_summary(&j->runs.rows[0]) : json_null());
        api_reply(j->call, 200, json_pack("{s:s, s:o}", "thread_id", j->thread, "state", state));
    }
    thread_free(j);
}

void agent_state(struct api_call *c)
{
    thread_start(c, true, state_done);
}

static void interrupted(struct decide *d, const struct err *e, const char *field)
{
    struct api_call *c = d->user;
    struct err none;
    if (e && e->code == ERR_NOT_FOUND) {
        (void)!err_set(&none, ERR_NOT_FOUND, 0, "No pending approval for thread '%s'",
                       QUOTED(d->thread));
        e = &none;
    }
    if (e) {
        api_fail(c, e, field);
        return;
    }
    json_t *o = json_pack("{s:s, s:s, s:s, s:s}", "thread_id", d->thread, "decision",
                          decision_word(d->decision), "tool", d->row.tool, "status",
                          d->decision == DECISION_REJECT ? "rejected" : "resumed");
    if (d->decision == DECISION_EDIT)
        (void)json_object_set(o, "edited_input", d->edited_input);
    (void)json_object_set_new(o, "approval_id", json_string(d->row.id));
    (void)json_object_set_new(o, "run_id", json_string(d->row.run));
    api_reply(c, 200, o);
}

void agent_interrupt(struct api_call *c)
{
    const char *thread = json_string_value(json_object_get(c->body, "thread_id"));
    struct decide *d = decide_of_call(c);
    if (!d)
        return;
    d->thread = strdup(thread ? thread : "");
    d->done = interrupted;
    decide_start(d);
}
