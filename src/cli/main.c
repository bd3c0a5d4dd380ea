/* The beginning of every belljar process: settles the descriptors and finds the command. */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/cli.h"
#include "cli/guess.h"
#include "cli/manual/manual.h"
#include "runtime/dropins.h"

/* Descriptors 0, 1 and 2 become open, so that no descriptor of ours takes the number of one that
 * our caller closed. Other descriptors of the caller stay open in this process, where /dev/fd/N may
 * name a file to run, but no program that we execute inherits them. */
static int settle_fds(struct err *e)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            return err_set(e, ERR_KERNEL, errno, "open /dev/null as descriptor %d", fd);
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
        return err_set(e, ERR_KERNEL, errno, "close descriptors");
    return 0;
}

/* --help, -h, --version, -V and -v stand for commands. */
static const struct cli_command *find_command(const char *word)
{
    static const char *const help[] = { "--help", "-h", "-?" };
    static const char *const version[] = { "--version", "-V", "-v" };
    for (size_t i = 0; i < ARRAY_LEN(help); i++)
        if (strcmp(word, help[i]) == 0)
            return &help_command;
    for (size_t i = 0; i < ARRAY_LEN(version); i++)
        if (strcmp(word, version[i]) == 0)
            return &version_command;
    return command_find(word);
}

int main(int argc, char **argv)
{
    struct err e = { 0 };
    if (settle_fds(&e))
        return cli_fail(&e);
    (void)signal(SIGCHLD, SIG_DFL); /* if it is ignored, the kernel keeps no wait statuses */
    const struct cli_command *command = argc > 1 ? find_command(argv[1]) : NULL;
    const char *dir = getenv(DROPINS_ENV);
    if (language_load(dir && *dir ? dir : NULL, &e))
        return cli_fail(&e);
    if (command)
        return command_run(command, argc - 1, argv + 1);
    if (guess_refuse_early_option(argc, argv, &e))
        return cli_fail(&e);
    if (guess_is_run(argc, argv))
        return command_run(&run_command, argc, argv); /* argv[0] is in the place of its name */
    if (argc > 1) {
        (void)!guess_refuse(argv[1], &e);
        return cli_fail(&e);
    }
    manual_overview(stderr);
    return err_exit_status(ERR_USAGE);
}
