/* Runs and cells: one streamed request each, whose events become output, callbacks and a result. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"
#include "library/library.h"

enum { STDIN_MAX = 1 << 20, LAST_CHUNK_MS = 1000 };

/* id, session and handle do not change: belljar_run_cancel() and belljar_run_write_stdin() use
 * nothing else, so that any thread may call them. */
struct belljar_run {
    struct belljar *handle;
    char *id, *session;    /* the session of a cell; NULL: a run */
    struct client *client; /* NULL: it is over */
    struct buf out, err;
    json_t *displays, *value, *failure; /* of a cell, in events of their own */
    struct belljar_result *result;      /* until it is handed over */
    belljar_output_fn on_output;
    belljar_event_fn on_event;
    void *output_user, *event_user;
    bool cancelled; /* by a callback */
    bool lost;
};

static void run_done(struct belljar_run *run)
{
    client_done(&run->client);
    json_decref(run->displays);
    json_decref(run->value);
    json_decref(run->failure);
    buf_done(&run->out);
    buf_done(&run->err);
    belljar_result_free(run->result);
}

void belljar_run_free(struct belljar_run *run)
{
    if (!run)
        return;
    run_done(run); /* the service cancels a run whose client is gone */
    free(run->id);
    free(run->session);
    library_release(run->handle);
    free(run);
}

/* ---- events ---- */

/* The callback wants the end of the run. */
static void heed(struct belljar_run *run, int answer)
{
    if (answer == 0 || run->cancelled)
        return;
    run->cancelled = true;
    (void)belljar_run_cancel(run, NULL); /* if it fails, the run goes on to its end */
}

static int on_output(struct belljar_run *run, int stream, const json_t *event,
                     struct belljar_error **error)
{
    struct buf *to = stream == BELLJAR_STDOUT ? &run->out : &run->err;
    const json_t *text = json_object_get(event, "data"),
                 *coded = json_object_get(event, "data_base64");
    size_t from = to->len;
    struct err e = { 0 };
    if (text ? buf_add(to, json_string_value(text), json_string_length(text), &e)
             : text_base64_decode(json_string_value(coded), json_string_length(coded), to, &e))
        return library_fail_err(error, &e);
    if (run->on_output && to->len > from)
        heed(run, run->on_output(run->output_user, stream, to->data + from, to->len - from));
    return 0;
}

/* A cell tells its value, error and displays in events; its result has them as the answer
 * without a stream would. */
static void keep(struct belljar_run *run, const char *name, json_t *event)
{
    json_t **place = strcmp(name, "result") == 0 ? &run->value : &run->failure;
    if (strcmp(name, "display") == 0) {
        if (!run->displays)
            run->displays = json_array();
        (void)json_array_append(run->displays, event);
    } else if (strcmp(name, "result") == 0 || strcmp(name, "error") == 0) {
        json_decref(*place);
        *place = json_incref(event);
    }
}

static void tell(struct belljar_run *run, const char *name, const char *line, size_t len)
{
    scoped(buf) text = { 0 };
    struct err e;
    if (run->on_event && buf_add(&text, line, len, &e) == 0)
        heed(run, run->on_event(run->event_user, name, buf_str(&text)));
}

/* The connection serves the next call if the answer ends at once, as it should. */
static void leave_connection(struct belljar_run *run)
{
    struct err e;
    uint64_t start = clock_ms();
    while (!client_response(run->client)->complete && clock_ms() - start < LAST_CHUNK_MS) {
        struct pollfd p = { .fd = client_fd(run->client), .events = POLLIN };
        if (poll(&p, 1, LAST_CHUNK_MS) <= 0 || client_ready(run->client, p.revents, &e))
            break;
    }
    library_give_back(run->handle, run->client);
    run->client = NULL;
}

static int complete_cell(struct belljar_run *run, json_t *result)
{
    json_t *value = run->value ? json_object_get(run->value, "data") : json_null();
    if (json_object_set(result, "result", value) ||
        json_object_set(result, "error", run->failure ? run->failure : json_null()) ||
        json_object_set_new(result, "displays",
                            run->displays ? json_incref(run->displays) : json_array()))
        return -1;
    /* A cell that was cancelled before it began says so by its verdict alone. */
    return json_is_string(json_object_get(result, "status"))
               ? 0
               : json_object_set_new(result, "status", json_string("interrupted"));
}

static int on_done(struct belljar_run *run, const json_t *event, struct belljar_error **error)
{
    json_t *result = json_incref(json_object_get(event, "result"));
    int failed = !json_is_object(result) || (run->session && complete_cell(run, result));
    run->result = failed ? NULL : library_result(result, &run->out, &run->err);
    if (failed)
        json_decref(result);
    leave_connection(run);
    return run->result
               ? 0
               : library_fail(error, BELLJAR_ERROR_PROTOCOL, "run %s has no result", run->id);
}

static int on_line(struct belljar_run *run, const char *line, size_t len,
                   struct belljar_error **error)
{
    json_t *event = json_loadb(line, len, JSON_ALLOW_NUL, NULL);
    const char *name = json_string_value(json_object_get(event, "event"));
    int rc = 0;
    if (!name)
        rc = library_fail(error, BELLJAR_ERROR_PROTOCOL,
                          "the service sent a line that is no event");
    else if (strcmp(name, "stdout") == 0 || strcmp(name, "stderr") == 0)
        rc = on_output(run, name[3] == 'o' ? BELLJAR_STDOUT : BELLJAR_STDERR, event, error);
    else if (strcmp(name, "done") == 0)
        rc = on_done(run, event, error);
    else {
        keep(run, name, event);
        tell(run, name, line, len);
    }
    json_decref(event);
    return rc;
}

/* Reads once. 0, or 1 after ms without an event of the socket. */
static int read_some(struct client *c, int ms, struct belljar_error **error)
{
    struct err e = { 0 };
    struct pollfd p = { .fd = client_fd(c), .events = client_events(c, true) };
    int n = poll(&p, 1, ms);
    if (n < 0 && errno != EINTR)
        return library_fail(error, BELLJAR_ERROR_SYSTEM, "wait for the service: %s",
                            strerrordesc_np(errno));
    if (n > 0 && client_ready(c, p.revents, &e))
        return library_fail_err(error, &e);
    return n == 0;
}

/* ---- the start ---- */

/* Until the service has accepted the run: its first event has the id. */
static int await_first(struct belljar_run *run, struct belljar_error **error)
{
    const char *line;
    size_t len;
    const struct client_response *r = client_response(run->client);
    while (r->status / 100 != 2 || !client_line(run->client, &line, &len)) {
        if (r->complete && r->status / 100 != 2)
            return library_fail_answer(error, run->client);
        if (r->complete)
            return library_fail(error, BELLJAR_ERROR_PROTOCOL, "the service sent no event");
        int rc = read_some(run->client, run->handle->patience_ms, error);
        if (rc > 0)
            return library_fail(error, BELLJAR_ERROR_UNAVAILABLE, "the service does not answer");
        if (rc < 0)
            return -1;
    }
    json_t *event = json_loadb(line, len, JSON_ALLOW_NUL, NULL);
    run->id = text_copy(json_string_value(json_object_get(event, "id")));
    json_decref(event);
    return run->id ? 0 : library_fail(error, BELLJAR_ERROR_PROTOCOL, "the first event has no id");
}

static int start(struct belljar_run *run, const char *text, struct belljar_error **error)
{
    scoped(buf) path = { 0 };
    struct err e = { 0 };
    bool used;
    if (run->session ? buf_addf(&path, &e, "/v1/sessions/%s/exec", run->session)
                     : buf_addf(&path, &e, "/v1/runs"))
        return library_fail_memory(error);
    const struct client_request q = { .method = "POST",
                                      .path = buf_str(&path),
                                      .accept = "application/x-ndjson",
                                      .json = text,
                                      .json_len = strlen(text),
                                      .body_max = LIBRARY_ANSWER_MAX };
    if (library_take(run->handle, &run->client, &used, error))
        return -1;
    if (client_send(run->client, &q, &e))
        return library_fail_err(error, &e);
    return await_first(run, error);
}

int library_start(struct belljar *b, const char *session, json_t *body, struct belljar_run **ret,
                  struct belljar_error **error)
{
    bool failed = json_object_set_new(body, "stream", json_true()) ||
                  (!json_object_get(body, "cancel_on_disconnect") &&
                   json_object_set_new(body, "cancel_on_disconnect", json_true()));
    autofree char *text = failed ? NULL : json_dumps(body, JSON_COMPACT);
    json_decref(body);
    struct belljar_run *run = calloc(1, sizeof *run);
    if (!run || !text) {
        free(run);
        return library_fail_memory(error);
    }
    run->handle = b;
    library_hold(b);
    run->session = text_copy(session);
    if (session && !run->session) {
        belljar_run_free(run);
        return library_fail_memory(error);
    }
    if (start(run, text, error)) {
        library_give_back(b, run->client); /* after a refusal it is as good as before */
        run->client = NULL;
        belljar_run_free(run);
        return -1;
    }
    *ret = run;
    return 0;
}

int belljar_run_start(struct belljar *handle, const struct belljar_request *request,
                      struct belljar_run **ret, struct belljar_error **error)
{
    json_t *body = NULL;
    return library_request_json(request, &body, error) ||
                   library_start(handle, NULL, body, ret, error)
               ? -1
               : 0;
}

/* ---- the end ---- */

/* The lines that have arrived. */
static int read_lines(struct belljar_run *run, struct belljar_error **error)
{
    const char *line;
    size_t len;
    while (run->client && client_line(run->client, &line, &len))
        if (on_line(run, line, len, error))
            return -1;
    if (run->client && client_response(run->client)->complete)
        return library_fail(error, BELLJAR_ERROR_UNAVAILABLE,
                            "the service ended the events of run %s before its result", run->id);
    return 0;
}

static int go_on(struct belljar_run *run, int timeout_ms, struct belljar_error **error)
{
    uint64_t start = clock_ms();
    for (;;) {
        if (read_lines(run, error))
            return -1;
        if (!run->client)
            return 0;
        uint64_t passed = clock_ms() - start;
        int left = timeout_ms < 0                   ? -1
                   : passed >= (uint64_t)timeout_ms ? 0
                                                    : (int)((uint64_t)timeout_ms - passed);
        int rc = read_some(run->client, left, error);
        if (rc < 0)
            return -1;
        if (rc > 0 && left == 0)
            return 1;
    }
}

int belljar_run_wait(struct belljar_run *run, int timeout_ms, struct belljar_result **ret,
                     struct belljar_error **error)
{
    if (run->lost)
        return library_fail(error, BELLJAR_ERROR_UNAVAILABLE,
                            "the connection of run %s was lost before", run->id);
    int rc = run->client ? go_on(run, timeout_ms, error) : 0;
    if (rc < 0) {
        run->lost = true;
        client_done(&run->client);
    }
    if (rc != 0)
        return rc;
    if (!run->result)
        return library_fail(error, BELLJAR_ERROR_CONFLICT,
                            "the result of run %s was handed over before", run->id);
    if (ret) {
        *ret = run->result;
        run->result = NULL;
    }
    return 0;
}

int library_finish(struct belljar_run *run, struct belljar_result **ret,
                   struct belljar_error **error)
{
    int rc = belljar_run_wait(run, -1, ret, error);
    belljar_run_free(run);
    return rc;
}

int belljar_run(struct belljar *handle, const struct belljar_request *request,
                struct belljar_result **ret, struct belljar_error **error)
{
    struct belljar_run *run;
    return belljar_run_start(handle, request, &run, error) ? -1 : library_finish(run, ret, error);
}

/* ---- meanwhile ---- */

const char *belljar_run_id(const struct belljar_run *run)
{
    return run->id;
}

int belljar_run_fd(const struct belljar_run *run)
{
    return run->client ? client_fd(run->client) : -1;
}

void belljar_run_on_output(struct belljar_run *run, belljar_output_fn callback, void *user)
{
    run->on_output = callback;
    run->output_user = user;
}

void belljar_run_on_event(struct belljar_run *run, belljar_event_fn callback, void *user)
{
    run->on_event = callback;
    run->event_user = user;
}

int belljar_run_cancel(struct belljar_run *run, struct belljar_error **error)
{
    char path[128];
    struct belljar_error *why = NULL;
    (void)snprintf(path, sizeof path, "/v1/runs/%s", run->id);
    const struct client_request q = { .method = "DELETE",
                                      .path = path,
                                      .body_max = LIBRARY_ANSWER_MAX };
    if (library_ask(run->handle, &q, NULL, &why) == 0)
        return 0;
    if (belljar_error_code(why) == BELLJAR_ERROR_CONFLICT) {
        belljar_error_free(why); /* it is over */
        return 0;
    }
    if (error)
        *error = why;
    else
        belljar_error_free(why);
    return -1;
}

/* The body of a request for input: a run takes any bytes, a cell takes a line of text. */
static json_t *input_json(const struct belljar_run *run, const void *bytes, size_t len, int eof)
{
    scoped(buf) coded = { 0 };
    struct err e;
    if (run->session && eof)
        return json_pack("{s:b}", "eof", 1);
    if (run->session)
        return json_pack("{s:s%}", "text", bytes, len);
    if (text_add_base64(&coded, bytes, len, &e))
        return NULL;
    return json_pack("{s:s, s:s, s:b}", "data", buf_str(&coded), "encoding", "base64", "eof",
                     eof != 0);
}

int belljar_run_write_stdin(struct belljar_run *run, const void *bytes, size_t len, int eof,
                            struct belljar_error **error)
{
    char path[128];
    bytes = bytes ? bytes : "";
    if (len > STDIN_MAX)
        return library_fail(error, BELLJAR_ERROR_TOO_LARGE,
                            "%zu bytes of input are too many for one call: up to %d are accepted",
                            len, STDIN_MAX);
    if (run->session && (!text_is_utf8(bytes, len) || (eof && len > 0)))
        return library_fail(error, BELLJAR_ERROR_BAD_REQUEST,
                            "the input of a cell is UTF-8, or its end without bytes");
    if (run->session)
        (void)snprintf(path, sizeof path, "/v1/sessions/%s/stdin", run->session);
    else
        (void)snprintf(path, sizeof path, "/v1/runs/%s/stdin", run->id);
    return library_post(run->handle, path, input_json(run, bytes, len, eof), NULL, error);
}
