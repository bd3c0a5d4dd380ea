/* `belljar approvals`: the runs of the service that wait for a person. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands/approval_view.h"
#include "cli/commands/plain.h"
#include "cli/commands/service_ask.h"
#include "cli/commands/service_line.h"
#include "client/client.h"

struct approvals_options {
    struct service_choice service;
    const char *remember, *prefix, *reason;
    bool all;
};

static const char *const scopes[] = { "once", "exact", "session", "prefix" };

static const char *scope_at(const void *def, size_t i)
{
    (void)def;
    return i < ARRAY_LEN(scopes) ? scopes[i] : NULL;
}

static int set_remember(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    (void)row;
    for (size_t i = 0; i < ARRAY_LEN(scopes); i++)
        if (strcmp(value, scopes[i]) == 0) {
            ((struct approvals_options *)options)->remember = scopes[i];
            return 0;
        }
    return err_set(e, ERR_USAGE, 0, "--remember takes once, exact, session or prefix, and not '%s'",
                   QUOTED(value));
}

#define AT(member) offsetof(struct approvals_options, member)
static const struct arg_row rows[] = {
    { "all", .offset = AT(all), .help = "ls: also requests that were decided" },
    { "remember", "SCOPE", .apply = set_remember, .values = { VALUES_WORDS, scope_at },
      .shows_words = true, .help = "approve: runs that need no approval from now on" },
    { "prefix", "TEXT", .offset = AT(prefix),
      .help = "approve: the first words of such commands, with --remember prefix" },
    { "reason", "TEXT", .offset = AT(reason), .help = "reject: a reason for the requester" },
    SERVICE_ROWS(struct approvals_options, service),
};
#undef AT

static void print(const struct buf *text)
{
    (void)fwrite(buf_str(text), 1, text->len, stdout);
    (void)fflush(stdout);
}

static int list(struct client *c, bool all, json_t **ret, struct err *e)
{
    return service_line_ask(c, "GET", all ? "/v1/approvals" : "/v1/approvals?decision=pending",
                            NULL, ret, e);
}

static void client_end(struct client **c)
{
    client_done(c);
}

static int verb_ls(void *options, int argc, char **argv, struct err *e)
{
    const struct approvals_options *o = options;
    __attribute__((cleanup(client_end))) struct client *c = NULL;
    json_auto_t *answer = NULL;
    scoped(buf) out = { 0 };
    json_t *a;
    size_t i;
    (void)argc;
    (void)argv;
    if (service_line_open(&o->service, &c, e) || list(c, o->all, &answer, e))
        return -1;
    json_t *approvals = json_object_get(answer, "approvals");
    if (json_array_size(approvals) == 0)
        (void)fprintf(stderr, "belljar: no run waits for an approval\n");
    json_array_foreach(approvals, i, a) {
        if (approval_add_row(&out, a, e))
            return -1;
    }
    print(&out);
    return 0;
}

/* ---- one request ---- */

static bool ends_with(const char *id, const char *text)
{
    size_t n = strlen(id), k = strlen(text);
    return k > 0 && k <= n && strcmp(id + n - k, text) == 0;
}

/* By its id or the last characters of it. A new reference. */
static int find(struct client *c, const char *id, json_t **ret, struct err *e)
{
    json_auto_t *answer = NULL;
    json_t *a, *found = NULL;
    size_t i;
    if (list(c, true, &answer, e))
        return -1;
    json_array_foreach(json_object_get(answer, "approvals"), i, a) {
        const char *name = json_string_value(json_object_get(a, "id"));
        if (!name || !ends_with(name, id))
            continue;
        if (found)
            return err_set(e, ERR_USAGE, 0,
                           "more than one request ends with '%s': give its whole id", QUOTED(id));
        found = a;
    }
    if (!found)
        return err_set(e, ERR_NOT_FOUND, 0,
                       "there is no request '%s': 'belljar approvals ls' lists them", QUOTED(id));
    *ret = json_incref(found);
    return 0;
}

static int verb_show(void *options, int argc, char **argv, struct err *e)
{
    const struct approvals_options *o = options;
    __attribute__((cleanup(client_end))) struct client *c = NULL;
    json_auto_t *approval = NULL;
    scoped(buf) out = { 0 };
    (void)argc;
    if (service_line_open(&o->service, &c, e) || find(c, argv[0], &approval, e) ||
        approval_add(&out, approval, e))
        return -1;
    print(&out);
    return 0;
}

static int decide(struct client *c, const json_t *approval, const struct approvals_options *o,
                  bool approve, struct err *e)
{
    autofree char *path = NULL;
    json_t *answer = NULL, *body = json_pack("{s:s}", "decision", approve ? "approve" : "reject");
    const char *id = json_string_value(json_object_get(approval, "id"));
    if (approve && o->remember)
        (void)json_object_set_new(body, "remember", json_string(o->remember));
    if (approve && o->prefix)
        (void)json_object_set_new(body, "prefix", json_string(o->prefix));
    if (!approve && o->reason)
        (void)json_object_set_new(body, "reason", json_string(o->reason));
    if (service_path("approvals", id ? id : "", NULL, &path, e)) {
        json_decref(body);
        return -1;
    }
    if (service_line_ask(c, "POST", path, body, &answer, e))
        return -1;
    json_decref(answer);
    return 0;
}

static int decide_each(const struct approvals_options *o, int argc, char **argv, bool approve,
                       struct err *e)
{
    __attribute__((cleanup(client_end))) struct client *c = NULL;
    if (service_line_open(&o->service, &c, e))
        return -1;
    for (int i = 0; i < argc; i++) {
        json_auto_t *approval = NULL;
        if (find(c, argv[i], &approval, e) || decide(c, approval, o, approve, e))
            return -1;
        (void)fprintf(stderr, "belljar: %s %s\n", approve ? "approved" : "rejected",
                      QUOTED(json_string_value(json_object_get(approval, "id"))));
    }
    return 0;
}

static int verb_approve(void *options, int argc, char **argv, struct err *e)
{
    return decide_each(options, argc, argv, true, e);
}

static int verb_reject(void *options, int argc, char **argv, struct err *e)
{
    return decide_each(options, argc, argv, false, e);
}

/* ---- watch ---- */

enum { LOOK_MS = 500, SEEN_MAX = 256, LINE_MAX_BYTES = 256 };

struct watch {
    const struct approvals_options *options;
    char *seen[SEEN_MAX]; /* ids that were shown; the oldest is replaced */
    size_t n_seen;
    bool terminal; /* a person can answer */
};

static bool was_seen(const struct watch *w, const char *id)
{
    for (size_t i = 0; i < SEEN_MAX && w->seen[i]; i++)
        if (strcmp(w->seen[i], id) == 0)
            return true;
    return false;
}

static void note_seen(struct watch *w, const char *id)
{
    char **at = &w->seen[w->n_seen++ % SEEN_MAX];
    free(*at);
    *at = strdup(id);
}

/* The decision of somebody else, or NULL while the request waits. A new reference. */
static json_t *decided_elsewhere(struct client *c, const char *id, struct err *e)
{
    json_auto_t *answer = NULL;
    json_t *a;
    size_t i;
    if (list(c, true, &answer, e))
        return NULL;
    json_array_foreach(json_object_get(answer, "approvals"), i, a) {
        const char *name = json_string_value(json_object_get(a, "id"));
        const char *decision = json_string_value(json_object_get(a, "decision"));
        if (name && decision && strcmp(name, id) == 0 && strcmp(decision, "pending") != 0)
            return json_incref(a);
    }
    return NULL;
}

static void tell_decision(const json_t *approval)
{
    (void)printf("\n  decided meanwhile: ");
    service_print(json_string_value(json_object_get(approval, "decision")), 0);
    const json_t *by = json_object_get(approval, "decided_by");
    if (json_is_string(by)) {
        (void)printf(" by ");
        service_print(json_string_value(by), 0);
    }
    (void)putchar('\n');
}

/* Waits for a line of the person. 1: there is one. 0: the request was decided elsewhere, or the
 * terminal is closed. Keys that were pressed before the question are not an answer. */
static int read_answer(struct client *c, const char *id, char *line, struct err *e)
{
    (void)tcflush(STDIN_FILENO, TCIFLUSH);
    for (;;) {
        struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
        int n = poll(&p, 1, LOOK_MS);
        if (n < 0 && errno != EINTR)
            return err_set(e, ERR_KERNEL, errno, "wait for an answer");
        if (n > 0) {
            ssize_t got = read(STDIN_FILENO, line, LINE_MAX_BYTES - 1);
            line[got > 0 ? got : 0] = '\0';
            return got > 0 ? 1 : 0;
        }
        e->code = ERR_NONE;
        json_auto_t *other = decided_elsewhere(c, id, e);
        if (e->code != ERR_NONE)
            return -1;
        if (other) {
            tell_decision(other);
            return 0;
        }
    }
}

/* 1: the person quits. */
static int ask_person(struct client *c, const struct watch *w, const json_t *approval,
                      struct err *e)
{
    char line[LINE_MAX_BYTES];
    const char *id = json_string_value(json_object_get(approval, "id"));
    for (;;) {
        (void)printf("  approve, reject, skip or quit? [a/r/s/q] ");
        (void)fflush(stdout);
        int rc = read_answer(c, id, line, e);
        if (rc <= 0)
            return rc;
        char answer = line[0];
        if (answer == 'q')
            return 1;
        if (answer == 's')
            return 0;
        if (answer != 'a' && answer != 'r')
            continue;
        if (decide(c, approval, w->options, answer == 'a', e) == 0)
            return 0;
        if (e->code == ERR_UNAVAILABLE)
            return -1;
        (void)printf("  %s\n", e->text); /* somebody was faster, or it expired */
        return 0;
    }
}

/* 1: the person quits. */
static int show_new(struct client *c, struct watch *w, struct err *e)
{
    json_auto_t *answer = NULL;
    json_t *a;
    if (list(c, false, &answer, e))
        return -1;
    json_t *approvals = json_object_get(answer, "approvals");
    for (size_t i = json_array_size(approvals); i-- > 0;) { /* the oldest first */
        a = json_array_get(approvals, i);
        const char *id = json_string_value(json_object_get(a, "id"));
        scoped(buf) out = { 0 };
        if (!id || was_seen(w, id))
            continue;
        if (approval_add(&out, a, e))
            return -1;
        note_seen(w, id);
        print(&out);
        int rc = w->terminal ? ask_person(c, w, a, e) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

static int watch_line(struct client *c, void *context, struct err *e)
{
    struct watch *w = context;
    if (w->terminal)
        (void)fprintf(stderr, "belljar: waiting for runs that need an approval; Ctrl-C ends\n");
    for (;;) {
        int rc = show_new(c, w, e);
        if (rc)
            return rc > 0 ? 0 : -1;
        (void)usleep(LOOK_MS * 1000);
    }
}

static int verb_watch(void *options, int argc, char **argv, struct err *e)
{
    struct watch w = { .options = options,
                       .terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) };
    (void)argc;
    (void)argv;
    return service_follow(&w.options->service, watch_line, &w, e);
}

static const struct verb verbs[] = {
    { "ls", "", "lists the runs that wait for an approval", .run = verb_ls },
    { "show", "ID", "shows everything that a run would get, with its risks", 1, 1,
      .run = verb_show },
    { "approve", "ID...", "lets runs start", 1, ARGS_OPERANDS_ANY, .run = verb_approve },
    { "reject", "ID...", "ends runs before they start", 1, ARGS_OPERANDS_ANY, .run = verb_reject },
    { "watch", "", "shows each request as it comes, and asks for a decision", .run = verb_watch },
};

const struct cli_command approvals_command = {
    .name = "approvals",
    .summary = "show and decide the runs that wait for a person",
    .usage = (const char *const[]){ "ls [--all]", "show ID",
                                    "approve ID... [--remember SCOPE] [--prefix TEXT]",
                                    "reject ID... [--reason TEXT]", "watch", NULL },
    .description =
        "A run whose permission mode asks waits until a person decides. ID is the id of a "
        "request, or the last characters of it.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .verbs = verbs,
    .n_verbs = ARRAY_LEN(verbs),
    .examples = (const char *const[]){ "Decide on each request as it comes:",
                                       "belljar approvals watch", "Let one run start:",
                                       "belljar approvals approve 511b0145", NULL },
    .options_size = sizeof(struct approvals_options),
};
