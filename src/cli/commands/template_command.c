/* `belljar template`: states of the service that programs begin in. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands/service_ask.h"
#include "runtime/language.h"
#include "spec/bundle.h"
#include "spec/limit.h"

struct template_options {
    struct service_choice service;
    const struct language *language; /* NULL: inferred from the file */
    struct limits limits;
    limit_set given;
    bool shared;
};

static int set_memory(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    struct template_options *o = options;
    (void)row;
    o->given |= LIMIT_BIT(LIMIT_MEMORY);
    return limit_parse(LIMIT_MEMORY, value, &o->limits, e);
}

static int set_timeout(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    struct template_options *o = options;
    (void)row;
    o->given |= LIMIT_BIT(LIMIT_WALL_MS);
    return limit_parse(LIMIT_WALL_MS, value, &o->limits, e);
}

#define AT(member) offsetof(struct template_options, member)
static const struct arg_row rows[] = {
    { "language", "LANG", .letter = 'l', .offset = AT(language), .apply = args_language,
      .values = { VALUES_WORDS, args_language_at },
      .help = "create: the language; otherwise inferred from the name of the file" },
    { "memory", "SIZE", .apply = set_memory, .help = "create: memory limit of the setup" },
    { "timeout", "TIME", .apply = set_timeout, .help = "create: time limit of the setup" },
    { "shared", .offset = AT(shared), .help = "create: every key may use it" },
    SERVICE_ROWS(struct template_options, service),
};
#undef AT

static int read_setup(const char *path, struct buf *ret, struct err *e)
{
    autoclose int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO)
                                              : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, ERR_BAD_REQUEST, errno, "open '%s'", QUOTED(path));
    if (fd_read_to_buf(fd, BUNDLE_FILE_MAX_BYTES, ret, e))
        return -1;
    return text_is_utf8(buf_str(ret), ret->len)
               ? 0
               : err_set(e, ERR_BAD_REQUEST, 0, "'%s' is not UTF-8 text", QUOTED(path));
}

static int verb_create(void *options, int argc, char **argv, struct err *e)
{
    const struct template_options *o = options;
    const char *name = argv[0], *path = argc > 1 ? argv[1] : "-";
    scoped(buf) setup = { 0 };
    json_t *answer;
    if (read_setup(path, &setup, e))
        return -1;
    const struct language *l = o->language ? o->language
                                           : language_guess(path, buf_str(&setup), setup.len);
    if (!l)
        return err_set(e, ERR_USAGE, 0, "the language of '%s' is not known: give --language",
                       QUOTED(path));
    json_t *body = json_pack("{s:s, s:s, s:o, s:b}", "name", name, "language", l->name, "setup",
                             json_stringn_nocheck(buf_str(&setup), setup.len), "shared", o->shared);
    if (o->given & LIMIT_BIT(LIMIT_MEMORY))
        (void)json_object_set_new(
            body, "limits", json_pack("{s:I}", "memory", (json_int_t)o->limits.v[LIMIT_MEMORY]));
    if (o->given & LIMIT_BIT(LIMIT_WALL_MS))
        (void)json_object_set_new(
            body, "cell_limits",
            json_pack("{s:I}", "wall_ms", (json_int_t)o->limits.v[LIMIT_WALL_MS]));
    if (service_ask(&o->service, "POST", "/v1/templates", body, &answer, e))
        return -1;
    (void)fprintf(stderr, "belljar: template '%s' is ready: belljar run --template %s FILE\n", name,
                  name);
    json_decref(answer);
    return 0;
}

static int verb_ls(void *options, int argc, char **argv, struct err *e)
{
    const struct template_options *o = options;
    json_auto_t *answer = NULL;
    json_t *t;
    size_t i;
    (void)argc;
    (void)argv;
    if (service_ask(&o->service, "GET", "/v1/templates", NULL, &answer, e))
        return -1;
    json_t *list = json_object_get(answer, "templates");
    if (json_array_size(list) == 0)
        (void)fprintf(stderr,
                      "belljar: there are no templates: 'belljar template create NAME FILE' "
                      "makes one\n");
    json_array_foreach(list, i, t) {
        service_print(json_string_value(json_object_get(t, "name")), 25);
        service_print(json_string_value(json_object_get(t, "language")), 12);
        (void)printf("%6lld MiB  %-7s ",
                     (long long)json_integer_value(json_object_get(t, "bytes")) >> 20,
                     json_is_true(json_object_get(t, "shared")) ? "shared" : "");
        service_print(json_string_value(json_object_get(t, "created_at")), 0);
        (void)putchar('\n');
    }
    return 0;
}

static int verb_rm(void *options, int argc, char **argv, struct err *e)
{
    const struct template_options *o = options;
    autofree char *path = NULL;
    json_t *answer;
    (void)argc;
    if (service_path("templates", argv[0], NULL, &path, e) ||
        service_ask(&o->service, "DELETE", path, NULL, &answer, e))
        return -1;
    json_decref(answer);
    return 0;
}

static const struct verb verbs[] = {
    { "create", "NAME [FILE]", "runs FILE, or stdin, once and keeps its state under this name", 1,
      2, .values.kind = VALUES_FILE, .run = verb_create },
    { "ls", "", "lists your templates and the shared ones", .run = verb_ls },
    { "rm", "NAME", "deletes a template", 1, 1, .run = verb_rm },
};

const struct cli_command template_command = {
    .name = "template",
    .summary = "make, list and delete templates of the service",
    .usage = (const char *const[]){ "create NAME [FILE] [--language LANG] [--memory SIZE] "
                                    "[--timeout TIME] [--shared]",
                                    "ls", "rm NAME", NULL },
    .description = "A template is a state that programs begin in: modules that are imported, data "
                   "in memory, files. Its setup runs once; every run from it has a jar of its own.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .verbs = verbs,
    .n_verbs = ARRAY_LEN(verbs),
    .examples = (const char *const[]){ "Keep a state with pandas and a table:",
                                       "belljar template create sales setup.py",
                                       "Run a program in it:",
                                       "belljar run --template sales report.py", NULL },
    .options_size = sizeof(struct template_options),
};
