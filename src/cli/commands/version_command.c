/* `belljar version` */
#include <stdio.h>

#include "cli/cli.h"
#include "config.h"

static int version(void *options, int argc, char **argv, struct err *e)
{
    (void)options;
    (void)argc;
    (void)argv;
    (void)e;
    (void)printf("belljar %s\n", BELLJAR_VERSION);
    return 0;
}

const struct cli_command version_command = {
    .name = "version",
    .summary = "print the version",
    .usage = (const char *const[]){ "", NULL },
    .description = "Prints the version.",
    .run = version,
};
