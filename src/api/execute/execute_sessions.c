/* /execute with a session, /sessions and /health: the interface of the sandbox of NeMo-Skills. */
#include "api/execute/execute_sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/execute/execute_request.h"
#include "api/kernel/job.h"
#include "api/kernel/storage.h"
#include "api/runs/history_routes.h"
#include "api/sessions/cell_submit.h"
#include "api/sessions/session_find.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"
#include "session/events.h"

enum { SESSION_ID_MAX = 200, LIFE_S = 24 * 3600, CHARACTERS_MAX = 1000 };

/* ---- the session of an id ---- */

const char *execute_session_id(const struct api_call *c)
{
    return http_request_header(&c->http->request, "X-Session-ID");
}

static int check_id(const char *id, struct err *e)
{
    size_t n = strlen(id);
    bool fits = n > 0 && n <= SESSION_ID_MAX;
    for (size_t i = 0; fits && i < n; i++)
        fits = id[i] > ' ' && id[i] < 0x7F && id[i] != '/';
    return fits ? 0
                : err_set(e, ERR_BAD_REQUEST, 0,
                          "X-Session-ID '%s' is not accepted: give 1 to %d visible ASCII "
                          "characters without '/'",
                          QUOTED(id), SESSION_ID_MAX);
}

/* Callers without a key share their sessions, as they share the directory of /execute. */
static bool is_own(const struct api_call *c, const struct session *s)
{
    if (!s->spec.client_id)
        return false;
    return c->who.key ? history_is_own(c, s->spec.key, s->created_ms) : !s->spec.key;
}

static struct session *find_own(const struct api_call *c, const char *id)
{
    for (struct session *s = sessions_first(c->api->sessions); s; s = s->next)
        if (is_own(c, s) && strcmp(s->spec.client_id, id) == 0)
            return s;
    return NULL;
}

/* A cell may take as long as any request asks for; its own timeout bounds it. */
static json_t *session_body(const struct settings *settings, const struct language *language,
                            const char *id)
{
    const struct limit_def *memory = &limit_defs[LIMIT_MEMORY];
    uint64_t most = settings->limit_max.v[LIMIT_MEMORY], bytes = settings->execute_memory;
    json_t *o = json_pack("{s:s, s:s, s:i, s:{s:I}, s:{}}", "language", language->name, "name", id,
                          "ttl_s", LIFE_S, "cell_limits", limit_defs[LIMIT_WALL_MS].key,
                          (json_int_t)settings->limit_max.v[LIMIT_WALL_MS], "limits");
    if (o && bytes > 0) {
        bytes = bytes < memory->min ? memory->min : bytes < most ? bytes : most;
        json_put(json_object_get(o, "limits"), memory->key, json_integer((json_int_t)bytes));
    }
    return o;
}

static int create(struct api_call *c, const struct language *language, const char *id,
                  struct session **ret, struct err *e)
{
    char field[128] = "";
    scoped(session_spec) spec = { 0 };
    json_auto_t *body = session_body(c->api->settings, language, id);
    if (!body)
        return err_no_memory(e, "a session");
    if (session_spec_from_json(c, body, &spec, field, sizeof field, e) || storage_check(c->api, e))
        return -1;
    spec.client_id = strdup(id);
    if (!spec.client_id)
        return err_no_memory(e, "a session");
    return session_new(c->api->sessions, &spec, NULL, ret, e);
}

/* ---- the answer ---- */

struct session_execution {
    struct run_watch watch;
    uv_work_t work;
    struct api_call *call;
    struct api *api;
    struct run *run;
    bool is_new, minimal;
    uint64_t max_characters;
    char timeout[32]; /* as in the request */
    struct buf out, err;
    struct err failed; /* in a thread of the pool */
};

static void session_execution_free(struct session_execution *x)
{
    buf_done(&x->out);
    buf_done(&x->err);
    free(x);
}

/* A text on lines of its own. */
static int add_lines(struct buf *b, const char *text, size_t n, struct err *e)
{
    if (b->len > 0 && b->data[b->len - 1] != '\n' && buf_add(b, "\n", 1, e))
        return -1;
    return buf_add(b, text, n, e) || (n > 0 && text[n - 1] != '\n' && buf_add(b, "\n", 1, e)) ? -1
                                                                                              : 0;
}

/* The same of a JSON string, which may hold NUL. */
static int add_text(struct buf *b, const json_t *text, struct err *e)
{
    size_t n = json_string_length(text);
    return n > 0 ? add_lines(b, json_string_value(text), n, e) : 0;
}

static int add_error(struct session_execution *x, const json_t *event, struct err *e)
{
    const json_t *traceback = json_object_get(event, "traceback");
    const char *message = json_get_text(event, "message");
    if (!x->minimal && json_string_length(traceback) > 0)
        return add_text(&x->err, traceback, e);
    return buf_addf(&x->err, e, "%s%s%s\n", json_get_text(event, "name"), message[0] ? ": " : "",
                    message);
}

/* A value is shown as IPython shows it at a terminal: by its text. */
static int add_event(struct session_execution *x, const json_t *event, struct err *e)
{
    const char *name = json_get_text(event, "event");
    const json_t *shown = json_object_get(json_object_get(event, "data"), "text/plain");
    if (strcmp(name, "error") == 0)
        return add_error(x, event, e);
    if (strcmp(name, "result") == 0 || strcmp(name, "display") == 0)
        return add_text(&x->out, shown, e);
    return 0;
}

static int add_record(struct session_execution *x, struct event_reader *reader,
                      const struct journal_record *r, struct err *e)
{
    if (r->kind != JOURNAL_FRAME)
        return buf_add(r->kind == JOURNAL_STDOUT ? &x->out : &x->err, r->bytes.data, r->bytes.len,
                       e);
    json_auto_t *event = event_reader_next(reader, &r->bytes);
    return event ? add_event(x, event, e) : 0;
}

static int repair(struct buf *b, struct err *e)
{
    scoped(buf) text = { 0 };
    if (text_add_utf8(&text, buf_str(b), b->len, e))
        return -1;
    struct buf swapped = *b;
    *b = text;
    text = swapped;
    return 0;
}

/* In a thread of the pool. The run is over, and only read. */
static void collect_work(uv_work_t *work)
{
    struct session_execution *x = work->data;
    struct err *e = &x->failed;
    scoped(event_reader) reader = { 0 };
    struct journal_reader at = { 0 };
    struct journal_record r = { 0 };
    bool more = true;
    int rc = 0;
    while (rc == 0 && (rc = journal_next(&x->run->journal, &at, &r, &more, e)) == 0 && more)
        rc = add_record(x, &reader, &r, e);
    buf_done(&r.bytes);
    if (rc == 0 && repair(&x->out, e) == 0)
        (void)!repair(&x->err, e);
}

/* Everything that the program could not say itself. */
static int add_reasons(struct session_execution *x, struct err *e)
{
    const json_t *result = x->run->result_json, *notes = json_object_get(result, "notes");
    const json_t *reason = json_object_get(result, "error");
    bool lost = strcmp(json_get_text(result, "status"), "lost") == 0;
    size_t i;
    json_t *note;
    if (json_string_length(reason) > 0)
        return add_text(&x->err, reason, e);
    if (!lost && x->err.len > 0)
        return 0;
    json_array_foreach(notes, i, note) {
        if (add_text(&x->err, note, e))
            return -1;
    }
    return 0;
}

static int finish_texts(struct session_execution *x, const char *status, struct err *e)
{
    bool lost = strcmp(json_get_text(x->run->result_json, "status"), "lost") == 0;
    if (strcmp(status, "timeout") == 0) {
        x->err.len = 0;
        if (buf_addf(&x->err, e, "Execution timed out after %s seconds\n", x->timeout))
            return -1;
    }
    if ((lost || strcmp(status, "error") == 0) && add_reasons(x, e))
        return -1;
    return execute_cut(&x->out, x->max_characters, e) || execute_cut(&x->err, x->max_characters, e)
               ? -1
               : 0;
}

static const char *status_of(const struct run *x)
{
    enum verdict v = x->result.verdict;
    return v == VERDICT_OK                                    ? "completed"
           : v == VERDICT_TIMEOUT || v == VERDICT_CPU_TIMEOUT ? "timeout"
                                                              : "error";
}

static void collect_done(uv_work_t *work, int cancelled)
{
    struct session_execution *x = work->data;
    struct run *run = x->run;
    const char *status = status_of(run);
    if (cancelled && x->failed.code == ERR_NONE)
        (void)!err_set(&x->failed, ERR_UNAVAILABLE, 0, "the service is stopping");
    if (run->record_err.code != ERR_NONE) /* a cell that is not in the history has no result */
        x->failed = run->record_err;
    if (x->failed.code != ERR_NONE || finish_texts(x, status, &x->failed))
        api_fail(x->call, &x->failed, NULL);
    else
        api_reply(x->call, 200,
                  json_pack("{s:s, s:o, s:o, s:b}", "process_status", status, "stdout",
                            json_stringn(buf_str(&x->out), x->out.len), "stderr",
                            json_stringn(buf_str(&x->err), x->err.len), "new_session_created",
                            x->is_new));
    run_watch_remove(run, &x->watch);
    session_execution_free(x);
}

static void on_run_event(struct run_watch *w, struct run *run, enum run_event event)
{
    struct session_execution *x = (struct session_execution *)w;
    (void)run;
    if (event == RUN_EVENT_DONE)
        (void)uv_queue_work(x->api->loop, &x->work, collect_work, collect_done);
}

/* ---- the request ---- */

static int read_verbosity(const json_t *body, bool *ret_minimal, struct err *e)
{
    static const char *const words[] = { "Minimal", "Plain", "Context", "Verbose" };
    const json_t *given = json_object_get(body, "traceback_verbosity");
    const char *word = json_is_null(given) || !given ? "Plain" : json_string_value(given);
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(word, words[i]) == 0) {
            *ret_minimal = i == 0;
            return 0;
        }
    }
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "traceback_verbosity '%s' is not accepted: give Minimal, Plain, Context or "
                   "Verbose",
                   word ? QUOTED(word) : "(no text)");
}

static int find_or_create(struct api_call *c, const char *id, const struct language *language,
                          struct session **ret, bool *ret_new, struct err *e)
{
    struct session *s = find_own(c, id);
    *ret_new = !s;
    if (!s)
        return create(c, language, id, ret, e);
    if (s->spec.language != language)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "session '%s' runs %s: use another X-Session-ID for %s, or delete the "
                       "session first",
                       QUOTED(id), s->spec.language->name, language->name);
    *ret = s;
    return 0;
}

/* The answer follows when the cell is over. */
static int submit(struct session_execution *x, const char *id, const json_t *body,
                  struct execute_request *q, struct err *e)
{
    char field[128] = "";
    struct session *s;
    const struct buf *code = &q->payload.code;
    if (read_verbosity(body, &x->minimal, e) ||
        find_or_create(x->call, id, q->language, &s, &x->is_new, e))
        return -1;
    x->max_characters = q->cuts ? q->max_characters : CHARACTERS_MAX;
    char *timeout = json_dumps(q->timeout, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
    (void)snprintf(x->timeout, sizeof x->timeout, "%s", timeout ? timeout : "its number of");
    free(timeout);
    json_auto_t *text = json_stringn(buf_str(code), code->len);
    struct cell_request cell = { .code = text,
                                 .stdin_text = (json_t *)q->std_input,
                                 .wall_ms = q->wall_ms,
                                 .reads_stdin = true };
    if (!text)
        return err_set(e, ERR_BAD_REQUEST, 0, "generated_code is not UTF-8 text");
    if (cell_submit(x->call, s, &cell, &x->run, field, sizeof field, e))
        return -1;
    run_watch_add(x->run, &x->watch);
    return 0;
}

void execute_in_session(struct api_call *c, json_t *body)
{
    struct err e = { 0 };
    scoped(execute_request) q = { 0 };
    const char *id = execute_session_id(c);
    struct session_execution *x = calloc(1, sizeof *x);
    if (!x) {
        json_decref(body);
        api_fail_no_memory(c);
        return;
    }
    *x = (struct session_execution){ .watch.on_event = on_run_event, .call = c, .api = c->api };
    x->work.data = x;
    if (execute_check_type(&c->http->request, &e) || check_id(id, &e) ||
        (!body && execute_read_body(&c->http->request.body, &body, &e)) ||
        execute_read_request(c->api, body, &q, &e) || submit(x, id, body, &q, &e)) {
        session_execution_free(x);
        api_fail(c, &e, NULL);
    }
    json_decref(body);
}

/* ---- /sessions ---- */

static const char backend[] = "ipython";

static void list_sessions(struct api_call *c)
{
    json_t *list = json_object();
    for (const struct session *s = sessions_first(c->api->sessions); s; s = s->next)
        if (is_own(c, s))
            json_put(list, s->spec.client_id,
                     json_pack("{s:s, s:f, s:f, s:b}", "backend",
                               strcmp(s->spec.language->name, "python") == 0
                                   ? backend
                                   : s->spec.language->name,
                               "created", (double)s->created_ms / 1000, "last_used",
                               (double)s->used_ms / 1000, "alive", 1));
    api_reply(c, 200, json_pack("{s:o, s:s}", "sessions", list, "backend", backend));
}

static void delete_session(struct api_call *c)
{
    char text[SESSION_ID_MAX + 64], reason[KEY_NAME_MAX + 64];
    struct session *s = find_own(c, c->params[0]);
    if (!s) {
        (void)snprintf(text, sizeof text, "IPython session %.*s not found", SESSION_ID_MAX,
                       QUOTED(c->params[0]));
        api_reply(c, 404, json_pack("{s:s}", "error", text));
        return;
    }
    (void)snprintf(text, sizeof text, "IPython session %s deleted successfully", s->spec.client_id);
    (void)snprintf(reason, sizeof reason, "it was deleted by %s", c->who.name);
    session_end(s, reason);
    api_reply_after_writes(c, 200, json_pack("{s:s}", "message", text));
}

static void health(struct api_call *c)
{
    api_reply(c, 200, json_pack("{s:s}", "status", "healthy"));
}

static const struct api_field list_reply[] = {
    { "sessions", FIELD_ANY, ALWAYS,
      .help = "by the id of the client: backend, created and last_used (Unix time), alive" },
    { "backend", FIELD_STRING, ALWAYS, .help = "ipython" },
    { .schema = "ExecuteSessions" },
};
static const struct api_field delete_reply[] = {
    { "message", FIELD_STRING, ALWAYS, .help = "a sentence" },
    { .schema = "ExecuteSessionDeleted" },
};
static const struct api_field health_reply[] = {
    { "status", FIELD_STRING, ALWAYS, .help = "healthy" },
    { .schema = "Healthy" },
};

const struct api_route execute_session_routes[] = {
    { METHOD_GET, "/sessions", SCOPE_RUN, STYLE_NEMO, .handle = list_sessions,
      .summary = "The sessions of /execute of the caller",
      .replies = REPLIES({ 200, .fields = list_reply }) },
    { METHOD_DELETE, "/sessions/{id}", SCOPE_RUN, STYLE_NEMO, .handle = delete_session,
      .summary = "End a session of /execute", .replies = REPLIES({ 200, .fields = delete_reply }) },
    { METHOD_GET, "/health", SCOPE_NONE, STYLE_NEMO, .handle = health,
      .summary = "The service answers (NeMo-Skills)",
      .replies = REPLIES({ 200, .fields = health_reply }) },
    { 0 },
};
