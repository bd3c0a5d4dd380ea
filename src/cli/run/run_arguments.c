#include "cli/run/run_arguments.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strv.h"
#include "base/text.h"
#include "cli/args.h"
#include "run/command_line.h"
#include "spec/bundle.h"

enum { OPT_LIMIT = 1000 }; /* OPT_LIMIT + limit_id, for the rows of the limit table */

static const struct option_row {
    const char *name, *metavar;
    int key;
    const char *help;
} rows[] = {
    { "language", "LANG", 'l', "language; otherwise told by the file's name or by what is in it" },
    { "env", "K=V", 'e', "set a variable; can be repeated" },
    { "file", "HOST[:NAME]", 'f', "put a file beside the program; can be repeated" },
    { "out", "NAME[:HOST]", 'o', "fetch a file it made (no colon in NAME); can be repeated" },
    { "stdin", "FILE", 'i', "what the program reads; otherwise what belljar reads" },
    { "writable-root", NULL, 'w', "let the program write to / as well; thrown away with the rest" },
    { "isolation", "LEVEL", 'I', "jar, rootless or process; otherwise the strongest there is" },
    { "local", NULL, 'L', "never use a running service" },
    { "compiler-arg", "ARG", 'A', "for the compiler, such as -O3; can be repeated" },
    { "compile-limit", "LIMIT=N", 'M',
      "a limit of the compiler, named as below (timeout=60s); can be repeated" },
    { "no-cache", NULL, 'N', "compile anew, and keep nothing of it" },
    { "check-types", NULL, 'T', "TypeScript: errors of types are errors" },
    { "allow-command", "NAME", 'C', "bash, zsh: execute this and no others; can be repeated" },
    { "format", "FORMAT", 'F', "SQL: print tables as table, csv, markdown, json or html" },
    { "profile", NULL, 'P', "show where time and memory went" },
    { "no-diagnosis", NULL, 'D', "do not explain a failure" },
    { "json", NULL, 'j', "print one JSON object instead of the program's output" },
    { "help", NULL, 'h', "show this" },
};
enum { ROWS = ARRAY_LEN(rows) };

void run_command_help(void)
{
    (void)printf(
        "Usage: belljar run [OPTION]... FILE|- [-- ARG...]\n\n"
        "Runs a program in a sealed jar: a file, a Markdown file with a program in it, or - for\n"
        "standard input. The exit status is the program's own (of one that does not compile, the\n"
        "compiler's); 124 when it ran out of time, 137 out of memory, 153 when it printed too "
        "much,\n"
        "125 when belljar itself failed, 64 when the command line is wrong.\n\n");
    for (int i = 0; i < ROWS; i++) {
        char left[48];
        (void)snprintf(left, sizeof left, "%s--%s%s%s", rows[i].key == 'l' ? "-l, " : "    ",
                       rows[i].name, rows[i].metavar ? " " : "",
                       rows[i].metavar ? rows[i].metavar : "");
        (void)printf("  %-30s %s\n", left, rows[i].help);
    }
    (void)printf("\nLimits:\n");
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const struct limit_def *d = &limit_defs[i];
        char left[48], def[32];
        (void)snprintf(left, sizeof left, "    --%s %s", d->option, d->metavar);
        (void)printf("  %-30s %s (%s)\n", left, d->help,
                     unit_format(d->unit, d->def, def, sizeof def));
    }
}

static void build_getopt(struct option out[ROWS + LIMIT_COUNT + 1])
{
    int n = 0;
    for (int i = 0; i < ROWS; i++)
        out[n++] = (struct option){ rows[i].name, rows[i].metavar ? required_argument : no_argument,
                                    NULL, rows[i].key };
    for (int i = 0; i < LIMIT_COUNT; i++)
        out[n++] = (struct option){ limit_defs[i].option, required_argument, NULL, OPT_LIMIT + i };
    out[n] = (struct option){ 0 };
}

/* Splits at the last colon; without one the second part is the first's last component. */
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
    return bundle_name_check(ret->name, strlen(ret->name), e);
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

static int add_env(struct run_command *o, char *entry, struct err *e)
{
    char **grown = realloc(o->env, (o->n_env + 2) * sizeof *grown);
    if (!grown)
        return err_no_memory(e, "the options");
    o->env = grown;
    grown[o->n_env++] = entry;
    grown[o->n_env] = NULL;
    return env_check(entry, e);
}

static int set_language(struct run_command *o, const char *name, struct err *e)
{
    o->language = language_find(name);
    return o->language ? 0 : language_refuse(name, e);
}

static int set_level(struct run_command *o, const char *name, struct err *e)
{
    if (level_parse(name, &o->level))
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "isolation '%s' is not a level: jar, rootless, process and auto are accepted",
            QUOTED(name));
    return 0;
}

static int set_format(struct run_command *o, const char *word, struct err *e)
{
    for (int i = 0; table_formats[i]; i++) {
        if (strcmp(table_formats[i], word) == 0) {
            o->run_options.format = (enum table_format)i;
            return 0;
        }
    }
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "format '%s' is none: table, csv, markdown, json and html are accepted",
                   QUOTED(word));
}

static int set_compile_limit(struct run_command *o, const char *text, struct err *e)
{
    const char *equals = strchr(text, '=');
    for (int i = 0; equals && i < LIMIT_COUNT; i++) {
        const char *name = limit_defs[i].option;
        if (strlen(name) != (size_t)(equals - text) || strncmp(name, text, strlen(name)) != 0)
            continue;
        o->compile_limits_given |= LIMIT_BIT(i);
        return limit_parse((enum limit_id)i, equals + 1, &o->run_options.compile_limits, e);
    }
    char known[160] = "";
    for (size_t i = 0, used = 0; i < LIMIT_COUNT && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 limit_defs[i].option);
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "--compile-limit '%s' is not LIMIT=VALUE such as timeout=60s: %s are the limits",
                   QUOTED(text), known);
}

static int apply(struct run_command *o, int key, char *value, struct err *e)
{
    if (key >= OPT_LIMIT) {
        o->limits_given |= LIMIT_BIT(key - OPT_LIMIT);
        return limit_parse((enum limit_id)(key - OPT_LIMIT), value, &o->limits, e);
    }
    switch (key) {
    case 'l':
        return set_language(o, value, e);
    case 'e':
        return add_env(o, value, e);
    case 'f':
        return add_pair(&o->files, &o->n_files, BUNDLE_FILES_MAX - 1, value, true, e);
    case 'o':
        return add_pair(&o->outs, &o->n_outs, JAR_RUN_OUTPUTS_MAX, value, false, e);
    case 'i':
        o->stdin_file = value;
        return 0;
    case 'w':
        o->writable_root = true;
        return 0;
    case 'I':
        return set_level(o, value, e);
    case 'L':
        o->local = true;
        return 0;
    case 'A':
        return strv_add(&o->run_options.compiler_args, value, e);
    case 'M':
        return set_compile_limit(o, value, e);
    case 'C':
        return strv_add(&o->run_options.allow_commands, value, e);
    case 'F':
        return set_format(o, value, e);
    case 'N':
        o->run_options.no_cache = true;
        return 0;
    case 'T':
        o->run_options.check_types = true;
        return 0;
    case 'P':
        o->run_options.profile = true;
        return 0;
    case 'D':
        o->no_diagnosis = true;
        return 0;
    case 'j':
        o->json = true;
        return 0;
    default:
        o->help = true;
        return 0;
    }
}

int run_command_parse(struct run_command *o, int argc, char **argv, struct err *e)
{
    struct option options[ROWS + LIMIT_COUNT + 1];
    int ours = 0; /* how many words are for us: up to "--" */
    while (ours < argc && strcmp(argv[ours], "--") != 0)
        ours++;
    *o = (struct run_command){ .limits = limits_default(),
                               .level = LEVEL_AUTO,
                               .run_options = { .compile_limits = compile_limits_default() } };
    build_getopt(options);
    opterr = 0;
    optind = 1;
    for (int key; (key = getopt_long(ours, argv, ":l:h", options, NULL)) != -1;) {
        if (key == '?' || key == ':')
            return args_refuse_option("run", options, argv, key, e);
        if (apply(o, key, optarg, e))
            return -1;
    }
    if (o->help)
        return 0;
    if (optind >= ours)
        return err_set(e, ERR_USAGE, 0, "no file to run: a file name, or - for stdin, is needed");
    if (optind + 1 < ours) {
        return err_set(e, ERR_USAGE, 0,
                       "'%s' is one file too many: the program's own arguments follow --",
                       QUOTED(argv[optind + 1]));
    }
    o->file = argv[optind];
    o->args = ours < argc ? argv + ours + 1 : argv + argc;
    return 0;
}

void run_command_done(struct run_command *o)
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
    free(o->outs);
    free(o->env);
    run_options_done(&o->run_options);
}
