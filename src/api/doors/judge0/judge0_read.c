/* GET /submissions/...: submissions that exist, from the engine and from the history. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/doors/judge0/judge0.h"
#include "api/kernel/job.h"
#include "api/runs/history_routes.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/text.h"
#include "run/json.h"

enum { BATCH_MAX = 20, PAGE = 20, PAGE_MAX = 100, WALK_MAX = 100000, GAP_MS = 30000 };

struct found {
    char id[ID_SIZE];
    bool is_there;
    struct run_record row;  /* of the first run */
    struct run_record last; /* of the last one, if there are several; id NULL: there is none */
    double time_sum, memory_sum;
    unsigned n; /* runs that are finished */
};

struct reading {
    struct api_job job;
    bool base64, is_list;
    judge0_fields fields;
    size_t n;
    struct found items[PAGE_MAX];
    /* of a list */
    size_t page, per_page, total;
};

static void reading_free(struct reading *r)
{
    for (size_t i = 0; i < r->n; i++) {
        run_record_done(&r->items[i].row);
        run_record_done(&r->items[i].last);
    }
    free(r);
}

/* ---- in a thread of the store ---- */

static json_int_t number_of_runs(const struct run_record *row)
{
    json_auto_t *request = row->request ? json_loads(row->request, JSON_ALLOW_NUL, NULL) : NULL;
    return json_integer_value(json_object_get(
        json_object_get(json_object_get(request, "metadata"), "judge0"), "number_of_runs"));
}

static void count_run(struct found *f, const struct run_record *row)
{
    if (row->state != RUN_FINISHED)
        return;
    f->time_sum += (double)row->cpu_us / 1e6;
    f->memory_sum += (double)row->memory_peak / 1024;
    f->n++;
}

/* The other runs of a submission have its token as their batch, the newest first. */
static int get_others(struct db *db, struct found *f, struct err *e)
{
    struct run_records rows = { 0 };
    const struct run_query q = { .batch = f->id, .surface = "judge0", .limit = 100 };
    if (number_of_runs(&f->row) < 2)
        return 0;
    count_run(f, &f->row);
    if (runs_list(db, &q, &rows, e))
        return -1;
    for (size_t i = 0; i < rows.n; i++)
        count_run(f, &rows.rows[i]);
    int failed = rows.n > 0 &&
                 runs_get(db, rows.rows[0].id, RUN_WITH_JOURNAL | RUN_WITH_FILES, &f->last, e);
    run_records_done(&rows);
    return failed;
}

static int get_one(struct db *db, struct found *f, struct err *e)
{
    struct err missing = { 0 };
    if (runs_get(db, f->id, RUN_WITH_JOURNAL | RUN_WITH_FILES, &f->row, &missing)) {
        if (missing.code == ERR_NOT_FOUND)
            return 0;
        *e = missing;
        return -1;
    }
    f->is_there = f->row.surface && strcmp(f->row.surface, "judge0") == 0 && !f->row.batch;
    return f->is_there ? get_others(db, f, e) : 0;
}

/* Pages have numbers here, and the history has cursors: so it is walked from its end. */
static int walk(struct db *db, struct reading *r, struct err *e)
{
    struct run_query q = { .surface = "judge0", .limit = 1000 };
    size_t first = (r->page - 1) * r->per_page;
    do {
        struct run_records rows = { 0 };
        if (runs_list(db, &q, &rows, e))
            return -1;
        for (size_t i = 0; i < rows.n; i++) {
            if (rows.rows[i].batch)
                continue;
            if (r->total >= first && r->n < r->per_page)
                (void)snprintf(r->items[r->n++].id, ID_SIZE, "%s", rows.rows[i].id);
            r->total++;
        }
        q.before_seq = rows.next_before_seq;
        run_records_done(&rows);
    } while (q.before_seq && r->total < WALK_MAX);
    return 0;
}

static int read_work(struct db *db, struct store_job *job, struct err *e)
{
    struct reading *r = (struct reading *)job;
    if (r->is_list && walk(db, r, e))
        return -1;
    for (size_t i = 0; i < r->n; i++)
        if (get_one(db, &r->items[i], e))
            return -1;
    return 0;
}

/* ---- on the loop ---- */

/* Between two runs of a submission there is none that the engine knows. */
static bool is_between(const struct found *f, const struct judge0_view *v)
{
    return f->n > 0 && (json_int_t)f->n < number_of_runs(&f->row) &&
           v->finished_ms + GAP_MS > clock_unix_ms() && judge0_status_of(v) == JUDGE0_ACCEPTED;
}

static json_t *render(const struct reading *r, struct found *f, bool *not_text)
{
    const struct api *api = r->job.call->api;
    struct run_record *row = f->last.id ? &f->last : &f->row;
    const struct run *x = engine_find(api->engine, row->id);
    json_auto_t *request = row->request ? json_loads(row->request, JSON_ALLOW_NUL, NULL) : NULL;
    json_auto_t *result = row->result && !x ? json_loads(row->result, JSON_ALLOW_NUL, NULL) : NULL;
    struct journal journal;
    struct err e = { 0 };
    bool mine;
    if (journal_open(&journal, row->journal_in_file ? NULL : &row->journal, api->output_dir_fd,
                     row->id, &e))
        return NULL;
    struct judge0_view v = { .id = f->id,
                             .state = row->state,
                             .request = request,
                             .result = result,
                             .journal = &journal,
                             .files = &row->files,
                             .created_ms = f->row.created_ms,
                             .started_ms = row->started_ms,
                             .finished_ms = row->finished_ms,
                             .time_s = f->n > 1 ? f->time_sum / f->n : -1,
                             .memory_kb = f->n > 1 ? f->memory_sum / f->n : -1,
                             .engine = api->engine };
    if (x) {
        v.state = x->state == RUN_FINISHED ? RUN_RUNNING : x->state;
        v.started_ms = x->started_at_ms;
    } else if (is_between(f, &v)) {
        v.state = RUN_RUNNING;
        v.result = NULL;
    }
    json_t *o = judge0_submission(&v, r->fields, r->base64, &mine);
    *not_text = *not_text || mine;
    journal_done(&journal);
    return o;
}

static bool may_see(const struct reading *r, const struct found *f)
{
    return f->is_there && history_may_see(r->job.call, f->row.key, f->row.created_ms);
}

static void fail(struct reading *r, enum err_code code, const char *text)
{
    struct err e = { 0 };
    (void)!err_set(&e, code, 0, "%s", text);
    api_fail(r->job.call, &e, NULL);
    reading_free(r);
}

static void answer_one(struct store_job *job)
{
    struct reading *r = (struct reading *)job;
    bool not_text = false;
    if (job->err.code != ERR_NONE) {
        api_fail(r->job.call, &job->err, NULL);
        reading_free(r);
        return;
    }
    if (!may_see(r, &r->items[0])) {
        fail(r, ERR_NOT_FOUND,
             "there is no submission with this token: it was never made, or is too old");
        return;
    }
    json_t *o = render(r, &r->items[0], &not_text);
    if (not_text) {
        json_decref(o);
        fail(r, ERR_BAD_REQUEST, judge0_not_text);
        return;
    }
    api_reply(r->job.call, 200, o);
    reading_free(r);
}

static json_t *meta_json(const struct reading *r)
{
    size_t pages = (r->total + r->per_page - 1) / r->per_page;
    json_t *o = json_pack("{s:I, s:n, s:n, s:I, s:I}", "current_page", (json_int_t)r->page,
                          "next_page", "prev_page", "total_pages", (json_int_t)pages, "total_count",
                          (json_int_t)r->total);
    if (r->page < pages)
        json_put(o, "next_page", json_integer((json_int_t)r->page + 1));
    if (r->page > 1)
        json_put(o, "prev_page", json_integer((json_int_t)r->page - 1));
    return o;
}

static void answer_many(struct store_job *job)
{
    struct reading *r = (struct reading *)job;
    bool not_text = false;
    if (job->err.code != ERR_NONE) {
        api_fail(r->job.call, &job->err, NULL);
        reading_free(r);
        return;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < r->n; i++)
        (void)json_array_append_new(
            list, may_see(r, &r->items[i]) ? render(r, &r->items[i], &not_text) : json_null());
    if (not_text) {
        json_decref(list);
        fail(r, ERR_BAD_REQUEST, judge0_some_not_text);
        return;
    }
    json_t *o = json_pack("{s:o}", "submissions", list);
    if (r->is_list)
        json_put(o, "meta", meta_json(r));
    api_reply(r->job.call, 200, o);
    reading_free(r);
}

static int read_query(struct reading *r, struct err *e)
{
    char text[1024];
    const char *value;
    if (api_query(r->job.call, "base64_encoded", text, sizeof text, &value, e))
        return -1;
    r->base64 = value && strcmp(value, "true") == 0;
    if (api_query(r->job.call, "fields", text, sizeof text, &value, e))
        return -1;
    return judge0_fields_read(value, &r->fields, e);
}

/* NULL: the call was answered. */
static struct reading *reading_new(struct api_call *c, void (*done)(struct store_job *job))
{
    struct err e = { 0 };
    struct reading *r = api_job_new(c, sizeof *r, read_work, done);
    if (!r || read_query(r, &e) == 0)
        return r;
    free(r);
    api_fail(c, &e, NULL);
    return NULL;
}

static void get_submission(struct api_call *c)
{
    struct reading *r = reading_new(c, answer_one);
    if (!r)
        return;
    r->n = 1;
    (void)snprintf(r->items[0].id, ID_SIZE, "%.*s", ID_SIZE - 1, c->params[0]);
    api_job_read(&r->job);
}

static int read_tokens(struct reading *r, const char *text, struct err *e)
{
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, ",");
        if (r->n == BATCH_MAX)
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "number of submissions in a batch should be less than or equal to %d",
                           BATCH_MAX);
        (void)snprintf(r->items[r->n++].id, ID_SIZE, "%.*s", (int)n, at);
        at += n + (at[n] == ',');
    }
    if (r->n == 0)
        return err_set(e, ERR_BAD_REQUEST, 0, "there should be at least one submission in a batch");
    return 0;
}

static void get_batch(struct api_call *c)
{
    struct err e = { 0 };
    char text[4096];
    const char *tokens = http_request_header(&c->http->request, "tokens");
    struct reading *r = reading_new(c, answer_many);
    if (!r)
        return;
    if ((!tokens && api_query(c, "tokens", text, sizeof text, &tokens, &e)) ||
        read_tokens(r, tokens ? tokens : "", &e)) {
        free(r);
        api_fail(c, &e, NULL);
        return;
    }
    api_job_read(&r->job);
}

static void list_submissions(struct api_call *c)
{
    struct err e = { 0 };
    int64_t page = 1, per_page = PAGE;
    struct reading *r = reading_new(c, answer_many);
    if (!r)
        return;
    if (api_query_number(c, "page", 1, WALK_MAX, &page, &e) ||
        api_query_number(c, "per_page", 1, PAGE_MAX, &per_page, &e)) {
        free(r);
        api_fail(c, &e, NULL);
        return;
    }
    r->is_list = true;
    r->page = (size_t)page;
    r->per_page = (size_t)per_page;
    api_job_read(&r->job);
}

/* Retention removes runs; the audit log refers to them until then. */
static void delete_submission(struct api_call *c)
{
    struct err e = { 0 };
    (void)!err_set(&e, ERR_BAD_REQUEST, 0, "delete not allowed");
    api_fail(c, &e, NULL);
}

static const struct api_field get_query[] = {
    { "base64_encoded", FIELD_STRING, .help = "true: texts are base64" },
    { "fields", FIELD_STRING, .help = "names with commas, or *" },
    { "tokens", FIELD_STRING, .help = "of a batch: tokens with commas" },
    { "page", FIELD_STRING, .help = "of a list: 1 is the newest" },
    { "per_page", FIELD_STRING, .help = "of a list: 20, up to 100" },
    { 0 },
};
static const struct api_field submission_reply[] = {
    { "token", FIELD_STRING, .help = "of the submission" },
    { "stdout", FIELD_STRING, .nullable = true, .help = "null if it is empty" },
    { "time", FIELD_STRING, .nullable = true, .help = "seconds of CPU time" },
    { "memory", FIELD_INT, .nullable = true, .help = "KB" },
    { "stderr", FIELD_STRING, .nullable = true, .help = "null if it is empty" },
    { "compile_output", FIELD_STRING, .nullable = true, .help = "of the compiler" },
    { "message", FIELD_STRING, .nullable = true, .help = "the reason of a failure" },
    { "status", FIELD_ANY, .help = "{id, description}" },
    { .schema = "Judge0Submission" },
};
static const struct api_field submissions_reply[] = {
    { "submissions", FIELD_OBJECTS, ALWAYS, .fields = submission_reply,
      .help = "null in place of an unknown one" },
    { "meta", FIELD_ANY, .help = "of a list: its pages" },
    { .schema = "Judge0Submissions" },
};

const struct api_route judge0_read_routes[] = {
    { METHOD_GET, "/submissions/{token}", SCOPE_ANY, STYLE_JUDGE0, .query = get_query,
      .flags = ROUTE_LENIENT, .handle = get_submission, .summary = "One submission (Judge0)",
      .replies = REPLIES({ 200, .fields = submission_reply }) },
    { METHOD_GET, "/submissions/batch", SCOPE_ANY, STYLE_JUDGE0, .query = get_query,
      .flags = ROUTE_LENIENT, .handle = get_batch, .summary = "Up to 20 submissions (Judge0)",
      .replies = REPLIES({ 200, .fields = submissions_reply }) },
    { METHOD_GET, "/submissions", SCOPE_ADMIN, STYLE_JUDGE0, .query = get_query,
      .flags = ROUTE_LENIENT, .handle = list_submissions, .summary = "All submissions (Judge0)",
      .replies = REPLIES({ 200, .fields = submissions_reply }) },
    { METHOD_DELETE, "/submissions/{token}", SCOPE_ADMIN, STYLE_JUDGE0, .query = get_query,
      .flags = ROUTE_LENIENT, .handle = delete_submission,
      .summary = "Refused: retention removes submissions (Judge0)",
      .replies = REPLIES({ 200, .fields = submission_reply }) },
    { 0 },
};
