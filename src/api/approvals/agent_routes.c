/* /api/agent: approvals by thread, for the front ends of agents. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/approvals/approvals_impl.h"
#include "api/kernel/job.h"
#include "api/runs/result_fields.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"

struct thread_job {
    struct api_job job;
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
    struct thread_job *j = api_job_new(c, sizeof *j, thread_work, done);
    if (!j)
        return;
    j->thread = strdup(c->params[0]);
    j->with_runs = with_runs;
    if (j->thread) {
        api_job_read(&j->job);
        return;
    }
    thread_free(j);
    api_fail_no_memory(c);
}

/* The fields that front ends know, and those of ours that a dialog needs. */
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
        api_fail(j->job.call, &job->err, NULL);
    else
        api_reply(j->job.call, 200, pending_object(j));
    thread_free(j);
}

static void agent_pending(struct api_call *c)
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
        api_fail(j->job.call, &job->err, NULL);
    } else if (!j->is_pending && j->runs.n == 0) {
        api_reply(j->job.call, 200,
                  json_pack("{s:s, s:n, s:s}", "thread_id", j->thread, "state", "message",
                            "No state is known for this thread: it has run nothing yet"));
    } else {
        json_t *state = json_pack("{s:s, s:o, s:o}", "status", status_word(j), "pending_approval",
                                  j->is_pending ? pending_object(j) : json_null(), "last_run",
                                  j->runs.n ? run_summary(&j->runs.rows[0]) : json_null());
        api_reply(j->job.call, 200,
                  json_pack("{s:s, s:o}", "thread_id", j->thread, "state", state));
    }
    thread_free(j);
}

static void agent_state(struct api_call *c)
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

static void agent_interrupt(struct api_call *c)
{
    const char *thread = json_string_value(json_object_get(c->body, "thread_id"));
    struct decide *d = decide_of_call(c);
    if (!d)
        return;
    d->thread = strdup(thread ? thread : "");
    d->done = interrupted;
    decide_start(d);
}

/* ---- fields ---- */
static const struct api_field interrupt_fields[] = {
    { "thread_id", FIELD_STRING, .required = true, .min = 1, .max = 256,
      .help = "the thread whose request is decided" },
    { "decision", FIELD_STRING, .required = true, .one_of = decision_words,
      .help = "the decision" },
    { "edited_input", FIELD_ANY,
      .help = "for edit: the code, {\"code\": ...} or {\"command\": ...}" },
    { "reason", FIELD_STRING, .max = 2000, .help = "a reason that the caller is shown" },
    { "remember", FIELD_STRING, .one_of = remember_words, .help = "as in POST /v1/approvals/{id}" },
    { 0 },
};

static const struct api_field pending_reply[] = {
    { "thread_id", FIELD_STRING, ALWAYS, .help = "as in the path" },
    { "pending", FIELD_BOOL, ALWAYS, .help = "false: no other field is present" },
    { "tool", FIELD_STRING, .help = "the tool to approve" },
    { "input", FIELD_ANY, .help = "the code and the rest of its input" },
    { "reason", FIELD_STRING, .nullable = true, .help = "the reason why a person has to decide" },
    { "risks", FIELD_OBJECTS, .nullable = true, .fields = risk_reply, .help = "places to look at" },
    { "run_id", FIELD_STRING, .nullable = true, .help = "the run that waits" },
    { "expires_at", FIELD_STRING, .nullable = true, .help = "time at which the run is rejected" },
    { "approval_id", FIELD_STRING, .help = "id for POST /v1/approvals/{id}" },
    { .schema = "PendingApproval" },
};
static const struct api_field last_run_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of the run" },
    { "state", FIELD_STRING, ALWAYS, .one_of = run_state_words, .help = "the current state" },
    { "language", FIELD_STRING, OR_NULL, .help = "its name in GET /v1/languages" },
    { "verdict", FIELD_STRING, OR_NULL, .one_of = verdict_words,
      .help = "null until the run is over" },
    { "created_at", FIELD_STRING, OR_NULL, .help = "time at which the run was accepted" },
    { "finished_at", FIELD_STRING, OR_NULL, .help = "time at which the program ended" },
    { 0 },
};
static const struct api_field thread_reply[] = {
    { "status", FIELD_STRING, ALWAYS, .help = "waiting, running or idle" },
    { "pending_approval", FIELD_OBJECT, OR_NULL, .fields = pending_reply,
      .help = "the approval that the thread waits for" },
    { "last_run", FIELD_OBJECT, OR_NULL, .fields = last_run_reply, .help = "the newest run" },
    { 0 },
};
static const struct api_field thread_state_reply[] = {
    { "thread_id", FIELD_STRING, ALWAYS, .help = "as in the path" },
    { "state", FIELD_OBJECT, OR_NULL, .fields = thread_reply,
      .help = "null if the thread is unknown" },
    { "message", FIELD_STRING, .help = "present if the thread is unknown" },
    { .schema = "ThreadState" },
};
static const struct api_field interrupt_reply[] = {
    { "thread_id", FIELD_STRING, ALWAYS, .help = "as in the request" },
    { "decision", FIELD_STRING, ALWAYS, .one_of = decision_words, .help = "as in the request" },
    { "tool", FIELD_STRING, ALWAYS, .help = "the tool that was decided on" },
    { "status", FIELD_STRING, ALWAYS, .help = "resumed or rejected" },
    { "edited_input", FIELD_ANY, .help = "of edit: the code that runs" },
    { "approval_id", FIELD_STRING, ALWAYS, .help = "id of the request for approval" },
    { "run_id", FIELD_STRING, ALWAYS, .help = "id of the run" },
    { .schema = "InterruptResult" },
};

const struct api_route agent_routes[] = {
    { METHOD_GET, "/api/agent/pending-approval/{thread_id}", SCOPE_READ, STYLE_DETAIL,
      .handle = agent_pending, .summary = "The approval that a thread waits for",
      .replies = REPLIES({ 200, .fields = pending_reply }) },
    { METHOD_POST, "/api/agent/interrupt", SCOPE_APPROVE, STYLE_DETAIL, .body = interrupt_fields,
      .flags = ROUTE_LENIENT, .handle = agent_interrupt,
      .summary = "Decide on the approval that a thread waits for",
      .replies = REPLIES({ 200, .fields = interrupt_reply }) },
    { METHOD_GET, "/api/agent/state/{thread_id}", SCOPE_READ, STYLE_DETAIL, .handle = agent_state,
      .summary = "The state of a thread",
      .replies = REPLIES({ 200, .fields = thread_state_reply }) },
    { 0 },
};
