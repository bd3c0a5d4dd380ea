#include "cli/jupyter/forwarder.h"

#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/jupyter/contents.h"
#include "cli/repl/asking.h"
#include "cli/repl/link.h"
#include "cli/service_choice.h"
#include "run/json.h"
#include "run/privileges.h"

/* A session expires IDLE_S after the last sign of life of its Jupyter kernel. The service may close
 * a connection that is idle for longer than PING_MS. */
enum { LIFE_S = 24 * 3600, IDLE_S = 600, ALIVE_PINGS = 24, PING_MS = 5000, CELLS_MAX = 1000 };

struct forwarder {
    const struct forwarder_job *job;
    char id[SESSION_ID_SIZE];
    json_int_t count; /* of the last cell */
    unsigned pings;
    uint64_t pinged_ms;
};

/* One cell. */
struct cell_view {
    bool silent, allow_stdin;
    bool captures; /* its display is kept and nothing is published */
    json_t *display, *error, *result;
    json_int_t count;   /* 0: not known */
    bool known;         /* the service has told of it */
    bool interrupt_due; /* before that */
};

static void cell_view_done(struct cell_view *v)
{
    json_decref(v->display);
    json_decref(v->error);
    json_decref(v->result);
}

static json_t *ask(struct forwarder *f, struct client *c, const char *method, const char *what,
                   json_t *body, struct err *e)
{
    return session_question(c, f->id, method, what, body, e);
}

/* Keeps the side connection open and, now and then, the session alive. A failure shows at the next
 * request. */
static void ping(struct forwarder *f)
{
    struct err e;
    f->pinged_ms = clock_ms();
    bool prolongs = ++f->pings % ALIVE_PINGS == 0;
    json_decref(ask(f, f->job->side, prolongs ? "PATCH" : "GET", "",
                    prolongs ? json_pack("{s:i}", "idle_s", IDLE_S) : NULL, &e));
}

/* ---- records for main ---- */

/* Takes over the content. */
static int tell(struct forwarder *f, enum link_type type, const char *word, json_t *content,
                struct err *e)
{
    scoped(buf) record = { 0 };
    autofree char *text = json_line(content);
    if (!text)
        return err_no_memory(e, "a message");
    if ((word && buf_addf(&record, e, "%s\n", word)) || buf_add(&record, text, strlen(text), e))
        return -1;
    return link_send(f->job->link_fd, type, record.data, record.len, e);
}

static int publish(struct forwarder *f, const char *type, json_t *content, struct err *e)
{
    return tell(f, TELL_PUBLISH, type, content, e);
}

static int reply(struct forwarder *f, const char *status, json_t *content, struct err *e)
{
    return tell(f, TELL_REPLY, status, content, e);
}

static json_t *failure(const struct err *why)
{
    json_t *content = content_of_failure("BelljarError", why->text, "");
    json_put(content, "status", json_string("error"));
    return content;
}

/* ---- the events of a cell ---- */

static int on_input_request(struct forwarder *f, const struct cell_view *v, const json_t *event,
                            struct err *e)
{
    struct err refused;
    if (!v->allow_stdin) {
        json_decref(ask(f, f->job->side, "POST", "/stdin", json_pack("{s:b}", "eof", 1), &refused));
        return 0;
    }
    const char *prompt = json_string_value(json_object_get(event, "prompt"));
    return tell(f, TELL_INPUT, NULL,
                json_pack("{s:s, s:b}", "prompt", prompt ? prompt : "", "password",
                          json_is_true(json_object_get(event, "password"))),
                e);
}

static void interrupt(struct forwarder *f)
{
    struct err refused;
    json_decref(ask(f, f->job->side, "POST", "/interrupt", json_object(), &refused));
}

/* An interrupt takes another connection than the cell, so that it may overtake the cell: it waits for
 * the first event. */
static void note_event(struct forwarder *f, struct cell_view *v, const char *name)
{
    v->known = true;
    if (v->interrupt_due && strcmp(name, "done") != 0)
        interrupt(f);
    v->interrupt_due = false;
}

static int on_event(struct forwarder *f, struct cell_view *v, json_t *event, struct err *e)
{
    const char *name = json_string_value(json_object_get(event, "event")), *type = NULL;
    if (name)
        note_event(f, v, name);
    if (name && strcmp(name, "input_request") == 0)
        return on_input_request(f, v, event, e);
    if (name && strcmp(name, "done") == 0) {
        json_decref(v->result);
        v->result = json_incref(json_object_get(event, "result"));
        return 0;
    }
    json_t *content = name ? content_of_event(event, &type) : NULL;
    if (!content)
        return 0;
    bool is_error = strcmp(type, "error") == 0;
    if (is_error) {
        json_decref(v->error);
        v->error = json_incref(content);
    }
    if (strcmp(type, "execute_result") == 0)
        v->count = json_integer_value(json_object_get(content, "execution_count"));
    if (!v->captures)
        return publish(f, type, content, e);
    if (strcmp(type, "display_data") == 0) {
        json_decref(v->display);
        v->display = json_incref(content);
    }
    json_decref(content);
    return 0;
}

static int take_lines(struct forwarder *f, struct cell_view *v, struct err *e)
{
    const char *line;
    size_t len;
    while (client_line(f->job->events, &line, &len)) {
        json_auto_t *event = json_loadb(line, len, JSON_ALLOW_NUL, NULL);
        if (event && on_event(f, v, event, e))
            return -1;
    }
    return 0;
}

/* A word of main while the cell runs. A refusal means that the cell is over already. */
static int on_main(struct forwarder *f, struct cell_view *v, struct err *e)
{
    enum link_type type;
    scoped(buf) text = { 0 };
    struct err refused;
    json_t *o = NULL;
    if (link_receive(f->job->link_fd, &type, &text, e))
        return -1;
    if (type == ASK_INTERRUPT && v->known)
        interrupt(f);
    else if (type == ASK_INTERRUPT)
        v->interrupt_due = true;
    else if (type == ASK_INPUT)
        o = ask(f, f->job->side, "POST", "/stdin",
                json_pack("{s:o}", "text", json_stringn(buf_str(&text), text.len)), &refused);
    json_decref(o);
    return 0;
}

/* Follows the events of the cell to its end. */
static int follow(struct forwarder *f, struct cell_view *v, struct err *e)
{
    struct client *c = f->job->events;
    while (!client_response(c)->complete) {
        struct pollfd polls[] = { { client_fd(c), client_events(c, true), 0 },
                                  { f->job->link_fd, POLLIN, 0 } };
        int ready = poll(polls, ARRAY_LEN(polls), PING_MS);
        if (clock_ms() - f->pinged_ms >= PING_MS)
            ping(f);
        if (ready <= 0)
            continue;
        if (polls[0].revents && client_ready(c, polls[0].revents, e))
            return -1;
        if (client_response(c)->status == 200 && take_lines(f, v, e))
            return -1;
        if (polls[1].revents && on_main(f, v, e))
            return -1;
    }
    return client_response(c)->status == 200 ? take_lines(f, v, e) : service_refusal(c, e);
}

static int run_cell(struct forwarder *f, const char *code, size_t len, struct cell_view *v,
                    struct err *e)
{
    json_auto_t *body = json_pack("{s:o, s:b, s:b, s:b}", "code", json_stringn(code, len), "stream",
                                  1, "cancel_on_disconnect", 1, "silent", v->silent);
    if (!client_reusable(f->job->events))
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "the connection to the service is lost, and the variables with it");
    if (session_send_cell(f->job->events, f->id, body, e) || follow(f, v, e))
        return -1;
    if (!v->error && (v->error = content_of_end(v->result)) && !v->captures)
        return publish(f, "error", json_incref(v->error), e);
    return 0;
}

/* ---- execute_request ---- */

/* Python has the words for it: the expression is displayed, and the display is kept. */
static int display_value(struct forwarder *f, const json_t *expression, struct cell_view *v,
                         struct err *e)
{
    scoped(buf) code = { 0 };
    autofree char *literal = json_dumps(expression, JSON_ENCODE_ANY);
    if (strcmp(f->job->language->name, "python") != 0)
        return err_set(e, ERR_BAD_REQUEST, 0, "sessions of %s have no user_expressions",
                       f->job->language->name);
    if (!literal)
        return err_no_memory(e, "an expression");
    if (buf_addf(&code, e, "__import__('IPython').display.display(eval(%s))", literal) ||
        run_cell(f, code.data, code.len, v, e))
        return -1;
    if (!v->error && !v->display)
        return err_set(e, ERR_UNAVAILABLE, 0, "the expression has no value");
    return 0;
}

static json_t *evaluate(struct forwarder *f, const json_t *expression)
{
    scoped(cell_view) v = { .silent = true, .captures = true };
    struct err e;
    if (display_value(f, expression, &v, &e))
        return failure(&e);
    json_t *o = json_incref(v.error ? v.error : v.display);
    json_put(o, "status", json_string(v.error ? "error" : "ok"));
    return o;
}

static json_t *evaluate_all(struct forwarder *f, const json_t *request)
{
    json_t *values = json_object(), *expression;
    const char *name;
    json_object_foreach(json_object_get(request, "user_expressions"), name, expression)
        if (json_is_string(expression))
            json_put(values, name, evaluate(f, expression));
    return values;
}

static bool flag(const json_t *request, const char *key, bool otherwise)
{
    const json_t *v = json_object_get(request, key);
    return json_is_boolean(v) ? json_is_true(v) : otherwise;
}

/* As with IPython, these words ask the client to close. */
static json_t *payload_of(const json_t *request)
{
    static const char *const words[] = { "exit", "exit()", "quit", "quit()" };
    autofree char *copy = text_copy(json_string_value(json_object_get(request, "code")));
    const char *code = copy ? text_trim(copy) : "";
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(code, words[i]) == 0)
            return json_pack("[{s:s, s:b}]", "source", "ask_exit", "keepkernel", 0);
    return json_array();
}

static int reply_executed(struct forwarder *f, const json_t *request, const struct cell_view *v,
                          struct err *e)
{
    json_t *content = v->error ? json_deep_copy(v->error) : json_object();
    const char *status = v->error ? "error" : "ok";
    json_put(content, "status", json_string(status));
    json_put(content, "execution_count", json_integer(f->count));
    json_put(content, "payload", payload_of(request));
    json_put(content, "user_expressions", v->error ? json_object() : evaluate_all(f, request));
    return reply(f, status, content, e);
}

/* A cell that the service refuses has an error, too. */
static int refuse_cell(struct forwarder *f, const struct err *why, struct err *e)
{
    struct err shown = *why;
    if (why->code == ERR_GONE || why->code == ERR_UNAVAILABLE)
        (void)err_set(&shown, why->code, 0, "%.190s; restart the Jupyter kernel", why->text);
    json_t *content = failure(&shown);
    if (publish(f, "error", json_incref(content), e)) {
        json_decref(content);
        return -1;
    }
    json_put(content, "execution_count", json_integer(f->count));
    return reply(f, "error", content, e);
}

static int execute(struct forwarder *f, const json_t *request, struct err *e)
{
    const json_t *code = json_object_get(request, "code");
    const char *text = json_string_value(code);
    scoped(cell_view) v = { .silent = flag(request, "silent", false),
                            .allow_stdin = flag(request, "allow_stdin", true) };
    struct err why = { 0 };
    if (!text)
        (void)err_set(&why, ERR_BAD_REQUEST, 0, "an execute_request has no code");
    if (!text)
        return refuse_cell(f, &why, e);
    if (strspn(text, " \t\r\n") == json_string_length(code))
        return reply_executed(f, request, &v, e);
    json_int_t before = f->count;
    if (!v.silent && publish(f, "execute_input",
                             json_pack("{s:s%, s:I}", "code", text, json_string_length(code),
                                       "execution_count", before + 1),
                             e))
        return -1;
    int rc = run_cell(f, text, json_string_length(code), &v, &why);
    if (!v.silent) /* the result has it, if there is one */
        f->count = v.count > 0 ? v.count : before + 1;
    return rc ? refuse_cell(f, &why, e) : reply_executed(f, request, &v, e);
}

/* ---- other requests ---- */

/* Takes over the body. */
static json_t *ask_or_fail(struct forwarder *f, const char *method, const char *what, json_t *body,
                           json_t **ret_failure)
{
    struct err why;
    json_t *o = ask(f, f->job->events, method, what, body, &why);
    *ret_failure = o ? NULL : failure(&why);
    return o;
}

static int complete(struct forwarder *f, const json_t *request, struct err *e)
{
    json_t *failed, *code = json_object_get(request, "code");
    json_int_t cursor = json_integer_value(json_object_get(request, "cursor_pos"));
    json_auto_t *o = ask_or_fail(
        f, "POST", "/complete",
        json_pack("{s:o, s:I}", "code", json_is_string(code) ? json_incref(code) : json_string(""),
                  "cursor", cursor),
        &failed);
    return o ? reply(f, "ok", content_of_completion(o, cursor), e) : reply(f, "error", failed, e);
}

static int inspect(struct forwarder *f, const json_t *request, struct err *e)
{
    json_t *failed, *code = json_object_get(request, "code");
    json_int_t detail = json_integer_value(json_object_get(request, "detail_level"));
    json_auto_t *o = ask_or_fail(
        f, "POST", "/inspect",
        json_pack("{s:o, s:I, s:i}", "code",
                  json_is_string(code) ? json_incref(code) : json_string(""), "cursor",
                  json_integer_value(json_object_get(request, "cursor_pos")), "detail",
                  detail > 0 ? 1 : 0),
        &failed);
    return o ? reply(f, "ok", content_of_inspection(o), e) : reply(f, "error", failed, e);
}

static int history(struct forwarder *f, const json_t *request, struct err *e)
{
    char what[64];
    json_t *failed;
    (void)snprintf(what, sizeof what, "/cells?limit=%d", CELLS_MAX);
    json_auto_t *o = ask_or_fail(f, "GET", what, NULL, &failed);
    return o ? reply(f, "ok", content_of_history(o, request), e) : reply(f, "error", failed, e);
}

static const struct {
    const char *type;
    int (*answer)(struct forwarder *f, const json_t *request, struct err *e);
} rows[] = {
    { "execute_request", execute },
    { "complete_request", complete },
    { "inspect_request", inspect },
    { "history_request", history },
};

static int answer(struct forwarder *f, const struct buf *record, struct err *e)
{
    const char *text = buf_str(record), *newline = strchr(text, '\n');
    size_t n = newline ? (size_t)(newline - text) : 0;
    json_auto_t *content = newline
                               ? json_loadb(newline + 1, record->len - n - 1, JSON_ALLOW_NUL, NULL)
                               : NULL;
    for (size_t i = 0; content && i < ARRAY_LEN(rows); i++)
        if (strlen(rows[i].type) == n && memcmp(rows[i].type, text, n) == 0)
            return rows[i].answer(f, content, e);
    return 0;
}

/* ---- life ---- */

/* Until main is gone. */
static void serve(struct forwarder *f)
{
    for (;;) {
        struct pollfd link = { f->job->link_fd, POLLIN, 0 };
        enum link_type type;
        scoped(buf) record = { 0 };
        struct err e;
        if (poll(&link, 1, PING_MS) == 0) {
            ping(f);
            json_decref(ask(f, f->job->events, "GET", "", NULL, &e));
            continue;
        }
        if (link_receive(f->job->link_fd, &type, &record, &e))
            return;
        if (type != ASK_REQUEST) /* the cell was over before it came */
            continue;
        if (answer(f, &record, &e) || link_send(f->job->link_fd, TELL_DONE, "", 0, &e))
            return;
    }
}

/* The body of POST /v1/sessions. */
static json_t *session_body(const struct forwarder_job *job)
{
    json_t *o = json_pack("{s:s, s:s, s:i, s:i}", "language", job->language->name, "name",
                          "belljar kernel", "ttl_s", LIFE_S, "idle_s", IDLE_S);
    if (job->timeout_ms)
        json_put(o, "cell_limits",
                 json_pack("{s:I, s:I}", "wall_ms", (json_int_t)job->timeout_ms, "cpu_ms",
                           (json_int_t)job->timeout_ms));
    return o;
}

int forwarder_run(const struct forwarder_job *job)
{
    struct forwarder f = { .job = job };
    struct err e;
    const int keep[] = { client_fd(job->events), client_fd(job->side), job->link_fd };
    if (fd_keep_only(keep, ARRAY_LEN(keep), &e) || privileges_drop(job->parent, job->uid, &e) ||
        privileges_confine(ROLE_CLIENT_KEEPER, NULL, &e))
        return cli_fail(&e);
    if (session_create(job->events, session_body(job), f.id, &e)) {
        struct err gone;
        (void)!link_send(job->link_fd, TELL_OVER, e.text, strlen(e.text), &gone);
        return 1;
    }
    if (link_send(job->link_fd, TELL_DONE, "", 0, &e) == 0)
        serve(&f);
    json_decref(ask(&f, job->side, "DELETE", "", NULL, &e));
    return 0;
}
