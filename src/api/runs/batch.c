#include "api/runs/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/fields.h"
#include "api/kernel/job.h"
#include "api/runs/checker.h"
#include "api/runs/history_routes.h"
#include "api/runs/result_fields.h"
#include "api/runs/run_result.h"
#include "api/runs/run_spec.h"
#include "base/auto.h"
#include "base/text.h"

/* ---- POST /v1/batches ---- */

static const struct api_field input_fields[] = {
    { "name", FIELD_STRING, .min = 1, .max = 200, .help = "name of the input" },
    { "stdin", FIELD_DATA, .help = "stdin of the program" },
    { "stdin_encoding", FIELD_STRING, .one_of = content_encodings,
      .help = "encoding of stdin; as in run, or utf-8, if absent" },
    { "args", FIELD_STRINGS, .max = 1000, .help = "arguments of the program" },
    { "expected", FIELD_STRING, .help = "the expected stdout; the result then has `passed`" },
    { 0 },
};

/* Fields of a run that a batch has instead: group.c refuses them. */
#define GROUP_FIELDS "wait,stream,cancel_on_disconnect,stdin_open,thread_id"

static const struct api_field batch_fields[] = {
    { "runs", FIELD_OBJECTS, .fields = run_fields, .hidden = GROUP_FIELDS,
      .elsewhere = "expected=inputs", .help = "the runs, each with the fields of POST /v1/runs" },
    { "run", FIELD_OBJECT, .fields = run_fields, .hidden = GROUP_FIELDS,
      .elsewhere = "expected=inputs",
      .help = "one run that is repeated for each of inputs; in place of runs" },
    { "inputs", FIELD_OBJECTS, .fields = input_fields, .help = "the inputs for run" },
    { "compare", FIELD_STRING, .one_of = compare_words,
      .help = "how stdout is compared with expected: trim (white space at the ends of lines and "
              "blank lines at the end do not count; the default), exact, tokens" },
    { "checker", FIELD_OBJECT, .fields = checker_fields,
      .help = "a program that says whether an output is right; in place of compare" },
    { "parallel", FIELD_INT, .min = 1, .max = 100000,
      .help = "number of runs at a time; half of the capacity of the service if absent" },
    { "stop_on_failure", FIELD_BOOL,
      .help = "after the first failure, start no more runs and cancel the others" },
    { "stream", FIELD_BOOL,
      .help = "send each result when it is there, as lines of JSON, or as server-sent events by "
              "the header Accept" },
    { "cancel_on_disconnect", FIELD_BOOL,
      .help = "stop if the client goes away; otherwise the batch goes on" },
    { 0 },
};

static const struct api_field difference_reply[] = {
    { "line", FIELD_INT, ALWAYS, .help = "the first line that differs" },
    { "expected", FIELD_DATA, OR_NULL, .help = "null if the expected output ends there" },
    { "got", FIELD_DATA, OR_NULL, .help = "null if the output of the program ends there" },
    { 0 },
};
static const struct api_field batch_result_reply[] = {
    { "index", FIELD_INT, ALWAYS, .help = "position in the request" },
    { "name", FIELD_STRING, .help = "name of the input" },
    { "state", FIELD_STRING, .help = "finished; failed and skipped have no verdict" },
    { "passed", FIELD_BOOL, .nullable = true,
      .help = "null if the input has no `expected` and there is no checker, if the checker failed, "
              "or if another failure ended it" },
    { "difference", FIELD_OBJECT, .fields = difference_reply,
      .help = "the difference from the expected output" },
    { "checker", FIELD_OBJECT, .fields = checker_reply,
      .help = "the word of the checker; absent if it was not asked" },
    { "error", FIELD_STRING, .help = "the reason why the run did not start" },
    { .schema = "BatchResult",
      .fields = result_reply,
      .help = "With all fields of a result, if the program ran" },
};
static const struct api_field summary_reply[] = {
    { "total", FIELD_INT, ALWAYS, .help = "number of runs" },
    { "ok", FIELD_INT, ALWAYS, .help = "runs that ended well, with the expected output" },
    { "failed", FIELD_INT, ALWAYS, .help = "runs that failed" },
    { "passed", FIELD_INT, ALWAYS, .help = "runs that printed the expected output" },
    { "unchecked", FIELD_INT, ALWAYS, .help = "runs whose checker failed" },
    { "cancelled", FIELD_INT, ALWAYS, .help = "runs that stop_on_failure cancelled" },
    { "skipped", FIELD_INT, ALWAYS, .help = "runs that did not start because of a failure" },
    { "wall_ms", FIELD_NUMBER, ALWAYS, .help = "time for all of them" },
    { 0 },
};
static const struct api_field batch_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id for GET /v1/batches/{id}" },
    { "results", FIELD_OBJECTS, ALWAYS, .fields = batch_result_reply,
      .help = "in the order of the request" },
    { "summary", FIELD_OBJECT, ALWAYS, .fields = summary_reply, .help = "counts" },
    { .schema = "Batch" },
};
static const struct api_field batch_event_reply[] = {
    { "event", FIELD_STRING, ALWAYS, .one_of = group_event_words, .help = "kind of the event" },
    { "seq", FIELD_INT, ALWAYS, .help = "1, 2, …" },
    { "index", FIELD_INT, .help = "of result: position in the request" },
    { "result", FIELD_OBJECT, .fields = batch_result_reply, .help = "of result" },
    { "id", FIELD_STRING, .help = "of done: id of the batch" },
    { "summary", FIELD_OBJECT, .fields = summary_reply, .help = "of done" },
    { .schema = "BatchEvent" },
};
static const struct api_field batch_runs_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of the batch or comparison" },
    { "finished", FIELD_BOOL, ALWAYS, .help = "true if all runs are over" },
    { "total", FIELD_INT, OR_NULL, .help = "number of runs, until all are over" },
    { "results", FIELD_OBJECTS, ALWAYS, .fields = run_row_reply, .help = "its runs so far" },
    { .schema = "BatchRuns" },
};

/* A judged program that has ended well, while its checker waits or runs. */
struct checking {
    json_t *result; /* of the program; NULL: there is none */
    struct buf got; /* its stdout, until the request of the checker is made */
};

struct batch {
    struct group group; /* first: see batch_of() */
    struct group_answer answer;
    const json_t *runs;         /* of the request: either these */
    const json_t *run, *inputs; /* or these */
    enum compare_mode compare;
    const json_t *checker;   /* NULL: outputs are compared */
    struct checking *checks; /* one for each input, if there is a checker */
    bool stop_on_failure;
    json_t *results; /* in order; null: not yet */
    unsigned ok, failed, passed, unchecked, cancelled, skipped;
};

static struct batch *batch_of(struct group *g)
{
    return (struct batch *)g;
}

static json_t *batch_request(const struct group *g, size_t i)
{
    const struct batch *b = (const struct batch *)g;
    if (b->runs)
        return json_incref(json_array_get(b->runs, i));
    const json_t *input = json_array_get(b->inputs, i);
    json_t *request = request_with_input(b->run, input);
    if (!b->group.items[i].is_checker)
        return request;
    json_t *asked = checker_request(b->checker, request, json_object_get(input, "expected"),
                                    &b->checks[i].got);
    json_decref(request);
    return asked;
}

/* {"index", "name"} of a result. */
static json_t *result_head(const struct batch *b, size_t i)
{
    json_t *o = json_object();
    json_t *name = json_object_get(json_array_get(b->inputs, i), "name");
    json_put(o, "index", json_integer((json_int_t)i));
    if (name)
        json_put(o, "name", json_incref(name));
    return o;
}

static void send_result(struct batch *b, size_t i, json_t *result)
{
    if (!b->group.call->http) { /* the client is gone; the history has the result */
        json_decref(result);
        return;
    }
    if (!b->answer.streamed) {
        (void)json_array_set_new(b->results, i, result);
        return;
    }
    json_t *event = json_object();
    json_put(event, "index", json_integer((json_int_t)i));
    json_put(event, "result", result);
    group_answer_event(&b->answer, "result", event);
}

/* The failure of another input ended it. Nothing is known about its own output. */
static bool was_stopped(const struct batch *b, size_t i, const struct run *x)
{
    return x && x->result.verdict == VERDICT_CANCELLED && b->group.items[i].cancelled;
}

/* Compares stdout with the expected output. "passed" is null if there is nothing to compare. */
static bool check_output(const struct batch *b, size_t i, const struct run *x, json_t *result)
{
    struct err e = { 0 };
    scoped(buf) out = { 0 };
    struct difference d;
    const json_t *expected = json_object_get(json_array_get(b->inputs, i), "expected");
    bool ok = x && x->result.verdict == VERDICT_OK;
    if (b->checker ? was_stopped(b, i, x) : !expected || was_stopped(b, i, x)) {
        if (b->inputs)
            json_put(result, "passed", json_null());
        return ok;
    }
    if (b->checker) { /* which is not asked about a program that failed */
        json_put(result, "passed", json_false());
        return false;
    }
    struct output_piece wanted = { json_string_value(expected), json_string_length(expected) };
    if (x && journal_collect(&x->journal, JOURNAL_STDOUT, UINT64_MAX, &out, &e) == 0) {
        struct output_piece got = { out.data, out.len };
        bool same = output_same(b->compare, wanted, got, &d);
        json_put(result, "passed", json_boolean(same && ok));
        if (!same)
            json_put(result, "difference",
                     json_pack("{s:I, s:o, s:o}", "line", (json_int_t)d.line, "expected",
                               output_json(d.expected), "got", output_json(d.got)));
        return same && ok;
    }
    json_put(result, "passed", json_false());
    if (e.code != ERR_NONE)
        json_put(result, "error", json_string(ERR_SHOWN(&e)));
    return false;
}

static void count(struct batch *b, size_t i, const struct run *x, bool fine)
{
    bool expected = json_object_get(json_array_get(b->inputs, i), "expected") != NULL;
    b->passed += expected && fine;
    if (fine)
        b->ok++;
    else if (was_stopped(b, i, x))
        b->cancelled++;
    else
        b->failed++;
}

/* Keeps the result of a program that ended well, and its output for the checker. */
static int keep_for_checker(struct batch *b, size_t i, const struct run *x, struct err *e)
{
    struct group_item *item = &b->group.items[i];
    struct checking *c = &b->checks[i];
    scoped(buf) got = { 0 };
    if (journal_collect(&x->journal, JOURNAL_STDOUT, UINT64_MAX, &got, e))
        return -1;
    json_t *result = result_head(b, i), *fields = run_result_object(x, group_inline_max(&b->group));
    (void)json_object_update_missing(result, fields);
    json_decref(fields);
    item->is_checker = true;
    item->is_large = got.len > API_LARGE_BYTES;
    *c = (struct checking){ .result = result, .got = got };
    got = (struct buf){ 0 };
    return 0;
}

static json_t *take_checked(struct batch *b, size_t i)
{
    struct checking *c = &b->checks[i];
    json_t *result = c->result;
    buf_done(&c->got);
    *c = (struct checking){ 0 };
    return result;
}

static void checker_finished(struct batch *b, size_t i, const struct run *x, const struct err *e)
{
    json_t *result = take_checked(b, i), *said = NULL;
    if (was_stopped(b, i, x)) {
        json_put(result, "passed", json_null());
        b->cancelled++;
        send_result(b, i, result);
        return;
    }
    enum checker_outcome outcome = checker_read(x, e, &said);
    json_put(result, "passed",
             outcome == CHECKER_ERROR ? json_null() : json_boolean(outcome == CHECKER_PASS));
    json_put(result, "checker", said);
    b->ok += outcome == CHECKER_PASS;
    b->passed += outcome == CHECKER_PASS;
    b->failed += outcome == CHECKER_FAIL;
    b->unchecked += outcome == CHECKER_ERROR;
    send_result(b, i, result);
    if (outcome != CHECKER_PASS && b->stop_on_failure && !b->group.stopped)
        group_stop(&b->group);
}

static bool batch_finished(struct group *g, size_t i, const struct run *x, const struct err *e)
{
    struct batch *b = batch_of(g);
    struct err unread = { 0 };
    if (g->items[i].is_checker) {
        checker_finished(b, i, x, e);
        return false;
    }
    if (b->checker && x && x->result.verdict == VERDICT_OK) {
        if (keep_for_checker(b, i, x, &unread) == 0)
            return true;
        x = NULL; /* its output is lost */
        e = &unread;
    }
    json_t *result = result_head(b, i);
    bool fine = check_output(b, i, x, result);
    if (x) {
        json_t *fields = run_result_object(x, group_inline_max(g));
        (void)json_object_update_missing(result, fields);
        json_decref(fields);
    } else {
        json_put(result, "state", json_string("failed"));
        json_put(result, "error", json_string(ERR_SHOWN(e)));
    }
    count(b, i, x, fine);
    send_result(b, i, result);
    if (!fine && b->stop_on_failure && !g->stopped)
        group_stop(g);
    return false;
}

static void batch_skipped(struct group *g, size_t i)
{
    struct batch *b = batch_of(g);
    if (g->items[i].is_checker) { /* the program has run, and its checker has not */
        json_t *unjudged = take_checked(b, i);
        json_put(unjudged, "passed", json_null());
        b->cancelled++;
        send_result(b, i, unjudged);
        return;
    }
    json_t *result = result_head(b, i);
    json_put(result, "state", json_string("skipped"));
    b->skipped++;
    send_result(b, i, result);
}

static void batch_free(struct batch *b)
{
    json_decref(b->results);
    free(b->checks);
    group_done(&b->group);
    free(b);
}

static void batch_done(struct group *g)
{
    struct batch *b = batch_of(g);
    struct group_answer answer = b->answer;
    json_t *o = json_object();
    json_put(o, "id", json_string(g->id));
    if (!answer.streamed)
        json_put(o, "results", json_incref(b->results));
    json_put(o, "summary",
             json_pack("{s:I, s:i, s:i, s:i, s:i, s:i, s:i, s:f}", "total", (json_int_t)g->n, "ok",
                       (int)b->ok, "failed", (int)b->failed, "passed", (int)b->passed, "unchecked",
                       (int)b->unchecked, "cancelled", (int)b->cancelled, "skipped",
                       (int)b->skipped, "wall_ms", group_wall_ms(g)));
    g->call->on_gone = g->call->on_half_close = NULL;
    batch_free(b); /* first: the body of the call and the list of the api may be gone afterwards */
    group_answer_end(&answer, o);
}

static const struct group_ops batch_ops = {
    .request = batch_request,
    .finished = batch_finished,
    .skipped = batch_skipped,
    .done = batch_done,
};

static void client_gone(struct api_call *c)
{
    struct batch *b = c->user;
    if (json_is_true(json_object_get(c->body, "cancel_on_disconnect")))
        group_stop(&b->group);
}

static int check_runs(const struct batch *b, struct group_check *k, char field[128], struct err *e)
{
    for (size_t i = 0; i < json_array_size(b->runs); i++) {
        char prefix[32];
        (void)snprintf(prefix, sizeof prefix, "runs[%zu]", i);
        if (group_check_run(k, json_array_get(b->runs, i), prefix, field, e))
            return -1;
    }
    return 0;
}

static int check_form(const struct batch *b, const json_t *body, char field[128], struct err *e)
{
    const char *missing = b->run ? "inputs" : b->inputs ? "run" : "runs";
    (void)snprintf(field, 128, "%s", b->runs ? "runs" : missing);
    if (b->runs && (b->run || b->inputs))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "runs is given beside run or inputs: give either runs, or run and inputs");
    if (!b->runs && !(b->run && b->inputs))
        return err_set(e, ERR_BAD_REQUEST, 0, "%s is missing: give either runs, or run and inputs",
                       missing);
    (void)snprintf(field, 128, "compare");
    if (b->runs && json_object_get(body, "compare"))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "compare is given without inputs: only inputs have an expected output");
    (void)snprintf(field, 128, "checker");
    if (b->checker && (b->runs || json_object_get(body, "compare")))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       b->runs ? "checker is given without inputs: it judges run on each of inputs"
                               : "checker is given beside compare: one of them judges the outputs");
    return 0;
}

static json_t *array_of_nulls(size_t n)
{
    json_t *list = json_array();
    while (list && n-- > 0)
        (void)json_array_append_new(list, json_null());
    return list;
}

/* The parts of the request, and their number. */
static int read_parts(struct batch *b, const struct api *api, const json_t *body, size_t *ret_n,
                      char field[128], struct err *e)
{
    b->runs = json_object_get(body, "runs");
    b->run = json_object_get(body, "run");
    b->inputs = json_object_get(body, "inputs");
    b->checker = json_object_get(body, "checker");
    if (check_form(b, body, field, e))
        return -1;
    const char *noun = b->runs ? "runs" : "inputs";
    *ret_n = json_array_size(b->runs ? b->runs : b->inputs);
    (void)snprintf(field, 128, "%s", noun);
    return group_check_count(api, noun, *ret_n, e);
}

static int check_parts(const struct batch *b, struct group_check *k, char field[128], struct err *e)
{
    if (b->runs)
        return check_runs(b, k, field, e);
    return group_check_run(k, b->run, "run", field, e) ||
                   group_check_inputs(k, b->run, b->inputs, field, e)
               ? -1
               : 0;
}

/* In a thread, for a large body. */
static int batch_check(struct api_call *c, const struct api *here, const struct buf *bytes,
                       char *field, size_t size, struct err *e)
{
    struct batch b = { 0 };
    size_t n;
    char where[128] = "";
    (void)bytes;
    struct group_check *k = group_check_in_thread(c, here);
    int rc = !k ? err_no_memory(e, "the runs")
                : read_parts(&b, here, c->body, &n, where, e) || check_parts(&b, k, where, e);
    if (rc)
        (void)snprintf(field, size, "%s", where);
    return rc ? -1 : 0;
}

/* Before any run starts: a checker that cannot run is refused. */
static int check_checker(struct batch *b, char field[128], struct err *e)
{
    static const char empty[] = "";
    struct api_call *c = b->group.call;
    struct group_check k = { .api = c->api, .who = &c->who };
    const struct buf nothing = { .data = (char *)empty };
    if (!b->checker)
        return 0;
    (void)snprintf(field, 128, "checker.code");
    if (!json_object_get(b->checker, "code") && !json_object_get(b->checker, "files"))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "checker has no program: give 'code', 'files' and 'entry', or 'artifact'");
    json_auto_t *request = checker_request(b->checker, b->run, NULL, &nothing);
    b->checks = calloc(b->group.n, sizeof *b->checks);
    if (!b->checks || !request)
        return err_no_memory(e, "the checker");
    return group_check_run(&k, request, "checker", field, e);
}

static int batch_prepare(struct batch *b, struct api_call *c, char field[128], struct err *e)
{
    size_t n;
    scoped(group_check) k = { .api = c->api, .who = &c->who };
    b->group.call = c;
    b->compare = compare_parse(json_string_value(json_object_get(c->body, "compare")));
    b->stop_on_failure = json_is_true(json_object_get(c->body, "stop_on_failure"));
    if (read_parts(b, c->api, c->body, &n, field, e) ||
        group_init(&b->group, &batch_ops, c, "bat_", n, e))
        return -1;
    (void)snprintf(field, 128, "parallel");
    if (group_set_parallel(&b->group, e) ||
        (c->prepared ? group_check_here(c->api, c->prepared, field, e)
                     : check_parts(b, &k, field, e)) ||
        check_checker(b, field, e))
        return -1;
    b->results = array_of_nulls(n);
    return b->results ? 0 : err_no_memory(e, "the results");
}

static void batch_begin(struct api_call *c, const struct err *unresolved)
{
    struct err e = { 0 };
    char field[128] = "";
    if (unresolved) {
        api_fail(c, unresolved, "checker.artifact");
        return;
    }
    struct batch *b = calloc(1, sizeof *b);
    if (!b) {
        api_fail_no_memory(c);
        return;
    }
    if (batch_prepare(b, c, field, &e)) {
        batch_free(b);
        api_fail(c, &e, err_blame(e.code) == BLAME_CALLER ? field : NULL);
        return;
    }
    c->user = b;
    c->on_gone = c->on_half_close = client_gone; /* an orderly close is seen as the latter */
    group_answer_begin(&b->answer, c);
    group_start(&b->group);
}

static void batch_post(struct api_call *c)
{
    checker_resolve(c, batch_begin);
}

/* ---- GET /v1/batches/{id} ---- */

enum { PAGE = 1000 };

struct batch_lookup {
    struct api_job job;
    char id[ID_SIZE];
    json_t *results;
    bool unfinished;
};

/* Rows come newest first, the runs of a batch in its own order. */
static int lookup_work(struct db *db, struct store_job *job, struct err *e)
{
    struct batch_lookup *l = (struct batch_lookup *)job;
    struct run_query q = { .batch = l->id, .limit = PAGE };
    do {
        scoped(run_records) page = { 0 };
        if (runs_list(db, &q, &page, e))
            return -1;
        for (size_t i = 0; i < page.n; i++) {
            if (!history_may_see(l->job.call, page.rows[i].key, page.rows[i].created_ms))
                continue;
            enum run_state state = page.rows[i].state;
            l->unfinished = l->unfinished || (state != RUN_FINISHED && state != RUN_INTERRUPTED);
            if (page.rows[i].surface && strcmp(page.rows[i].surface, CHECKER_SURFACE) == 0)
                continue;
            (void)json_array_insert_new(l->results, 0, run_row_object(&page.rows[i]));
        }
        q.before_seq = page.next_before_seq;
    } while (q.before_seq > 0);
    return 0;
}

static void lookup_done(struct store_job *job)
{
    struct batch_lookup *l = (struct batch_lookup *)job;
    struct api_call *c = l->job.call;
    struct err e = job->err;
    const struct group *g = group_find(c->api, l->id);
    if (g && !history_may_see(c, g->call->who.key, g->call->who.since_ms))
        g = NULL;
    if (e.code == ERR_NONE && !g && json_array_size(l->results) == 0) {
        (void)!err_set(&e, ERR_NOT_FOUND, 0,
                       "there is no batch '%s': it may have been removed from the history",
                       QUOTED(l->id));
    }
    if (e.code != ERR_NONE) {
        json_decref(l->results);
        free(l);
        api_fail(c, &e, NULL);
        return;
    }
    json_t *o = json_object();
    json_put(o, "id", json_string(l->id));
    json_put(o, "finished", json_boolean(!g && !l->unfinished));
    json_put(o, "total", g ? json_integer((json_int_t)g->n) : json_null());
    json_put(o, "results", l->results);
    free(l);
    api_reply(c, 200, o);
}

static void batch_get(struct api_call *c)
{
    struct err e = { 0 };
    struct batch_lookup *l = NULL;
    if (strlen(c->params[0]) >= sizeof l->id) {
        (void)!err_set(&e, ERR_NOT_FOUND, 0,
                       "there is no batch '%s': POST /v1/batches answers with the id of a batch",
                       QUOTED(c->params[0]));
        api_fail(c, &e, NULL);
        return;
    }
    l = api_job_new(c, sizeof *l, lookup_work, lookup_done);
    if (!l)
        return;
    l->results = json_array();
    (void)snprintf(l->id, sizeof l->id, "%s", c->params[0]);
    api_job_read(&l->job);
}

const struct api_route batch_routes[] = {
    { METHOD_POST, "/v1/batches", SCOPE_RUN, .body = batch_fields, .handle = batch_post,
      .prepare = batch_check, .summary = "Run many programs, or one program on many inputs",
      .replies = REPLIES({ 200, .fields = batch_reply }, EVENT_REPLIES(batch_event_reply)) },
    { METHOD_GET, "/v1/batches/{id}", SCOPE_ANY, .handle = batch_get,
      .summary = "The runs of a batch or comparison",
      .replies = REPLIES({ 200, .fields = batch_runs_reply }) },
    { 0 },
};
