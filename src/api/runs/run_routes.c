/* /v1/runs: running, looking, feeding, cancelling. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/approvals/approvals.h"
#include "api/kernel/fields.h"
#include "api/runs/history_routes.h"
#include "api/runs/run_fields.h"
#include "api/runs/stream.h"
#include "base/auto.h"
#include "base/text.h"

/* ---- POST /v1/runs ---- */

struct waiter {
    struct run_watch watch;
    struct api_call *call;
    struct run *x;
    bool cancel;
};

static void waiter_free(struct waiter *w)
{
    run_watch_remove(w->x, &w->watch);
    free(w);
}

static void answer_result(struct api_call *c, const struct run *x)
{
    if (x->record_err.code != ERR_NONE)
        api_fail(c, &x->record_err, NULL);
    else
        api_reply(c, 200, run_result_object(x, RUN_INLINE_MAX));
}

static void news_to_waiting(struct run_watch *watch, struct run *x, enum run_event what)
{
    struct waiter *w = (struct waiter *)watch;
    if (what != RUN_EVENT_DONE)
        return;
    answer_result(w->call, x);
    waiter_free(w);
}

/* {"id", "state"}, and of a run that waits for a person what it waits for. */
static json_t *accepted_object(const struct api_call *c, const struct run *x)
{
    return json_pack("{s:s, s:s, s:o*}", "id", x->id, "state", run_state_word(x->state), "approval",
                     x->state == RUN_WAITING ? approvals_of_run(c->api, x->id) : NULL);
}

/* The answer to one who does not wait. */
struct leaving {
    struct store_job job;
    struct api_call *call;
    json_t *answer;
};

static int nothing(struct db *db, struct store_job *job, struct err *e)
{
    (void)db;
    (void)job;
    (void)e;
    return 0;
}

static void leave(struct store_job *job)
{
    struct leaving *l = (struct leaving *)job;
    api_reply(l->call, 202, l->answer);
    free(l);
}

static void news_to_leaving(struct run_watch *watch, struct run *x, enum run_event what)
{
    struct waiter *w = (struct waiter *)watch;
    if (what != RUN_EVENT_RECORDED && what != RUN_EVENT_DONE)
        return;
    struct leaving *l = calloc(1, sizeof *l);
    if (x->record_err.code != ERR_NONE || !l) {
        api_fail(w->call, &x->record_err, NULL);
        free(l);
    } else { /* behind the request for its approval, which was handed in after the run: whoever asks next finds it */
        *l = (struct leaving){ { .work = nothing, .done = leave },
                               w->call,
                               accepted_object(w->call, x) };
        w->call->on_gone = w->call->on_half_close = NULL;
        store_write(w->call->api->store, &l->job);
    }
    waiter_free(w);
}

static void client_left(struct api_call *c)
{
    struct waiter *w = c->user;
    if (w->cancel)
        run_cancel(w->x);
}

static int submit(struct api_call *c, struct waiter *w, struct err *e, char *field, size_t size)
{
    struct run_spec spec = { 0 };
    if (run_spec_from_json(c->api, &c->who, c->body, "v1", &spec, field, size, e))
        return -1;
    field[0] = '\0';
    return approvals_run(c->api, &spec, api_text(c, "permission_mode"), 0, &w->watch, &w->x, e);
}

static void ignore_news(struct run_watch *watch, struct run *x, enum run_event what)
{
    (void)watch;
    (void)x;
    (void)what;
}

static void post_run(struct api_call *c)
{
    struct err e = { 0 };
    char field[128] = "";
    enum stream_format format;
    bool streamed = stream_asked(c, run_flag(c->body, "stream", false), &format);
    struct waiter *w = calloc(1, sizeof *w);
    if (!w) {
        api_fail_no_memory(c);
        return;
    }
    w->call = c;
    w->cancel = run_flag(c->body, "cancel_on_disconnect", false);
    w->watch.on_event = streamed                          ? ignore_news
                        : run_flag(c->body, "wait", true) ? news_to_waiting
                                                          : news_to_leaving;
    if (submit(c, w, &e, field, sizeof field)) {
        free(w);
        api_fail(c, &e, field[0] ? field : NULL);
        return;
    }
    json_decref(c->body); /* the spec has it; a large request is not kept twice */
    c->body = NULL;
    if (streamed) {
        struct run *x = w->x;
        stream_follow(c, x, format, 0, w->cancel);
        waiter_free(w);
        return;
    }
    c->user = w;
    c->on_gone = client_left;
    c->on_half_close = client_left;
}

/* ---- one run ---- */

/* The run in the path, alive; NULL otherwise. */
static struct run *alive(struct api_call *c)
{
    struct run *x = engine_find(c->api->engine, c->params[0]);
    return x && history_may_see(c, x->spec.key) ? x : NULL;
}

/* The same, for who wants to change it. Seeing every run is no right to end or feed another key's; NULL when the call was
 * answered. */
static struct run *own_alive(struct api_call *c)
{
    struct err e = { 0 };
    struct run *x = alive(c);
    bool owns = x && c->who.key && x->spec.key && strcmp(c->who.key, x->spec.key) == 0;
    if (!x) {
        history_answer_over(c);
        return NULL;
    }
    if (owns || (c->who.scopes & SCOPE_BIT(SCOPE_ADMIN)))
        return x;
    (void)!err_set(&e, ERR_DENIED, 0,
                   "run '%s' is not this key's: the key that started it and those with scope "
                   "'admin' may change it",
                   x->id);
    api_fail(c, &e, NULL);
    return NULL;
}

static void get_run(struct api_call *c)
{
    const struct run *x = alive(c);
    if (!x) {
        history_get_run(c);
        return;
    }
    json_t *o = json_pack(
        "{s:s, s:s, s:s, s:n, s:o, s:I, s:I}", "id", x->id, "state", run_state_word(x->state),
        "language", x->spec.language->name, "verdict", "timings",
        json_pack("{s:o, s:o, s:n}", "queued_at", result_time((uint64_t)x->queued_at_ms),
                  "started_at", result_time((uint64_t)x->started_at_ms), "finished_at"),
        "stdout_bytes", (json_int_t)x->journal.stream_bytes[JOURNAL_STDOUT], "stderr_bytes",
        (json_int_t)x->journal.stream_bytes[JOURNAL_STDERR]);
    run_add_streams(o, &x->journal, RUN_INLINE_MAX);
    api_reply(c, 200, o);
}

static int last_event_id(struct api_call *c, uint64_t *ret, struct err *e)
{
    char text[32];
    const char *given = http_request_header(&c->http->request, "Last-Event-ID");
    char *end;
    *ret = 0;
    if (!given && api_query(c, "after", text, sizeof text, &given, e))
        return -1;
    if (!given)
        return 0;
    errno = 0;
    *ret = strtoull(given, &end, 10);
    if (errno || end == given || *end || given[0] == '-')
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "Last-Event-ID '%s' is not the seq of an event: a whole number is accepted",
                       QUOTED(given));
    return 0;
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
    struct run *x = alive(c);
    if (x && c->http->request.method == METHOD_HEAD) { /* the head is all there is to say */
        api_stream_begin(c, stream_content_type(format));
        api_stream_end(c);
    } else if (x)
        stream_follow(c, x, format, after, false);
    else
        history_get_events(c, format, after);
}

static const struct api_field stdin_fields[] = {
    { "data", FIELD_DATA, .max = 1 << 20, .help = "what the program reads next" },
    { "encoding", FIELD_STRING, .one_of = content_encodings, .help = "of data; utf-8 by default" },
    { "eof", FIELD_BOOL, .help = "true: nothing follows" },
    { 0 },
};

static void post_stdin(struct api_call *c)
{
    struct err e = { 0 };
    scoped(buf) bytes = { 0 };
    struct run *x = own_alive(c);
    if (!x)
        return;
    const json_t *data = json_object_get(c->body, "data");
    if (data && content_decode(data, api_text(c, "encoding"), &bytes, &e)) {
        (void)!err_wrap(&e, "data");
        api_fail(c, &e, "data");
        return;
    }
    if (run_write_stdin(x, bytes.data, bytes.len, run_flag(c->body, "eof", false), &e))
        api_fail(c, &e, NULL);
    else
        api_reply(c, 202, json_pack("{s:s, s:I}", "id", x->id, "accepted", (json_int_t)bytes.len));
}

static void delete_run(struct api_call *c)
{
    struct run *x = own_alive(c);
    if (!x)
        return;
    api_reply(c, 202, json_pack("{s:s, s:s}", "id", x->id, "state", run_state_word(x->state)));
    run_cancel(x);
}

static void get_stdout(struct api_call *c)
{
    history_get_stream(c, JOURNAL_STDOUT);
}

static void get_stderr(struct api_call *c)
{
    history_get_stream(c, JOURNAL_STDERR);
}

static const struct api_field list_query[] = {
    { "language", FIELD_STRING, .help = "only this language" },
    { "verdict", FIELD_STRING, .help = "only this verdict" },
    { "state", FIELD_STRING, .help = "waiting, queued, running, finished or interrupted" },
    { "since", FIELD_STRING, .help = "accepted at or after: a time, or how long ago (2h)" },
    { "until", FIELD_STRING, .help = "accepted before: a time, or how long ago" },
    { "session", FIELD_STRING, .help = "only this thread_id" },
    { "artifact", FIELD_STRING, .help = "only runs of this artifact" },
    { "batch", FIELD_STRING, .help = "only runs of this batch" },
    { "key", FIELD_STRING, .help = "only runs of this API key" },
    { "q", FIELD_STRING, .help = "text in the main file's code, case-sensitive" },
    { "limit", FIELD_INT, .min = 1, .max = 1000, .help = "how many; 50 by default" },
    { "cursor", FIELD_STRING, .help = "next_cursor of the page before" },
    { 0 },
};
static const struct api_field events_query[] = {
    { "after", FIELD_INT, .min = 0, .max = 1e15,
      .help = "the seq of the last event seen, as Last-Event-ID" },
    { 0 },
};

const struct api_route runs_routes[] = {
    { METHOD_POST, "/v1/runs", SCOPE_RUN, STYLE_V1, run_fields, NULL, 0, post_run,
      "Run a program in a jar of its own" },
    { METHOD_GET, "/v1/runs", SCOPE_ANY, STYLE_V1, NULL, list_query, 0, history_list_runs,
      "The history, newest first" },
    { METHOD_GET, "/v1/runs/{id}", SCOPE_ANY, STYLE_V1, NULL, NULL, 0, get_run,
      "One run: its state, or its result" },
    { METHOD_DELETE, "/v1/runs/{id}", SCOPE_RUN, STYLE_V1, NULL, NULL, 0, delete_run,
      "Cancel a run" },
    { METHOD_GET, "/v1/runs/{id}/events", SCOPE_ANY, STYLE_V1, NULL, events_query, 0, get_events,
      "Events from the beginning, or after Last-Event-ID, to the end" },
    { METHOD_POST, "/v1/runs/{id}/stdin", SCOPE_RUN, STYLE_V1, stdin_fields, NULL, 0, post_stdin,
      "More stdin for a run that was made with stdin_open" },
    { METHOD_GET, "/v1/runs/{id}/stdout", SCOPE_ANY, STYLE_V1, NULL, NULL, 0, get_stdout,
      "Everything it printed, byte for byte" },
    { METHOD_GET, "/v1/runs/{id}/stderr", SCOPE_ANY, STYLE_V1, NULL, NULL, 0, get_stderr,
      "Everything it printed on stderr, byte for byte" },
    { METHOD_GET, "/v1/runs/{id}/files", SCOPE_ANY, STYLE_V1, NULL, NULL, 0, history_list_files,
      "The outputs that were asked for, and what became of each" },
    { METHOD_GET, "/v1/runs/{id}/files/{name...}", SCOPE_ANY, STYLE_V1, NULL, NULL, 0,
      history_get_file, "One output, byte for byte" },
    { 0 },
};
