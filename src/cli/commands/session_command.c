/* `belljar session`: the sessions of the service. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "cli/cli.h"
#include "cli/commands/service_ask.h"

enum { COUNT_MAX = 100 };

struct session_options {
    const char *state;
    unsigned count;
    bool replay;
};

static int set_count(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    return args_count(row, value, COUNT_MAX, &((struct session_options *)options)->count, e);
}

static const struct arg_row rows[] = {
    { "count", "N", .apply = set_count, .help = "fork: the number of copies; 1 by default" },
    { "replay", .offset = offsetof(struct session_options, replay),
      .help = "wake: if the session cannot wake, run its cells again in a new program" },
    { "state", "DIR", .offset = offsetof(struct session_options, state),
      .values.kind = VALUES_DIRECTORY, .help = "state directory of the service" },
};

static void print_session(const json_t *s)
{
    service_print(json_string_value(json_object_get(s, "id")), 33);
    service_print(json_string_value(json_object_get(s, "language")), 12);
    service_print(json_string_value(json_object_get(s, "state")), 10);
    (void)printf("%5lld cells %6lld MiB  ",
                 (long long)json_integer_value(json_object_get(s, "cells")),
                 (long long)json_integer_value(json_object_get(s, "memory_bytes")) >> 20);
    service_print(json_string_value(json_object_get(s, "name")), 0);
    (void)putchar('\n');
}

static void print_list(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        print_session(json_array_get(list, i));
}

static int verb_ls(void *options, int argc, char **argv, struct err *e)
{
    const struct session_options *o = options;
    json_auto_t *answer = NULL;
    (void)argc;
    (void)argv;
    if (service_ask(o->state, "GET", "/v1/sessions", NULL, &answer, e))
        return -1;
    const json_t *list = json_object_get(answer, "sessions");
    if (json_array_size(list) == 0)
        (void)fprintf(stderr, "belljar: there are no sessions: 'belljar repl' opens one\n");
    print_list(list);
    return 0;
}

/* One request about one session, and the session that the answer is about. */
static int ask(const struct session_options *o, const char *method, const char *id,
               const char *verb, json_t *body, json_t **ret, struct err *e)
{
    autofree char *path = NULL;
    if (service_path("sessions", id, verb, &path, e)) {
        json_decref(body);
        return -1;
    }
    return service_ask(o->state, method, path, body, ret, e);
}

static int verb_fork(void *options, int argc, char **argv, struct err *e)
{
    const struct session_options *o = options;
    json_auto_t *answer = NULL;
    (void)argc;
    json_t *body = json_pack("{s:i}", "count", o->count ? (int)o->count : 1);
    if (ask(o, "POST", argv[0], "fork", body, &answer, e))
        return -1;
    print_list(json_object_get(answer, "sessions"));
    return 0;
}

static int change(void *options, const char *id, const char *method, const char *verb,
                  struct err *e)
{
    json_auto_t *answer = NULL;
    if (ask(options, method, id, verb, verb ? json_object() : NULL, &answer, e))
        return -1;
    return 0;
}

static int verb_sleep(void *options, int argc, char **argv, struct err *e)
{
    (void)argc;
    return change(options, argv[0], "POST", "sleep", e);
}

/* " 3 5 8", or " none" */
static void print_numbers(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        (void)fprintf(stderr, " %lld", (long long)json_integer_value(json_array_get(list, i)));
    if (json_array_size(list) == 0)
        (void)fprintf(stderr, " none");
}

static void print_replay(const json_t *r)
{
    (void)fprintf(stderr,
                  "belljar: the session could not wake, so %lld cells ran again in a new program\n"
                  "belljar: new cells that failed:",
                  (long long)json_integer_value(json_object_get(r, "cells")));
    print_numbers(json_object_get(r, "failed"));
    (void)fprintf(stderr, "; with other outputs than before:");
    print_numbers(json_object_get(r, "differs"));
    (void)fprintf(stderr, "; cells that did not run again:");
    print_numbers(json_object_get(r, "skipped"));
    (void)fputc('\n', stderr);
}

static int verb_wake(void *options, int argc, char **argv, struct err *e)
{
    const struct session_options *o = options;
    json_auto_t *answer = NULL;
    (void)argc;
    if (ask(o, "POST", argv[0], "wake", json_pack("{s:b}", "replay", o->replay), &answer, e))
        return -1;
    if (json_is_array(json_object_get(answer, "replay")))
        print_replay(json_object_get(answer, "replayed"));
    return 0;
}

static int verb_rm(void *options, int argc, char **argv, struct err *e)
{
    (void)argc;
    return change(options, argv[0], "DELETE", NULL, e);
}

static const struct verb verbs[] = {
    { "ls", "", "lists the sessions, awake and asleep", .run = verb_ls },
    { "fork", "ID", "copies a session with its variables and files", 1, 1, .run = verb_fork },
    { "sleep", "ID", "puts a session on the disk and frees its memory", 1, 1, .run = verb_sleep },
    { "wake", "ID", "wakes a session; the next cell would do so, too", 1, 1, .run = verb_wake },
    { "rm", "ID", "ends a session", 1, 1, .run = verb_rm },
};

const struct cli_command session_command = {
    .name = "session",
    .summary = "list, copy, put to sleep and end sessions of the service",
    .usage = (const char *const[]){ "ls", "fork ID [--count N]", "sleep ID", "wake ID [--replay]",
                                    "rm ID", NULL },
    .description = "Manages the sessions of the running service. 'belljar repl' opens one.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .verbs = verbs,
    .n_verbs = ARRAY_LEN(verbs),
    .examples = (const char *const[]){ "List the sessions:", "belljar session ls", NULL },
    .options_size = sizeof(struct session_options),
};
