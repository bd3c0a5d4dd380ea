/* cli/args.h — a command's options as a table, for parsing and for --help. */
#pragma once

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct arg_row {
    const char *name, *metavar; /* metavar NULL: takes no value */
    int key; /* 'n', ARG_HELP, and a letter with ARG_LETTER are short options as well */
    const char *help;
};

struct arg_table {
    const char *command; /* "history": for messages */
    const char *usage;   /* all of --help above the options */
    const struct arg_row *rows;
    size_t n_rows;
};

enum { ARGS_ROWS_MAX = 16, ARG_HELP = 'h', ARG_LETTER = 0x100 };

/* Takes one option. */
typedef int args_apply(void *context, int key, char *value, struct err *e);

/* Options may stand before and behind the operands, which are argv[*ret_first] and up, to argc. */
[[nodiscard]] int args_parse(const struct arg_table *t, int argc, char **argv, args_apply *apply,
                             void *context, int *ret_first, struct err *e);
/* What getopt_long() did not take: `got` is what it returned. Names the nearest of the options. */
[[nodiscard]] int args_refuse_option(const char *command, const struct option *options, char **argv,
                                     int got, struct err *e);
void args_help(const struct arg_table *t);
/* "'x' is one operand too many". */
[[nodiscard]] int args_refuse_operand(const struct arg_table *t, const char *operand,
                                      struct err *e);
/* Of -n: 1 to max. */
[[nodiscard]] int args_count(const char *option, const char *text, unsigned max, unsigned *ret,
                             struct err *e);
