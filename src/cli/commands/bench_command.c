/* `belljar bench`: the options; the measuring is src/bench. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "bench/guard.h"
#include "cli/args.h"
#include "cli/cli.h"

static const struct arg_row rows[] = {
    { "quick", NULL, 'q', "fewer repetitions: under a minute instead of under eight" },
    { "json", "FILE", 'j', "write every number there, too" },
    { "svg", "FILE", 's', "draw them there" },
    { "million", NULL, 'm', "part history: a history of a million runs, too (3 GB of disk)" },
    { "help", NULL, ARG_HELP, "show this" },
};

static const struct arg_table table = {
    "bench",
    "Usage: belljar bench [OPTION]... [PART]...\n\n"
    "Measures what a run costs on this machine: by belljar, warm and cold, over HTTP and by\n"
    "'belljar run', beside the bare interpreter and whatever of bubblewrap, firejail, docker and\n"
    "runsc works here. Services are its own, on free ports, with state below $TMPDIR or /tmp;\n"
    "they and their files are gone when it ends. Two cores are used. The exit status is 1 when a\n"
    "budget is missed, 2 when something could not be measured.\n",
    rows,
    ARRAY_LEN(rows),
};

struct bench_command {
    struct bench_options options;
    bool help;
};

static int apply(void *context, int key, char *value, struct err *e)
{
    struct bench_command *c = context;
    (void)e;
    switch (key) {
    case 'q':
        c->options.quick = true;
        return 0;
    case 'j':
        c->options.json = value;
        return 0;
    case 's':
        c->options.svg = value;
        return 0;
    case 'm':
        c->options.million = true;
        return 0;
    default:
        c->help = true;
        return 0;
    }
}

int cmd_bench(int argc, char **argv)
{
    struct bench_command c = { 0 };
    struct err e = { 0 };
    sigset_t ending;
    int first;
    if (args_parse(&table, argc, argv, apply, &c, &first, &e))
        return cli_fail(&e);
    if (c.help) {
        args_help(&table);
        (void)printf("\nParts (all of them, in this order, unless some are named):\n");
        bench_print_parts();
        return 0;
    }
    c.options.parts = (const char *const *)argv + first;
    if (bench_check_parts(c.options.parts, &e))
        return cli_fail(&e);
    cli_signals(&ending);
    int status = guard_run(&c.options, &ending, &e);
    return status < 0 ? cli_fail(&e) : status;
}
