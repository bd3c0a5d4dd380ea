/* `belljar languages`: which there are here, how to get the others, and what is made in advance for them. */
#include "cli/commands/languages_command.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "runtime/declaration.h"
#include "runtime/dropins.h"

static const struct arg_row rows[] = {
    { "json", NULL, 'j', "print one JSON array instead of a table" },
    { "dry-run", NULL, 'd', "install: say what would be run, and run nothing" },
    { "help", NULL, ARG_HELP, "show this" },
};

static const struct arg_table table = {
    "languages",
    "Usage: belljar languages [--json]\n"
    "       belljar languages install NAME... [--dry-run]\n"
    "       belljar languages prepare [NAME]...\n"
    "       belljar languages show NAME\n\n"
    "Lists languages with their versions, and how to install those that are not there.\n"
    "'install' does it, as root or by sudo. 'prepare' makes what saves some languages time\n"
    "later, if it is not made yet. 'show' prints a declaration.\n\n"
    "A file NAME.lang with such a declaration in " DROPINS_DIR ", or in the directory that\n"
    "$" DROPINS_ENV " names, adds a language; the service's setting is languages.dir.\n",
    rows,
    ARRAY_LEN(rows),
};

struct languages_options {
    bool json, dry_run, help;
    char **names;
    int n_names;
};

static int apply(void *context, int key, char *value, struct err *e)
{
    struct languages_options *o = context;
    (void)value;
    (void)e;
    o->json = o->json || key == 'j';
    o->dry_run = o->dry_run || key == 'd';
    o->help = o->help || key == ARG_HELP;
    return 0;
}

static int find(const char *name, const struct language **ret, struct err *e)
{
    *ret = language_find(name);
    return *ret ? 0 : language_refuse(name, e);
}

static int choose(const struct languages_options *o, struct language_facts *f, struct err *e)
{
    f->named = o->n_names > 0;
    for (size_t i = 0; languages[i]; i++)
        f->chosen[i] = !f->named;
    for (int k = 0; k < o->n_names; k++) {
        const struct language *l;
        if (find(o->names[k], &l, e))
            return -1;
        for (size_t i = 0; languages[i]; i++)
            f->chosen[i] = f->chosen[i] || languages[i] == l;
    }
    versions_ask(f->versions);
    return 0;
}

/* ---- list ---- */
static json_t *words_json(const char *const *words)
{
    json_t *list = json_array();
    for (; *words; words++)
        (void)json_array_append_new(list, json_string(*words));
    return list;
}

static int list_json(const struct language_facts *f, struct err *e)
{
    json_auto_t *list = json_array();
    for (size_t i = 0; languages[i]; i++) {
        const struct language *l = languages[i];
        const char *version = f->versions[i][0] ? f->versions[i] : NULL;
        (void)json_array_append_new(
            list, json_pack("{s:s, s:o, s:o, s:s?, s:b, s:s, s:s, s:b}", "name", l->name, "aliases",
                            words_json(l->aliases), "extensions", words_json(l->extensions),
                            "version", version, "installed", version != NULL, "install", l->install,
                            "main_file", l->main_file, "compiled", l->compile != NULL));
    }
    if (!list || json_dumpf(list, stdout, JSON_COMPACT) != 0 || putchar('\n') == EOF)
        return err_set(e, ERR_KERNEL, 0, "the list could not be written");
    return 0;
}

static int list(const struct languages_options *o, struct err *e)
{
    struct language_facts f = { 0 };
    if (choose(o, &f, e))
        return -1;
    for (const char *const *problem = language_problems; *problem; problem++)
        (void)fprintf(stderr, "belljar: %s\n", *problem);
    if (o->json)
        return list_json(&f, e);
    (void)printf("%-12s %-12s %-10s %s\n", "LANGUAGE", "VERSION", "INSTALLED", "INSTALL");
    for (size_t i = 0; languages[i]; i++) {
        bool there = f.versions[i][0];
        (void)printf("%-12s %-12s %-10s %s\n", languages[i]->name, there ? f.versions[i] : "-",
                     there ? "yes" : "no", languages[i]->install);
    }
    return 0;
}

/* ---- the others ---- */
static int show(const struct languages_options *o, struct err *e)
{
    const struct language *l;
    scoped(buf) text = { 0 };
    if (o->n_names != 1)
        return err_set(e, ERR_USAGE, 0,
                       "languages show takes one name: see 'belljar languages "
                       "--help'");
    if (find(o->names[0], &l, e) || declaration_print(l, &text, e))
        return -1;
    (void)fputs(buf_str(&text), stdout);
    return 0;
}

static int prepare(const struct languages_options *o, struct err *e)
{
    struct language_facts f = { 0 };
    return choose(o, &f, e) || languages_prepare(&f, e) ? -1 : 0;
}

static int install(const struct languages_options *o, struct err *e)
{
    struct language_facts f = { 0 };
    char known[200];
    if (o->n_names == 0)
        return err_set(e, ERR_USAGE, 0, "languages install takes names: one or more of %s",
                       language_list(known, sizeof known));
    if (choose(o, &f, e) || languages_install(&f, o->dry_run, e))
        return -1;
    return o->dry_run ? 0 : languages_prepare(&f, e);
}

static int print_help(struct err *e)
{
    scoped(buf) text = { 0 };
    if (declaration_help(&text, e))
        return -1;
    args_help(&table);
    (void)printf("\nKeys of a declaration:\n%s", buf_str(&text));
    return 0;
}

int cmd_languages(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const struct languages_options *o, struct err *e);
    } verbs[] = {
        { "list", list }, { "install", install }, { "prepare", prepare }, { "show", show }
    };
    struct languages_options o = { 0 };
    struct err e = { 0 };
    int first;
    if (args_parse(&table, argc, argv, apply, &o, &first, &e))
        return cli_fail(&e);
    if (o.help)
        return print_help(&e) ? cli_fail(&e) : 0;
    const char *verb = first < argc ? argv[first] : "list";
    o.names = argv + first + 1;
    o.n_names = first + 1 < argc ? argc - first - 1 : 0;
    int rc = err_set(&e, ERR_USAGE, 0,
                     "languages '%s': list, install, prepare and show are accepted", QUOTED(verb));
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (strcmp(verbs[i].name, verb) == 0) {
            e = (struct err){ 0 };
            rc = verbs[i].run == list && o.n_names > 0 ? args_refuse_operand(&table, o.names[0], &e)
                                                       : verbs[i].run(&o, &e);
        }
    return rc < 0 ? cli_fail(&e) : rc;
}
