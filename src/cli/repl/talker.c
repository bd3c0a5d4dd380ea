#include "cli/repl/talker.h"

#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/repl/asking.h"
#include "cli/repl/connections.h"
#include "cli/repl/live_files.h"
#include "cli/repl/render.h"
#include "cli/repl/travel.h"
#include "cli/service_choice.h"
#include "run/json.h"
#include "run/privileges.h"

/* A session expires IDLE_S after the last sign of life of its talker; one that is kept, KEPT_S after
 * it. */
enum { LIFE_S = 24 * 3600, IDLE_S = 600, KEPT_S = 3600, PING_MS = 5000, ALIVE_PINGS = 24 };
enum { LOOKS = 5, LOOK_MS = 100 };
enum { REATTACH_MS = 8000, PING_PATIENCE_MS = 0 };

struct talker {
    const struct talker_job *job;
    struct connections connections;
    struct sixel *sixel; /* NULL: no Sixel graphics */
    char id[SESSION_ID_SIZE];
    unsigned pings;
    unsigned looks; /* a cell has said something, perhaps that it ends the session: look soon */
    bool main_gone;
    bool middle; /* of a line of the terminal */
    /* the cell that runs */
    char run[SESSION_ID_SIZE];
    long long seq; /* of its last event */
    bool done;
    bool failed;        /* it did not end well */
    bool lost;          /* it has ended the session */
    bool interrupt_due; /* main wants it before the service has told of the cell */
};

/* ---- questions ---- */

static json_t *ask(struct talker *t, struct client **c, const char *method, const char *what,
                   json_t *body, struct err *e)
{
    return connections_ask(&t->connections, c, t->id, method, what, body, e);
}

static json_t *ask_aside(struct talker *t, const char *method, const char *what, json_t *body,
                         struct err *e)
{
    return ask(t, &t->connections.side, method, what, body, e);
}

/* A failure of one question is told, and the session goes on. */
static void complain(const struct err *e)
{
    (void)fflush(stdout);
    (void)fprintf(stderr, "belljar: %s\n", e->text);
}

static int tell(struct talker *t, enum link_type type, const void *bytes, size_t n, struct err *e)
{
    return link_send(t->job->link_fd, type, bytes, n, e);
}

/* ---- cells ---- */

static int tell_image(void *arg, const char *end, const struct buf *bytes, struct err *e)
{
    struct talker *t = arg;
    scoped(buf) record = { 0 };
    if (buf_addf(&record, e, "%s\n", end) || buf_add(&record, buf_str(bytes), bytes->len, e))
        return -1;
    (void)fflush(stdout);
    return tell(t, TELL_IMAGE, record.data, record.len, e);
}

/* Asks for something beside the cell that runs. */
static void send_aside(struct talker *t, const char *what, json_t *body)
{
    struct err refused;
    json_t *o = ask_aside(t, "POST", what, body, &refused);
    if (!o)
        complain(&refused);
    json_decref(o);
}

/* Keeps the place in the events. An interrupt takes another connection than the cell, so that it may
 * overtake the cell: it waits for the first event. */
static void note_event(struct talker *t, const char *name, const json_t *event)
{
    const char *run = json_string_value(json_object_get(event, "id"));
    t->seq = json_integer_value(json_object_get(event, "seq"));
    if (run && strlen(run) < sizeof t->run && !strpbrk(run, "/?#% "))
        (void)snprintf(t->run, sizeof t->run, "%s", run);
    t->done = t->done || strcmp(name, "done") == 0;
    const json_t *status = json_object_get(json_object_get(event, "result"), "status");
    t->looks = strcmp(name, "note") == 0 ? LOOKS : t->looks;
    t->lost = json_is_string(status) && strcmp(json_string_value(status), "lost") == 0;
    t->failed = !json_is_string(status) || strcmp(json_string_value(status), "ok") != 0;
    if (*t->run && t->interrupt_due && !t->done)
        send_aside(t, "/interrupt", json_object());
    t->interrupt_due = t->interrupt_due && !*t->run;
}

static int on_event(struct talker *t, const json_t *event, struct err *e)
{
    const char *name = json_string_value(json_object_get(event, "event"));
    const struct renderer r = { t->job->images, t->sixel, isatty(1) ? &t->middle : NULL, tell_image,
                                t };
    if (!name)
        return 0;
    note_event(t, name, event);
    if (strcmp(name, "input_request") != 0)
        return render_event(&r, name, event, e);
    const char *prompt = json_string_value(json_object_get(event, "prompt"));
    bool hidden = json_is_true(json_object_get(event, "password"));
    (void)fflush(stdout);
    return tell(t, hidden ? TELL_PASSWORD : TELL_PROMPT, prompt ? prompt : "",
                prompt ? strlen(prompt) : 0, e);
}

/* A word of main while the cell runs. */
static int on_main(struct talker *t, struct err *e)
{
    enum link_type type;
    scoped(buf) text = { 0 };
    t->main_gone = connections_receive(&t->connections, &type, &text, e);
    if (t->main_gone)
        return -1;
    if (type == ASK_INTERRUPT && !*t->run)
        t->interrupt_due = true;
    else if (type == ASK_INTERRUPT)
        send_aside(t, "/interrupt", json_object());
    else if (type == ASK_INPUT)
        send_aside(t, "/stdin", json_pack("{s:o}", "text", json_stringn(buf_str(&text), text.len)));
    else if (type == ASK_INPUT_END)
        send_aside(t, "/stdin", json_pack("{s:b}", "eof", 1));
    return 0;
}

static int take_lines(struct talker *t, struct err *e)
{
    const char *line;
    size_t len;
    while (client_line(t->connections.events, &line, &len)) {
        json_auto_t *event = json_loadb(line, len, JSON_ALLOW_NUL, NULL);
        if (event && on_event(t, event, e))
            return -1;
    }
    (void)fflush(stdout);
    return 0;
}

/* The events of one answer. */
static int follow(struct talker *t, struct err *e)
{
    struct client *c = t->connections.events;
    while (!client_response(c)->complete) {
        struct pollfd polls[] = { { client_fd(c), client_events(c, true), 0 },
                                  { t->connections.link_fd, POLLIN, 0 } };
        bool waits = t->connections.n_waiting > 0;
        if (poll(polls, ARRAY_LEN(polls), waits ? 0 : -1) < 0)
            continue;
        if (polls[0].revents && client_ready(c, polls[0].revents, e))
            return -1;
        if (client_response(c)->status == 200 && take_lines(t, e))
            return -1;
        if ((polls[1].revents || waits) && on_main(t, e))
            return -1;
    }
    if (client_response(c)->status != 200)
        return service_refusal(c, e);
    return take_lines(t, e);
}

/* Reads on behind the last event that arrived. */
static int reattach(struct talker *t, struct err *e)
{
    struct connections *c = &t->connections;
    char path[192];
    if (connections_renew(c, &c->events, REATTACH_MS, e))
        return -1;
    json_int_t number = session_cell_number(c->events, t->id, e);
    if (number < 0)
        return -1;
    (void)snprintf(path, sizeof path, "/v1/sessions/%s/cells/%lld/events?from=%lld", t->id,
                   (long long)number, t->seq);
    const struct client_request q = {
        .method = "GET", .path = path, .accept = "application/x-ndjson", .body_max = ANSWER_MAX
    };
    if (connections_renew(c, &c->events, REATTACH_MS, e))
        return -1;
    return client_send(c->events, &q, e) || follow(t, e) ? -1 : 0;
}

/* Follows the events of the cell to its end, also if the connection is lost meanwhile. */
static int follow_to_the_end(struct talker *t, struct err *e)
{
    enum { LOSSES_MAX = 5 };
    int rc = follow(t, e);
    for (int losses = 0; rc && !t->done && losses < LOSSES_MAX; losses++) {
        if (t->main_gone || e->code != ERR_UNAVAILABLE)
            return -1;
        if (!*t->run)
            return err_set(e, ERR_UNAVAILABLE, 0,
                           "the connection to the service was lost before the cell began: look "
                           "whether it ran before you run it again");
        rc = reattach(t, e);
    }
    return t->done ? 0 : rc;
}

static int exec(struct talker *t, const struct buf *code, struct err *e)
{
    struct connections *c = &t->connections;
    json_auto_t *body = json_pack("{s:o, s:b, s:b}", "code", json_stringn(buf_str(code), code->len),
                                  "stream", 1, "cancel_on_disconnect", 1);
    t->run[0] = '\0';
    t->done = t->lost = t->interrupt_due = false;
    t->failed = true; /* until its end says otherwise */
    if (connections_renew(c, &c->events, REATTACH_MS, e) ||
        session_send_cell(c->events, t->id, body, e))
        return -1;
    return follow_to_the_end(t, e);
}

/* ---- other questions ---- */

static int complete(struct talker *t, const struct buf *text, struct err *e)
{
    const char *code = strchr(buf_str(text), '\n');
    long cursor = strtol(buf_str(text), NULL, 10);
    scoped(buf) lines = { 0 };
    size_t i;
    const json_t *match;
    json_auto_t *o = ask(
        t, &t->connections.events, "POST", "/complete",
        json_pack("{s:s, s:I}", "code", code ? code + 1 : "", "cursor", (json_int_t)cursor), e);
    if (!o)
        return -1;
    if (buf_addf(&lines, e, "%lld\n%lld\n",
                 (long long)json_integer_value(json_object_get(o, "from")),
                 (long long)json_integer_value(json_object_get(o, "to"))))
        return -1;
    json_array_foreach(json_object_get(o, "matches"), i, match) {
        const char *word = json_string_value(json_object_get(match, "text"));
        if (word && !strchr(word, '\n') && buf_addf(&lines, e, "%s\n", word))
            return -1;
    }
    return tell(t, TELL_MATCHES, lines.data, lines.len, e);
}

static int notebook(struct talker *t, struct err *e)
{
    json_auto_t *o = ask(t, &t->connections.events, "GET", "/notebook", NULL, e);
    autofree char *text = o ? json_dumps(o, JSON_INDENT(1)) : NULL;
    return text ? tell(t, TELL_FILE, text, strlen(text), e) : -1;
}

static int show(struct talker *t, const char *method, const char *what, json_t *body,
                void (*render)(const json_t *), struct err *e)
{
    json_auto_t *o = ask(t, &t->connections.events, method, what, body, e);
    if (!o)
        return -1;
    render(o);
    (void)fflush(stdout);
    return 0;
}

static void render_restart(const json_t *o)
{
    (void)o;
    (void)printf("The session is new: its variables and files are gone.\n");
}

static int answer(struct talker *t, enum link_type type, const struct buf *text, struct err *e)
{
    switch (type) {
    case ASK_EXEC:
        return exec(t, text, e);
    case ASK_COMPLETE:
        return complete(t, text, e);
    case ASK_INSPECT:
        return show(t, "POST", "/inspect",
                    json_pack("{s:s, s:i}", "code", buf_str(text), "detail", 0), render_inspection,
                    e);
    case ASK_VARIABLES:
        return show(t, "GET", "/variables", NULL, render_variables, e);
    case ASK_LIMITS:
        return show(t, "GET", "", NULL, render_limits, e);
    case ASK_RESTART:
        return show(t, "POST", "/restart", NULL, render_restart, e);
    case ASK_NOTEBOOK:
        return notebook(t, e);
    case ASK_TRAVEL:
        return travel_answer(&t->connections, t->id, text, e);
    case ASK_FILES:
    case ASK_FILE_GET:
    case ASK_FILE_PUT:
    case ASK_FILE_REMOVE:
        return files_answer(&t->connections, t->id, type, text, e);
    default:
        return 0; /* an interrupt that came too late */
    }
}

/* ---- life ---- */

/* Keeps the connection open and the session alive. True if the session is over: *e says why. */
static bool is_over(struct talker *t, struct err *e)
{
    struct connections *c = &t->connections;
    bool prolongs = t->pings++ % ALIVE_PINGS == 0;
    if (connections_renew(c, &c->side, PING_PATIENCE_MS, e))
        return false; /* the service may come back */
    json_auto_t *o = ask_aside(t, prolongs ? "PATCH" : "GET", "",
                               prolongs ? json_pack("{s:i}", "idle_s", IDLE_S) : NULL, e);
    const char *state = json_string_value(json_object_get(o, "state"));
    if (!o)
        return e->code == ERR_GONE || e->code == ERR_NOT_FOUND;
    if (!state || strcmp(state, "ended") != 0)
        return false;
    const char *reason = json_string_value(json_object_get(o, "reason"));
    (void)err_set(e, ERR_GONE, 0, "the session has ended: %s", reason ? QUOTED(reason) : "");
    return true;
}

/* Answers one question. True if the session goes on. */
static bool serve_one(struct talker *t, enum link_type type, const struct buf *text)
{
    struct err e = { 0 }, why = { 0 }, gone;
    if (type == ASK_INTERRUPT || type == ASK_INPUT || type == ASK_INPUT_END)
        return true; /* the cell was over before it came */
    bool failed = answer(t, type, text, &e);
    if (t->main_gone)
        return false;
    if (failed)
        complain(&e);
    bool over = t->lost && is_over(t, &why);
    over = over || (failed && (e.code == ERR_GONE || e.code == ERR_NOT_FOUND || is_over(t, &why)));
    bool bad_cell = !over && type == ASK_EXEC && t->failed;
    t->main_gone = tell(t, over ? TELL_OVER : TELL_DONE, "failed", bad_cell ? 6 : 0, &gone);
    return !over && !t->main_gone;
}

/* Until main is gone, or the session is. */
static int serve(struct talker *t)
{
    for (;;) {
        enum link_type type;
        scoped(buf) text = { 0 };
        struct err e = { 0 }, gone;
        if (!connections_wait(&t->connections, t->looks ? LOOK_MS : PING_MS)) {
            t->looks -= t->looks > 0;
            if (!is_over(t, &e))
                continue;
            (void)!tell(t, TELL_OVER, e.text, strlen(e.text), &gone);
            return 1;
        }
        if (connections_receive(&t->connections, &type, &text, &gone))
            return 0;
        if (!serve_one(t, type, &text))
            return t->main_gone ? 0 : 1;
    }
}

static int open_session(struct talker *t, struct err *e)
{
    const struct talker_job *job = t->job;
    struct connections *c = &t->connections;
    if (connections_renew(c, &c->events, 0, e) || connections_renew(c, &c->side, 0, e))
        return -1;
    if (!job->session) {
        json_t *body = json_pack("{s:s, s:s, s:i, s:i, s:O*, s:O*, s:O*, s:O*}", "language",
                                 job->language, "name", "belljar repl", "ttl_s", LIFE_S, "idle_s",
                                 IDLE_S, "limits", job->limits, "cell_limits", job->cell_limits,
                                 "network", job->network, "mounts", job->mounts);
        return session_create(c->events, body, t->id, e);
    }
    (void)snprintf(t->id, sizeof t->id, "%s", job->session);
    json_auto_t *o = ask(t, &c->events, "GET", "", NULL, e);
    const char *language = json_string_value(json_object_get(o, "language"));
    if (o && (!language || strcmp(language, job->language) != 0))
        return err_set(e, ERR_BAD_REQUEST, 0, "the session '%s' is one of %s: name that language",
                       QUOTED(t->id), language ? QUOTED(language) : "no language");
    return o ? 0 : -1;
}

/* Ends the session, or tells how to come back to it. */
static void leave_session(struct talker *t)
{
    struct err e;
    if (!t->job->keeps) {
        json_decref(ask_aside(t, "DELETE", "", NULL, &e));
        return;
    }
    json_auto_t *o = ask_aside(t, "PATCH", "", json_pack("{s:i}", "idle_s", KEPT_S), &e);
    if (o)
        (void)fprintf(stderr,
                      "belljar: the session stays for an hour: 'belljar repl --session %s %s'\n",
                      t->id, t->job->language);
}

int talker_run(const struct talker_job *job)
{
    struct talker t = { .job = job, .connections.link_fd = job->link_fd };
    struct err e, gone;
    const int keep[] = { job->link_fd, job->uid_fd };
    if (job->images == IMAGES_SIXEL)
        t.sixel = sixel_open(); /* SIXEL-1 */
    if (fd_keep_only(keep, ARRAY_LEN(keep), &e) || privileges_drop(job->parent, job->uid, &e))
        return cli_fail(&e);
    /* The end of the link tells of main's end, so that the session can be ended then. */
    (void)prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
    if (privileges_confine(ROLE_CLIENT_KEEPER, NULL, &e))
        return cli_fail(&e);
    int status = open_session(&t, &e);
    if (status)
        (void)!link_send(job->link_fd, TELL_OVER, e.text, strlen(e.text), &gone);
    else if (link_send(job->link_fd, TELL_DONE, "", 0, &gone) == 0)
        status = serve(&t);
    if (t.id[0] && !(status && job->session))
        leave_session(&t);
    connections_done(&t.connections);
    free(t.sixel);
    return status ? 1 : 0;
}
