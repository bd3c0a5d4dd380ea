/* Port 49999 of a sandbox: code in contexts, with its output as lines of JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/doors/e2b/e2b.h"
#include "api/runs/stream.h"
#include "api/sessions/cell_submit.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"
#include "base/text.h"
#include "run/json.h"
#include "run/result.h"
#include "session/events.h"

enum { KEEP_ALIVE_MS = 5000 };
static const char default_context[] = "default";

/* ---- events ---- */

struct execution {
    struct run_watch watch;
    struct api_call *call;
    struct run *x;
    struct journal_reader at;
    struct journal_record record;
    struct buf carry[JOURNAL_STREAMS]; /* the first bytes of an incomplete character */
    struct event_reader reader;
    bool over, pumping, told_error, told_count;
    uv_timer_t keep_alive;
};

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void execution_end(struct execution *s)
{
    struct api_call *c = s->call;
    run_watch_remove(s->x, &s->watch);
    buf_done(&s->record.bytes);
    event_reader_done(&s->reader);
    for (int i = 0; i < JOURNAL_STREAMS; i++)
        buf_done(&s->carry[i]);
    uv_close((uv_handle_t *)&s->keep_alive, on_timer_closed);
    api_stream_end(c);
}

/* ASCII only: clients decode each piece by itself. Takes over the reference. */
static void send_line(struct api_call *c, json_t *event)
{
    scoped(buf) line = { 0 };
    struct err e;
    char *text = event ? json_dumps(event, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_DIGITS) : NULL;
    if (text && buf_addf(&line, &e, "%s\n", text) == 0)
        api_stream_write(c, line.data, line.len);
    free(text);
    json_decref(event);
}

static void send_text(struct execution *s, enum journal_kind kind, const char *bytes, size_t n)
{
    scoped(buf) text = { 0 };
    struct err e;
    if (text_add_utf8(&text, bytes, n, &e))
        return;
    json_t *o = json_pack("{s:s, s:o, s:o}", "type", kind == JOURNAL_STDOUT ? "stdout" : "stderr",
                          "text", json_stringn_nocheck(buf_str(&text), text.len), "timestamp",
                          result_time((uint64_t)clock_unix_ms()));
    send_line(s->call, o);
}

static void take_output(struct execution *s)
{
    struct buf *carry = &s->carry[s->record.kind];
    struct err e;
    if (buf_add(carry, s->record.bytes.data, s->record.bytes.len, &e))
        return;
    size_t whole = text_whole(carry->data, carry->len);
    if (whole > 0)
        send_text(s, s->record.kind, carry->data, whole);
    memmove(carry->data, carry->data + whole, carry->len - whole);
    carry->len -= whole;
}

/* The names of the SDK for types of data. Others keep their type, and are `extra` in the SDK. */
static const char *name_of_type(const char *mime)
{
    static const struct {
        const char *mime, *name;
    } rows[] = {
        { "text/plain", "text" },
        { "text/html", "html" },
        { "text/markdown", "markdown" },
        { "image/svg+xml", "svg" },
        { "image/png", "png" },
        { "image/jpeg", "jpeg" },
        { "application/pdf", "pdf" },
        { "text/latex", "latex" },
        { "application/json", "json" },
        { "application/javascript", "javascript" },
        { "application/vnd.e2b.data.v1+json", "data" },
        { "application/vnd.e2b.chart.v1+json", "chart" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcasecmp(rows[i].mime, mime) == 0)
            return rows[i].name;
    return mime;
}

static void send_count(struct execution *s, json_int_t count)
{
    if (count <= 0 || s->told_count)
        return;
    s->told_count = true;
    send_line(s->call,
              json_pack("{s:s, s:I}", "type", "number_of_executions", "execution_count", count));
}

static void send_result(struct execution *s, const json_t *event, bool is_main)
{
    const char *mime;
    json_t *value, *o = json_pack("{s:s, s:b}", "type", "result", "is_main_result", is_main);
    if (is_main)
        send_count(s, json_integer_value(json_object_get(event, "execution_count")));
    json_object_foreach(json_object_get(event, "data"), mime, value)
        (void)json_object_set(o, name_of_type(mime), value);
    send_line(s->call, o);
}

static void send_error(struct execution *s, const char *name, const json_t *value,
                       const json_t *traceback)
{
    const char *message = json_string_value(value), *trace = json_string_value(traceback);
    s->told_error = true;
    send_line(s->call, json_pack("{s:s, s:s, s:s, s:s}", "type", "error", "name", name, "value",
                                 message ? message : "", "traceback", trace ? trace : ""));
}

static void take_frame(struct execution *s)
{
    json_auto_t *event = event_reader_next(&s->reader, &s->record.bytes);
    const char *name = json_string_value(json_object_get(event, "event"));
    if (!name)
        return;
    if (strcmp(name, "result") == 0)
        send_result(s, event, true);
    else if (strcmp(name, "display") == 0 || strcmp(name, "update_display") == 0)
        send_result(s, event, false);
    else if (strcmp(name, "error") == 0)
        send_error(s, json_string_value(json_object_get(event, "name")),
                   json_object_get(event, "message"), json_object_get(event, "traceback"));
}

/* The reason for an end that the program could not tell. */
static void send_reason(struct execution *s)
{
    const json_t *result = s->x->result_json, *notes = json_object_get(result, "notes");
    const json_t *reason = json_object_get(result, "error");
    const char *verdict = json_string_value(json_object_get(result, "verdict"));
    if (s->x->record_err.code != ERR_NONE) {
        json_auto_t *text = json_string(ERR_SHOWN(&s->x->record_err));
        send_error(s, "InternalError", text, NULL);
        return;
    }
    if (!verdict || strcmp(verdict, "ok") == 0 || s->told_error)
        return;
    if (json_string_length(reason) == 0)
        reason = json_array_get(notes, 0);
    send_error(s, verdict, reason, NULL);
}

/* The last frame of a cell has its number. */
static json_int_t count_of(const struct event_reader *reader)
{
    struct frame_field f;
    char text[16] = "";
    if (reader->message.type != FRAME_DONE ||
        !frame_find_field(&reader->message.data, TAG_COUNT, &f) || f.n >= sizeof text)
        return 0;
    memcpy(text, f.bytes, f.n);
    return strtoll(text, NULL, 10);
}

static void send_end(struct execution *s)
{
    for (int i = 0; i < JOURNAL_STREAMS; i++)
        if (s->carry[i].len > 0)
            send_text(s, (enum journal_kind)i, s->carry[i].data, s->carry[i].len);
    send_reason(s);
    send_count(s, count_of(&s->reader));
    send_line(s->call, json_pack("{s:s}", "type", "end_of_execution"));
}

static void pump(struct execution *s)
{
    bool more = true;
    struct err e = { 0 };
    if (s->pumping) /* a write can call on_gone() or on_drain() */
        return;
    s->pumping = true;
    while (s->call->http && api_stream_queued(s->call) < STREAM_QUEUED) {
        if (journal_next(&s->x->journal, &s->at, &s->record, &more, &e)) {
            log_error(LOG_ERROR, "stream.failed", &e);
            s->over = true;
            more = false;
        }
        if (!more)
            break;
        if (s->record.kind == JOURNAL_FRAME)
            take_frame(s);
        else if (s->record.kind == JOURNAL_STDOUT || s->record.kind == JOURNAL_STDERR)
            take_output(s);
    }
    s->pumping = false;
    if (!s->call->http) {
        run_cancel(s->x);
        execution_end(s);
    } else if (!more && s->over) {
        send_end(s);
        execution_end(s);
    }
}

static void on_run_event(struct run_watch *w, struct run *x, enum run_event event)
{
    struct execution *s = (struct execution *)w;
    (void)x;
    s->over = s->over || event == RUN_EVENT_DONE;
    pump(s);
}

static void on_drain(struct api_call *c)
{
    pump(c->user);
}

/* The client left: its code is interrupted. */
static void on_gone(struct api_call *c)
{
    struct execution *s = c->user;
    if (s->pumping)
        return; /* pump() will see it */
    run_cancel(s->x);
    execution_end(s);
}

static void on_half_close(struct api_call *c)
{
    const struct execution *s = c->user;
    run_cancel(s->x);
}

static void on_keep_alive(uv_timer_t *timer)
{
    const struct execution *s = timer->data;
    if (s->call->http && api_stream_queued(s->call) == 0)
        send_line(s->call, json_pack("{s:s}", "type", "keepalive"));
}

static void follow(struct execution *s)
{
    struct api_call *c = s->call;
    c->user = s;
    c->on_gone = on_gone;
    c->on_drain = on_drain;
    c->on_half_close = on_half_close;
    (void)uv_timer_init(c->api->loop, &s->keep_alive);
    s->keep_alive.data = s;
    (void)uv_timer_start(&s->keep_alive, on_keep_alive, KEEP_ALIVE_MS, KEEP_ALIVE_MS);
    api_stream_begin(c, "application/json");
    run_watch_add(s->x, &s->watch);
    pump(s);
}

/* ---- contexts ---- */

static json_t *context_find(const struct session *s, const char *id)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(e2b_facts(s), "contexts"), i, one)
        if (strcmp(json_string_value(json_object_get(one, "id")), id) == 0)
            return one;
    return NULL;
}

static json_t *context_json(const char *id, const char *cwd)
{
    return json_pack("{s:s, s:s, s:s}", "id", id, "language", "python", "cwd", cwd);
}

/* The name of a context in the program: after a restart another one, with no variables. */
static void context_name(const char *id, json_int_t restarts, char *out, size_t size)
{
    if (restarts == 0 && strcmp(id, default_context) == 0)
        out[0] = '\0';
    else
        (void)snprintf(out, size, "%s.%lld", id, (long long)restarts);
}

static bool is_python(const char *language)
{
    static const char *const words[] = { "python", "python3", "py" };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcasecmp(words[i], language) == 0)
            return true;
    return false;
}

static int check_language(const char *language, struct err *e)
{
    return !language || is_python(language)
               ? 0
               : err_set(e, ERR_BAD_REQUEST, 0,
                         "language '%s' is not served: contexts of a sandbox run python; run other "
                         "programs with commands.run()",
                         QUOTED(language));
}

/* ---- POST /execute ---- */

static const struct api_field execute_fields[] = {
    { "code", FIELD_DATA, .required = true },
    { "context_id", FIELD_STRING, .max = 200 },
    { "language", FIELD_STRING, .max = 64 },
    { "env_vars", FIELD_STRING_MAP, .max = 500 },
    { 0 },
};

/* Options for the program; NULL: it needs none. */
static json_t *options_of(const struct session *s, const char *id, const json_t *env)
{
    char name[240];
    const json_t *known = context_find(s, id);
    const char *cwd = json_string_value(json_object_get(known, "cwd"));
    context_name(id, json_integer_value(json_object_get(known, "restarts")), name, sizeof name);
    json_t *o = json_pack("{s:s, s:s?, s:b}", "context", name, "cwd", cwd, "charts", 1);
    json_t *drop = json_object_get(e2b_facts(s), "dropped");
    if (env)
        json_put(o, "env", json_deep_copy(env));
    if (json_array_size(drop) > 0) {
        json_put(o, "drop", json_deep_copy(drop));
        (void)json_array_clear(drop);
    }
    return o;
}

static int check_execute(const struct api_call *c, const struct session *s, const char *id,
                         struct err *e)
{
    const char *language = api_text(c, "language");
    if (language && api_text(c, "context_id"))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "context_id and language are both given: one of them is accepted");
    if (check_language(language, e))
        return -1;
    if (strcmp(id, default_context) != 0 && !context_find(s, id))
        return err_set(e, ERR_NOT_FOUND, 0, "Context %s not found", QUOTED(id));
    return 0;
}

static void post_execute(struct api_call *c)
{
    struct err e = { 0 };
    char field[128] = "";
    struct session *s = e2b_data(c);
    if (!s)
        return;
    const char *id = api_text(c, "context_id");
    const json_t *env = json_object_get(c->body, "env_vars");
    if (check_execute(c, s, id ? id : default_context, &e)) {
        api_fail(c, &e, NULL);
        return;
    }
    struct execution *x = calloc(1, sizeof *x);
    json_auto_t *options = options_of(s, id ? id : default_context, env);
    struct cell_request request = { .code = json_object_get(c->body, "code"),
                                    .wall_ms = s->spec.cell_limits.v[LIMIT_WALL_MS],
                                    .env = env,
                                    .options = options,
                                    .reads_stdin = true };
    if (!x || session_check_branch(s, &e) ||
        cell_submit(c, s, &request, &x->x, field, sizeof field, &e)) {
        if (!x)
            (void)!err_no_memory(&e, "an execution");
        free(x);
        api_fail(c, &e, NULL);
        return;
    }
    x->call = c;
    x->watch.on_event = on_run_event;
    follow(x);
}

/* ---- /contexts ---- */

static const struct api_field context_fields[] = {
    { "language", FIELD_STRING, .max = 64 },
    { "cwd", FIELD_STRING, .max = 1000 },
    { 0 },
};

/* A client knows the home of E2B's sandboxes. */
static void real_cwd(const char *given, char *out, size_t size)
{
    static const char home[] = "/home/user";
    size_t n = sizeof home - 1;
    bool at_home = strncmp(given, home, n) == 0 && (given[n] == '\0' || given[n] == '/');
    (void)snprintf(out, size, "%s%s", at_home ? "/sandbox" : "", at_home ? given + n : given);
}

static void post_context(struct api_call *c)
{
    struct err e = { 0 };
    char id[ID_SIZE], cwd[1100];
    struct session *s = e2b_data(c);
    if (!s)
        return;
    json_t *list = json_object_get(e2b_facts(s), "contexts");
    const char *given = api_text(c, "cwd");
    if (check_language(api_text(c, "language"), &e) == 0 &&
        json_array_size(list) >= E2B_CONTEXTS_MAX - 1)
        (void)!err_set(&e, ERR_BAD_REQUEST, 0, "a sandbox has at most %d contexts: remove one",
                       E2B_CONTEXTS_MAX - 1);
    if (e.code != ERR_NONE) {
        api_fail(c, &e, NULL);
        return;
    }
    id_make("ctx_", id);
    real_cwd(given ? given : "/home/user", cwd, sizeof cwd);
    json_t *one = context_json(id, cwd);
    json_put(one, "restarts", json_integer(0));
    (void)json_array_append_new(list, one);
    e2b_facts_changed(s);
    api_reply(c, 200, context_json(id, given ? given : "/home/user"));
}

static void get_contexts(struct api_call *c)
{
    struct session *s = e2b_data(c);
    size_t i;
    json_t *one;
    if (!s)
        return;
    json_t *list = json_array();
    if (!context_find(s, default_context))
        (void)json_array_append_new(list, context_json(default_context, "/home/user"));
    json_array_foreach(json_object_get(e2b_facts(s), "contexts"), i, one)
        (void)json_array_append_new(list,
                                    context_json(json_string_value(json_object_get(one, "id")),
                                                 json_string_value(json_object_get(one, "cwd"))));
    api_reply(c, 200, list);
}

/* The program forgets the variables of a context with its next cell. False: the call was answered. */
static bool drop_variables(struct api_call *c, struct session *s, const json_t *one)
{
    char name[240];
    json_t *facts = e2b_facts(s);
    if (!json_object_get(facts, "dropped"))
        json_put(facts, "dropped", json_array());
    json_t *dropped = json_object_get(facts, "dropped");
    if (json_array_size(dropped) >= E2B_DROPPED_MAX) {
        e2b_fail(c, 429, "resource_exhausted",
                 "too many contexts were restarted or removed since the last cell: run one first");
        return false;
    }
    context_name(c->params[1], json_integer_value(json_object_get(one, "restarts")), name,
                 sizeof name);
    (void)json_array_append_new(dropped, json_string(name));
    return true;
}

static void answer_no_context(struct api_call *c)
{
    char message[160];
    (void)snprintf(message, sizeof message, "Context %s not found", QUOTED(c->params[1]));
    e2b_fail(c, 404, "not_found", message);
}

static void delete_context(struct api_call *c)
{
    struct session *s = e2b_data(c);
    if (!s)
        return;
    const json_t *one = context_find(s, c->params[1]);
    json_t *list = json_object_get(e2b_facts(s), "contexts");
    if (!one) {
        answer_no_context(c);
        return;
    }
    if (!drop_variables(c, s, one))
        return;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_array_get(list, i) == one) {
            (void)json_array_remove(list, i);
            break;
        }
    e2b_facts_changed(s);
    api_reply_text(c, 204, "application/json", "", 0);
}

static void restart_context(struct api_call *c)
{
    struct session *s = e2b_data(c);
    if (!s)
        return;
    json_t *one = context_find(s, c->params[1]);
    if (!one && strcmp(c->params[1], default_context) == 0) {
        one = context_json(default_context, "/sandbox");
        json_put(one, "restarts", json_integer(0));
        (void)json_array_insert_new(json_object_get(e2b_facts(s), "contexts"), 0, one);
    }
    if (!one) {
        answer_no_context(c);
        return;
    }
    if (!drop_variables(c, s, one))
        return;
    json_put(one, "restarts",
             json_integer(json_integer_value(json_object_get(one, "restarts")) + 1));
    e2b_facts_changed(s);
    api_reply_text(c, 204, "application/json", "", 0);
}

const struct api_route e2b_code_routes[] = {
    { METHOD_POST, "/execute", SCOPE_RUN, STYLE_E2B, .flags = ROUTE_LENIENT, .body = execute_fields,
      .handle = post_execute, .summary = "Run code in a sandbox" },
    { METHOD_POST, "/contexts", SCOPE_RUN, STYLE_E2B, .flags = ROUTE_LENIENT | ROUTE_BODY_OPTIONAL,
      .body = context_fields, .handle = post_context, .summary = "Create a context" },
    { METHOD_GET, "/contexts", SCOPE_RUN, STYLE_E2B, .flags = ROUTE_LENIENT, .handle = get_contexts,
      .summary = "The contexts of a sandbox" },
    { METHOD_DELETE, "/contexts/{context}", SCOPE_RUN, STYLE_E2B, .flags = ROUTE_LENIENT,
      .handle = delete_context, .summary = "Remove a context" },
    { METHOD_POST, "/contexts/{context}/restart", SCOPE_RUN, STYLE_E2B, .flags = ROUTE_LENIENT,
      .handle = restart_context, .summary = "Restart a context" },
    { 0 },
};
