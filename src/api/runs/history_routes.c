#include "api/runs/history_routes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/job.h"
#include "api/runs/debug_report.h"
#include "api/runs/run_result.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"
#include "run/json.h"
#include "spec/bundle.h"

bool history_is_own(const struct api_call *c, const char *key, int64_t created_ms)
{
    return c->who.key && key && strcmp(c->who.key, key) == 0 && created_ms >= c->who.since_ms;
}

bool history_may_see(const struct api_call *c, const char *key, int64_t created_ms)
{
    if (c->who.scopes & (SCOPE_BIT(SCOPE_READ) | SCOPE_BIT(SCOPE_ADMIN)))
        return true;
    return (c->who.scopes & SCOPE_BIT(SCOPE_RUN)) && history_is_own(c, key, created_ms);
}

/* ---- one run ---- */

struct run_lookup {
    struct api_job job;
    char id[API_PARAM_SIZE];
    unsigned with;
    struct run_record row;
    void (*found)(struct run_lookup *l);
    enum stream_format format; /* for events */
    uint64_t after;
    enum journal_kind kind; /* for a stream */
};

static int lookup_work(struct db *db, struct store_job *job, struct err *e)
{
    struct run_lookup *l = (struct run_lookup *)job;
    return runs_get(db, l->id, l->with, &l->row, e);
}

static void fail_no_such_run(struct api_call *c)
{
    struct err e = { 0 };
    (void)!err_set(&e, ERR_NOT_FOUND, 0,
                   "there is no run '%s' (GET /v1/runs lists them; old ones are removed)",
                   QUOTED(c->params[0]));
    api_fail(c, &e, NULL);
}

static void lookup_done(struct store_job *job)
{
    struct run_lookup *l = (struct run_lookup *)job;
    if (job->err.code == ERR_NOT_FOUND ||
        (job->err.code == ERR_NONE && !history_may_see(l->job.call, l->row.key, l->row.created_ms)))
        fail_no_such_run(l->job.call);
    else if (job->err.code != ERR_NONE)
        api_fail(l->job.call, &job->err, NULL);
    else
        l->found(l);
    run_record_done(&l->row);
    free(l);
}

static struct run_lookup *lookup_new(struct api_call *c, unsigned with,
                                     void (*found)(struct run_lookup *l))
{
    struct run_lookup *l = api_job_new(c, sizeof *l, lookup_work, lookup_done);
    if (!l)
        return NULL;
    l->with = with;
    l->found = found;
    (void)snprintf(l->id, sizeof l->id, "%s", c->params[0]);
    return l;
}

static void look_up(struct api_call *c, unsigned with, void (*found)(struct run_lookup *l))
{
    struct run_lookup *l = lookup_new(c, with, found);
    if (l)
        api_job_read(&l->job);
}

int history_open_journal(const struct api_call *c, const struct run_record *r, struct journal *j,
                         struct err *e)
{
    return journal_open(j, r->journal_in_file ? NULL : &r->journal, c->api->output_dir_fd, r->id,
                        e);
}

static int open_journal(struct run_lookup *l, struct journal *j, struct err *e)
{
    return history_open_journal(l->job.call, &l->row, j, e);
}

/* A run without a result. */
static json_t *unfinished_object(const struct run_record *r)
{
    json_t *o = run_row_object(r);
    if (r->state == RUN_INTERRUPTED)
        json_put(o, "error", json_string("the service died during this run; send it again"));
    return o;
}

json_t *history_result(const struct run_record *r)
{
    json_t *o = r->result ? json_loads(r->result, JSON_ALLOW_NUL, NULL) : NULL;
    return o ? o : unfinished_object(r);
}

static void answer_run(struct run_lookup *l)
{
    struct journal j;
    struct err e = { 0 };
    json_t *o = l->row.result ? json_loads(l->row.result, JSON_ALLOW_NUL, NULL) : NULL;
    if (!o) {
        api_reply(l->job.call, 200, unfinished_object(&l->row));
        return;
    }
    if (open_journal(l, &j, &e)) {
        json_decref(o);
        api_fail(l->job.call, &e, NULL);
    } else {
        result_add_journal(o, &j, RUN_INLINE_MAX);
        api_reply(l->job.call, 200, o);
    }
    journal_done(&j);
}

void history_get_run(struct api_call *c)
{
    look_up(c, RUN_WITH_JOURNAL, answer_run);
}

static void answer_request(struct run_lookup *l)
{
    const struct run_record *r = &l->row;
    json_t *request = r->request ? json_loads(r->request, JSON_ALLOW_NUL, NULL) : NULL;
    api_reply(l->job.call, 200,
              json_pack("{s:s, s:s?, s:s?, s:o}", "id", r->id, "language", r->language, "code",
                        r->code, "request", request ? request : json_null()));
}

void history_get_request(struct api_call *c)
{
    look_up(c, RUN_WITHOUT_BLOBS, answer_request);
}

static void answer_debug_report(struct run_lookup *l)
{
    struct journal j;
    struct err e = { 0 };
    json_t *o = l->row.result ? json_loads(l->row.result, JSON_ALLOW_NUL, NULL) : NULL;
    if (!o) {
        json_t *known = unfinished_object(&l->row);
        api_reply(l->job.call, 200, debug_report(known));
        json_decref(known);
        return;
    }
    if (open_journal(l, &j, &e)) {
        api_fail(l->job.call, &e, NULL);
    } else {
        result_add_journal(o, &j, RUN_INLINE_MAX);
        api_reply(l->job.call, 200, debug_report(o));
    }
    json_decref(o);
    journal_done(&j);
}

void history_get_debug_report(struct api_call *c)
{
    look_up(c, RUN_WITH_JOURNAL, answer_debug_report);
}

static void answer_events(struct run_lookup *l)
{
    struct journal j;
    struct err e = { 0 };
    json_t *o = history_result(&l->row);
    if (open_journal(l, &j, &e)) {
        json_decref(o);
        journal_done(&j);
        api_fail(l->job.call, &e, NULL);
        return;
    }
    /* Without 204, an EventSource that has the last event would reconnect for ever. */
    if (l->after >= stream_last(&j)) {
        json_decref(o);
        journal_done(&j);
        api_reply_text(l->job.call, 204, NULL, "", 0);
        return;
    }
    stream_replay(l->job.call, &j, o, l->format, l->after);
}

void history_get_events(struct api_call *c, enum stream_format format, uint64_t after)
{
    struct run_lookup *l = lookup_new(c, RUN_WITH_JOURNAL, answer_events);
    if (!l)
        return;
    l->format = format;
    l->after = after;
    api_job_read(&l->job);
}

static void answer_stream(struct run_lookup *l)
{
    struct journal j;
    struct err e = { 0 };
    if (open_journal(l, &j, &e)) {
        journal_done(&j);
        api_fail(l->job.call, &e, NULL);
        return;
    }
    stream_raw(l->job.call, NULL, &j, l->kind);
}

void history_get_stream(struct api_call *c, enum journal_kind kind)
{
    struct run *x = engine_find(c->api->engine, c->params[0]);
    if (x && history_may_see(c, x->spec.key, x->queued_at_ms)) {
        stream_raw(c, x, NULL, kind);
        return;
    }
    struct run_lookup *l = lookup_new(c, RUN_WITH_JOURNAL, answer_stream);
    if (!l)
        return;
    l->kind = kind;
    api_job_read(&l->job);
}

static void answer_over(struct run_lookup *l)
{
    struct err e = { 0 };
    if (l->row.state == RUN_WAITING)
        (void)!err_set(&e, ERR_CONFLICT, 0,
                       "run '%s' waits for an approval: POST /v1/approvals/{id} can reject it",
                       l->row.id);
    else
        (void)!err_set(
            &e, ERR_CONFLICT, 0,
            "run '%s' is over (%s), so it cannot be changed: GET /v1/runs/{id} has its result",
            l->row.id, l->row.verdict ? l->row.verdict : run_state_word(l->row.state));
    api_fail(l->job.call, &e, NULL);
}

void history_answer_over(struct api_call *c)
{
    look_up(c, RUN_WITHOUT_BLOBS, answer_over);
}

/* ---- files ---- */

static void answer_files(struct run_lookup *l)
{
    api_reply(l->job.call, 200,
              json_pack("{s:s, s:o}", "id", l->row.id, "files", result_files(&l->row.files)));
}

void history_list_files(struct api_call *c)
{
    look_up(c, RUN_WITH_FILES, answer_files);
}

static void answer_file(struct run_lookup *l)
{
    const char *name = l->job.call->params[1];
    struct bundle_entry entry;
    struct err e = { 0 };
    char quoted[96];
    bool more = true;
    text_quote(name, quoted, sizeof quoted);
    for (size_t pos = 0; bundle_next_output(&l->row.files, &pos, &entry, &more, &e) == 0 && more;) {
        if (entry.head.name_len != strlen(name) || memcmp(entry.name, name, strlen(name)) != 0)
            continue;
        enum output_status status = (enum output_status)entry.head.status;
        if (status == OUTPUT_OK) {
            api_reply_text(l->job.call, 200, "application/octet-stream", entry.bytes,
                           (size_t)entry.head.size);
            return;
        }
        (void)!err_set(&e, ERR_NOT_FOUND, 0, "file '%s' was not fetched: %s", quoted,
                       output_status_why(status));
        api_fail(l->job.call, &e, NULL);
        return;
    }
    (void)!err_set(&e, ERR_NOT_FOUND, 0,
                   "there is no file '%s': a run has only the outputs that its request named",
                   quoted);
    api_fail(l->job.call, &e, NULL);
}

void history_get_file(struct api_call *c)
{
    look_up(c, RUN_WITH_FILES, answer_file);
}

/* ---- the list ---- */

enum { FILTERS = 8, FILTER_SIZE = 512 };

struct run_listing {
    struct api_job job;
    enum run_state current; /* only runs in this state: queued or running; or RUN_STATE_COUNT_ */
    struct run_query query;
    struct run_records rows;
    char values[FILTERS][FILTER_SIZE];
};

static int list_work(struct db *db, struct store_job *job, struct err *e)
{
    struct run_listing *l = (struct run_listing *)job;
    return runs_list(db, &l->query, &l->rows, e);
}

static void list_done(struct store_job *job)
{
    struct run_listing *l = (struct run_listing *)job;
    if (job->err.code != ERR_NONE) {
        api_fail(l->job.call, &job->err, NULL);
    } else {
        json_t *runs = json_array();
        for (size_t i = 0; i < l->rows.n; i++) {
            struct run_record *r = &l->rows.rows[i];
            const struct run *x = engine_find(l->job.call->api->engine, r->id);
            if (x) { /* the engine knows the current state, the row does not */
                r->state = x->state;
                r->started_ms = x->started_at_ms;
            }
            if (l->current == RUN_STATE_COUNT_ || l->current == r->state)
                (void)json_array_append_new(runs, run_row_object(r));
        }
        char cursor[32];
        (void)snprintf(cursor, sizeof cursor, "%" PRId64, l->rows.next_before_seq);
        api_reply(l->job.call, 200,
                  json_pack("{s:o, s:s?}", "runs", runs, "next_cursor",
                            l->rows.next_before_seq ? cursor : NULL));
    }
    run_records_done(&l->rows);
    free(l);
}

static int fill_query(struct run_listing *l, const char **ret_field, struct err *e)
{
    struct run_query *q = &l->query;
    const struct {
        const char *name;
        const char **to;
    } texts[FILTERS] = { { "language", &q->language }, { "verdict", &q->verdict },
                         { "state", &q->state },       { "session", &q->thread },
                         { "artifact", &q->artifact }, { "batch", &q->batch },
                         { "key", &q->key },           { "q", &q->q } };
    const struct {
        const char *name;
        int64_t *to;
    } times[] = { { "since", &q->since_ms }, { "until", &q->until_ms } };
    char text[64];
    const char *value;
    for (int i = 0; i < FILTERS; i++) {
        *ret_field = texts[i].name;
        if (api_query(l->job.call, texts[i].name, l->values[i], FILTER_SIZE, texts[i].to, e))
            return -1;
    }
    for (int i = 0; i < 2; i++) {
        *ret_field = times[i].name;
        if (api_query(l->job.call, times[i].name, text, sizeof text, &value, e) ||
            (value && api_moment(times[i].name, value, clock_unix_ms(), times[i].to, e)))
            return -1;
    }
    int64_t limit = 50;
    *ret_field = "limit";
    if (api_query_number(l->job.call, "limit", 1, 1000, &limit, e))
        return -1;
    q->limit = (unsigned)limit;
    *ret_field = "cursor";
    if (api_query_number(l->job.call, "cursor", 1, INT64_MAX, &q->before_seq, e))
        return -1;
    return 0;
}

/* A language by any of its names. Verdicts and states must exist: a misspelt one would silently
 * find no run. */
static int check_words(struct run_listing *l, const char **ret_field, struct err *e)
{
    struct run_query *q = &l->query;
    *ret_field = "language";
    const struct language *lang = q->language ? language_find(q->language) : NULL;
    if (q->language && !lang)
        return language_refuse(q->language, e);
    if (lang)
        q->language = lang->name;
    enum verdict verdict;
    *ret_field = "verdict";
    if (q->verdict && verdict_parse(q->verdict, &verdict))
        return err_set(e, ERR_BAD_REQUEST, 0, "verdict '%s' is unknown: one of %s is accepted",
                       QUOTED(q->verdict), verdict_list);
    enum run_state state = RUN_STATE_COUNT_;
    *ret_field = "state";
    if (q->state && run_state_parse(q->state, &state, e))
        return -1;
    l->current = state == RUN_QUEUED || state == RUN_RUNNING ? state : RUN_STATE_COUNT_;
    return 0;
}

void history_list_runs(struct api_call *c)
{
    struct err e = { 0 };
    const char *field = NULL;
    struct run_listing *l = api_job_new(c, sizeof *l, list_work, list_done);
    if (!l)
        return;
    if (fill_query(l, &field, &e) || check_words(l, &field, &e)) {
        free(l);
        api_fail(c, &e, field);
        return;
    }
    if (!(c->who.scopes & SCOPE_BIT(SCOPE_READ))) { /* scope `run` alone: only its own runs */
        l->query.key = c->who.key ? c->who.key : "";
        l->query.key_since_ms = c->who.since_ms;
    }
    if (l->current != RUN_STATE_COUNT_) { /* the state of a row is "queued" until its run is over */
        l->query.state = run_state_word(RUN_QUEUED);
        l->query.limit = 1000;
    }
    api_job_read(&l->job);
}
