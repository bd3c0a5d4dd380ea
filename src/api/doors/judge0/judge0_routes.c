/* POST /submissions and /submissions/batch: from the request of a client to runs, and to the answer.
 * judge0_read.c answers for submissions that exist. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/doors/door_submit.h"
#include "api/doors/judge0/judge0.h"
#include "api/kernel/door.h"
#include "api/kernel/reply.h"
#include "base/auto.h"
#include "base/id.h"
#include "base/log.h"
#include "run/json.h"

enum { BATCH_MAX = 20, QUERY_SIZE = 1024 };

/* ---- callbacks ---- */

struct callback {
    struct run_watch watch; /* first: on_event() gets it */
    struct door_submission submission;
    struct api_identity who;
    struct run *run;
};

static void copy_identity(struct api_identity *to, const struct api_identity *from)
{
    *to = *from;
    to->key = from->key ? to->name + (from->key - from->name) : NULL;
}

static void on_callback_event(struct run_watch *w, struct run *run, enum run_event event)
{
    if (event != RUN_EVENT_DONE)
        return;
    run_watch_remove(run, w);
    free(w);
}

static void on_callback_submitted(struct door_submission *s, struct run *run, const struct err *e,
                                  const char *field)
{
    struct callback *b = (struct callback *)((char *)s - offsetof(struct callback, submission));
    (void)field;
    if (run)
        return;
    log_error(LOG_WARN, "judge0.callback", e);
    free(b);
}

/* Takes over the reference. */
static void send_callback(struct api *api, const struct api_identity *who, const char *url,
                          json_t *body)
{
    struct err e = { 0 };
    json_t *request = judge0_callback_request(url, body, &e);
    struct callback *b = request ? calloc(1, sizeof *b) : NULL;
    json_decref(body);
    if (!b) {
        json_decref(request);
        return;
    }
    copy_identity(&b->who, who);
    b->watch.on_event = on_callback_event;
    b->submission = (struct door_submission){ .api = api,
                                              .who = &b->who,
                                              .request = request,
                                              .surface = "judge0-callback",
                                              .watch = &b->watch,
                                              .done = on_callback_submitted };
    door_submit(&b->submission);
}

/* ---- one request with one or more submissions ---- */

struct posting {
    uv_work_t work;
    struct api_call *call;
    struct settings settings; /* a copy, for the thread */
    struct api here;
    bool base64, waits, is_batch, is_large, has_valid;
    judge0_fields fields;
    size_t n, left;
    json_t *answers;
    struct {
        json_t *request, *errors;
    } items[BATCH_MAX];
};

/* A submission from its first run to its last. */
struct judging {
    struct run_watch watch; /* first: on_event() gets it */
    struct door_submission submission;
    struct api *api;
    struct api_identity who;
    struct posting *posting; /* until it has its answer */
    size_t index;
    json_t *request;
    struct run *run;
    char token[ID_SIZE]; /* "" before the first run is accepted */
    json_int_t left;     /* runs after this one */
    double time_sum, memory_sum;
    unsigned finished;
};

static void judging_free(struct judging *j)
{
    json_decref(j->request);
    free(j);
}

static void answer_batch(struct posting *p)
{
    json_t *first = json_array_get(p->answers, 0);
    if (p->is_batch)
        api_reply(p->call, p->has_valid ? 201 : 422, json_incref(p->answers));
    else
        api_reply(p->call, p->has_valid ? 201 : 422, json_incref(first));
    json_decref(p->answers);
    free(p);
}

/* The answer to one submission. Takes over the reference. */
static void report(struct posting *p, size_t i, bool is_valid, json_t *answer)
{
    (void)json_array_set_new(p->answers, i, answer);
    p->has_valid = p->has_valid || is_valid;
    if (--p->left == 0)
        answer_batch(p);
}

/* An error that is not about a field of the submission. */
static void report_failure(struct posting *p, size_t i, const struct err *e, const char *field)
{
    bool about_field = err_blame(e->code) == BLAME_CALLER && e->code != ERR_DENIED;
    struct err shown = *e;
    if (about_field || (e->code == ERR_DENIED && field[0])) {
        report(p, i, false, judge0_errors(judge0_field(field), e->text));
        return;
    }
    if (e->code == ERR_BUSY)
        (void)!err_set(&shown, ERR_BUSY, 0, "queue is full");
    if (p->is_batch) {
        report(p, i, false, json_pack("{s:s}", "error", ERR_SHOWN(&shown)));
        return;
    }
    api_fail(p->call, &shown, NULL);
    json_decref(p->answers);
    free(p);
}

static struct judge0_view view_of_run(const struct judging *j, const struct run *x, json_t *request)
{
    bool averaged = j->finished > 1;
    return (struct judge0_view){ .id = j->token,
                                 .state = RUN_FINISHED,
                                 .request = request,
                                 .result = x->result_json,
                                 .journal = &x->journal,
                                 .files = &x->files,
                                 .created_ms = x->queued_at_ms,
                                 .started_ms = x->started_at_ms,
                                 .finished_ms = x->finished_at_ms,
                                 .time_s = averaged ? j->time_sum / j->finished : -1,
                                 .memory_kb = averaged ? j->memory_sum / j->finished : -1,
                                 .engine = j->api->engine };
}

static void answer_waiter(struct judging *j, const struct judge0_view *v)
{
    struct posting *p = j->posting;
    bool not_text = false;
    json_t *o = judge0_submission(v, p->fields, p->base64, &not_text);
    if (not_text) {
        json_decref(o);
        o = json_pack("{s:s, s:s}", "error", judge0_not_text, "token", j->token);
    }
    j->posting = NULL;
    report(p, j->index, true, o);
}

static const json_t *asked(const struct judging *j, const char *name)
{
    return json_object_get(json_object_get(json_object_get(j->request, "metadata"), "judge0"),
                           name);
}

/* The last run is over. */
static void judging_end(struct judging *j, const struct judge0_view *v)
{
    const char *url = json_string_value(asked(j, "callback_url"));
    bool not_text;
    judge0_fields all = 0;
    struct err e;
    if (j->posting)
        answer_waiter(j, v);
    if (url && judge0_fields_read(NULL, &all, &e) == 0)
        send_callback(j->api, &j->who, url, judge0_submission(v, all, true, &not_text));
    judging_free(j);
}

static void submit(struct judging *j);

/* The run lives until the watches have been told of its end, also without this watch. */
static void on_done(struct judging *j, struct run *x)
{
    run_watch_remove(x, &j->watch);
    if (x->record_err.code != ERR_NONE) {
        if (j->posting)
            report_failure(j->posting, j->index, &x->record_err, "");
        judging_free(j);
        return;
    }
    j->finished++;
    j->time_sum += (double)x->result.usage.cpu_us / 1e6;
    j->memory_sum += (double)x->result.usage.memory_peak_bytes / 1024;
    struct judge0_view v = view_of_run(j, x, j->request);
    if (j->left > 0 && judge0_status_of(&v) == JUDGE0_ACCEPTED) {
        j->left--;
        submit(j);
        return;
    }
    judging_end(j, &v);
}

static void on_run_event(struct run_watch *w, struct run *x, enum run_event event)
{
    struct judging *j = (struct judging *)w;
    if (event == RUN_EVENT_RECORDED && j->posting && !j->posting->waits) {
        struct posting *p = j->posting;
        j->posting = NULL;
        report(p, j->index, true, json_pack("{s:s}", "token", j->token));
    }
    if (event == RUN_EVENT_DONE)
        on_done(j, x);
}

static void on_submitted(struct door_submission *s, struct run *run, const struct err *e,
                         const char *field)
{
    struct judging *j = (struct judging *)((char *)s - offsetof(struct judging, submission));
    if (run && !j->token[0])
        memcpy(j->token, run->id, sizeof j->token);
    if (run)
        return;
    if (j->posting)
        report_failure(j->posting, j->index, e, field);
    judging_free(j);
}

/* Runs after the first one are found by their batch, which is the token. */
static void submit(struct judging *j)
{
    j->submission = (struct door_submission){ .api = j->api,
                                              .who = &j->who,
                                              .request = json_incref(j->request),
                                              .surface = "judge0",
                                              .batch = j->token[0] ? j->token : NULL,
                                              .watch = &j->watch,
                                              .done = on_submitted };
    j->watch = (struct run_watch){ .on_event = on_run_event };
    j->submission.is_large = j->posting && j->posting->is_large;
    door_submit(&j->submission);
}

static void begin(struct posting *p, size_t i)
{
    struct judging *j = calloc(1, sizeof *j);
    json_t *request = p->items[i].request;
    if (!j) {
        struct err e = { 0 };
        json_decref(request);
        (void)!err_no_memory(&e, "a submission");
        report_failure(p, i, &e, "");
        return;
    }
    *j = (struct judging){ .api = p->call->api, .posting = p, .index = i, .request = request };
    copy_identity(&j->who, &p->call->who);
    j->left = json_integer_value(asked(j, "number_of_runs")) - 1;
    submit(j);
}

/* ---- requests ---- */

/* In a thread if the body is large. */
static void make_requests(uv_work_t *work)
{
    struct posting *p = work->data;
    const json_t *list = json_object_get(p->call->body, "submissions");
    for (size_t i = 0; i < p->n; i++) {
        const json_t *one = p->is_batch ? json_array_get(list, i) : p->call->body;
        p->items[i].request = judge0_request(&p->here, &p->call->who, one, p->base64,
                                             &p->items[i].errors);
    }
}

static void requests_made(uv_work_t *work, int cancelled)
{
    struct posting *p = work->data;
    size_t n = p->n;
    (void)cancelled;
    json_decref(p->call->body); /* the requests have their own copy */
    p->call->body = NULL;
    for (size_t i = 0; i < n; i++) { /* the last report frees the posting */
        if (p->items[i].errors)
            report(p, i, false, p->items[i].errors);
        else
            begin(p, i);
    }
}

static int read_query(struct api_call *c, struct posting *p, struct err *e)
{
    char text[QUERY_SIZE];
    const char *value;
    if (api_query(c, "base64_encoded", text, sizeof text, &value, e))
        return -1;
    p->base64 = value && strcmp(value, "true") == 0;
    if (api_query(c, "wait", text, sizeof text, &value, e))
        return -1;
    p->waits = value && strcmp(value, "true") == 0 && !p->is_batch;
    if (api_query(c, "fields", text, sizeof text, &value, e))
        return -1;
    return p->is_batch ? 0 : judge0_fields_read(value, &p->fields, e);
}

static int check_number(const struct posting *p, struct err *e)
{
    if (p->n > BATCH_MAX)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "number of submissions in a batch should be less than or equal to %d",
                       BATCH_MAX);
    if (p->n == 0)
        return err_set(e, ERR_BAD_REQUEST, 0, "there should be at least one submission in a batch");
    return 0;
}

static void post(struct api_call *c, bool is_batch)
{
    struct err e = { 0 };
    struct posting *p = calloc(1, sizeof *p);
    if (!p) {
        api_fail_no_memory(c);
        return;
    }
    p->call = c;
    p->work.data = p;
    p->is_batch = is_batch;
    p->is_large = c->prepared;
    p->n = is_batch ? json_array_size(json_object_get(c->body, "submissions")) : 1;
    if (read_query(c, p, &e) || check_number(p, &e)) {
        free(p);
        api_fail(c, &e, NULL);
        return;
    }
    p->left = p->n;
    p->answers = json_array();
    for (size_t i = 0; i < p->n; i++)
        (void)json_array_append_new(p->answers, json_null());
    p->settings = *c->api->settings;
    p->here = *c->api;
    if (p->is_large) { /* the thread sees neither the engine nor the store */
        p->here = (struct api){ .settings = &p->settings, .workspace_fd = -1, .output_dir_fd = -1 };
        if (uv_queue_work(c->api->loop, &p->work, make_requests, requests_made) == 0)
            return;
    }
    make_requests(&p->work);
    requests_made(&p->work, 0);
}

static void post_submission(struct api_call *c)
{
    post(c, false);
}

static void post_batch(struct api_call *c)
{
    post(c, true);
}

static void nothing_free(void *prepared)
{
    (void)prepared;
}

/* Large bodies are marked, so that the rest is done in a thread, too. */
static int mark_large(struct api_call *c, const struct api *here, const struct buf *bytes,
                      char *field, size_t size, struct err *e)
{
    (void)here;
    (void)bytes;
    (void)field;
    (void)size;
    (void)e;
    c->prepared = c;
    c->prepared_free = nothing_free;
    return 0;
}

/* ---- tables ---- */

/* Types are checked by the handler: an error of a submission is {field: [message]}. */
static const struct api_field submission_fields[] = {
    { "source_code", FIELD_ANY, .help = "the program" },
    { "language_id", FIELD_ANY, .help = "GET /languages lists the ids" },
    { "compiler_options", FIELD_ANY, .help = "arguments of the compiler, as one text" },
    { "command_line_arguments", FIELD_ANY, .help = "arguments of the program, as one text" },
    { "stdin", FIELD_ANY, .help = "the input of the program" },
    { "expected_output", FIELD_ANY, .help = "compared line by line, without blanks at line ends" },
    { "number_of_runs", FIELD_ANY, .help = "1 to 20; time and memory are averages" },
    { "cpu_time_limit", FIELD_ANY, .help = "seconds: 5, up to 15" },
    { "cpu_extra_time", FIELD_ANY, .help = "accepted; the program ends at cpu_time_limit" },
    { "wall_time_limit", FIELD_ANY, .help = "seconds: 10, from 1 to 20" },
    { "memory_limit", FIELD_ANY, .help = "KB: 128000, up to 512000" },
    { "stack_limit", FIELD_ANY, .help = "accepted; the stack counts as memory" },
    { "max_processes_and_or_threads", FIELD_ANY, .help = "60, up to 120" },
    { "max_file_size", FIELD_ANY, .help = "KB of stdout, and of stderr: 1024, up to 4096" },
    { "redirect_stderr_to_stdout", FIELD_ANY, .help = "stdout has both, in order" },
    { "callback_url", FIELD_ANY, .help = "gets the result by PUT, if the network rules allow it" },
    { "additional_files", FIELD_ANY, .help = "a zip archive in base64" },
    { "enable_network", FIELD_ANY, .help = "asks for network: full" },
    { 0 },
};
static const struct api_field batch_fields[] = {
    { "submissions", FIELD_ANY, .help = "up to 20 submissions" },
    { 0 },
};
static const struct api_field post_query[] = {
    { "base64_encoded", FIELD_STRING, .help = "true: texts are base64, in both directions" },
    { "wait", FIELD_STRING, .help = "true: the answer has the result" },
    { "fields", FIELD_STRING, .help = "names with commas, or *" },
    { 0 },
};
static const struct api_field token_reply[] = {
    { "token", FIELD_STRING, .help = "of the submission; with wait=true its other fields, too" },
    { .schema = "Judge0Token" },
};

const struct api_route judge0_routes[] = {
    { METHOD_POST, "/submissions", SCOPE_RUN, STYLE_JUDGE0, .body = submission_fields,
      .query = post_query, .flags = ROUTE_LENIENT, .prepare = mark_large, .handle = post_submission,
      .summary = "Run a submission (Judge0)", .replies = REPLIES({ 201, .fields = token_reply }) },
    { METHOD_POST, "/submissions/batch", SCOPE_RUN, STYLE_JUDGE0, .body = batch_fields,
      .query = post_query, .flags = ROUTE_LENIENT, .prepare = mark_large, .handle = post_batch,
      .summary = "Run up to 20 submissions (Judge0)",
      .replies = REPLIES({ 201, .fields = token_reply, .list = true }) },
    { 0 },
};

extern const struct api_door judge0_door;
const struct api_door judge0_door = {
    .name = "judge0",
    .setting = offsetof(struct settings, doors_judge0),
    .style = STYLE_JUDGE0,
    .paths = (const char *const[]){ "/submissions", "/languages", "/statuses", "/about",
                                    "/system_info", "/config_info", "/workers", "/statistics",
                                    NULL },
    .key_header = "X-Auth-Token",
    .admin_key_header = "X-Auth-User",
    .tables = (const struct api_route *const[]){ judge0_routes, judge0_read_routes,
                                                 judge0_info_routes, NULL },
};
