#include "api/runs/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/fields.h"
#include "api/runs/history_routes.h"
#include "api/runs/run_fields.h"
#include "base/auto.h"
#include "base/text.h"

/* ---- POST /v1/batches ---- */

static const struct api_field input_fields[] = {
    { .name = "name", .type = FIELD_STRING, .min = 1, .max = 200, .help = "to tell it by" },
    { .name = "stdin", .type = FIELD_DATA, .help = "what the program reads" },
    { .name = "stdin_encoding",
      .type = FIELD_STRING,
      .one_of = content_encodings,
      .help = "how stdin is written; as run says, or utf-8, when absent" },
    { .name = "args", .type = FIELD_STRINGS, .max = 1000, .help = "its arguments" },
    { .name = "expected",
      .type = FIELD_STRING,
      .help = "what it is to print; the result then says whether it passed" },
    { 0 },
};

/* Of a run, what is the batch's business: group.c says so to who sets them. */
#define GROUPS_OWN "wait,stream,cancel_on_disconnect,stdin_open,thread_id"

static const struct api_field batch_fields[] = {
    { .name = "runs",
      .type = FIELD_OBJECTS,
      .fields = run_fields,
      .hidden = GROUPS_OWN,
      .elsewhere = "expected=inputs",
      .help = "the runs, each with the fields of POST /v1/runs" },
    { .name = "run",
      .type = FIELD_OBJECT,
      .fields = run_fields,
      .hidden = GROUPS_OWN,
      .elsewhere = "expected=inputs",
      .help = "one run to be made once for each of inputs; in place of runs" },
    { .name = "inputs",
      .type = FIELD_OBJECTS,
      .fields = input_fields,
      .help = "what changes from one to the next of run" },
    { .name = "compare",
      .type = FIELD_STRING,
      .one_of = compare_words,
      .help = "how stdout is held against expected: trim (white space at the ends of lines and "
              "blank lines at the end do not count; the default), exact, tokens" },
    { .name = "parallel",
      .type = FIELD_INT,
      .min = 1,
      .max = 100000,
      .help = "how many run at a time; half of what the service can do when absent" },
    { .name = "stop_on_failure",
      .type = FIELD_BOOL,
      .help = "after the first that fails, start no more and cancel the others" },
    { .name = "stream",
      .type = FIELD_BOOL,
      .help = "each result as it comes, as lines of JSON, or as server-sent events by Accept" },
    { .name = "cancel_on_disconnect",
      .type = FIELD_BOOL,
      .help = "stop when the client goes away; otherwise the batch goes on" },
    { 0 },
};

struct batch {
    struct group group; /* first: one is the other */
    struct answer answer;
    const json_t *runs;         /* of the request: either these */
    const json_t *run, *inputs; /* or these */
    enum compare_mode compare;
    bool stop_on_failure;
    json_t *results; /* in order; null where not yet */
    unsigned ok, failed, passed, cancelled, skipped;
};

static struct batch *batch_of(struct group *g)
{
    return (struct batch *)g;
}

static json_t *batch_request(const struct group *g, size_t i)
{
    const struct batch *b = (const struct batch *)g;
    return b->runs ? json_incref(json_array_get(b->runs, i))
                   : request_with_input(b->run, json_array_get(b->inputs, i));
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

static void tell(struct batch *b, size_t i, json_t *result)
{
    if (!b->group.call->http) { /* nobody is there to be told; the history has it */
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
    answer_event(&b->answer, "result", event);
}

/* Holds what was printed against what was expected; "passed" is null where nothing was. */
static bool judge(const struct batch *b, size_t i, const struct run *x, json_t *result)
{
    struct err e = { 0 };
    scoped(buf) out = { 0 };
    struct difference d;
    const json_t *expected = json_object_get(json_array_get(b->inputs, i), "expected");
    bool ok = x && x->result.verdict == VERDICT_OK;
    if (!expected) {
        if (b->inputs)
            json_put(result, "passed", json_null());
        return ok;
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
        json_put(result, "error", json_string(e.text));
    return false;
}

static void count(struct batch *b, size_t i, const struct run *x, bool fine)
{
    bool expected = json_object_get(json_array_get(b->inputs, i), "expected") != NULL;
    b->passed += expected && fine;
    if (fine)
        b->ok++;
    else if (x && x->result.verdict == VERDICT_CANCELLED && b->group.items[i].cancelled)
        b->cancelled++;
    else
        b->failed++;
}

static void batch_finished(struct group *g, size_t i, const struct run *x, const struct err *e)
{
    struct batch *b = batch_of(g);
    json_t *result = result_head(b, i);
    bool fine = judge(b, i, x, result);
    if (x) {
        json_t *fields = run_result_object(x, group_inline_max(g));
        (void)json_object_update_missing(result, fields);
        json_decref(fields);
    } else {
        json_put(result, "state", json_string("failed"));
        json_put(result, "error", json_string(e->text));
    }
    count(b, i, x, fine);
    tell(b, i, result);
    if (!fine && b->stop_on_failure && !g->stopped)
        group_stop(g);
}

static void batch_skipped(struct group *g, size_t i)
{
    struct batch *b = batch_of(g);
    json_t *result = result_head(b, i);
    json_put(result, "state", json_string("skipped"));
    b->skipped++;
    tell(b, i, result);
}

static void batch_free(struct batch *b)
{
    json_decref(b->results);
    group_done(&b->group);
    free(b);
}

static void batch_done(struct group *g)
{
    struct batch *b = batch_of(g);
    struct answer answer = b->answer;
    json_t *o = json_object();
    json_put(o, "id", json_string(g->id));
    if (!answer.streamed)
        json_put(o, "results", json_incref(b->results));
    json_put(o, "summary",
             json_pack("{s:I, s:i, s:i, s:i, s:i, s:i, s:f}", "total", (json_int_t)g->n, "ok",
                       (int)b->ok, "failed", (int)b->failed, "passed", (int)b->passed, "cancelled",
                       (int)b->cancelled, "skipped", (int)b->skipped, "wall_ms", group_wall_ms(g)));
    g->call->on_gone = NULL;
    batch_free(b); /* before the call's end, after which its body and the api's list may be gone */
    answer_end(&answer, o);
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

static int check_runs(const struct batch *b, char field[128], struct err *e)
{
    for (size_t i = 0; i < json_array_size(b->runs); i++) {
        char prefix[32];
        (void)snprintf(prefix, sizeof prefix, "runs[%zu]", i);
        if (group_check(&b->group, json_array_get(b->runs, i), prefix, field, e))
            return -1;
    }
    return 0;
}

static int check_form(const struct batch *b, char field[128], struct err *e)
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
    if (b->runs && json_object_get(b->group.call->body, "compare"))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "compare is given without inputs: only they have something expected");
    return 0;
}

static json_t *array_of_nulls(size_t n)
{
    json_t *list = json_array();
    while (list && n-- > 0)
        (void)json_array_append_new(list, json_null());
    return list;
}

static int batch_prepare(struct batch *b, struct api_call *c, char field[128], struct err *e)
{
    b->group.call = c;
    b->runs = json_object_get(c->body, "runs");
    b->run = json_object_get(c->body, "run");
    b->inputs = json_object_get(c->body, "inputs");
    b->compare = compare_parse(json_string_value(json_object_get(c->body, "compare")));
    b->stop_on_failure = json_is_true(json_object_get(c->body, "stop_on_failure"));
    if (check_form(b, field, e))
        return -1;
    const char *what = b->runs ? "runs" : "inputs";
    size_t n = json_array_size(b->runs ? b->runs : b->inputs);
    (void)snprintf(field, 128, "%s", what);
    if (group_check_count(c, what, n, e) || group_init(&b->group, &batch_ops, c, "bat_", n, e))
        return -1;
    (void)snprintf(field, 128, "parallel");
    if (group_set_parallel(&b->group, e))
        return -1;
    if (b->runs ? check_runs(b, field, e)
                : group_check(&b->group, b->run, "run", field, e) ||
                      group_check_inputs(&b->group, b->run, b->inputs, field, e))
        return -1;
    b->results = array_of_nulls(n);
    return b->results ? 0 : err_no_memory(e, "the results");
}

static void batch_post(struct api_call *c)
{
    struct err e = { 0 };
    char field[128] = "";
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
    c->on_gone = client_gone;
    answer_begin(&b->answer, c);
    group_start(&b->group);
}

/* ---- GET /v1/batches/{id} ---- */

enum { PAGE = 1000 };

struct lookup {
    struct store_job job; /* first: one is the other */
    struct api_call *call;
    char id[ID_SIZE];
    json_t *results;
    bool unfinished;
};

/* In the store's thread. Rows come newest first; a batch is shown in its own order. */
static int lookup_work(struct db *db, struct store_job *job, struct err *e)
{
    struct lookup *l = (struct lookup *)job;
    struct run_query q = { .batch = l->id, .limit = PAGE };
    do {
        scoped(run_records) page = { 0 };
        if (runs_list(db, &q, &page, e))
            return -1;
        for (size_t i = 0; i < page.n; i++) {
            if (!history_may_see(l->call, page.rows[i].key))
                continue;
            enum run_state state = page.rows[i].state;
            l->unfinished = l->unfinished || (state != RUN_FINISHED && state != RUN_INTERRUPTED);
            (void)json_array_insert_new(l->results, 0, history_row_object(&page.rows[i]));
        }
        q.before_seq = page.next_before_seq;
    } while (q.before_seq > 0);
    return 0;
}

static void lookup_done(struct store_job *job)
{
    struct lookup *l = (struct lookup *)job;
    struct api_call *c = l->call;
    struct err e = l->job.err;
    const struct group *g = group_find(c->api, l->id);
    if (g && !history_may_see(c, g->call->who.key))
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
    struct lookup *l = NULL;
    if (strlen(c->params[0]) >= sizeof l->id) {
        (void)!err_set(&e, ERR_NOT_FOUND, 0, "there is no batch '%s'", QUOTED(c->params[0]));
        api_fail(c, &e, NULL);
        return;
    }
    l = calloc(1, sizeof *l);
    json_t *results = l ? json_array() : NULL;
    if (!results) {
        free(l);
        api_fail_no_memory(c);
        return;
    }
    l->job = (struct store_job){ .work = lookup_work, .done = lookup_done };
    l->call = c;
    l->results = results;
    (void)snprintf(l->id, sizeof l->id, "%s", c->params[0]);
    store_read(c->api->store, &l->job);
}

const struct api_route batch_routes[] = {
    { .method = METHOD_POST,
      .path = "/v1/batches",
      .scope = SCOPE_RUN,
      .body = batch_fields,
      .handle = batch_post,
      .summary = "Runs many programs, or one program on many inputs" },
    { .method = METHOD_GET,
      .path = "/v1/batches/{id}",
      .scope = SCOPE_ANY,
      .handle = batch_get,
      .summary = "What became of a batch's runs" },
    { .method = METHOD_POST,
      .path = "/v1/comparisons",
      .scope = SCOPE_RUN,
      .body = comparison_fields,
      .handle = comparison_post,
      .summary = "Runs variants of a program on the same inputs, side by side" },
    { 0 },
};
