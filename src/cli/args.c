/* Parses the options of a command by its table, and starts the command. */
#include "cli/args.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/guess.h"
#include "cli/manual/manual.h"
#include "runtime/language.h"

enum { KEY_ROW = 0x100 }; /* getopt_long() returns KEY_ROW + the index of a row */

static const struct arg_row help_row = { "help", .letter = 'h', .help = "show this help" };

size_t command_rows(const struct cli_command *c, struct arg_row out[ARGS_ROWS_MAX])
{
    size_t n = 0;
    for (; n < c->n_rows; n++)
        out[n] = c->rows[n];
    if (c->more_rows)
        n += c->more_rows(out + n);
    out[n++] = help_row;
    return n;
}

static struct nearest nearest_option(const struct option *options, const char *word,
                                     char name[NEAREST_WORD_MAX + 2])
{
    struct nearest near = { .wanted = name };
    if (strncmp(word, "--", 2) != 0)
        return near;
    (void)snprintf(name, NEAREST_WORD_MAX + 2, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    for (; options->name; options++)
        nearest_offer(&near, options->name);
    return near;
}

/* `got` is the answer of getopt_long() to an option that it did not take. */
static int refuse_option(const struct cli_command *c, const struct option *options, char **argv,
                         int got, struct err *e)
{
    const char *command = c->name;
    const char *also = c->arguments_follow ? "; an option of the program follows --" : "";
    const char *word = optind > 0 ? argv[optind - 1] : "";
    char single[3] = { '-', (char)optopt, '\0' };
    if (optopt > 0 && optopt < 128 && strncmp(word, "--", 2) != 0)
        word = single;
    char name[NEAREST_WORD_MAX + 2] = "";
    struct nearest near = nearest_option(options, word, name);
    if (got == ':')
        return err_set(e, ERR_USAGE, 0, "option '%s' needs a value: see 'belljar %s --help'",
                       QUOTED(word), command);
    const char *advice = guess_option(command, word);
    if (advice)
        return err_set(e, ERR_USAGE, 0, "there is no option '%s': %s; see 'belljar %s --help'",
                       QUOTED(word), advice, command);
    if (near.name[0])
        return err_set(e, ERR_USAGE, 0,
                       "there is no option '%s': did you mean --%s? See 'belljar %s --help'%s",
                       QUOTED(word), near.name, command, also);
    return err_set(e, ERR_USAGE, 0, "there is no option '%s': see 'belljar %s --help'%s",
                   QUOTED(word), command, also);
}

static int refuse_operand(const struct cli_command *c, const char *operand, struct err *e)
{
    return err_set(e, ERR_USAGE, 0, "'%s' is one word too many: see 'belljar %s --help'",
                   QUOTED(operand), c->name);
}

static int apply(void *options, const struct arg_row *row, char *value, struct err *e)
{
    char *member = (char *)options + row->offset;
    if (row->apply)
        return row->apply(options, row, value, e);
    if (row->metavar)
        *(const char **)(void *)member = value;
    else
        *(bool *)member = true;
    return 0;
}

/* On a command line, a bad value is a mistake of usage. */
static int refuse_value(struct err *e)
{
    if (err_blame(e->code) == BLAME_CALLER)
        e->code = ERR_USAGE;
    return -1;
}

/* The row that a key of getopt_long() stands for; NULL: none. */
static const struct arg_row *row_of(int key, const struct arg_row *rows, size_t n)
{
    if (key >= KEY_ROW)
        return &rows[key - KEY_ROW];
    for (size_t i = 0; i < n; i++)
        if (key == rows[i].letter)
            return &rows[i];
    return NULL;
}

int args_parse(const struct cli_command *c, int argc, char **argv, void *options, int *ret_first,
               bool *ret_help, struct err *e)
{
    struct arg_row rows[ARGS_ROWS_MAX];
    struct option longs[ARGS_ROWS_MAX + 1] = { 0 };
    char letters[2 + 2 * ARGS_ROWS_MAX] = ":";
    size_t n = command_rows(c, rows), used = 1;
    bool help = false;
    for (size_t i = 0; i < n; i++) {
        longs[i] = (struct option){ rows[i].name, rows[i].metavar ? required_argument : no_argument,
                                    NULL, KEY_ROW + (int)i };
        if (rows[i].letter)
            letters[used++] = rows[i].letter;
        if (rows[i].letter && rows[i].metavar)
            letters[used++] = ':';
    }
    opterr = 0;
    optind = 1;
    for (int key; (key = getopt_long(argc, argv, letters, longs, NULL)) != -1;) {
        const struct arg_row *row = row_of(key, rows, n);
        if (!row)
            return refuse_option(c, longs, argv, key, e);
        if (row == &rows[n - 1])
            help = true;
        else if (apply(options, row, optarg, e))
            return refuse_value(e);
    }
    *ret_first = optind;
    *ret_help = help;
    return 0;
}

/* "add, list and remove" */
static const char *verb_list(const struct cli_command *c, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < c->n_verbs; i++) {
        size_t used = strlen(out);
        (void)snprintf(out + used, size - used, "%s%s",
                       i == 0               ? ""
                       : i + 1 < c->n_verbs ? ", "
                                            : " and ",
                       c->verbs[i].name);
    }
    return out;
}

static int run_verb(const struct cli_command *c, void *options, int argc, char **argv,
                    struct err *e)
{
    char known[80];
    if (argc == 0)
        return err_set(e, ERR_USAGE, 0,
                       "%s needs an action: %s are accepted; see 'belljar %s --help'", c->name,
                       verb_list(c, known, sizeof known), c->name);
    for (size_t i = 0; i < c->n_verbs; i++) {
        const struct verb *v = &c->verbs[i];
        size_t n = (size_t)argc - 1;
        if (strcmp(v->name, argv[0]) != 0)
            continue;
        if (n > v->max_operands)
            return refuse_operand(c, argv[1 + v->max_operands], e);
        if (n < v->min_operands)
            return err_set(e, ERR_USAGE, 0, "%s %s needs a name: 'belljar %s %s %s'", c->name,
                           v->name, c->name, v->name, v->operands);
        return v->run(options, argc - 1, argv + 1, e);
    }
    return err_set(e, ERR_USAGE, 0, "%s '%s': %s are accepted", c->name, QUOTED(argv[0]),
                   verb_list(c, known, sizeof known));
}

static int parse_and_run(const struct cli_command *c, int argc, char **argv, void *options,
                         struct err *e)
{
    int ours = 0, first = argc;
    bool help = false;
    while (ours < argc && !(c->arguments_follow && strcmp(argv[ours], "--") == 0))
        ours++;
    if (args_parse(c, ours, argv, options, &first, &help, e))
        return -1;
    if (help) {
        manual_help(c);
        return 0;
    }
    int n = ours - first;
    if (c->verbs && (n > 0 || !c->run))
        return run_verb(c, options, n, argv + first, e);
    if ((size_t)n > c->max_operands)
        return refuse_operand(c, argv[first + (int)c->max_operands], e);
    return c->run(options, n, argv + first, e);
}

int command_run(const struct cli_command *c, int argc, char **argv)
{
    struct err e = { 0 };
    autofree void *options = calloc(1, c->options_size + 1);
    if (!options) {
        (void)err_no_memory(&e, "the options");
        return cli_fail(&e);
    }
    if (c->init)
        c->init(options);
    int status = parse_and_run(c, argc, argv, options, &e);
    if (c->done)
        c->done(options);
    return status < 0 ? cli_fail(&e) : status;
}

int args_count(const struct arg_row *row, const char *text, unsigned max, unsigned *ret,
               struct err *e)
{
    uint64_t n;
    if (unit_parse(UNIT_COUNT, text, &n) || n < 1 || n > max)
        return err_set(e, ERR_BAD_REQUEST, 0, "--%s '%s': a whole number from 1 to %u is accepted",
                       row->name, QUOTED(text), max);
    *ret = (unsigned)n;
    return 0;
}

int args_language(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    const struct language *l = language_find(value);
    if (!l)
        return language_refuse(value, e);
    *(const struct language **)(void *)((char *)options + row->offset) = l;
    return 0;
}

const char *args_language_at(const void *def, size_t i)
{
    (void)def;
    return languages[i] ? languages[i]->name : NULL;
}
