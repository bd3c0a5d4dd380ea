#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/nearest.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "config.h"
#include "runtime/dropins.h"

static int cmd_help(int argc, char **argv);

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    { "run", cmd_run, "run a program in a jar of its own" },
    { "serve", cmd_serve, "serve runs over HTTP" },
    { "history", cmd_history, "show what the service ran" },
    { "keys", cmd_keys, "add, list and remove API keys of the service" },
    { "audit", cmd_audit, "verify and show the service's audit log" },
    { "languages", cmd_languages, "show which languages there are, install and prepare them" },
    { "explain", cmd_explain, "say what an error means that a program printed elsewhere" },
    { "doctor", cmd_doctor, "show what this machine can isolate, and how to get more" },
    { "bench", cmd_bench, "measure what a run costs here, beside other ways to run it" },
    { "version", cmd_version, "print the version" },
    { "help", cmd_help, "show this, or what a command takes" },
};

enum { COMMANDS = ARRAY_LEN(commands) };

static void print_help(FILE *to)
{
    (void)fprintf(to,
                  "Usage: belljar COMMAND [OPTION]...\n\nRuns code that nobody should trust.\n\n");
    for (size_t i = 0; i < COMMANDS; i++)
        (void)fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].help);
    (void)fprintf(to, "\n'belljar help COMMAND' tells more.\n");
}

int cmd_version(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        (void)printf("Usage: belljar version\n\nPrints the version.\n");
        return 0;
    }
    (void)printf("belljar %s\n", BELLJAR_VERSION);
    return 0;
}

int cli_fail(const struct err *e)
{
    (void)fprintf(stderr, "belljar: %s\n", e->text);
    return err_exit_status(e->code);
}

/* 0, 1 and 2 are open, so that no descriptor of ours takes the place of one that our caller closed. Others it left open
 * go no further than this process, where /dev/fd/N may name a file to run. */
static int settle_fds(struct err *e)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            return err_set(e, ERR_KERNEL, errno, "open /dev/null as descriptor %d", fd);
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
        return err_set(e, ERR_KERNEL, errno, "close descriptors");
    return 0;
}

void cli_signals(sigset_t *ret_set)
{
    static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
    sigemptyset(ret_set);
    for (size_t i = 0; i < ARRAY_LEN(ending); i++) {
        struct sigaction now;
        if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(ret_set, ending[i]);
    }
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

static int refuse_command(const char *name)
{
    struct err e = { 0 };
    char quoted[96], known[200] = "";
    struct nearest near = { .wanted = name };
    for (size_t i = 0; i < COMMANDS; i++) {
        size_t used = strlen(known);
        (void)snprintf(known + used, sizeof known - used, "%s%s",
                       i == 0             ? ""
                       : i + 1 < COMMANDS ? ", "
                                          : " and ",
                       commands[i].name);
        nearest_offer(&near, commands[i].name);
    }
    text_quote(name, quoted, sizeof quoted);
    if (near.name[0])
        (void)!err_set(&e, ERR_USAGE, 0,
                       "there is no command '%s': did you mean '%s'? See 'belljar help'", quoted,
                       near.name);
    else
        (void)!err_set(&e, ERR_USAGE, 0, "there is no command '%s': %s are; see 'belljar help'",
                       quoted, known);
    return cli_fail(&e);
}

static int cmd_help(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return 0;
    }
    const struct command *command = find_command(argv[1]);
    char option[] = "--help";
    char *its_argv[] = { argv[1], option, NULL };
    return command ? command->run(2, its_argv) : refuse_command(argv[1]);
}

int main(int argc, char **argv)
{
    struct err e = { 0 };
    if (settle_fds(&e))
        return cli_fail(&e);
    (void)signal(SIGCHLD, SIG_DFL); /* ignored, it would take the wait statuses away */
    if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_help(stdout);
        return 0;
    }
    if (argc >= 2 && strcmp(argv[1], "--version") == 0)
        return cmd_version(0, NULL);
    if (argc >= 2) {
        const struct command *command = find_command(argv[1]);
        const char *dir = getenv(DROPINS_ENV);
        if (command && language_load(dir && *dir ? dir : NULL, &e))
            return cli_fail(&e);
        return command ? command->run(argc - 1, argv + 1) : refuse_command(argv[1]);
    }
    print_help(stderr);
    return err_exit_status(ERR_USAGE);
}
