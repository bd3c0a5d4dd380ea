#include "cli/repl/talker.h"

#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/repl/asking.h"
#include "cli/repl/link.h"
#include "cli/repl/render.h"
#include "run/json.h"
#include "run/privileges.h"

struct talker {
    const struct talker_job *job;
    char id[SESSION_ID_SIZE];
};

/* ---- questions ---- */

static json_t *ask(struct talker *t, struct client *c, const char *method, const char *what,
                   json_t *body, struct err *e)
{
    return session_question(c, t->id, method, what, body, e);
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

static int on_event(struct talker *t, const json_t *event, struct err *e)
{
    const char *name = json_string_value(json_object_get(event, "event"));
    const struct renderer r = { t->job->images, tell_image, t };
    if (name && strcmp(name, "input_request") == 0) {
        const char *prompt = json_string_value(json_object_get(event, "prompt"));
        bool hidden = json_is_true(json_object_get(event, "password"));
        (void)fflush(stdout);
        return tell(t, hidden ? TELL_PASSWORD : TELL_PROMPT, prompt ? prompt : "",
                    prompt ? strlen(prompt) : 0, e);
    }
    return name ? render_event(&r, name, event, e) : 0;
}

/* A word of main while the cell runs. */
static int on_main(struct talker *t, struct err *e)
{
    enum link_type type;
    scoped(buf) text = { 0 };
    struct err refused;
    if (link_receive(t->job->link_fd, &type, &text, e))
        return -1;
    json_t *o = NULL;
    if (type == ASK_INTERRUPT)
        o = ask(t, t->job->side, "POST", "/interrupt", json_object(), &refused);
    else if (type == ASK_INPUT)
        o = ask(t, t->job->side, "POST", "/stdin",
                json_pack("{s:o}", "text", json_stringn(buf_str(&text), text.len)), &refused);
    else if (type == ASK_INPUT_END)
        o = ask(t, t->job->side, "POST", "/stdin", json_pack("{s:b}", "eof", 1), &refused);
    if (!o)
        complain(&refused);
    json_decref(o);
    return 0;
}

static int take_lines(struct talker *t, struct err *e)
{
    const char *line;
    size_t len;
    while (client_line(t->job->events, &line, &len)) {
        json_auto_t *event = json_loadb(line, len, JSON_ALLOW_NUL, NULL);
        if (event && on_event(t, event, e))
            return -1;
    }
    (void)fflush(stdout);
    return 0;
}

/* Follows the events of the cell to its end. */
static int follow(struct talker *t, struct err *e)
{
    struct client *c = t->job->events;
    while (!client_response(c)->complete) {
        struct pollfd polls[] = { { client_fd(c), client_events(c, true), 0 },
                                  { t->job->link_fd, POLLIN, 0 } };
        if (poll(polls, ARRAY_LEN(polls), -1) < 0)
            continue;
        if (polls[0].revents && client_ready(c, polls[0].revents, e))
            return -1;
        if (client_response(c)->status == 200 && take_lines(t, e))
            return -1;
        if (polls[1].revents && on_main(t, e))
            return -1;
    }
    if (client_response(c)->status != 200)
        return client_refusal(c, e);
    return take_lines(t, e);
}

static int exec(struct talker *t, const struct buf *code, struct err *e)
{
    json_auto_t *body = json_pack("{s:o, s:b, s:b}", "code", json_stringn(buf_str(code), code->len),
                                  "stream", 1, "cancel_on_disconnect", 1);
    return session_send_cell(t->job->events, t->id, body, e) || follow(t, e) ? -1 : 0;
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
        t, t->job->events, "POST", "/complete",
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
    json_auto_t *o = ask(t, t->job->events, "GET", "/notebook", NULL, e);
    autofree char *text = o ? json_dumps(o, JSON_INDENT(1)) : NULL;
    return text ? tell(t, TELL_FILE, text, strlen(text), e) : -1;
}

static int show(struct talker *t, const char *method, const char *what, json_t *body,
                void (*render)(const json_t *), struct err *e)
{
    json_auto_t *o = ask(t, t->job->events, method, what, body, e);
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
    default:
        return 0; /* an interrupt that came too late */
    }
}

/* True if the session can take another question. */
static bool is_alive(struct talker *t)
{
    struct err e;
    if (!client_reusable(t->job->events))
        return false;
    json_auto_t *o = ask(t, t->job->events, "GET", "", NULL, &e);
    const char *state = json_string_value(json_object_get(o, "state"));
    return state && strcmp(state, "ended") != 0;
}

/* Until main is gone. */
static int serve(struct talker *t)
{
    for (;;) {
        enum link_type type;
        scoped(buf) text = { 0 };
        struct err e = { 0 }, gone;
        if (link_receive(t->job->link_fd, &type, &text, &gone))
            return 0;
        if (type == ASK_INTERRUPT || type == ASK_INPUT || type == ASK_INPUT_END)
            continue; /* the cell was over before it came */
        bool failed = answer(t, type, &text, &e);
        if (failed)
            complain(&e);
        bool over = failed && !is_alive(t);
        if (tell(t, over ? TELL_OVER : TELL_DONE, "", 0, &gone) || over)
            return over ? 1 : 0;
    }
}

int talker_run(const struct talker_job *job)
{
    struct talker t = { .job = job };
    struct err e;
    const int keep[] = { client_fd(job->events), client_fd(job->side), job->link_fd };
    if (fd_keep_only(keep, ARRAY_LEN(keep), &e) || privileges_drop(job->parent, job->uid, &e) ||
        privileges_confine(ROLE_CLIENT_KEEPER, NULL, &e))
        return cli_fail(&e);
    json_t *wish = json_pack("{s:s, s:s}", "language", job->language, "name", "belljar repl");
    if (session_create(job->events, wish, t.id, &e)) {
        struct err gone;
        (void)!link_send(job->link_fd, TELL_OVER, e.text, strlen(e.text), &gone);
        return 1;
    }
    if (link_send(job->link_fd, TELL_DONE, "", 0, &e))
        return 1;
    int status = serve(&t);
    json_decref(ask(&t, job->side, "DELETE", "", NULL, &e));
    return status;
}
