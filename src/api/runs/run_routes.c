/* /v1/runs: starting, watching, feeding and cancelling runs. history_routes.c answers for runs that
 * are over. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/approvals/approvals.h"
#include "api/kernel/fields.h"
#include "api/kernel/inner.h"
#include "api/kernel/job.h"
#include "api/runs/history_routes.h"
#include "api/runs/result_fields.h"
#include "api/runs/run_post.h"
#include "api/runs/run_result.h"
#include "api/runs/run_spec.h"
#include "api/runs/stream.h"
#include "api/runs/submit.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"

/* ---- POST /v1/runs ---- */

struct run_waiter {
    struct run_watch watch;
    struct api_call *call;
    struct run *x;
    bool cancel; /* if the client goes away */
};

static void waiter_free(struct run_waiter *w)
{
    run_watch_remove(w->x, &w->watch);
    free(w);
}

static void reply_when_done(struct run_watch *watch, struct run *x, enum run_event event)
{
    struct run_waiter *w = (struct run_waiter *)watch;
    if (event != RUN_EVENT_DONE)
        return;
    if (x->record_err.code != ERR_NONE)
        api_fail(w->call, &x->record_err, NULL);
    else
        api_reply(w->call, 200, run_result_object(x, RUN_INLINE_MAX));
    waiter_free(w);
}

/* {"id", "state"}, and the approval that the run waits for, if any. */
static json_t *accepted_object(const struct api_call *c, const struct run *x)
{
    return json_pack("{s:s, s:s, s:o*}", "id", x->id, "state", run_state_word(x->state), "approval",
                     x->state == RUN_WAITING ? approvals_of_run(c->api, x->id) : NULL);
}

/* The request for an approval was submitted to the store after the run. The answer waits for it, so
 * that the next call of the client finds it. */
static void reply_when_recorded(struct run_watch *watch, struct run *x, enum run_event event)
{
    struct run_waiter *w = (struct run_waiter *)watch;
    if (event != RUN_EVENT_RECORDED && event != RUN_EVENT_DONE)
        return;
    w->call->on_gone = w->call->on_half_close = NULL;
    if (x->record_err.code != ERR_NONE)
        api_fail(w->call, &x->record_err, NULL);
    else
        api_reply_after_writes(w->call, 202, accepted_object(w->call, x));
    waiter_free(w);
}

static void ignore_events(struct run_watch *watch, struct run *x, enum run_event event)
{
    (void)watch;
    (void)x;
    (void)event;
}

static void on_client_left(struct api_call *c)
{
    struct run_waiter *w = c->user;
    if (w->cancel)
        run_cancel(w->x);
}

static void spec_free(void *prepared)
{
    run_spec_done(prepared);
    free(prepared);
}

/* In a thread, for a large body. */
int run_prepare(struct api_call *c, const struct api *here, const struct buf *bytes, char *field,
                size_t size, struct err *e)
{
    (void)bytes;
    autofree struct run_spec *spec = calloc(1, sizeof *spec);
    if (!spec)
        return err_no_memory(e, "a request");
    if (run_spec_from_json(here, &c->who, c->body, inner_surface(c, "v1"), spec, field, size, e))
        return -1;
    c->prepared = spec;
    c->prepared_free = spec_free;
    spec = NULL;
    return 0;
}

static int take_spec(struct api_call *c, struct run_spec *ret, char *field, size_t size,
                     struct err *e)
{
    if (!c->prepared)
        return run_spec_from_json(c->api, &c->who, c->body, inner_surface(c, "v1"), ret, field,
                                  size, e);
    if (run_spec_check_here(c->api, c->body, c->prepared, field, size, e))
        return -1; /* the end of the call frees the spec */
    *ret = *(struct run_spec *)c->prepared;
    free(c->prepared);
    c->prepared = NULL;
    return 0;
}

static int submit(struct api_call *c, struct run_waiter *w, struct err *e, char *field, size_t size)
{
    struct run_spec spec = { 0 };
    if (take_spec(c, &spec, field, size, e))
        return -1;
    field[0] = '\0';
    return api_submit(c->api, &spec, api_text(c, "permission_mode"), 0, &w->watch, &w->x, e);
}

void run_post(struct api_call *c)
{
    struct err e = { 0 };
    char field[128] = "";
    enum stream_format format;
    bool streamed = stream_asked(c, run_flag(c->body, "stream", false), &format);
    struct run_waiter *w = calloc(1, sizeof *w);
    if (!w) {
        api_fail_no_memory(c);
        return;
    }
    w->call = c;
    w->cancel = run_flag(c->body, "cancel_on_disconnect", false);
    w->watch.on_event = streamed                          ? ignore_events
                        : run_flag(c->body, "wait", true) ? reply_when_done
                                                          : reply_when_recorded;
    if (submit(c, w, &e, field, sizeof field)) {
        free(w);
        api_fail(c, &e, field[0] ? field : NULL);
        return;
    }
    inner_tell_run(c, w->x);
    json_decref(c->body); /* the spec has a copy; a large request is not kept twice */
    c->body = NULL;
    if (streamed) {
        struct run *x = w->x;
        stream_follow(c, x, format, 0, w->cancel);
        waiter_free(w);
        return;
    }
    c->user = w;
    c->on_gone = on_client_left;
    c->on_half_close = on_client_left;
}

/* ---- one run ---- */

/* The run in the path, if the engine still has it and the caller may see it; otherwise NULL. */
static struct run *find_current(struct api_call *c)
{
    struct run *x = engine_find(c->api->engine, c->params[0]);
    return x && history_may_see(c, x->spec.key, x->queued_at_ms) ? x : NULL;
}

/* The same for a change of the run. The right to see every run is no right to cancel or feed a run
 * of another key. NULL: the call was answered. */
static struct run *find_own(struct api_call *c)
{
    struct err e = { 0 };
    struct run *x = find_current(c);
    bool owns = x && history_is_own(c, x->spec.key, x->queued_at_ms);
    if (!x) {
        history_answer_over(c);
        return NULL;
    }
    if (owns || (c->who.scopes & SCOPE_BIT(SCOPE_ADMIN)))
        return x;
    (void)!err_set(&e, ERR_DENIED, 0,
                   "run '%s' belongs to another key: only that key and keys with scope 'admin' may "
                   "change it",
                   x->id);
    api_fail(c, &e, NULL);
    return NULL;
}

static json_t *state_object(const struct run *x, json_t *usage)
{
    json_t *o = json_pack(
        "{s:s, s:s, s:s, s:n, s:o, s:I, s:I}", "id", x->id, "state", run_state_word(x->state),
        "language", x->spec.language->name, "verdict", "timings",
        json_pack("{s:o, s:o, s:n}", "queued_at", result_time((uint64_t)x->queued_at_ms),
                  "started_at", result_time((uint64_t)x->started_at_ms), "finished_at"),
        "stdout_bytes", (json_int_t)x->journal.stream_bytes[JOURNAL_STDOUT], "stderr_bytes",
        (json_int_t)x->journal.stream_bytes[JOURNAL_STDERR]);
    json_put(o, "usage", usage);
    result_add_journal(o, &x->journal, RUN_INLINE_MAX);
    return o;
}

static void reply_when_measured(struct run_watch *watch, struct run *x, enum run_event event)
{
    struct run_waiter *w = (struct run_waiter *)watch;
    if (event != RUN_EVENT_MEASURED) {
        reply_when_done(watch, x, event);
        return;
    }
    json_t *usage = result_usage(&x->usage_now.usage);
    json_put(usage, "memory_bytes", json_integer((json_int_t)x->usage_now.memory_bytes));
    json_put(usage, "pids", json_integer((json_int_t)x->usage_now.pids));
    api_reply(w->call, 200, state_object(x, usage));
    waiter_free(w);
}

/* Nobody waits any longer. The run goes on. */
static void on_waiting_client_left(struct api_call *c)
{
    waiter_free(c->user);
    api_reply(c, 200, json_null());
}

/* A program that runs is measured first. */
static void get_run(struct api_call *c)
{
    struct run *x = find_current(c);
    struct err e = { 0 };
    char text[8];
    const char *asked = NULL;
    if (api_query(c, "wait", text, sizeof text, &asked, &e)) {
        api_fail(c, &e, "wait");
        return;
    }
    if (!x) {
        history_get_run(c);
        return;
    }
    bool waits = asked && (strcmp(asked, "true") == 0 || strcmp(asked, "1") == 0);
    struct run_waiter *w = waits || run_measure(x) ? calloc(1, sizeof *w) : NULL;
    if (!w) {
        api_reply(c, 200, state_object(x, json_null()));
        return;
    }
    *w = (struct run_waiter){
        { waits ? reply_when_done : reply_when_measured, NULL }, c, x, false
    };
    c->user = w;
    c->on_gone = waits ? on_waiting_client_left : NULL;
    run_watch_add(x, &w->watch);
}

static int last_event_id(struct api_call *c, uint64_t *ret, struct err *e)
{
    char text[32];
    const char *given = http_request_header(&c->http->request, "Last-Event-ID");
    *ret = 0;
    if (!given && api_query(c, "after", text, sizeof text, &given, e))
        return -1;
    return given ? stream_read_seq(given, ret, e) : 0;
}

static void get_events(struct api_call *c)
{
    struct err e = { 0 };
    uint64_t after;
    enum stream_format format;
    if (last_event_id(c, &after, &e)) {
        api_fail(c, &e, "Last-Event-ID");
        return;
    }
    (void)stream_asked(c, true, &format);
    struct run *x = find_current(c);
    if (x && c->http->request.method == METHOD_HEAD) { /* HEAD has no body */
        api_stream_begin(c, stream_content_type(format));
        api_stream_end(c);
    } else if (x)
        stream_follow(c, x, format, after, false);
    else
        history_get_events(c, format, after);
}

static const struct api_field stdin_fields[] = {
    { "data", FIELD_DATA, .max = 1 << 20, .help = "the next bytes of stdin" },
    { "encoding", FIELD_STRING, .one_of = content_encodings,
      .help = "encoding of data; utf-8 by default" },
    { "eof", FIELD_BOOL, .help = "true closes stdin after data" },
    { 0 },
};

static void post_stdin(struct api_call *c)
{
    struct err e = { 0 };
    scoped(buf) bytes = { 0 };
    struct run *x = find_own(c);
    if (!x)
        return;
    const json_t *data = json_object_get(c->body, "data");
    if (data && content_decode(data, api_text(c, "encoding"), &bytes, &e)) {
        (void)!err_wrap(&e, "data");
        api_fail(c, &e, "data");
        return;
    }
    if (approvals_check_stdin(c->api, x, bytes.data, bytes.len, &e) ||
        run_write_stdin(x, bytes.data, bytes.len, run_flag(c->body, "eof", false), &e))
        api_fail(c, &e, NULL);
    else
        api_reply(c, 202, json_pack("{s:s, s:I}", "id", x->id, "accepted", (json_int_t)bytes.len));
}

static void delete_run(struct api_call *c)
{
    struct run *x = find_own(c);
    if (!x)
        return;
    api_reply(c, 202, json_pack("{s:s, s:s}", "id", x->id, "state", run_state_word(x->state)));
    run_cancel(x);
}

/* The runs that a call wants to end. */
struct wanted_runs {
    const struct api_call *call;
    const char *key; /* of this key; NULL: of the caller */
};

static bool is_wanted(void *context, const struct run *run)
{
    const struct wanted_runs *w = context;
    if (!w->key)
        return history_is_own(w->call, run->spec.key, run->queued_at_ms);
    return strcmp(w->key, "*") == 0 || (run->spec.key && strcmp(run->spec.key, w->key) == 0);
}

static void delete_runs(struct api_call *c)
{
    struct err e = { 0 };
    char text[KEY_NAME_MAX + 1];
    struct wanted_runs wanted = { .call = c };
    if (api_query(c, "key", text, sizeof text, &wanted.key, &e)) {
        api_fail(c, &e, "key");
        return;
    }
    if (wanted.key && !(c->who.scopes & SCOPE_BIT(SCOPE_ADMIN))) {
        (void)!err_set(&e, ERR_DENIED, 0,
                       "only a key with the scope 'admin' ends runs of other keys: without 'key', "
                       "the runs of the caller end");
        api_fail(c, &e, "key");
        return;
    }
    size_t n = engine_cancel_if(c->api->engine, is_wanted, &wanted);
    api_reply(c, 202, json_pack("{s:I}", "cancelled", (json_int_t)n));
}

static void get_stdout(struct api_call *c)
{
    history_get_stream(c, JOURNAL_STDOUT);
}

static void get_stderr(struct api_call *c)
{
    history_get_stream(c, JOURNAL_STDERR);
}

/* ---- fields of queries and answers ---- */
static const struct api_field list_query[] = {
    { "language", FIELD_STRING, .help = "only this language" },
    { "verdict", FIELD_STRING, .help = "only this verdict" },
    { "state", FIELD_STRING, .help = "waiting, queued, running, finished or interrupted" },
    { "since", FIELD_STRING, .help = "accepted at or after a time, or a span before now (2h)" },
    { "until", FIELD_STRING, .help = "accepted before a time, or a span before now" },
    { "session", FIELD_STRING, .help = "only this thread_id" },
    { "artifact", FIELD_STRING, .help = "only runs of this artifact" },
    { "batch", FIELD_STRING, .help = "only runs of this batch" },
    { "key", FIELD_STRING, .help = "only runs of this API key" },
    { "q", FIELD_STRING, .help = "text in the code of the main file, case-sensitive" },
    { "limit", FIELD_INT, .min = 1, .max = 1000, .help = "size of a page; 50 by default" },
    { "cursor", FIELD_STRING, .help = "next_cursor of the previous page" },
    { 0 },
};
static const struct api_field cancel_query[] = {
    { "key", FIELD_STRING,
      .help = "the runs of this key, * those of all; needs the scope admin. Without it: the "
              "caller's" },
    { 0 },
};
static const struct api_field cancelled_reply[] = {
    { "cancelled", FIELD_INT, ALWAYS, .help = "the number of runs that were asked to end" },
    { .schema = "RunsCancelled" },
};
static const struct api_field run_query[] = {
    { "wait", FIELD_BOOL, .help = "true: the answer comes when the run is over" },
    { 0 },
};
static const struct api_field events_query[] = {
    { "after", FIELD_INT, .min = 0, .max = 1e15,
      .help = "the seq of the last event that the client has; the same as Last-Event-ID" },
    { 0 },
};

static const struct api_field usage_now_reply[] = {
    { "wall_ms", FIELD_NUMBER, ALWAYS, .help = "since the start of the program" },
    { "cpu_ms", FIELD_NUMBER, ALWAYS, .help = "CPU time of all processes so far" },
    { "memory_peak_bytes", FIELD_INT, ALWAYS, .help = "the largest memory use so far" },
    { "pids_peak", FIELD_INT, ALWAYS, .help = "the largest number of processes so far" },
    { "memory_bytes", FIELD_INT, ALWAYS, .help = "memory now; 0 if it is not known" },
    { "pids", FIELD_INT, ALWAYS, .help = "processes and threads now; 0 if it is not known" },
    { .schema = "UsageNow" },
};
static const struct api_field run_state_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of the run" },
    { "state", FIELD_STRING, ALWAYS, .one_of = run_state_words, .help = "any but finished" },
    { "language", FIELD_STRING, OR_NULL, .help = "its name in GET /v1/languages" },
    { "verdict", FIELD_STRING, OR_NULL, .one_of = verdict_words, .help = "null" },
    { "timings", FIELD_OBJECT, .fields = timings_reply, .help = "the times of the run" },
    { "stdout_bytes", FIELD_INT, .help = "number of bytes so far" },
    { "stderr_bytes", FIELD_INT, .help = "number of bytes so far" },
    { "usage", FIELD_OBJECT, OR_NULL, .fields = usage_now_reply,
      .help = "of a program that runs, measured for this answer; null for others and for cells" },
    STREAM_ROWS,
    { .schema = "RunState", .help = "A run that is not over" },
};
const struct api_field run_accepted_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id for GET /v1/runs/{id}" },
    { "state", FIELD_STRING, ALWAYS, .one_of = run_state_words, .help = "the current state" },
    { "approval", FIELD_ANY, .help = "the approval that the run waits for, if any" },
    { .schema = "RunAccepted" },
};
static const struct api_field run_list_reply[] = {
    { "runs", FIELD_OBJECTS, ALWAYS, .fields = run_row_reply, .help = "newest first" },
    { "next_cursor", FIELD_STRING, OR_NULL, .help = "for the next page; null at the end" },
    { .schema = "RunList" },
};
static const struct api_field stdin_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of the run" },
    { "accepted", FIELD_INT, ALWAYS, .help = "number of bytes" },
    { .schema = "StdinAccepted" },
};
static const struct api_field request_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of the run" },
    { "language", FIELD_STRING, OR_NULL, .help = "its name in GET /v1/languages" },
    { "code", FIELD_STRING, OR_NULL, .help = "the main file, as it was run" },
    { "request", FIELD_ANY, OR_NULL, .help = "the body of the request, enough to run it again" },
    { .schema = "RunRequest" },
};
static const struct api_field files_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of the run" },
    { "files", FIELD_OBJECTS, ALWAYS, .fields = output_file_reply,
      .help = "the requested outputs" },
    { .schema = "RunFiles" },
};
static const char bytes_type[] = "application/octet-stream";

const struct api_route run_routes[] = {
    { METHOD_POST, "/v1/runs", SCOPE_RUN, .body = run_fields, .flags = ROUTE_EARLY,
      .handle = run_post, .prepare = run_prepare, .summary = "Run a program in a jar of its own",
      .replies = REPLIES(
          { 200, .fields = result_reply, .help = "the result, or events on request" },
          EVENT_REPLIES(event_reply),
          { 202, .fields = run_accepted_reply, .help = "the run goes on: wait was false" }) },
    { METHOD_GET, "/v1/runs", SCOPE_ANY, .flags = ROUTE_EARLY, .query = list_query,
      .handle = history_list_runs, .summary = "The history, newest first",
      .replies = REPLIES({ 200, .fields = run_list_reply }) },
    { METHOD_GET, "/v1/runs/{id}", SCOPE_ANY, .flags = ROUTE_EARLY, .query = run_query,
      .handle = get_run, .summary = "One run: its state, or its result",
      .replies = REPLIES({ 200, .fields = result_reply }, { 200, .fields = run_state_reply },
                         { 200, .fields = run_row_reply }) },
    { METHOD_DELETE, "/v1/runs", SCOPE_RUN, .query = cancel_query, .handle = delete_runs,
      .summary = "Cancel all runs of the caller, of a key, or of everybody",
      .replies = REPLIES({ 202, .fields = cancelled_reply }) },
    { METHOD_DELETE, "/v1/runs/{id}", SCOPE_RUN, .handle = delete_run, .summary = "Cancel a run",
      .replies = REPLIES({ 202, .fields = run_accepted_reply }) },
    { METHOD_GET, "/v1/runs/{id}/events", SCOPE_ANY, .flags = ROUTE_EARLY, .query = events_query,
      .handle = get_events,
      .summary = "Events from the beginning, or after Last-Event-ID, to the end",
      .replies = REPLIES(EVENT_REPLIES(event_reply)) },
    { METHOD_POST, "/v1/runs/{id}/stdin", SCOPE_RUN, .body = stdin_fields, .handle = post_stdin,
      .summary = "More stdin for a run with stdin_open",
      .replies = REPLIES({ 202, .fields = stdin_reply }) },
    { METHOD_GET, "/v1/runs/{id}/stdout", SCOPE_ANY, .handle = get_stdout,
      .summary = "All bytes that the program wrote to stdout",
      .replies = REPLIES({ 200, .content_type = bytes_type }) },
    { METHOD_GET, "/v1/runs/{id}/stderr", SCOPE_ANY, .handle = get_stderr,
      .summary = "All bytes that the program wrote to stderr",
      .replies = REPLIES({ 200, .content_type = bytes_type }) },
    { METHOD_GET, "/v1/runs/{id}/request", SCOPE_ANY, .handle = history_get_request,
      .summary = "The request of a run, and its program",
      .replies = REPLIES({ 200, .fields = request_reply }) },
    { METHOD_GET, "/v1/runs/{id}/files", SCOPE_ANY, .handle = history_list_files,
      .summary = "The requested outputs, and the status of each",
      .replies = REPLIES({ 200, .fields = files_reply }) },
    { METHOD_GET, "/v1/runs/{id}/files/{name...}", SCOPE_ANY, .handle = history_get_file,
      .summary = "The bytes of one output",
      .replies = REPLIES({ 200, .content_type = bytes_type }) },
    { 0 },
};
