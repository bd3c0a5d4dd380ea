/* `belljar session`: the sessions of the service. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands/service_ask.h"
#include "cli/repl/repl.h"

enum { COUNT_MAX = 100 };

struct session_options {
    struct service_choice service;
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
    SERVICE_ROWS(struct session_options, service),
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
    if (service_ask(&o->service, "GET", "/v1/sessions", NULL, &answer, e))
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
    return service_ask(&o->service, method, path, body, ret, e);
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

/* ---- sessions as files ---- */

/* A child talks to the service: it gives up rights that its parent needs afterwards. Its exit status. */
static int wait_for(pid_t pid, struct err *e)
{
    int status = 0;
    if (pid < 0)
        return err_set(e, ERR_KERNEL, errno, "start a process");
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int verb_export(void *options, int argc, char **argv, struct err *e)
{
    const struct session_options *o = options;
    const char *name = argc > 1 ? argv[1] : "-";
    bool to_file = strcmp(name, "-") != 0;
    autofree char *path = NULL;
    if (service_path("sessions", argv[0], "image", &path, e))
        return -1;
    autoclose int fd = to_file ? open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
                               : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
        return err_set(e, ERR_BAD_REQUEST, errno, "make '%s'", QUOTED(name));
    if (!to_file && isatty(fd))
        return err_set(e, ERR_USAGE, 0, "an exported session is no text: give a FILE, or a pipe");
    pid_t pid = fork();
    if (pid == 0)
        _exit(service_download(&o->service, path, fd, e) ? cli_fail(e) : 0);
    int status = wait_for(pid, e);
    if (status != 0 && to_file)
        (void)unlink(name);
    return status;
}

/* The service must know the length first. */
static int keep_input(int fd, int *ret, struct err *e)
{
    autoclose int kept = open("/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    char bytes[1 << 16];
    ssize_t n;
    if (kept < 0)
        return err_set(e, ERR_KERNEL, errno, "make a file in /tmp");
    while ((n = read(fd, bytes, sizeof bytes)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || fd_write_all(kept, bytes, (size_t)n))
            return err_set(e, ERR_KERNEL, errno, "keep the input");
    }
    if (lseek(kept, 0, SEEK_SET) < 0)
        return err_set(e, ERR_KERNEL, errno, "keep the input");
    *ret = fd_take(&kept);
    return 0;
}

static int verb_import(void *options, int argc, char **argv, struct err *e)
{
    const struct session_options *o = options;
    const char *name = argc > 0 ? argv[0] : "-";
    json_auto_t *answer = NULL;
    struct stat st;
    autoclose int kept = -1;
    autoclose int fd = strcmp(name, "-") != 0 ? open(name, O_RDONLY | O_CLOEXEC)
                                              : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
        return err_set(e, ERR_BAD_REQUEST, errno, "open '%s'", QUOTED(name));
    if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode) && keep_input(fd, &kept, e))
        return -1;
    int from = kept >= 0 ? kept : fd;
    if (fstat(from, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "look at '%s'", QUOTED(name));
    if (service_upload(&o->service, "/v1/sessions?from=image", from, (uint64_t)st.st_size, &answer,
                       e))
        return -1;
    print_session(answer);
    return 0;
}

/* ---- at the terminal ---- */

static int language_of(const struct session_options *o, const char *id, char out[64], struct err *e)
{
    int ends[2];
    json_auto_t *answer = NULL;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a pipe");
    pid_t pid = fork();
    if (pid == 0) {
        if (ask(o, "GET", id, NULL, NULL, &answer, e))
            _exit(cli_fail(e));
        const char *name = json_string_value(json_object_get(answer, "language"));
        _exit(name && fd_write_all(ends[1], name, strlen(name)) == 0 ? 0 : 1);
    }
    (void)close(ends[1]);
    ssize_t n = pid > 0 ? read(ends[0], out, 63) : -1;
    (void)close(ends[0]);
    out[n > 0 ? n : 0] = '\0';
    return wait_for(pid, e);
}

static int verb_attach(void *options, int argc, char **argv, struct err *e)
{
    const struct session_options *o = options;
    char language[64];
    (void)argc;
    int status = language_of(o, argv[0], language, e);
    if (status != 0) /* the child has said why */
        return status;
    return repl_attach(language, argv[0], &o->service, e);
}

/* Without a host it has no network any more. */
static int verb_network(void *options, int argc, char **argv, struct err *e)
{
    json_auto_t *answer = NULL;
    json_t *list = json_array();
    for (int i = 1; i < argc; i++)
        (void)json_array_append_new(list, json_string(argv[i]));
    return ask(options, "PATCH", argv[0], NULL, json_pack("{s:{s:o}}", "network", "allow", list),
               &answer, e);
}

static const struct verb verbs[] = {
    { "ls", "", "lists the sessions, awake and asleep", .run = verb_ls },
    { "fork", "ID", "copies a session with its variables and files", 1, 1, .run = verb_fork },
    { "attach", "ID", "goes on in a session at the terminal, as 'belljar repl --session ID'", 1, 1,
      .run = verb_attach },
    { "export", "ID [FILE]", "writes a session into a new file, or to stdout", 1, 2,
      .values.kind = VALUES_FILE, .run = verb_export },
    { "import", "[FILE]", "starts a session from such a file, or from stdin", 0, 1,
      .values.kind = VALUES_FILE, .run = verb_import },
    { "network", "ID [HOST[:PORT]]...",
      "sets the hosts that a session may reach; without one, none", 1, 256, .run = verb_network },
    { "sleep", "ID", "puts a session on the disk and frees its memory", 1, 1, .run = verb_sleep },
    { "wake", "ID", "wakes a session; the next cell would do so, too", 1, 1, .run = verb_wake },
    { "rm", "ID", "ends a session", 1, 1, .run = verb_rm },
};

const struct cli_command session_command = {
    .name = "session",
    .summary = "list, copy, export, put to sleep and end sessions of the service",
    .usage = (const char *const[]){ "ls", "attach ID", "fork ID [--count N]", "export ID [FILE]",
                                    "import [FILE]", "network ID [HOST[:PORT]]...", "sleep ID",
                                    "wake ID [--replay]", "rm ID", NULL },
    .description = "Manages the sessions of the running service. 'belljar repl' opens one.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .verbs = verbs,
    .n_verbs = ARRAY_LEN(verbs),
    .examples = (const char *const[]){ "List the sessions:", "belljar session ls",
                                       "Move a session to another machine:",
                                       "belljar session export ses_1 ses_1.image", NULL },
    .options_size = sizeof(struct session_options),
};
