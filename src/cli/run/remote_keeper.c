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
#include "base/text.h"
#include "cli/cli.h"
#include "cli/run/diagnosis_view.h"
#include "cli/run/end_note.h"
#include "cli/run/profile_view.h"
#include "cli/run/remote.h"
#include "cli/run/remote_request.h"
#include "run/jar_run.h"
#include "run/json.h"
#include "run/privileges.h"
#include "run/result.h"
#include "spec/bundle.h"

enum {
    SAFE_WRITE =
        4096, /* pipes accept this much without blocking once poll() says that they are writable */
    STDIN_CHUNK = 1 << 16, /* of one request */
    STDIN_RETRY_MS = 20,   /* the program has not read what came before */
    EVENT_MAX = 16 << 20,  /* bytes of one line */
    ANSWER_MAX = 1 << 16,  /* of a short answer */
    CANCEL_MS = 2000,      /* how long the result of a cancelled run is waited for */
    PING_MS = 5000,        /* a connection that is silent for longer may be closed by the service */
    FETCH_MS = 30000,      /* without a byte of a file */
    SIDE_LOSSES_MAX = 3,   /* connections lost one after the other */
};

/* What the side connection is at. */
enum errand { ERRAND_NONE, ERRAND_STDIN, ERRAND_CANCEL, ERRAND_PING };

struct session {
    const struct remote_job *job;
    struct client *events, *side;
    char id[64]; /* "" until the service has said it */
    int signal_fd;
    struct buf printed[RUN_STREAMS]; /* with --json everything, else what is still to be written */
    size_t written[RUN_STREAMS];
    json_t *result;
    int write_errno; /* why our own output could not be written */
    bool nobody;     /* it closed before it answered a byte */
    bool cancelled;  /* by a signal, or because nobody reads */
    bool cancel_sent;
    bool unheard;        /* nobody reads */
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

/* --- what the program prints --- */

static bool holding(const struct session *s)
{
    if (s->job->options->json)
        return false;
    return s->written[0] < s->printed[0].len || s->written[1] < s->printed[1].len;
}

static void drop_held(struct session *s)
{
    for (int i = 0; i < RUN_STREAMS && !s->job->options->json; i++)
        s->printed[i].len = s->written[i] = 0;
}

static void cancel(struct session *s)
{
    drop_held(s); /* who cancels does not wait for a reader that does not read */
    s->source_fd = -1;
    s->chunk.len = 0;
    if (!s->cancelled)
        s->give_up_ms = clock_ms() + CANCEL_MS;
    s->cancelled = true;
}

static void write_held(struct session *s)
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
}

/* --- events --- */

/* Goes into paths, so it is a word and nothing else. */
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
    if (s->cancelled)
        return 0;
    if (base64)
        return text_base64_decode(json_string_value(base64), json_string_length(base64), b, e);
    return buf_add(b, json_string_value(text), json_string_length(text), e);
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
            (void)fprintf(stderr, "belljar: %s waits for approval\n", s->id[0] ? s->id : "it");
    }
    json_decref(event);
    return rc;
}

static int take_events(struct session *s, struct err *e)
{
    const char *line;
    size_t len;
    while (!s->result && !holding(s) && client_line(s->events, &line, &len)) {
        if (len > 0 && take_event(s, line, len, e))
            return -1;
        write_held(s);
    }
    return 0;
}

/* The service said no. */
static int refused(const struct client *c, struct err *e)
{
    unsigned wait_s = client_response(c)->retry_after_s;
    (void)!client_refusal(c, e);
    if (e->code == ERR_BUSY && wait_s > 0 && !strstr(e->text, "try again")) {
        struct err why = *e;
        (void)!err_set(e, ERR_BUSY, 0, "%.160s: try again in %u s", why.text, wait_s);
    }
    return remote_advise(e);
}

static int went_away(struct err *e)
{
    return err_set(e, ERR_UNAVAILABLE, 0, "the service went away while the program ran");
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
        return r->complete ? refused(s->events, e) : 0;
    if (take_events(s, e))
        return -1;
    if (r->complete && !s->result && !holding(s))
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
    if (!s->side && client_connect(&s->side, s->job->path, e))
        return e->sys == ENOENT || e->sys == ECONNREFUSED ? went_away(e)
                                                          : err_wrap(e, "pass the input on");
    s->errand = errand;
    s->side_used_ms = clock_ms();
    return client_send(s->side, &q, e);
}

/* The answer to a piece of stdin. */
static int stdin_answered(struct session *s, int status, struct err *e)
{
    if (status == 503) {
        s->retry_ms = clock_ms() + STDIN_RETRY_MS;
        return 0;
    }
    s->chunk.len = 0;
    if (s->chunk_is_last || status == 404 || status == 409) { /* it does not read any more */
        s->source_fd = -1;
        return 0;
    }
    return status / 100 == 2 ? 0 : client_refusal(s->side, e);
}

/* A connection that was idle may be closed just as it is used; then nobody has read the request, and it is sent again. One
 * that ends for another reason ends with the service, which the other connection tells. */
static int side_lost(struct session *s, struct err *e)
{
    client_done(&s->side);
    s->errand = ERRAND_NONE;
    s->cancel_sent = false;
    if (++s->side_losses > SIDE_LOSSES_MAX)
        return err_set(e, ERR_UNAVAILABLE, 0, "the service does not take the program's input");
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

/* Gives an idle side connection something to do. */
static int side_next(struct session *s, struct err *e)
{
    uint64_t now = clock_ms();
    struct err ignored;
    if (s->errand != ERRAND_NONE || !s->id[0] || s->result)
        return 0;
    if (s->cancelled) {
        if (!s->cancel_sent && side_send(s, ERRAND_CANCEL, &ignored))
            s->give_up_ms = now; /* it sees that we are gone, and that is as good */
        s->cancel_sent = true;
    } else if (s->chunk.len > 0) {
        if (now >= s->retry_ms)
            return side_send(s, ERRAND_STDIN, e);
    } else if (now - s->side_used_ms >= PING_MS && side_send(s, ERRAND_PING, &ignored)) {
        client_done(&s->side); /* a connection will be made when it is needed */
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
    p[POLL_EVENTS] = poll_client(s->result ? NULL : s->events, !holding(s));
    p[POLL_SIDE] = poll_client(s->errand == ERRAND_NONE ? NULL : s->side, true);
    p[POLL_SOURCE] = (struct pollfd){ .fd = feeding ? s->source_fd : -1, .events = POLLIN };
    for (int i = 0; i < RUN_STREAMS; i++)
        p[POLL_STDOUT + i] = (struct pollfd){
            .fd = !s->job->options->json && s->written[i] < s->printed[i].len ? 1 + i : -1,
            .events = POLLOUT
        };
}

/* How long to wait when nothing happens; -1: for ever. */
static int patience_ms(const struct session *s)
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

/* Until there is a result and everything is written; or a failure; or a cancelled run is not waited for any more. */
static int loop(struct session *s, struct err *e)
{
    while (!s->result || holding(s)) {
        struct pollfd p[POLLS];
        fill_polls(s, p);
        if (poll(p, POLLS, patience_ms(s)) < 0 && errno != EINTR)
            return err_set(e, ERR_KERNEL, errno, "wait for events");
        if (p[POLL_SIGNAL].revents)
            take_signal(s);
        write_held(s);
        /* Without an id there is nothing to ask about: it sees that we are gone. */
        if (s->cancelled && (!s->id[0] || clock_ms() >= s->give_up_ms))
            return 0;
        /* Also when nothing has come: there may be lines from before, which were waiting for stdout. */
        if (!s->result && !holding(s) && events_ready(s, p[POLL_EVENTS].revents, e))
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
            return err_set(e, ERR_UNAVAILABLE, 0, "the service does not answer");
        if (p[0].revents) {
            take_signal(s);
            return err_set(e, ERR_UNAVAILABLE, 0, "cancelled");
        }
        if (client_ready(c, p[1].revents, e))
            return -1;
    }
    return 0;
}

/* The connection of the events, when it is still good: a keeper with a uid of its own has no other. */
static int fetch_one(struct session *s, const char *name, struct buf *bundle, struct err *e)
{
    scoped(buf) path = { 0 };
    size_t len;
    if (buf_addf(&path, e, "/v1/runs/%s/files/", s->id) || client_add_escaped(&path, name, e))
        return -1;
    if (s->events && !client_reusable(s->events))
        client_done(&s->events);
    if (!s->events && client_connect(&s->events, s->job->path, e))
        return -1;
    struct client_request q = { .method = "GET",
                                .path = path.data,
                                .body_max = BUNDLE_FILE_MAX_BYTES };
    if (client_send(s->events, &q, e) || await_answer(s, s->events, e))
        return -1;
    if (client_response(s->events)->status != 200)
        return client_refusal(s->events, e);
    const char *bytes = client_body(s->events, &len);
    return bundle_add(bundle, name, OUTPUT_OK, bytes, len, e);
}

/* What the result says became of a file; -1 when it does not say. */
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
    if (await_answer(s, s->events, e)) /* its last bytes, so that it can be asked again */
        return -1;
    for (size_t i = 0; i < o->n_outs; i++) {
        const char *name = o->outs[i].name;
        int status = file_status(files, name);
        if (status < 0)
            return err_set(e, ERR_PROTOCOL, 0, "the service does not say what became of '%s'",
                           QUOTED(name));
        if (status == OUTPUT_OK ? fetch_one(s, name, bundle, e)
                                : bundle_add_head(bundle, name, (uint32_t)status, 0, e))
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

static void say(const struct session *s)
{
    const json_t *limits = json_object_get(s->result, "limits"),
                 *hits = json_object_get(s->result, "limits_hit");
    const char *error = json_string_value(json_object_get(s->result, "error")),
               *code = json_string_value(json_object_get(s->result, "error_code"));
    struct end_note note = {
        .verdict = verdict_named(json_string_value(json_object_get(s->result, "verdict"))),
        .limits = s->job->options->limits,
        .error = error ? error : "the service does not say why",
        .unheard = s->unheard,
    };
    if (note.verdict == VERDICT_COMPILE_ERROR) {
        const json_t *compile = json_object_get(s->result, "compile");
        note.compiler = verdict_named(json_string_value(json_object_get(compile, "verdict")));
        note.limits = s->job->options->run_options.compile_limits;
        limits = NULL; /* those of the run, which it did not come to */
    }
    if (code && strcmp(code, err_name(ERR_NOT_FOUND)) == 0)
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

/* The exit status, once the run is over and its result has been told. */
static int tell(struct session *s)
{
    struct err e = { 0 };
    scoped(buf) bundle = { 0 };
    /* A reader that went away is no fault; a full disk is. */
    if (s->write_errno != 0 && s->write_errno != EPIPE) {
        (void)!err_set(&e, ERR_KERNEL, s->write_errno, "write the program's output");
        return cli_fail(&e);
    }
    if (!s->result)
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
        say(s);
    else if (print_json(s, &e))
        return cli_fail(&e);
    s->cancelled = false; /* from here on: while its files were fetched */
    if (fetch_files(s, &bundle, &e))
        return s->cancelled ? cancelled_status(s) : cli_fail(&e);
    if (fd_write_all(s->job->handover_fd, bundle.data, bundle.len)) {
        (void)!err_set(&e, ERR_KERNEL, errno, "hand over the output files");
        return cli_fail(&e);
    }
    return (int)status;
}

/* --- the beginning --- */

/* Nothing will ever come from it: no connection and no request for that. */
static bool is_empty(int fd)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return true;
    if (S_ISCHR(st.st_mode))
        return st.st_rdev == makedev(1, 3); /* /dev/null */
    return S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) >= st.st_size;
}

/* Whether there is a uid to change to: in a user namespace there may be none. */
static bool can_have_own_uid(void)
{
    return geteuid() == 0 && seteuid(KEEPER_UID) == 0 && seteuid(0) == 0;
}

static int give_up_rights(struct session *s, struct err *e)
{
    const struct remote_job *job = s->job;
    const int keep[] = { client_fd(job->events), client_fd(job->side), job->inputs->bundle_fd,
                         job->inputs->stdin_fd,  job->handover_fd,     job->nobody_fd };
    sigset_t set;
    cli_signals(&set);
    (void)signal(SIGPIPE, SIG_IGN);
    if (fd_keep_only(keep, ARRAY_LEN(keep), e) ||
        privileges_drop(job->parent, can_have_own_uid(), e))
        return -1;
    s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->signal_fd < 0 ? err_set(e, ERR_KERNEL, errno, "watch signals") : 0;
}

static int ask(struct session *s, struct err *e)
{
    scoped(buf) body = { 0 };
    const struct remote_job *job = s->job;
    s->source_fd = is_empty(job->inputs->stdin_fd) ? -1 : job->inputs->stdin_fd;
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
        if (s.nobody && !s.cancelled && eventfd_write(job->nobody_fd, 1) == 0)
            return 0; /* it was just stopping: main runs it */
        return s.cancelled ? cancelled_status(&s) : cli_fail(&e);
    }
    return tell(&s);
}
