#include "cli/jupyter/front.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "cli/jupyter/languages.h"
#include "cli/repl/link.h"
#include "cli/repl/scan.h"
#include "config.h"
#include "run/json.h"

/* A line of input, and so many interrupts, fit into the buffer of the link, so that sending them never
 * waits for a forwarder that waits for us. */
enum { INPUT_MAX = 1 << 16, INTERRUPTS_MAX = 64, LOOK_MS = 1000, DROPS_TOLD = 100 };
enum {
    WAITING_MAX = 4096
}; /* of one abort: a client that never stops sending holds up nobody else */

static const char forwarder_gone[] =
    "the process that talks to the service is gone: restart the Jupyter kernel";

static volatile sig_atomic_t ended;

static void on_end(int number)
{
    (void)number;
    ended = 1;
}

/* ---- messages ---- */

static void complain(const char *sentence)
{
    (void)fprintf(stderr, "belljar: %s\n", sentence);
}

static void send_text(struct front *f, enum channel c, const struct request *parent,
                      const char *type, const char *content, size_t n)
{
    scoped(parts) out = { 0 };
    struct err e;
    int rc = 0;
    if (c == CHANNEL_IOPUB)
        rc = parts_add(&out, type, strlen(type), &e);
    for (size_t i = 0; rc == 0 && c != CHANNEL_IOPUB && i < parent->identities.n; i++)
        rc = parts_add(&out, buf_str(&parent->identities.part[i]), parent->identities.part[i].len,
                       &e);
    if (rc ||
        message_write(&f->signer, type, parent ? &parent->header : NULL, content, n, &out, &e))
        complain(e.text);
    else
        sockets_send(f->sockets, c, &out);
}

/* Takes over the content. */
static void send_json(struct front *f, enum channel c, const struct request *parent,
                      const char *type, json_t *content)
{
    autofree char *text = json_line(content);
    if (text)
        send_text(f, c, parent, type, text, strlen(text));
}

static void publish_state(struct front *f, const struct request *parent, const char *state)
{
    send_json(f, CHANNEL_IOPUB, parent, "status", json_pack("{s:s}", "execution_state", state));
}

/* "execute_request" -> "execute_reply" */
static const char *reply_type(const struct request *r, char out[sizeof r->type])
{
    size_t n = strlen(r->type), end = strlen("_request");
    n = n > end ? n - end : n;
    (void)snprintf(out, sizeof r->type, "%.*s_reply", (int)n, r->type);
    return out;
}

/* Takes over the content. */
static void reply(struct front *f, enum channel c, const struct request *r, json_t *content)
{
    char type[sizeof r->type];
    send_json(f, c, r, reply_type(r, type), content);
}

static json_t *failure(const char *reason)
{
    return json_pack("{s:s, s:s, s:s, s:[o]}", "status", "error", "ename", "BelljarError", "evalue",
                     reason, "traceback", json_sprintf("BelljarError: %s", reason));
}

/* ---- requests that are answered here ---- */

static json_t *kernel_info(struct front *f, const struct request *r)
{
    (void)r;
    char shown[64];
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:o, s:b, s:[]}", "status", "ok", "protocol_version",
        JUPYTER_PROTOCOL, "implementation", "belljar", "implementation_version", BELLJAR_VERSION,
        "language_info", jupyter_language_info(f->language), "banner",
        json_sprintf("%s, in a jar of Belljar %s",
                     jupyter_display_name(f->language, shown, sizeof shown), BELLJAR_VERSION),
        "debugger", 0, "help_links");
}

static json_t *comm_info(struct front *f, const struct request *r)
{
    (void)f;
    (void)r;
    return json_pack("{s:s, s:{}}", "status", "ok", "comms");
}

static json_t *is_complete(struct front *f, const struct request *r)
{
    const char *code = json_string_value(json_object_get(r->content, "code"));
    const struct syntax *s = syntax_of(f->language->name);
    size_t len = code ? strlen(code) : 0;
    if (!code || !scan_goes_on(s, code, len))
        return json_pack("{s:s}", "status", "complete");
    return json_pack("{s:s, s:o}", "status", "incomplete", "indent",
                     json_sprintf("%*s", (int)scan_indent(s, code, len), ""));
}

static json_t *interrupt(struct front *f, const struct request *r)
{
    struct err e;
    (void)r;
    if (f->waits && f->link_fd >= 0 && f->interrupts++ < INTERRUPTS_MAX &&
        link_send(f->link_fd, ASK_INTERRUPT, "", 0, &e))
        complain(e.text);
    return json_pack("{s:s}", "status", "ok");
}

static json_t *stop(struct front *f, const struct request *r)
{
    f->stopped = true;
    return json_pack("{s:s, s:b}", "status", "ok", "restart",
                     json_is_true(json_object_get(r->content, "restart")));
}

static const struct {
    const char *type;
    json_t *(*answer)(struct front *f, const struct request *r); /* NULL: the forwarder answers */
} rows[] = {
    { "kernel_info_request", kernel_info },
    { "comm_info_request", comm_info },
    { "is_complete_request", is_complete },
    { "interrupt_request", interrupt },
    { "shutdown_request", stop },
    { "execute_request", NULL },
    { "complete_request", NULL },
    { "inspect_request", NULL },
    { "history_request", NULL },
};

/* ---- requests for the forwarder ---- */

static bool is_execute(const struct request *r)
{
    return strcmp(r->type, "execute_request") == 0;
}

/* There is no session: every request says why. */
static void refuse(struct front *f, enum channel c, const struct request *r)
{
    if (is_execute(r))
        send_json(f, CHANNEL_IOPUB, r, "error", failure(f->reason));
    json_t *content = failure(f->reason);
    if (is_execute(r))
        json_put(content, "execution_count", json_integer(0));
    reply(f, c, r, content);
}

static void lose_session(struct front *f, const char *reason)
{
    fd_close(&f->link_fd);
    (void)snprintf(f->reason, sizeof f->reason, "%s", reason);
    complain(f->reason);
    if (f->current.header.len) {
        if (!f->replied)
            refuse(f, f->channel, &f->current);
        publish_state(f, &f->current, "idle");
    }
    request_done(&f->current);
    f->waits = false;
}

/* Takes over the request. */
static void forward(struct front *f, enum channel c, struct request *r)
{
    scoped(buf) record = { 0 };
    struct err e;
    autofree char *content = json_dumps(r->content, JSON_COMPACT);
    f->current = *r;
    *r = (struct request){ 0 };
    f->channel = c;
    f->waits = true;
    f->replied = f->asks_input = false;
    f->interrupts = 0;
    if (!content || buf_addf(&record, &e, "%s\n%s", f->current.type, content) ||
        link_send(f->link_fd, ASK_REQUEST, record.data, record.len, &e))
        lose_session(f, forwarder_gone);
}

/* ---- one message ---- */

/* Takes over the request if the forwarder answers it. */
static void on_request(struct front *f, enum channel c, struct request *r, bool abort)
{
    size_t i = 0;
    while (i < ARRAY_LEN(rows) && strcmp(rows[i].type, r->type) != 0)
        i++;
    publish_state(f, r, "busy");
    if (i == ARRAY_LEN(rows)) {
        char sentence[160];
        (void)snprintf(sentence, sizeof sentence, "a %s is not supported", QUOTED(r->type));
        if (strstr(r->type, "_request"))
            reply(f, c, r, failure(sentence));
    } else if (rows[i].answer) {
        json_t *content = rows[i].answer(f, r);
        reply(f, c, r, content);
    } else if (abort && is_execute(r)) {
        reply(f, c, r, json_pack("{s:s}", "status", "aborted"));
    } else if (f->link_fd < 0) {
        refuse(f, c, r);
    } else if (f->waits) { /* only on the control channel */
        reply(f, c, r, failure("a cell runs: ask again on the shell channel"));
    } else {
        forward(f, c, r);
        return;
    }
    publish_state(f, r, "idle");
}

/* The answer to input(). */
static void on_input(struct front *f, const struct request *r)
{
    const json_t *value = json_object_get(r->content, "value");
    struct err e;
    if (strcmp(r->type, "input_reply") != 0 || !f->asks_input || !json_is_string(value))
        return;
    f->asks_input = false;
    size_t n = json_string_length(value);
    if (n > INPUT_MAX)
        n = text_whole(json_string_value(value), INPUT_MAX);
    if (link_send(f->link_fd, ASK_INPUT, json_string_value(value), n, &e))
        complain(e.text);
}

/* Anybody who reaches the sockets can send such messages, so the log has the first ones only. */
static void drop(struct front *f, const struct err *why)
{
    if (f->dropped < DROPS_TOLD)
        complain(why->text);
    if (++f->dropped == DROPS_TOLD)
        complain("more messages like this are dropped without a word");
}

static void on_message(struct front *f, enum channel c)
{
    scoped(parts) in = { 0 };
    scoped(request) r = { 0 };
    struct err e;
    if (!sockets_receive(f->sockets, c, &in))
        return;
    if (c == CHANNEL_HEARTBEAT)
        sockets_send(f->sockets, c, &in);
    else if (request_read(&f->signer, &in, &r, &e))
        drop(f, &e);
    else if (c == CHANNEL_STDIN)
        on_input(f, &r);
    else
        on_request(f, c, &r, false);
}

/* ---- the requests behind a cell that failed ---- */

struct waiting_request {
    struct request request;
    struct waiting_request *next;
};

/* Takes every request that waits on the shell channel out of it. */
static void take_waiting(struct front *f)
{
    bool record;
    for (int n = 0; n < WAITING_MAX; n++) {
        if (!sockets_wait(f->sockets, 1U << CHANNEL_SHELL, -1, 0, &record))
            return;
        scoped(parts) in = { 0 };
        struct err e;
        struct waiting_request *w = calloc(1, sizeof *w);
        if (!w)
            return; /* the rest is not aborted */
        if (!sockets_receive(f->sockets, CHANNEL_SHELL, &in)) {
            free(w);
            continue;
        }
        if (request_read(&f->signer, &in, &w->request, &e)) {
            drop(f, &e);
            free(w);
            continue;
        }
        if (f->last)
            f->last->next = w;
        else
            f->first = w;
        f->last = w;
    }
}

static struct waiting_request *pop_waiting(struct front *f)
{
    struct waiting_request *w = f->first;
    if (w && !(f->first = w->next))
        f->last = NULL;
    return w;
}

static void waiting_request_free(struct waiting_request *w)
{
    request_done(&w->request);
    free(w);
}

/* Cells are aborted, and other requests are answered, one at a time. */
static void serve_waiting(struct front *f)
{
    while (f->first && !f->waits && !f->stopped) {
        struct waiting_request *w = pop_waiting(f);
        on_request(f, CHANNEL_SHELL, &w->request, true);
        waiting_request_free(w);
    }
}

/* ---- records of the forwarder ---- */

static const char *const published[] = { "stream",       "display_data",  "update_display_data",
                                         "clear_output", "execute_input", "execute_result",
                                         "error" };

static void on_publish(struct front *f, const char *word, const char *content, size_t n)
{
    for (size_t i = 0; i < ARRAY_LEN(published); i++)
        if (strcmp(published[i], word) == 0)
            send_text(f, CHANNEL_IOPUB, &f->current, word, content, n);
}

static void on_reply(struct front *f, const char *word, const char *content, size_t n)
{
    const json_t *stop_on_error = json_object_get(f->current.content, "stop_on_error");
    char type[sizeof f->current.type];
    if (f->replied || !f->current.header.len)
        return;
    f->replied = true;
    if (is_execute(&f->current) && strcmp(word, "error") == 0 && !json_is_false(stop_on_error))
        take_waiting(f);
    send_text(f, f->channel, &f->current, reply_type(&f->current, type), content, n);
}

static void on_record(struct front *f)
{
    enum link_type type;
    scoped(buf) record = { 0 };
    struct err e;
    if (link_receive(f->link_fd, &type, &record, &e)) {
        lose_session(f, forwarder_gone);
        return;
    }
    char *newline = record.len ? strchr(record.data, '\n') : NULL;
    size_t after = newline ? (size_t)(newline - record.data) + 1 : 0;
    if (newline && (type == TELL_PUBLISH || type == TELL_REPLY))
        *newline = '\0';
    if (type == TELL_PUBLISH && newline) {
        on_publish(f, record.data, record.data + after, record.len - after);
    } else if (type == TELL_REPLY && newline) {
        on_reply(f, record.data, record.data + after, record.len - after);
    } else if (type == TELL_INPUT && f->current.header.len) {
        f->asks_input = true;
        send_text(f, CHANNEL_STDIN, &f->current, "input_request", buf_str(&record), record.len);
    } else if (type == TELL_OVER) {
        lose_session(f, buf_str(&record));
    } else if (type == TELL_DONE) {
        if (f->current.header.len)
            publish_state(f, &f->current, "idle");
        request_done(&f->current);
        f->waits = false;
    }
}

/* ---- the loop ---- */

/* A client that started us and is gone cannot ask for the end. Such a client sets this variable. */
static bool is_orphan(pid_t parent)
{
    return getppid() != parent && getenv("JPY_PARENT_PID");
}

void front_serve(struct front *f)
{
    pid_t parent = getppid();
    (void)sigaction(SIGTERM, &(struct sigaction){ .sa_handler = on_end }, NULL);
    (void)signal(SIGINT, SIG_IGN); /* clients interrupt with a message */
    (void)signal(SIGPIPE, SIG_IGN);
    f->waits = f->link_fd >= 0; /* until the session is there */
    publish_state(f, NULL, "starting");
    while (!f->stopped && !ended && !is_orphan(parent)) {
        const unsigned always = 1U << CHANNEL_CONTROL | 1U << CHANNEL_STDIN |
                                1U << CHANNEL_HEARTBEAT;
        bool record;
        unsigned ready = sockets_wait(f->sockets, f->waits ? always : always | 1U << CHANNEL_SHELL,
                                      f->link_fd, LOOK_MS, &record);
        for (int i = 0; i < CHANNELS && !f->stopped; i++)
            if (ready & 1U << i)
                on_message(f, (enum channel)i);
        if (record && f->link_fd >= 0)
            on_record(f);
        serve_waiting(f);
    }
}

void front_done(struct front *f)
{
    fd_close(&f->link_fd);
    request_done(&f->current);
    while (f->first)
        waiting_request_free(pop_waiting(f));
    signer_done(&f->signer);
    sockets_free(f->sockets);
    f->sockets = NULL;
}
