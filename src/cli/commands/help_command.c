/* `belljar help`: the list of the commands, the help of one, the man pages and the completions. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "cli/cli.h"
#include "cli/guess.h"
#include "cli/manual/completion.h"
#include "cli/manual/manual.h"

struct help_options {
    bool man;
    const char *shell;
};

static const char *command_at(const void *def, size_t i)
{
    (void)def;
    return commands[i] ? commands[i]->name : NULL;
}

static const char *shell_at(const void *def, size_t i)
{
    (void)def;
    return completion_shells[i];
}

#define AT(member) offsetof(struct help_options, member)
static const struct arg_row rows[] = {
    { "man", .offset = AT(man),
      .help = "print the man page of COMMAND as roff; also of belljar and belljar.conf" },
    { "completion", "SHELL", .offset = AT(shell), .shows_words = true,
      .values = { VALUES_WORDS, shell_at }, .help = "print the completions for a shell" },
};
#undef AT

static int help(void *options, int argc, char **argv, struct err *e)
{
    const struct help_options *o = options;
    if (o->shell)
        return completion_print(o->shell, e);
    if (o->man)
        return manual_page(argc > 0 ? argv[0] : "belljar", e);
    const struct cli_command *c = argc > 0 ? command_find(argv[0]) : &help_command;
    if (!c)
        return guess_refuse(argv[0], e);
    if (c == &help_command)
        manual_overview(stdout);
    else
        manual_help(c);
    return 0;
}

const struct cli_command help_command = {
    .name = "help",
    .summary = "list the commands, or show the options of one",
    .usage = (const char *const[]){ "[COMMAND]", "--man [COMMAND]", "--completion SHELL", NULL },
    .description = "Lists the commands, or shows the usage and the options of one command.\n\n"
                   "The installation puts the man pages and the completions in place. --man and "
                   "--completion print them where belljar was not installed.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .max_operands = 1,
    .values = { VALUES_WORDS, command_at },
    .examples = (const char *const[]){ "Read the man page of 'belljar run':",
                                       "belljar help --man run | man -l -",
                                       "Have bash complete command lines of belljar:",
                                       "source <(belljar help --completion bash)", NULL },
    .options_size = sizeof(struct help_options),
    .run = help,
};
