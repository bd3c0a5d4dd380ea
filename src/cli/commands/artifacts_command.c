/* `belljar artifacts`: texts with versions that the service keeps. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands/plain.h"
#include "cli/commands/service_ask.h"
#include "cli/commands/service_line.h"
#include "client/client.h"
#include "runtime/language.h"
#include "spec/bundle.h"

enum { RUN_FAILED = 125, PAGES_MAX = 1000 };

struct artifacts_options {
    struct service_choice service;
    const char *title, *language, *stdin_file;
    bool json;
};

#define AT(member) offsetof(struct artifacts_options, member)
static const struct arg_row rows[] = {
    { "title", "TEXT", .offset = AT(title),
      .help = "add, update: the title; the name of the file by default" },
    { "language", "LANG", .letter = 'l', .offset = AT(language),
      .help = "add: a language, html, mermaid, ...; otherwise inferred from the file" },
    { "stdin", "FILE", .offset = AT(stdin_file), .values.kind = VALUES_FILE,
      .help = "run: the input of the program; otherwise empty" },
    { "json", .offset = AT(json), .help = "print the answer of the service" },
    SERVICE_ROWS(struct artifacts_options, service),
};
#undef AT

static void client_end(struct client **c)
{
    client_done(c);
}

static int print_json(const json_t *o, struct err *e)
{
    bool failed = json_dumpf(o, stdout, JSON_COMPACT) < 0 || putchar('\n') == EOF ||
                  fflush(stdout) == EOF;
    return failed ? err_set(e, ERR_KERNEL, errno, "write the answer") : 0;
}

static void print_row(const json_t *a)
{
    service_print(json_string_value(json_object_get(a, "id")), 33);
    (void)printf("v%-4lld ", (long long)json_integer_value(json_object_get(a, "version")));
    service_print(json_string_value(json_object_get(a, "language")), 12);
    service_print(json_string_value(json_object_get(a, "title")), 0);
    (void)putchar('\n');
}

static int print_text(const char *text, size_t n, FILE *out, struct err *e)
{
    bool failed = (n > 0 && fwrite(text, 1, n, out) != n) || fflush(out) == EOF;
    return failed ? err_set(e, ERR_KERNEL, errno, "write the text") : 0;
}

/* "/api/artifacts/ID[/VERB]" */
static int path_of(const char *id, const char *verb, char **ret, struct err *e)
{
    scoped(buf) path = { 0 };
    if (!*id || strchr(id, '/'))
        return err_set(e, ERR_USAGE, 0, "'%s' is no id: 'belljar artifacts ls' lists them",
                       QUOTED(id));
    if (buf_addf(&path, e, "/api/artifacts/") || client_add_escaped(&path, id, e) ||
        (verb && buf_addf(&path, e, "/%s", verb)))
        return -1;
    *ret = strdup(buf_str(&path));
    return *ret ? 0 : err_no_memory(e, "a request to the service");
}

static int ask(const struct artifacts_options *o, const char *method, const char *id,
               const char *verb, json_t *body, json_t **ret, struct err *e)
{
    autofree char *path = NULL;
    if (path_of(id, verb, &path, e)) {
        json_decref(body);
        return -1;
    }
    return service_ask(&o->service, method, path, body, ret, e);
}

/* ---- ls ---- */

static int list_pages(struct client *c, json_t *all, struct err *e)
{
    char path[256] = "/v1/artifacts";
    for (int page = 0; page < PAGES_MAX; page++) {
        json_auto_t *answer = NULL;
        scoped(buf) next = { 0 };
        if (service_line_ask(c, "GET", path, NULL, &answer, e))
            return -1;
        (void)json_array_extend(all, json_object_get(answer, "artifacts"));
        const char *cursor = json_string_value(json_object_get(answer, "next_cursor"));
        if (!cursor)
            return 0;
        if (buf_addf(&next, e, "/v1/artifacts?cursor=") || client_add_escaped(&next, cursor, e))
            return -1;
        (void)snprintf(path, sizeof path, "%s", buf_str(&next));
    }
    return 0;
}

static int verb_ls(void *options, int argc, char **argv, struct err *e)
{
    const struct artifacts_options *o = options;
    __attribute__((cleanup(client_end))) struct client *c = NULL;
    json_auto_t *all = json_array();
    (void)argc;
    (void)argv;
    if (service_line_open(&o->service, &c, e) || list_pages(c, all, e))
        return -1;
    if (o->json)
        return print_json(all, e);
    if (json_array_size(all) == 0)
        (void)fprintf(stderr,
                      "belljar: there are no artifacts: 'belljar artifacts add FILE' makes one\n");
    for (size_t i = 0; i < json_array_size(all); i++)
        print_row(json_array_get(all, i));
    return 0;
}

/* ---- one artifact ---- */

static int verb_show(void *options, int argc, char **argv, struct err *e)
{
    const struct artifacts_options *o = options;
    json_auto_t *a = NULL;
    (void)argc;
    if (ask(o, "GET", argv[0], NULL, NULL, &a, e))
        return -1;
    const json_t *content = json_object_get(a, "content");
    const char *text = json_string_value(content);
    if (o->json)
        return print_json(a, e);
    if (!isatty(STDOUT_FILENO))
        return print_text(text ? text : "", json_string_length(content), stdout, e);
    for (const char *line = text; line && *line;) { /* strangers wrote it */
        size_t n = strcspn(line, "\n");
        scoped(buf) plain = { 0 };
        if (plain_add(&plain, line, n, e))
            return -1;
        (void)printf("%s\n", buf_str(&plain));
        line += n + (line[n] == '\n');
    }
    return 0;
}

static int verb_versions(void *options, int argc, char **argv, struct err *e)
{
    const struct artifacts_options *o = options;
    json_auto_t *all = NULL;
    (void)argc;
    if (ask(o, "GET", argv[0], "versions", NULL, &all, e))
        return -1;
    if (o->json)
        return print_json(all, e);
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *a = json_array_get(all, i);
        (void)printf("v%-4lld ", (long long)json_integer_value(json_object_get(a, "version")));
        service_print(json_string_value(json_object_get(a, "updated_at")), 26);
        service_print(json_string_value(json_object_get(a, "title")), 0);
        (void)putchar('\n');
    }
    return 0;
}

static int read_text(const char *path, struct buf *ret, struct err *e)
{
    bool piped = strcmp(path, "-") == 0;
    autoclose int fd = piped ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                             : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_set(e, ERR_BAD_REQUEST, errno, "open '%s'", QUOTED(path));
    if (fd_read_to_buf(fd, BUNDLE_FILE_MAX_BYTES, ret, e))
        return err_wrap(e, "'%s'", QUOTED(path));
    return text_is_utf8(buf_str(ret), ret->len)
               ? 0
               : err_set(e, ERR_BAD_REQUEST, 0, "'%s' is not UTF-8 text", QUOTED(path));
}

static int tell(const struct artifacts_options *o, const json_t *a, struct err *e)
{
    if (o->json)
        return print_json(a, e);
    print_row(a);
    return 0;
}

static int verb_add(void *options, int argc, char **argv, struct err *e)
{
    const struct artifacts_options *o = options;
    scoped(buf) text = { 0 };
    json_auto_t *made = NULL;
    const char *slash = strrchr(argv[0], '/');
    (void)argc;
    if (read_text(argv[0], &text, e))
        return -1;
    const struct language *l = language_guess(argv[0], buf_str(&text), text.len);
    if (!o->language && !l)
        return err_set(e, ERR_USAGE, 0,
                       "the language of '%s' is not known: give --language, such as python, html "
                       "or markdown",
                       QUOTED(argv[0]));
    json_t *body = json_pack("{s:o, s:s, s:s}", "content",
                             json_stringn_nocheck(buf_str(&text), text.len), "title",
                             o->title ? o->title
                             : slash  ? slash + 1
                                      : argv[0],
                             "language", o->language ? o->language : l->name);
    if (!body)
        return err_set(e, ERR_BAD_REQUEST, 0, "the title is not UTF-8 text: give --title");
    if (service_ask(&o->service, "POST", "/api/artifacts/create", body, &made, e))
        return -1;
    return tell(o, made, e);
}

static int verb_update(void *options, int argc, char **argv, struct err *e)
{
    const struct artifacts_options *o = options;
    scoped(buf) text = { 0 };
    json_auto_t *made = NULL;
    (void)argc;
    if (read_text(argv[1], &text, e))
        return -1;
    json_t *body = json_pack("{s:o}", "content", json_stringn_nocheck(buf_str(&text), text.len));
    if (o->title)
        (void)json_object_set_new(body, "title", json_string(o->title));
    return ask(o, "PUT", argv[0], NULL, body, &made, e) ? -1 : tell(o, made, e);
}

static int verb_fork(void *options, int argc, char **argv, struct err *e)
{
    json_auto_t *made = NULL;
    (void)argc;
    return ask(options, "POST", argv[0], "fork", NULL, &made, e) ? -1 : tell(options, made, e);
}

static int verb_rm(void *options, int argc, char **argv, struct err *e)
{
    const struct artifacts_options *o = options;
    autofree char *path = NULL;
    (void)argc;
    if (path_of(argv[0], NULL, &path, e))
        return -1;
    return service_delete(&o->service, path, e);
}

/* The output of the program, and its status. */
static int verb_run(void *options, int argc, char **argv, struct err *e)
{
    const struct artifacts_options *o = options;
    scoped(buf) input = { 0 };
    json_auto_t *answer = NULL;
    (void)argc;
    if (o->stdin_file && read_text(o->stdin_file, &input, e))
        return -1;
    json_t *body = json_pack("{s:o}", "stdin", json_stringn_nocheck(buf_str(&input), input.len));
    if (ask(o, "POST", argv[0], "execute", body, &answer, e))
        return -1;
    if (o->json)
        return print_json(answer, e);
    const json_t *run = json_object_get(answer, "execution"),
                 *output = json_object_get(run, "output"), *error = json_object_get(run, "error");
    json_int_t status = json_integer_value(json_object_get(run, "return_code"));
    if ((json_is_string(output) &&
         print_text(json_string_value(output), json_string_length(output), stdout, e)) ||
        (json_is_string(error) &&
         print_text(json_string_value(error), json_string_length(error), stderr, e)))
        return -1;
    return status >= 0 && status <= 255 ? (int)status : RUN_FAILED;
}

static const struct verb verbs[] = {
    { "ls", "", "lists the artifacts, newest first", .run = verb_ls },
    { "show", "ID", "prints the text of an artifact", 1, 1, .run = verb_show },
    { "versions", "ID", "lists the versions of an artifact", 1, 1, .run = verb_versions },
    { "add", "FILE", "keeps a file, or stdin for -, as an artifact", 1, 1,
      .values.kind = VALUES_FILE, .run = verb_add },
    { "update", "ID FILE", "makes a new version of an artifact", 2, 2, .values.kind = VALUES_FILE,
      .run = verb_update },
    { "fork", "ID", "copies an artifact", 1, 1, .run = verb_fork },
    { "run", "ID", "runs an artifact, and prints its output", 1, 1, .run = verb_run },
    { "rm", "ID", "deletes an artifact with all versions", 1, 1, .run = verb_rm },
};

const struct cli_command artifacts_command = {
    .name = "artifacts",
    .summary = "keep, list, show and run artifacts of the service",
    .usage = (const char *const[]){ "ls", "show ID", "versions ID",
                                    "add FILE [--title TEXT] [--language LANG]", "update ID FILE",
                                    "fork ID", "run ID [--stdin FILE]", "rm ID", NULL },
    .description = "An artifact is a text with versions: a program, a page, a diagram. The service "
                   "keeps it until it is deleted.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .verbs = verbs,
    .n_verbs = ARRAY_LEN(verbs),
    .statuses = (const char *const[]){ "0", "done", "1..255", "run: the exit status of the program",
                                       NULL },
    .examples = (const char *const[]){ "Keep a program, and run it later:",
                                       "belljar artifacts add report.py", NULL },
    .options_size = sizeof(struct artifacts_options),
};
