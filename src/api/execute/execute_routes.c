/* / and /execute: the interface of the sandbox of the NeMo Agent Toolkit. Its clients expect these
 * sentences and this order of checks. The faults of the original (lost output, hanging workers) do
 * not occur in a jar. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/execute/execute_request.h"
#include "api/execute/execute_sessions.h"
#include "api/execute/workspace.h"
#include "api/kernel/reply.h"
#include "api/runs/run_result.h"
#include "api/runs/run_spec.h"
#include "api/runs/submit.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "spec/bundle.h"

#define PROGRAM ".generated_code"

struct execution {
    struct run_watch watch;
    uv_work_t work;
    struct api_call *call;
    struct api *api;
    struct run *run;
    struct run_spec spec; /* until it is submitted */
    bool has_spec;
    char program[64];
    int top_fd; /* -1: none. A copy: the thread may outlive the api when the service stops */
    char directory[KEY_NAME_MAX + KEY_ID_SIZE + 2]; /* of the key; "": the top */
    int dir_fd;
    json_t *body; /* of a request that may name a session; NULL once that is known */
    bool needs_session, cuts;
    uint64_t max_characters;
    struct workspace_list given;
    struct buf out, err, problems;
    struct err failed; /* in a thread of the pool */
};

static void execution_free(struct execution *ex)
{
    if (ex->has_spec)
        run_spec_done(&ex->spec);
    json_decref(ex->body);
    workspace_list_done(&ex->given);
    fd_close(&ex->dir_fd);
    buf_done(&ex->out);
    buf_done(&ex->err);
    buf_done(&ex->problems);
    free(ex);
}

static void fail_run(struct execution *ex, const struct err *e)
{
    api_fail(ex->call, e, NULL);
    execution_free(ex);
}

/* ---- the answer ---- */

static int add_line(struct buf *b, const char *line, struct err *e)
{
    if (b->len > 0 && b->data[b->len - 1] != '\n' && buf_add(b, "\n", 1, e))
        return -1;
    return buf_add(b, line, strlen(line), e);
}

/* A sentence for stderr about the end of the program. The answer has a field for a timeout. */
static int add_sentence(struct buf *b, const struct result *r, struct err *e)
{
    char line[400];
    if (!run_end_sentence(r, line, sizeof line))
        return 0;
    return add_line(b, line, e) || buf_add(b, "\n", 1, e) ? -1 : 0;
}

/* Python prints no traceback for code that it cannot parse; clients expect one. */
static bool lacks_traceback(const struct buf *err)
{
    static const char *const kinds[] = { "SyntaxError: ", "IndentationError: ", "TabError: " };
    const char *text = buf_str(err);
    if (strncmp(text, "  File \"", 8) != 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const char *at = strstr(text, kinds[i]);
        if (at && at > text && at[-1] == '\n')
            return true;
    }
    return false;
}

static int collect(const struct run *x, enum journal_kind kind, struct buf *b, struct err *e)
{
    scoped(buf) raw = { 0 };
    if (journal_collect(&x->journal, kind, UINT64_MAX, &raw, e))
        return -1;
    return text_add_utf8(b, buf_str(&raw), raw.len, e);
}

static bool timed_out(const struct run *x)
{
    return x->result.verdict == VERDICT_TIMEOUT || x->result.verdict == VERDICT_CPU_TIMEOUT;
}

static int make_stderr(struct execution *ex, struct err *e)
{
    const struct run *x = ex->run;
    scoped(buf) text = { 0 };
    if (timed_out(x))
        return buf_addf(&ex->err, e, "Timed out\n%s", buf_str(&ex->problems));
    if (collect(x, JOURNAL_STDERR, &text, e))
        return -1;
    bool python = strcmp(x->spec.language->name, "python") == 0;
    if (python && x->result.verdict == VERDICT_RUNTIME_ERROR && lacks_traceback(&text) &&
        buf_addf(&ex->err, e, "Traceback (most recent call last):\n"))
        return -1;
    if (buf_add(&ex->err, text.data, text.len, e) || add_sentence(&ex->err, &x->result, e))
        return -1;
    return ex->problems.len ? add_line(&ex->err, ex->problems.data, e) : 0;
}

/* Whether every file of the jar came back. A program that ran returns all, unless a bound was
 * reached or a directory could not be read; both appear as a file that was not fetched. */
static bool list_is_whole(const struct run *x)
{
    struct bundle_entry entry;
    struct err e;
    bool more = true;
    if (x->result.started_at_ms == 0 || x->result.verdict == VERDICT_INTERNAL_ERROR ||
        x->result.verdict == VERDICT_REJECTED)
        return false;
    for (size_t pos = 0;;) {
        if (bundle_next(&x->files, &pos, &entry, &more, &e))
            return false;
        if (!more)
            return true;
        if (entry.head.status == OUTPUT_TOO_LARGE || entry.head.status == OUTPUT_REFUSED)
            return false;
    }
}

/* In a thread of the pool. The run is over, and only read. */
static void finish_work(uv_work_t *work)
{
    struct execution *ex = work->data;
    const struct run *x = ex->run;
    struct err *e = &ex->failed;
    struct err lost;
    if (ex->dir_fd >= 0 && workspace_update(ex->dir_fd, ex->program, &x->files, list_is_whole(x),
                                            &ex->given, &ex->problems, &lost)) {
        buf_done(&ex->problems);
        if (buf_addf(&ex->problems, e, "The working directory was not kept: %s\n", lost.text))
            return;
    }
    if (collect(x, JOURNAL_STDOUT, &ex->out, e) || make_stderr(ex, e))
        return;
    if (ex->cuts && execute_cut(&ex->out, ex->max_characters, e) == 0)
        (void)!execute_cut(&ex->err, ex->max_characters, e);
}

static json_t *reply_object(const char *status, const struct buf *out, const struct buf *err)
{
    return json_pack("{s:s, s:o, s:o}", "process_status", status, "stdout",
                     json_stringn(buf_str(out), out->len), "stderr",
                     json_stringn(buf_str(err), err->len));
}

static void finish_done(uv_work_t *work, int status)
{
    struct execution *ex = work->data;
    struct run *x = ex->run;
    enum verdict v = x->result.verdict;
    const char *word = v == VERDICT_OK ? "completed" : timed_out(x) ? "timeout" : "error";
    if (status && ex->failed.code == ERR_NONE)
        (void)!err_set(&ex->failed, ERR_UNAVAILABLE, 0, "the service is stopping");
    if (x->record_err.code != ERR_NONE) /* a run that is not in the history has no result */
        ex->failed = x->record_err;
    if (ex->problems.len)
        log_event(LOG_WARN, "execute.workspace", "id=%s problems=\"files were not kept\"", x->id);
    run_watch_remove(x, &ex->watch);
    if (ex->failed.code != ERR_NONE) {
        fail_run(ex, &ex->failed);
        return;
    }
    api_reply(ex->call, v == VERDICT_INTERNAL_ERROR ? 500 : 200,
              reply_object(word, &ex->out, &ex->err));
    execution_free(ex);
}

static void on_run_event(struct run_watch *w, struct run *x, enum run_event event)
{
    struct execution *ex = (struct execution *)w;
    (void)x;
    if (event == RUN_EVENT_DONE)
        (void)uv_queue_work(ex->api->loop, &ex->work, finish_work, finish_done);
}

/* ---- the run ---- */
static void submit(struct execution *ex)
{
    struct err e;
    ex->has_spec = false;
    if (api_submit(ex->api, &ex->spec, NULL, 0, &ex->watch, &ex->run, &e))
        fail_run(ex, &e);
}

static void pack_work(uv_work_t *work)
{
    struct execution *ex = work->data;
    const char *directory = ex->directory[0] ? ex->directory : NULL;
    if (workspace_open(ex->top_fd, directory, &ex->dir_fd, &ex->failed) == 0)
        (void)!workspace_pack(ex->dir_fd, ex->program, ex->spec.limits.v[LIMIT_DISK],
                              &ex->spec.bundle, &ex->given, &ex->failed);
}

static void pack_done(uv_work_t *work, int status)
{
    struct execution *ex = work->data;
    if ((status || ex->api->draining) && ex->failed.code == ERR_NONE)
        (void)!err_set(&ex->failed, ERR_UNAVAILABLE, 0, "the service is stopping");
    if (ex->failed.code != ERR_NONE)
        fail_run(ex, &ex->failed);
    else
        submit(ex);
}

/* ---- the request ---- */

static json_t *limits_object(const struct settings *s, const struct execute_request *q)
{
    const struct limit_def *memory = &limit_defs[LIMIT_MEMORY];
    uint64_t bytes = s->execute_memory, most = s->limit_max.v[LIMIT_MEMORY];
    json_t *limits = run_wall_limit(NULL, q->wall_ms);
    if (bytes == 0)
        return limits;
    bytes = bytes < memory->min ? memory->min : bytes < most ? bytes : most;
    (void)json_object_set_new(limits, memory->key, json_integer((json_int_t)bytes));
    return limits;
}

/* The same request for POST /v1/runs. */
static json_t *run_object(const struct execution *ex, const struct api *here,
                          const struct execute_request *q)
{
    const struct buf *code = &q->payload.code;
    json_t *o = json_pack("{s:s, s:{s:o}, s:s, s:o}", "language", q->language->name, "files",
                          ex->program, json_stringn(buf_str(code), code->len), "entry", ex->program,
                          "limits", limits_object(here->settings, q));
    if (o && here->workspace_fd >= 0)
        (void)json_object_set_new(o, "outputs", json_pack("[s]", RUN_OUTPUT_TREE));
    if (o && q->std_input)
        (void)json_object_set(o, "stdin", (json_t *)q->std_input);
    return o;
}

static int make_spec(struct execution *ex, const struct api *here, const struct execute_request *q,
                     struct err *e)
{
    char field[128] = "";
    json_t *o = run_object(ex, here, q);
    if (!o)
        return err_no_memory(e, "the request");
    int failed = api_validate(o, run_fields, false, field, sizeof field, e) ||
                 run_spec_from_json(here, &ex->call->who, o, "nemo", &ex->spec, field, sizeof field,
                                    e);
    json_decref(o);
    ex->has_spec = !failed;
    /* Half: a program also needs room for files that it does not keep. */
    uint64_t max = here->settings->execute_max_bytes;
    ex->given.max_bytes = max ? max : ex->spec.limits.v[LIMIT_DISK] / 2;
    ex->spec.files_not_in_history = true; /* in the directory, so not in the history */
    return failed ? -1 : 0;
}

static struct execution *execution_new(struct api_call *c, const struct api *here,
                                       const struct execute_request *q)
{
    struct execution *ex = calloc(1, sizeof *ex);
    if (!ex)
        return NULL;
    ex->call = c;
    ex->api = c->api;
    ex->top_fd = c->api->workspace_fd;
    ex->dir_fd = -1;
    /* The name is for people, the id makes it the directory of this key alone. */
    if (c->who.key && !here->settings->execute_shared)
        (void)snprintf(ex->directory, sizeof ex->directory, "%s.%s", c->who.key, c->who.owner);
    ex->watch.on_event = on_run_event;
    ex->work.data = ex;
    ex->needs_session = q->needs_session;
    ex->cuts = q->cuts;
    ex->max_characters = q->max_characters;
    /* A name that no file of the directory is likely to have, and that listings skip. */
    (void)snprintf(ex->program, sizeof ex->program, PROGRAM "%s", q->language->extensions[0]);
    return ex;
}

/* Everything that the bytes of the body decide; of the api only `here` is read. */
static int make_execution(struct api_call *c, const struct api *here, const struct buf *bytes,
                          struct execution **ret, struct err *e)
{
    json_t *body = NULL;
    scoped(execute_request) q = { 0 };
    struct execution *ex = NULL;
    int failed = execute_read_body(bytes, &body, e) || execute_read_request(here, body, &q, e);
    if (!failed && !(ex = execution_new(c, here, &q)))
        failed = err_no_memory(e, "the request");
    failed = failed || make_spec(ex, here, &q, e);
    if (failed) {
        json_decref(body);
        if (ex)
            execution_free(ex);
        return -1;
    }
    ex->body = body;
    *ret = ex;
    return 0;
}

static void prepared_free(void *prepared)
{
    execution_free(prepared);
}

/* In a thread, for a large body. The header that may name a session is not at hand there. */
static int prepare_execution(struct api_call *c, const struct api *here, const struct buf *bytes,
                             char *field, size_t size, struct err *e)
{
    struct execution *ex = NULL;
    (void)field;
    (void)size;
    if (make_execution(c, here, bytes, &ex, e))
        return -1;
    c->prepared = ex;
    c->prepared_free = prepared_free;
    return 0;
}

/* The body that a thread has parsed; NULL: none has. A new reference. */
static json_t *prepared_body(const struct api_call *c)
{
    const struct execution *ex = c->prepared;
    return ex ? json_incref(ex->body) : NULL;
}

static int take_execution(struct api_call *c, struct execution **ret, struct err *e)
{
    const struct http_request *q = &c->http->request;
    char field[128] = "";
    bool prepared = c->prepared;
    if (execute_check_type(q, e) ||
        (!prepared && prepare_execution(c, c->api, &q->body, field, sizeof field, e)))
        return -1;
    struct execution *ex = c->prepared; /* the end of the call frees it */
    if (ex->needs_session)
        return err_set(e, ERR_BAD_REQUEST, 0, "X-Session-ID header required for ipython sessions");
    if (prepared && run_spec_check_here(c->api, NULL, &ex->spec, field, sizeof field, e))
        return -1;
    json_decref(ex->body);
    ex->body = NULL;
    c->prepared = NULL;
    *ret = ex;
    return 0;
}

static void execute(struct api_call *c)
{
    struct err e = { 0 };
    struct execution *ex = NULL;
    if (execute_session_id(c)) {
        execute_in_session(c, prepared_body(c));
        return;
    }
    if (take_execution(c, &ex, &e)) {
        api_fail(c, &e, NULL);
        return;
    }
    if (c->api->workspace_fd < 0)
        submit(ex);
    else
        (void)uv_queue_work(c->api->loop, &ex->work, pack_work, pack_done);
}

/* A browser that opens the address of the service gets the console. */
static void status(struct api_call *c)
{
    const char *accept = http_request_header(&c->http->request, "Accept");
    http_answer_header(c->http, "Vary", "Accept");
    if (accept && strcasestr(accept, "text/html")) {
        http_answer_header(c->http, "Location", "/console/");
        api_reply_text(c, 302, "text/plain", "", 0);
        return;
    }
    api_reply(c, 200, json_pack("{s:s}", "status", "ok"));
}

static const struct api_field status_reply[] = {
    { "status", FIELD_STRING, ALWAYS, .help = "ok" },
    { .schema = "Status" },
};

const struct api_route execute_routes[] = {
    { METHOD_GET, "/", SCOPE_NONE, STYLE_NEMO, .handle = status, .summary = "The service answers",
      .replies = REPLIES({ 200, .fields = status_reply },
                         { 302, .help = "the console, for a client that accepts text/html" }) },
    { METHOD_POST, "/execute", SCOPE_RUN, STYLE_NEMO, .flags = ROUTE_RAW,
      .prepare = prepare_execution, .handle = execute,
      .summary = "Run code in the directory of the caller (NeMo Agent Toolkit)",
      .replies = REPLIES({ 200, .fields = execute_reply }) },
    { 0 },
};
