/* The beginning of every belljar process: settles the descriptors and finds the command. */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
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

/* --help, -h and --version stand for commands. */
static const char *command_name(const char *word)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return help_command.name;
    return strcmp(word, "--version") == 0 ? version_command.name : word;
}

int main(int argc, char **argv)
{
    struct err e = { 0 };
    if (settle_fds(&e))
        return cli_fail(&e);
    (void)signal(SIGCHLD, SIG_DFL); /* if it is ignored, the kernel keeps no wait statuses */
    if (argc < 2) {
        manual_overview(stderr);
        return err_exit_status(ERR_USAGE);
    }
    const struct cli_command *command = command_find(command_name(argv[1]));
    const char *dir = getenv(DROPINS_ENV);
    if (!command ? command_refuse(argv[1], &e) : language_load(dir && *dir ? dir : NULL, &e))
        return cli_fail(&e);
    return command_run(command, argc - 1, argv + 1);
}
