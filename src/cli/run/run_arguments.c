/* The options of `belljar run` as rows. */
#include "cli/run/run_arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/strv.h"
#include "base/text.h"
#include "cli/guess.h"
#include "cli/run/run_mounts.h"
#include "cli/run/run_network.h"
#include "cli/run/stage_options.h"
#include "run/command_line.h"
#include "spec/bundle.h"

enum { BENCH_MAX = 1000 };

/* Splits at the last colon. Without a colon, the second part is the last component of the first. */
static int parse_pair(const char *text, bool host_first, struct file_pair *ret, struct err *e)
{
    const char *colon = strrchr(text, ':');
    size_t first_len = colon ? (size_t)(colon - text) : strlen(text);
    const char *slash = memrchr(text, '/', first_len);
    const char *second = colon ? colon + 1 : slash ? slash + 1 : text;
    char *a = strndup(text, first_len), *b = strdup(second);
    if (!a || !b) {
        free(a);
        free(b);
        return err_no_memory(e, "the options");
    }
    *ret = host_first ? (struct file_pair){ .host = a, .name = b }
                      : (struct file_pair){ .host = b, .name = a };
    return (host_first ? bundle_name_check : output_name_check)(ret->name, strlen(ret->name), e);
}

static int add_pair(struct file_pair **list, size_t *n, size_t max, const char *text,
                    bool host_first, struct err *e)
{
    struct file_pair *grown = realloc(*list, (*n + 1) * sizeof **list);
    if (!grown)
        return err_no_memory(e, "the options");
    *list = grown;
    grown[*n] = (struct file_pair){ 0 };
    if (*n >= max)
        return err_set(e, ERR_BAD_REQUEST, 0, "'%s' is one file too many: up to %zu are accepted",
                       text, max);
    return parse_pair(text, host_first, &grown[(*n)++], e);
}

int run_arguments_add_file(struct run_arguments *o, const char *path, struct err *e)
{
    scoped(buf) pair = { 0 };
    const char *slash = strrchr(path, '/');
    if (buf_addf(&pair, e, "%s:%s", path, slash ? slash + 1 : path))
        return -1;
    return add_pair(&o->files, &o->n_files, BUNDLE_FILES_MAX - 1, buf_str(&pair), true, e);
}

static int add_env(void *arguments, const struct arg_row *row, const char *value, struct err *e)
{
    (void)row;
    return env_check(value, e) ? -1 : strv_add(&((struct run_arguments *)arguments)->env, value, e);
}

static int add_file(void *arguments, const struct arg_row *row, const char *value, struct err *e)
{
    struct run_arguments *o = arguments;
    (void)row;
    return add_pair(&o->files, &o->n_files, BUNDLE_FILES_MAX - 1, value, true, e);
}

static int add_out(void *arguments, const struct arg_row *row, const char *value, struct err *e)
{
    struct run_arguments *o = arguments;
    (void)row;
    return add_pair(&o->outs, &o->n_outs, JAR_RUN_OUTPUTS_MAX, value, false, e);
}

static int set_level(void *arguments, const struct arg_row *row, const char *value, struct err *e)
{
    if (level_parse(value, &((struct run_arguments *)arguments)->level) == 0)
        return 0;
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "--%s '%s' is not a level: jar, rootless, process and auto are accepted",
                   row->name, QUOTED(value));
}

static int set_bench(void *arguments, const struct arg_row *row, const char *value, struct err *e)
{
    return args_count(row, value, BENCH_MAX, &((struct run_arguments *)arguments)->bench, e);
}

static int set_fixes(void *arguments, const struct arg_row *row, const char *value, struct err *e)
{
    struct run_arguments *o = arguments;
    (void)value;
    (void)e;
    o->run_options.fixes = row->def ? FIXES_TRY_NETWORK : FIXES_TRY;
    return 0;
}

static const char *level_at(const void *def, size_t i)
{
    (void)def;
    return i < LEVELS_TO_TRY ? level_name(levels_best_first[i]) : NULL;
}

#define AT(member) offsetof(struct run_arguments, member)
static const struct arg_row rows[] = {
    { "language", "LANG", .letter = 'l', .offset = AT(language), .apply = args_language,
      .values = { VALUES_WORDS, args_language_at },
      .help = "language; otherwise inferred from the name and the content of the file" },
    { "code", "CODE", .letter = 'c', .offset = AT(code),
      .help = "the program itself, in place of FILE" },
    { "env", "K=V", .repeats = true, .apply = add_env, .help = "set an environment variable" },
    { "file", "HOST[:NAME]", .repeats = true, .apply = add_file, .values.kind = VALUES_FILE,
      .help = "put a file beside the program" },
    { "out", "NAME[:HOST]", .repeats = true, .apply = add_out,
      .help = "save a file that the program wrote in /sandbox, or /tmp/... (no colon in NAME)" },
    { "stdin", "FILE", .offset = AT(stdin_file), .values.kind = VALUES_FILE,
      .help = "standard input of the program; otherwise that of belljar" },
    { "mount", "DIR[:NAME]", .repeats = true, .apply = run_mounts_add, .values.kind = VALUES_FILE,
      .help = "show a directory of yours read-only as /mnt/NAME, without files that look like "
              "secrets; no service is used" },
    { "mount-secrets", .offset = AT(mount_secrets),
      .help = "show files that look like secrets (.env, keys, .git/config), too" },
    { "template", "NAME", .offset = AT(template),
      .help = "begin in this template of the service ('belljar template' makes them)" },
    { "allow-net", "HOST[:PORT]", .repeats = true, .apply = run_network_add_host,
      .help = "let the program reach this host (ports 443 and 80), *.HOST, or a preset such as "
              "@pypi" },
    { "network", "MODE", .apply = run_network_set_mode, .shows_words = true,
      .values = { VALUES_WORDS, run_network_mode_at }, .default_text = "none",
      .help = "full: the program reaches every public host" },
    { "inject", "HOST:HEADER=SECRET", .repeats = true, .apply = run_network_add_inject,
      .help = "add a header with this secret to requests to a host of --allow-net, outside the jar "
              "('Bearer SECRET' adds a prefix)" },
    { "allow-private", "RANGE", .repeats = true, .apply = run_network_add_range,
      .help =
          "private addresses that allowed hosts may have, such as 10.0.0.0/8; no service is used" },
    { "isolation", "LEVEL", .apply = set_level, .shows_words = true,
      .values = { VALUES_WORDS, level_at }, .default_text = "the strongest here",
      .help = "isolation level" },
    { "writable-root", .offset = AT(writable_root),
      .help = "let the program write to /, too; the writes are discarded at its end" },
    { "strict", .offset = AT(strict),
      .help = "refuse to run where a limit cannot be enforced; no service is used" },
    { "local", .offset = AT(local), .help = "do not use a running service" },
    SERVICE_ROWS(struct run_arguments, service),
    { "stage", "[NAME=]COMMAND", .repeats = true, .apply = stage_option_add,
      .help = "run commands of bash in place of a program; the stages share one jar, and each one "
              "begins after the one before it passed" },
    { "expect-exit", "N", .repeats = true, .apply = stage_option_expect, .default_text = "0",
      .help = "the exit status with which the --stage before it passes" },
    { "stage-limit", "LIMIT=N", .repeats = true, .apply = stage_option_limit,
      .help = "a limit of the --stage before it", .example = "timeout=60s" },
    { "stages", "FILE", .offset = AT(stages_file), .values.kind = VALUES_FILE,
      .help = "a JSON file with the list of stages, as POST /v1/runs takes it" },
    { "json", .offset = AT(json),
      .help = "print one JSON object instead of the output of the program" },
    { "bench", "N", .apply = set_bench,
      .help = "run it N times by a service, and tell the spread of its times" },
    { "fix", .apply = set_fixes,
      .help =
          "if the program fails, run it again with each suggested line, and tell the outcomes" },
    { "fix-with-network", .apply = set_fixes, .def = "",
      .help = "the same, also for a program with a network" },
    { "no-diagnosis", .offset = AT(no_diagnosis), .help = "do not explain a failure" },
};
#undef AT

/* ---- rows of other tables ---- */

static int apply_run_option(void *arguments, const struct arg_row *row, const char *value,
                            struct err *e)
{
    return run_option_parse(&((struct run_arguments *)arguments)->run_options, row->def, value, e);
}

static int apply_limit(void *arguments, const struct arg_row *row, const char *value, struct err *e)
{
    struct run_arguments *o = arguments;
    const struct limit_def *d = row->def;
    enum limit_id id = (enum limit_id)(d - limit_defs);
    o->limits_given |= LIMIT_BIT(id);
    return limit_parse(id, value, &o->limits, e);
}

static const char *choice_at(const void *def, size_t i)
{
    return ((const struct run_option_def *)def)->words[i];
}

static struct arg_row run_option_row(const struct run_option_def *d)
{
    bool choice = d->kind == RUN_OPTION_CHOICE;
    return (struct arg_row){ .name = d->option,
                             .metavar = d->metavar,
                             .help = d->help,
                             .example = d->example,
                             .repeats = d->metavar && !choice,
                             .shows_words = choice,
                             .values = { choice ? VALUES_WORDS : VALUES_ANY, choice_at },
                             .apply = apply_run_option,
                             .def = d };
}

static struct arg_row limit_row(const struct limit_def *d)
{
    struct arg_row row = { .name = d->option,
                           .metavar = d->metavar,
                           .help = d->help,
                           .group = "Limits",
                           .apply = apply_limit,
                           .def = d };
    unit_format(d->unit, d->def, row.default_text, sizeof row.default_text);
    return row;
}

size_t run_arguments_rows(struct arg_row *out)
{
    size_t n = ARRAY_LEN(rows);
    memcpy(out, rows, sizeof rows);
    for (int i = 0; i < RUN_OPTION_COUNT; i++)
        if (run_option_defs[i].option)
            out[n++] = run_option_row(&run_option_defs[i]);
    for (int i = 0; i < LIMIT_COUNT; i++)
        out[n++] = limit_row(&limit_defs[i]);
    return n;
}

_Static_assert(ARRAY_LEN(rows) + RUN_OPTION_COUNT + LIMIT_COUNT < ARGS_ROWS_MAX,
               "a table has room for all of them and --help");

void run_arguments_init(void *arguments)
{
    *(struct run_arguments *)arguments = (struct run_arguments){
        .limits = limits_default(),
        .level = LEVEL_AUTO,
        .run_options = { .compile_limits = compile_limits_default() }
    };
}

int run_arguments_settle(struct run_arguments *o, struct err *e)
{
    uint64_t most = limit_defs[LIMIT_CPU_MS].max;
    if (run_network_check(o, e) || run_mounts_check(o, e))
        return -1;
    limits_raise_cpu(&o->limits, o->limits_given, most);
    limits_raise_cpu(&o->run_options.compile_limits, o->run_options.compile_limits_given, most);
    return 0;
}

int run_arguments_take(struct run_arguments *o, int argc, char **argv, struct err *e)
{
    if (argc == 0 && !o->code && !guess_is_piped())
        return err_set(e, ERR_USAGE, 0,
                       "no program to run: a file name, - for stdin, or -c CODE is needed; see "
                       "'belljar run --help'");
    if (run_arguments_settle(o, e))
        return -1;
    /* The words behind FILE, and those behind "--", are for the program. */
    bool names_file = argc > 0 && !o->code;
    o->file = names_file ? argv[0] : "-";
    o->args = argv + (names_file ? 1 : 0);
    for (char **word = argv + argc; *word; word++) /* the first one is "--" */
        word[0] = word[1];
    return 0;
}

void run_arguments_done(struct run_arguments *o)
{
    for (size_t i = 0; i < o->n_files; i++) {
        free(o->files[i].host);
        free(o->files[i].name);
    }
    for (size_t i = 0; i < o->n_outs; i++) {
        free(o->outs[i].host);
        free(o->outs[i].name);
    }
    free(o->files);
    json_decref(o->stages);
    free(o->project);
    free(o->outs);
    strv_free(o->env);
    strv_free(o->allow_net);
    strv_free(o->allow_private);
    strv_free(o->inject);
    strv_free(o->mount_roots);
    strv_free(o->mount_names);
    strv_free(o->mounts);
    buf_done(&o->network_grants);
    network_policy_done(&o->network);
    buf_done(&o->network_private);
    run_options_done(&o->run_options);
}
