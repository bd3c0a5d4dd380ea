/* `belljar languages`: lists, installs and prepares languages. */
#include "cli/commands/languages_command.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/manual/page.h"
#include "runtime/declaration.h"
#include "runtime/dropins.h"

struct languages_options {
    bool json, dry_run;
    char **names;
    int n_names;
};

#define AT(member) offsetof(struct languages_options, member)
static const struct arg_row rows[] = {
    { "json", .offset = AT(json), .help = "print one JSON array instead of a table" },
    { "dry-run", .offset = AT(dry_run),
      .help = "install: print the commands, and run none of them" },
};
#undef AT

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
        return err_set(e, ERR_KERNEL, errno, "write the list");
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
        return err_set(e, ERR_USAGE, 0,
                       "languages install needs a name: one or more of %s are accepted",
                       language_list(known, sizeof known));
    if (choose(o, &f, e) || languages_install(&f, o->dry_run, e))
        return -1;
    return o->dry_run ? 0 : languages_prepare(&f, e);
}

static void put_keys(struct page *p)
{
    struct declaration_key k;
    page_section(p, "Keys of a declaration");
    for (size_t i = 0; declaration_describe(i, &k); i++) {
        char term[64], text[300];
        (void)snprintf(term, sizeof term, "%s = %s", k.name, k.kind);
        (void)snprintf(text, sizeof text, "%s%s", k.help, k.required ? " (required)" : "");
        page_item(p, term, text);
    }
}

/* Each verb takes the names. */
#define VERB(function)                                                              \
    static int verb_##function(void *options, int argc, char **argv, struct err *e) \
    {                                                                               \
        struct languages_options *o = options;                                      \
        o->names = argv;                                                            \
        o->n_names = argc;                                                          \
        return function(o, e);                                                      \
    }
VERB(list)
VERB(install)
VERB(prepare)
VERB(show)
#undef VERB

static const struct verb verbs[] = {
    { "list", "", "lists the languages; the default", .run = verb_list },
    { "install",
      "NAME...",
      "installs languages, as root or with sudo",
      0,
      ARGS_OPERANDS_ANY,
      { VALUES_WORDS, args_language_at },
      verb_install },
    { "prepare",
      "[NAME]...",
      "makes data in advance, such as precompiled headers, so that programs start faster",
      0,
      ARGS_OPERANDS_ANY,
      { VALUES_WORDS, args_language_at },
      verb_prepare },
    { "show",
      "NAME",
      "prints the declaration of a language",
      1,
      1,
      { VALUES_WORDS, args_language_at },
      verb_show },
};

const struct cli_command languages_command = {
    .name = "languages",
    .summary = "list, install and prepare languages",
    .usage = (const char *const[]){ "[--json]", "install NAME... [--dry-run]", "prepare [NAME]...",
                                    "show NAME", NULL },
    .description =
        "Lists the languages with their versions, and the commands that install missing ones.\n\n"
        "A file NAME.lang with a declaration adds a language. 'belljar languages show' prints such "
        "a declaration. The files are in " DROPINS_DIR ", or in the directory that "
        "$" DROPINS_ENV " names. The service has the setting languages.dir for it.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .verbs = verbs,
    .n_verbs = ARRAY_LEN(verbs),
    .sections = put_keys,
    .examples = (const char *const[]){ "Install Rust and PHP:",
                                       "belljar languages install rust php", NULL },
    .options_size = sizeof(struct languages_options),
    .run = verb_list,
};
