#include "cli/args.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"
#include "base/units.h"

static const char *short_form(const struct arg_row *r, char out[8])
{
    (void)snprintf(out, 8, "-%c, ", r->key & 0x7F);
    return r->key == 'n' || r->key & ARG_LETTER ? out : "    ";
}

void args_help(const struct arg_table *t)
{
    (void)printf("%s\n", t->usage);
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct arg_row *r = &t->rows[i];
        char left[48], brief[8];
        (void)snprintf(left, sizeof left, "%s--%s%s%s", short_form(r, brief), r->name,
                       r->metavar ? " " : "", r->metavar ? r->metavar : "");
        (void)printf("  %-30s %s\n", left, r->help);
    }
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

int args_refuse_option(const char *command, const struct option *options, char **argv, int got,
                       struct err *e)
{
    const char *word = optind > 0 ? argv[optind - 1] : "";
    char single[3] = { '-', (char)optopt, '\0' };
    if (optopt > 0 && optopt < 128 && strncmp(word, "--", 2) != 0)
        word = single;
    char name[NEAREST_WORD_MAX + 2] = "";
    struct nearest near = nearest_option(options, word, name);
    if (got == ':')
        return err_set(e, ERR_USAGE, 0, "option '%s' needs a value: see 'belljar %s --help'",
                       QUOTED(word), command);
    if (near.name[0])
        return err_set(e, ERR_USAGE, 0,
                       "there is no option '%s': did you mean --%s? See 'belljar %s --help'",
                       QUOTED(word), near.name, command);
    return err_set(e, ERR_USAGE, 0, "there is no option '%s': see 'belljar %s --help'",
                   QUOTED(word), command);
}

int args_parse(const struct arg_table *t, int argc, char **argv, args_apply *apply, void *context,
               int *ret_first, struct err *e)
{
    struct option options[ARGS_ROWS_MAX + 1];
    char letters[8 + 2 * ARGS_ROWS_MAX] = ":n:h";
    size_t n = 0;
    for (; n < t->n_rows && n < ARGS_ROWS_MAX; n++) {
        const struct arg_row *r = &t->rows[n];
        size_t used = strlen(letters);
        if (r->key & ARG_LETTER)
            (void)snprintf(letters + used, sizeof letters - used, "%c%s", r->key & 0x7F,
                           r->metavar ? ":" : "");
        options[n] = (struct option){ t->rows[n].name,
                                      t->rows[n].metavar ? required_argument : no_argument, NULL,
                                      t->rows[n].key & 0x7F };
    }
    options[n] = (struct option){ 0 };
    opterr = 0;
    optind = 1;
    for (int key; (key = getopt_long(argc, argv, letters, options, NULL)) != -1;) {
        bool known = false;
        for (size_t i = 0; i < n; i++)
            known = known || (t->rows[i].key & 0x7F) == key;
        if (!known)
            return args_refuse_option(t->command, options, argv, key, e);
        if (apply(context, key, optarg, e))
            return -1;
    }
    *ret_first = optind;
    return 0;
}

int args_refuse_operand(const struct arg_table *t, const char *operand, struct err *e)
{
    return err_set(e, ERR_USAGE, 0, "'%s' is one word too many: see 'belljar %s --help'",
                   QUOTED(operand), t->command);
}

int args_count(const char *option, const char *text, unsigned max, unsigned *ret, struct err *e)
{
    uint64_t n;
    if (unit_parse(UNIT_COUNT, text, &n) || n < 1 || n > max)
        return err_set(e, ERR_BAD_REQUEST, 0, "%s '%s': a whole number from 1 to %u is accepted",
                       option, QUOTED(text), max);
    *ret = (unsigned)n;
    return 0;
}
