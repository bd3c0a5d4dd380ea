/* Batches and comparisons over a engine that is a list: a test finishes the runs, in any order.
 * The functions of other rooms that they call are defined here, so that the linker does not take
 * the real ones. */
#include "api/runs/batch.h"

#include <stdlib.h>

#include "api/runs/history_routes.h"
#include "api/runs/run_result.h"
#include "api/runs/run_spec.h"
#include "api/runs/submit.h"
#include "base/array.h"
#include "base/auto.h"
#include "check.h"

/* ---- stand-ins ---- */

enum { FLIGHT_MAX = 16 };
static struct {
    struct run *run[FLIGHT_MAX];
    struct run_watch *watch[FLIGHT_MAX];
    unsigned n, most, total;
    bool cancels_at_once, refuses;
} flight;
static json_t *answer;   /* of the last call */
static int status, ends; /* of it, and how often it ended */
static char failed_field[128], failed_text[256];
static struct buf streamed;
static scope_set scopes; /* of the caller */

const struct api_field run_fields[] = { { .name = "code", .type = FIELD_STRING }, { 0 } };

/* Code "bad" fails; any other code prints its stdin. */
int run_spec_from_json(const struct api *api, const struct api_identity *who, const json_t *request,
                       const char *surface, struct run_spec *ret, char *ret_field,
                       size_t field_size, struct err *e)
{
    static const struct language language = { .name = "python" };
    const char *code = json_string_value(json_object_get(request, "code"));
    const json_t *in = json_object_get(request, "stdin");
    (void)api;
    (void)who;
    (void)surface;
    if (!code) {
        (void)snprintf(ret_field, field_size, "limits.memory");
        return err_set(e, ERR_BAD_REQUEST, 0, "limits.memory '5x' is not a size");
    }
    *ret = (struct run_spec){ .language = &language, .code = strdup(code) };
    return in ? buf_add(&ret->stdin_bytes, json_string_value(in), json_string_length(in), e) : 0;
}

/* For requests that a thread checked; here all are small. */
int run_spec_check_here(const struct api *api, const json_t *request, struct run_spec *spec,
                        char *ret_field, size_t field_size, struct err *e)
{
    (void)api;
    (void)request;
    (void)spec;
    (void)ret_field;
    (void)field_size;
    return err_set(e, ERR_PROTOCOL, 0, "not expected");
}

void run_spec_done(struct run_spec *s)
{
    free(s->code);
    free(s->batch);
    buf_done(&s->stdin_bytes);
}

int api_submit(struct api *api, struct run_spec *spec, const char *mode, unsigned flags,
               struct run_watch *w, struct run **ret, struct err *e)
{
    struct run *x = calloc(1, sizeof *x);
    (void)api;
    (void)mode;
    CHECK_INT(flags, SUBMIT_UNBOUNDED);
    if (flight.refuses || !CHECK(x && flight.n < FLIGHT_MAX)) {
        run_spec_done(spec);
        free(x);
        return err_set(e, ERR_UNAVAILABLE, 0, "no new runs");
    }
    (void)snprintf(x->id, sizeof x->id, "run_%u", flight.total++);
    x->spec = *spec;
    x->result.verdict = strcmp(spec->code, "bad") == 0 ? VERDICT_RUNTIME_ERROR : VERDICT_OK;
    x->result.usage.wall_us = 1000ULL * flight.total;
    flight.run[flight.n] = *ret = x;
    flight.watch[flight.n++] = w;
    flight.most = flight.n > flight.most ? flight.n : flight.most;
    return 0;
}

static void finish(unsigned i)
{
    struct run *x = flight.run[i];
    struct run_watch *w = flight.watch[i];
    flight.n--;
    for (; i < flight.n; i++) {
        flight.run[i] = flight.run[i + 1];
        flight.watch[i] = flight.watch[i + 1];
    }
    w->on_event(w, x, RUN_EVENT_STARTED);
    w->on_event(w, x, RUN_EVENT_DONE);
}

void run_watch_remove(struct run *run, struct run_watch *w)
{
    (void)w;
    run_spec_done(&run->spec);
    free(run);
}

void run_cancel(struct run *run)
{
    run->result.verdict = VERDICT_CANCELLED;
    for (unsigned i = 0; flight.cancels_at_once && i < flight.n; i++) {
        if (flight.run[i] == run) {
            finish(i);
            return;
        }
    }
}

int journal_collect(const struct journal *j, enum journal_kind kind, uint64_t max, struct buf *b,
                    struct err *e)
{
    const struct run *x = (const struct run *)((const char *)j - offsetof(struct run, journal));
    (void)max;
    CHECK_INT(kind, JOURNAL_STDOUT);
    return buf_add(b, buf_str(&x->spec.stdin_bytes), x->spec.stdin_bytes.len, e);
}

int journal_both_ends(const struct journal *j, enum journal_kind kind, uint64_t max, struct buf *b,
                      struct err *e)
{
    (void)j;
    (void)kind;
    (void)max;
    return buf_add(b, "its stderr", 10, e);
}

bool run_end_sentence(const struct result *r, char *out, size_t size)
{
    (void)r;
    (void)snprintf(out, size, "it ended");
    return true;
}

json_t *run_result_object(const struct run *x, uint64_t inline_max)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:I}", "id", x->id, "batch_id", x->spec.batch, "verdict",
                     verdict_word(x->result.verdict), "stdout", buf_str(&x->spec.stdin_bytes),
                     "inline_max", (json_int_t)inline_max);
}

void run_records_done(struct run_records *r)
{
    free(r->rows);
}

/* Two pages of a batch that is over. */
int runs_list(struct db *db, const struct run_query *q, struct run_records *ret, struct err *e)
{
    (void)db;
    *ret = (struct run_records){ 0 };
    if (strcmp(q->batch, "bat_known") != 0)
        return 0;
    ret->rows = calloc(1, sizeof *ret->rows);
    if (!ret->rows)
        return err_set(e, ERR_NO_MEMORY, 0, "no memory");
    ret->n = 1;
    ret->rows[0] = (struct run_record){ .state = RUN_FINISHED,
                                        .id = (char *)(q->before_seq ? "run_old" : "run_new") };
    ret->next_before_seq = q->before_seq ? 0 : 7;
    return 0;
}

void store_read(struct store *s, struct store_job *job)
{
    (void)s;
    (void)job->work(NULL, job, &job->err);
    job->done(job);
}

void store_write(struct store *s, struct store_job *job)
{
    store_read(s, job);
}

uint64_t settings_runs_max(const struct settings *s)
{
    (void)s;
    return 8;
}

bool stream_asked(const struct api_call *c, bool wanted, enum stream_format *ret_format)
{
    *ret_format = c->http->request.target ? STREAM_SSE : STREAM_NDJSON; /* where call() puts it */
    return wanted;
}

const char *stream_content_type(enum stream_format format)
{
    return format == STREAM_SSE ? "sse" : "ndjson";
}

void stream_send(struct api_call *c, enum stream_format format, uint64_t seq, const char *name,
                 json_t *event)
{
    struct err e;
    autofree char *text = json_dumps(event, JSON_COMPACT);
    (void)c;
    (void)format;
    CHECK_INT(buf_addf(&streamed, &e, "%d %s %s\n", (int)seq, name, text), 0);
    json_decref(event);
}

bool history_may_see(const struct api_call *c, const char *key, int64_t created_ms)
{
    (void)created_ms;
    (void)key;
    return !(c->who.scopes & SCOPE_BIT(SCOPE_RUN));
}

json_t *run_row_object(const struct run_record *r)
{
    return json_pack("{s:s}", "id", r->id);
}

void api_reply(struct api_call *c, int reply_status, json_t *body)
{
    (void)c;
    answer = body;
    status = reply_status;
    ends++;
}

void api_fail(struct api_call *c, const struct err *e, const char *field)
{
    (void)c;
    status = err_http_status(e->code);
    (void)snprintf(failed_field, sizeof failed_field, "%s", field ? field : "");
    (void)snprintf(failed_text, sizeof failed_text, "%s", e->text);
    ends++;
}

void api_fail_no_memory(struct api_call *c)
{
    (void)c;
    status = 500;
    ends++;
}

void api_stream_begin(struct api_call *c, const char *content_type)
{
    struct err e;
    (void)c;
    CHECK_INT(buf_addf(&streamed, &e, "%s\n", content_type), 0);
}

void api_stream_end(struct api_call *c)
{
    (void)c;
    ends++;
}

/* ---- driving them ---- */

enum order { FIRST_IN_FIRST_OUT, LAST_IN_FIRST_OUT, CLIENT_LEAVES };

/* One request, and the end of every run it starts. A `body` that is not JSON is the id of a
 * batch. */
static void call(const char *path, const char *body, const char *accept, enum order order)
{
    static const struct settings settings = { .batch_max_runs = 20 };
    struct api api = { .settings = &settings };
    struct http_exchange http = { .request.target = accept };
    struct api_call c = { .api = &api, .http = &http, .who.scopes = scopes };
    c.body = json_loads(body, 0, NULL);
    if (!c.body)
        (void)snprintf(c.params[0], sizeof c.params[0], "%s", body);
    json_decref(answer);
    answer = NULL;
    streamed.len = 0;
    status = ends = 0;
    flight.most = 0;
    static const struct api_route *const tables[] = { batch_routes, comparison_routes };
    for (size_t t = 0; t < ARRAY_LEN(tables); t++)
        for (const struct api_route *r = tables[t]; r->path; r++)
            if (strcmp(r->path, path) == 0)
                r->handle(&c);
    if (order == CLIENT_LEAVES && CHECK(c.on_gone)) {
        c.http = NULL;
        c.on_gone(&c);
    }
    while (flight.n > 0)
        finish(order == LAST_IN_FIRST_OUT ? flight.n - 1 : 0);
    CHECK_INT(ends, 1);
    CHECK(api.groups == NULL);
    json_decref(c.body);
}

static void batch(const char *body)
{
    call("/v1/batches", body, NULL, FIRST_IN_FIRST_OUT);
}

static const char *result_text(size_t i, const char *key)
{
    const json_t *result = json_array_get(json_object_get(answer, "results"), i);
    return json_string_value(json_object_get(result, key));
}

static void check_summary(const char *expected)
{
    json_t *summary = json_object_get(answer, "summary");
    CHECK(json_is_number(json_object_get(summary, "wall_ms")));
    (void)json_object_del(summary, "wall_ms");
    autofree char *text = json_dumps(summary, JSON_COMPACT);
    CHECK_STR(text, expected);
}

static void check_refused(const char *path, const char *body, const char *field, const char *words)
{
    unsigned before = flight.total;
    call(path, body, NULL, FIRST_IN_FIRST_OUT);
    CHECK_INT(status, 400);
    CHECK_STR(failed_field, field);
    if (!CHECK(strstr(failed_text, words)))
        printf("    %s\n", failed_text);
    CHECK_INT(flight.total, before); /* nothing was started */
}

static void test_results_are_in_order_whatever_the_order_of_ends(void)
{
    static const char *const printed[] = { "0", "1", "2", "3" };
    call("/v1/batches",
         "{\"runs\":[{\"code\":\"a\",\"stdin\":\"0\"},{\"code\":\"bad\",\"stdin\":\"1\"},"
         "{\"code\":\"c\",\"stdin\":\"2\"},{\"code\":\"c\",\"stdin\":\"3\"}],\"parallel\":3}",
         NULL, LAST_IN_FIRST_OUT);
    CHECK_INT(status, 200);
    CHECK_INT(flight.most, 3);
    for (size_t i = 0; i < 4; i++)
        CHECK_STR(result_text(i, "stdout"), printed[i]);
    const char *id = json_string_value(json_object_get(answer, "id"));
    CHECK(id && strncmp(id, "bat_", 4) == 0);
    CHECK_STR(result_text(3, "batch_id"), id);
    check_summary("{\"total\":4,\"ok\":3,\"failed\":1,\"passed\":0,\"unchecked\":0,\"cancelled\":0,"
                  "\"skipped\":0}");
}

static void test_first_failure_cancels_and_skips_the_rest(void)
{
    for (int at_once = 0; at_once < 2; at_once++) {
        flight.cancels_at_once = at_once;
        batch("{\"runs\":[{\"code\":\"bad\"},{\"code\":\"b\"},{\"code\":\"c\"},{\"code\":\"d\"},"
              "{\"code\":\"e\"}],\"parallel\":3,\"stop_on_failure\":true}");
        CHECK_STR(result_text(0, "verdict"), "runtime_error");
        CHECK_STR(result_text(2, "verdict"), "cancelled");
        CHECK_STR(result_text(4, "state"), "skipped");
        check_summary(
            "{\"total\":5,\"ok\":0,\"failed\":1,\"passed\":0,\"unchecked\":0,\"cancelled\":2,"
            "\"skipped\":2}");
    }
    flight.cancels_at_once = false;
}

static void test_outputs_are_held_against_what_was_expected(void)
{
    batch("{\"run\":{\"code\":\"a\"},\"inputs\":["
          "{\"stdin\":\"1\\n2 \\n\",\"expected\":\"1\\n2\",\"name\":\"same\"},"
          "{\"stdin\":\"1\\n2\\n\",\"expected\":\"1\\n3\"},{\"stdin\":\"x\"}]}");
    json_t *results = json_object_get(answer, "results");
    CHECK(json_is_true(json_object_get(json_array_get(results, 0), "passed")));
    CHECK_STR(result_text(0, "name"), "same");
    CHECK(json_is_false(json_object_get(json_array_get(results, 1), "passed")));
    CHECK(json_is_null(json_object_get(json_array_get(results, 2), "passed")));
    autofree char *difference = json_dumps(
        json_object_get(json_array_get(results, 1), "difference"), JSON_COMPACT);
    CHECK_STR(difference, "{\"line\":2,\"expected\":\"3\",\"got\":\"2\"}");
    check_summary("{\"total\":3,\"ok\":2,\"failed\":1,\"passed\":1,\"unchecked\":0,\"cancelled\":0,"
                  "\"skipped\":0}");
}

static void test_right_output_of_a_run_that_failed_has_not_passed(void)
{
    batch("{\"run\":{\"code\":\"bad\"},\"inputs\":[{\"stdin\":\"1\",\"expected\":\"1\"}]}");
    const json_t *result = json_array_get(json_object_get(answer, "results"), 0);
    CHECK(json_is_false(json_object_get(result, "passed")));
    CHECK(json_object_get(result, "difference") == NULL);
}

static bool streamed_begins(const char *text)
{
    return strncmp(buf_str(&streamed), text, strlen(text)) == 0;
}

static void test_streams_tell_each_result_and_the_summary_last(void)
{
    static const char body[] = "{\"runs\":[{\"code\":\"a\"},{\"code\":\"bad\"},{\"code\":\"c\"}],"
                               "\"parallel\":1,\"stop_on_failure\":true,\"stream\":true}";
    batch(body);
    CHECK(streamed_begins("ndjson\n1 result {\"event\":\"result\",\"seq\":1,\"index\":0,"));
    CHECK(strstr(buf_str(&streamed),
                 "\n3 result {\"event\":\"result\",\"seq\":3,\"index\":2,\"result\":{\"index\":2,"
                 "\"state\":\"skipped\"}}\n4 done {\"event\":\"done\",\"seq\":4,\"id\":\"bat_"));
    call("/v1/batches", body, "text/event-stream", FIRST_IN_FIRST_OUT);
    CHECK(streamed_begins("sse\n"));
}

static void test_batch_goes_on_without_its_client_unless_told(void)
{
    unsigned before = flight.total;
    call("/v1/batches",
         "{\"runs\":[{\"code\":\"a\"},{\"code\":\"b\"},{\"code\":\"c\"}],\"parallel\":1}", NULL,
         CLIENT_LEAVES);
    CHECK_INT(flight.total - before, 3);
    for (int at_once = 0; at_once < 2; at_once++) {
        before = flight.total;
        flight.cancels_at_once = at_once;
        call("/v1/batches",
             "{\"runs\":[{\"code\":\"a\"},{\"code\":\"b\"},{\"code\":\"c\"}],\"parallel\":2,"
             "\"cancel_on_disconnect\":true}",
             NULL, CLIENT_LEAVES);
        CHECK_INT(flight.total - before, 2);
    }
    flight.cancels_at_once = false;
}

static void test_what_is_wrong_is_named_before_anything_starts(void)
{
    static const char *const path = "/v1/batches";
    check_refused(path, "{\"runs\":[{\"code\":\"a\"},{}]}", "runs[1].limits.memory",
                  "runs[1].limits.memory '5x' is not");
    check_refused(path,
                  "{\"runs\":[{\"code\":\"a\",\"wait\":true},{\"code\":\"b\",\"wait\":false}]}",
                  "runs[1].wait", "always waits");
    check_refused(path, "{\"runs\":[{\"code\":\"a\",\"stream\":true}]}", "runs[0].stream", "batch");
    check_refused(path, "{\"runs\":[{\"code\":\"a\",\"thread_id\":\"t\"}]}", "runs[0].thread_id",
                  "no session");
    check_refused(path, "{\"runs\":[]}", "runs", "1 to 20");
    check_refused(path, "{\"runs\":[{\"code\":\"a\"}],\"parallel\":9}", "parallel", "1 to 8");
    check_refused(path, "{\"run\":{\"code\":\"a\"}}", "inputs", "missing");
    check_refused(path, "{\"runs\":[{\"code\":\"a\"}],\"inputs\":[]}", "runs", "either");
    check_refused(path, "{}", "runs", "missing");
    check_refused(path, "{\"run\":{},\"inputs\":[{}]}", "run.limits.memory", "run.limits.memory");
}

static void test_more_runs_than_a_batch_may_have_are_refused(void)
{
    json_t *body = json_pack("{s:{s:s}, s:[]}", "run", "code", "a", "inputs");
    for (int i = 0; i < 20; i++)
        (void)json_array_append_new(json_object_get(body, "inputs"), json_object());
    autofree char *fits = json_dumps(body, 0);
    (void)json_array_append_new(json_object_get(body, "inputs"), json_object());
    autofree char *one_more = json_dumps(body, 0);
    json_decref(body);
    batch(fits);
    CHECK_INT(status, 200);
    CHECK_INT(flight.most, 4); /* half of the runs that are allowed at a time */
    const json_t *result = json_array_get(json_object_get(answer, "results"), 19);
    CHECK_INT(json_integer_value(json_object_get(result, "inline_max")), 64 << 10);
    check_refused("/v1/batches", one_more, "inputs", "up to 20");
}

static void test_run_that_cannot_start_is_told_in_its_place(void)
{
    flight.refuses = true;
    batch("{\"runs\":[{\"code\":\"a\"},{\"code\":\"b\"}],\"stop_on_failure\":true}");
    flight.refuses = false;
    CHECK_INT(status, 200);
    CHECK_STR(result_text(0, "error"), "no new runs");
    CHECK_STR(result_text(1, "state"), "skipped");
}

static void test_history_shows_a_batch_in_its_order(void)
{
    call("/v1/batches/{id}", "bat_known", NULL, FIRST_IN_FIRST_OUT);
    CHECK(status == 200 && json_is_true(json_object_get(answer, "finished")));
    CHECK_STR(result_text(0, "id"), "run_old");
    CHECK_STR(result_text(1, "id"), "run_new");
    scopes = SCOPE_BIT(SCOPE_RUN); /* and of another key than the batch */
    call("/v1/batches/{id}", "bat_known", NULL, FIRST_IN_FIRST_OUT);
    scopes = 0;
    CHECK_INT(status, 404);
    call("/v1/batches/{id}", "bat_never", NULL, FIRST_IN_FIRST_OUT);
    CHECK_INT(status, 404);
    call("/v1/batches/{id}", "bat_longer-than-any-id-that-there-is", NULL, FIRST_IN_FIRST_OUT);
    CHECK_INT(status, 404);
}

static void test_variants_are_compared_on_every_input(void)
{
    call("/v1/comparisons",
         "{\"variants\":[{\"name\":\"a\",\"code\":\"a\"},{\"code\":\"b\"},{\"name\":\"c\",\"code\":"
         "\"bad\"}],"
         "\"inputs\":[{\"stdin\":\"1\"},{\"stdin\":\"2\",\"name\":\"two\"}],\"parallel\":2}",
         NULL, LAST_IN_FIRST_OUT);
    CHECK_INT(status, 200);
    autofree char *agreement = json_dumps(json_object_get(answer, "agreement"), JSON_COMPACT);
    CHECK_STR(agreement, "[{\"input\":\"input-1\",\"same_output\":false,\"groups\":[[\"a\","
                         "\"variant-2\"],[\"c\"]]},{\"input\":\"two\",\"same_output\":false,"
                         "\"groups\":[[\"a\",\"variant-2\"],[\"c\"]]}]");
    const json_t *c = json_array_get(json_object_get(answer, "variants"), 2);
    const json_t *run = json_array_get(json_object_get(c, "runs"), 1);
    CHECK_STR(json_string_value(json_object_get(run, "verdict")), "runtime_error");
    CHECK_STR(json_string_value(json_object_get(run, "stdout")), "2");
    const json_t *fastest = json_array_get(json_object_get(answer, "fastest"), 0);
    CHECK_STR(json_string_value(json_object_get(fastest, "variant")), "a");
}

static void test_comparison_needs_one_name_for_each_variant(void)
{
    static const char *const path = "/v1/comparisons";
    call(path, "{\"variants\":[{\"code\":\"a\"},{\"code\":\"b\"}]}", NULL, FIRST_IN_FIRST_OUT);
    const json_t *row = json_array_get(json_object_get(answer, "agreement"), 0);
    CHECK(json_is_true(json_object_get(row, "same_output")));
    check_refused(
        path, "{\"variants\":[{\"name\":\"a\",\"code\":\"a\"},{\"name\":\"a\",\"code\":\"b\"}]}",
        "variants[1].name", "'a'");
    check_refused(path, "{\"variants\":[{\"code\":\"a\"},{}]}", "variants[1].limits.memory", "5x");
    check_refused(path, "{\"variants\":[{\"code\":\"a\"}],\"inputs\":[]}", "inputs", "none");
}

static void test_streamed_comparison_shows_outputs_once(void)
{
    call("/v1/comparisons",
         "{\"variants\":[{\"code\":\"a\"}],\"inputs\":[{\"stdin\":\"seen\"}],\"stream\":true}",
         NULL, FIRST_IN_FIRST_OUT);
    const char *first = strstr(buf_str(&streamed), "seen");
    CHECK(first && !strstr(first + 1, "seen"));
    CHECK(strstr(buf_str(&streamed), "\"agreement\":[{"));
    json_decref(answer);
    answer = NULL;
    buf_done(&streamed);
}

static const struct check_test tests[] = {
    TEST(test_results_are_in_order_whatever_the_order_of_ends),
    TEST(test_first_failure_cancels_and_skips_the_rest),
    TEST(test_outputs_are_held_against_what_was_expected),
    TEST(test_right_output_of_a_run_that_failed_has_not_passed),
    TEST(test_streams_tell_each_result_and_the_summary_last),
    TEST(test_batch_goes_on_without_its_client_unless_told),
    TEST(test_what_is_wrong_is_named_before_anything_starts),
    TEST(test_more_runs_than_a_batch_may_have_are_refused),
    TEST(test_run_that_cannot_start_is_told_in_its_place),
    TEST(test_history_shows_a_batch_in_its_order),
    TEST(test_variants_are_compared_on_every_input),
    TEST(test_comparison_needs_one_name_for_each_variant),
    TEST(test_streamed_comparison_shows_outputs_once),
};
CHECK_MAIN(tests)
