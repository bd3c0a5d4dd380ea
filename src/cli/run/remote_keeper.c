/* A run by the service: events in, stdin out, files at the end. */
#include "cli/run/remote_keeper.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/run/diagnosis_view.h"
#include "cli/run/end_note.h"
#include "cli/run/fixes_view.h"
#include "cli/run/profile_view.h"
#include "cli/run/remote.h"
#include "cli/run/remote_request.h"
#include "cli/run/stage_view.h"
#include "run/jar_run.h"
#include "run/json.h"
#include "run/privileges.h"
#include "run/result.h"
#include "spec/bundle.h"

enum {
    SAFE_WRITE = 4096, /* a pipe that poll() calls writable accepts this much without blocking */
    STDIN_CHUNK = 1 << 16, /* of one request */
    STDIN_RETRY_MS = 20,   /* the program has not read the earlier input yet */
    EVENT_MAX = 16 << 20,  /* bytes of one line */
    ANSWER_MAX = 1 << 16,  /* of a short answer */
    CANCEL_MS = 2000,      /* the wait for the result of a cancelled run */
    PING_MS = 5000,        /* the service may close a connection that is idle for longer */
    FETCH_MS = 30000,      /* without a byte of a file */
    SIDE_LOSSES_MAX = 3,   /* connections lost one after the other */
};

/* The request on the side connection. */
enum errand { ERRAND_NONE, ERRAND_STDIN, ERRAND_CANCEL, ERRAND_PING };

struct session {
    const struct remote_job *job;
    struct client *events, *side;
    char id[64]; /* "" until the service has sent it */
    int signal_fd;
    struct buf printed[RUN_STREAMS]; /* with --json everything, otherwise the unwritten part */
    size_t written[RUN_STREAMS];
    json_t *result;
    int write_errno; /* of a failed write to our stdout or stderr */
    bool nobody;     /* the service closed before its first byte */
    bool cancelled;  /* by a signal, or because the output has no reader */
    bool cancel_sent;
    bool output_dropped; /* after it was cancelled: our reader did not take all */
    bool unheard;        /* the output has no reader */
    bool in_line;        /* the last byte of the output did not end its line */
    uint64_t give_up_ms; /* 0: not yet */
    /* the side connection */
    enum errand errand;
    unsigned side_losses;
    uint64_t side_used_ms;
    /* stdin on its way to the program */
    int source_fd;    /* -1: at its end, or none */
    struct buf chunk; /* a request that the service has not accepted yet */
    bool chunk_is_last;
    uint64_t retry_ms; /* 0: at once */
};

/* --- output of the program --- */

static bool has_pending(const struct session *s)
{
    if (s->job->options->json)
        return false;
    return s->written[0] < s->printed[0].len || s->written[1] < s->printed[1].len;
}

/* A cancelled run does not wait for a slow reader. It then counts as cancelled, even if the program
 * ended well (JAR_RUN-4). */
static void drop_unwritten(struct session *s)
{
    if (!has_pending(s))
        return;
    s->output_dropped = true;
    for (int i = 0; i < RUN_STREAMS; i++)
        s->printed[i].len = s->written[i] = 0;
}

static void cancel(struct session *s)
{
    drop_unwritten(s);
    s->source_fd = -1;
    s->chunk.len = 0;
    if (!s->cancelled)
        s->give_up_ms = clock_ms() + CANCEL_MS;
    s->cancelled = true;
}

static void write_pending(struct session *s)
{
    for (int i = 0; i < RUN_STREAMS && !s->job->options->json; i++) {
        struct buf *b = &s->printed[i];
        while (s->written[i] < b->len) {
            struct pollfd p = { .fd = 1 + i, .events = POLLOUT };
            size_t left = b->len - s->written[i];
            if (poll(&p, 1, 0) == 0)
                break;
            ssize_t n = write(p.fd, b->data + s->written[i], left < SAFE_WRITE ? left : SAFE_WRITE);
            if (n < 0 && (errno == EAGAIN || errno == EINTR))
                break;
            if (n < 0) {
                s->write_errno = errno;
                s->unheard = true;
                cancel(s);
                return;
            }
            s->written[i] += (size_t)n;
        }
        if (s->written[i] == b->len)
            b->len = s->written[i] = 0;
    }
    if (s->cancelled)
        drop_unwritten(s);
}

/* --- events --- */

/* The id becomes part of paths, so only a plain word is accepted. */
static void learn_id(struct session *s, const json_t *event)
{
    const char *id = json_string_value(json_object_get(event, "id"));
    size_t n = id ? strlen(id) : 0;
    if (s->id[0] || n == 0 || n >= sizeof s->id)
        return;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)id[i]) && id[i] != '_' && id[i] != '-')
            return;
    memcpy(s->id, id, n + 1);
    s->side_used_ms = clock_ms();
}

static int event_output(struct session *s, const json_t *event, enum run_stream stream,
                        struct err *e)
{
    const json_t *text = json_object_get(event, "data"),
                 *base64 = json_object_get(event, "data_base64");
    struct buf *b = &s->printed[stream];
    int rc = base64
                 ? text_base64_decode(json_string_value(base64), json_string_length(base64), b, e)
                 : buf_add(b, json_string_value(text), json_string_length(text), e);
    if (b->len > 0)
        s->in_line = b->data[b->len - 1] != '\n';
    return rc;
}

static int take_event(struct session *s, const char *line, size_t len, struct err *e)
{
    json_t *event = json_loadb(line, len, JSON_ALLOW_NUL, NULL);
    const char *name = json_string_value(json_object_get(event, "event"));
    int rc = 0;
    if (!name) {
        rc = err_set(e, ERR_PROTOCOL, 0, "the service sent something that is not an event");
    } else if (strcmp(name, "stdout") == 0) {
        rc = event_output(s, event, RUN_STDOUT, e);
    } else if (strcmp(name, "stderr") == 0) {
        rc = event_output(s, event, RUN_STDERR, e);
    } else if (strcmp(name, "done") == 0) {
        s->result = json_incref(json_object_get(event, "result"));
        if (!json_is_object(s->result))
            rc = err_set(e, ERR_PROTOCOL, 0, "the service sent no result");
    } else {
        learn_id(s, event);
        if (strcmp(name, "waiting") == 0)
            (void)fprintf(stderr, "belljar: %s waits for approval\n", s->id[0] ? s->id : "the run");
    }
    json_decref(event);
    return rc;
}

static int take_events(struct session *s, struct err *e)
{
    const char *line;
    size_t len;
    while (!s->result && !has_pending(s) && client_line(s->events, &line, &len)) {
        if (len > 0 && take_event(s, line, len, e))
            return -1;
        write_pending(s);
    }
    return 0;
}

/* The keeper has no right to open a connection to another machine. */
static int connect_again(const struct session *s, struct client **ret, struct err *e)
{
    if (s->job->path)
        return client_connect(ret, s->job->path, e);
    return err_set(e, ERR_UNAVAILABLE, ECONNREFUSED, "the connection to the service is lost");
}

/* The service checks the stages of the command line: a mistake there is one of usage. */
static int stages_refused(const struct client *c, struct err *e)
{
    size_t len;
    const char *body = client_body(c, &len);
    json_auto_t *answer = json_loadb(body, len, JSON_ALLOW_NUL, NULL);
    const char *field = json_string_value(
        json_object_get(json_object_get(answer, "error"), "field"));
    struct err why = *e;
    if (!field || strncmp(field, "stages", strlen("stages")) != 0 || strstr(why.text, field))
        return err_set(e, ERR_USAGE, 0, "%s", why.text);
    return err_set(e, ERR_USAGE, 0, "%.60s: %.170s", QUOTED(field), why.text);
}

/* Makes an error of the refusal of the service. */
static int refused(const struct session *s, const struct client *c, struct err *e)
{
    unsigned wait_s = client_response(c)->retry_after_s;
    (void)!service_refusal(c, e);
    if (s->job->options->stages && e->code == ERR_BAD_REQUEST)
        return stages_refused(c, e);
    if (e->code == ERR_BUSY && wait_s > 0 && !strstr(e->text, "try again")) {
        struct err why = *e;
        (void)!err_set(e, ERR_BUSY, 0, "%.160s: try again in %u s", why.text, wait_s);
    }
    return remote_advise(e);
}

static int went_away(struct err *e)
{
    return err_set(e, ERR_UNAVAILABLE, 0,
                   "the service ended while the program ran: run the command again when it is "
                   "back, or with --local");
}

static int events_ready(struct session *s, short revents, struct err *e)
{
    const struct client_response *r = client_response(s->events);
    if (client_ready(s->events, revents, e)) {
        if (e->code != ERR_UNAVAILABLE)
            return -1;
        s->nobody = !r->began;
        return went_away(e);
    }
    if (r->status == 0)
        return 0;
    if (r->status != 200)
        return r->complete ? refused(s, s->events, e) : 0;
    if (take_events(s, e))
        return -1;
    if (r->complete && !s->result && !has_pending(s))
        return err_set(e, ERR_PROTOCOL, 0, "the service ended its answer without a result");
    return 0;
}

/* --- stdin, and cancelling: the side connection --- */

static int side_send(struct session *s, enum errand errand, struct err *e)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/runs/%s%s", s->id,
                   errand == ERRAND_STDIN ? "/stdin" : "");
    struct client_request q = { .method = "POST", .path = path, .body_max = ANSWER_MAX };
    if (errand == ERRAND_STDIN) {
        q.json = s->chunk.data;
        q.json_len = s->chunk.len;
    } else if (errand == ERRAND_CANCEL) {
        q.method = "DELETE";
    } else {
        q.method = "GET";
        q.path = "/v1/health";
    }
    if (s->side && !client_reusable(s->side))
        client_done(&s->side);
    if (!s->side && connect_again(s, &s->side, e))
        return e->sys == ENOENT || e->sys == ECONNREFUSED ? went_away(e)
                                                          : err_wrap(e, "pass the input on");
    s->errand = errand;
    s->side_used_ms = clock_ms();
    return client_send(s->side, &q, e);
}

/* Handles the answer to a piece of stdin. */
static int stdin_answered(struct session *s, int status, struct err *e)
{
    if (status == 503) {
        s->retry_ms = clock_ms() + STDIN_RETRY_MS;
        return 0;
    }
    s->chunk.len = 0;
    if (s->chunk_is_last || status == 404 || status == 409) { /* the program reads no more */
        s->source_fd = -1;
        return 0;
    }
    return status / 100 == 2 ? 0 : client_refusal(s->side, e);
}

/* The service may close an idle connection just as we use it. Then it has not read the request,
 * which is sent again. If the service itself ended, the other connection tells so. */
static int side_lost(struct session *s, struct err *e)
{
    client_done(&s->side);
    s->errand = ERRAND_NONE;
    s->cancel_sent = false;
    if (++s->side_losses > SIDE_LOSSES_MAX)
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "the service does not accept the input of the program: its log may tell the "
                       "reason; --local runs the program without it");
    return 0;
}

static int side_ready(struct session *s, short revents, struct err *e)
{
    if (s->errand == ERRAND_NONE)
        return 0;
    if (client_ready(s->side, revents, e))
        return e->code == ERR_UNAVAILABLE ? side_lost(s, e) : -1;
    const struct client_response *r = client_response(s->side);
    if (!r->complete)
        return 0;
    enum errand errand = s->errand;
    s->errand = ERRAND_NONE;
    s->side_losses = 0;
    return errand == ERRAND_STDIN && !s->cancelled ? stdin_answered(s, r->status, e) : 0;
}

/* Sends the next request if the side connection is idle. */
static int side_next(struct session *s, struct err *e)
{
    uint64_t now = clock_ms();
    struct err ignored;
    if (s->errand != ERRAND_NONE || !s->id[0] || s->result)
        return 0;
    if (s->cancelled) {
        if (!s->cancel_sent && side_send(s, ERRAND_CANCEL, &ignored))
            s->give_up_ms = now; /* the service cancels the run when we disconnect */
        s->cancel_sent = true;
    } else if (s->chunk.len > 0) {
        if (now >= s->retry_ms)
            return side_send(s, ERRAND_STDIN, e);
    } else if (now - s->side_used_ms >= PING_MS && side_send(s, ERRAND_PING, &ignored)) {
        client_done(&s->side); /* the next request connects again */
        s->errand = ERRAND_NONE;
        s->side_used_ms = now;
    }
    return 0;
}

static int read_source(struct session *s, struct err *e)
{
    char bytes[STDIN_CHUNK];
    ssize_t n = read(s->source_fd, bytes, sizeof bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    s->chunk.len = 0;
    s->chunk_is_last = n <= 0;
    s->retry_ms = 0;
    return remote_request_stdin(bytes, n > 0 ? (size_t)n : 0, &s->chunk, e);
}

/* --- the loop --- */

enum { POLL_SIGNAL, POLL_EVENTS, POLL_SIDE, POLL_SOURCE, POLL_STDOUT, POLL_STDERR, POLLS };

static struct pollfd poll_client(const struct client *c, bool read)
{
    short events = c ? client_events(c, read) : 0;
    return (struct pollfd){ .fd = events ? client_fd(c) : -1, .events = events };
}

static void fill_polls(const struct session *s, struct pollfd p[POLLS])
{
    bool feeding = s->id[0] && !s->result && s->chunk.len == 0;
    p[POLL_SIGNAL] = (struct pollfd){ .fd = s->signal_fd, .events = POLLIN };
    p[POLL_EVENTS] = poll_client(s->result ? NULL : s->events, !has_pending(s));
    p[POLL_SIDE] = poll_client(s->errand == ERRAND_NONE ? NULL : s->side, true);
    p[POLL_SOURCE] = (struct pollfd){ .fd = feeding ? s->source_fd : -1, .events = POLLIN };
    for (int i = 0; i < RUN_STREAMS; i++)
        p[POLL_STDOUT + i] = (struct pollfd){
            .fd = !s->job->options->json && s->written[i] < s->printed[i].len ? 1 + i : -1,
            .events = POLLOUT
        };
}

/* The timeout of poll(); -1: none. */
static int timeout_ms_of(const struct session *s)
{
    uint64_t now = clock_ms(), until = UINT64_MAX;
    if (s->give_up_ms)
        until = s->give_up_ms;
    if (s->id[0] && !s->result && s->errand == ERRAND_NONE && !s->cancelled) {
        uint64_t next = s->chunk.len > 0 ? s->retry_ms : s->side_used_ms + PING_MS;
        until = next < until ? next : until;
    }
    return until == UINT64_MAX ? -1 : until <= now ? 0 : (int)(until - now);
}

static void take_signal(struct session *s)
{
    struct signalfd_siginfo info;
    (void)!read(s->signal_fd, &info, sizeof info);
    cancel(s);
}

/* Until the result is here and the output is written, or an error, or the end of the wait for a
 * cancelled run. */
static int loop(struct session *s, struct err *e)
{
    while (!s->result || has_pending(s)) {
        struct pollfd p[POLLS];
        fill_polls(s, p);
        if (poll(p, POLLS, timeout_ms_of(s)) < 0 && errno != EINTR)
            return err_set(e, ERR_KERNEL, errno, "wait for events");
        if (p[POLL_SIGNAL].revents)
            take_signal(s);
        write_pending(s);
        /* A run without an id cannot be asked about: the service cancels it when we disconnect. */
        if (s->cancelled && (!s->id[0] || clock_ms() >= s->give_up_ms))
            return 0;
        /* Even without new bytes: earlier lines may have waited for stdout. */
        if (!s->result && !has_pending(s) && events_ready(s, p[POLL_EVENTS].revents, e))
            return -1;
        if (s->result)
            continue;
        if (side_ready(s, p[POLL_SIDE].revents, e))
            return -1;
        if (p[POLL_SOURCE].revents && s->source_fd >= 0 && read_source(s, e))
            return -1;
        if (side_next(s, e))
            return -1;
    }
    return 0;
}

/* --- files --- */

static int await_answer(struct session *s, struct client *c, struct err *e)
{
    while (!client_response(c)->complete) {
        struct pollfd p[2] = { { .fd = s->signal_fd, .events = POLLIN }, poll_client(c, true) };
        int n = poll(p, 2, FETCH_MS);
        if (n < 0 && errno != EINTR)
            return err_set(e, ERR_KERNEL, errno, "wait for events");
        if (n == 0)
            return err_set(
                e, ERR_UNAVAILABLE, 0,
                "the service sent no byte of a file for %d s: its log may tell the reason",
                FETCH_MS / 1000);
        if (p[0].revents) {
            take_signal(s);
            return err_set(e, ERR_UNAVAILABLE, 0, "cancelled");
        }
        if (client_ready(c, p[1].revents, e))
            return -1;
    }
    return 0;
}

/* Uses the connection of the events if it can be reused: a keeper with a uid of its own cannot
 * connect. */
static int fetch_one(struct session *s, const char *name, struct buf *bundle, struct err *e)
{
    scoped(buf) path = { 0 };
    size_t len;
    if (buf_addf(&path, e, "/v1/runs/%s/files/", s->id) || client_add_escaped(&path, name, e))
        return -1;
    if (s->events && !client_reusable(s->events))
        client_done(&s->events);
    if (!s->events && connect_again(s, &s->events, e))
        return -1;
    struct client_request q = { .method = "GET", .path = path.data, .body_max = BUNDLE_MAX_BYTES };
    if (client_send(s->events, &q, e) || await_answer(s, s->events, e))
        return -1;
    if (client_response(s->events)->status != 200)
        return client_refusal(s->events, e);
    const char *bytes = client_body(s->events, &len);
    return bundle_add(bundle, name, 0, bytes, len, e);
}

/* The status of a file in the result; -1: it is not there. */
static int file_status(const json_t *files, const char *name)
{
    size_t i;
    const json_t *file;
    json_array_foreach(files, i, file) {
        const char *its_name = json_string_value(json_object_get(file, "name"));
        const char *word = json_string_value(json_object_get(file, "status"));
        if (!its_name || !word || strcmp(its_name, name) != 0)
            continue;
        for (int status = 0; status < OUTPUT_STATUS_COUNT_; status++)
            if (strcmp(word, output_status_word((enum output_status)status)) == 0)
                return status;
    }
    return -1;
}

static int fetch_files(struct session *s, struct buf *bundle, struct err *e)
{
    const struct run_arguments *o = s->job->options;
    const json_t *files = json_object_get(s->result, "files");
    if (o->n_outs == 0 || json_array_size(files) == 0)
        return 0;
    if (await_answer(s, s->events,
                     e)) /* reads its last bytes, so that the connection can be reused */
        return -1;
    for (size_t i = 0; i < o->n_outs; i++) {
        const char *name = o->outs[i].name;
        int status = file_status(files, name);
        if (status < 0)
            return err_set(e, ERR_PROTOCOL, 0,
                           "the result of the service does not name the file '%s'", QUOTED(name));
        if (status == OUTPUT_OK
                ? fetch_one(s, name, bundle, e)
                : bundle_add_head(bundle, name, (enum output_status)status, 0, 0, e))
            return -1;
    }
    return 0;
}

/* --- the end --- */

static enum verdict verdict_named(const char *word)
{
    enum verdict v = VERDICT_INTERNAL_ERROR;
    return word && verdict_parse(word, &v) ? VERDICT_INTERNAL_ERROR : v;
}

/* The table of stages; the limits and the name of the one that failed. */
static void show_stages(const struct session *s, struct end_note *note, const json_t **limits)
{
    const json_t *stage = stage_view_failed(s->result), *own = json_object_get(stage, "limits");
    struct err e = { 0 };
    if (s->in_line && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO))
        (void)fputc('\n', stderr);
    if (stage_view_print(s->result, &e))
        (void)cli_fail(&e);
    note->stage = json_string_value(json_object_get(stage, "name"));
    note->stage_in_file = s->job->options->stages_file;
    if (own)
        *limits = own;
}

static void print_note(const struct session *s)
{
    const json_t *limits = json_object_get(s->result, "limits"),
                 *hits = json_object_get(s->result, "limits_hit");
    const char *error = json_string_value(json_object_get(s->result, "error")),
               *code = json_string_value(json_object_get(s->result, "error_code"));
    struct end_note note = {
        .verdict = verdict_named(json_string_value(json_object_get(s->result, "verdict"))),
        .limits = s->job->options->limits,
        .error = error ? error : "the service gave no reason",
        .unheard = s->unheard,
    };
    if (note.verdict == VERDICT_COMPILE_ERROR) {
        const json_t *compile = json_object_get(s->result, "compile");
        note.compiler = verdict_named(json_string_value(json_object_get(compile, "verdict")));
        note.limits = s->job->options->run_options.compile_limits;
        limits = NULL; /* these are the limits of the run, which did not start */
    }
    if (s->job->options->stages)
        show_stages(s, &note, &limits);
    else if (code && strcmp(code, err_name(ERR_NOT_FOUND)) == 0)
        note.install = s->job->inputs->language->install;
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const json_t *limit = json_object_get(limits, limit_defs[i].key);
        size_t k;
        const json_t *hit;
        if (json_is_integer(limit))
            note.limits.v[i] = (uint64_t)json_integer_value(limit);
        json_array_foreach(hits, k, hit)
            if (json_is_string(hit) && strcmp(json_string_value(hit), limit_defs[i].key) == 0)
                note.hits |= LIMIT_BIT(i);
    }
    end_note_print(&note);
    if (diagnosis_view_wanted(s->job->options))
        diagnosis_view_print(json_object_get(s->result, "diagnosis"));
    struct err e = { 0 };
    (void)!fixes_view_print(s->result, stderr, &e);
}

static int print_json(struct session *s, struct err *e)
{
    if (s->job->options->no_diagnosis)
        (void)json_object_set_new(s->result, "diagnosis", json_null());
    result_add_stream(s->result, "stdout", &s->printed[RUN_STDOUT]);
    result_add_stream(s->result, "stderr", &s->printed[RUN_STDERR]);
    if (json_dumpf(s->result, stdout, JSON_COMPACT | JSON_DIGITS) < 0 || putchar('\n') == EOF ||
        fflush(stdout) == EOF)
        return err_set(e, ERR_KERNEL, errno, "write the result");
    return 0;
}

static int cancelled_status(const struct session *s)
{
    end_note_print(&(struct end_note){ .verdict = VERDICT_CANCELLED, .unheard = s->unheard });
    return verdict_exit_code(VERDICT_CANCELLED, &(struct evidence){ 0 });
}

/* Prints the result, hands over the files and returns the exit status. */
static int conclude(struct session *s)
{
    struct err e = { 0 };
    scoped(buf) bundle = { 0 };
    /* A reader that has gone is not an error; a full disk is. */
    if (s->write_errno != 0 && s->write_errno != EPIPE) {
        (void)!err_set(&e, ERR_KERNEL, s->write_errno, "write the program's output");
        return cli_fail(&e);
    }
    if (!s->result || s->output_dropped)
        return cancelled_status(s);
    const json_t *exit_code = json_object_get(s->result, "exit_code");
    json_int_t status = json_integer_value(exit_code);
    if (!json_is_integer(exit_code) || status < 0 || status > 255) {
        (void)!err_set(&e, ERR_PROTOCOL, 0, "the service sent no exit status");
        return cli_fail(&e);
    }
    if (!s->job->options->json && json_is_object(json_object_get(s->result, "profile")))
        profile_view(json_object_get(s->result, "profile"));
    if (!s->job->options->json)
        print_note(s);
    else if (print_json(s, &e))
        return cli_fail(&e);
    s->cancelled = false; /* from here on it means: cancelled while files are fetched */
    if (fetch_files(s, &bundle, &e))
        return s->cancelled ? cancelled_status(s) : cli_fail(&e);
    if (fd_write_all(s->job->handover_fd, bundle.data, bundle.len)) {
        (void)!err_set(&e, ERR_KERNEL, errno, "hand over the output files");
        return cli_fail(&e);
    }
    return (int)status;
}

/* --- the beginning --- */

/* No byte will ever come from it, so that no request is needed for stdin. */
static bool is_empty(int fd)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return true;
    if (S_ISCHR(st.st_mode))
        return st.st_rdev == makedev(1, 3); /* /dev/null */
    return S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) >= st.st_size;
}

static int give_up_rights(struct session *s, struct err *e)
{
    const struct remote_job *job = s->job;
    const int keep[] = { client_fd(job->events), client_fd(job->side), job->inputs->bundle_fd,
                         job->inputs->stdin_fd,  job->handover_fd,     job->nobody_fd };
    sigset_t set;
    cli_signals(&set);
    if (fd_keep_only(keep, ARRAY_LEN(keep), e) || privileges_drop(job->parent, job->uid, e) ||
        privileges_confine(ROLE_CLIENT_KEEPER, NULL, e))
        return -1;
    return process_watch_signals(&set, &s->signal_fd, e);
}

static int ask(struct session *s, struct err *e)
{
    scoped(buf) body = { 0 };
    const struct remote_job *job = s->job;
    bool whole = job->options->template || job->options->stages; /* it is in the request */
    s->source_fd = whole || is_empty(job->inputs->stdin_fd) ? -1 : job->inputs->stdin_fd;
    if (remote_request_run(job->options, job->inputs, s->source_fd >= 0, &body, e))
        return -1;
    struct client_request q = { .method = "POST",
                                .path = "/v1/runs",
                                .accept = "application/x-ndjson",
                                .json = body.data,
                                .json_len = body.len,
                                .body_max = EVENT_MAX };
    return client_send(s->events, &q, e);
}

static void session_done(struct session *s)
{
    client_free(s->events);
    client_free(s->side);
    for (int i = 0; i < RUN_STREAMS; i++)
        buf_done(&s->printed[i]);
    buf_done(&s->chunk);
    json_decref(s->result);
    fd_close(&s->signal_fd);
}

int remote_keeper_run(const struct remote_job *job)
{
    struct err e = { 0 };
    scoped(session) s = {
        .job = job, .events = job->events, .side = job->side, .signal_fd = -1, .source_fd = -1
    };
    if (give_up_rights(&s, &e) || ask(&s, &e))
        return cli_fail(&e);
    if (loop(&s, &e)) {
        /* The service of this machine was about to stop: main runs the program. */
        if (s.nobody && !s.cancelled && job->path && eventfd_write(job->nobody_fd, 1) == 0)
            return 0;
        return s.cancelled ? cancelled_status(&s) : cli_fail(&e);
    }
    return conclude(&s);
}
